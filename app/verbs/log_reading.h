/* log_reading.h - the options that say how click logs are read, for `oltr model learn` and `oltr
 * ope`. */
#ifndef OLTR_APP_VERBS_LOG_READING_H
#define OLTR_APP_VERBS_LOG_READING_H

#include "app/logs/log_files.h"
#include "app/verbs/verbs.h"

extern const char *const log_format_words[]; /* of --format: LOG_CSV, LOG_JSON */
extern const char *const log_unseen_words[]; /* of --unseen */

/* --columns, --features, --format, --unseen, --wait, --open, --clicks, --impressions and --shown,
 * where the verb has them.  EXIT_OK, or EXIT_USAGE after a message. */
int log_reading_options(const struct arguments *arguments, struct log_files *files);

#endif
