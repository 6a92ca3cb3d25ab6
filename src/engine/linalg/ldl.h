/* ldl.h - a symmetric positive definite matrix V = L D L' that grows by observed rows, and its
 * right-hand side with it.
 *
 * L is unit lower triangular, kept column by column, and carries one row more than V: the
 * right-hand side b, as if it were row `dim` of the matrix.  That extra row of L is u = D^-1 L^-1
 * b, kept right by the very update that keeps L, so that the estimate V^-1 b is one
 * back-substitution away, and so is a sample from N(V^-1 b, scale^2 V^-1):
 *     theta = L^-T (u + scale D^-1/2 z),   z standard normal.
 * Rows are added by the stable rank-one update of Gill, Golub, Murray and Saunders (1974, method
 * C1), with the other formula of Fletcher and Powell (1974) where a row multiplies a pivot more
 * than fourfold, all rows of a round in one pass over L: two multiply-adds an element and row, no
 * square root, no inverse, no downdate.  Each kernel has a plain C twin with the same bits.
 */
#ifndef OLTR_ENGINE_LINALG_LDL_H
#define OLTR_ENGINE_LINALG_LDL_H

#include "engine/kernels/table.h"

/* How many doubles l and d take together, and the view of such memory (aligned to 64 bytes). */
static inline size_t ldl_doubles(uint32_t dim)
{
    return dim * ldl_stride(dim) + ceil4(dim);
}

static inline ldl ldl_view(double *memory, uint32_t dim)
{
    size_t stride = ldl_stride(dim);
    return (ldl){dim, stride, memory, memory + dim * stride};
}

/* V = ridge I, b = 0. */
void ldl_reset(const ldl *f, double ridge);

/* V = gram + ridge I from scratch, b = moment.  gram: packed lower triangle by columns, (dim
 * (dim+1) / 2).  Returns 0, and leaves f useless, if V is not positive definite to working
 * precision.  moment NULL means 0. */
static inline bool ldl_factor(const ldl *f, const double *gram, const double *moment, double ridge)
{
    return KERNEL(ldl_factor)(f, gram, moment, ridge, 0);
}

/* The same for a gram that is a sum of squares but for its rounding: where that swallows the ridge,
 * the diagonal is raised by as small a factor 1 + lift as makes V positive definite.  Returns the
 * lift, 0 as a rule and at most LDL_MOST_LIFT, or a negative number if V is not finite or not
 * nearly a sum of squares; then f is useless.  Sums of rows that repeat stray from the exact ones
 * by up to 2^-54 of themselves a row (5e-18 on average), and the lift makes up for as much. */
#define LDL_MOST_LIFT 1e-2
double ldl_factor_nearby(const ldl *f, const double *gram, const double *moment, double ridge);

/* V += sum_k w_k x_k x_k', b += sum_k w_k x_k y_k over n_rows rows; x: (n_rows) pointers to (dim)
 * floats; weight NULL means all 1. work: room for ldl_update_work(dim) doubles. */
static inline size_t ldl_update_work(uint32_t dim)
{
    return UPDATE_ROWS * ldl_stride(dim);
}

static inline void ldl_update(const ldl *f, const float *const *x, const double *y,
                              const double *weight, uint32_t n_rows, double *work)
{
    KERNEL(ldl_update)(f, x, y, weight, n_rows, work);
}

/* theta = V^-1 b + scale L^-T D^-1/2 z; z NULL: the estimate alone.  theta: (dim). */
static inline void ldl_sample(const ldl *f, double scale, const float *z, double *theta)
{
    KERNEL(ldl_sample)(f, scale, z, theta);
}

/* x = V^-1 rhs for any right-hand side; x may be rhs. */
static inline void ldl_solve(const ldl *f, const double *rhs, double *x)
{
    KERNEL(ldl_solve)(f, rhs, x);
}

/* out[i] = x_i' V^-1 x_i for n rows, `stride` floats apart.  work: room for ldl_quadratic_work(dim)
 * doubles. */
static inline size_t ldl_quadratic_work(uint32_t dim)
{
    return (QUADRATIC_ITEMS + 1) * ceil4(dim);
}

static inline void ldl_quadratic(const ldl *f, const float *x, size_t stride, uint32_t n,
                                 double *out, double *work)
{
    KERNEL(ldl_quadratic)(f, x, stride, n, out, work);
}

/* What drift has done: the largest error of column j of L D L', from its diagonal down, against V =
 * gram + ridge I, and of L D u against b = moment. Element (r, j) counts relative to sqrt(V_rr
 * V_jj), element r of b relative to sqrt(V_rr squares): the largest they could be, and what
 * rounding is proportional to, whatever the units of the features.  squares: of the rewards, or
 * b'V^-1 b for a factor that was just made; where large rewards have cancelled, b'V^-1 b itself is
 * no measure of the rounding they left.  work: (dim). */
double ldl_column_error(const ldl *f, const double *gram, double ridge, uint32_t j, double *work);
double ldl_moment_error(const ldl *f, const double *gram, const double *moment, double ridge,
                        double squares, double *work);

/* b'V^-1 b = u'D u. */
double ldl_explained(const ldl *f);

/* out[i] = sum_j x_ij theta_j for n rows, `stride` floats apart.  Returns 1 when all of them are
 * finite. */
static inline bool rows_times(const float *x, size_t stride, uint32_t n, uint32_t dim,
                              const double *theta, double *out)
{
    return KERNEL(rows_times)(x, stride, n, dim, theta, out);
}

/* out[k][i] = sum_j x_ij theta[k]_j for SEVERAL thetas in one pass over the rows. */
static inline bool rows_times_several(const float *x, size_t stride, uint32_t n, uint32_t dim,
                                      const double *const *theta, double *const *out)
{
    return KERNEL(rows_times_several)(x, stride, n, dim, theta, out);
}

/* 1 when all features of n rows, those that `row` names or, where it is NULL, the first, are finite
 * and within +-most. */
static inline bool rows_within(const float *x, size_t stride, const uint32_t *row, uint32_t n,
                               uint32_t dim, float most)
{
    return KERNEL(rows_within)(x, stride, row, n, dim, most);
}

/* gram += sum_k w_k x_k x_k' (packed lower triangle by columns), moment += sum_k w_k x_k y_k.
 * Products of two floats are exact in double, so with weight NULL the sums are the same bits
 * whatever the instruction set. */
static inline void gram_add(double *gram, double *moment, uint32_t dim, const float *const *x,
                            const double *y, const double *weight, uint32_t n_rows)
{
    KERNEL(gram_add)(gram, moment, dim, x, y, weight, n_rows);
}

/* Both at once: ldl_update() and gram_add(). */
static inline void ldl_learn(const ldl *f, double *gram, double *moment, const float *const *x,
                             const double *y, const double *weight, uint32_t n_rows, double *work)
{
    KERNEL(ldl_learn)(f, gram, moment, x, y, weight, n_rows, work);
}

#endif
