/* logistic_kernels.h - the loops of the logistic posterior that linalg/ldl.h and
 * link_kernels.h do not have: the sum of rows times residuals, whether all weights are near those
 * in the factor, the product of a packed matrix.
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

#endif
