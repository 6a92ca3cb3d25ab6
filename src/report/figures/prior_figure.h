/* prior_figure.h - two pictures of a prior: its calibration, and the error it saves. */
#ifndef OLTR_REPORT_FIGURES_PRIOR_FIGURE_H
#define OLTR_REPORT_FIGURES_PRIOR_FIGURE_H

#include <stdint.h>

#include <oltr/oltr.h>

struct prior_bin { /* documents of similar scores */
    double score, attraction, se;
    uint32_t documents;
};

struct prior_error { /* of the posterior mean, after some observations of each document */
    double observations, prior, honest, base, flat;
};

/* calibration.{gp,csv,svg,png,pdf} in the folder: attraction against score, bars of one standard
 * error. */
oltr_status prior_draw_calibration(const char *folder, const struct prior_bin *bin, uint32_t n,
                                   oltr_error *error);

/* observations.{...}: the error against the number of observations; sizes are for the legend. */
oltr_status prior_draw_errors(const char *folder, const struct prior_error *point, uint32_t n,
                              double claimed, double honest, oltr_error *error);

#endif
