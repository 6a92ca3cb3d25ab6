/* config_figures.c - the section `figures`, and experiments of kind concentration, which are one
 * figure without a simulation. */
#include "app/config/config_parts.h"
#include "engine/base/quote.h"
#include "report/io/whole_file.h"

#include <oltr/world_ops.h>

#include <string.h>

/* ---- files */

static bool read_file(const struct reader *reader, const struct node *map,
                      const struct figure *earlier, uint32_t count, const char **out)
{
    const struct node *node;
    char name[QUOTE_SIZE];
    if (!read_required(reader, map, figure_keys, "file", &node) || !read_line(reader, node, out))
        return false;
    if (!figure_name_is_good(*out))
        return read_bad(reader, node, "a figure cannot be called `%s`; %s", quote_input(*out, name),
                        file_name_is_plain(*out)
                            ? "another file of the folder has that name"
                            : "take letters, digits, `-`, `_` and `.`, no folder and no ending");
    const struct node *other = map->parent->first;
    for (uint32_t i = 0; i < count; i++, other = other->next)
        if (strcmp(earlier[i].file, *out) == 0)
            return read_bad(reader, tree_blame(node, tree_get(other, "file")),
                            "two figures are called `%s`", quote_input(*out, name));
    return true;
}

/* ---- figures */

static bool read_x(const struct reader *reader, const struct node *node, bool has_sweep,
                   enum figure_x *x)
{
    const char *word;
    *x = has_sweep ? FIGURE_SWEEP : FIGURE_ROUND;
    if (!node || !read_line(reader, node, &word))
        return !node;
    bool sweep = strcmp(word, "sweep") == 0;
    if (!sweep && strcmp(word, "round") != 0)
        return read_bad(reader, node, "must be round or sweep");
    *x = sweep ? FIGURE_SWEEP : FIGURE_ROUND;
    return !sweep || has_sweep ||
           read_bad(reader, node, "`x: sweep` needs a `sweep` in the experiment");
}

static bool read_log(const struct reader *reader, const struct node *node, enum figure_log *log)
{
    static const char *const words[] = {"auto", "false", "true",
                                        NULL}; /* in the order of the enum */
    size_t place = FIGURE_LOG_AUTO;
    bool good = !node || read_word(reader, node, words, &place);
    *log = (enum figure_log)place;
    return good;
}

/* Mean rewards of any sign have no NDCG. */
static bool has_ndcg(const oltr_world *world)
{
    for (uint32_t i = 0; i < oltr_world_count(); i++)
        if (strcmp(oltr_world_at(i)->name, world->kind) == 0)
            return !(oltr_world_ops_at(i)->traits & OLTR_WORLD_REALS);
    return true;
}

static bool read_y(const struct reader *reader, const struct node *node,
                   const struct config *config, bool bounds, enum figure_y *y)
{
    size_t place;
    if (!node || !read_word(reader, node, figure_y_names, &place))
        return !node;
    *y = (enum figure_y)place;
    if (bounds && *y != FIGURE_REGRET)
        return read_bad(reader, node, "bounds are on regret; leave out `bounds` or `y`");
    for (uint32_t p = 0; *y == FIGURE_NDCG && p < config->plan->n_points; p++)
        if (!has_ndcg(&config->plan->points[p].world))
            return read_bad(reader, node,
                            "world %s has mean rewards of any sign, which have no NDCG; take "
                            "regret or ctr",
                            config->plan->points[p].world.kind);
    return true;
}

bool read_bound(const struct reader *reader, const struct node *node, const struct config *config,
                enum bound *out)
{
    const char *names[N_BOUNDS + 1] = {NULL};
    size_t place;
    for (int b = 0; b < N_BOUNDS; b++)
        names[b] = bound_infos[b].name;
    if (!read_word(reader, node, names, &place))
        return false;
    *out = (enum bound)place;
    for (uint32_t p = 0; p < config->plan->n_points; p++) {
        struct bound_problem problem = bound_problem_of(&config->plan->points[p]);
        const char *lacks = bound_lacks(*out, &problem);
        if (lacks)
            return read_bad(reader, node, "the bound `%s` %s", names[place], lacks);
    }
    return true;
}

/* A list of names; true and false, which are older, are Theorem 1 and nothing. */
static bool read_bounds(const struct reader *reader, const struct node *node,
                        const struct config *config, unsigned *out)
{
    if (node->type == NODE_SCALAR) {
        bool first = strcmp(node->text, "true") == 0;
        *out = first ? 1u << BOUND_THM1 : 0;
        return first || strcmp(node->text, "false") == 0 ||
               read_bad(reader, node, "must be a list of bounds, like [thm1, lower]");
    }
    if (!read_list(reader, node))
        return false;
    for (const struct node *entry = node->first; entry; entry = entry->next) {
        enum bound bound;
        if (!read_bound(reader, entry, config, &bound))
            return false;
        if (*out & 1u << bound)
            return read_bad(reader, entry, "this bound is in the list twice");
        *out |= 1u << bound;
    }
    return true;
}

/* Title, label and caption. */
static bool read_words(const struct reader *reader, const struct node *map, struct figure *figure)
{
    const struct node *title = tree_get(map, "title"), *label = tree_get(map, "label"),
                      *caption = tree_get(map, "caption");
    return (!title || read_line(reader, title, &figure->title)) &&
           (!label || read_line(reader, label, &figure->label)) &&
           (!caption || read_paragraph(reader, caption, &figure->caption));
}

static bool read_figure(const struct reader *reader, const struct node *map,
                        const struct names *names, const struct config *config,
                        struct figure *figure)
{
    const struct node *rounds = tree_get(map, "rounds"), *bands = tree_get(map, "bands");
    const struct node *bounds = tree_get(map, "bounds"), *logs = tree_get(map, "log");
    uint32_t band = 1;
    const struct node *shown = tree_get(map, "policies");
    figure->title = config->plan->title;
    figure->policy = names->name;
    figure->n_policies = names->count;
    bool good = read_words(reader, map, figure) &&
                (!shown || read_names(reader, shown, names, "policy", &figure->policy,
                                      &figure->n_policies)) &&
                (!rounds || read_whole(reader, rounds, 1, INT64_MAX, &figure->rounds)) &&
                read_x(reader, tree_get(map, "x"), config->plan->sweep_key, &figure->x) &&
                (!bands || read_whole32(reader, bands, 0, 3, &band)) &&
                (!bounds || read_bounds(reader, bounds, config, &figure->bounds)) &&
                read_log(reader, logs, &figure->log) &&
                read_y(reader, tree_get(map, "y"), config, figure->bounds, &figure->y);
    if (good && bands && band && figure->y == FIGURE_WORST)
        return read_bad(reader, bands, "a largest regret has no standard error; leave out `bands`");
    figure->bands = figure->y == FIGURE_WORST ? 0 : (int)band;
    if (good && rounds && figure->rounds < config->plan->points[0].checkpoint[0])
        return read_bad(reader, rounds,
                        "the figure would end before the first checkpoint, round %llu",
                        (unsigned long long)config->plan->points[0].checkpoint[0]);
    return good;
}

/* Of a file without `figures`. */
static bool default_figure(const struct reader *reader, const struct names *names,
                           struct config *config)
{
    struct figure *figure = pool_get(reader->pool, 1, sizeof *figure);
    if (!figure)
        return read_no_memory(reader);
    *figure = (struct figure){.file = "regret",
                              .title = config->plan->title,
                              .bands = 1,
                              .policy = names->name,
                              .n_policies = names->count,
                              .x = config->plan->sweep_key ? FIGURE_SWEEP : FIGURE_ROUND};
    config->figures = figure;
    config->n_figures = 1;
    return true;
}

bool config_figures(const struct reader *reader, const struct node *root, const struct names *names,
                    struct config *config)
{
    const struct node *list = tree_get(root, "figures");
    if (!list)
        return default_figure(reader, names, config);
    if (list->type == NODE_LIST && list->count == 0)
        return true; /* figures: [] asks for none */
    if (!read_list(reader, list))
        return false;
    if (list->count > MOST_FIGURES)
        return read_bad(reader, list, "an experiment has at most %d figures", MOST_FIGURES);
    struct figure *figures = pool_get(reader->pool, list->count, sizeof *figures);
    if (!figures)
        return read_no_memory(reader);
    config->figures = figures;
    for (const struct node *map = list->first; map; map = map->next, config->n_figures++) {
        struct figure *figure = &figures[config->n_figures];
        if (!read_map_keys(reader, map, "a figure", figure_keys) ||
            !read_file(reader, map, figures, config->n_figures, &figure->file) ||
            !read_figure(reader, map, names, config, figure))
            return false;
    }
    return true;
}

/* ---- concentration */

static bool read_panel(const struct reader *reader, const struct node *root, struct config *config)
{
    const struct node *list = tree_get(root, "figures");
    struct figure *figure = pool_get(reader->pool, 1, sizeof *figure);
    if (!figure)
        return read_no_memory(reader);
    *figure = (struct figure){.file = "fig-bvsgpost", .title = config->plan->title, .bands = 1};
    config->figures = figure;
    config->n_figures = 1;
    if (!list)
        return true;
    if (!read_list(reader, list))
        return false;
    if (list->count != 1)
        return read_bad(reader, list, "an experiment of kind concentration has one figure");
    return read_map_keys(reader, list->first, "a figure", panel_keys) &&
           read_file(reader, list->first, NULL, 0, &figure->file) &&
           read_words(reader, list->first, figure);
}

bool config_concentration(const struct reader *reader, const struct node *root,
                          struct config *config)
{
    struct concentration *c = &config->concentration;
    const struct node *attraction, *observations, *sigma;
    if (!read_map_keys(reader, root, "an experiment of kind concentration", concentration_keys) ||
        !read_required(reader, root, concentration_keys, "attraction", &attraction) ||
        !read_required(reader, root, concentration_keys, "observations", &observations) ||
        !read_required(reader, root, concentration_keys, "sigma", &sigma))
        return false;
    bool good = read_reals(reader, attraction, 0, 1, &c->attraction, &c->n_attractions) &&
                read_whole32(reader, observations, 1, 100000, &c->observations) &&
                read_reals(reader, sigma, 1e-6, 1e6, &c->sigma, &c->n_sigmas);
    if (good && (c->n_attractions > 6 || c->n_sigmas > 6))
        return read_bad(reader, c->n_attractions > 6 ? attraction : sigma,
                        "at most 6 fit into one figure");
    return good && read_panel(reader, root, config);
}
