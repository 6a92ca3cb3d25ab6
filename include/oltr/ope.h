/* ope.h - off-policy evaluation: what would another policy have earned on this log?  Part of
 * liboltr-lab; link with -loltr-lab -loltr.
 *
 * A log has n lists of up to k slots, the reward of each slot, and how likely the logging policy
 * was to show what it showed.  The evaluated policy enters by the same chances.  The value of a
 * policy is the mean, over lists, of the sum of the rewards of a list.
 *
 * Let w(1..l) be the ratio of the chances, evaluated over logged, that a list begins with the l
 * items shown, w(l) the ratio of the chances of the item of slot l in this slot, r the rewards:
 *
 *   sips     mean of w(1..K) (r_1 + ... + r_K)      unbiased under any click model
 *   iips     mean of sum_l w(l) r_l                 if a click depends on item and slot only
 *   rips     mean of sum_l w(1..l) r_l              if it does not depend on the slots below
 *   snsips, sniips, snrips                          the same, divided by the mean of the weights,
 *                                                   of each slot for the last two; biased by O(1/n)
 *   dr       mean of sum_l w(1..l-1) v_l + w(1..l) (r_l - q_l)       as rips, for any q
 *   dm       mean of v_1                            if q is right
 *   replay   mean reward of the lists with `match`  if matches are independent of rewards
 *
 * q_l is a model's prediction of the rewards from slot l on, given the items down to slot l; v_l
 * its expectation when the evaluated policy chooses the item of slot l.  All need that the logging
 * policy may show whatever the evaluated one may.  docs/off-policy.md says when not to use which.
 */
#ifndef OLTR_OPE_H
#define OLTR_OPE_H

#include <oltr/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum oltr_ope_estimator {
    OLTR_OPE_SIPS,
    OLTR_OPE_IIPS,
    OLTR_OPE_RIPS,
    OLTR_OPE_SNSIPS,
    OLTR_OPE_SNIIPS,
    OLTR_OPE_SNRIPS,
    OLTR_OPE_DR,
    OLTR_OPE_DM,
    OLTR_OPE_REPLAY,
    OLTR_OPE_ESTIMATORS /* their number */
} oltr_ope_estimator;

/* "sips", ...; NULL beyond the last. */
OLTR_API const char *oltr_ope_name(oltr_ope_estimator estimator);
/* OLTR_EKIND, with the nearest name, for an unknown one. */
OLTR_API oltr_status oltr_ope_find(const char *name, oltr_ope_estimator *out, oltr_error *error);

/* Arrays are (n, k) row-major, and may be NULL where the estimator does not read them.  What is
 * beyond the length of a list is not read. */
typedef struct oltr_ope_log {
    uint64_t n;                     /* lists, at least 2 */
    uint32_t k;                     /* slots */
    uint32_t logs;                  /* 1: the chances are natural logarithms; evaluated may be
                                       -INFINITY */
    const uint32_t *length;         /* (n) slots of each list, 1 to k; NULL: k */
    const double *reward;           /* finite */
    const double *logged_prefix;    /* above 0: a list begins with the items down to this slot */
    const double *evaluated_prefix; /* from 0 on */
    const double *logged_slot;      /* above 0: this item is in this slot */
    const double *evaluated_slot;   /* from 0 on */
    const double *q;                /* for dr */
    const double *v;                /* for dr and dm */
    const uint8_t *match;           /* (n) for replay: 1 where the evaluated policy shows it too */
    const void *reserved[OLTR_RESERVED]; /* NULL */
} oltr_ope_log;

typedef enum oltr_ope_interval {
    OLTR_OPE_BOOTSTRAP, /* percentiles over resampled lists; each list has Poisson(1) copies */
    OLTR_OPE_BERNSTEIN, /* empirical Bernstein; wide, and right for any n if `bound` is; not for the
                           self-normalised forms and replay, which are no means */
    OLTR_OPE_NORMAL     /* value +- z standard errors */
} oltr_ope_interval;

/* A zero-filled struct gives the defaults. */
typedef struct oltr_ope_options {
    uint32_t size;       /* sizeof(oltr_ope_options); 0 means that of version 0.1 */
    uint32_t interval;   /* oltr_ope_interval */
    uint32_t bootstrap;  /* resamples; 0 means 1000, at most 1,000,000 */
    uint32_t reserved32; /* 0 */
    uint64_t seed;       /* of the resamples */
    double confidence;   /* 0 means 0.95; else inside (0, 1) */
    double bound;        /* for Bernstein: the largest minus the smallest term that a list can have.
                            0: those of this log, which makes the interval an approximation */
    int (*stop)(void *context); /* NULL, or called many times a second: non-zero ends the call with
                                   OLTR_EINTERRUPTED */
    void *context;              /* for stop() */
    uint64_t reserved[2];
} oltr_ope_options;

enum { OLTR_OPE_WARNING = 512 };

/* Weights are those of the whole list for sips, snsips and replay, else those of the slot with the
 * smallest effective size; dm has none, and its numbers about weights are NAN. */
typedef struct oltr_ope_result {
    double value;         /* NAN: no list has any weight, and there is nothing to estimate from */
    double se;            /* standard error; of ratios by the delta method */
    double low, high;     /* the interval; NAN: too many resamples have no list with weight */
    double ess;           /* effective lists: (sum of weights)^2 / sum of squares */
    double mean_weight;   /* its expectation is 1 */
    double largest;       /* weight; DBL_MAX beyond it */
    double largest_share; /* of the sum of weights */
    double zero_share;    /* lists of weight 0 */
    uint32_t slot;        /* from 1, that the weights are of; 0: of the whole list */
    uint32_t reserved32;
    uint64_t n;                     /* lists */
    char warning[OLTR_OPE_WARNING]; /* sentences; "" if there is nothing to say */
    uint64_t reserved[4];
} oltr_ope_result;

/* Estimates the value of the evaluated policy.  OLTR_EVALUE names the list (from 0) and slot (from
 * 1) of a number that cannot be.  options may be NULL.  The same bits for the same arguments. */
OLTR_API oltr_status oltr_ope_estimate(const oltr_ope_log *log, oltr_ope_estimator estimator,
                                       const oltr_ope_options *options, oltr_ope_result *result,
                                       oltr_error *error);

/* ---- the chances of a model: what an oltr_ope_log needs of the evaluated policy */

/* How lists would be made. */
typedef struct oltr_ope_policy {
    uint32_t size;   /* sizeof(oltr_ope_policy), or 0 */
    uint32_t greedy; /* 1: by the mean of the belief, without drawing */
    uint32_t draws;  /* 0: exact chances, for the kinds that have them (oltr_model_propensity());
                        above 0: the shares of so many lists, drawn anew for each list of the log.
                        Estimates stay unbiased, as these draws do not depend on rewards */
    uint32_t reserved32;
    uint64_t seed;        /* of draws and of `match` */
    uint64_t cache_bytes; /* chances that are kept for lists that come again; 0: 64 MiB */
    uint64_t reserved[4];
} oltr_ope_policy;

/* A list of a log. */
typedef struct oltr_ope_shown {
    oltr_list candidates;  /* of the request, as for oltr_model_rank() */
    const uint32_t *place; /* (k) places in the candidates of what was shown */
    uint32_t k;            /* slots, at most the candidates */
    uint32_t reserved32;
    uint64_t number;    /* of the list; it chooses the draws */
    const double *rate; /* (k, n) row-major: predicted reward of each candidate in each slot, for q
                           and v; else NULL */
    const void *reserved[OLTR_RESERVED]; /* NULL */
} oltr_ope_shown;

/* Where the numbers of this list go: row i of the arrays of an oltr_ope_log.  NULL: not wanted. */
typedef struct oltr_ope_chances {
    double *prefix; /* (k) evaluated_prefix */
    double *slot;   /* (k) evaluated_slot */
    double *q, *v;  /* (k) q and v; both or none, and with `rate` only.  With draws they belong to
                       the `prefix` of the same call */
    uint8_t *match; /* (1) whether one list that is drawn is the one that was shown */
    const void *reserved[OLTR_RESERVED]; /* NULL */
} oltr_ope_chances;

/* Computes the chances of one model for list after list, and keeps those of candidates and lists
 * that come again.  One for each thread; the model must outlive it and not change meanwhile. */
typedef struct oltr_ope_evaluator oltr_ope_evaluator;

/* NULL with the error set: OLTR_EUNSUPPORTED for exact chances of a kind that has none.  policy
 * NULL: the defaults. */
OLTR_API oltr_ope_evaluator *
oltr_ope_evaluator_new(const oltr_model *model, const oltr_ope_policy *policy, oltr_error *error);
OLTR_API void oltr_ope_evaluator_free(oltr_ope_evaluator *evaluator); /* NULL is fine */
/* The chances of one list.  The same bits for the same arguments, whatever was asked before.
 *
 * q and v.  Let rate(l, a) be the prediction for candidate a in slot l.  Exact: q_l is rate(l, item
 * of slot l), and v_l the mean of rate(l, a) over the candidates that the policy shows in slot l
 * after the items above; both plus what the policy is expected to earn below slot l from the same
 * candidates.  With draws: the means of the predicted rewards from slot l on, over the drawn lists
 * that begin with the items down to slot l, and down to slot l - 1.  0 where there are none. */
OLTR_API oltr_status oltr_ope_evaluate(oltr_ope_evaluator *evaluator, const oltr_ope_shown *shown,
                                       const oltr_ope_chances *out, oltr_error *error);

/* Predicted rewards from the log itself, by lists of other folds: a list of fold f is predicted by
 * the lists of all other folds, so that `dr` is not fitted on the lists that it is applied to.
 * The rate of an item in a slot is its mean reward there, drawn towards (mean reward of the item) x
 * (mean reward of the slot) / (mean of all) as if `strength` observations had had it; the mean
 * reward of an item is drawn towards the mean of all in the same way.  (Where the mean of all is
 * not above 0: item + slot - all.) item  (n, k) numbers below n_items of what was shown; of the
 * log, n, k, length and reward are read fold  (n) below n_folds; at least 2 folds rate  (n_folds,
 * k, n_items) what comes out, row-major */
OLTR_API oltr_status oltr_ope_rates(const oltr_ope_log *log, const uint32_t *item, uint32_t n_items,
                                    const uint32_t *fold, uint32_t n_folds, double strength,
                                    double *rate, oltr_error *error);

#ifdef __cplusplus
}
#endif
#endif
