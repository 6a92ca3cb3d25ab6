/* prior_quality.h - how good a prior is, measured on judged documents.
 *
 * Its order is measured by NDCG, and compared with a random order and with the best single feature.
 * Its probabilities are measured by log-loss and calibration against the attraction t of each
 * document, and by its effective sample size.
 *
 * A prior Beta(a, b) with mean m and size n = a + b says that the truth lies around m with variance
 * m (1 - m) / (n + 1).  Hence three sizes:
 *
 *   claimed   n = M, the number of models
 *   spread    sum of m (1 - m) / sum of the variance between the models - 1
 *   honest    sum of m (1 - m) / sum of (m - t)^2 - 1, at least 0
 *
 * The honest size follows from the errors on this data.  A prior that claims more is too certain,
 * and data must correct it.  After k observations of a document the weight of the prior in the
 * posterior mean is n / (n + k): one half after n observations, one tenth after 9 n.  Its worth is
 * measured by the expected squared error of the posterior mean after k observations of each
 * document, compared with that of the flat prior Beta(1,1):
 *
 *   (n^2 (m - t)^2 + k t (1 - t)) / (n + k)^2
 */
#ifndef OLTR_LAB_SCORER_PRIOR_QUALITY_H
#define OLTR_LAB_SCORER_PRIOR_QUALITY_H

#include "lab/scorer/ndcg.h"
#include "lab/scorer/scores.h"

enum { CHECK_CUTS = 3, CHECK_BINS = 10, CHECK_POINTS = 21 };
extern const uint32_t check_cuts[CHECK_CUTS];     /* 1, 5, 10: where NDCG is cut */
extern const uint32_t check_points[CHECK_POINTS]; /* observations, from 0, where errors are taken */

typedef struct check_order {
    double ndcg[CHECK_CUTS], se[CHECK_CUTS]; /* standard error over queries */
} check_order;

typedef struct check_bin {
    uint32_t n;               /* documents */
    double low, high;         /* the scores in it */
    double score, attraction; /* their means */
    double se; /* standard error of the mean attraction, documents taken as independent */
} check_bin;

/* Root mean squared error of the posterior mean. */
typedef struct check_error {
    double prior, honest; /* of the prior with its claimed size, and with its honest size */
    double base, flat;    /* of the base rate with the claimed size, and of Beta(1,1) */
} check_error;

typedef struct prior_check {
    uint32_t n_queries, n_rows, n_models;
    uint32_t n_counted;  /* queries with a relevant document */
    check_order mean;    /* the order by the mean score */
    check_order single;  /* the order by a single model, mean over the models */
    check_order random;  /* equal scores */
    check_order feature; /* the best single feature by NDCG@10 on this same data */
    uint32_t feature_id; /* from 1 */
    bool feature_falls;  /* small values first */
    double base_rate, mean_score;
    double log_loss;          /* mean cross-entropy of the mean score to the attraction, in nats */
    double log_loss_base;     /* of the base rate for every document */
    double log_loss_feature;  /* of the best feature, calibrated on this data */
    double log_loss_truth;    /* of the attraction itself: no score can be below */
    double calibration_error; /* mean over the documents of |score - attraction| of their bin */
    uint32_t n_bins;
    check_bin bin[CHECK_BINS]; /* documents in order of their score, in groups of equal size */
    /* Of the same prior as mean and sd: observations of variance 1/4 until its weight is one half,
     * (1/4) / sd^2, median over the documents. */
    double gauss_half;
    double honest_base; /* the honest size of the base rate for every document */
    double claimed_size, spread_size, honest_size; /* spread_size: NaN for one model */
    check_error error[CHECK_POINTS];
    /* Observations of each document after which the flat prior errs no more than this prior without
     * any (worth), and less than this prior after as many (helps_until).  INFINITY beyond
     * MOST_OBSERVATIONS. */
    double worth, helps_until;
} prior_check;

enum { MOST_OBSERVATIONS = 100000 };

/* `attraction` of each grade (GRADES).  The scores are those of this dataset. */
oltr_status prior_check_run(const oltr_dataset *dataset, const scores *s, const double *attraction,
                            prior_check *out, oltr_error *error);

/* The feature with the best mean NDCG@k on the given queries, in either direction; `score` (n_rows)
 * and `room` are work space. */
void best_feature(const oltr_dataset *dataset, uint32_t k, float *score, ranked *room,
                  uint32_t *feature, bool *falls);
/* Its values as scores. */
void feature_scores(const oltr_dataset *dataset, uint32_t feature, bool falls, float *score);

#endif
