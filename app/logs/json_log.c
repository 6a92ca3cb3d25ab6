/* json_log.c - see json_log.h. */
#include "app/logs/json_log.h"

#include "app/logs/decision_log.h"
#include "app/logs/log_extras.h"
#include "app/logs/log_values.h"
#include "engine/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The next line of a file. */
struct pending {
    json_t *json; /* NULL: at the end */
    uint64_t line;
    double order; /* its time, or that of the last line before it that has one */
    double time;  /* NAN: it has none */
};

struct json_log {
    const struct log_options *options;
    struct log_join *join;
    struct log_report *report;
    struct log_found *found;
    struct ubi_log ubi;
    struct list_json arrays;
    struct name_room room;
    float *x; /* (dim) of one row */
    double extra[LOG_MOST_EXTRA];
};

/* ---- values by role */

/* The value of a role: by the name that --columns gives, or by the first usual one that is there.
 */
static const json_t *value_of(const struct json_log *log, const json_t *json, enum log_role role)
{
    const struct log_names *names = &log->options->names;
    if (names->given[role]) {
        char key[128];
        snprintf(key, sizeof key, "%.*s", (int)names->length[role], names->given[role]);
        return json_object_get(json, key);
    }
    const json_t *value = NULL;
    for (uint32_t i = 0; !value && log_usual_name(role, i); i++)
        value = json_object_get(json, log_usual_name(role, i));
    return json_is_null(value) ? NULL : value;
}

static bool json_yes_no(const json_t *json, bool *out)
{
    double number = json_number_value(json);
    *out = json_is_true(json) || number > 0;
    return json_is_boolean(json) ||
           (json_is_number(json) && ((number >= 0 && number <= 0) || (number >= 1 && number <= 1)));
}

/* NAN where there is none; false where it is no time. */
static bool time_of(const struct json_log *log, const json_t *json, double *out)
{
    const json_t *time = value_of(log, json, ROLE_TIME);
    *out = NAN;
    if (!time)
        return true;
    if (json_is_number(time))
        *out = time_of_number(json_number_value(time));
    else if (!json_is_string(time) ||
             !value_time(json_string_value(time), json_string_length(time), out))
        return false;
    return true;
}

/* ---- rows */

static const char *take_names(struct json_log *log, const json_t *json, struct log_row *row)
{
    const json_t *list = value_of(log, json, ROLE_LIST), *item = value_of(log, json, ROLE_ITEM);
    oltr_name name;
    name_room_clear(&log->room);
    if (list) {
        if (name_of_json(list, &log->room, &name) != NAME_TAKEN)
            return "the id of the list must be a text of 1 to 512 bytes or a whole number";
        row->list = name.bytes;
        row->list_size = name.size;
    }
    if (log->options->dim > 0)
        return NULL;
    if (!item)
        return "no \"item\"; a line is a row, like {\"list_id\": \"q1\", \"item\": \"a\", "
               "\"position\": 1, \"click\": 0}, a list with \"items\", or a query or an event of "
               "UBI";
    if (name_of_json(item, &log->room, &name) != NAME_TAKEN)
        return "the item must be a text of 1 to 512 bytes or a whole number";
    row->name = name.bytes;
    row->name_size = name.size;
    return NULL;
}

static const char *take_reward(struct json_log *log, const json_t *json, struct log_row *row)
{
    const json_t *click = value_of(log, json, ROLE_CLICK),
                 *reward = value_of(log, json, ROLE_REWARD);
    const json_t *value = reward && (!log->options->clicks_only || !click) ? reward : click;
    bool clicked;
    if (!value)
        return "no \"click\" and no \"reward\"";
    if (json_yes_no(value, &clicked)) {
        row->reward = clicked;
        return NULL;
    }
    if (log->options->clicks_only)
        return "this model learns from clicks, 0 or 1";
    if (value != reward)
        return LOG_CLICK_FAULT;
    if (!json_is_number(value))
        return "the reward must be a number";
    row->reward = json_number_value(value);
    log->found->from_reward = true;
    return NULL;
}

static const char *take_examined(struct json_log *log, const json_t *json, struct log_row *row)
{
    const json_t *examined = value_of(log, json, ROLE_EXAMINED),
                 *position = value_of(log, json, ROLE_POSITION),
                 *weight = value_of(log, json, ROLE_WEIGHT);
    json_int_t at = json_is_integer(position) ? json_integer_value(position) : 0;
    bool yes;
    row->examined = EXAMINED_UNKNOWN;
    if (examined && !json_yes_no(examined, &yes))
        return "whether it was examined must be 0 or 1";
    if (examined)
        row->examined = yes;
    if (row->examined == 0 && row->reward > 0)
        return "clicked, but not examined";
    if (row->list && position && (at < 1 || at > OLTR_MOST_SHOWN))
        return "the position must be a whole number from 1 to 1024";
    row->position = row->list ? (uint32_t)at : 0;
    row->weight = weight ? json_number_value(weight) : 1;
    if (!(row->weight > 0 && row->weight <= OLTR_MAX_WEIGHT))
        return "the weight must be a number above 0 and at most 1e6";
    return NULL;
}

static const char *take_features(struct json_log *log, const json_t *json, struct log_row *row)
{
    const json_t *features = json_object_get(json, "features");
    uint32_t dim = log->options->dim;
    if (dim > 0 && json_array_size(features) != dim)
        return "\"features\" must be an array with a number for each feature of the model";
    for (uint32_t j = 0; j < dim; j++) {
        const json_t *value = json_array_get(features, j);
        if (!json_is_number(value))
            return "\"features\" must be an array of numbers";
        log->x[j] = (float)json_number_value(value);
    }
    row->x = log->x;
    return NULL;
}

static const char *take_extra(struct json_log *log, const json_t *json, struct log_row *row)
{
    row->extra = log->extra;
    return log_extras_of_row(&log->options->names, json, log->extra)
               ? NULL
               : "a propensity must be a number above 0 (an evaluated one: from 0 on) and at most "
                 "1";
}

static oltr_status take_row(struct json_log *log, const json_t *json, double time, const char *file,
                            uint64_t line, oltr_error *error)
{
    struct log_row row = {.time = time};
    const char *why = take_names(log, json, &row);
    why = why ? why : take_reward(log, json, &row);
    why = why ? why : take_examined(log, json, &row);
    why = why ? why : take_features(log, json, &row);
    why = why ? why : take_extra(log, json, &row);
    if (why)
        return log_bad_line(log->report, file, line, error, "%s", why);
    log->found->no_list = log->found->no_list || !row.list;
    log->found->no_position = log->found->no_position || (row.list && row.position == 0);
    return log_join_row(log->join, &row, file, line, error);
}

/* ---- lists */

static oltr_status take_list(struct json_log *log, const json_t *json, const char *file,
                             uint64_t line, oltr_error *error)
{
    oltr_lesson lesson;
    oltr_error why = {OLTR_OK, ""};
    oltr_status status = lesson_of_json(json, log->options->dim, &log->arrays, &lesson, &why);
    struct log_list list = {
        .lesson = &lesson, .extra = log->join->extra, .file = file, .line = line};
    if (status == OLTR_OK)
        status = log_extras_of_list(&log->options->names, json, lesson.shown.n, false,
                                    log->join->extra, &why);
    if (status == OLTR_OK && log->join->options.take)
        status = log_candidates_of_json(json, &log->ubi.arrays, &list, &why);
    if (status == OLTR_ENOMEM)
        return set_error(error, status, "%s", why.msg);
    if (status != OLTR_OK)
        return log_bad_line(log->report, file, line, error, "%s", why.msg);
    log->report->rows += lesson.shown.n;
    return log_join_list(log->join, &list, error);
}

/* ---- lines */

static const json_t *inner(const json_t *json)
{
    const json_t *source = json_object_get(json, "_source");
    return json_is_object(source) ? source : json;
}

static oltr_status take_line(struct json_log *log, const struct pending *next, const char *file,
                             oltr_error *error)
{
    const json_t *json = inner(next->json);
    if (ubi_is_event(json))
        return ubi_event(&log->ubi, json, next->time, file, next->line, error);
    if (json_is_decision(json))
        return decision_take(&log->ubi, json, next->time, file, next->line, error);
    if (json_is_outcome(json))
        return outcome_take(&log->ubi, json, next->time, file, next->line, error);
    if (json_object_get(json, "items") || json_object_get(json, "clicks"))
        return take_list(log, json, file, next->line, error);
    if (ubi_is_query(json))
        return ubi_query(&log->ubi, json, next->time, file, next->line, error);
    return take_row(log, json, next->time, file, next->line, error);
}

/* Parses the next good line of a file. */
static oltr_status read_next(struct json_log *log, struct log_input *in, const char *file,
                             struct pending *next, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    json_decref(next->json);
    next->json = NULL;
    while (status == OLTR_OK && !next->json) {
        oltr_error why = {OLTR_OK, ""};
        const char *text;
        size_t size;
        int got = log_input_line(in, &text, &size, &next->line, error);
        if (got <= 0)
            return got == 0 ? OLTR_OK : error->code;
        next->json = json_of_line(text, size, &why);
        if (why.code == OLTR_ENOMEM)
            return set_error(error, OLTR_ENOMEM, "%s:%llu: out of memory", file,
                             (unsigned long long)next->line);
        if (!next->json) {
            status = log_bad_line(log->report, file, next->line, error, "%s", why.msg);
        } else if (!time_of(log, inner(next->json), &next->time)) {
            json_decref(next->json);
            next->json = NULL;
            status = log_bad_line(log->report, file, next->line, error,
                                  "the time must be like 2024-11-01T12:30:00Z, or a number of "
                                  "seconds or milliseconds");
        }
    }
    if (isfinite(next->time))
        next->order = next->time;
    return status;
}

/* The file whose next line is the earliest; n when all are at their ends. */
static uint32_t earliest(const struct pending *next, uint32_t n)
{
    uint32_t best = n;
    for (uint32_t i = 0; i < n; i++)
        if (next[i].json && (best == n || next[i].order < next[best].order))
            best = i;
    return best;
}

static oltr_status read_all(struct json_log *log, struct log_input *in, const char *const *file,
                            uint32_t n, struct pending *next, oltr_error *error)
{
    enum { LINES_BETWEEN = 1024 };
    oltr_status status = OLTR_OK;
    for (uint32_t i = 0; i < n; i++)
        next[i] = (struct pending){.order = -INFINITY};
    for (uint32_t i = 0; status == OLTR_OK && i < n; i++)
        status = read_next(log, &in[i], file[i], &next[i], error);
    for (uint32_t count = 1; status == OLTR_OK; count++) {
        uint32_t i = earliest(next, n);
        if (i == n)
            break;
        status = take_line(log, &next[i], file[i], error);
        if (status == OLTR_OK)
            status = read_next(log, &in[i], file[i], &next[i], error);
        if (count % LINES_BETWEEN == 0 && log->options->progress)
            log->options->progress(log->options->progress_with, &in[i], log->report);
    }
    for (uint32_t i = 0; i < n; i++)
        json_decref(next[i].json);
    return status;
}

oltr_status json_log_read(struct log_input *in, const char *const *file, uint32_t n,
                          const struct log_options *options, struct log_join *join,
                          struct log_found *found, oltr_error *error)
{
    struct pending next[JSON_MOST_FILES];
    struct json_log log = {.options = options, .join = join, .found = found};
    log.report = join->options.report;
    log.ubi = (struct ubi_log){.options = options, .join = join};
    if (n > JSON_MOST_FILES)
        return set_error(error, OLTR_EINVAL, "at most %d files of JSON lines at once; there are %u",
                         JSON_MOST_FILES, n);
    log.x = calloc((size_t)options->dim + 1, sizeof *log.x);
    oltr_status status = log.x ? read_all(&log, in, file, n, next, error)
                               : set_error(error, OLTR_ENOMEM, "out of memory");
    free(log.x);
    list_json_free(&log.arrays);
    name_room_free(&log.room);
    name_room_free(&log.ubi.room);
    list_json_free(&log.ubi.arrays);
    return status;
}
