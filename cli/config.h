/* config.h - an experiment file, read and checked whole before anything runs. */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "data/normaliser.h"
#include "pool.h"
#include "report/claims.h"
#include "report/density.h"
#include "report/figure.h"
#include "tree.h"

#include <oltr/sim.h>

enum config_kind { CONFIG_REGRET, CONFIG_CONCENTRATION };

/* What flags change; each entry overrides the file, later ones override earlier ones. */
struct overrides {
    uint32_t count;
    const struct override *item; /* (count) */
};

/* What a world of kind dataset is to be made of.  Reading a file makes plans only; prepare.h makes them true. */
struct data_plan {
    const char *folder;              /* with train.txt, vali.txt and test.txt; NULL: generated */
    const char *shape;               /* of the generated set; NULL: none, there must be a folder */
    uint32_t generated[3];           /* its queries for training, validation and testing */
    uint32_t queries;                /* at most so many of the test queries are played; 0: all */
    const char *grades;              /* how they become attractions */
    uint32_t largest_grade;          /* where their scale ends; 0: at the largest of the data */
    enum normaliser_kind normaliser; /* of the features that policies get */
    const char *scores;              /* a CSV file of scores; NULL: rankers are trained */
    uint32_t rankers;                /* how many; 0: no prior is told */
};

struct config {
    enum config_kind kind;
    const char *title;
    const struct node *root; /* the effective document: the file with its overrides */
    uint32_t n_points;
    const oltr_experiment *points; /* (n_points) */
    const struct data_plan *plan;  /* (n_points) of worlds of kind dataset; of others all zero */
    const char *sweep_key;         /* NULL without a sweep */
    const char *const *sweep;      /* (n_points) the swept values, or NULL */
    uint32_t n_figures;
    const struct figure *figures; /* (n_figures) */
    const char *const *note;      /* (policies of a point) what is special about each, or NULL */
    uint32_t n_claims;
    const struct claim *claims;         /* (n_claims) what the paper says of the figures */
    struct concentration concentration; /* of that kind */
    struct pool pool;                   /* everything above lives in here */
};

/* Does this point's world still have to be made? */
bool config_needs_data(const struct config *config, uint32_t point);

/* Reads an experiment, and no other file.  `name` is for messages, which read "name:line:column: what is wrong; what to do".  Whatever
 * comes back, config_free() must follow. */
oltr_status config_parse(const char *name, const char *text, size_t length, const struct overrides *overrides,
                         struct config *out, oltr_error *error);
void config_free(struct config *config);

#endif
