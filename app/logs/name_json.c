/* name_json.c - names as JSON; see name_json.h. */
#include "app/logs/name_json.h"

#include "engine/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- room */

void name_room_clear(struct name_room *room)
{
    for (uint32_t i = 0; i + 1 < room->n_blocks; i++)
        free(room->bytes[i]);
    if (room->n_blocks > 0)
        room->bytes[0] = room->bytes[room->n_blocks - 1];
    room->n_blocks = room->n_blocks > 0;
    room->used = 0;
}

void name_room_free(struct name_room *room)
{
    for (uint32_t i = 0; i < room->n_blocks; i++)
        free(room->bytes[i]);
    *room = (struct name_room){.used = 0};
}

/* A new block leaves the old ones where they are: names point into them. */
static char *take_room(struct name_room *room, size_t size)
{
    if (room->n_blocks == 0 || room->size - room->used < size) {
        size_t larger = 2 * room->size + OLTR_LONGEST_NAME;
        char *bytes =
            room->n_blocks < sizeof room->bytes / sizeof *room->bytes ? malloc(larger) : NULL;
        if (!bytes)
            return NULL;
        room->bytes[room->n_blocks++] = bytes;
        room->size = larger;
        room->used = 0;
    }
    char *at = room->bytes[room->n_blocks - 1] + room->used;
    room->used += size;
    return at;
}

/* ---- names */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static enum name_result name_of_hex(const json_t *hex, struct name_room *room, oltr_name *out)
{
    const char *text = json_string_value(hex);
    size_t size = json_string_length(hex);
    if (!text || size < 2 || size % 2 != 0 || size / 2 > OLTR_LONGEST_NAME)
        return NAME_WRONG;
    char *bytes = take_room(room, size / 2);
    if (!bytes)
        return NAME_NO_MEMORY;
    for (size_t i = 0; i < size / 2; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return NAME_WRONG;
        bytes[i] = (char)(16 * high + low);
    }
    *out = (oltr_name){bytes, (uint32_t)(size / 2)};
    return NAME_TAKEN;
}

enum name_result name_of_json(const json_t *json, struct name_room *room, oltr_name *out)
{
    enum { DIGITS = 24 };
    if (json_is_string(json)) {
        size_t size = json_string_length(json);
        *out = (oltr_name){json_string_value(json), (uint32_t)size};
        return size > 0 && size <= OLTR_LONGEST_NAME ? NAME_TAKEN : NAME_WRONG;
    }
    if (json_is_integer(json)) {
        char *bytes = take_room(room, DIGITS);
        if (!bytes)
            return NAME_NO_MEMORY;
        int size = snprintf(bytes, DIGITS, "%lld", (long long)json_integer_value(json));
        *out = (oltr_name){bytes, (uint32_t)size};
        return NAME_TAKEN;
    }
    if (json_is_object(json) && json_object_size(json) == 1)
        return name_of_hex(json_object_get(json, "hex"), room, out);
    return NAME_WRONG;
}

json_t *json_of_name(oltr_name name)
{
    static const char digits[] = "0123456789abcdef";
    char hex[2 * OLTR_LONGEST_NAME + 1];
    const unsigned char *byte = name.bytes;
    json_t *text = json_stringn(name.bytes, name.size);
    if (text)
        return text;
    for (uint32_t i = 0; i < name.size && i < OLTR_LONGEST_NAME; i++) {
        hex[2 * i] = digits[byte[i] >> 4];
        hex[2 * i + 1] = digits[byte[i] & 15];
    }
    hex[2 * (size_t)name.size] = '\0';
    return json_pack("{ss}", "hex", hex);
}

json_t *json_of_line(const char *text, size_t size, oltr_error *error)
{
    json_error_t why;
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    if (json && json_is_object(json))
        return json;
    if (!json && json_error_code(&why) == json_error_out_of_memory)
        set_error(error, OLTR_ENOMEM, "out of memory");
    else if (json)
        set_error(error, OLTR_EDATA, "a line must be a JSON object, {...}");
    else
        set_error(error, OLTR_EDATA, "not JSON: %.120s (column %d)", why.text, why.column);
    json_decref(json);
    return NULL;
}

/* ---- lists */

void list_json_free(struct list_json *arrays)
{
    name_room_free(&arrays->room);
    free(arrays->name);
    free(arrays->reward);
    free(arrays->weight);
    free(arrays->examined);
    free(arrays->x);
    *arrays = (struct list_json){.capacity = 0};
}

static bool reserve(struct list_json *arrays, size_t n)
{
    if (n <= arrays->capacity)
        return true;
    oltr_name *name = realloc(arrays->name, n * sizeof *name);
    arrays->name = name ? name : arrays->name;
    double *reward = realloc(arrays->reward, n * sizeof *reward);
    arrays->reward = reward ? reward : arrays->reward;
    double *weight = realloc(arrays->weight, n * sizeof *weight);
    arrays->weight = weight ? weight : arrays->weight;
    uint8_t *examined = realloc(arrays->examined, n);
    arrays->examined = examined ? examined : arrays->examined;
    if (!name || !reward || !weight || !examined)
        return false;
    arrays->capacity = (uint32_t)n;
    return true;
}

static bool reserve_x(struct list_json *arrays, size_t n)
{
    if (n <= arrays->x_capacity)
        return true;
    float *x = realloc(arrays->x, n * sizeof *x);
    if (!x)
        return false;
    arrays->x = x;
    arrays->x_capacity = n;
    return true;
}

static oltr_status no_memory(oltr_error *error)
{
    return set_error(error, OLTR_ENOMEM, "out of memory");
}

oltr_status names_of_json(const json_t *array, const char *key, uint32_t most,
                          struct list_json *arrays, uint32_t *n, oltr_error *error)
{
    size_t size = json_array_size(array);
    if (!json_is_array(array) || size == 0 || size > most)
        return set_error(error, OLTR_EVALUE, "\"%s\" must be an array of 1 to %u names", key, most);
    if (!reserve(arrays, size))
        return no_memory(error);
    for (size_t i = 0; i < size; i++) {
        enum name_result result =
            name_of_json(json_array_get(array, i), &arrays->room, &arrays->name[i]);
        if (result == NAME_NO_MEMORY)
            return no_memory(error);
        if (result == NAME_WRONG)
            return set_error(error, OLTR_EVALUE,
                             "%s %zu must be a text of 1 to 512 bytes or a whole number",
                             strcmp(key, "items") == 0 ? "item" : "candidate", i + 1);
    }
    *n = (uint32_t)size;
    return OLTR_OK;
}

static oltr_status take_features(const json_t *features, uint32_t dim, uint32_t most,
                                 struct list_json *arrays, uint32_t *n, oltr_error *error)
{
    size_t size = json_array_size(features);
    if (!json_is_array(features) || size == 0 || size > most)
        return set_error(error, OLTR_EVALUE, "\"features\" must be an array of 1 to %u rows", most);
    if (!reserve(arrays, size) || !reserve_x(arrays, size * dim))
        return no_memory(error);
    for (size_t i = 0; i < size; i++) {
        const json_t *row = json_array_get(features, i);
        if (json_array_size(row) != dim)
            return set_error(error, OLTR_EVALUE,
                             "row %zu of \"features\" must be an array of %u "
                             "numbers",
                             i + 1, dim);
        for (uint32_t j = 0; j < dim; j++) {
            const json_t *value = json_array_get(row, j);
            if (!json_is_number(value))
                return set_error(error, OLTR_EVALUE,
                                 "row %zu of \"features\": number %u is not a number", i + 1,
                                 j + 1);
            arrays->x[i * dim + j] = (float)json_number_value(value);
        }
    }
    *n = (uint32_t)size;
    return OLTR_OK;
}

oltr_status list_of_json(const json_t *json, uint32_t dim, uint32_t most, struct list_json *arrays,
                         oltr_list *out, bool *names, oltr_error *error)
{
    const json_t *items = json_object_get(json, "items"),
                 *features = json_object_get(json, "features");
    uint32_t n = 0, rows = 0;
    oltr_status status = OLTR_OK;
    *out = (oltr_list){.n = 0};
    *names = items && !json_is_null(items);
    name_room_clear(&arrays->room);
    if (*names)
        status = names_of_json(items, "items", most, arrays, &n, error);
    if (status != OLTR_OK || dim == 0) {
        if (status == OLTR_OK && *names)
            *out = (oltr_list){.n = n, .name = arrays->name};
        return status;
    }
    status = take_features(features, dim, most, arrays, &rows, error);
    if (status == OLTR_OK && *names && n != rows)
        return set_error(error, OLTR_EVALUE, "%u items, but %u rows of features", n, rows);
    *out = (oltr_list){.n = rows, .x = arrays->x};
    return status;
}

/* ---- lessons */

/* Positions from 1, each at most once; sets `one` at those places and 0 elsewhere. */
static oltr_status take_positions(const json_t *json, const char *key, uint32_t n, uint8_t *out,
                                  oltr_error *error)
{
    memset(out, 0, n);
    for (size_t i = 0; i < json_array_size(json); i++) {
        const json_t *value = json_array_get(json, i);
        json_int_t at = json_is_integer(value) ? json_integer_value(value) : 0;
        if (at < 1 || at > n || out[at - 1])
            return set_error(error, OLTR_EVALUE,
                             "\"%s\" must be positions from 1 to %u, each once; number %zu is not",
                             key, n, i + 1);
        out[at - 1] = 1;
    }
    return OLTR_OK;
}

static oltr_status take_numbers(const json_t *json, const char *key, uint32_t n, double *out,
                                oltr_error *error)
{
    if (json_array_size(json) != n)
        return set_error(error, OLTR_EVALUE, "\"%s\" must be an array of %u numbers, one a slot",
                         key, n);
    for (uint32_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(json, i);
        if (!json_is_number(value))
            return set_error(error, OLTR_EVALUE, "\"%s\": number %u is not a number", key, i + 1);
        out[i] = json_number_value(value);
    }
    return OLTR_OK;
}

static oltr_status take_rewards(const json_t *json, uint32_t n, struct list_json *arrays,
                                oltr_error *error)
{
    const json_t *clicks = json_object_get(json, "clicks"),
                 *rewards = json_object_get(json, "rewards");
    if (json_is_array(clicks) == json_is_array(rewards))
        return set_error(error, OLTR_EVALUE,
                         "give \"clicks\", an array of positions from 1, or \"rewards\", a number "
                         "for each slot, and not both");
    if (rewards)
        return take_numbers(rewards, "rewards", n, arrays->reward, error);
    oltr_status status = take_positions(clicks, "clicks", n, arrays->examined, error);
    for (uint32_t i = 0; status == OLTR_OK && i < n; i++)
        arrays->reward[i] = arrays->examined[i];
    return status;
}

static oltr_status take_examined(const json_t *json, struct list_json *arrays, oltr_lesson *out,
                                 oltr_error *error)
{
    const json_t *seen = json_object_get(json, "seen"),
                 *examined = json_object_get(json, "examined");
    if (seen && examined)
        return set_error(error, OLTR_EVALUE,
                         "give \"seen\", a number of slots, or \"examined\", an array of "
                         "positions, and not both");
    if (seen) {
        json_int_t depth = json_integer_value(seen);
        if (!json_is_integer(seen) || depth < 0 || depth > out->shown.n)
            return set_error(error, OLTR_EVALUE, "\"seen\" must be a whole number from 0 to %u",
                             out->shown.n);
        out->examine = OLTR_EXAMINE_DEPTH;
        out->depth = (uint32_t)depth;
    }
    if (!examined)
        return OLTR_OK;
    if (!json_is_array(examined))
        return set_error(error, OLTR_EVALUE, "\"examined\" must be an array of positions from 1");
    out->examine = OLTR_EXAMINE_MASK;
    out->examined = arrays->examined;
    return take_positions(examined, "examined", out->shown.n, arrays->examined, error);
}

/* Here positions count from 1, in the messages of a model slots count from 0. */
static oltr_status check_examined(const oltr_lesson *lesson, oltr_error *error)
{
    for (uint32_t i = 0; i < lesson->shown.n; i++) {
        bool examined = lesson->examine == OLTR_EXAMINE_DEPTH  ? i < lesson->depth
                        : lesson->examine == OLTR_EXAMINE_MASK ? lesson->examined[i]
                                                               : true;
        if (!examined && lesson->reward[i] > 0)
            return set_error(error, OLTR_EVALUE, "position %u was clicked, but not examined",
                             i + 1);
    }
    return OLTR_OK;
}

oltr_status id_of_json(const json_t *json, struct name_room *room, oltr_name *out,
                       oltr_error *error)
{
    static const char *const keys[] = {"id", "list_id", "list", "query_id", "request_id"};
    const json_t *id = NULL;
    for (size_t i = 0; !id && i < sizeof keys / sizeof *keys; i++)
        id = json_object_get(json, keys[i]);
    *out = (oltr_name){NULL, 0};
    if (!id || json_is_null(id))
        return OLTR_OK;
    enum name_result result = name_of_json(id, room, out);
    return result == NAME_TAKEN ? OLTR_OK
           : result == NAME_WRONG
               ? set_error(error, OLTR_EVALUE,
                           "the id must be a text of 1 to 512 bytes or a whole number")
               : no_memory(error);
}

oltr_status lesson_of_json(const json_t *json, uint32_t dim, struct list_json *arrays,
                           oltr_lesson *out, oltr_error *error)
{
    const json_t *weights = json_object_get(json, "weights");
    bool names;
    *out = (oltr_lesson){.reward = NULL};
    oltr_status status =
        list_of_json(json, dim, OLTR_MOST_SHOWN, arrays, &out->shown, &names, error);
    if (status == OLTR_OK && out->shown.n == 0)
        return set_error(error, OLTR_EVALUE, "\"items\", what was shown, is missing");
    if (status == OLTR_OK)
        status = take_rewards(json, out->shown.n, arrays, error);
    out->reward = arrays->reward;
    if (status == OLTR_OK && weights) {
        status = take_numbers(weights, "weights", out->shown.n, arrays->weight, error);
        out->weight = arrays->weight;
    }
    if (status == OLTR_OK)
        status = take_examined(json, arrays, out, error);
    if (status == OLTR_OK)
        status = check_examined(out, error);
    return status == OLTR_OK ? id_of_json(json, &arrays->room, &out->id, error) : status;
}
