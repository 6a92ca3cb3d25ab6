/* density.h - how sharply the Beta and the Gaussian posterior concentrate after the same clicks
 * (the paper's figure fig:BvsGPost).  Nothing is simulated: every number is a sum or a formula. */
#ifndef OLTR_REPORT_FIGURES_DENSITY_H
#define OLTR_REPORT_FIGURES_DENSITY_H

#include "report/figures/figure.h"
#include "report/figures/style.h"

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

/* The content of density.csv.  Panel p, posterior q, point i is
 * row[(p * n_posteriors + q) * n_points + i]. */
struct density_row {
    const char *attraction, *posterior;
    double x, density;
};
enum { MAX_POSTERIORS = 8 };
struct density_panels {
    const struct density_row *row; /* (count) */
    size_t count, n_panels, n_posteriors, n_points;
    double high; /* the highest density */
    struct csv_rows file;
};

/* csv_free(&panels->file) either way. */
oltr_status density_read(const char *folder, struct density_panels *panels, oltr_error *error);
const struct density_row *density_at(const struct density_panels *panels, size_t panel,
                                     size_t posterior, size_t point);
void density_styles(const struct density_panels *panels, struct style style[MAX_POSTERIORS]);

/* The script of the figure, one panel for each attraction, and its data, from the density.csv of a
 * folder. */
oltr_status density_script(const char *folder, const struct figure *figure, struct text *script,
                           struct text *data, oltr_error *error);

#endif
