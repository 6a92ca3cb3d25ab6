/* decision.c - a list that was shown as a line of JSON: what a decision log has of it.
 *
 * {"id": ..., "policy": ..., "lessons": ..., "candidates": [...], "items": [...], "propensities":
 * [...], "prefix_propensities": [...], "slot_propensities": [...], "draws": ..., "greedy": ...,
 * "seed": ...}; docs/formats.md explains the keys.  A name is a string, or {"hex": "00ff"} where it
 * is not UTF-8.  Numbers have 17 digits, so that they are read back to the bit.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "engine/base/plain_real.h"
#include "engine/base/text.h"
#include <oltr/model.h>

/* What snprintf() does, piece by piece. */
typedef struct line {
    char *out;
    size_t room, used;
} line;

static void put(line *to, const char *bytes, size_t size)
{
    if (to->used < to->room) {
        size_t left = to->room - to->used;
        memcpy(to->out + to->used, bytes, size < left ? size : left);
    }
    to->used += size;
}

static void put_text(line *to, const char *text)
{
    put(to, text, strlen(text));
}

/* With a decimal point whatever the locale of the program: JSON knows no comma. */
__attribute__((format(printf, 2, 3))) static void put_format(line *to, const char *format, ...)
{
    char text[96];
    va_list arguments;
    va_start(arguments, format);
    int size = plain_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    put(to, text, size > 0 ? (size_t)size : 0);
}

static size_t end_line(line *to)
{
    put(to, "\n", 1);
    if (to->room > 0)
        to->out[to->used < to->room ? to->used : to->room - 1] = '\0';
    return to->used;
}

/* ---- names */

static bool has_bytes(oltr_name name)
{
    return name.bytes && name.size > 0;
}

/* Whether the bytes are UTF-8 without a zero. */
static bool is_text(const char *bytes, uint32_t size)
{
    for (uint32_t at = 0; at < size;) {
        char four[5] = {0};
        memcpy(four, bytes + at, size - at < 4 ? size - at : 4);
        size_t length = text_character(four);
        if (length == 0 || length > size - at || four[0] == '\0')
            return false;
        at += (uint32_t)length;
    }
    return true;
}

static void put_string(line *to, const char *bytes, uint32_t size)
{
    put(to, "\"", 1);
    for (uint32_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '"' || c == '\\')
            put(to, "\\", 1);
        if (c < 0x20)
            put_format(to, "\\u%04x", c);
        else
            put(to, bytes + i, 1);
    }
    put(to, "\"", 1);
}

static void put_name(line *to, oltr_name name)
{
    const unsigned char *byte = name.bytes;
    name.size = byte ? name.size : 0;
    if (is_text(name.bytes, name.size)) {
        put_string(to, name.bytes, name.size);
        return;
    }
    put_text(to, "{\"hex\": \"");
    for (uint32_t i = 0; i < name.size; i++)
        put_format(to, "%02x", byte[i]);
    put_text(to, "\"}");
}

static void put_names(line *to, const char *key, const oltr_name *name, uint32_t n)
{
    put_format(to, ", \"%s\": [", key);
    for (uint32_t i = 0; i < n; i++) {
        put_text(to, i > 0 ? ", " : "");
        put_name(to, name[i]);
    }
    put_text(to, "]");
}

/* ---- numbers */

static void put_number(line *to, double value)
{
    if (isfinite(value))
        put_format(to, "%.17g", value);
    else
        put_text(to, "null");
}

static void put_numbers(line *to, const char *key, const double *value, uint32_t n)
{
    if (!value)
        return;
    put_format(to, ", \"%s\": [", key);
    for (uint32_t i = 0; i < n; i++) {
        put_text(to, i > 0 ? ", " : "");
        put_number(to, value[i]);
    }
    put_text(to, "]");
}

static void put_rows(line *to, const oltr_list *list, uint32_t dim)
{
    size_t stride = list->stride > 0 ? list->stride : dim;
    put_text(to, ", \"features\": [");
    for (uint32_t i = 0; i < list->n; i++) {
        put_text(to, i > 0 ? ", [" : "[");
        for (uint32_t j = 0; j < dim; j++) {
            put_text(to, j > 0 ? ", " : "");
            put_format(to, "%.9g", (double)list->x[i * stride + j]);
        }
        put_text(to, "]");
    }
    put_text(to, "]");
}

/* ---- lines */

static void put_candidates(line *to, const oltr_decision *d)
{
    const oltr_model_settings *settings = oltr_model_settings_of(d->model);
    if (!d->list || (!d->list->name && !d->list->x)) {
        put_format(to, ", \"all_items\": %u", oltr_model_items(d->model));
        return;
    }
    if (d->list->name)
        put_names(to, "candidates", d->list->name, d->list->n);
    if (!d->list->x)
        return;
    put_rows(to, d->list, settings->policy.dim);
    put_text(to, ", \"rows\": [");
    for (uint32_t i = 0; i < d->k; i++)
        put_format(to, "%s%u", i > 0 ? ", " : "", d->place[i]);
    put_text(to, "]");
}

static bool is_whole(const oltr_decision *d)
{
    bool rows = d && d->list && d->list->x;
    return d && has_bytes(d->id) && d->model && d->k > 0 && (rows ? !!d->place : !!d->shown) &&
           (d->size == 0 || d->size == sizeof *d) && !d->reserved[0] && !d->reserved[1];
}

size_t oltr_decision_write(const oltr_decision *decision, char *out, size_t room)
{
    const oltr_decision *d = decision;
    line to = {out, out ? room : 0, 0};
    if (!is_whole(d))
        return 0;
    put_text(&to, "{\"id\": ");
    put_name(&to, d->id);
    put_format(&to, ", \"policy\": \"%s\", \"lessons\": %llu",
               oltr_model_settings_of(d->model)->policy.info->name,
               (unsigned long long)oltr_model_lessons(d->model));
    put_candidates(&to, d);
    if (d->shown)
        put_names(&to, "items", d->shown, d->k);
    put_numbers(&to, "propensities", d->in_list, d->k);
    put_numbers(&to, "prefix_propensities", d->prefix, d->k);
    put_numbers(&to, "slot_propensities", d->slot, d->k);
    if (d->draws > 0)
        put_format(&to, ", \"draws\": %u", d->draws);
    if (d->greedy)
        put_text(&to, ", \"greedy\": true");
    if (has_bytes(d->seed)) {
        put_text(&to, ", \"seed\": ");
        put_name(&to, d->seed);
    }
    put_text(&to, "}");
    return end_line(&to);
}

static bool are_clicks(const double *reward, uint32_t k)
{
    bool clicks = true;
    for (uint32_t i = 0; i < k; i++)
        clicks =
            clicks && ((reward[i] >= 0 && reward[i] <= 0) || (reward[i] >= 1 && reward[i] <= 1));
    return clicks;
}

size_t oltr_decision_write_rewards(oltr_name id, const double *reward, uint32_t k, char *out,
                                   size_t room)
{
    line to = {out, out ? room : 0, 0};
    const char *comma = "";
    if (!has_bytes(id) || (k > 0 && !reward))
        return 0;
    put_text(&to, "{\"id\": ");
    put_name(&to, id);
    if (!are_clicks(reward, k)) {
        put_numbers(&to, "rewards", reward, k);
        put_text(&to, "}");
        return end_line(&to);
    }
    put_text(&to, ", \"clicks\": [");
    for (uint32_t i = 0; i < k; i++)
        if (reward[i] > 0) {
            put_format(&to, "%s%u", comma, i + 1);
            comma = ", ";
        }
    put_text(&to, "]}");
    return end_line(&to);
}
