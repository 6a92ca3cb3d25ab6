/* decisions.h - the decision log of `oltr model rank --log`: every list that was shown, with its
 * candidates and chances, and what was clicked (docs/formats.md). */
#ifndef OLTR_APP_VERBS_DECISIONS_H
#define OLTR_APP_VERBS_DECISIONS_H

#include "app/verbs/verbs.h"

#include <oltr/model.h>

struct decisions;

/* The file of --log, to append to; *out is NULL without the option.  An exit code, after a message.
 */
int decisions_open(const struct arguments *arguments, struct decisions **out);
int decisions_close(struct decisions *log, int code); /* log may be NULL */

/* Computes the chances of the list and writes its line at once.  Kinds without exact chances, and
 * lists with bounds on fresh items, get none; the first such line is reported. */
oltr_status decisions_add(struct decisions *log, oltr_decision *decision, bool fresh_bounds,
                          oltr_error *error);
/* What was clicked.  The model has changed: chances that were kept are dropped. */
oltr_status decisions_add_outcome(struct decisions *log, const oltr_lesson *lesson,
                                  oltr_error *error);

#endif
