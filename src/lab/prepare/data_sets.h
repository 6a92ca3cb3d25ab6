/* data_sets.h - the data of worlds of kind dataset: read or generated, normalised, with attractions
 * and the prior of every document.  Points of a sweep that need the same data share one set. */
#ifndef OLTR_LAB_PREPARE_DATA_SETS_H
#define OLTR_LAB_PREPARE_DATA_SETS_H

#include "lab/prepare/fitted_models.h"
#include "lab/prepare/prior_scores.h"

struct data_set {
    const oltr_data_plan *plan; /* of its first point; of the oltr_plan */
    uint64_t seed;
    uint32_t slots;
    oltr_dataset *played;                   /* the chosen queries, with the features of policies */
    double *attraction, *a, *b, *mean, *sd; /* (rows) in one block */
    uint32_t n_models;                      /* scores behind the prior; 0: no prior */
    uint32_t raw_dim, test_queries, largest_grade;
    uint32_t enough;                /* test queries with a document for every slot */
    uint32_t alike;                 /* queries whose documents all have the same grade */
    uint64_t digest, scores_digest; /* of the texts and scores that were read; 0: none were */
};

struct data_sets {
    uint32_t n_sets;
    struct data_set *set; /* (n_sets) */
    uint32_t n_fitted;
    struct fitted_models *fitted; /* (n_fitted) of worlds of kind fitted */
    struct trained_scores trained;
};

/* Room for the sets of a plan; false without memory. */
bool data_sets_make(struct data_sets *all, const oltr_plan *plan);
void data_sets_clear(struct data_sets *all);

/* The set of a point: one that is there already, or a new one without data. */
struct data_set *data_set_of(const oltr_plan *plan, uint32_t point, struct data_sets *all,
                             bool *is_new);

/* Loads the data of a new set, the last one of `all`.  `options`: threads is not 0. */
oltr_status data_set_load(struct data_set *set, struct data_sets *all,
                          const oltr_data_options *options, oltr_error *error);

/* The click models of a point of kind fitted: those that are there already, or new ones without
 * anything read. */
struct fitted_models *fitted_models_of(const oltr_plan *plan, uint32_t point, struct data_sets *all,
                                       bool *is_new);

/* What oltr_plan_load_data() has loaded; NULL: nothing. */
const struct data_sets *plan_loaded(const oltr_plan *plan);

#endif
