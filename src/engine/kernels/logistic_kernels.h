/* logistic_kernels.h - the loops that math/ldl.h does not have: residuals and weights from scores
 * (respond), the sum of rows times residuals (pull), whether all weights are near those in the
 * factor, the product of a packed matrix.
 *
 * Each for AVX2 and for any machine, the response for AVX-512 too, with the same operations in the
 * same order, so with the same bits.
 */
#ifndef OLTR_ENGINE_KERNELS_LOGISTIC_KERNELS_H
#define OLTR_ENGINE_KERNELS_LOGISTIC_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum {
    RESPOND_LANES = 4
}; /* arrays of `respond` are read and written in whole vectors of so many */

static inline size_t respond_padded(size_t n)
{
    return (n + (RESPOND_LANES - 1)) / RESPOND_LANES * RESPOND_LANES;
}

/* For each of n rows with score z: residual = S - N mu(z) and curvature = N mu(z) (1 - mu(z)), both
 * without cancellation at the ends. */
void respond(size_t n, const double *z, const double *examined, const double *clicked,
             double *residual, double *curvature);
void respond_plain(size_t n, const double *z, const double *examined, const double *clicked,
                   double *residual, double *curvature);
void respond_avx2(size_t n, const double *z, const double *examined, const double *clicked,
                  double *residual, double *curvature);
void respond_avx512(size_t n, const double *z, const double *examined, const double *clicked,
                    double *residual, double *curvature);

/* out += sum_r c_r x_r over n rows of dim floats: the even rows one after the other, then what the
 * odd ones come to. */
void rows_pull(const float *x, size_t n, uint32_t dim, const double *c, double *out);
void rows_pull_plain(const float *x, size_t n, uint32_t dim, const double *c, double *out);
void rows_pull_avx2(const float *x, size_t n, uint32_t dim, const double *c, double *out);

/* Whether |now_i - then_i| <= off (then_i + share_i) for all of n. */
int weights_near(size_t n, const double *now, const double *then, const double *share, double off);
int weights_near_plain(size_t n, const double *now, const double *then, const double *share,
                       double off);
int weights_near_avx2(size_t n, const double *now, const double *then, const double *share,
                      double off);

/* out -= A x for a symmetric A, packed lower triangle by columns.  Column by column: its part of
 * the dot product for row j in two sets of four sums, as in rows_times, and its elements times x_j
 * from the rows below. */
void subtract_product(double *out, const double *packed, const double *x, uint32_t dim);
void subtract_product_plain(double *out, const double *packed, const double *x, uint32_t dim);
void subtract_product_avx2(double *out, const double *packed, const double *x, uint32_t dim);

#endif
