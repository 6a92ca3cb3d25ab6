/* linear.h - the Gaussian posterior of a linear model: rewards y = x'theta + noise, V = ridge I +
 * sum x x', b = sum x y.
 *
 * Learned: the sums of x x' and x y, in double from float32 rows.  Derived: the factor of V with
 * its right-hand side (linalg/ldl.h), kept by updates and factored anew from the sums when it has
 * drifted.
 */
#ifndef OLTR_ENGINE_POSTERIOR_LINEAR_H
#define OLTR_ENGINE_POSTERIOR_LINEAR_H

#include <oltr/policy_ops.h>

#include "engine/base/error.h"
#include "engine/base/layout.h"
#include "engine/linalg/ldl.h"

/* Bookkeeping about the drift of the factor.  All doubles, as snapshots hold them. */
typedef struct linear_watch {
    double rows;    /* learned since the factor was last compared with the sums */
    double column;  /* which column was compared last */
    double lift;    /* of the diagonal when the factor was made, see ldl_factor_nearby(); often 0 */
    double squares; /* b'V^-1 b then, and sum w y^2 since: b_r is at most sqrt(V_rr squares) */
} linear_watch;

typedef struct linear {
    uint32_t dim;
    double ridge;  /* lambda */
    size_t gram;   /* offset of the packed lower triangle of sum w x x', by columns */
    size_t moment; /* offset of (dim) doubles: sum w x y */
    size_t factor; /* offset of ldl_doubles(dim): derived */
    size_t work;   /* offset of room for updates */
    linear_watch watch;
} linear;

linear linear_plan(layout *l, uint32_t dim, double ridge);

/* Derives the factor anew from the sums.  `state` is the beginning of the policy's state, from
 * which offsets count. */
void linear_refresh(void *state, linear *p);

/* Learns n_rows observations at once; weight NULL means all 1.  Returns whether the factor was made
 * anew from the sums. */
bool linear_add(void *state, linear *p, const float *const *x, const double *y,
                const double *weight, uint32_t n_rows);

/* The sums times keep; the factor is out of date until linear_refresh(). */
void linear_fade(void *state, const linear *p, double keep);
/* A factor made from given sums in memory of the caller, ldl_doubles(dim). */
ldl linear_factor_of(const linear *p, const double *gram, const double *moment, double *memory);

static inline ldl linear_factor(const void *state, const linear *p)
{
    return ldl_view(doubles_at(state, p->factor), p->dim);
}

/* Mean x'theta and variance x'V^-1 x of n rows; theta NULL means V^-1 b.  work: room for
 * linear_work(dim) doubles; variance may be NULL. */
size_t linear_work(uint32_t dim);
void linear_predict_with(const ldl *factor, const double *theta, const float *x, size_t stride,
                         uint32_t n, double *mean, double *variance, double *work);
static inline void linear_predict(const void *state, const linear *p, const float *x, size_t stride,
                                  uint32_t n, double *mean, double *variance, double *work)
{
    ldl factor = linear_factor(state, p);
    linear_predict_with(&factor, NULL, x, stride, n, mean, variance, work);
}

/* Sums of at most `rows` rows of weights up to `weight` and rewards up to `reward`, either way. */
typedef struct linear_limits {
    double rows, weight, reward;
} linear_limits;

/* OLTR_ESTATE unless all sums are finite and gram + ridge I can be factored, that is, gram is a sum
 * of squares but for rounding; and within the limits, where they are given. */
oltr_status linear_check_within(const void *state, const linear *p, const linear_limits *limits,
                                oltr_error *error);
static inline oltr_status linear_check(const void *state, const linear *p, oltr_error *error)
{
    return linear_check_within(state, p, NULL, error);
}
/* OLTR_ESTATE when the factor is further than 1e-9 from the sums, beyond a lift of the diagonal. */
oltr_status linear_check_factor(const void *state, const linear *p, oltr_error *error);

/* The factor's bits depend on the order of updates, so an exact copy needs them: its columns, its
 * diagonal and the watch, as arrays of a snapshot under the given names.  Returns
 * LINEAR_DERIVED. */
enum { LINEAR_DERIVED = 3 };
uint32_t linear_list_derived(const void *state, const linear *p,
                             const char *const names[LINEAR_DERIVED],
                             oltr_sum_array out[LINEAR_DERIVED]);
/* After they were read.  OLTR_ESTATE when learning cannot leave such numbers.  A factor that does
 * not fit the sums is made anew, so that loading does not depend on a tolerance. */
oltr_status linear_resume(void *state, linear *p, oltr_error *error);
/* The same for a factor that is out of date: it must be possible, and is left as it is. */
oltr_status linear_resume_outdated(const void *state, const linear *p, oltr_error *error);

#endif
