/* fields.c - see fields.h. */
#include "lab/plan/fields.h"

#include "engine/base/nearest.h"
#include "engine/base/plain_real.h"
#include "engine/base/quote.h"
#include "engine/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool read_bad(const struct reader *reader, const struct node *where, const char *format, ...)
{
    char words[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    tree_fail(where, reader->error, "%s", words);
    return false;
}

bool read_no_memory(const struct reader *reader)
{
    set_error(reader->error, OLTR_ENOMEM,
              "the experiment needs more memory than there is, or than oltr takes");
    return false;
}

static bool is_scalar(const struct reader *reader, const struct node *node, const char *wanted)
{
    if (node->type != NODE_SCALAR)
        return read_bad(reader, node, "must be %s, not a %s", wanted,
                        node->type == NODE_LIST ? "list" : "map");
    if (node->text[0] == '\0' ||
        (!node->quoted && (strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0)))
        return read_bad(reader, node, "has no value; it must be %s", wanted);
    return true;
}

/* ---- maps */

static bool is_known(const struct key *keys, const char *name)
{
    while (keys->name && strcmp(keys->name, name) != 0)
        keys++;
    return keys->name;
}

/* The nearest key; if none is near, all of them, as far as they fit. */
static bool unknown_key(const struct reader *reader, const struct node *entry, const char *section,
                        const struct key *keys)
{
    struct nearest nearest = nearest_to(entry->key->text);
    char hint[HINT_SIZE], list[128] = "";
    size_t used = 0;
    for (const struct key *key = keys; key->name; key++) {
        nearest_offer(&nearest, key->name);
        if (used + strlen(key->name) + 3 < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "",
                                     key->name);
    }
    if (nearest.best)
        return read_bad(reader, entry->key, "unknown key in %s%s", section,
                        nearest_hint(&nearest, hint));
    return read_bad(reader, entry->key, "unknown key in %s; the keys are %s", section, list);
}

bool read_is_map(const struct reader *reader, const struct node *node, const struct key *keys)
{
    return node->type == NODE_MAP ||
           read_bad(reader, node, "must be a map, like `%s: %s`", keys->name, keys->example);
}

bool read_map_keys(const struct reader *reader, const struct node *map, const char *section,
                   const struct key *keys)
{
    if (!read_is_map(reader, map, keys))
        return false;
    for (const struct node *entry = map->first; entry; entry = entry->next)
        if (!is_known(keys, entry->key->text))
            return unknown_key(reader, entry, section, keys);
    return true;
}

bool read_required(const struct reader *reader, const struct node *map, const struct key *keys,
                   const char *name, const struct node **out)
{
    *out = tree_get(map, name);
    while (!*out && keys->name && strcmp(keys->name, name) != 0)
        keys++;
    return *out || read_bad(reader, map, "`%s` is missing; add it, for example `%s: %s`", name,
                            name, keys->example);
}

/* ---- numbers */

static bool not_a_number(const struct reader *reader, const struct node *node, const char *wanted)
{
    char value[QUOTE_SIZE];
    bool grouped = strspn(node->text, "0123456789,_' ") == strlen(node->text);
    const char *advice = node->quoted ? "; leave the quotes out"
                         : grouped    ? "; write it without separators"
                                      : "";
    return read_bad(reader, node, "must be %s, not `%s`%s", wanted, quote_input(node->text, value),
                    advice);
}

static bool out_of_range(const struct reader *reader, const struct node *node, bool below,
                         const char *least, const char *most)
{
    char value[QUOTE_SIZE];
    return read_bad(reader, node, "must be at %s %s, not %s", below ? "least" : "most",
                    below ? least : most, quote_input(node->text, value));
}

static bool real_out_of_range(const struct reader *reader, const struct node *node, double low,
                              double high)
{
    char least[32], most[32];
    plain_print(least, sizeof least, "%.15g", low);
    plain_print(most, sizeof most, "%.15g", high);
    return out_of_range(reader, node, plain_real(node->text, NULL) < low, least, most);
}

static bool whole_out_of_range(const struct reader *reader, const struct node *node, uint64_t low,
                               uint64_t high)
{
    char least[32], most[32];
    snprintf(least, sizeof least, "%" PRIu64, low);
    snprintf(most, sizeof most, "%" PRIu64, high);
    return out_of_range(reader, node, plain_real(node->text, NULL) < (double)low, least, most);
}

static const double EXACT = 9007199254740992.0; /* 2^53 */

/* Whole numbers may be written like 1e6 as well, as long as a double holds them exactly. */
static bool whole_value(const char *text, uint64_t *out)
{
    errno = 0;
    if (text[strspn(text, "0123456789")] == '\0') {
        *out = strtoull(text, NULL, 10);
        return errno == 0;
    }
    double value = plain_real(text, NULL);
    bool good = value >= 0 && value <= EXACT && floor(value) == value;
    *out = good ? (uint64_t)value : 0;
    return good;
}

bool read_whole(const struct reader *reader, const struct node *node, uint64_t low, uint64_t high,
                uint64_t *out)
{
    static const char wanted[] = "a whole number";
    if (!is_scalar(reader, node, wanted))
        return false;
    if (node->quoted || !number_is_plain(node->text))
        return not_a_number(reader, node, wanted);
    double value = plain_real(node->text, NULL);
    if (value < (double)low || value > (double)high)
        return whole_out_of_range(reader, node, low, high);
    if (whole_value(node->text, out))
        return (*out >= low && *out <= high) || whole_out_of_range(reader, node, low, high);
    if (floor(value) < value)
        return not_a_number(reader, node, wanted);
    if (node->text[strspn(node->text, "0123456789")] == '\0')
        return whole_out_of_range(reader, node, low, high);
    char quoted[QUOTE_SIZE];
    return read_bad(reader, node, "must be written in digits above 2^53, not like %s",
                    quote_input(node->text, quoted));
}

bool read_whole32(const struct reader *reader, const struct node *node, uint32_t low, uint32_t high,
                  uint32_t *out)
{
    uint64_t value = 0;
    bool good = read_whole(reader, node, low, high, &value);
    *out = (uint32_t)value;
    return good;
}

bool read_count(const struct reader *reader, const struct node *map, const struct key *required,
                const char *name, uint32_t low, uint32_t high, uint32_t *out)
{
    const struct node *node = tree_get(map, name);
    if (!node)
        return !required || read_required(reader, map, required, name, &node);
    return read_whole32(reader, node, low, high, out);
}

bool read_real(const struct reader *reader, const struct node *node, double low, double high,
               double *out)
{
    static const char wanted[] = "a number";
    if (!is_scalar(reader, node, wanted))
        return false;
    if (node->quoted || !number_is_plain(node->text))
        return not_a_number(reader, node, wanted);
    *out = plain_real(node->text, NULL);
    return (*out >= low && *out <= high) || real_out_of_range(reader, node, low, high);
}

bool read_truth(const struct reader *reader, const struct node *node, bool *out)
{
    char value[QUOTE_SIZE];
    if (!is_scalar(reader, node, "true or false"))
        return false;
    *out = strcmp(node->text, "true") == 0;
    return *out || strcmp(node->text, "false") == 0 ||
           read_bad(reader, node, "must be true or false, not `%s`",
                    quote_input(node->text, value));
}

/* ---- text and lists */

static bool read_text(const struct reader *reader, const struct node *node, size_t longest,
                      const char **out)
{
    if (!is_scalar(reader, node, "text"))
        return false;
    if (!text_is_line(node->text))
        return read_bad(reader, node, "must be one line of UTF-8 text without control characters");
    if (strlen(node->text) > longest)
        return read_bad(reader, node, "is longer than %zu bytes", longest);
    *out = node->text;
    return true;
}

bool read_line(const struct reader *reader, const struct node *node, const char **out)
{
    return read_text(reader, node, LONGEST_LINE, out);
}

bool read_paragraph(const struct reader *reader, const struct node *node, const char **out)
{
    return read_text(reader, node, LONGEST_PARAGRAPH, out);
}

bool read_path(const struct reader *reader, const struct node *node, const char **out)
{
    return read_text(reader, node, LONGEST_PATH, out);
}

bool is_word(const struct node *node, const char *const *words, size_t *out)
{
    for (*out = 0; node->type == NODE_SCALAR && words && words[*out]; ++*out)
        if (strcmp(node->text, words[*out]) == 0)
            return true;
    return false;
}

bool read_word(const struct reader *reader, const struct node *node, const char *const *words,
               size_t *out)
{
    const char *word = NULL;
    char name[QUOTE_SIZE], list[128] = "";
    if (!read_line(reader, node, &word))
        return false;
    if (is_word(node, words, out))
        return true;
    for (size_t i = 0, used = 0; words[i] && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i == 0         ? ""
                                 : words[i + 1] ? ", "
                                                : " or ",
                                 words[i]);
    return read_bad(reader, node, "must be %s, not `%s`", list, quote_input(word, name));
}

bool read_list(const struct reader *reader, const struct node *node)
{
    if (node->type != NODE_LIST)
        return read_bad(reader, node, "must be a list, like [1, 2]");
    return (node->count > 0 && node->count < UINT32_MAX) ||
           read_bad(reader, node, "the list is empty");
}

bool read_reals(const struct reader *reader, const struct node *node, double low, double high,
                const double **out, uint32_t *count)
{
    if (!read_list(reader, node))
        return false;
    double *values = pool_get(reader->pool, node->count, sizeof *values);
    if (!values)
        return read_no_memory(reader);
    *count = 0;
    for (const struct node *entry = node->first; entry; entry = entry->next) {
        if (!read_real(reader, entry, low, high, &values[*count]))
            return false;
        ++*count;
    }
    *out = values;
    return true;
}
