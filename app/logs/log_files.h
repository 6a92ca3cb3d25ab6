/* log_files.h - learns from the files of a log: finds out what each of them is, and joins their
 * lines to lessons. */
#ifndef OLTR_APP_LOGS_LOG_FILES_H
#define OLTR_APP_LOGS_LOG_FILES_H

#include "app/logs/json_log.h"

enum log_format { LOG_ANY, LOG_CSV, LOG_JSON };
enum {
    LOG_OPEN_ROWS = 1000,      /* open lists of a CSV log: their memory fits a second-level cache */
    LOG_OPEN_QUERIES = 100000, /* of JSON lines, whose clicks come later */
    LOG_MOST_OPEN = 1 << 24,
    LOG_REMEMBER_ROWS = 16384, /* ids of closed lists of a CSV log: so many, for the same reason */
    LOG_WAIT = 3600            /* seconds that queries of UBI wait for clicks */
};

struct log_files {
    const char *const *path; /* (n) "-": standard input */
    uint32_t n;
    enum log_format format; /* LOG_ANY: by the first byte, `{` is JSON */
    uint32_t capacity;      /* open lists; 0: the default of the format */
    double wait;            /* seconds; below 0: LOG_WAIT for UBI, no limit for rows */
    struct log_join_options join;
    struct log_options options;
};

/* Reads all files and closes all lists.  `capacity` is set to what was used. */
oltr_status log_files_learn(struct log_files *files, struct log_found *found, oltr_error *error);

#endif
