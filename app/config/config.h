/* config.h - an experiment file, read and checked before anything runs: the plan (src/lab/plan),
 * and the figures and claims that the program adds to it.  No other file is opened. */
#ifndef OLTR_APP_CONFIG_CONFIG_H
#define OLTR_APP_CONFIG_CONFIG_H

#include "lab/plan/plan_internal.h"
#include "report/claims/claims.h"
#include "report/figures/density.h"
#include "report/figures/figure.h"

struct config {
    oltr_plan *plan;       /* the document and its points; NULL: nothing was opened */
    bool is_concentration; /* of kind concentration: no points, nothing is simulated */
    uint32_t n_figures;
    const struct figure *figures; /* (n_figures) */
    uint32_t n_claims;
    const struct claim *claims;         /* (n_claims) what the paper says of the figures */
    struct concentration concentration; /* of that kind */
    struct pool pool;                   /* owns the figures and claims */
};

/* Parses the document.  `name` is for messages, which read "name:line:column: what is wrong; what
 * to do".  config_free() must follow, also after an error. */
oltr_status config_open(const char *name, const char *text, size_t length, struct config *config,
                        oltr_error *error);
/* Applies the overrides to an opened document, and reads and checks all of it. */
oltr_status config_read(struct config *config, const struct overrides *overrides,
                        oltr_error *error);
void config_free(struct config *config);

#endif
