/* belief_figure.h - a picture of what a model believes: one bar for each item, its mean and one and
 * two standard deviations, and the mean of its prior. */
#ifndef OLTR_REPORT_FIGURES_BELIEF_FIGURE_H
#define OLTR_REPORT_FIGURES_BELIEF_FIGURE_H

#include <stdint.h>

#include <oltr/oltr.h>

enum { BELIEF_NAME_SIZE = 256 };
struct belief_bar {
    char name[BELIEF_NAME_SIZE];
    double mean, sd, prior; /* NAN: not known */
};

/* One file, of the kind that its ending names: .svg, .png or .pdf; OLTR_EVALUE for another.  The
 * first item is at the top. */
oltr_status belief_figure_draw(const char *file, const char *title, const struct belief_bar *bar,
                               uint32_t n, oltr_error *error);

#endif
