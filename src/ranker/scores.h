/* scores.h - what offline models say of every document: the raw material of a prior.
 *
 * M models give each document a score in [0,1], the chance that it is attractive.  They come from the rankers of this folder, or from
 * anywhere else as a CSV file:
 *
 *     query,document,xgboost,lightgbm
 *     16,0,0.31,0.27
 *     16,1,0.02,0.05
 *
 * `query` is the id of the query in the text of the dataset, `document` the place of the document among those of its query, from 0.  One
 * row for every document, in any order; a header; any names for the models.
 */
#ifndef OLTR_RANKER_SCORES_H
#define OLTR_RANKER_SCORES_H

#include <oltr/sim.h>

#include "base/error.h"

enum { SCORES_MOST_MODELS = 1000 };

typedef struct scores {
    uint32_t n_rows, n_models;
    float *score; /* (n_rows, n_models) row-major; each in [0,1] */
} scores;

/* Room for the scores, all zero. */
oltr_status scores_new(uint32_t n_rows, uint32_t n_models, scores *out, oltr_error *error);
void scores_free(scores *s); /* NULL, or all zero, is fine */

/* Exactly the documents of the dataset, or an error that names the line.  The path "-" is standard input. */
oltr_status scores_read_csv(const char *path, const oltr_dataset *dataset, scores *out, oltr_error *error);

/* Whole or not at all; what is read back has the same bits.  The models are called m1, m2, ...  The path "-" is standard output. */
oltr_status scores_write_csv(const scores *s, const oltr_dataset *dataset, const char *path, oltr_error *error);

/* The prior of each document, from its M scores s_1 .. s_M, each first moved into [SCORE_MARGIN, 1 - SCORE_MARGIN], because a model
 * that says "never" or "always" would leave nothing to learn:
 *
 *   Beta(a, b)   a = s_1 + ... + s_M,  b = M - a     M observations' worth of belief
 *   mean         a / M
 *   sd           the standard deviation of the scores (divisor M - 1), at least SCORE_LEAST_SD: models of one kind agree more with each
 *                other than with the truth, and a belief without width could not learn.  With M = 1 there is no spread to see: the
 *                standard deviation of Beta(a, b).
 *
 * Each array has n_rows elements; any of them may be NULL. */
#define SCORE_MARGIN 1e-3
#define SCORE_LEAST_SD 1e-2
void scores_prior(const scores *s, double *a, double *b, double *mean, double *sd);

#endif
