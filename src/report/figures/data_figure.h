/* data_figure.h - the picture of a dataset: its labels, its queries and all its features. */
#ifndef OLTR_REPORT_FIGURES_DATA_FIGURE_H
#define OLTR_REPORT_FIGURES_DATA_FIGURE_H

#include "lab/data/describe.h"
#include "engine/base/text.h"

/* The gnuplot script <file>.gp and its data <file>.csv. */
oltr_status data_figure_script(const char *file, const char *title, const oltr_dataset *dataset,
                               const struct description *description, struct text *script,
                               struct text *data, oltr_error *error);

#endif
