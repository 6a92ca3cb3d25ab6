/* logistic.h - the Laplace posterior of a logistic model: P(click) = mu(x'theta), prior N(0,
 * I/lambda).
 *
 * Learned: the history, as counts for each distinct feature row: how often it was examined and how
 * often clicked.  Exact, and as long as rows repeat, no longer after a million rounds than after a
 * hundred.  Rows that do not repeat are kept for a while and then absorbed: the quadratic that has
 * a row's gradient and curvature at the current estimate joins the quadratic prior (P, q), so that
 * the estimate stays where it is.  A row that counts for at most one observation is called single;
 * there are at most `window` of them, and at most `capacity` rows in all.  The least recently
 * examined are absorbed, several at a time.
 * Derived: theta_hat, the root of
 *     q - P theta + sum_r (S_r - N_r mu(x_r'theta)) x_r = 0,         P = lambda I, q = 0 until a
 * row is absorbed, and the factor of the Hessian H = P + sum_r w_r x_r x_r', w_r = N_r mu (1 - mu),
 * near it.
 *
 * The root is found by Newton's method with a factor that is reused: observed rows get their new
 * weights there by rank-one updates, once these are noticeably more.  When steps shrink too slowly,
 * or some weight w_r has moved by more than `drift` from the one in the factor (beside what lambda
 * alone is worth in that row's direction), those weights are corrected by rank-one updates too, or
 * all by a new factor.  Every step along which the objective would not rise is halved, so that no
 * data make it diverge: separable, one-sided, repeated, fewer rows than dimensions, huge features.
 * Warm start from the last root.  Converged to 1e-8 of the exact root, relative to 1 + |theta|, as
 * far as doubles reach; with more than `thorough` single rows a round does bounded work and may end
 * short of the root (logistic_solve.c).  Accuracy limit: the rounding of the gradient, a sum of
 * observations times features, over the least curvature, which is lambda or more.  For lambda =
 * 1e-4 that begins to count with rows of length 100; rows of length 1e6 leave an error of 5e-4 of
 * the posterior's deviation, and where such rows are also nearly dependent, what model_rounding()
 * bounds.
 */
#ifndef OLTR_ENGINE_POSTERIOR_LOGISTIC_H
#define OLTR_ENGINE_POSTERIOR_LOGISTIC_H

#include "engine/base/error.h"
#include "engine/base/layout.h"
#include "engine/linalg/ldl.h"

/* What the solver did, for tests and benches: all counts since the reader last set them to
 * zero. */
typedef struct logistic_effort {
    uint64_t solves, steps, halvings, refreshes;
    uint64_t entered;     /* rows whose weight entered the factor when they were observed */
    uint64_t adjustments; /* rows whose weight in the factor was put right by itself */
} logistic_effort;

/* Bounds on what is learned, enforced by learning, merging and checking.  Beyond the first, the
 * score equation has no root in doubles; the third bounds what absorbed rows of that many
 * observations can come to. */
#define LOGISTIC_MOST_COUNT 1e12          /* observations of one row */
#define LOGISTIC_MOST_OBSERVATIONS 0x1p53 /* in all: the running number is exact up to here */
#define LOGISTIC_MOST_SUM 1e30            /* elements of P and q */
#define LOGISTIC_LONGEST_THETA 1e50       /* more than MOST_SUM over the least lambda */

enum {
    LOGISTIC_PATH = 4
}; /* numbers that record how theta was reached: kept, settled, absorbed, since (logistic_model.h)
    */

/* Numbers of the estimate: theta, the gradient there, and how it was reached. */
static inline size_t logistic_estimate(uint32_t dim)
{
    return 2 * (size_t)dim + LOGISTIC_PATH;
}

typedef struct logistic {
    uint32_t dim, capacity; /* of distinct rows */
    uint32_t window;        /* of single rows, at most the capacity */
    uint32_t thorough; /* with at most so many single rows, every round ends at the root; beyond,
                          its work is bounded */
    double lambda;
    double drift; /* how far a weight in the factor may be from the true one, relatively; 0: always
                     at the root */
    size_t count; /* offset of 2 doubles: how many distinct rows are in use, and a running number of
                     observations */
    size_t row;   /* offset of (capacity, dim) floats */
    size_t examined; /* offset of (capacity) doubles: N_r */
    size_t clicked;  /* offset of (capacity) doubles: S_r */
    size_t
        last; /* offset of (capacity) doubles: the running number when the row was last examined */
    size_t precision; /* offset of (dim (dim+1) / 2) doubles: P - lambda I, packed lower triangle by
                         columns */
    size_t pull;      /* offset of (dim) doubles: q */
    size_t table;     /* offset of the hash table of rows, derived */
    size_t theta;     /* offset of logistic_estimate(dim) doubles: the root and what belongs to it,
                         derived */
    size_t factor;    /* offset of ldl_doubles(dim): of H, with u = 0, derived */
    size_t weight; /* offset of (capacity) doubles: the weights that are in the factor, derived */
    size_t share;  /* offset of (capacity) doubles: the weight a row could have out of lambda I
                      alone, derived */
    size_t score;  /* offset of (capacity) doubles: near x'theta if theta is settled; derived */
    size_t queue;  /* offset of (capacity + 2, 2) words: the rows in the order in which they were
                      last examined, derived */
    size_t work;   /* offset of room for the solver */
    size_t table_size; /* a power of two */
    uint32_t singles;  /* how many rows are in the queue of single rows, derived */
    logistic_effort effort;
} logistic;

/* Any capacity of at least 1 and any window of at least 1 are safe: what does not fit in memory is
 * an overflow of the layout.  Every round is thorough; set `thorough` afterwards for one that is
 * not. */
logistic logistic_plan(layout *l, uint32_t dim, size_t capacity, size_t window, double lambda,
                       double drift);

/* Derives everything anew from the sums: the table, the root from theta = 0, the factor at the
 * root. */
void logistic_refresh(void *state, logistic *p);

/* For an exact copy, theta and what follows it, factor, weight and score are copied beside the
 * sums; this derives the rest. OLTR_ESTATE when no life can have left such numbers; how near theta
 * is to the root is not asked. */
oltr_status logistic_resume(void *state, logistic *p, oltr_error *error);

/* Learns n observations (y is 0 or 1; any value in [0,1] works), and moves the root and the factor.
 */
void logistic_add(void *state, logistic *p, const float *const *x, const double *y, uint32_t n);
/* The same, each counted `weight` times; weight NULL means once. */
void logistic_add_weighted(void *state, logistic *p, const float *const *x, const double *y,
                           const double *weight, uint32_t n);

/* The same by a full Newton solve that builds and factors H in every step, from the warm start: the
 * yardstick of tests and benches.  And the solve alone. */
void logistic_add_plainly(void *state, logistic *p, const float *const *x, const double *y,
                          uint32_t n);
void logistic_solve_plainly(void *state, logistic *p);

/* Adds what `from` has learned (same dim and lambda).  The root of both histories together is found
 * first, and rows that do not fit are absorbed there.  OLTR_ESTATE when a count would pass its
 * bound, OLTR_ENOMEM without room for both; then nothing has changed. */
oltr_status logistic_merge(void *state, logistic *p, const void *from_state, const logistic *from);
/* Multiplies all counts, and P - lambda I and q, by keep. */
void logistic_forget(void *state, logistic *p, double keep);

static inline const double *logistic_theta(const void *state, const logistic *p)
{
    return doubles_at(state, p->theta);
}

static inline ldl logistic_factor(const void *state, const logistic *p)
{
    return ldl_view(doubles_at(state, p->factor), p->dim);
}

/* mu(z) without overflow at either end. */
double sigmoid(double z);

/* OLTR_ESTATE unless the counts are possible: 0 <= S <= N, all within their bounds, rows finite and
 * in number, P - lambda I with a non-negative diagonal. */
oltr_status logistic_check(const void *state, const logistic *p, oltr_error *error);
/* OLTR_ESTATE unless theta solves the score equation to 1e-7, or to 5e-4 posterior deviations and
 * what the rounding of the gradient can come to, and the factor is near H within the drift.  Reads
 * the state only; OLTR_ENOMEM without room of its own. */
oltr_status logistic_check_derived(const void *state, const logistic *p, oltr_error *error);

#endif
