/* gnuplot.h - hands a script to gnuplot and takes the pictures back. */
#ifndef OLTR_REPORT_FIGURES_GNUPLOT_H
#define OLTR_REPORT_FIGURES_GNUPLOT_H

#include "engine/base/text.h"

#include <oltr/oltr.h>

/* Leaves <name>.gp, .csv, .svg, .png and .pdf in the folder, or none of them. */
oltr_status gnuplot_draw(const char *folder, const char *name, const struct text *script,
                         const struct text *data, oltr_error *error);

#endif
