/* data_family.h - what the commands of `oltr data` and `oltr prior` share. */
#ifndef OLTR_APP_VERBS_DATA_FAMILY_H
#define OLTR_APP_VERBS_DATA_FAMILY_H

#include "app/verbs/verbs.h"

#include <oltr/sim.h>

/* --threads, --lenient and --most-features. */
int data_read_options(const struct arguments *arguments, oltr_read_options *options);
/* Says what was wrong with a file that was read: skipped lines and repeated features. */
void data_say_report(const char *file, const oltr_read_report *report);

#endif
