/* fitted_models.c - see fitted_models.h.
 *
 * JSON is YAML, so the tree of experiment files reads it, and errors name line, query and key.  Two
 * passes: the first checks and counts, the second fills one block of memory. */
#include "lab/prepare/fitted_models.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/plain_real.h"
#include "lab/plan/fields.h"

/* ---- the models */

/* The keys of a query beside `attraction`, or NULL: a number for each slot, for each document, and
 * for all. */
struct model_keys {
    const char *model, *of_slot, *of_item, *of_user;
};
static const struct model_keys all_models[] = {
    {"CM", NULL, NULL, NULL},
    {"DCM", "stop", NULL, NULL},
    {"DBN", NULL, "satisfaction", "abandon"},
    {"PBM", "examination", NULL, NULL},
};
static const struct key query_keys[] = {
    {"attraction", "[0.3, 0.2]", "the attraction of each document"},
    {"stop", "[0.6, 0.5]", "DCM: the chance to leave after a click in each slot"},
    {"satisfaction", "[0.5, 0.1]", "DBN: the chance that a click on each document satisfies"},
    {"abandon", "0.1", "DBN: the chance that an unsatisfied user leaves after a slot"},
    {"examination", "[1, 0.7]", "PBM: the chance that each slot is examined"},
    {NULL, NULL, NULL},
};

static const struct model_keys *keys_of(const char *model)
{
    for (size_t i = 0; i < sizeof all_models / sizeof *all_models; i++)
        if (strcmp(all_models[i].model, model) == 0)
            return &all_models[i];
    return NULL;
}

/* ---- checking */

static bool check_list(const struct reader *reader, const struct node *query, const char *key,
                       size_t least, const char *what, const struct node **out)
{
    double value;
    if (!read_required(reader, query, query_keys, key, out) || !read_list(reader, *out))
        return false;
    if ((*out)->count < least)
        return read_bad(reader, *out, "has %zu number%s, and there are %zu %s", (*out)->count,
                        (*out)->count == 1 ? "" : "s", least, what);
    for (const struct node *entry = (*out)->first; entry; entry = entry->next)
        if (!read_real(reader, entry, 0, 1, &value))
            return false;
    return true;
}

static bool check_query(const struct reader *reader, const struct node *query,
                        const struct model_keys *keys, uint32_t slots)
{
    const struct node *attraction, *list, *number;
    double value;
    if (!read_is_map(reader, query, query_keys) ||
        !check_list(reader, query, "attraction", slots, "slots to fill", &attraction) ||
        (keys->of_slot && !check_list(reader, query, keys->of_slot, slots, "slots", &list)))
        return false;
    if (keys->of_item) {
        if (!check_list(reader, query, keys->of_item, attraction->count, "documents", &list))
            return false;
        if (list->count != attraction->count)
            return read_bad(reader, list, "has %zu numbers, and there are %zu documents",
                            list->count, attraction->count);
    }
    return !keys->of_user || (read_required(reader, query, query_keys, keys->of_user, &number) &&
                              read_real(reader, number, 0, 1, &value));
}

/* The map of queries of one model, each of them checked, and how many documents they have. */
static const struct node *check_model(const struct reader *reader, const struct node *root,
                                      const struct model_keys *keys, uint32_t slots, size_t *rows)
{
    if (root->type != NODE_MAP) {
        read_bad(reader, root, "must be a map of models, like {\"%s\": {\"query\": {...}}}",
                 keys->model);
        return NULL;
    }
    const struct node *map = tree_get(root, keys->model);
    *rows = 0;
    if (!map || map->type != NODE_MAP || map->count == 0 || map->count > MOST_QUERIES) {
        read_bad(reader, map ? map : root, "there must be queries of the model %s, at most %d",
                 keys->model, MOST_QUERIES);
        return NULL;
    }
    for (const struct node *query = map->first; query; query = query->next) {
        if (!check_query(reader, query, keys, slots))
            return NULL;
        *rows += tree_get(query, "attraction")->count;
    }
    if (*rows > MOST_WORLD_ITEMS) {
        read_bad(reader, map, "has %zu documents; at most %d fit", *rows, MOST_WORLD_ITEMS);
        return NULL;
    }
    return map;
}

/* ---- filling */

static void fill_list(const struct node *list, size_t n, double *out)
{
    const struct node *entry = list->first;
    for (size_t i = 0; i < n; i++, entry = entry->next)
        out[i] = plain_real(entry->text, NULL);
}

/* Where all names are different whole numbers they are the ids of the queries, else 1, 2, ... */
static void fill_ids(const struct node *map, uint64_t *id)
{
    bool numbers = true;
    size_t i = 0;
    for (const struct node *query = map->first; query; query = query->next) {
        const char *name = query->key->text;
        numbers = numbers && strlen(name) <= 18 && strspn(name, "0123456789") == strlen(name) &&
                  (name[0] != '0' || name[1] == '\0');
    }
    for (const struct node *query = map->first; query; query = query->next, i++)
        id[i] = numbers ? strtoull(query->key->text, NULL, 10) : i + 1;
}

struct arrays {
    uint64_t *id;
    double *of_slot, *of_item, *of_user;
    uint32_t *first_row;
    uint8_t *grade;
};

/* One block: ids, numbers, first rows, grades (all 0). */
static bool make_block(struct fitted_models *out, size_t queries, size_t rows, struct arrays *a)
{
    size_t numbers = 2 * rows + queries * (out->slots + (size_t)1);
    out->block = calloc(1, queries * sizeof *a->id + numbers * sizeof(double) +
                               (queries + 1) * sizeof *a->first_row + rows);
    if (!out->block)
        return false;
    a->id = out->block;
    out->attraction = (double *)(a->id + queries);
    a->of_item = out->attraction + rows;
    a->of_slot = a->of_item + rows;
    a->of_user = a->of_slot + queries * out->slots;
    a->first_row = (uint32_t *)(a->of_user + queries);
    a->grade = (uint8_t *)(a->first_row + queries + 1);
    return true;
}

static void fill(const struct node *map, const struct model_keys *keys, const struct arrays *a,
                 struct fitted_models *out)
{
    uint32_t q = 0;
    fill_ids(map, a->id);
    for (const struct node *query = map->first; query; query = query->next, q++) {
        const struct node *attraction = tree_get(query, "attraction");
        size_t first = a->first_row[q], n = attraction->count;
        a->first_row[q + 1] = (uint32_t)(first + n);
        fill_list(attraction, n, out->attraction + first);
        if (keys->of_item)
            fill_list(tree_get(query, keys->of_item), n, a->of_item + first);
        if (keys->of_slot)
            fill_list(tree_get(query, keys->of_slot), out->slots,
                      a->of_slot + (size_t)q * out->slots);
        if (keys->of_user)
            a->of_user[q] = 1 - plain_real(tree_get(query, keys->of_user)->text, NULL);
    }
    out->queries = (oltr_dataset){.n_queries = q,
                                  .n_rows = a->first_row[q],
                                  .query = a->id,
                                  .first_row = a->first_row,
                                  .grade = a->grade};
    out->users = (oltr_users){.n_slots = out->slots,
                              .slot_chance = keys->of_slot ? a->of_slot : NULL,
                              .item_chance = keys->of_item ? a->of_item : NULL,
                              .user_chance = keys->of_user ? a->of_user : NULL};
}

oltr_status fitted_models_parse(const char *name, const char *text, size_t length,
                                const char *model, uint32_t slots, struct fitted_models *out,
                                oltr_error *error)
{
    oltr_error own = {OLTR_OK, ""};
    struct pool pool = {NULL, 0};
    struct reader reader = {&pool, &own};
    static const char needs[] =
        "fitted click models are a map from models, like CM, to a map of their queries";
    const struct model_keys *keys = keys_of(model);
    size_t rows = 0;
    struct arrays a;
    *out = (struct fitted_models){.slots = slots};
    if (!keys)
        return set_error(error, OLTR_EINVAL, "there is no click model '%.20s' to read", model);
    const struct node *root = tree_parse(&pool, name, text, length, MOST_QUERIES, needs, &own),
                      *map = root ? check_model(&reader, root, keys, slots, &rows) : NULL;
    if (map && make_block(out, map->count, rows, &a))
        fill(map, keys, &a, out);
    else if (map)
        read_no_memory(&reader);
    pool_free(&pool);
    return out->block ? OLTR_OK : set_error(error, own.code, "%s", own.msg);
}

void fitted_models_clear(struct fitted_models *models)
{
    free(models->block);
    *models = (struct fitted_models){0};
}
