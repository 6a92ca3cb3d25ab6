/* logistic_kernels.h - the loops of the logistic posterior that linalg/ldl.h and
 * link_kernels.h do not have: the sum of rows times residuals, whether all weights are near those
 * in the factor, the product of a packed matrix, normals with the moments of Polya-Gamma variables.
 */
#ifndef OLTR_ENGINE_KERNELS_LOGISTIC_KERNELS_H
#define OLTR_ENGINE_KERNELS_LOGISTIC_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* out += sum_r c_r x_r over n rows of dim floats: the even rows one after the other, then the sum
 * of the odd ones. */
typedef void linear_terms_fn(const float *x, size_t n, uint32_t dim, const double *c, double *out);

/* Whether |now_i - then_i| <= off (then_i + share_i) for all of n. */
typedef bool weights_near_fn(size_t n, const double *now, const double *then, const double *share,
                             double off);

/* out -= A x for a symmetric A, packed lower triangle by columns.  Column by column: its part of
 * the dot product for row j in two sets of four sums, as in rows_times, and its elements times x_j
 * from the rows below. */
typedef void subtract_product_fn(double *out, const double *packed, const double *x, uint32_t dim);

/* weight_r of n rows: a variable with the mean, the variance and nearly the skewness of
 * PG(count_r, z_r) (rng/polya_gamma.h), as a function of a standard normal s: the cube of Wilson
 * and Hilferty, mean + deviation ((1 + c s/3 - c^2/9)^3 - 1) / c,     c = half the skewness. One
 * below 0 counts as 0, and so does NaN, which |z| beyond 1e70 gives, too.  residual and slope: 1/2
 * - mu and mu', mu the logistic function at z.  n is a multiple of WEIGHT_LANES, rows that are not
 * there being 0. */
enum { WEIGHT_LANES = 16 };
static inline size_t weights_padded(size_t n)
{
    return (n + (WEIGHT_LANES - 1)) / WEIGHT_LANES * WEIGHT_LANES;
}
typedef void polya_gamma_normals_fn(size_t n, const double *count, const double *z,
                                    const double *residual, const double *slope,
                                    const float *standard, double *weight);

/* out = sum_r c_r p_r over n rows of `length` doubles, one row after the other.  length is a
 * multiple of SUM_COLUMNS. */
enum { SUM_COLUMNS = 32 };
typedef void weighted_sum_fn(const double *p, size_t n, size_t length, const double *c,
                             double *out);

/* out_r = the products x_i x_j of row r, a packed lower triangle by columns, and zeros up to
 * `length`, for n rows of dim floats.  out has room for PRODUCT_LANES more, which may be written.
 */
enum { PRODUCT_LANES = 8 };
typedef void row_products_fn(const float *x, size_t n, uint32_t dim, size_t length, double *out);

#endif
