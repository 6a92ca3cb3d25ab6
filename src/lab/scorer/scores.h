/* scores.h - scores of offline models for every document, from which priors are made.
 *
 * M models give each document a score in [0,1], the probability that it attracts a click.  Scores
 * come from the scorers of this folder, or from other programs as a CSV file:
 *
 *     query,document,xgboost,lightgbm
 *     16,0,0.31,0.27
 *     16,1,0.02,0.05
 *
 * `query` is the id of the query in the text of the dataset, `document` the place of the document
 * among those of its query, from 0.  There is a header with any names for the models, and one row
 * for every document, in any order. */
#ifndef OLTR_LAB_SCORER_SCORES_H
#define OLTR_LAB_SCORER_SCORES_H

#include <stdio.h>

#include "lab/scorer/scorer.h"

enum { SCORES_MOST_MODELS = 1000 };

typedef struct scores {
    uint32_t n_rows, n_models;
    float *score; /* (n_rows, n_models) row-major; each in [0,1] when a prior is made of them */
} scores;

/* How they become probabilities: see scores_as.h. */
typedef enum scores_as { SCORES_CALIBRATED, SCORES_MINMAX, SCORES_SIGMOID, SCORES_RAW } scores_as;

/* Room for the scores, all zero. */
oltr_status scores_new(uint32_t n_rows, uint32_t n_models, scores *out, oltr_error *error);
void scores_free(scores *s); /* NULL, or all zero, is fine */

/* The file must have exactly the documents of the dataset; errors name the line.  Scores that are
 * read as calibrated must be in [0,1], others must be finite; none is converted here.  The path
 * "-" is standard input. */
oltr_status scores_read_csv(const char *path, const oltr_dataset *dataset, scores_as as,
                            scores *out, oltr_error *error);

/* Writes the file whole or not at all; reading it gives the same bits.  The models are called m1,
 * m2, ... */
oltr_status scores_write_csv(const scores *s, const oltr_dataset *dataset, const char *path,
                             oltr_error *error);
/* The same lines to an open stream, which is not flushed; the scores are those of this dataset, and
 * `name` is for messages. */
oltr_status scores_print_csv(const scores *s, const oltr_dataset *dataset, FILE *stream,
                             const char *name, oltr_error *error);

/* How far the training of an ensemble is. */
typedef struct scores_progress {
    uint32_t models, done; /* scorers asked for, and finished */
    uint64_t epochs;       /* run so far, by all scorers */
    double share;          /* of the whole work, estimated from the scorers that have ended */
    double ndcg;           /* mean over the scorers of their best NDCG@10 on validation queries */
    double seconds;
} scores_progress;

typedef struct scores_options {
    uint32_t models, threads; /* scorers to train, and how many at a time */
    scorer_options scorer;    /* its seed is the seed of the ensemble */
    /* Called by the calling thread, and once when all is done; NULL: never. */
    void (*progress)(void *context, const scores_progress *state);
    double every;               /* seconds between two calls of it */
    int (*stop)(void *context); /* called by any thread; not 0: give up.  NULL: never */
    void *context;
    scores *raw; /* NULL, or gets the outputs of the networks before calibration, to be freed */
} scores_options;

/* Trains the scorers, each on a random half of the training queries, and scores every document of
 * `test` with each of them.  The other half joins the validation queries for the calibration.  The
 * scores do not depend on the number of threads. */
oltr_status scores_train(const oltr_dataset *train, const oltr_dataset *vali,
                         const oltr_dataset *test, const scores_options *options, scores *out,
                         oltr_error *error);

/* The prior of each document from its M scores s_1 .. s_M:
 *
 *   Beta(a, b)   a = s_1 + ... + s_M,  b = M - a
 *   mean         a / M
 *   sd           the standard deviation of the scores (divisor M - 1), at least SCORE_LEAST_SD;
 *                for M = 1 that of Beta(a, b)
 *
 * Scores are first moved into [SCORE_MARGIN, 1 - SCORE_MARGIN], because a prior of exactly 0 or 1
 * cannot learn.  SCORE_LEAST_SD has the same reason: models of one kind agree more with each other
 * than with the truth.  Each array has n_rows elements; any of them may be NULL. */
#define SCORE_MARGIN 1e-3
#define SCORE_LEAST_SD 1e-2
void scores_prior(const scores *s, double *a, double *b, double *mean, double *sd);

#endif
