/* prior_scores.h - the scores behind the prior of a data set: what offline models say of each test
 * document before the first click.
 *
 * They come from a file, from scorers that are trained now, or from a folder in which an earlier
 * call left those of the same scorers. */
#ifndef OLTR_LAB_PREPARE_PRIOR_SCORES_H
#define OLTR_LAB_PREPARE_PRIOR_SCORES_H

#include "lab/prepare/splits.h"
#include "lab/scorer/scores.h"

struct score_source {
    const oltr_data_plan *plan;
    const struct splits *splits;
    const double *of_grade; /* (GRADES) the attractions that scorers are calibrated to */
    uint64_t seed;
    const oltr_data_options *options; /* threads, folders, what to call */
    uint32_t number; /* from 1: tells the files of several data sets in one folder apart */
    scores_as as;
    struct trained_scores *trained; /* what the last call trained, if it did; first all zero */
};

/* The points of a sweep over `scores_as` need the same scorers. */
struct trained_scores {
    uint64_t cause;
    scores calibrated, raw;
};
void trained_scores_free(struct trained_scores *trained);

/* Scores of every document of the test split, not converted yet (scores_as.h): probabilities where
 * they are read as calibrated, else numbers without a unit.  No models where the plan has no
 * prior. */
oltr_status prior_scores_get(const struct score_source *source, scores *out, oltr_error *error);

/* A checksum of the scores. */
uint64_t scores_digest(const scores *s);

#endif
