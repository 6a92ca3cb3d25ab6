/* log_columns.c - see log_columns.h. */
#include "app/logs/log_columns.h"

#include "app/logs/log_report.h"
#include "engine/base/error.h"
#include "engine/base/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const role_names[N_ROLES] = {"list",     "item",   "position", "click",
                                         "examined", "reward", "weight",   "time"};

enum { MOST_USUAL = 6 };
static const char *const usual[N_ROLES][MOST_USUAL] = {
    [ROLE_LIST] = {"list_id", "list", "query_id", "request_id"},
    [ROLE_ITEM] = {"item", "item_id", "doc", "doc_id", "object_id"},
    [ROLE_POSITION] = {"position", "rank", "slot"},
    [ROLE_CLICK] = {"click", "clicked", "clicks"},
    [ROLE_EXAMINED] = {"examined", "seen"},
    [ROLE_REWARD] = {"reward"},
    [ROLE_TIME] = {"time", "timestamp"},
};

const char *log_usual_name(enum log_role role, uint32_t i)
{
    return i < MOST_USUAL ? usual[role][i] : NULL;
}

bool log_extra_is_good(const struct log_extra *extra, double value)
{
    return value <= 1 && (extra->may_be_zero ? value >= 0 : value > 0);
}

const char *log_extra_fault(const struct log_extra *extra)
{
    return extra->may_be_zero ? "an evaluated propensity must be a number from 0 to 1, not"
                              : "the propensity must be a number above 0 and at most 1, not";
}

/* ---- --columns */

static bool is_word(const char *word, const char *at, size_t size)
{
    return strlen(word) == size && strncmp(word, at, size) == 0;
}

/* Where the name for a role goes; false: there is no such role. */
static bool give_name(struct log_names *names, const char *role, size_t size, const char *name,
                      size_t length)
{
    for (uint32_t i = 0; i < N_ROLES; i++)
        if (is_word(role_names[i], role, size)) {
            names->given[i] = name;
            names->length[i] = length;
            return true;
        }
    for (uint32_t i = 0; i < names->n_extra; i++)
        if (is_word(names->extra[i].role, role, size)) {
            names->extra[i].given = name;
            names->extra[i].length = length;
            return true;
        }
    return false;
}

static oltr_status bad_columns(const struct log_names *names, const char *text, oltr_error *error)
{
    char word[QUOTE_SIZE];
    return set_error(error, OLTR_EVALUE,
                     "--columns must be like list=query,item=sku with list, item, position, click, "
                     "examined, reward, weight%s or time before each `=`, not `%s`",
                     names->n_extra > 0 ? ", prefix, slot" : "", quote_input(text, word));
}

oltr_status log_names_add(struct log_names *names, const char *text, oltr_error *error)
{
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ","), key = strcspn(at, "=,");
        if (key + 1 >= length || !give_name(names, at, key, at + key + 1, length - key - 1))
            return bad_columns(names, text, error);
        at += length;
        if (*at == '\0')
            return OLTR_OK;
    }
}

/* ---- the header */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool log_same_name(const struct csv_text *field, const char *name, size_t length)
{
    const char *at = field->at;
    uint32_t size = field->size;
    while (size > 0 && *at == ' ')
        at++, size--;
    while (size > 0 && at[size - 1] == ' ')
        size--;
    bool same = size == length;
    for (size_t i = 0; same && i < length; i++)
        same = lower(at[i]) == lower(name[i]);
    return same;
}

static oltr_status find_named(const char *name, size_t length, const struct csv_text *field,
                              uint32_t n, uint32_t *at, oltr_error *error)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!log_same_name(&field[i], name, length))
            continue;
        if (*at != NO_COLUMN)
            return set_error(error, OLTR_EDATA, "two columns are called `%.*s`", (int)length, name);
        *at = i;
    }
    return OLTR_OK;
}

static oltr_status find_role(const struct log_names *names, enum log_role role,
                             const struct csv_text *field, uint32_t n, uint32_t *at,
                             oltr_error *error)
{
    oltr_status status = OLTR_OK;
    *at = NO_COLUMN;
    if (names->given[role]) {
        status = find_named(names->given[role], names->length[role], field, n, at, error);
        if (status == OLTR_OK && *at == NO_COLUMN)
            return set_error(error, OLTR_EDATA, "no column is called `%.*s`, which --columns names",
                             (int)names->length[role], names->given[role]);
        return status;
    }
    for (uint32_t i = 0; status == OLTR_OK && *at == NO_COLUMN && log_usual_name(role, i); i++)
        status = find_named(usual[role][i], strlen(usual[role][i]), field, n, at, error);
    return status;
}

/* Extra columns may be missing, unless --columns names them. */
static oltr_status find_extra(const struct log_extra *extra, const struct csv_text *field,
                              uint32_t n, uint32_t *at, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    *at = NO_COLUMN;
    if (extra->given)
        status = find_named(extra->given, extra->length, field, n, at, error);
    if (status == OLTR_OK && extra->given && *at == NO_COLUMN)
        return set_error(error, OLTR_EDATA, "no column is called `%.*s`, which --columns names",
                         (int)extra->length, extra->given);
    for (uint32_t i = 0; status == OLTR_OK && *at == NO_COLUMN && extra->usual[i]; i++)
        status = find_named(extra->usual[i], strlen(extra->usual[i]), field, n, at, error);
    return status;
}

static oltr_status find_features(const struct log_names *names, const struct csv_text *field,
                                 uint32_t n, struct log_columns *out, oltr_error *error)
{
    const char *prefix = names->features ? names->features : "x";
    char name[256];
    out->feature = calloc(out->dim, sizeof *out->feature);
    if (!out->feature)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    for (uint32_t j = 0; j < out->dim; j++) {
        uint32_t at = NO_COLUMN;
        int length = snprintf(name, sizeof name, "%.200s%u", prefix, j + 1);
        oltr_status status = find_named(name, (size_t)length, field, n, &at, error);
        if (status != OLTR_OK)
            return status;
        if (at == NO_COLUMN)
            return set_error(error, OLTR_EDATA,
                             "no column is called `%s`: the model has %u features, in columns %s1 "
                             "to %s%u; --features PREFIX names others",
                             name, out->dim, prefix, prefix, out->dim);
        out->feature[j] = at;
    }
    return OLTR_OK;
}

static oltr_status check_found(const struct log_columns *out, const struct csv_text *field,
                               uint32_t n, oltr_error *error)
{
    char first[LOG_QUOTE_SIZE];
    const uint32_t *at = out->at;
    const char *missing = out->dim == 0 && at[ROLE_ITEM] == NO_COLUMN                   ? "item"
                          : at[ROLE_CLICK] == NO_COLUMN && at[ROLE_REWARD] == NO_COLUMN ? "click"
                                                                                        : NULL;
    if (!missing)
        return OLTR_OK;
    return set_error(error, OLTR_EDATA,
                     "no column `%s`; the first line must name the columns, like "
                     "list_id,item,position,click, or say --columns %s=NAME; it begins with `%s`",
                     missing, missing, n > 0 ? log_quote(field->at, field->size, first) : "");
}

oltr_status log_columns_find(const struct log_names *names, const struct csv_text *field,
                             uint32_t n_fields, uint32_t dim, struct log_columns *out,
                             oltr_error *error)
{
    *out = (struct log_columns){.n_columns = n_fields, .dim = dim};
    for (uint32_t i = 0; i < n_fields; i++)
        if (memchr(field[i].at, '\0', field[i].size))
            return set_error(error, OLTR_EDATA, "a zero byte; the log must be text in UTF-8");
    oltr_status status = OLTR_OK;
    for (int role = 0; status == OLTR_OK && role < N_ROLES; role++)
        status = find_role(names, (enum log_role)role, field, n_fields, &out->at[role], error);
    for (uint32_t i = 0; status == OLTR_OK && i < names->n_extra; i++)
        status = find_extra(&names->extra[i], field, n_fields, &out->extra[i], error);
    if (status == OLTR_OK)
        status = check_found(out, field, n_fields, error);
    if (status == OLTR_OK && dim > 0)
        status = find_features(names, field, n_fields, out, error);
    if (status != OLTR_OK)
        log_columns_free(out);
    return status;
}

void log_columns_free(struct log_columns *columns)
{
    free(columns->feature);
    *columns = (struct log_columns){0};
}

char log_separator(const char *line, const char *end)
{
    if (line == end)
        return ',';
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    size_t size = (size_t)((newline ? newline : end) - line);
    return memchr(line, ',', size)    ? ','
           : memchr(line, '\t', size) ? '\t'
           : memchr(line, ';', size)  ? ';'
                                      : ',';
}
