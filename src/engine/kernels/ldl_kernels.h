/* ldl_kernels.h - the kernels of the factor V = L D L' (linalg/ldl.h has what they compute).
 *
 * The bits are fixed by the operations that make each result, and their order; all versions follow
 * it:
 *   factor      element (r, j) starts from V_rj and loses l_rk (l_jk d_k) for k = 0, 1, ..., j-1,
 *               one fused multiply-add each; then l = e * (1 / d_j).
 *   update      column by column, in a column row by row of x: p_r -= p_j l_r, then
 *               l_r += beta p_r, both fused; in a steep step the second is
 *               l_r = gamma l_r + beta p_r with the p_r from before the first, gamma l_r rounded.
 *   learn       update and gram_add; neither reads what the other writes.
 *   back        columns in blocks of 4 from the end; the part of a dot product below the block in
 *               two interleaved sets of 4 partial sums, taken from the end; the sums add as
 *               (0+1)+(2+3) after the two sets; then the triangle of the block, last column first.
 *   sample      back of u + scale (z / sqrt(d)), the sum fused.
 *   forward     element r loses l_rj x_j for j = 0, 1, ..., r-1.
 *   solve       x = V^-1 rhs: forward, every element divided by d, back.
 *   quadratic   w = L^-1 x like forward, then sum of (w / d) w, in order, with 1 / d rounded first.
 *   rows_times  two interleaved sets of 4 partial sums from the front, added as in back; a tail is
 *               filled up with zeros.
 *   rows_times_several  each theta as in rows_times.
 *   gram_add    element (i, j) gains (w x_j) x_i row by row of x, fused (without weights the
 *               product is exact, so fused or not is the same).
 */
#ifndef OLTR_ENGINE_KERNELS_LDL_KERNELS_H
#define OLTR_ENGINE_KERNELS_LDL_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ldl {
    uint32_t dim;
    size_t stride; /* doubles from one column of l to the next: at least dim + 1, a multiple of 4 */
    double *l; /* (dim, stride) column j: rows j+1..dim hold L, the last of them u; rows 0..j mean
                  nothing but are finite */
    double *d; /* (dim) the diagonal of D */
} ldl;

/* Columns 4 KiB apart would fall on the same few cache lines; a stride that is an odd multiple of 4
 * spreads them. */
static inline size_t ldl_stride(uint32_t dim)
{
    return (((size_t)dim / 4 + 1) | 1) * 4;
}

enum {
    UPDATE_ROWS = 4,      /* rows of x that go through L in one pass */
    QUADRATIC_ITEMS = 12, /* items whose forward substitution goes on side by side */
    SEVERAL = 4,          /* thetas that rows_times_several takes through the rows together */
    LDL_SMALL = 15,       /* features that the kernels of ldl_small_avx512.c take */
    /* 16 MiB: more rows than that are read by rows_times from memory, not from a core's share of
     * the caches. */
    LDL_STREAM_FLOATS = 4 * 1024 * 1024,
    LINE_FLOATS = 16, /* a cache line */
};

/* More rows than the caches hold, with small gaps: memory is the bound, and rows_times reads them
 * one after the other. */
static inline bool rows_are_streamed(size_t stride, uint32_t n, uint32_t dim)
{
    return (uint64_t)n * dim > LDL_STREAM_FLOATS && stride <= dim + LINE_FLOATS;
}

/* V = (gram + ridge I) with the diagonal multiplied by 1 + lift. */
typedef bool ldl_factor_fn(const ldl *f, const double *gram, const double *moment, double ridge,
                           double lift);
typedef void ldl_update_fn(const ldl *f, const float *const *x, const double *y,
                           const double *weight, uint32_t n_rows, double *work);
typedef void ldl_learn_fn(const ldl *f, double *gram, double *moment, const float *const *x,
                          const double *y, const double *weight, uint32_t n_rows, double *work);
typedef void ldl_sample_fn(const ldl *f, double scale, const float *z, double *theta);
typedef void ldl_solve_fn(const ldl *f, const double *rhs, double *x);
typedef void ldl_quadratic_fn(const ldl *f, const float *x, size_t stride, uint32_t n, double *out,
                              double *work);
typedef bool rows_times_fn(const float *x, size_t stride, uint32_t n, uint32_t dim,
                           const double *theta, double *out);
/* Of SEVERAL thetas; 1 when all of them are finite. */
typedef bool rows_times_several_fn(const float *x, size_t stride, uint32_t n, uint32_t dim,
                                   const double *const *theta, double *const *out);
typedef bool rows_within_fn(const float *x, size_t stride, const uint32_t *row, uint32_t n,
                            uint32_t dim, float most);
typedef void gram_add_fn(double *gram, double *moment, uint32_t dim, const float *const *x,
                         const double *y, const double *weight, uint32_t n_rows);

/* ldl_small_avx512.c: at most LDL_SMALL features */
ldl_learn_fn learn_small_avx512; /* gram NULL: the factor alone */
ldl_sample_fn sample_small_avx512;
ldl_solve_fn solve_small_avx512;
ldl_quadratic_fn quadratic_small_avx512;
gram_add_fn gram_add_small_avx512;

/* PASS(k, n) for the rows k .. k+n-1 of n_rows, pass by pass; n is a constant in each. */
#define IN_PASSES(n_rows, PASS)                                                                    \
    do                                                                                             \
        for (uint32_t k = 0; k < (n_rows); k += UPDATE_ROWS)                                       \
            switch ((n_rows)-k) {                                                                  \
            case 1:                                                                                \
                PASS(k, 1);                                                                        \
                break;                                                                             \
            case 2:                                                                                \
                PASS(k, 2);                                                                        \
                break;                                                                             \
            case 3:                                                                                \
                PASS(k, 3);                                                                        \
                break;                                                                             \
            default:                                                                               \
                PASS(k, UPDATE_ROWS);                                                              \
            }                                                                                      \
    while (0)

/* The next multiple of 4. */
static inline size_t ceil4(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/* Where column j of a packed lower triangle begins, its diagonal element first. */
static inline size_t packed_column(size_t dim, size_t j)
{
    return j * dim - j * (j - 1) / 2;
}

/* What makes a pivot too small to be told from 0: it is the difference of numbers of the size of
 * `whole`, each rounded. */
static inline bool pivot_is_positive(double pivot, double whole)
{
    return pivot > 0x1p-52 * whole && pivot <= 1.7976931348623157e308;
}

/* A step of the update is steep if it multiplies the pivot by more than 4 (the bound is Fletcher
 * and Powell's).  There l + beta (p - p_j l) would take almost all of l away from itself, and what
 * is left would be rounding; gamma l + beta p, gamma = d / sum, is the same without the
 * difference. */
#define STEEP 4.0
static inline bool is_steep(double d, double sum)
{
    return sum > STEEP * d;
}

#endif
