/* ubi_log.h - queries and events of User Behavior Insights (UBI 1.3), which the plugins of
 * OpenSearch, Solr and Elasticsearch write.
 *
 * A query is a list: `query_id`, and `query_response_hit_ids` in the order of the slots.  Events
 * with the same `query_id` say what became of it, by `event_attributes.object.object_id`, or where
 * that is missing by `event_attributes.position.ordinal`, which counts from 1.  Events may come
 * before their query, or without one.
 *
 * Of the report: orphans are events whose query is not in the log, `late` those of a list that was
 * closed, `elsewhere` those on something that is not in their list, `other` those with an action
 * that is neither a click nor an impression; `repeated` are queries whose id had been read. */
#ifndef OLTR_APP_LOGS_UBI_LOG_H
#define OLTR_APP_LOGS_UBI_LOG_H

#include "app/logs/csv_log.h"
#include "app/logs/name_json.h"

struct ubi_log {
    const struct log_options *options; /* clicks, impressions: actions with commas between them */
    struct log_join *join;
    struct name_room room;
    struct list_json arrays; /* of candidates, and of what a decision shows */
};

/* Keeps an event on an item or, if the name has size 0, on a position from 1, until its list is
 * there.  It is an impression, `examined`, or gives a reward. */
oltr_status ubi_keep_event(struct ubi_log *log, struct open_list *list, oltr_name name,
                           const struct list_row *what, oltr_error *error);
/* The rows of the list are there: applies the events that came before it. */
void ubi_list_is_shown(struct ubi_log *log, struct open_list *list, const char *file,
                       uint64_t line);

bool ubi_is_query(const json_t *json);
bool ubi_is_event(const json_t *json);
/* time: of the record; NAN where it has none. */
oltr_status ubi_query(struct ubi_log *log, const json_t *json, double time, const char *file,
                      uint64_t line, oltr_error *error);
oltr_status ubi_event(struct ubi_log *log, const json_t *json, double time, const char *file,
                      uint64_t line, oltr_error *error);

#endif
