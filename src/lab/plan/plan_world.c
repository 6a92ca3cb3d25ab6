/* plan_world.c - the section `world`: the environment of an experiment. */
#include "lab/plan/plan_parts.h"
#include "engine/base/nearest.h"
#include "engine/base/quote.h"

#include <stdio.h>
#include <string.h>

static const double MOST_FEATURE = 1e6;
static const double LARGEST = 1e9; /* of a Beta parameter; beyond it the density is a needle */

/* ---- names from the engine's catalogues */

bool plan_name(const struct reader *reader, const struct node *node, const char *what,
               uint32_t (*count)(void), const oltr_named *(*at)(uint32_t), const char **out)
{
    char hint[HINT_SIZE], list[128] = "", name[QUOTE_SIZE];
    size_t used = 0;
    const char *word;
    if (!read_line(reader, node, &word))
        return false;
    struct nearest nearest = nearest_to(word);
    for (uint32_t i = 0; i < count(); i++) {
        if (strcmp(word, at(i)->name) == 0) {
            *out = at(i)->name;
            return true;
        }
        nearest_offer(&nearest, at(i)->name);
        if (used + strlen(at(i)->name) + 3 < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "",
                                     at(i)->name);
        }
    }
    (void)nearest_hint(&nearest, hint);
    return read_bad(reader, node, "no %s is called `%s`%s%s%s", what, quote_input(word, name), hint,
                    nearest.best == NULL ? "; there are " : " There are ", list);
}

/* ---- the items */

static bool read_level(const struct reader *reader, const struct node *node, uint32_t *count,
                       double *value)
{
    if (node->type != NODE_LIST || node->count != 2)
        return read_bad(reader, node, "a level must be a pair [count, value], like [14, 0.05]");
    return read_whole32(reader, node->first, 1, MOST_ITEMS, count) &&
           read_real(reader, node->last, 0, 1, value);
}

static bool read_levels(const struct reader *reader, const struct node *levels, oltr_world *world)
{
    uint32_t count = 0, items = 0;
    double value = 0, *attraction;
    if (!read_list(reader, levels))
        return false;
    for (const struct node *entry = levels->first; entry != NULL; entry = entry->next) {
        if (!read_level(reader, entry, &count, &value))
            return false;
        if (count > MOST_ITEMS - items)
            return read_bad(reader, entry, "the levels add up to more than %d items", MOST_ITEMS);
        items += count;
    }
    attraction = pool_get(reader->pool, items, sizeof *attraction);
    if (attraction == NULL)
        return read_no_memory(reader);
    world->attraction = attraction;
    world->n_items = items;
    for (const struct node *entry = levels->first; entry != NULL; entry = entry->next) {
        (void)read_level(reader, entry, &count, &value); /* good already */
        while (count-- > 0)
            *attraction++ = value;
    }
    return true;
}

/* A fixed world counts its items; if the file counts them too, it must count the same. */
static bool read_fixed(const struct reader *reader, const struct node *map, oltr_world *world)
{
    const struct node *attraction = tree_get(map, "attraction"), *levels = tree_get(map, "levels");
    const struct node *items = tree_get(map, "items");
    uint32_t said = 0;
    if ((attraction == NULL) == (levels == NULL)) {
        return read_bad(
            reader, map,
            "a fixed world needs either `attraction: [0.2, 0.1]` or `levels: [[2, 0.2]]`%s",
            attraction == NULL ? "" : ", not both");
    }
    bool good = levels != NULL
                    ? read_levels(reader, levels, world)
                    : read_reals(reader, attraction, 0, 1, &world->attraction, &world->n_items);
    if (!good || items == NULL)
        return good;
    return read_whole32(reader, items, 1, MOST_ITEMS, &said) &&
           (said == world->n_items ||
            read_bad(reader, tree_blame(items, levels != NULL ? levels : attraction),
                     "`items` is %u, but the attractions are %u; leave `items` out", said,
                     world->n_items));
}

static bool read_beta(const struct reader *reader, const struct node *map, oltr_world *world)
{
    const struct node *items, *a_max = tree_get(map, "a_max"),
                              *shared = tree_get(map, "instances_per_prior");
    return read_required(reader, map, world_keys, "items", &items) &&
           read_whole32(reader, items, 1, MOST_ITEMS, &world->n_items) &&
           (a_max == NULL || read_whole32(reader, a_max, 1, 1000000, &world->a_max)) &&
           (shared == NULL ||
            read_whole32(reader, shared, 1, UINT32_MAX, &world->instances_per_prior));
}

/* ---- features */

/* One of two words: false is the first. */
static bool read_either(const struct reader *reader, const struct node *map, const char *key,
                        const char *first, const char *second, int *out)
{
    const struct node *node = tree_get(map, key);
    const char *word;
    if (node == NULL)
        return true;
    if (!read_line(reader, node, &word))
        return false;
    *out = strcmp(word, second) == 0;
    return *out || strcmp(word, first) == 0 ||
           read_bad(reader, node, "must be %s or %s", first, second);
}

static bool read_feature_row(const struct reader *reader, const struct node *row, uint32_t dim,
                             float *out)
{
    const double *values;
    uint32_t count = 0;
    if (!read_reals(reader, row, -MOST_FEATURE, MOST_FEATURE, &values, &count))
        return false;
    if (count != dim) {
        return read_bad(reader, row, "this row has %u feature%s, the first one has %u", count,
                        count == 1 ? "" : "s", dim);
    }
    for (uint32_t i = 0; i < dim; i++)
        out[i] = (float)values[i];
    return true;
}

/* One row for each item of a fixed world. */
static bool read_features(const struct reader *reader, const struct node *map, oltr_world *world)
{
    const struct node *rows = tree_get(map, "features");
    if (rows == NULL || !read_list(reader, rows))
        return rows == NULL;
    if (rows->count != world->n_items || rows->first->type != NODE_LIST ||
        rows->first->count == 0) {
        return read_bad(reader, rows, "there must be one row [0.1, 0.9] for each of the %u items",
                        world->n_items);
    }
    world->dim = (uint32_t)rows->first->count;
    float *x = pool_get(reader->pool, (size_t)world->n_items * world->dim, sizeof *x);
    if (x == NULL)
        return read_no_memory(reader);
    world->features = x;
    for (const struct node *row = rows->first; row != NULL; row = row->next, x += world->dim)
        if (!read_feature_row(reader, row, world->dim, x))
            return false;
    return true;
}

/* A world that draws its features. */
static bool read_drawn(const struct reader *reader, const struct node *map, oltr_world *world)
{
    const struct node *items, *dim = tree_get(map, "dim"), *scale = tree_get(map, "scale");
    world->dim = 5;
    world->scale = 1;
    return read_required(reader, map, world_keys, "items", &items) &&
           read_whole32(reader, items, 1, MOST_ITEMS, &world->n_items) &&
           (dim == NULL || read_whole32(reader, dim, 1, 4096, &world->dim)) &&
           (scale == NULL || read_real(reader, scale, 1e-9, 1e6, &world->scale)) &&
           read_either(reader, map, "contexts", "fixed", "fresh", &world->fresh_contexts) &&
           read_either(reader, map, "theta", "cube", "sphere", &world->theta_on_sphere);
}

static bool read_rewards(const struct reader *reader, const struct node *map, oltr_world *world)
{
    const struct node *abandon = tree_get(map, "abandon"), *sd = tree_get(map, "noise_sd");
    world->abandon = 0.3;
    world->noise_sd = 0.5;
    return (abandon == NULL || read_real(reader, abandon, 0, 0.999999, &world->abandon)) &&
           (sd == NULL || read_real(reader, sd, 0, 1e6, &world->noise_sd)) &&
           read_either(reader, map, "noise", "gauss", "beta", &world->beta_noise);
}

/* ---- which key is for which world */

static const struct {
    const char *key, *kinds; /* kinds of worlds, or a click model */
} owners[] = {
    {"attraction", "fixed"},
    {"levels", "fixed"},
    {"features", "fixed"},
    {"a_max", "beta"},
    {"instances_per_prior", "beta"},
    {"prior", "beta or fixed"},
    {"misspecification", "beta, fixed, logistic or dataset"},
    {"items", "beta, fixed, linear, logistic or scalar"},
    {"dim", "linear, logistic or scalar"},
    {"contexts", "linear, logistic or scalar"},
    {"scale", "linear, logistic or scalar"},
    {"theta", "logistic or scalar"},
    {"data", "dataset"},
    {"shape", "dataset"},
    {"generated", "dataset"},
    {"queries", "dataset"},
    {"grades", "dataset"},
    {"largest_grade", "dataset"},
    {"normalise", "dataset"},
    {"scores", "dataset"},
    {"rankers", "dataset"},
};

static bool keys_fit_kind(const struct reader *reader, const struct node *map,
                          const oltr_world *world)
{
    static const char *const of_abandon[] = {"abandon", "noise", "noise_sd"};
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        const struct node *entry = tree_get(map, owners[i].key);
        if (entry != NULL && strstr(owners[i].kinds, world->kind) == NULL) {
            return read_bad(reader, tree_blame(entry->key, tree_get(map, "kind")),
                            "`%s` belongs to a world of kind %s; this one is %s", owners[i].key,
                            owners[i].kinds, world->kind);
        }
    }
    const struct node *no_click = tree_get(map, "no_click");
    if (no_click != NULL && strcmp(world->clicks, "cascade") != 0) {
        return read_bad(reader, tree_blame(no_click->key, tree_get(map, "clicks")),
                        "`no_click` belongs to the click model cascade; this world has %s",
                        world->clicks);
    }
    for (size_t i = 0; i < 3; i++) {
        const struct node *entry = tree_get(map, of_abandon[i]);
        if (entry != NULL && strcmp(world->clicks, "abandon") != 0) {
            return read_bad(reader, tree_blame(entry->key, tree_get(map, "clicks")),
                            "`%s` belongs to the click model abandon; this world has %s",
                            of_abandon[i], world->clicks);
        }
    }
    return true;
}

/* ---- the prior */

static bool read_prior_list(const struct reader *reader, const struct node *node, uint32_t n_items,
                            const double **out)
{
    uint32_t count = 0;
    return read_reals(reader, node, 0, LARGEST, out, &count) &&
           (count == n_items ||
            read_bad(reader, node,
                     "the list has %u number%s, and the world %u item%s; give one number for all, "
                     "or one each",
                     count, count == 1 ? "" : "s", n_items, n_items == 1 ? "" : "s"));
}

static bool read_prior_number(const struct reader *reader, const struct node *node,
                              uint32_t n_items, const double **out)
{
    double value, *values = pool_get(reader->pool, n_items, sizeof *values);
    if (values == NULL)
        return read_no_memory(reader);
    if (!read_real(reader, node, 0, LARGEST, &value))
        return false;
    for (uint32_t i = 0; i < n_items; i++)
        values[i] = value;
    *out = values;
    return true;
}

/* One number for all items, or one for each. */
static bool read_prior_side(const struct reader *reader, const struct node *node, uint32_t n_items,
                            const double **out)
{
    bool good = node->type == NODE_LIST ? read_prior_list(reader, node, n_items, out)
                                        : read_prior_number(reader, node, n_items, out);
    for (uint32_t i = 0; good && i < n_items; i++)
        good = (*out)[i] > 0 || read_bad(reader, node, "a shape of a Beta prior must be above 0");
    return good;
}

static bool read_prior(const struct reader *reader, const struct node *map, oltr_world *world)
{
    const struct node *prior = tree_get(map, "prior"), *a, *b, *drawn = tree_get(map, "a_max");
    if (drawn == NULL)
        drawn = tree_get(map, "instances_per_prior");
    bool draws_prior = prior == NULL && strcmp(world->kind, "beta") == 0;
    if (drawn != NULL && !draws_prior) {
        return read_bad(reader, drawn->key,
                        "`%s` is for worlds of kind beta without `prior`, which draw their own",
                        drawn->key->text);
    }
    return prior == NULL || (read_map_keys(reader, prior, "prior", prior_keys) &&
                             read_required(reader, prior, prior_keys, "a", &a) &&
                             read_required(reader, prior, prior_keys, "b", &b) &&
                             read_prior_side(reader, a, world->n_items, &world->prior_a) &&
                             read_prior_side(reader, b, world->n_items, &world->prior_b));
}

/* The prior of world logistic is Beta(10 nu / (1 - nu), 10), and nu may be near 0. */
static bool read_logistic_shift(const struct reader *reader, const struct node *node, double c)
{
    return (c >= 0 && c < 10) || read_bad(reader, node,
                                          "policies of a logistic world would get Beta(a%+g, %g) "
                                          "with an a that may be near 0; "
                                          "keep it at 0 or above, and below 10",
                                          c, 10 - c);
}

/* The shifted prior must still be a Beta distribution. */
static bool read_shift(const struct reader *reader, const struct node *map, oltr_world *world)
{
    const struct node *node = tree_get(map, "misspecification");
    if (node == NULL || !read_real(reader, node, -LARGEST, LARGEST, &world->misspecification))
        return node == NULL;
    if (strcmp(world->kind, "dataset") == 0)
        return true; /* its prior is not known yet */
    double c = world->misspecification, smallest_a = 1, smallest_b = 10;
    if (strcmp(world->kind, "logistic") == 0)
        return read_logistic_shift(reader, node, c);
    for (uint32_t i = 0; world->prior_a != NULL && i < world->n_items; i++) {
        smallest_a = i == 0 || world->prior_a[i] < smallest_a ? world->prior_a[i] : smallest_a;
        smallest_b = i == 0 || world->prior_b[i] < smallest_b ? world->prior_b[i] : smallest_b;
    }
    bool tells_none = world->prior_a == NULL && strcmp(world->kind, "fixed") == 0;
    if (tells_none && c != 0) {
        return read_bad(
            reader, node,
            "this world has no prior that could be wrong; add `prior: {a: 1, b: 10}` to it");
    }
    return (smallest_a + c > 0 && smallest_b - c > 0) ||
           read_bad(reader, node,
                    "policies would get Beta(%g, %g); both must be above 0, so keep it between %g "
                    "and %g",
                    smallest_a + c, smallest_b - c, -smallest_a, smallest_b);
}

/* ---- the section */

bool plan_no_click(const struct reader *reader, const struct node *world, uint32_t slots,
                   uint32_t *out)
{
    const struct node *node = tree_get(world, "no_click");
    *out = 0;
    if (node == NULL || (node->type == NODE_SCALAR && strcmp(node->text, "all") == 0))
        return true;
    return read_whole32(reader, node, 1, slots, out);
}

bool plan_world(const struct reader *reader, const struct node *root, oltr_world *world,
                oltr_data_plan *data)
{
    const struct node *map, *kind, *clicks;
    world->clicks = "cascade";
    if (!read_required(reader, root, experiment_keys, "world", &map) ||
        !read_map_keys(reader, map, "world", world_keys) ||
        !read_required(reader, map, world_keys, "kind", &kind) ||
        !plan_name(reader, kind, "world", oltr_world_count, oltr_world_at, &world->kind))
        return false;
    clicks = tree_get(map, "clicks");
    if (strcmp(world->kind, "scalar") == 0)
        world->clicks = "abandon";
    if ((clicks != NULL && !plan_name(reader, clicks, "click model", oltr_clicks_count,
                                      oltr_clicks_at, &world->clicks)) ||
        !keys_fit_kind(reader, map, world) || !read_rewards(reader, map, world))
        return false;
    if (strcmp(world->kind, "dataset") == 0)
        return plan_data(reader, map, world, data) && read_shift(reader, map, world);
    if (strcmp(world->kind, "fixed") != 0 && strcmp(world->kind, "beta") != 0)
        return read_drawn(reader, map, world) && read_shift(reader, map, world);
    return (strcmp(world->kind, "fixed") == 0
                ? read_fixed(reader, map, world) && read_features(reader, map, world)
                : read_beta(reader, map, world)) &&
           read_prior(reader, map, world) && read_shift(reader, map, world);
}
