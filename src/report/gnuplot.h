/* gnuplot.h - hands a script to gnuplot and takes the pictures back. */
#ifndef REPORT_GNUPLOT_H
#define REPORT_GNUPLOT_H

#include "report/text.h"

#include <oltr/oltr.h>

/* Leaves <name>.gp, .csv, .svg, .png and .pdf in the folder, or none of them. */
oltr_status gnuplot_draw(const char *folder, const char *name, const struct text *script, const struct text *data,
                         oltr_error *error);

#endif
