/* forms_kernels.h - the kernels that correct quadratic forms x'V^-1 x after V has grown
 * (posterior/row_forms.h, row_covariances.h): solutions for several rows at once, products of many
 * rows with them, and what a matrix of products loses.
 *
 * The bits are fixed by the operations and their order, which all versions follow:
 *   ldl_solve_rows      w = L^-1 x: element r loses l_rj w_j for j = 0, 1, ..., r-1, fused; times
 *                       1 / d, rounded first; then element j loses l_rj g_r for r = dim-1, dim-2,
 *                       ..., j+1, fused.  The solution for a row does not depend on the others.
 *   rows_times_columns  four partial sums, feature j in sum j mod 4, fused; they add as
 *                       (0+1)+(2+3); a tail is filled up with zeros.
 *   whiten              element (k, i) is multiplied by the root, loses c_jk times element (j, i)
 *                       for j = 0, 1, ..., k-1, fused, and is multiplied by 1 / c_kk, rounded
 *                       first.
 *   lose_squares        element (i, j) loses t_kj t_ki for k = 0, 1, ..., n-1, fused.
 */
#ifndef OLTR_ENGINE_KERNELS_FORMS_KERNELS_H
#define OLTR_ENGINE_KERNELS_FORMS_KERNELS_H

#include "engine/kernels/ldl_kernels.h"

/* Column k of `out`, `out_stride` doubles from the one before it, becomes V^-1 x_k, and zeros up to
 * ceil4(dim).  work: room for (QUADRATIC_ITEMS + 1) * ceil4(dim) doubles. */
typedef void ldl_solve_rows_fn(const ldl *f, const float *const *x, uint32_t n, double *out,
                               size_t out_stride, double *work);

/* out[k * n + i] = x_i'c_k for n rows and m columns, `column_stride` doubles apart, which hold
 * zeros from dim to ceil4(dim). */
typedef void rows_times_columns_fn(const float *const *x, uint32_t n, uint32_t dim,
                                   const double *column, size_t column_stride, uint32_t m,
                                   double *out);

/* s <- C^-1 W^(1/2) s for the lower triangle C, by columns of n, and the roots of the weights W;
 * s: (n, columns). */
typedef void whiten_fn(const double *c, const double *root, uint32_t n, double *s, size_t columns);

/* g <- g - t't: the columns 0..stride-1 of g, `stride` doubles apart, each from the row j & ~7 on;
 * t: (n, stride).  stride is a multiple of 8, g and t are aligned to 64 bytes. */
typedef void lose_squares_fn(double *g, size_t stride, const double *t, uint32_t n);

#endif
