/* prior_quality.h - how good a prior is, measured on judged documents.
 *
 * Two questions.  Is its order good: NDCG, beside a random order and the best single feature.  And
 * are its probabilities honest: log-loss and calibration against the attraction t of each document,
 * and the sample size that its errors allow it to claim.
 *
 * A prior Beta(a, b) with mean m and size n = a + b claims that the truth lies around m with
 * variance m (1 - m) / (n + 1).  So
 *
 *   claimed size   n = M, the number of models
 *   spread size    sum of m (1 - m) / sum of the variance between the models - 1: what their
 * agreement would suggest honest size    sum of m (1 - m) / sum of (m - t)^2 - 1: what their errors
 * on this data allow; 0 when even that is too much
 *
 * A prior that claims more than its honest size must be unlearned.  After k observations of a
 * document the prior's share in the posterior mean is n / (n + k): a half after n observations, a
 * tenth after 9 n; then it is forgotten.  What it is worth is measured by the expected squared
 * error of the posterior mean after k observations of each document, (n^2 (m - t)^2 + k t (1 - t))
 * / (n + k)^2, beside that of the flat prior Beta(1,1).
 */
#ifndef OLTR_SCORER_PRIOR_QUALITY_H
#define OLTR_SCORER_PRIOR_QUALITY_H

#include "scorer/ndcg.h"
#include "scorer/scores.h"

enum { CHECK_CUTS = 3, CHECK_BINS = 10, CHECK_POINTS = 21 };
extern const uint32_t check_cuts[CHECK_CUTS]; /* 1, 5, 10: where NDCG is cut */
extern const uint32_t
    check_points[CHECK_POINTS]; /* observations at which errors are computed, from 0 */

typedef struct check_order {
    double ndcg[CHECK_CUTS], se[CHECK_CUTS]; /* standard error over queries */
} check_order;

typedef struct check_bin {
    uint32_t n;               /* documents */
    double low, high;         /* the scores in it */
    double score, attraction; /* their means */
    double se; /* standard error of the mean attraction, documents taken as independent */
} check_bin;

typedef struct check_error {
    double prior, honest, base, flat; /* root of the mean squared error of the posterior mean: of
                                         the prior as it stands, with its honest size, of the base
                                         rate with the claimed size, and of Beta(1,1) */
} check_error;

typedef struct prior_check {
    uint32_t n_queries, n_counted, n_rows,
        n_models; /* n_counted: queries with a relevant document */
    check_order mean,
        single;         /* the order by the mean score; the mean over the models, each by itself */
    check_order random; /* equal scores */
    check_order
        feature; /* the best single feature on this data, chosen with hindsight by NDCG@10 */
    uint32_t feature_id; /* from 1 */
    int feature_falls;   /* small values first */
    double base_rate, mean_score;
    double log_loss;         /* mean cross-entropy of the mean score to the attraction, in nats */
    double log_loss_base;    /* of the base rate for every document */
    double log_loss_feature; /* of the best feature, calibrated on this very data */
    double log_loss_truth;   /* of the attraction itself: no score can be below */
    double
        calibration_error; /* mean over the bins of |score - attraction|, weighted by documents */
    uint32_t n_bins;
    check_bin bin[CHECK_BINS]; /* documents in order of their score, in groups of equal size */
    double gauss_half;  /* of the same prior as mean and sd: observations of variance 1/4 until its
                          share is a half; the  median over the documents of (1/4) / sd^2 */
    double honest_base; /* the honest size of the base rate for every document: what knowing nothing
                           else is worth */
    double claimed_size, spread_size, honest_size; /* spread_size: NaN for one model */
    check_error error[CHECK_POINTS];
    double worth; /* observations of each document after which the flat prior errs as little as this
                     one before any */
    double helps_until; /* observations of each document after which the flat prior errs less than
                           this one; both: INFINITY when not within MOST_OBSERVATIONS */
} prior_check;

enum { MOST_OBSERVATIONS = 100000 };

/* `attraction` of each grade (GRADES).  The scores are those of this dataset. */
oltr_status prior_check_run(const oltr_dataset *dataset, const scores *s, const double *attraction,
                            prior_check *out, oltr_error *error);

/* The feature with the best mean NDCG@k on the given queries, in either direction; `score` (n_rows)
 * and `room` are work space. */
void best_feature(const oltr_dataset *dataset, uint32_t k, float *score, ranked *room,
                  uint32_t *feature, int *falls);
/* Its values as scores. */
void feature_scores(const oltr_dataset *dataset, uint32_t feature, int falls, float *score);

#endif
