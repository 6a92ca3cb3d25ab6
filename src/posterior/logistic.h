/* logistic.h - the Laplace posterior of a logistic model: P(click) = mu(x'theta), prior N(0, I/lambda).
 *
 * Learned: the history, as counts for each distinct feature row: how often it was examined and how often clicked.  Exact, and as long as rows repeat,
 * no longer after a million rounds than after a hundred.  Derived: theta_hat, the root of
 *     sum_r (S_r - N_r mu(x_r'theta)) x_r - lambda theta = 0,
 * and the factor of the Hessian H = lambda I + sum_r N_r mu (1 - mu) x_r x_r' at it.
 *
 * The root is found by Newton's method with a factor that is reused: new observations enter it by rank-one updates, it is refreshed when the steps shrink too
 * slowly, and every step that does not reduce the objective is halved, so that no data make it diverge: separable, one-sided, repeated, fewer rows
 * than dimensions, huge features.  Warm start from the last root.  Converged to 1e-8 of the exact root.
 */
#ifndef OLTR_POSTERIOR_LOGISTIC_H
#define OLTR_POSTERIOR_LOGISTIC_H

#include "base/error.h"
#include "base/layout.h"
#include "math/ldl.h"

typedef struct logistic {
    uint32_t dim, capacity; /* of distinct rows */
    double lambda;
    size_t n_rows;   /* offset of 1 double: how many distinct rows there are (a sum like the others, so that it is saved) */
    size_t row;      /* offset of (capacity, dim) floats */
    size_t examined; /* offset of (capacity) doubles: N */
    size_t clicked;  /* offset of (capacity) doubles: S */
    size_t slot;     /* offset of a hash table of row numbers (open addressing), derived */
    size_t table;    /* its size, a power of two */
    size_t theta;    /* offset of (dim) doubles: the root, derived */
    size_t link;     /* offset of (capacity) doubles: x_r'theta at the root, derived */
    size_t factor;   /* offset of ldl_doubles(dim): of H near the root, derived */
    size_t work;     /* offset of room for the solver */
    int exact;       /* the factor is of H at the root itself, not near it */
} logistic;

#endif
