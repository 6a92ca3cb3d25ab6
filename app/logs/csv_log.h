/* csv_log.h - an impression log in CSV: one row for each item that was shown, with the columns of
 * log_columns.h.  Without a column of list ids every row is a list of one item; without positions
 * the order of the rows is that of the slots. */
#ifndef OLTR_APP_LOGS_CSV_LOG_H
#define OLTR_APP_LOGS_CSV_LOG_H

#include "app/logs/log_columns.h"
#include "app/logs/log_join.h"

struct log_options {
    struct log_names names;
    uint32_t dim;     /* features of a contextual model, or 0 */
    bool clicks_only; /* rewards must be 0 or 1 */
    /* UBI: see ubi_log.h */
    const char *clicks, *impressions;
    uint32_t most_shown;
    /* Called every few thousand lines; may be NULL. */
    void (*progress)(void *with, const struct log_input *in, const struct log_report *report);
    void *progress_with;
};

/* What the columns of a log left out, to be said once. */
struct log_found {
    bool no_list, no_position, from_reward;
};

/* Reads the whole input.  `file` is its name in messages and must outlive the join. */
oltr_status csv_log_read(struct log_input *in, const char *file, const struct log_options *options,
                         struct log_join *join, struct log_found *found, oltr_error *error);

#endif
