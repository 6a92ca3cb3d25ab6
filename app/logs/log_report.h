/* log_report.h - what reading a log found: counts, and the bad lines.
 *
 * By default the first bad line ends the reading with an error.  A lenient reader counts bad lines,
 * keeps the messages of the first few, and goes on. */
#ifndef OLTR_APP_LOGS_LOG_REPORT_H
#define OLTR_APP_LOGS_LOG_REPORT_H

#include <oltr/model.h>
#include <stdbool.h>

enum { LOG_BAD_SHOWN = 5, LOG_QUOTE_SIZE = 48 };

struct log_report {
    bool lenient;
    uint64_t bad;                     /* lines that were skipped */
    uint64_t bad_lists;               /* lists that were skipped whole */
    char message[LOG_BAD_SHOWN][256]; /* of the first of both kinds */

    uint64_t rows, lists;         /* read */
    uint64_t queries;             /* of UBI */
    uint64_t decisions, outcomes; /* lines of decision logs: lists, and what was clicked */
    uint64_t learned;             /* lists that the model had not seen */
    uint64_t known;               /* lists that it had learned before this log */
    uint64_t came_back;  /* lists that had been closed in this log, and were not learned again */
    uint64_t forced;     /* lists that were closed because too many were open */
    uint64_t without_id; /* lists that cannot be recognised when they come again */
    uint64_t events, orphans, late, elsewhere, other; /* of UBI: see ubi_log.h */
    uint64_t unseen_skipped, unseen_learned, empty, repeated;
};

/* A bad line.  OLTR_OK: it was counted, go on.  Otherwise OLTR_EDATA with the error set: the file,
 * the line, and the text. */
oltr_status log_bad_line(struct log_report *report, const char *file, uint64_t line,
                         oltr_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same for a list, by its first line. */
oltr_status log_bad_list(struct log_report *report, const char *file, uint64_t line,
                         oltr_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Bytes that may be anything, in a message: shortened, and without control characters. */
const char *log_quote(const void *bytes, size_t size, char out[LOG_QUOTE_SIZE]);

#endif
