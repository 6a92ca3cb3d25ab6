/* manifest.h - manifest.json: what was run, by which program, on which machine, how fast, and all
 * that `oltr plot` needs to draw the figures again. */
#ifndef OLTR_REPORT_IO_MANIFEST_H
#define OLTR_REPORT_IO_MANIFEST_H

#include "report/claims/claims.h"
#include "report/figures/figure.h"

#include <jansson.h>
#include <oltr/plan.h>

/* Everything that is written. */
struct manifest_record {
    const oltr_plan *plan; /* title, points, sweep and notes; without points: kind concentration */
    const char *file;      /* the experiment file, as it was named */
    uint32_t n_flags;
    const char *const *flag; /* (n_flags) what overrode the file: "--rounds 100" */
    json_t *configuration;   /* the effective one; borrowed */
    json_t *data;            /* what was played, of datasets; borrowed, or NULL */
    uint32_t threads;
    double seconds;
    const oltr_results *results; /* NULL without points */
    uint32_t n_figures;
    const struct figure *figure; /* (n_figures) */
    uint32_t n_claims;
    const struct claim *claim; /* (n_claims) */
};

oltr_status manifest_write(const char *folder, const struct manifest_record *record,
                           oltr_error *error);

/* What is read back. */
struct manifest {
    json_t *json; /* owns the strings */
    bool is_concentration;
    struct figure_scene scene; /* without its results */
    uint32_t n_figures;
    struct figure *figure; /* (n_figures) */
    struct figure_point *point;
    const char **policy;
    uint32_t n_claims;
    struct claim *claim; /* (n_claims) */
};

oltr_status manifest_read(const char *folder, struct manifest *manifest, oltr_error *error);
void manifest_free(struct manifest *manifest);

#endif
