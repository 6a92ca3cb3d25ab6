/* data_family.h - the family `oltr data`: its members, and what they share. */
#ifndef OLTR_APP_VERBS_DATA_FAMILY_H
#define OLTR_APP_VERBS_DATA_FAMILY_H

#include "app/verbs/verbs.h"

#include <oltr/sim.h>

/* --threads, --lenient and --most-features. */
int data_read_options(const struct arguments *arguments, oltr_read_options *options);
/* Says what reading met: skipped lines and features that stood twice. */
void data_say_report(const char *file, const oltr_read_report *report);

#endif
