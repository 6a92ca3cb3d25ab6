/* prior_scores.h - what is thought of the test documents before the first click: the scores of
 * offline models.
 *
 * They come from a file, from scorers that are trained now, or from the folder of results where an
 * earlier run has left those of the same scorers. */
#ifndef OLTR_APP_RUN_PRIOR_SCORES_H
#define OLTR_APP_RUN_PRIOR_SCORES_H

#include "app/run/prepare.h"
#include "scorer/scores.h"
#include "app/run/splits.h"

/* Scores of every document of the test split; no models where the plan has no prior.  `of_grade`
 * (256) is what the scorers are calibrated to, `number`, from 1, distinguishes the files of several
 * sets in one folder. */
oltr_status belief_get(const oltr_data_plan *plan, const struct splits *splits,
                       const double *of_grade, uint64_t seed, const struct prepare_options *options,
                       uint32_t number, scores *out, oltr_error *error);

#endif
