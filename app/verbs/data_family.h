/* data_family.h - the family `oltr data`: its members, and what they share. */
#ifndef OLTR_APP_VERBS_DATA_FAMILY_H
#define OLTR_APP_VERBS_DATA_FAMILY_H

#include "app/args/command.h"

#include <oltr/sim.h>

extern const struct verb data_verbs[]; /* ends with a name of NULL */
extern const struct option data_inspect_options[], data_convert_options[], data_generate_options[];
int cmd_data_inspect(const struct arguments *arguments);
int cmd_data_convert(const struct arguments *arguments);
int cmd_data_generate(const struct arguments *arguments);

/* --threads, --lenient and --most-features. */
int data_read_options(const struct arguments *arguments, oltr_read_options *options);
/* Says what reading met: skipped lines and features that stood twice. */
void data_say_report(const char *file, const oltr_read_report *report);

#endif
