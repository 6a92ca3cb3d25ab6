/* density.h - how sharply the Beta and the Gaussian posterior concentrate after the same clicks
 * (the paper's figure fig:BvsGPost).  Nothing is simulated: every number is a sum or a formula. */
#ifndef OLTR_REPORT_FIGURES_DENSITY_H
#define OLTR_REPORT_FIGURES_DENSITY_H

#include "report/figures/figure.h"

struct concentration {
    uint32_t n_attractions;
    const double *attraction; /* (n_attractions) each in [0,1] */
    uint32_t observations;
    uint32_t n_sigmas;
    const double *sigma; /* (n_sigmas) each > 0 */
};

/* attraction,posterior,x,density */
void density_csv(const struct concentration *concentration, struct text *out);

/* attraction,posterior,mean,sd,entropy,width95,coverage95 */
void density_summary(const struct concentration *concentration, struct text *out);

/* The script of the figure, one panel for each attraction, and its data, from the density.csv of a
 * folder. */
oltr_status density_script(const char *folder, const struct figure *figure, struct text *script,
                           struct text *data, oltr_error *error);

#endif
