/* log_extras.c - see log_extras.h. */
#include "app/logs/log_extras.h"

#include "engine/base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- numbers */

static const json_t *value_of(const struct log_extra *extra, const json_t *json)
{
    char key[128];
    const json_t *value = NULL;
    if (extra->given) {
        snprintf(key, sizeof key, "%.*s", (int)extra->length, extra->given);
        return json_object_get(json, key);
    }
    for (uint32_t i = 0; !value && extra->usual[i]; i++)
        value = json_object_get(json, extra->usual[i]);
    return json_is_null(value) ? NULL : value;
}

bool log_extras_of_row(const struct log_names *names, const json_t *json, double *out)
{
    for (uint32_t i = 0; i < names->n_extra; i++) {
        const json_t *value = value_of(&names->extra[i], json);
        out[i] = value ? json_number_value(value) : NAN;
        if (value && !(json_is_number(value) && log_extra_is_good(&names->extra[i], out[i])))
            return false;
    }
    return true;
}

/* The numbers of extra `e`, one a slot, into its column of out.  Without slots out may be NULL. */
static oltr_status take_array(const json_t *array, const struct log_names *names, uint32_t e,
                              uint32_t n, bool or_more, double *out, oltr_error *error)
{
    const struct log_extra *extra = &names->extra[e];
    const char *key = extra->array;
    size_t size = json_array_size(array);
    if (!json_is_array(array) || size < n || (size > n && !or_more))
        return set_error(error, OLTR_EVALUE, "\"%s\" must be an array of %u numbers, one a slot",
                         key, n);
    for (uint32_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_number(value))
            return set_error(error, OLTR_EVALUE, "\"%s\": number %u is not a number", key, i + 1);
        out[(size_t)i * names->n_extra + e] = json_number_value(value);
        if (!log_extra_is_good(extra, json_number_value(value)))
            return set_error(error, OLTR_EVALUE, "slot %u: %s %g", i + 1, log_extra_fault(extra),
                             json_number_value(value));
    }
    return OLTR_OK;
}

oltr_status log_extras_of_list(const struct log_names *names, const json_t *json, uint32_t n,
                               bool or_more, double *out, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (uint32_t e = 0; status == OLTR_OK && e < names->n_extra; e++) {
        const json_t *array = json_object_get(json, names->extra[e].array);
        for (uint32_t i = 0; i < n; i++)
            out[(size_t)i * names->n_extra + e] = NAN;
        if (array && !json_is_null(array))
            status = take_array(array, names, e, n, or_more, out, error);
    }
    return status;
}

/* ---- candidates */

/* 0: it is not said. */
static oltr_status all_items_of_json(const json_t *json, uint32_t *out, oltr_error *error)
{
    const json_t *all = json_object_get(json, "all_items");
    json_int_t n = json_is_integer(all) ? json_integer_value(all) : 0;
    if (!all || json_is_null(all))
        return OLTR_OK;
    if (n < 1 || n > OLTR_MOST_MODEL_ITEMS)
        return set_error(error, OLTR_EVALUE,
                         "\"all_items\" must be the number of items that were ranked, from 1 to %u",
                         (unsigned)OLTR_MOST_MODEL_ITEMS);
    *out = (uint32_t)n;
    return OLTR_OK;
}

oltr_status log_candidates_of_json(const json_t *json, struct list_json *arrays,
                                   struct log_list *out, oltr_error *error)
{
    const json_t *candidates = json_object_get(json, "candidates");
    out->n_candidates = out->all_items = 0;
    if (!candidates || json_is_null(candidates))
        return all_items_of_json(json, &out->all_items, error);
    name_room_clear(&arrays->room);
    oltr_status status = names_of_json(candidates, "candidates", OLTR_MOST_MODEL_ITEMS, arrays,
                                       &out->n_candidates, error);
    out->candidate = arrays->name;
    return status;
}

oltr_status log_candidates_of_list(const struct log_join *join, struct open_list *list,
                                   const json_t *json, struct list_json *arrays, oltr_error *error)
{
    struct log_list from = {.n_candidates = 0};
    if (!join->options.take)
        return OLTR_OK;
    oltr_status status = log_candidates_of_json(json, arrays, &from, error);
    list->all_items = from.all_items;
    for (uint32_t i = 0; status == OLTR_OK && i < from.n_candidates; i++) {
        struct list_row *row = list_add_candidate(list);
        if (!row || !list_name_row(list, row, from.candidate[i].bytes, from.candidate[i].size))
            return set_error(error, OLTR_ENOMEM, "out of memory");
    }
    return status;
}
