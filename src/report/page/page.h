/* page.h - index.html and its data. */
#ifndef OLTR_REPORT_PAGE_PAGE_H
#define OLTR_REPORT_PAGE_PAGE_H

#include "report/report.h"

/* Everything that the page shows (docs/formats.md, page.json); NULL without memory.  *missing
 * counts the figures that were not drawn. */
json_t *page_json(const struct report *report, uint32_t *missing);

/* The array with a number of so many digits added; null for one that is not finite. */
json_t *with_number(json_t *array, double value, int digits);

/* The interactive plots of one figure; NULL if the results do not have its curves, or without
 * memory. */
json_t *page_plots(const struct report_experiment *experiment, const struct figure *figure);

/* Adds the SVG of a figure, without what cannot be seen, compressed (zlib) and as base64. */
void page_svg(const char *svg, struct text *out);

/* Writes page.json, and index.html with the same JSON inside. */
oltr_status page_write(const struct report *report, uint32_t *missing, oltr_error *error);

#endif
