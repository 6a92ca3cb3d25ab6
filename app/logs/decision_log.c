/* decision_log.c - see decision_log.h. */
#include "app/logs/decision_log.h"

#include "app/logs/log_extras.h"
#include "engine/base/error.h"

#include <math.h>

static bool has(const json_t *json, const char *key)
{
    return json_object_get(json, key);
}

static bool has_outcome(const json_t *json)
{
    return has(json, "clicks") || has(json, "rewards");
}

static bool has_id(const json_t *json)
{
    return has(json, "id") || has(json, "list_id") || has(json, "list") || has(json, "query_id") ||
           has(json, "request_id");
}

bool json_is_decision(const json_t *json)
{
    bool shown = has(json, "items") || (has(json, "features") && has(json, "rows"));
    return shown && has_id(json) && !has_outcome(json);
}

bool json_is_outcome(const json_t *json)
{
    bool arrays = json_is_array(json_object_get(json, "clicks")) ||
                  json_is_array(json_object_get(json, "rewards"));
    return arrays && has_id(json) && !has(json, "items") && !has(json, "item") &&
           !has(json, "features");
}

/* ---- decisions */

/* What was shown: names; or of a contextual model the rows that "rows" chooses of "features". */
struct shown_rows {
    uint32_t n;
    const oltr_name *name; /* (n) or NULL */
    const float *x;        /* (rows, dim) or NULL */
    uint32_t rows;
    const json_t *place;
};

static oltr_status read_shown(struct ubi_log *log, const json_t *json, struct shown_rows *out,
                              oltr_error *error)
{
    *out = (struct shown_rows){.n = 0};
    if (log->options->dim == 0) {
        oltr_status status = names_of_json(json_object_get(json, "items"), "items", OLTR_MOST_SHOWN,
                                           &log->arrays, &out->n, error);
        out->name = log->arrays.name;
        return status;
    }
    const json_t *features = json_object_get(json, "features");
    json_t *alone = json_pack("{sO}", "features", features);
    oltr_list list;
    bool names;
    if (!alone)
        return set_error(error, OLTR_EVALUE,
                         "\"features\", the rows of the candidates, is missing");
    oltr_status status = list_of_json(alone, log->options->dim, OLTR_MOST_MODEL_ITEMS, &log->arrays,
                                      &list, &names, error);
    json_decref(alone);
    out->x = list.x;
    out->rows = list.n;
    out->place = json_object_get(json, "rows");
    out->n = (uint32_t)json_array_size(out->place);
    if (status == OLTR_OK && (out->n < 1 || out->n > OLTR_MOST_SHOWN))
        return set_error(error, OLTR_EVALUE, "\"rows\" must be an array of 1 to %d places",
                         OLTR_MOST_SHOWN);
    return status;
}

static oltr_status add_row(struct ubi_log *log, struct open_list *list,
                           const struct shown_rows *shown, uint32_t i, oltr_error *error)
{
    static const double none[LOG_MOST_EXTRA]; /* filled in when all rows are there */
    struct log_row row = {.examined = EXAMINED_UNKNOWN, .weight = 1, .extra = none};
    if (shown->name) {
        row.name = shown->name[i].bytes;
        row.name_size = shown->name[i].size;
    } else {
        const json_t *place = json_array_get(shown->place, i);
        json_int_t at = json_is_integer(place) ? json_integer_value(place) : -1;
        if (at < 0 || at >= (json_int_t)shown->rows)
            return set_error(error, OLTR_EVALUE,
                             "\"rows\": number %u is no place of \"features\", which counts from 0",
                             i + 1);
        row.x = shown->x + (size_t)at * log->options->dim;
    }
    return log_join_add(log->join, list, &row, list->first_line)
               ? OLTR_OK
               : set_error(error, OLTR_ENOMEM, "out of memory");
}

static oltr_status fill_list(struct ubi_log *log, struct open_list *list, const json_t *json,
                             oltr_error *error)
{
    struct shown_rows shown;
    name_room_clear(&log->arrays.room);
    oltr_status status = read_shown(log, json, &shown, error);
    for (uint32_t i = 0; status == OLTR_OK && i < shown.n; i++)
        status = add_row(log, list, &shown, i, error);
    if (status == OLTR_OK)
        status =
            log_extras_of_list(&log->options->names, json, list->n_rows, false, list->extra, error);
    return status == OLTR_OK ? log_candidates_of_list(log->join, list, json, &log->arrays, error)
                             : status;
}

static oltr_status no_id(struct ubi_log *log, const char *file, uint64_t line, const char *what,
                         oltr_error *error)
{
    return log_bad_line(log->join->options.report, file, line, error,
                        "%s needs an \"id\", a text of 1 to 512 bytes, by which decisions and "
                        "outcomes are joined",
                        what);
}

static oltr_status begin_line(struct ubi_log *log, const json_t *json, double time, oltr_name *id,
                              oltr_error *error)
{
    oltr_error ignored;
    name_room_clear(&log->room);
    *id = (oltr_name){NULL, 0};
    if (id_of_json(json, &log->room, id, &ignored) == OLTR_ENOMEM)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    return log_join_advance(log->join, time, error);
}

oltr_status decision_take(struct ubi_log *log, const json_t *json, double time, const char *file,
                          uint64_t line, oltr_error *error)
{
    struct log_report *report = log->join->options.report;
    oltr_error why = {OLTR_OK, ""};
    struct open_list *list;
    oltr_name id;
    report->decisions++;
    oltr_status status = begin_line(log, json, time, &id, error);
    if (status != OLTR_OK)
        return status;
    if (id.size == 0)
        return no_id(log, file, line, "a list without \"clicks\" or \"rewards\"", error);
    status = log_join_open(log->join, id.bytes, id.size, file, line, &list, error);
    if (status != OLTR_OK)
        return status;
    if (list->is_shown) {
        char quoted[LOG_QUOTE_SIZE];
        return log_bad_line(
            report, file, line, error, "list `%s` a second time; the first is in line %llu",
            log_quote(id.bytes, id.size, quoted), (unsigned long long)list->first_line);
    }
    if (fill_list(log, list, json, &why) != OLTR_OK) {
        list->n_rows = list->n_events = 0;
        list->is_shown = true;
        return why.code == OLTR_ENOMEM ? set_error(error, OLTR_ENOMEM, "out of memory")
                                       : log_bad_line(report, file, line, error, "%s", why.msg);
    }
    ubi_list_is_shown(log, list, file, line);
    return OLTR_OK;
}

/* ---- outcomes */

/* Positions from 1: clicks, or what was looked at. */
static const char *keep_positions(struct ubi_log *log, struct open_list *list, const json_t *array,
                                  bool examined, oltr_error *error)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *value = json_array_get(array, i);
        json_int_t at = json_is_integer(value) ? json_integer_value(value) : 0;
        struct list_row what = {
            .position = (uint16_t)at, .examined = examined, .reward = examined ? 0 : 1};
        if (at < 1 || at > OLTR_MOST_SHOWN)
            return "\"clicks\" and \"examined\" must be arrays of positions from 1 to 1024";
        if (ubi_keep_event(log, list, (oltr_name){NULL, 0}, &what, error) != OLTR_OK)
            return error->msg;
    }
    return NULL;
}

static const char *keep_rewards(struct ubi_log *log, struct open_list *list, const json_t *array,
                                oltr_error *error)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *value = json_array_get(array, i);
        struct list_row what = {.position = (uint16_t)(i + 1), .reward = json_number_value(value)};
        if (!json_is_number(value) || i >= OLTR_MOST_SHOWN)
            return "\"rewards\" must be an array of at most 1024 numbers";
        if (ubi_keep_event(log, list, (oltr_name){NULL, 0}, &what, error) != OLTR_OK)
            return error->msg;
    }
    return NULL;
}

static const char *keep_seen(struct ubi_log *log, struct open_list *list, const json_t *json,
                             oltr_error *error)
{
    const json_t *seen = json_object_get(json, "seen"),
                 *examined = json_object_get(json, "examined");
    json_int_t depth = json_is_integer(seen) ? json_integer_value(seen) : -1;
    if (seen && (depth < 0 || depth > OLTR_MOST_SHOWN))
        return "\"seen\" must be a whole number from 0 to 1024";
    for (json_int_t i = 0; seen && i < depth; i++) {
        struct list_row what = {.position = (uint16_t)(i + 1), .examined = 1};
        if (ubi_keep_event(log, list, (oltr_name){NULL, 0}, &what, error) != OLTR_OK)
            return error->msg;
    }
    list->has_impressions = list->has_impressions || seen || examined;
    return examined ? keep_positions(log, list, examined, true, error) : NULL;
}

/* Whether "seen" or "examined", if they are given, say that a position was looked at. */
static bool is_examined(const json_t *json, json_int_t at)
{
    const json_t *seen = json_object_get(json, "seen"),
                 *examined = json_object_get(json, "examined");
    bool found = !examined;
    for (size_t i = 0; !found && i < json_array_size(examined); i++)
        found = json_integer_value(json_array_get(examined, i)) == at;
    return found && (!json_is_integer(seen) || at <= json_integer_value(seen));
}

/* The rules of lists that have everything in one line, list_of_json(). */
static const char *check_seen(const json_t *json)
{
    const json_t *examined = json_object_get(json, "examined"),
                 *clicks = json_object_get(json, "clicks"),
                 *rewards = json_object_get(json, "rewards");
    bool good = true;
    if (examined && json_object_get(json, "seen"))
        return "give \"seen\", a number of slots, or \"examined\", an array of positions, and not "
               "both";
    if (examined && !json_is_array(examined))
        return "\"examined\" must be an array of positions from 1";
    for (size_t i = 0; i < json_array_size(clicks); i++)
        good = good && is_examined(json, json_integer_value(json_array_get(clicks, i)));
    for (size_t i = 0; i < json_array_size(rewards); i++)
        good = good && (json_number_value(json_array_get(rewards, i)) == 0 ||
                        is_examined(json, (json_int_t)i + 1));
    return good ? NULL : "a position was clicked or has a reward, but was not examined";
}

static const char *keep_outcome(struct ubi_log *log, struct open_list *list, const json_t *json,
                                oltr_error *error)
{
    const json_t *clicks = json_object_get(json, "clicks"),
                 *rewards = json_object_get(json, "rewards");
    if (clicks && rewards)
        return "give \"clicks\", an array of positions from 1, or \"rewards\", a number for each "
               "slot, and not both";
    const char *why = check_seen(json);
    if (why)
        return why;
    why = clicks ? keep_positions(log, list, clicks, false, error)
                 : keep_rewards(log, list, rewards, error);
    list->has_events = true; /* also when nothing was clicked */
    return why ? why : keep_seen(log, list, json, error);
}

oltr_status outcome_take(struct ubi_log *log, const json_t *json, double time, const char *file,
                         uint64_t line, oltr_error *error)
{
    struct log_report *report = log->join->options.report;
    oltr_error failed = {OLTR_OK, ""};
    struct open_list *list;
    oltr_name id;
    report->outcomes++;
    oltr_status status = begin_line(log, json, time, &id, error);
    if (status != OLTR_OK)
        return status;
    if (id.size == 0)
        return no_id(log, file, line, "an outcome", error);
    if (!open_lists_find(&log->join->lists, id.bytes, id.size) &&
        open_lists_was_closed(&log->join->lists, id.bytes, id.size)) {
        report->late++;
        return OLTR_OK;
    }
    status = log_join_open(log->join, id.bytes, id.size, file, line, &list, error);
    if (status != OLTR_OK)
        return status;
    const char *why = keep_outcome(log, list, json, &failed);
    if (failed.code != OLTR_OK)
        return set_error(error, failed.code, "%s", failed.msg);
    return why ? log_bad_line(report, file, line, error, "%s", why) : OLTR_OK;
}
