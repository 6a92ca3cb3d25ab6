/* manifest.h - manifest.json: what was run, by which program, on which machine, how fast, and all
 * that `oltr plot` needs to draw the figures again. */
#ifndef OLTR_REPORT_IO_MANIFEST_H
#define OLTR_REPORT_IO_MANIFEST_H

#include "report/claims/claims.h"
#include "report/figures/figure.h"

#include <jansson.h>
#include <oltr/sim.h>

/* Everything that is written.  An experiment without simulation (concentration) has no points and
 * no results. */
struct manifest_record {
    const char *kind, *title;
    const char *file; /* the experiment file, as it was named */
    uint32_t n_flags;
    const char *const *flag; /* (n_flags) what overrode the file: "--rounds 100" */
    json_t *configuration;   /* the effective one; borrowed */
    json_t *data;            /* what was played, of datasets; borrowed, or NULL */
    uint32_t threads;
    double seconds;
    const char *sweep_key;
    const char *const *sweep; /* (n_points), or NULL */
    uint32_t n_points;
    const oltr_experiment *points; /* (n_points) */
    const oltr_results *results;
    uint32_t n_figures;
    const struct figure *figure; /* (n_figures) */
    const char *const *note;     /* (policies) remarks, each or all may be NULL */
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
