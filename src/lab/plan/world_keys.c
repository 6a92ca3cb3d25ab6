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

enum { OWNERS_SIZE = 160, KEYS_SIZE = 100 };

/* ---- who has which key */

static const struct part {
    const struct key *keys;
    uint32_t with, without; /* traits */
} parts[] = {
    {kind_keys, 0, 0},
    {item_keys, 0, OLTR_WORLD_DATASET},
    {shift_keys, OLTR_WORLD_MISSPECIFIED, 0},
    {given_prior_keys, OLTR_WORLD_PRIOR, 0},
    {attraction_keys, OLTR_WORLD_ATTRACTION, 0},
    {dataset_keys, OLTR_WORLD_DATASET, 0},
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
            if (strcmp(key->name, name) == 0)
                return (kind->traits & parts[i].with) == parts[i].with &&
                       !(kind->traits & parts[i].without);
    return in_table(kind->params, kind->n_params, name);
}

static bool clicks_have(const oltr_click_ops *clicks, const char *name)
{
    return in_table(clicks->params, clicks->n_params, name);
}

/* The names of the owners of a key, "linear, logistic or scalar", of its kinds or of its click
 * models; returns how many there are. */
static uint32_t owners(const char *key, bool of_clicks, char list[OWNERS_SIZE])
{
    const char *last = NULL;
    uint32_t found = 0;
    size_t used = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < (of_clicks ? oltr_clicks_count() : oltr_world_count()); i++) {
        if (!(of_clicks ? clicks_have(oltr_click_ops_at(i), key)
                        : kind_has(oltr_world_ops_at(i), key)))
            continue;
        if (last && used < OWNERS_SIZE)
            used +=
                (size_t)snprintf(list + used, OWNERS_SIZE - used, "%s%s", used ? ", " : "", last);
        last = of_clicks ? oltr_clicks_at(i)->name : oltr_world_at(i)->name;
        found++;
    }
    if (last && used < OWNERS_SIZE)
        snprintf(list + used, OWNERS_SIZE - used, "%s%s", used ? " or " : "", last);
    return found;
}

/* Calls visit() with every key of the section, some of them several times: of a part, or of a
 * table. */
static void each_key(void (*visit)(void *context, const struct key *, const oltr_param *),
                     void *context)
{
    for (size_t i = 0; i < PARTS; i++)
        for (const struct key *key = parts[i].keys; key->name; key++)
            visit(context, key, NULL);
    for (uint32_t i = 0; i < oltr_world_count(); i++)
        for (uint32_t j = 0; j < oltr_world_ops_at(i)->n_params; j++)
            visit(context, NULL, &oltr_world_ops_at(i)->params[j].about);
    for (uint32_t i = 0; i < oltr_clicks_count(); i++)
        for (uint32_t j = 0; j < oltr_click_ops_at(i)->n_params; j++)
            visit(context, NULL, &oltr_click_ops_at(i)->params[j].about);
}

/* ---- checking */

static void offer(void *nearest, const struct key *key, const oltr_param *param)
{
    nearest_offer(nearest, key ? key->name : param->name);
}

static bool wrong_key(const struct reader *reader, const struct node *map, const struct node *entry,
                      const oltr_world_ops *kind, const oltr_click_ops *clicks)
{
    const char *name = entry->key->text;
    char list[OWNERS_SIZE], hint[HINT_SIZE];
    if (owners(name, false, list))
        return read_bad(reader, tree_blame(entry->key, tree_get(map, "kind")),
                        "`%s` belongs to a world of kind %s; this one is %s", name, list,
                        kind->info.name);
    if (owners(name, true, list))
        return read_bad(reader, tree_blame(entry->key, tree_get(map, "clicks")),
                        "`%s` belongs to the click model %s; this world has %s", name, list,
                        clicks->info.name);
    struct nearest nearest = nearest_to(name);
    each_key(offer, &nearest);
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

static void set_field(oltr_world *world, const oltr_world_param *param, double value)
{
    char *field = (char *)world + param->field;
    uint32_t whole = (uint32_t)value;
    int choice = (int)value;
    if (param->about.type == OLTR_REAL)
        memcpy(field, &value, sizeof value);
    else if (param->about.type == OLTR_INTEGER)
        memcpy(field, &whole, sizeof whole);
    else
        memcpy(field, &choice, sizeof choice);
}

static void set_defaults(const oltr_world_param *params, uint32_t n, oltr_world *world)
{
    for (uint32_t i = 0; i < n; i++)
        if (params[i].field && !params[i].zero_is_default)
            set_field(world, &params[i], params[i].about.initial);
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
        if (node && !read_param(reader, node, &params[i].about, &own[i]))
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

/* ---- the help */

struct section {
    struct pool *pool;
    struct key *keys; /* (KEYS_SIZE), ends with a name of NULL */
    size_t count;
    bool failed;
};

static const char *copy(struct section *section, const char *text)
{
    const char *copied = pool_text(section->pool, text, strlen(text));
    section->failed |= !copied;
    return copied;
}

static void add_key(void *context, const struct key *key, const oltr_param *param)
{
    struct section *section = context;
    char list[OWNERS_SIZE], value[PARAM_TEXT_SIZE] = "", help[512];
    const char *name = key ? key->name : param->name;
    for (size_t i = 0; i < section->count; i++)
        if (strcmp(section->keys[i].name, name) == 0)
            return; /* several kinds have it */
    bool of_clicks = owners(name, false, list) == 0;
    bool of_all = !of_clicks && owners(name, false, list) == oltr_world_count();
    if (of_clicks)
        (void)owners(name, true, list);
    if (param)
        param_default(param, value);
    snprintf(help, sizeof help, "%s%s%s%s%s%s%s", of_clicks ? "clicks " : "", of_all ? "" : list,
             of_all ? "" : ": ", key ? key->help : param->help, param ? " (default " : "", value,
             param ? ")" : "");
    if (section->count + 1 < KEYS_SIZE)
        section->keys[section->count++] =
            (struct key){name, key ? key->example : copy(section, value), copy(section, help)};
}

const struct key *world_section(struct pool *pool, const char **note)
{
    struct section section = {pool, pool_get(pool, KEYS_SIZE, sizeof *section.keys), 0, false};
    struct text text = {0};
    if (!section.keys)
        return NULL;
    each_key(add_key, &section);
    text_add(&text, "Kinds of worlds:");
    for (uint32_t i = 0; i < oltr_world_count(); i++)
        text_printf(&text, "%s %s (%s)", i ? ";" : "", oltr_world_at(i)->name,
                    oltr_world_at(i)->summary);
    text_add(&text, ".  Click models:");
    for (uint32_t i = 0; i < oltr_clicks_count(); i++)
        text_printf(&text, "%s %s (%s)", i ? ";" : "", oltr_clicks_at(i)->name,
                    oltr_clicks_at(i)->summary);
    text_add(&text, ".");
    *note = text.failed ? NULL : copy(&section, text.bytes);
    section.failed |= text.failed;
    text_free(&text);
    return section.failed ? NULL : section.keys;
}

/* ---- the documentation */

static void add_row(void *context, const struct key *key, const oltr_param *param)
{
    struct text *out = context;
    char list[OWNERS_SIZE], initial[PARAM_TEXT_SIZE], values[PARAM_TEXT_SIZE], start[64];
    if (key)
        return;
    snprintf(start, sizeof start, "| `%s` |", param->name);
    if (out->bytes && strstr(out->bytes, start))
        return; /* several kinds have it */
    bool of_clicks = owners(param->name, false, list) == 0;
    if (of_clicks)
        owners(param->name, true, list);
    text_printf(out, "%s %s%s | %s | %s | %s |\n", start, of_clicks ? "clicks " : "", list,
                param_values(param, values), param_default(param, initial), param->help);
}

void world_param_table(struct text *out)
{
    text_add(out, "| key | of | values | default | meaning |\n|---|---|---|---|---|\n");
    each_key(add_row, out);
}
