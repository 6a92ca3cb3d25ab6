/* config.h - an experiment file, read and checked whole before anything runs: the plan
 * (src/lab/plan), and the figures and claims that the program adds to it. */
#ifndef OLTR_APP_CONFIG_CONFIG_H
#define OLTR_APP_CONFIG_CONFIG_H

#include "lab/plan/plan_internal.h"
#include "report/claims/claims.h"
#include "report/figures/density.h"
#include "report/figures/figure.h"
#include "app/config/tree_json.h"

enum config_kind { CONFIG_REGRET, CONFIG_CONCENTRATION };

struct config {
    enum config_kind kind;
    const char *title;
    const struct node *root; /* the effective document: the file with its overrides */
    uint32_t n_points;
    const oltr_experiment *points; /* (n_points) */
    const oltr_data_plan *plan;    /* (n_points) of worlds of kind dataset; of others all zero */
    const char *sweep_key;         /* NULL without a sweep */
    const char *const *sweep;      /* (n_points) the swept values, or NULL */
    uint32_t n_figures;
    const struct figure *figures; /* (n_figures) */
    const char *const *note;      /* (policies of a point) what is special about each, or NULL */
    uint32_t n_claims;
    const struct claim *claims;         /* (n_claims) what the paper says of the figures */
    struct concentration concentration; /* of that kind */
    oltr_plan *source;                  /* what the points, the title and the document belong to */
    struct pool pool;                   /* figures and claims live in here */
};

/* Does this point's world still have to be made? */
bool config_needs_data(const struct config *config, uint32_t point);

/* Reads an experiment, and no other file.  `name` is for messages, which read "name:line:column:
 * what is wrong; what to do".  Whatever comes back, config_free() must follow. */
oltr_status config_parse(const char *name, const char *text, size_t length,
                         const struct overrides *overrides, struct config *out, oltr_error *error);
void config_free(struct config *config);

#endif
