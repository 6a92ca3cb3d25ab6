/* config.c - see config.h.
 *
 * A sweep is an experiment for each of its values, and each of them is the same file with one more override.  So the
 * file is read once for every value, and a swept value is checked as strictly as a written one. */
#include "config.h"

#include "config_parts.h"
#include "report/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t LAST_ROUND = (uint64_t)1 << 40; /* the engine's own limit, said here with line and column */

struct source {
    const char *name, *text;
    size_t length;
    const struct overrides *overrides;
};

/* ---- one point ------------------------------------------------------------------------------------------ */

static bool read_checkpoint_list(const struct reader *reader, const struct node *list, oltr_experiment *point)
{
    if (!read_list(reader, list)) {
        return false;
    }
    uint64_t *round = list->count <= MOST_CHECKPOINTS ? pool_get(reader->pool, list->count, sizeof *round) : NULL;
    if (round == NULL) {
        return read_no_memory(reader);
    }
    point->checkpoint = round;
    for (const struct node *entry = list->first; entry != NULL; entry = entry->next, round++) {
        if (!read_whole(reader, entry, 1, LAST_ROUND, round)) {
            return false;
        }
        if (*round > point->rounds) {
            return read_bad(reader, entry,
                            "checkpoint %s is beyond the last round, %llu; shorten the list or say --checkpoints 20",
                            entry->text, (unsigned long long)point->rounds);
        }
        if (round > point->checkpoint && *round <= round[-1]) {
            return read_bad(reader, entry, "checkpoints must rise: %s stands behind %llu", entry->text,
                            (unsigned long long)round[-1]);
        }
    }
    point->n_checkpoints = (uint32_t)list->count;
    return true;
}

static bool read_checkpoints(const struct reader *reader, const struct node *root, oltr_experiment *point)
{
    const struct node *node = tree_get(root, "checkpoints");
    uint32_t wanted = 200;
    if (node != NULL && node->type == NODE_LIST) {
        return read_checkpoint_list(reader, node, point);
    }
    if (node != NULL && !read_whole32(reader, node, 1, MOST_CHECKPOINTS, &wanted)) {
        return false;
    }
    uint32_t count = oltr_checkpoints(point->rounds, wanted, NULL, 0);
    uint64_t *round = pool_get(reader->pool, count, sizeof *round);
    point->checkpoint = round;
    point->n_checkpoints = round == NULL ? 0 : oltr_checkpoints(point->rounds, wanted, round, count);
    return (count > 0 && point->n_checkpoints == count) || read_no_memory(reader);
}

static bool read_counts(const struct reader *reader, const struct node *root, oltr_experiment *point)
{
    const struct node *rounds, *slots, *replications, *seed = tree_get(root, "seed");
    point->seed = 1;
    return (seed == NULL || read_whole(reader, seed, 0, UINT64_MAX, &point->seed)) &&
           read_required(reader, root, experiment_keys, "rounds", &rounds) &&
           read_whole(reader, rounds, 1, LAST_ROUND, &point->rounds) &&
           read_required(reader, root, experiment_keys, "slots", &slots) &&
           read_whole32(reader, slots, 1, MOST_ITEMS, &point->slots) &&
           read_required(reader, root, experiment_keys, "replications", &replications) &&
           read_whole32(reader, replications, 1, 1 << 22, &point->replications);
}

static bool slots_fit(const struct reader *reader, const struct node *root, const oltr_experiment *point)
{
    return point->slots <= point->world.n_items || strcmp(point->world.kind, "dataset") == 0 ||
           read_bad(reader, tree_get(root, "slots"), "`slots` is %u, but the world has only %u items to fill them",
                    point->slots, point->world.n_items);
}

/* What is left to the engine to judge has no place in the file to point at. */
static bool engine_agrees(const struct reader *reader, const struct node *root, const oltr_experiment *point)
{
    oltr_error error = {OLTR_OK, ""};
    bool complete = strcmp(point->world.kind, "dataset") != 0; /* prepare.c asks again, with the data */
    if (!complete || oltr_experiment_check(point, &error) == OLTR_OK) {
        return true;
    }
    (void)fail(reader->error, error.code, "%.100s: %.150s", root->origin, error.msg);
    return false;
}

static bool read_point(const struct reader *reader, const struct node *root, oltr_experiment *point,
                       struct data_plan *plan)
{
    return read_map_keys(reader, root, "the experiment", experiment_keys) && read_counts(reader, root, point) &&
           config_world(reader, root, &point->world, plan) && slots_fit(reader, root, point) &&
           config_no_click(reader, tree_get(root, "world"), point->slots, &point->world.examined_without_click) &&
           read_checkpoints(reader, root, point) && config_policies(reader, root, plan, point) &&
           engine_agrees(reader, root, point);
}

/* ---- the document --------------------------------------------------------------------------------------- */

/* Overrides come from a command line, which need not be UTF-8, unlike what libyaml lets through. */
static bool override_is_text(const struct reader *reader, const struct override *override)
{
    if (text_is_line(override->key) && text_is_line(override->value)) {
        return true;
    }
    (void)fail(reader->error, OLTR_EVALUE, "%.40s: the key and the value must be UTF-8 text", override->origin);
    return false;
}

/* The file with its overrides, in a new tree. */
static struct node *load(const struct reader *reader, const struct source *source)
{
    struct node *root = tree_parse(reader->pool, source->name, source->text, source->length, reader->error);
    if (root != NULL && root->type != NODE_MAP) {
        (void)read_bad(reader, root, "an experiment is a map of keys, like `rounds: 10000`");
        return NULL;
    }
    for (uint32_t i = 0; root != NULL && i < source->overrides->count; i++) {
        const struct override *override = &source->overrides->item[i];
        if (!override_is_text(reader, override) || tree_set(reader->pool, root, override, reader->error) != OLTR_OK) {
            return NULL;
        }
    }
    return root;
}

/* ---- the sweep ------------------------------------------------------------------------------------------ */

/* Keys whose change would leave the points without a common table or figure. */
static bool key_can_be_swept(const struct reader *reader, const struct node *key, const struct overrides *overrides)
{
    static const char *const never[] = {"title", "kind", "sweep", "figures", "claims", "policies", "world"};
    size_t length = strcspn(key->text, "."), whole = strlen(key->text);
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        bool section = strcmp(never[i], "policies") == 0 || strcmp(never[i], "world") == 0;
        bool same = strlen(never[i]) == length && strncmp(never[i], key->text, length) == 0;
        if (same && (!section || length == whole)) {
            return read_bad(reader, key, "`%s` cannot be swept; take a key with a number or a word, like world.items",
                            never[i]);
        }
    }
    if (whole > 5 && strcmp(key->text + whole - 5, ".name") == 0) {
        return read_bad(reader, key, "names cannot be swept: every value must have the same policies");
    }
    for (uint32_t i = 0; i < overrides->count; i++) {
        if (strcmp(overrides->item[i].key, key->text) == 0) {
            return read_bad(reader, key, "the sweep sets this key, and so does %s; leave one of them out",
                            overrides->item[i].origin);
        }
    }
    return true;
}

static bool read_sweep_values(const struct reader *reader, const struct node *values, struct config *config)
{
    if (!read_list(reader, values)) {
        return false;
    }
    if (values->count > MOST_POINTS) {
        return read_bad(reader, values, "a sweep has at most %d values", MOST_POINTS);
    }
    const char **sweep = pool_get(reader->pool, values->count, sizeof *sweep);
    if (sweep == NULL) {
        return read_no_memory(reader);
    }
    config->sweep = sweep;
    for (const struct node *entry = values->first; entry != NULL; entry = entry->next, config->n_points++) {
        if (!read_line(reader, entry, &sweep[config->n_points])) {
            return false;
        }
        for (uint32_t i = 0; i < config->n_points; i++) {
            if (strcmp(sweep[i], sweep[config->n_points]) == 0) {
                return read_bad(reader, entry, "`%.40s` stands twice in the sweep", sweep[i]);
            }
        }
    }
    return true;
}

static bool read_sweep(const struct reader *reader, const struct node *root, const struct overrides *overrides,
                       struct config *config)
{
    const struct node *sweep = tree_get(root, "sweep"), *key, *values;
    config->n_points = sweep == NULL;
    return sweep == NULL ||
           (read_map_keys(reader, sweep, "sweep", sweep_keys) &&
            read_required(reader, sweep, sweep_keys, "key", &key) && read_line(reader, key, &config->sweep_key) &&
            key_can_be_swept(reader, key, overrides) && read_required(reader, sweep, sweep_keys, "values", &values) &&
            read_sweep_values(reader, values, config));
}

/* The file once more, with the i-th swept value in its place. */
static struct node *load_swept(const struct reader *reader, const struct source *source, const struct node *base,
                               const char *key, uint32_t i)
{
    const struct node *value = tree_get(tree_get(base, "sweep"), "values")->first;
    struct node *root = load(reader, source);
    while (i-- > 0) {
        value = value->next;
    }
    struct override override = {value->origin, key, value->text, value->line, value->column};
    if (root == NULL || tree_set(reader->pool, root, &override, reader->error) != OLTR_OK) {
        return NULL;
    }
    return root;
}

static bool read_points(const struct reader *reader, const struct source *source, struct config *config)
{
    oltr_experiment *points = pool_get(reader->pool, config->n_points, sizeof *points);
    struct data_plan *plan = pool_get(reader->pool, config->n_points, sizeof *plan);
    if (points == NULL || plan == NULL) {
        return read_no_memory(reader);
    }
    config->points = points;
    config->plan = plan;
    for (uint32_t i = 0; i < config->n_points; i++) {
        const struct node *root =
            config->sweep_key == NULL ? config->root : load_swept(reader, source, config->root, config->sweep_key, i);
        if (root == NULL || !read_point(reader, root, &points[i], &plan[i])) {
            return false;
        }
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

/* The name of the file without folders and without its ending. */
static const char *base_name(const struct reader *reader, const char *name)
{
    const char *slash = strrchr(name, '/'), *start = slash != NULL ? slash + 1 : name, *dot = strrchr(start, '.');
    size_t length = dot != NULL && dot > start ? (size_t)(dot - start) : strlen(start);
    const char *copy = pool_text(reader->pool, start, length < LONGEST_LINE ? length : LONGEST_LINE);
    return copy != NULL && text_is_line(copy) && *copy != '\0' ? copy : "experiment";
}

static bool read_kind(const struct reader *reader, struct config *config)
{
    const struct node *node = tree_get(config->root, "kind");
    const char *word = "regret";
    if (node != NULL && !read_line(reader, node, &word)) {
        return false;
    }
    config->kind = strcmp(word, "concentration") == 0 ? CONFIG_CONCENTRATION : CONFIG_REGRET;
    return config->kind == CONFIG_CONCENTRATION || strcmp(word, "regret") == 0 ||
           read_bad(reader, node, "`kind` of an experiment must be regret or concentration");
}

static bool read_config(const struct reader *reader, const struct source *source, struct config *config)
{
    config->root = load(reader, source);
    if (config->root == NULL || !read_kind(reader, config)) {
        return false;
    }
    const struct node *title = tree_get(config->root, "title");
    config->title = title == NULL ? base_name(reader, source->name) : NULL;
    if (title != NULL && !read_line(reader, title, &config->title)) {
        return false;
    }
    if (config->kind == CONFIG_CONCENTRATION) {
        return config_concentration(reader, config->root, config) && config_claims(reader, config->root, config);
    }
    return read_map_keys(reader, config->root, "the experiment", experiment_keys) &&
           read_sweep(reader, config->root, source->overrides, config) && read_points(reader, source, config) &&
           config_figures(reader, config->root, config) && config_notes(reader, config->root, config) &&
           config_claims(reader, config->root, config);
}

oltr_status config_parse(const char *name, const char *text, size_t length, const struct overrides *overrides,
                         struct config *out, oltr_error *error)
{
    static const struct overrides none = {0, NULL};
    oltr_error own;
    struct source source = {name, text, length, overrides != NULL ? overrides : &none};
    memset(out, 0, sizeof *out);
    struct reader reader = {&out->pool, error != NULL ? error : &own};
    reader.error->code = OLTR_OK;
    return read_config(&reader, &source, out) ? OLTR_OK : reader.error->code;
}

bool config_needs_data(const struct config *config, uint32_t point)
{
    const oltr_world *world = &config->points[point].world;
    return strcmp(world->kind, "dataset") == 0 && world->dataset == NULL;
}

void config_free(struct config *config)
{
    pool_free(&config->pool);
    memset(config, 0, sizeof *config);
}
