/* plan_sweep.c - the section `sweep`: one key and its values, named cases that set several keys at
 * once, or a list of two of these, whose combinations are all run.
 *
 * A point is the document with the values of the point in place: each is one more override.  The
 * last entry of a list varies fastest. */
#include "lab/plan/plan_parts.h"

#include <string.h>

uint32_t plan_sweep_place(const oltr_plan *plan, uint32_t point, uint32_t axis)
{
    for (uint32_t i = plan->n_axes; i > axis + 1; i--)
        point /= plan->axis[i - 1].count;
    return point % plan->axis[axis].count;
}

/* ---- keys */

/* Does an axis set this key? */
static bool axis_sets(const struct sweep_axis *axis, const char *key)
{
    if (axis->key)
        return strcmp(axis->key, key) == 0;
    for (uint32_t i = 0; i < axis->count; i++)
        for (const struct node *entry = axis->given[i]->first; entry; entry = entry->next)
            if (strcmp(entry->key->text, key) == 0)
                return true;
    return false;
}

/* Keys whose change would leave the points without a common table or figure. */
static bool key_can_be_swept(const struct reader *reader, const struct node *key)
{
    static const char *const never[] = {"title",  "kind",     "sweep", "figures",
                                        "claims", "policies", "world"};
    size_t length = strcspn(key->text, "."), whole = strlen(key->text);
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        bool section = strcmp(never[i], "policies") == 0 || strcmp(never[i], "world") == 0;
        bool same = strlen(never[i]) == length && strncmp(never[i], key->text, length) == 0;
        if (same && (!section || length == whole))
            return read_bad(
                reader, key,
                "`%s` cannot be swept; take a key with a number or a word, like world.items",
                never[i]);
    }
    return whole <= 5 || strcmp(key->text + whole - 5, ".name") != 0 ||
           read_bad(reader, key, "names cannot be swept: every value must have the same policies");
}

/* No flag and no other axis may set the key, too. */
static bool key_is_free(const struct reader *reader, const struct node *key, const oltr_plan *plan)
{
    for (uint32_t i = 0; i < plan->overrides.count; i++)
        if (strcmp(plan->overrides.item[i].key, key->text) == 0)
            return read_bad(reader, key,
                            "the sweep sets this key, and so does %s; leave one of them out",
                            plan->overrides.item[i].origin);
    for (uint32_t i = 0; i < plan->n_axes; i++)
        if (axis_sets(&plan->axis[i], key->text))
            return read_bad(reader, key, "both entries of the sweep set this key; leave one out");
    return true;
}

static bool read_key(const struct reader *reader, const struct node *key, const oltr_plan *plan)
{
    const char *text;
    return read_line(reader, key, &text) && key_can_be_swept(reader, key) &&
           key_is_free(reader, key, plan);
}

/* ---- values and cases */

/* Room for what a list or a map has. */
static bool make_room(const struct reader *reader, const struct node *list, struct sweep_axis *axis)
{
    if (list->count > MOST_POINTS)
        return read_bad(reader, list, "a sweep has at most %d values", MOST_POINTS);
    axis->value = pool_get(reader->pool, list->count, sizeof *axis->value);
    axis->given = pool_get(reader->pool, list->count, sizeof *axis->given);
    return (axis->value && axis->given) || read_no_memory(reader);
}

static bool read_values(const struct reader *reader, const struct node *values,
                        struct sweep_axis *axis)
{
    if (!read_list(reader, values) || !make_room(reader, values, axis))
        return false;
    for (const struct node *entry = values->first; entry; entry = entry->next, axis->count++) {
        axis->given[axis->count] = entry;
        if (!read_line(reader, entry, &axis->value[axis->count]))
            return false;
        for (uint32_t i = 0; i < axis->count; i++)
            if (strcmp(axis->value[i], axis->value[axis->count]) == 0)
                return read_bad(reader, entry, "`%.40s` is in the sweep twice", axis->value[i]);
    }
    return true;
}

static bool read_case(const struct reader *reader, const struct node *keys, const oltr_plan *plan)
{
    const char *text;
    if (keys->type != NODE_MAP)
        return read_bad(reader, keys, "a case must be a map of keys, like {world.prior_shift: 2}");
    for (const struct node *entry = keys->first; entry; entry = entry->next)
        if (!read_key(reader, entry->key, plan) || !read_line(reader, entry, &text))
            return false;
    return true;
}

static bool read_cases(const struct reader *reader, const struct node *cases, const oltr_plan *plan,
                       struct sweep_axis *axis)
{
    if (cases->type != NODE_MAP || cases->count == 0)
        return read_bad(
            reader, cases,
            "must be a map of cases, like {right: {}, shifted: {world.prior_shift: 2}}");
    if (!make_room(reader, cases, axis))
        return false;
    for (const struct node *entry = cases->first; entry; entry = entry->next, axis->count++) {
        axis->given[axis->count] = entry;
        if (!read_line(reader, entry->key, &axis->value[axis->count]) ||
            !read_case(reader, entry, plan))
            return false;
    }
    return true;
}

/* ---- axes */

static bool read_key_axis(const struct reader *reader, const struct node *map,
                          const oltr_plan *plan, struct sweep_axis *axis)
{
    const struct node *key, *values;
    if (!read_required(reader, map, sweep_keys, "key", &key) || !read_key(reader, key, plan) ||
        !read_required(reader, map, sweep_keys, "values", &values))
        return false;
    axis->name = axis->key = key->text;
    return read_values(reader, values, axis);
}

static bool read_axis(const struct reader *reader, const struct node *map, oltr_plan *plan)
{
    struct sweep_axis axis = {.name = "case"};
    if (!read_map_keys(reader, map, "sweep", sweep_keys))
        return false;
    const struct node *name = tree_get(map, "name"), *cases = tree_get(map, "cases"),
                      *key = tree_get(map, "key"), *stray = key ? key : tree_get(map, "values");
    if (cases && stray)
        return read_bad(reader, stray, "`%s` and `cases` exclude each other", stray->key->text);
    if (!(cases ? read_cases(reader, cases, plan, &axis) : read_key_axis(reader, map, plan, &axis)))
        return false;
    if (name && !read_line(reader, name, &axis.name))
        return false;
    plan->axis[plan->n_axes++] = axis;
    return true;
}

static bool read_axes(const struct reader *reader, const struct node *sweep, oltr_plan *plan)
{
    if (sweep->type != NODE_LIST)
        return read_axis(reader, sweep, plan);
    if (sweep->count < 1 || sweep->count > MOST_SWEEP_KEYS)
        return read_bad(reader, sweep, "a sweep is a map, or a list of at most %d of them",
                        MOST_SWEEP_KEYS);
    for (const struct node *map = sweep->first; map; map = map->next)
        if (!read_axis(reader, map, plan))
            return false;
    return true;
}

/* ---- points */

/* Of several axes, a value must not look like two. */
static bool can_be_joined(const struct reader *reader, const oltr_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_axes && plan->n_axes > 1; i++)
        for (uint32_t j = 0; j < plan->axis[i].count; j++)
            if (strstr(plan->axis[i].value[j], OLTR_SWEEP_BETWEEN))
                return read_bad(reader, plan->axis[i].given[j],
                                "a value of a sweep over two keys cannot contain `%s`",
                                OLTR_SWEEP_BETWEEN);
    return true;
}

/* The values of all axes at one point, or the names of the axes. */
static const char *joined(const struct reader *reader, const oltr_plan *plan, const char *first,
                          const char *second)
{
    if (plan->n_axes < 2)
        return first;
    return pool_printf(reader->pool, "%s" OLTR_SWEEP_BETWEEN "%s", first, second);
}

static bool name_points(const struct reader *reader, oltr_plan *plan)
{
    const char **sweep = pool_get(reader->pool, plan->n_points, sizeof *sweep);
    plan->sweep_key = joined(reader, plan, plan->axis[0].name, plan->axis[1].name);
    bool good = sweep && plan->sweep_key;
    for (uint32_t i = 0; good && i < plan->n_points; i++) {
        sweep[i] = joined(reader, plan, oltr_plan_sweep_value_at(plan, i, 0),
                          oltr_plan_sweep_value_at(plan, i, 1));
        good = sweep[i];
    }
    plan->sweep = sweep;
    return good || read_no_memory(reader);
}

bool plan_sweep(const struct reader *reader, oltr_plan *plan)
{
    const struct node *sweep = tree_get(plan->root, "sweep");
    plan->n_points = 1;
    if (!sweep)
        return true;
    if (!read_axes(reader, sweep, plan) || !can_be_joined(reader, plan))
        return false;
    for (uint32_t i = 0; i < plan->n_axes; i++)
        plan->n_points *= plan->axis[i].count;
    if (plan->n_points > MOST_POINTS)
        return read_bad(reader, sweep, "a sweep has at most %d combinations of values, not %u",
                        MOST_POINTS, plan->n_points);
    return name_points(reader, plan);
}

static bool set_value(const struct reader *reader, struct node *root, const char *key,
                      const struct node *where, const struct node *value)
{
    struct override override = {value->origin, key, value->text, value->line, value->column, where};
    return tree_set(reader->pool, root, &override, reader->error) == OLTR_OK;
}

static bool set_axis(const struct reader *reader, struct node *root, const struct sweep_axis *axis,
                     const struct node *given)
{
    const struct node *where = axis->key ? tree_get(given->parent->parent, "key") : NULL;
    bool good = !axis->key || set_value(reader, root, axis->key, where, given);
    for (const struct node *entry = axis->key ? NULL : given->first; good && entry;
         entry = entry->next)
        good = set_value(reader, root, entry->key->text, entry->key, entry);
    return good;
}

const struct node *plan_sweep_to(const struct reader *reader, const oltr_plan *plan, uint32_t point)
{
    if (plan->n_axes == 0)
        return plan->root;
    struct node *root = tree_copy(reader->pool, plan->root);
    bool good = root || read_no_memory(reader);
    for (uint32_t i = 0; good && i < plan->n_axes; i++)
        good = set_axis(reader, root, &plan->axis[i],
                        plan->axis[i].given[plan_sweep_place(plan, point, i)]);
    return good ? root : NULL;
}
