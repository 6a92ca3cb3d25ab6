/* forest_figure.h - estimates of several policies with their intervals, one row for each, beside
 * the value that was measured. */
#ifndef OLTR_REPORT_FIGURES_FOREST_FIGURE_H
#define OLTR_REPORT_FIGURES_FOREST_FIGURE_H

#include <stdbool.h>
#include <stdint.h>

#include <oltr/oltr.h>

struct forest_row {
    const char *group, *name;
    double value, low, high; /* NAN: not known; the figure says so in words */
    bool doubtful;           /* there is a warning: an open point */
};

struct forest {
    const char *title, *axis;
    const char *measured; /* what the band is */
    double value, low, high;
    uint32_t n;
    const struct forest_row *row; /* (n) the rows of a group are adjacent */
};

/* Leaves <name>.gp, .csv, .svg, .png and .pdf in the folder. */
oltr_status forest_figure_draw(const char *folder, const char *name, const struct forest *forest,
                               oltr_error *error);

#endif
