/* link_kernels.h - residuals and weights of rows from their scores z = x'theta, for each link: the
 * function mu that makes a chance of a click of a score.
 *
 *     logit      mu(z) = 1 / (1 + e^-z)
 *     probit     mu(z) = Phi(z), the standard normal distribution function
 *     cloglog    mu(z) = 1 - exp(-e^z)
 */
#ifndef OLTR_ENGINE_KERNELS_LINK_KERNELS_H
#define OLTR_ENGINE_KERNELS_LINK_KERNELS_H

#include <stddef.h>

/* Arrays of residuals are read and written in whole vectors of so many. */
enum { RESIDUAL_LANES = 4 };

static inline size_t residuals_padded(size_t n)
{
    return (n + (RESIDUAL_LANES - 1)) / RESIDUAL_LANES * RESIDUAL_LANES;
}

/* For each of n rows with score z: residual = S - N mu(z) and curvature = N mu'(z), both without
 * cancellation at the ends.  NaN counts as a score of minus infinity. */
typedef void residuals_fn(size_t n, const double *z, const double *examined, const double *clicked,
                          double *residual, double *curvature);
typedef residuals_fn logistic_residuals_fn, probit_residuals_fn, cloglog_residuals_fn;

#endif
