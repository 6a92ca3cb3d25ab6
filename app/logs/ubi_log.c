/* ubi_log.c - see ubi_log.h. */
#include "app/logs/ubi_log.h"

#include "app/logs/log_extras.h"
#include "engine/base/error.h"

#include <math.h>
#include <string.h>

static oltr_status no_memory(oltr_error *error)
{
    return set_error(error, OLTR_ENOMEM, "out of memory");
}

/* What was returned; some exporters call it doc_ids. */
static const json_t *hits_of(const json_t *json)
{
    const json_t *hits = json_object_get(json, "query_response_hit_ids");
    return hits ? hits : json_object_get(json, "doc_ids");
}

bool ubi_is_event(const json_t *json)
{
    return json_object_get(json, "action_name");
}

bool ubi_is_query(const json_t *json)
{
    return !ubi_is_event(json) && (hits_of(json) || json_object_get(json, "user_query"));
}

/* ---- events on lists */

/* Whether the action is one of a list with commas. */
static bool is_one_of(const char *action, const char *list)
{
    size_t length = strlen(action);
    for (const char *at = list;; at++) {
        size_t entry = strcspn(at, ",");
        if (entry == length && strncmp(at, action, length) == 0)
            return true;
        at += entry;
        if (*at == '\0')
            return false;
    }
}

/* The row that an event is about, or NULL. */
static struct list_row *row_of_event(const struct open_list *list, const struct list_row *event)
{
    for (uint32_t i = 0; event->name_size > 0 && i < list->n_rows; i++)
        if (list->row[i].name_size == event->name_size &&
            memcmp(list_name(list, &list->row[i]), list_name(list, event), event->name_size) == 0)
            return &list->row[i];
    bool by_position = event->name_size == 0 && event->position > 0;
    return by_position && event->position <= list->n_rows ? &list->row[event->position - 1] : NULL;
}

static void apply(struct ubi_log *log, struct open_list *list, const struct list_row *event)
{
    struct list_row *row = row_of_event(list, event);
    if (!row) {
        log->join->options.report->elsewhere++;
        return;
    }
    list->has_events = true;
    if (event->examined == 1) {
        row->examined = 1;
        list->has_impressions = true;
    } else {
        row->reward = event->reward;
    }
}

/* ---- queries */

static oltr_status take_id(struct ubi_log *log, const json_t *json, oltr_name *id, bool *good,
                           const char *file, uint64_t line, oltr_error *error)
{
    name_room_clear(&log->room);
    enum name_result result = name_of_json(json_object_get(json, "query_id"), &log->room, id);
    *good = result == NAME_TAKEN;
    if (result == NAME_NO_MEMORY)
        return no_memory(error);
    return *good ? OLTR_OK
                 : log_bad_line(log->join->options.report, file, line, error,
                                "\"query_id\" must be a text of 1 to 512 bytes");
}

static bool add_hit(struct ubi_log *log, struct open_list *list, const void *name, uint32_t size)
{
    double none[LOG_MOST_EXTRA];
    struct log_row row = {
        .name = name, .name_size = size, .examined = EXAMINED_UNKNOWN, .weight = 1, .extra = none};
    for (uint32_t i = 0; i < LOG_MOST_EXTRA; i++)
        none[i] = NAN;
    return log_join_add(log->join, list, &row, list->first_line);
}

/* The names of an array, or of a text with commas; *good is false when one is no name. */
static oltr_status add_hits(struct ubi_log *log, struct open_list *list, const json_t *hits,
                            bool *good, oltr_error *error)
{
    uint32_t most = log->options->most_shown;
    *good = true;
    if (json_is_string(hits)) {
        for (const char *at = json_string_value(hits);
             *good && *at != '\0' && list->n_rows < most;) {
            size_t size = strcspn(at, ",");
            *good = size > 0 && size <= OLTR_LONGEST_NAME;
            if (*good && !add_hit(log, list, at, (uint32_t)size))
                return no_memory(error);
            at += size + (at[size] == ',');
        }
        return OLTR_OK;
    }
    for (size_t i = 0; *good && i < json_array_size(hits) && list->n_rows < most; i++) {
        oltr_name name;
        enum name_result result = name_of_json(json_array_get(hits, i), &log->room, &name);
        *good = result == NAME_TAKEN;
        if (result == NAME_NO_MEMORY || (*good && !add_hit(log, list, name.bytes, name.size)))
            return no_memory(error);
    }
    return OLTR_OK;
}

static oltr_status check_hits(const struct ubi_log *log, const json_t *hits, const char *file,
                              uint64_t line, bool *good, oltr_error *error)
{
    struct log_report *report = log->join->options.report;
    *good = false;
    if (hits && !json_is_null(hits) && !json_is_array(hits) && !json_is_string(hits))
        return log_bad_line(report, file, line, error,
                            "\"query_response_hit_ids\" must be an array of ids");
    if (json_array_size(hits) > log->options->most_shown &&
        log->options->most_shown == OLTR_MOST_SHOWN)
        return log_bad_line(report, file, line, error,
                            "%zu hits; a list has at most %d: say by --shown how many were shown",
                            json_array_size(hits), OLTR_MOST_SHOWN);
    *good = true;
    return OLTR_OK;
}

void ubi_list_is_shown(struct ubi_log *log, struct open_list *list, const char *file, uint64_t line)
{
    list->is_shown = true;
    list->file = file;
    list->first_line = line;
    for (uint32_t i = 0; i < list->n_events; i++)
        apply(log, list, &list->event[i]);
    list->n_events = 0;
}

/* Propensities and candidates are among the attributes of a query. */
static oltr_status add_attributes(struct ubi_log *log, struct open_list *list, const json_t *json,
                                  oltr_error *error)
{
    const json_t *attributes = json_object_get(json, "query_attributes");
    const json_t *from = json_is_object(attributes) ? attributes : json;
    oltr_status status =
        log_extras_of_list(&log->options->names, from, list->n_rows, true, list->extra, error);
    return status == OLTR_OK ? log_candidates_of_list(log->join, list, from, &log->arrays, error)
                             : status;
}

/* A query that cannot be used: its id is taken, and it has no rows. */
static oltr_status leave_out(struct ubi_log *log, struct open_list *list, const char *file,
                             uint64_t line, const char *why, oltr_error *error)
{
    list->n_rows = list->n_events = 0;
    ubi_list_is_shown(log, list, file, line);
    return log_bad_line(log->join->options.report, file, line, error, "%s", why);
}

/* The hits of a list that is open, and the events that came before it. */
static oltr_status fill_list(struct ubi_log *log, struct open_list *list, const json_t *json,
                             const char *file, uint64_t line, oltr_error *error)
{
    bool good;
    oltr_error why = {OLTR_OK, ""};
    oltr_status status = add_hits(log, list, hits_of(json), &good, error);
    if (status != OLTR_OK)
        return status;
    if (!good)
        return leave_out(log, list, file, line,
                         "each of \"query_response_hit_ids\" must be a text of 1 to 512 bytes or a "
                         "whole number",
                         error);
    status = add_attributes(log, list, json, &why);
    if (status == OLTR_ENOMEM)
        return no_memory(error);
    if (status != OLTR_OK)
        return leave_out(log, list, file, line, why.msg, error);
    ubi_list_is_shown(log, list, file, line);
    return OLTR_OK;
}

/* A query whose list is open.  Nothing is lost of what a model learns; a reader that takes whole
 * lists refuses ids that come twice. */
static oltr_status repeated(struct ubi_log *log, const struct open_list *list, const char *file,
                            uint64_t line, oltr_error *error)
{
    char id[LOG_QUOTE_SIZE];
    if (log->join->options.take)
        return log_bad_line(log->join->options.report, file, line, error,
                            "query `%s` a second time; the first is in line %llu",
                            log_quote(list->bytes, list->id_size, id),
                            (unsigned long long)list->first_line);
    log->join->options.report->repeated++;
    return OLTR_OK;
}

oltr_status ubi_query(struct ubi_log *log, const json_t *json, double time, const char *file,
                      uint64_t line, oltr_error *error)
{
    const json_t *hits = hits_of(json);
    struct open_list *list;
    oltr_name id;
    bool good;
    if (log->options->dim > 0)
        return set_error(error, OLTR_EMISMATCH,
                         "%s:%llu: queries of UBI have no features, which this model needs", file,
                         (unsigned long long)line);
    log->join->options.report->queries++;
    oltr_status status = take_id(log, json, &id, &good, file, line, error);
    if (status == OLTR_OK && good)
        status = check_hits(log, hits, file, line, &good, error);
    if (status == OLTR_OK && good)
        status = log_join_advance(log->join, time, error);
    if (status != OLTR_OK || !good)
        return status;
    status = log_join_open(log->join, id.bytes, id.size, file, line, &list, error);
    if (status != OLTR_OK)
        return status;
    return list->is_shown ? repeated(log, list, file, line, error)
                          : fill_list(log, list, json, file, line, error);
}

/* ---- events */

/* The item and the position of an event.  The offset of its name is of no list yet. */
static enum name_result subject_of(struct ubi_log *log, const json_t *json, oltr_name *name,
                                   uint32_t *position)
{
    const json_t *attributes = json_object_get(json, "event_attributes");
    const json_t *object = json_object_get(attributes, "object"),
                 *place = json_object_get(attributes, "position");
    const json_t *id = json_object_get(object, "object_id"),
                 *ordinal = json_object_get(place, "ordinal");
    json_int_t at = json_is_integer(ordinal) ? json_integer_value(ordinal) : 0;
    *name = (oltr_name){NULL, 0};
    *position = at >= 1 && at <= OLTR_MOST_SHOWN ? (uint32_t)at : 0;
    return id && !json_is_null(id) ? name_of_json(id, &log->room, name) : NAME_TAKEN;
}

oltr_status ubi_keep_event(struct ubi_log *log, struct open_list *list, oltr_name name,
                           const struct list_row *what, oltr_error *error)
{
    if (list->n_events == OLTR_MOST_SHOWN) {
        log->join->options.report->orphans++;
        return OLTR_OK;
    }
    struct list_row *event = list_add_event(list);
    if (!event || !list_name_row(list, event, name.bytes, name.size))
        return no_memory(error);
    event->position = what->position;
    event->examined = what->examined;
    event->reward = what->reward;
    if (list->is_shown) {
        apply(log, list, event);
        list->bytes_used = event->name;
        list->n_events--;
    }
    return OLTR_OK;
}

oltr_status ubi_event(struct ubi_log *log, const json_t *json, double time, const char *file,
                      uint64_t line, oltr_error *error)
{
    struct log_report *report = log->join->options.report;
    const char *action = json_string_value(json_object_get(json, "action_name"));
    const json_t *query = json_object_get(json, "query_id");
    struct open_list *list;
    oltr_name id, name;
    uint32_t position;
    bool good;
    if (!action)
        return log_bad_line(report, file, line, error, "\"action_name\" must be a text");
    report->events++;
    oltr_status status = log_join_advance(log->join, time, error);
    if (status != OLTR_OK)
        return status;
    bool click = is_one_of(action, log->options->clicks),
         impression = !click && is_one_of(action, log->options->impressions);
    report->other += !click && !impression;
    report->orphans += (click || impression) && (!query || json_is_null(query));
    if ((!click && !impression) || !query || json_is_null(query))
        return OLTR_OK;
    status = take_id(log, json, &id, &good, file, line, error);
    if (status != OLTR_OK || !good)
        return status;
    enum name_result result = subject_of(log, json, &name, &position);
    if (result == NAME_NO_MEMORY)
        return no_memory(error);
    if (result == NAME_WRONG)
        return log_bad_line(report, file, line, error,
                            "\"object_id\" must be a text of 1 to 512 bytes or a whole number");
    if (!open_lists_find(&log->join->lists, id.bytes, id.size) &&
        open_lists_was_closed(&log->join->lists, id.bytes, id.size)) {
        report->late++;
        return OLTR_OK;
    }
    status = log_join_open(log->join, id.bytes, id.size, file, line, &list, error);
    struct list_row what = {
        .position = (uint16_t)position, .examined = impression, .reward = impression ? 0 : 1};
    return status == OLTR_OK ? ubi_keep_event(log, list, name, &what, error) : status;
}
