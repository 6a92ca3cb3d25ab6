/* end_labels.h - the names of curves beside their ends, without overlap. */
#ifndef OLTR_REPORT_FIGURES_END_LABELS_H
#define OLTR_REPORT_FIGURES_END_LABELS_H

#include "report/figures/curves.h"

/* Moves ascending places apart until neighbours have the distance `gap` and all are in [low, high],
 * with the least sum of squared moves.  If high - low is too short for that, they are evenly spaced
 * over it. */
void spread_places(double *place, size_t count, double gap, double low, double high);

/* Whether every curve can have its name beside the plot; otherwise a figure needs a legend. */
bool end_labels_fit(const struct drawing *drawing);

/* Adds margins, names and thin lines from the curves to their names.  width, height: of the figure,
 * in points. */
void end_labels(const struct drawing *drawing, int width, int height, struct text *out);

#endif
