/* jacobi_kernels.h - sums of Jacobi variables, of which Polya-Gamma variables are made
 * (rng/polya_gamma.h), in float32.
 *
 * Law.  A Jacobi variable J has E exp(-t J) = 1 / cosh(sqrt(2t)), a mean of 1.  Tilted by h, its
 * density is multiplied by exp(-x h^2/2) cosh(h); PG(1, z) is J/4 tilted by z/2.  A sum of b
 * variables is tilted by the same factor of the sum.
 *
 * Draws.  A sum of b = 2^size variables is the quantile function at a normal (jacobi_quantile.h).
 * It is accepted if an exponential variable reaches x h^2/2; on average that has the chance
 * cosh(h)^-b.
 */
#ifndef OLTR_ENGINE_KERNELS_JACOBI_KERNELS_H
#define OLTR_ENGINE_KERNELS_JACOBI_KERNELS_H

#include <oltr/oltr.h>

/* Arrays are read and written in whole vectors of JACOBI_LANES. */
enum { JACOBI_SIZES = 4, JACOBI_LANES = 16 };

/* out[i] = x, or -1 if it is rejected.  The size is sum[i] modulo JACOBI_SIZES; tilt: h^2/2. */
typedef void jacobi_sums_fn(size_t n, const float *normal, const float *exponential,
                            const uint32_t *sum, const float *tilt, float *out);

#endif
