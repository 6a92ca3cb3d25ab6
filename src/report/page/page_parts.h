/* page_parts.h - the pieces of the page, one writer each.  Private to page*.c. */
#ifndef OLTR_REPORT_PAGE_PAGE_PARTS_H
#define OLTR_REPORT_PAGE_PAGE_PARTS_H

#include "report/report.h"

/* One figure with its claims, files and text; *missing counts what could not be shown. */
oltr_status page_figure(const struct report_experiment *experiment, const struct figure *figure,
                        struct text *out, uint32_t *missing, oltr_error *error);

/* "experiment-figure", the name to link to; `figure` NULL: the experiment. */
void page_anchor(struct text *out, const char *experiment, const char *figure);

/* What the tests of one figure found; figure NULL: of those that belong to none. */
void page_claims(const struct report_experiment *experiment, const char *figure, struct text *out);
/* "holds" as a coloured word. */
void page_verdict(struct text *out, enum claim_verdict verdict);

/* Ranking and pairs of one experiment; false without memory. */
bool page_ranking(const struct report_experiment *experiment, struct text *out);
/* Every policy "X (released)" beside its "X". */
void page_released(const struct report *report, struct text *out);

#endif
