/* linear.h - the Gaussian posterior of a linear model: rewards y = x'theta + noise, V = ridge I + sum x x', b = sum x y.
 *
 * Learned: the sums of x x' and x y, in double from float32 rows.  Derived: the factor of V with its right-hand side (math/ldl.h), kept by
 * updates and factored anew from the sums when it has drifted.  No ranking inside.
 */
#ifndef OLTR_POSTERIOR_LINEAR_H
#define OLTR_POSTERIOR_LINEAR_H

#include "base/error.h"
#include "base/layout.h"
#include "math/ldl.h"

typedef struct linear {
    uint32_t dim;
    double ridge;     /* lambda */
    size_t gram;      /* offset of (dim (dim+1) / 2) doubles: sum w x x', packed lower triangle by columns */
    size_t moment;    /* offset of (dim) doubles: sum w x y */
    size_t factor;    /* offset of ldl_doubles(dim): derived */
    size_t work;      /* offset of room for updates */
    uint32_t checked; /* updates since the factor was last compared with the sums */
    uint32_t column;  /* which column is compared next */
    double lift;      /* of the diagonal when the factor was made, see ldl_factor_nearby(); 0 as a rule */
} linear;

linear linear_plan(layout *l, uint32_t dim, double ridge);

/* Derives the factor anew from the sums.  `state` is the beginning of the policy's state, from which offsets count. */
void linear_refresh(void *state, linear *p);

/* Learns n_rows observations at once; weight NULL means all 1. */
void linear_add(void *state, linear *p, const float *const *x, const double *y, const double *weight, uint32_t n_rows);

static inline ldl linear_factor(const void *state, const linear *p)
{
    return ldl_view(doubles_at(state, p->factor), p->dim);
}

/* Mean x'theta_hat and variance x'V^-1 x of n rows.  work: room for linear_work(dim) doubles; variance may be NULL. */
size_t linear_work(uint32_t dim);
void linear_predict(const void *state, const linear *p, const float *x, size_t stride, uint32_t n, double *mean,
                    double *variance, double *work);

/* OLTR_ESTATE unless all sums are finite and gram + ridge I can be factored, that is, gram is a sum of squares but for rounding. */
oltr_status linear_check(const void *state, const linear *p, oltr_error *error);
/* OLTR_ESTATE when the factor is further than 1e-9 from the sums, beyond a lift of the diagonal. */
oltr_status linear_check_factor(const void *state, const linear *p, oltr_error *error);

#endif
