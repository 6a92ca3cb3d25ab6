/* logistic.h - the Laplace posterior of a logistic model: P(click) = mu(x'theta), prior N(0, I/lambda).
 *
 * Learned: the history, as counts for each distinct feature row: how often it was examined and how often clicked.  Exact, and as long as rows
 * repeat, no longer after a million rounds than after a hundred.  When more distinct rows come than there is room for, the row that was least recently
 * examined is absorbed: its curvature at the current estimate joins the quadratic prior (P, q) so that the gradient there stays the same.
 * Derived: theta_hat, the root of
 *     q - P theta + sum_r (S_r - N_r mu(x_r'theta)) x_r = 0,         P = lambda I, q = 0 until a row is absorbed,
 * and the factor of the Hessian H = P + sum_r w_r x_r x_r', w_r = N_r mu (1 - mu), near it.
 *
 * The root is found by Newton's method with a factor that is reused: observed rows get their new weights there by rank-one updates, once these are
 * noticeably more.  When steps shrink too slowly, or some weight w_r has moved by more than `drift` from the one in the factor (beside what lambda alone is worth
 * in that row's direction), those weights are put right by rank-one updates too, or all by a new factor.  Every step along which the objective would not rise is halved, so that no data make it
 * diverge: separable, one-sided, repeated, fewer rows than dimensions, huge features.  Warm start from the last root.
 * Converged to 1e-8 of the exact root, relative to 1 + |theta|, as far as doubles reach: the gradient is a sum of observations times features, and its rounding
 * over the least curvature, lambda or more, is what cannot be had.  For lambda = 1e-4 that begins to count with rows of length 100; and even those of 1e6 leave no more
 * than 5e-4 of the posterior's deviation.
 */
#ifndef OLTR_POSTERIOR_LOGISTIC_H
#define OLTR_POSTERIOR_LOGISTIC_H

#include "base/error.h"
#include "base/layout.h"
#include "math/ldl.h"

/* What the solver did, for tests and benches: all counts since whoever reads them last set them to zero. */
typedef struct logistic_effort {
    uint64_t solves, steps, halvings, refreshes;
    uint64_t entered;     /* rows whose weight entered the factor when they were observed */
    uint64_t adjustments; /* rows whose weight in the factor was put right by itself */
} logistic_effort;

typedef struct logistic {
    uint32_t dim, capacity; /* of distinct rows */
    double lambda;
    double drift;     /* how far a weight in the factor may be from the true one, relatively; 0: always at the root */
    size_t count;     /* offset of 2 doubles: how many distinct rows are in use, and a running number of observations */
    size_t row;       /* offset of (capacity, dim) floats */
    size_t examined;  /* offset of (capacity) doubles: N_r */
    size_t clicked;   /* offset of (capacity) doubles: S_r */
    size_t last;      /* offset of (capacity) doubles: the running number when the row was last examined */
    size_t precision; /* offset of (dim (dim+1) / 2) doubles: P - lambda I, packed lower triangle by columns */
    size_t pull;      /* offset of (dim) doubles: q */
    size_t table;     /* offset of the hash table of rows, derived */
    size_t theta;     /* offset of (dim) doubles: the root, derived */
    size_t factor;    /* offset of ldl_doubles(dim): of H, with u = 0, derived */
    size_t weight;    /* offset of (capacity) doubles: the weights that are in the factor, derived */
    size_t share;     /* offset of (capacity) doubles: the weight a row could have out of lambda I alone, derived */
    size_t kept;      /* offset of a double: how much of the factor's precision is left, derived */
    size_t work;      /* offset of room for the solver */
    uint32_t table_size; /* a power of two */
    uint32_t absorbed;   /* P - lambda I may be other than zero, derived */
    uint32_t settled;    /* theta is the root, and the scores in `work` nearly its own: the next round builds on both */
    logistic_effort effort;
} logistic;

logistic logistic_plan(layout *l, uint32_t dim, uint32_t capacity, double lambda, double drift);

/* Derives everything anew from the sums: the table, the root from theta = 0, the factor at the root. */
void logistic_refresh(void *state, logistic *p);

/* Learns n observations (y is 0 or 1; any value in [0,1] works), and moves the root and the factor. */
void logistic_add(void *state, logistic *p, const float *const *x, const double *y, uint32_t n);

/* The same by a full Newton solve that builds and factors H in every step, from the warm start: the yardstick of tests and benches.  And the solve alone. */
void logistic_add_plainly(void *state, logistic *p, const float *const *x, const double *y, uint32_t n);
void logistic_solve_plainly(void *state, logistic *p);

/* Adds what `from` has learned (same dim and lambda); rows that do not fit are absorbed. */
void logistic_merge(void *state, logistic *p, const void *from_state, const logistic *from);
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

/* OLTR_ESTATE unless the counts are possible: 0 <= S <= N, finite, rows finite and in number, P - lambda I with a non-negative diagonal. */
oltr_status logistic_check(const void *state, const logistic *p, oltr_error *error);
/* OLTR_ESTATE unless theta solves the score equation to 1e-7 and the factor is near H within the drift. */
oltr_status logistic_check_derived(const void *state, const logistic *p, oltr_error *error);

#endif
