/* plan_world.c - the section `world`: the environment of an experiment.
 *
 * Parameters come from the tables of the kind and the click model (world_keys.c).  Read here are
 * the keys that hold more than a number: attractions, features, the prior, drift. */
#include "lab/plan/plan_parts.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/nearest.h"
#include "engine/base/quote.h"
#include "engine/limits.h"
#include "lab/plan/world_keys.h"
#include "lab/world/world.h"

/* ---- names from the engine's catalogues */

bool plan_name(const struct reader *reader, const struct node *node, const char *what,
               uint32_t (*count)(void), const oltr_named *(*at)(uint32_t), uint32_t *out)
{
    char hint[HINT_SIZE], list[128] = "", name[QUOTE_SIZE];
    size_t used = 0;
    const char *word;
    if (!read_line(reader, node, &word))
        return false;
    struct nearest nearest = nearest_to(word);
    for (uint32_t i = 0; i < count(); i++) {
        *out = i;
        if (strcmp(word, at(i)->name) == 0)
            return true;
        nearest_offer(&nearest, at(i)->name);
        if (used + strlen(at(i)->name) + 3 < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "",
                                     at(i)->name);
    }
    nearest_hint(&nearest, hint);
    return read_bad(reader, node, "no %s is called `%s`%s%s%s", what, quote_input(word, name), hint,
                    !nearest.best ? "; there are " : " There are ", list);
}

bool has_trait(const oltr_world *world, uint32_t trait)
{
    return world_ops_of(world->kind, NULL)->traits & trait;
}

/* ---- the items */

static bool read_level(const struct reader *reader, const struct node *node, uint32_t *count,
                       double *value)
{
    if (node->type != NODE_LIST || node->count != 2)
        return read_bad(reader, node, "a level must be a pair [count, value], like [14, 0.05]");
    return read_whole32(reader, node->first, 1, MOST_WORLD_ITEMS, count) &&
           read_real(reader, node->last, 0, 1, value);
}

static bool read_levels(const struct reader *reader, const struct node *levels, oltr_world *world)
{
    uint32_t count = 0, items = 0;
    double value = 0, *attraction;
    if (!read_list(reader, levels))
        return false;
    for (const struct node *entry = levels->first; entry; entry = entry->next) {
        if (!read_level(reader, entry, &count, &value))
            return false;
        if (count > MOST_WORLD_ITEMS - items)
            return read_bad(reader, entry, "the levels add up to more than %d items",
                            MOST_WORLD_ITEMS);
        items += count;
    }
    attraction = pool_get(reader->pool, items, sizeof *attraction);
    if (!attraction)
        return read_no_memory(reader);
    world->attraction = attraction;
    world->n_items = items;
    for (const struct node *entry = levels->first; entry; entry = entry->next) {
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
    if ((!attraction) == (!levels))
        return read_bad(
            reader, attraction ? tree_blame(tree_blame(map, attraction), levels) : map,
            "a fixed world needs either `attraction: [0.2, 0.1]` or `levels: [[2, 0.2]]`%s",
            !attraction ? "" : ", not both");
    bool good = levels ? read_levels(reader, levels, world)
                       : read_reals(reader, attraction, 0, 1, &world->attraction, &world->n_items);
    if (!good || !items)
        return good;
    return read_whole32(reader, items, 1, MOST_WORLD_ITEMS, &said) &&
           (said == world->n_items ||
            read_bad(reader, tree_blame(items, levels ? levels : attraction),
                     "`items` is %u, but the attractions are %u; leave `items` out", said,
                     world->n_items));
}

/* ---- features */

static bool read_feature_row(const struct reader *reader, const struct node *row, uint32_t dim,
                             float *out)
{
    const double *values;
    uint32_t count = 0;
    if (!read_reals(reader, row, -(double)LARGEST_FEATURE, (double)LARGEST_FEATURE, &values,
                    &count))
        return false;
    if (count != dim)
        return read_bad(reader, row, "this row has %u feature%s, the first one has %u", count,
                        count == 1 ? "" : "s", dim);
    for (uint32_t i = 0; i < dim; i++)
        out[i] = (float)values[i];
    return true;
}

/* One row for each item of a fixed world. */
static bool read_features(const struct reader *reader, const struct node *map, oltr_world *world)
{
    const struct node *rows = tree_get(map, "features");
    if (!rows || !read_list(reader, rows))
        return !rows;
    if (rows->count != world->n_items || rows->first->type != NODE_LIST ||
        rows->first->count == 0) {
        return read_bad(reader, rows, "there must be one row [0.1, 0.9] for each of the %u items",
                        world->n_items);
    }
    world->dim = (uint32_t)rows->first->count;
    float *x = pool_get(reader->pool, (size_t)world->n_items * world->dim, sizeof *x);
    if (!x)
        return read_no_memory(reader);
    world->features = x;
    for (const struct node *row = rows->first; row; row = row->next, x += world->dim)
        if (!read_feature_row(reader, row, world->dim, x))
            return false;
    return true;
}

/* ---- the prior */

static bool read_prior_list(const struct reader *reader, const struct node *node, uint32_t n_items,
                            const double **out)
{
    uint32_t count = 0;
    return read_reals(reader, node, 0, LARGEST_WORLD_NUMBER, out, &count) &&
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
    if (!values)
        return read_no_memory(reader);
    if (!read_real(reader, node, 0, LARGEST_WORLD_NUMBER, &value))
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
    if (!drawn)
        drawn = tree_get(map, "instances_per_prior");
    if (drawn && prior)
        return read_bad(reader, tree_blame(drawn->key, prior),
                        "`%s` is for worlds of kind beta without `prior`, which draw their own",
                        drawn->key->text);
    return !prior || (read_map_keys(reader, prior, "prior", prior_keys) &&
                      read_required(reader, prior, prior_keys, "a", &a) &&
                      read_required(reader, prior, prior_keys, "b", &b) &&
                      read_prior_side(reader, a, world->n_items, &world->prior_a) &&
                      read_prior_side(reader, b, world->n_items, &world->prior_b));
}

/* The key that makes the prior of policies a wrong one: misspecification, or the first of its
 * parameters. */
static const struct node *wrong_prior_key(const struct node *map)
{
    const struct node *node = tree_get(map, "misspecification");
    for (const struct node *entry = map->first; !node && entry; entry = entry->next)
        node = strncmp(entry->key->text, "prior_", strlen("prior_")) == 0 ? entry : NULL;
    return node;
}

/* What is wrong with the prior that policies would get is the answer of the world; the place is
 * that of the key. */
static bool read_shift(const struct reader *reader, const struct node *map,
                       const oltr_world_ops *kind, oltr_world *world)
{
    const struct node *shift = tree_get(map, "misspecification"), *node = wrong_prior_key(map);
    oltr_error error = {OLTR_OK, ""};
    if (shift && !read_real(reader, shift, -LARGEST_WORLD_NUMBER, LARGEST_WORLD_NUMBER,
                            &world->misspecification))
        return false;
    bool known =
        kind->check &&
        !(kind->traits & (OLTR_WORLD_DATASET | OLTR_WORLD_FITTED)); /* its prior comes with data */
    return !node || !known || kind->check(world, &error) != OLTR_EPRIOR ||
           read_bad(reader, node, "%s", error.msg);
}

/* ---- drift */

static bool read_drift(const struct reader *reader, const struct node *map, oltr_world *world)
{
    static const char *const kinds[] = {"walk", "jump", NULL};
    const struct node *drift = tree_get(map, "drift"), *name, *rate;
    size_t jumps = 0;
    if (!drift)
        return true;
    return read_map_keys(reader, drift, "drift", drift_keys) &&
           read_required(reader, drift, drift_keys, "kind", &name) &&
           read_required(reader, drift, drift_keys, "rate", &rate) &&
           read_word(reader, name, kinds, &jumps) &&
           read_real(reader, rate, 0, jumps ? 1 : LARGEST_WALK,
                     jumps ? &world->drift_jump : &world->drift_walk);
}

/* ---- the section */

/* The click model where none is named: the first that has the rewards of the world. */
static const oltr_click_ops *usual_clicks(const oltr_world_ops *kind)
{
    bool reals = kind->traits & OLTR_WORLD_REALS;
    uint32_t i = 0;
    while (reals && oltr_click_ops_at(i)->rewards != OLTR_REALS)
        i++;
    return oltr_click_ops_at(i);
}

static bool read_items(const struct reader *reader, const struct node *map,
                       const oltr_world_ops *kind, oltr_world *world)
{
    if (kind->traits & OLTR_WORLD_ATTRACTION)
        return read_fixed(reader, map, world) && read_features(reader, map, world);
    return read_count(reader, map, item_keys, "items", 1, MOST_WORLD_ITEMS, &world->n_items);
}

bool plan_world(const struct reader *reader, const struct node *root, oltr_world *world,
                oltr_data_plan *data)
{
    const struct node *map, *name, *clicks_name;
    uint32_t at;
    if (!read_required(reader, root, experiment_keys, "world", &map) ||
        !read_is_map(reader, map, kind_keys) ||
        !read_required(reader, map, kind_keys, "kind", &name) ||
        !plan_name(reader, name, "world", oltr_world_count, oltr_world_at, &at))
        return false;
    const oltr_world_ops *kind = oltr_world_ops_at(at);
    const oltr_click_ops *clicks = usual_clicks(kind);
    clicks_name = tree_get(map, "clicks");
    bool fitted = kind->traits & OLTR_WORLD_FITTED;
    if (fitted) {
        clicks = fitted_clicks(reader, map);
        if (!clicks)
            return false;
    } else if (clicks_name) {
        if (!plan_name(reader, clicks_name, "click model", oltr_clicks_count, oltr_clicks_at, &at))
            return false;
        clicks = oltr_click_ops_at(at);
    }
    world->kind = kind->info.name;
    world->clicks = clicks->info.name;
    bool from_data = kind->traits & OLTR_WORLD_DATASET;
    return world_keys_fit(reader, map, kind, clicks) &&
           read_world_params(reader, map, kind, clicks, world) &&
           (fitted      ? plan_fitted(reader, map, world, data)
            : from_data ? plan_data(reader, map, world, data)
                        : read_items(reader, map, kind, world) && read_prior(reader, map, world) &&
                              read_drift(reader, map, world)) &&
           read_shift(reader, map, kind, world);
}
