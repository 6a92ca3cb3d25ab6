/* world_keys.c - see world_keys.h.
 *
 * A key has owners: the kinds of worlds and the click models that have it.  They follow from the
 * traits and the tables of the catalogue, so a new world or click model appears here, in the help
 * and in every message without a change of this file. */
#include "lab/plan/world_keys.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/nearest.h"
#include "lab/plan/param_text.h"
#include "lab/world/world.h"

enum { OWNERS_SIZE = 160 };

/* ---- the keys */

/* A key with a reader of its own (plan_world.c, plan_data.c), or a parameter. */
struct world_key {
    const char *name;
    const struct key *key;         /* or NULL */
    const oltr_world_param *param; /* or NULL */
};

/* Kinds of worlds with all traits `with` and no trait `without` have these keys. */
static const struct part {
    const struct key *keys;
    uint32_t with, without;
} parts[] = {
    {kind_keys, 0, 0},
    {item_keys, 0, OLTR_WORLD_DATASET | OLTR_WORLD_FITTED},
    {shift_keys, OLTR_WORLD_MISSPECIFIED, 0},
    {given_prior_keys, OLTR_WORLD_PRIOR, 0},
    {attraction_keys, OLTR_WORLD_ATTRACTION, 0},
    {drifting_keys, OLTR_WORLD_DRIFTS, 0},
    {dataset_keys, OLTR_WORLD_DATASET, 0},
    {fitted_keys, OLTR_WORLD_FITTED, 0},
};
enum { PARTS = sizeof parts / sizeof *parts };

static bool in_table(const oltr_world_param *params, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(params[i].about.name, name) == 0)
            return true;
    return false;
}

static bool kind_has(const oltr_world_ops *kind, const char *name)
{
    for (size_t i = 0; i < PARTS; i++)
        for (const struct key *key = parts[i].keys; key->name; key++)
            if (strcmp(key->name, name) == 0 && (kind->traits & parts[i].with) == parts[i].with &&
                !(kind->traits & parts[i].without))
                return true;
    return in_table(kind->params, kind->n_params, name);
}

bool world_has_key(const oltr_world *world, const char *name)
{
    return kind_has(world_ops_of(world->kind, NULL), name);
}

static bool clicks_have(const oltr_click_ops *clicks, const char *name)
{
    return in_table(clicks->params, clicks->n_params, name);
}

/* Several kinds may have one. */
static void add_key(struct world_key key, struct world_key *keys, size_t *count)
{
    size_t j = 0;
    while (j < *count && strcmp(keys[j].name, key.name) != 0)
        j++;
    keys[j] = j == *count ? key : keys[j];
    *count += j == *count;
}

static void add_params(const oltr_world_param *params, uint32_t n, struct world_key *keys,
                       size_t *count)
{
    for (uint32_t i = 0; i < n; i++)
        add_key((struct world_key){params[i].about.name, NULL, &params[i]}, keys, count);
}

/* Every key of every kind and click model once, in the pool; ends with a name of NULL.  NULL
 * without memory. */
static const struct world_key *all_keys(struct pool *pool)
{
    size_t room = 1, count = 0;
    for (size_t i = 0; i < PARTS; i++)
        for (const struct key *key = parts[i].keys; key->name; key++)
            room++;
    for (uint32_t i = 0; i < oltr_world_count(); i++)
        room += oltr_world_ops_at(i)->n_params;
    for (uint32_t i = 0; i < oltr_clicks_count(); i++)
        room += oltr_click_ops_at(i)->n_params;
    struct world_key *keys = pool_get(pool, room, sizeof *keys);
    if (!keys)
        return NULL;
    for (size_t i = 0; i < PARTS; i++)
        for (const struct key *key = parts[i].keys; key->name; key++)
            add_key((struct world_key){key->name, key, NULL}, keys, &count);
    for (uint32_t i = 0; i < oltr_world_count(); i++)
        add_params(oltr_world_ops_at(i)->params, oltr_world_ops_at(i)->n_params, keys, &count);
    for (uint32_t i = 0; i < oltr_clicks_count(); i++)
        add_params(oltr_click_ops_at(i)->params, oltr_click_ops_at(i)->n_params, keys, &count);
    return keys;
}

/* The kinds that have a key, "linear, logistic or scalar", or if there are none its click models,
 * with "clicks " before them; "" if all kinds have it.  False if nothing has it. */
static bool owners(const char *name, char list[OWNERS_SIZE])
{
    const char *last = NULL, *before = "";
    uint32_t found = 0, kinds = oltr_world_count();
    size_t used = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < kinds + oltr_clicks_count() && !(i == kinds && found); i++) {
        bool of_kind = i < kinds;
        if (!(of_kind ? kind_has(oltr_world_ops_at(i), name)
                      : clicks_have(oltr_click_ops_at(i - kinds), name)))
            continue;
        if (last && used < OWNERS_SIZE)
            used += (size_t)snprintf(list + used, OWNERS_SIZE - used, "%s%s", before, last);
        before = used ? ", " : of_kind ? "" : "clicks ";
        last = of_kind ? oltr_world_at(i)->name : oltr_clicks_at(i - kinds)->name;
        found++;
    }
    if (last && used < OWNERS_SIZE && found < kinds)
        snprintf(list + used, OWNERS_SIZE - used, "%s%s", used ? " or " : before, last);
    else if (found == kinds)
        list[0] = '\0';
    return found > 0;
}

/* ---- checking */

static bool wrong_key(const struct reader *reader, const struct node *map, const struct node *entry,
                      const oltr_world_ops *kind, const oltr_click_ops *clicks)
{
    const char *name = entry->key->text;
    char list[OWNERS_SIZE], hint[HINT_SIZE];
    if (owners(name, list)) {
        bool of_clicks = strncmp(list, "clicks ", 7) == 0;
        return read_bad(
            reader, tree_blame(entry->key, tree_get(map, of_clicks ? "clicks" : "kind")),
            of_clicks ? "`%s` belongs to the click model %s; this world has %s"
                      : "`%s` belongs to a world of kind %s; this one is %s",
            name, of_clicks ? list + 7 : list, of_clicks ? clicks->info.name : kind->info.name);
    }
    struct nearest nearest = nearest_to(name);
    for (const struct world_key *key = all_keys(reader->pool); key && key->name; key++)
        nearest_offer(&nearest, key->name);
    return read_bad(reader, entry->key, "unknown key in world%s",
                    nearest.best ? nearest_hint(&nearest, hint)
                                 : "; `oltr help experiment` lists those that there are");
}

bool world_keys_fit(const struct reader *reader, const struct node *map, const oltr_world_ops *kind,
                    const oltr_click_ops *clicks)
{
    for (const struct node *entry = map->first; entry; entry = entry->next)
        if (!kind_has(kind, entry->key->text) && !clicks_have(clicks, entry->key->text))
            return wrong_key(reader, map, entry, kind, clicks);
    return true;
}

/* ---- reading */

static bool read_param(const struct reader *reader, const struct node *node,
                       const oltr_param *param, double *out)
{
    size_t word = 0;
    uint64_t whole = 0;
    if (param->type == OLTR_REAL)
        return read_real(reader, node, param->min, param->max, out);
    bool good = param->type == OLTR_INTEGER && !is_word(node, param->choices, &word)
                    ? read_whole(reader, node, (uint64_t)param->min, (uint64_t)param->max, &whole)
                    : read_word(reader, node, param->choices, &word);
    *out = whole ? (double)whole : (double)word;
    return good;
}

/* Each type is converted only where it is the field's: a real value may not fit an integer. */
static void set_field(oltr_world *world, const oltr_world_param *param, double value)
{
    char *field = (char *)world + param->field;
    if (param->about.type == OLTR_REAL) {
        memcpy(field, &value, sizeof value);
    } else if (param->about.type == OLTR_INTEGER) {
        uint32_t whole = (uint32_t)value;
        memcpy(field, &whole, sizeof whole);
    } else {
        int choice = (int)value;
        memcpy(field, &choice, sizeof choice);
    }
}

static void set_defaults(const oltr_world_param *params, uint32_t n, oltr_world *world)
{
    for (uint32_t i = 0; i < n; i++)
        if (params[i].field && !params[i].zero_is_default)
            set_field(world, &params[i], params[i].about.initial);
}

/* A number for each slot, as long as plan.c finds `slots`. */
static bool read_slots(const struct reader *reader, const struct node *list,
                       const oltr_world_param *param, oltr_world *world)
{
    uint32_t n = 0;
    if (!read_reals(reader, list, 0, 1, &world->slot_chance, &n))
        return false;
    for (uint32_t i = 1; i < n && param->by_slot == 2; i++)
        if (world->slot_chance[i] > world->slot_chance[i - 1])
            return read_bad(reader, list,
                            "the numbers must not rise from slot to slot: policies show their best "
                            "item first");
    return true;
}

static bool read_table(const struct reader *reader, const struct node *map,
                       const oltr_world_param *params, uint32_t n, oltr_world *world,
                       const double **values)
{
    double *own = pool_get(reader->pool, (size_t)n + 1, sizeof *own);
    if (!own)
        return read_no_memory(reader);
    set_defaults(params, n, world);
    for (uint32_t i = 0; i < n; i++) {
        const struct node *node = tree_get(map, params[i].about.name);
        own[i] = params[i].about.initial;
        bool of_slots = node && params[i].by_slot && node->type == NODE_LIST;
        if (node && !(of_slots ? read_slots(reader, node, &params[i], world)
                               : read_param(reader, node, &params[i].about, &own[i])))
            return false;
        if (!params[i].field)
            *values = own;
        else if (node)
            set_field(world, &params[i], own[i]);
    }
    return true;
}

bool read_world_params(const struct reader *reader, const struct node *map,
                       const oltr_world_ops *kind, const oltr_click_ops *clicks, oltr_world *world)
{
    /* The fields of the other click models have their defaults too: the digest of partial results
     * includes them. */
    for (uint32_t i = 0; i < oltr_clicks_count(); i++)
        set_defaults(oltr_click_ops_at(i)->params, oltr_click_ops_at(i)->n_params, world);
    return read_table(reader, map, clicks->params, clicks->n_params, world, &world->click_values) &&
           read_table(reader, map, kind->params, kind->n_params, world, &world->kind_values);
}

/* ---- help and documentation */

static const char *copy_text(struct pool *pool, struct text *text)
{
    const char *copied = text->failed ? NULL : pool_text(pool, text->bytes, text->length);
    text_free(text);
    return copied;
}

static const char of_each_slot[] = ", or a list with one number for each slot";

static struct key explain(struct pool *pool, const struct world_key *key)
{
    char list[OWNERS_SIZE], value[PARAM_TEXT_SIZE];
    struct text help = {0};
    owners(key->name, list);
    text_printf(&help, "%s%s%s", list, list[0] ? ": " : "",
                key->key ? key->key->help : key->param->about.help);
    if (key->key)
        return (struct key){key->name, key->key->example, copy_text(pool, &help)};
    text_printf(&help, "%s (default %s)", key->param->by_slot ? of_each_slot : "",
                param_default(&key->param->about, value));
    return (struct key){key->name, pool_text(pool, value, strlen(value)), copy_text(pool, &help)};
}

static void list_catalogue(struct text *out, uint32_t count, const oltr_named *(*at)(uint32_t))
{
    for (uint32_t i = 0; i < count; i++)
        text_printf(out, "%s %s (%s)", i ? ";" : "", at(i)->name, at(i)->summary);
}

const struct key *world_section(struct pool *pool, const char **note)
{
    const struct world_key *all = all_keys(pool);
    struct text text = {0};
    size_t n = 0;
    while (all && all[n].name)
        n++;
    struct key *keys = pool_get(pool, n + 1, sizeof *keys);
    bool good = all && keys;
    for (size_t i = 0; good && i < n; i++) {
        keys[i] = explain(pool, &all[i]);
        good = keys[i].example && keys[i].help;
    }
    text_add(&text, "Kinds of worlds:");
    list_catalogue(&text, oltr_world_count(), oltr_world_at);
    text_add(&text, ".  Click models:");
    list_catalogue(&text, oltr_clicks_count(), oltr_clicks_at);
    text_add(&text, ".");
    *note = copy_text(pool, &text);
    return good && *note ? keys : NULL;
}

bool world_param_table(struct text *out)
{
    struct pool pool = {NULL, 0};
    char list[OWNERS_SIZE], initial[PARAM_TEXT_SIZE], values[PARAM_TEXT_SIZE];
    const struct world_key *key = all_keys(&pool);
    bool good = key;
    text_add(out, "| key | of | values | default | meaning |\n|---|---|---|---|---|\n");
    for (; key && key->name; key++)
        if (key->param && owners(key->name, list))
            text_printf(out, "| `%s` | %s | %s%s | %s | %s |\n", key->name, list,
                        param_values(&key->param->about, values),
                        key->param->by_slot ? of_each_slot : "",
                        param_default(&key->param->about, initial), key->param->about.help);
    pool_free(&pool);
    return good && !out->failed;
}
