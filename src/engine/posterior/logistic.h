/* logistic.h - the Laplace posterior of a logistic model: P(click) = mu(x'theta), mu the logistic
 * function, prior N(0, I/lambda).  Or another link: mu of probit or cloglog
 * (kernels/link_kernels.h) in the same score equation.
 *
 * Learned.  For each distinct row of features x_r: how often it was examined, N_r, and clicked,
 * S_r.  The counts are exact, and as long as rows repeat, their size does not grow with the rounds.
 * Rows that do not repeat are kept for a while and then absorbed: the row's part of the log
 * posterior is replaced by the quadratic with the same gradient and curvature at the current
 * estimate.  These quadratics add up to a precision P and a linear term q.  A row that counts for
 * at most one observation is called single.  At most `window` single rows and `capacity` rows in
 * all are kept exactly; the least recently examined are absorbed first, several at a time.
 *
 * Derived.  The estimate theta_hat is the root of the score equation
 *     g(theta) = q - (lambda I + P) theta + sum_r (S_r - N_r mu(x_r'theta)) x_r = 0.
 * The posterior is N(theta_hat, H^-1), with the Hessian
 *     H = lambda I + P + sum_r w_r x_r x_r',     w_r = N_r mu' at x_r'theta_hat;
 * mu' = mu (1 - mu) for the logistic function.  mu rises for every link, so -g is the gradient of a
 * convex function, whose Hessian is H, and there is one root.  Only with logit it is the maximum of
 * the posterior: the likelihood of another link has other weights in its score.
 *
 * Algorithm.  Damped Newton's method from the last root, with a factor F = L D L' of H that is
 * reused: it holds the weights of earlier rounds.  The row of a new observation gets its new weight
 * in F by a rank-one update once that weight is noticeably larger.  When steps shrink too slowly,
 * or a weight is off by more than `drift`, the weights that are off are corrected by rank-one
 * updates, or F is built anew where that is cheaper.  logistic_solve.c has the details.
 *
 * Invariants after every round.
 *   - A step along which the objective would not rise is halved.  So no data make the iteration
 *     diverge: separable, one-sided, repeated, fewer rows than dimensions, huge features.
 *   - Each weight in F is within the share `drift` of the true one, both taken with what lambda
 *     alone is worth in that row's direction; so the sampled covariance is within that share of
 *     the exact one.  drift 0: F is built anew in every round.
 *   - Absorbing a row leaves theta_hat, the gradient there and F as they are, but for the
 *     correction of anticipate_moves() in logistic.c.
 *
 * Accuracy.  theta_hat is within 1e-8 of the exact root, relative to 1 + |theta|, as far as doubles
 * reach.  With more than `thorough` single rows a round does bounded work instead and may end short
 * of the root.  Accuracy limit: the rounding of the gradient, a sum of observations times features,
 * over the least curvature, which is lambda or more.  For lambda = 1e-4 that begins to count with
 * rows of length 100.  Rows of length 1e6 leave an error of 5e-4 posterior deviations, and where
 * such rows are also nearly dependent, the bound of logistic_gradient_rounding().
 */
#ifndef OLTR_ENGINE_POSTERIOR_LOGISTIC_H
#define OLTR_ENGINE_POSTERIOR_LOGISTIC_H

#include "engine/base/error.h"
#include "engine/base/layout.h"
#include "engine/kernels/link.h"
#include "engine/linalg/ldl.h"

/* What the solver did, for tests and benches: counts since the reader last set them to zero. */
typedef struct logistic_effort {
    uint64_t solves, steps, halvings, refreshes;
    uint64_t entered;     /* rows whose weight entered the factor when they were observed */
    uint64_t adjustments; /* rows whose weight in the factor was corrected by itself */
} logistic_effort;

/* How much is learned.  Doubles, as snapshots hold them. */
typedef struct logistic_count {
    double n_rows;         /* distinct rows in use */
    double n_observations; /* a running number; absorbed observations count, too */
} logistic_count;

/* How theta was reached.  Doubles, as snapshots hold them. */
typedef struct logistic_path {
    /* The share of the factor's precision that lowered weights have left since it was built, or
     * compared with its weights: the product over all of them, as if all rows had one direction; in
     * rounds of bounded work, where rows have many directions, the product of the least of each
     * correction. */
    double precision_left;
    double known;         /* about the gradient at theta: logistic_view.h */
    double has_absorbed;  /* 1: P may be other than zero */
    double rounds_passed; /* of bounded work, since the factor was built */
} logistic_path;

/* Numbers of the estimate: theta, the gradient there, and the path. */
static inline size_t logistic_estimate(uint32_t dim)
{
    return 2 * (size_t)dim + sizeof(logistic_path) / sizeof(double);
}

typedef struct logistic {
    uint32_t dim, capacity; /* of distinct rows */
    uint32_t window;        /* of single rows, at most the capacity */
    uint32_t thorough;      /* with at most so many single rows, every round ends at the root */
    uint32_t link;          /* LINK_LOGIT unless set after the plan */
    double lambda;
    double drift;       /* how far a weight in the factor may be from the true one, relatively */
    size_t table_size;  /* a power of two */
    uint32_t n_singles; /* rows in the queue of single rows, derived */
    logistic_effort effort;
    /* Offsets.  Learned: */
    size_t count;       /* logistic_count */
    size_t row;         /* (capacity, dim) floats */
    size_t examined;    /* (capacity) doubles: N_r */
    size_t clicked;     /* (capacity) doubles: S_r */
    size_t last;        /* (capacity) doubles: n_observations when the row was last examined */
    size_t precision;   /* (dim (dim+1) / 2) doubles: P, packed lower triangle by columns */
    size_t linear_term; /* (dim) doubles: q */
    /* Derived: */
    size_t table;  /* (table_size) words: the hash table of rows */
    size_t theta;  /* logistic_estimate(dim) doubles */
    size_t factor; /* ldl_doubles(dim): F, with u = 0 */
    size_t weight; /* (capacity) doubles: the weights that are in the factor */
    size_t share;  /* (capacity) doubles: the weight a row could have out of lambda I alone */
    size_t score;  /* (capacity) doubles: near x'theta, unless NOTHING_KNOWN */
    size_t queue;  /* (capacity + 2, 2) words: the rows in the order of their last examination */
    size_t work;   /* room for the solver */
} logistic;

/* Any capacity and window of at least 1 are safe: what does not fit in memory is an overflow of the
 * layout.  Every round is thorough; set `thorough` afterwards to bound the work. */
logistic logistic_plan(layout *l, uint32_t dim, size_t capacity, size_t window, double lambda,
                       double drift);

/* Derives everything anew from the sums: the table, the root from theta = 0, the factor there. */
void logistic_refresh(void *state, logistic *p);

/* For an exact copy, theta and what follows it, factor, weight and score are copied with the
 * sums; this derives the rest.  OLTR_ESTATE when learning cannot leave such numbers.  Numbers that
 * are possible but do not fit the sums are derived anew. */
oltr_status logistic_resume(void *state, logistic *p, oltr_error *error);

/* Learns n observations (y is 0 or 1; any value in [0,1] works), and moves the root and the factor.
 */
void logistic_add(void *state, logistic *p, const float *const *x, const double *y, uint32_t n);
/* The same, each counted `weight` times; weight NULL means once. */
void logistic_add_weighted(void *state, logistic *p, const float *const *x, const double *y,
                           const double *weight, uint32_t n);

/* The same by a full Newton solve that builds and factors H in every step, from the last root: the
 * yardstick of tests and benches.  And the solve alone. */
void logistic_add_plainly(void *state, logistic *p, const float *const *x, const double *y,
                          uint32_t n);
void logistic_solve_plainly(void *state, logistic *p);

/* Adds what `from` has learned (same dim, lambda and link).  The root of both histories together is
 * found first, and rows that do not fit are absorbed there.  OLTR_ESTATE when a count would pass
 * its bound, OLTR_ENOMEM without room for both; then nothing has changed. */
oltr_status logistic_merge(void *state, logistic *p, const void *from_state, const logistic *from);
/* Multiplies all counts, P and q by keep. */
void logistic_forget(void *state, logistic *p, double keep);

static inline const double *logistic_theta(const void *state, const logistic *p)
{
    return doubles_at(state, p->theta);
}

static inline ldl logistic_factor(const void *state, const logistic *p)
{
    return ldl_view(doubles_at(state, p->factor), p->dim);
}

/* mu and its derivatives at one score, in the bits of the solver; and mu of logit. */
static inline link_values link_here(uint32_t link, double z)
{
    return link_at(link, cpu_in_use(), z);
}

static inline double sigmoid(double z)
{
    return link_here(LINK_LOGIT, z).mean;
}

/* OLTR_ESTATE unless the sums are possible: 0 <= S <= N, all within their bounds, rows finite and
 * in number, P with a non-negative diagonal. */
oltr_status logistic_check(const void *state, const logistic *p, oltr_error *error);
/* OLTR_ESTATE unless theta solves the score equation to 1e-7, or to 5e-4 posterior deviations and
 * the rounding of the gradient, the weights are within the drift of H, and the factor is that of
 * the weights to 1e-9.  Only reads the state; OLTR_ENOMEM without room of its own. */
oltr_status logistic_check_derived(const void *state, const logistic *p, oltr_error *error);

#endif
