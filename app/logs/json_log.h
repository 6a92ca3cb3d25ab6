/* json_log.h - logs as JSON lines.  A line is one of
 *
 *   a row     {"list_id": "q1", "item": "a", "position": 1, "click": 0}, the columns of a CSV log
 *   a list    {"list_id": "q1", "items": ["a", "b"], "clicks": [2]}
 *   a decision or an outcome of a decision log (decision_log.h)
 *   a query or an event of UBI (ubi_log.h)
 *
 * or one of these inside "_source", as exports of a search index have it.  Several files are read
 * as one, by the times of their lines, so that clicks in one file meet their lists in another. */
#ifndef OLTR_APP_LOGS_JSON_LOG_H
#define OLTR_APP_LOGS_JSON_LOG_H

#include "app/logs/ubi_log.h"

enum { JSON_MOST_FILES = 64 };

/* file: (n) names in messages, which must outlive the join. */
oltr_status json_log_read(struct log_input *in, const char *const *file, uint32_t n,
                          const struct log_options *options, struct log_join *join,
                          struct log_found *found, oltr_error *error);

#endif
