/* log_extras.h - the extra columns of a log in JSON (log_columns.h), and the candidates of lists.
 */
#ifndef OLTR_APP_LOGS_LOG_EXTRAS_H
#define OLTR_APP_LOGS_LOG_EXTRAS_H

#include "app/logs/log_columns.h"
#include "app/logs/log_join.h"
#include "app/logs/name_json.h"

/* (n_extra) of a row, by name; NAN where it has none.  False: one is no number. */
bool log_extras_of_row(const struct log_names *names, const json_t *json, double *out);
/* (n, n_extra) of a list, whose arrays have n numbers each; or more, of which the first n are
 * taken.
 */
oltr_status log_extras_of_list(const struct log_names *names, const json_t *json, uint32_t n,
                               bool or_more, double *out, oltr_error *error);

/* "candidates", or "all_items", of a list. */
oltr_status log_candidates_of_json(const json_t *json, struct list_json *arrays,
                                   struct log_list *out, oltr_error *error);
/* The same for an open list; nothing where the join does not keep candidates. */
oltr_status log_candidates_of_list(const struct log_join *join, struct open_list *list,
                                   const json_t *json, struct list_json *arrays, oltr_error *error);

#endif
