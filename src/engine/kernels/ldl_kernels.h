/* ldl_kernels.h - the sets of kernels behind ldl.h: plain C, AVX2, AVX2 with what gains by AVX-512,
 * and this once more for few features.  They give the same bits.
 *
 * The bits are fixed by saying, for each result, which operations make it and in which order; all
 * sets follow it:
 *   factor     element (r, j) starts from V_rj and loses l_rk (l_jk d_k) for k = 0, 1, ..., j-1,
 * one fused multiply-add each; then l = e * (1 / d_j). update     column by column, in a column row
 * by row of x: p_r -= p_j l_r, then l_r += beta p_r, both fused; in a steep step the second is l_r
 * = gamma l_r + beta p_r with the p_r from before the first, gamma l_r rounded. learn      update
 * and gram_add; neither reads what the other writes. back       columns in blocks of 4 from the
 * end; the part of a dot product below the block in two interleaved sets of 4 partial sums, taken
 * from the end; the sums add as (0+1)+(2+3) after the two sets; then the triangle of the block,
 * last column first. sample     back of u + scale (z / sqrt(d)), the sum fused. forward    element
 * r loses l_rj x_j for j = 0, 1, ..., r-1. solve      x = V^-1 rhs: forward, every element divided
 * by d, back. quadratic  w = L^-1 x like forward, then sum of (w / d) w, in order, with 1 / d
 * rounded first. rows_times two interleaved sets of 4 partial sums from the front, added as in
 * back; a tail is filled up with zeros. gram_add   element (i, j) gains (w x_j) x_i row by row of
 * x, fused (without weights the product is exact, so fused or not is the same).
 */
#ifndef OLTR_ENGINE_KERNELS_LDL_KERNELS_H
#define OLTR_ENGINE_KERNELS_LDL_KERNELS_H

#include "engine/linalg/ldl.h"

enum {
    UPDATE_ROWS = 4,      /* rows of x that go through L in one pass */
    QUADRATIC_ITEMS = 12, /* items whose forward substitution goes on side by side */
};

typedef struct ldl_kernels {
    /* V = (gram + ridge I) with the diagonal multiplied by 1 + lift. */
    int (*factor)(const ldl *f, const double *gram, const double *moment, double ridge,
                  double lift);
    void (*update)(const ldl *f, const float *const *x, const double *y, const double *weight,
                   uint32_t n_rows, double *work);
    void (*learn)(const ldl *f, double *gram, double *moment, const float *const *x,
                  const double *y, const double *weight, uint32_t n_rows, double *work);
    void (*sample)(const ldl *f, double scale, const float *z, double *theta);
    void (*solve)(const ldl *f, const double *rhs, double *x);
    void (*quadratic)(const ldl *f, const float *x, size_t stride, uint32_t n, double *out,
                      double *work);
    int (*rows_times)(const float *x, size_t stride, uint32_t n, uint32_t dim, const double *theta,
                      double *out);
    int (*rows_within)(const float *x, size_t stride, const uint32_t *row, uint32_t n, uint32_t dim,
                       float most);
    void (*gram_add)(double *gram, double *moment, uint32_t dim, const float *const *x,
                     const double *y, const double *weight, uint32_t n_rows);
} ldl_kernels;

extern const ldl_kernels ldl_plain;
extern const ldl_kernels ldl_avx2,
    ldl_avx512; /* the same as ldl_plain in a build without vector kernels */
extern const ldl_kernels ldl_few_avx512; /* of at most LDL_FEW features, likewise */
enum { LDL_FEW = 15 };
/* 16 MiB: from here on rows_times reads its rows from memory, not from a core's share of the
 * caches. */
enum { LDL_STREAM_FLOATS = 4 * 1024 * 1024 };

/* ldl_avx512.c */
int rows_times_avx512(const float *x, size_t stride, uint32_t n, uint32_t dim, const double *theta,
                      double *out);
int rows_within_avx512(const float *x, size_t stride, const uint32_t *row, uint32_t n, uint32_t dim,
                       float most);
void gram_add_avx512(double *gram, double *moment, uint32_t dim, const float *const *x,
                     const double *y, const double *weight, uint32_t n_rows);

/* ldl_few_avx512.c */
void learn_few_avx512(const ldl *f, double *gram, double *moment, const float *const *x,
                      const double *y, const double *weight, uint32_t n_rows, double *work);
void update_few_avx512(const ldl *f, const float *const *x, const double *y, const double *weight,
                       uint32_t n_rows, double *work);
void sample_few_avx512(const ldl *f, double scale, const float *z, double *theta);
void solve_few_avx512(const ldl *f, const double *rhs, double *x);
void gram_add_few_avx512(double *gram, double *moment, uint32_t dim, const float *const *x,
                         const double *y, const double *weight, uint32_t n_rows);

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
static inline int pivot_is_positive(double pivot, double whole)
{
    return pivot > 0x1p-52 * whole && pivot <= 1.7976931348623157e308;
}

/* A step of the update is steep if it multiplies the pivot by more than 4 (the bound is Fletcher
 * and Powell's).  There l + beta (p - p_j l) would take almost all of l away from itself, and what
 * is left would be rounding; gamma l + beta p, gamma = d / sum, is the same without the
 * difference. */
#define STEEP 4.0
static inline int is_steep(double d, double sum)
{
    return sum > STEEP * d;
}

#endif
