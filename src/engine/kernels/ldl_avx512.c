/* ldl_avx512.c - the kernels of ldl.h that gain by vectors of eight doubles: the products of many
 * rows with several thetas, whose sums fill 16 registers, and the sums of rows.  The operations and
 * their order are those of ldl_kernels.h.
 *
 * A vector may begin and end with lanes that are masked off, so that columns and rows of any length
 * need no other code for their ends.
 */
#include "engine/kernels/table.h"

#if OLTR_X86

#include <immintrin.h>

/* The first n of eight lanes, or all. */
AVX512_INLINE __mmask8 first_lanes(size_t n)
{
    return (__mmask8)(n < 8 ? (1u << n) - 1 : 0xFF);
}

AVX512_INLINE __m512d load_floats(const float *x, __mmask8 lanes)
{
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(lanes, x));
}

/* ---- many rows */

/* Two rows' partial sums, each four even and four odd, to four of each. */
AVX512_INLINE __m512d even_and_odd(__m512d a, __m512d b)
{
    return _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x44), _mm512_shuffle_f64x2(a, b, 0xEE));
}

/* Four rows' partial sums to their four sums. */
AVX512_INLINE __m256d sums_of(const __m512d sum[4])
{
    __m512d a = even_and_odd(sum[0], sum[1]), b = even_and_odd(sum[2], sum[3]);
    __m512d pairs = _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
    __m256d low = _mm512_castpd512_pd256(_mm512_shuffle_f64x2(pairs, pairs, 0x08));
    __m256d high = _mm512_castpd512_pd256(_mm512_shuffle_f64x2(pairs, pairs, 0x0D));
    return _mm256_permute4x64_pd(_mm256_add_pd(low, high),
                                 0xD8); /* rows 0, 2, 1, 3 in their order */
}

AVX512_INLINE __mmask8 not_finite(__m256d x)
{
    return _mm256_fpclass_pd_mask(x, 0x99); /* NaN of either kind, infinity of either sign */
}

/* ---- several thetas */

/* Kernel: n rows (1 or 4, a constant) times each theta.  Fetches what lies `ahead` bytes behind
 * them; 0: nothing. */
AVX512_INLINE void rows_times_each(const float *x, size_t stride, int n, uint32_t dim,
                                   const double *const *theta, size_t ahead, __m256d *product)
{
    __m512d sum[4][SEVERAL], row[4];
    size_t j = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < SEVERAL; k++)
            sum[i][k] = _mm512_setzero_pd();
    for (; j + 8 <= dim; j += 8) {
        for (int i = 0; i < n; i++) {
            const float *at = x + (size_t)i * stride + j;
            if (ahead && j % LINE_FLOATS == 0)
                _mm_prefetch((const char *)((uintptr_t)at + ahead), _MM_HINT_T0);
            row[i] = _mm512_cvtps_pd(_mm256_loadu_ps(at));
        }
        for (int k = 0; k < SEVERAL; k++) {
            __m512d t = _mm512_loadu_pd(theta[k] + j);
            for (int i = 0; i < n; i++)
                sum[i][k] = _mm512_fmadd_pd(row[i], t, sum[i][k]);
        }
    }
    if (j < dim) {
        __mmask8 there = first_lanes(dim - j), touched = first_lanes(ceil4(dim - j));
        for (int k = 0; k < SEVERAL; k++)
            for (int i = 0; i < n; i++)
                sum[i][k] = _mm512_mask3_fmadd_pd(load_floats(x + (size_t)i * stride + j, there),
                                                  _mm512_maskz_loadu_pd(there, theta[k] + j),
                                                  sum[i][k], touched);
    }
    for (int i = 0; i < n; i++)
        product[i] = sums_of(sum[i]);
}

TARGET_AVX512 bool rows_within_avx512(const float *x, size_t stride, const uint32_t *row,
                                      uint32_t n, uint32_t dim, float most)
{
    const __m512i unsigned_bits = _mm512_set1_epi32(INT32_MAX),
                  limit = _mm512_castps_si512(_mm512_set1_ps(most));
    const __mmask16 last = (__mmask16)((1u << dim % 16) - 1);
    __m512i largest = _mm512_setzero_si512();
    for (uint32_t i = 0; i < n; i++) {
        const float *at = x + (row ? row[i] : i) * stride;
        for (uint32_t j = 0; j + 16 <= dim; j += 16, at += 16)
            largest =
                _mm512_max_epi32(largest, _mm512_and_si512(unsigned_bits, _mm512_loadu_si512(at)));
        largest = _mm512_max_epi32(
            largest, _mm512_and_si512(unsigned_bits, _mm512_maskz_loadu_epi32(last, at)));
    }
    return !_mm512_cmpgt_epi32_mask(largest, limit);
}

AVX512_INLINE void transpose(__m256d four[4])
{
    __m256d a = _mm256_unpacklo_pd(four[0], four[1]), b = _mm256_unpackhi_pd(four[0], four[1]),
            c = _mm256_unpacklo_pd(four[2], four[3]), d = _mm256_unpackhi_pd(four[2], four[3]);
    four[0] = _mm256_permute2f128_pd(a, c, 0x20);
    four[1] = _mm256_permute2f128_pd(b, d, 0x20);
    four[2] = _mm256_permute2f128_pd(a, c, 0x31);
    four[3] = _mm256_permute2f128_pd(b, d, 0x31);
}

/* Four rows from row i on. */
AVX512_INLINE __mmask8 four_times_each(const float *x, size_t stride, uint32_t i, uint32_t dim,
                                       const double *const *theta, size_t ahead, double *const *out)
{
    __m256d four[4];
    __mmask8 bad = 0;
    rows_times_each(x + i * stride, stride, 4, dim, theta, ahead, four);
    transpose(four);
    for (int k = 0; k < SEVERAL; k++) {
        bad |= not_finite(four[k]);
        _mm256_storeu_pd(out[k] + i, four[k]);
    }
    return bad;
}

TARGET_AVX512 bool rows_times_several_avx512(const float *x, size_t stride, uint32_t n,
                                             uint32_t dim, const double *const *theta,
                                             double *const *out)
{
    const uint32_t half = rows_are_streamed(stride, n, dim) ? n / 8 * 4 : 0; /* two streams */
    const size_t next_four = 4 * stride * sizeof *x;
    uint32_t i = 0;
    __mmask8 bad = 0;
    for (; i < half; i += 4) {
        bad |= four_times_each(x, stride, i, dim, theta, next_four, out);
        bad |= four_times_each(x, stride, half + i, dim, theta, next_four, out);
    }
    for (i = 2 * half; i + 4 <= n; i += 4)
        bad |= four_times_each(x, stride, i, dim, theta, 0, out);
    for (; i < n; i++) {
        double each[SEVERAL];
        __m256d one;
        rows_times_each(x + i * stride, stride, 1, dim, theta, 0, &one);
        bad |= not_finite(one);
        _mm256_storeu_pd(each, one);
        for (int k = 0; k < SEVERAL; k++)
            out[k][i] = each[k];
    }
    return !bad;
}

/* ---- the sums */

enum { TILE = 256 }; /* rows of gram whose x lie in double on the stack */

typedef struct tile {
    _Alignas(64) double x[UPDATE_ROWS][TILE + 8]; /* rows base.. of each x, and zeros for lanes that
                                                     are masked off */
    size_t base, to;
} tile;

/* What four columns, whose row 0 would be at g[q], gain. */
typedef struct columns {
    double *g[4];
    __m512d t[4][UPDATE_ROWS];
} columns;

AVX512_INLINE void load_columns(const columns *c, const __mmask8 lanes[4], size_t i, __m512d sum[4])
{
    for (int q = 0; q < 4; q++)
        sum[q] = _mm512_maskz_loadu_pd(lanes[q], c->g[q] + i);
}

AVX512_INLINE void add_to_columns(const columns *c, const __mmask8 lanes[4], const tile *rows,
                                  size_t i, int n, __m512d sum[4])
{
    for (int k = 0; k < n; k++) {
        __m512d x = _mm512_loadu_pd(&rows->x[k][i - rows->base]);
        for (int q = 0; q < 4; q++)
            sum[q] = _mm512_fmadd_pd(c->t[q][k], x, sum[q]);
    }
    for (int q = 0; q < 4; q++)
        _mm512_mask_storeu_pd(c->g[q] + i, lanes[q], sum[q]);
}

/* The columns j..j+3, those there are, of the tile.  Columns lie end to end, and a load is delayed
 * by a store whose addresses it overlaps, even in lanes that are masked off: so what has masked
 * lanes, the first eight rows and the last, is loaded before anything is stored. */
AVX512_INLINE void add_block(double *gram, uint32_t dim, const float *const *x,
                             const double *weight, int n, size_t j, const tile *rows)
{
    columns c;
    static const __mmask8 all[4] = {0xFF, 0xFF, 0xFF, 0xFF};
    __mmask8 first[4], last[4];
    __m512d head[4], tail[4], sum[4];
    size_t from = j >= rows->base ? j : rows->base, count = rows->to - from,
           end = from + (count - 1) / 8 * 8;
    for (size_t q = 0; q < 4; q++) {
        size_t column = j + q < dim ? j + q : j;
        c.g[q] = gram + packed_column(dim, column) - column;
        first[q] =
            (__mmask8)((from == j ? 0xFFu << q : 0xFFu) & (j + q < dim ? first_lanes(count) : 0u));
        last[q] = first_lanes(rows->to - end);
        for (int k = 0; k < n; k++)
            c.t[q][k] = _mm512_set1_pd((double)x[k][column] * (weight ? weight[k] : 1));
    }
    load_columns(&c, first, from, head);
    if (end > from)
        load_columns(&c, last, end, tail);
    add_to_columns(&c, first, rows, from, n, head);
    for (size_t i = from + 8; i < end; i += 8) {
        load_columns(&c, all, i, sum);
        add_to_columns(&c, all, rows, i, n, sum);
    }
    if (end > from)
        add_to_columns(&c, last, rows, end, n, tail);
}

AVX512_INLINE void add_moment(double *moment, uint32_t dim, const float *const *x, const double *y,
                              const double *weight, int n)
{
    for (size_t j = 0; j < dim; j += 8) {
        __mmask8 lanes = first_lanes(dim - j);
        __m512d sum = _mm512_maskz_loadu_pd(lanes, moment + j);
        for (int k = 0; k < n; k++) {
            __m512d t =
                _mm512_mul_pd(load_floats(x[k] + j, lanes), _mm512_set1_pd(weight ? weight[k] : 1));
            sum = _mm512_fmadd_pd(t, _mm512_set1_pd(y[k]), sum);
        }
        _mm512_mask_storeu_pd(moment + j, lanes, sum);
    }
}

AVX512_INLINE void add_to_gram(double *gram, uint32_t dim, const float *const *x,
                               const double *weight, int n)
{
    tile rows;
    for (rows.base = 0; rows.base < dim; rows.base = rows.to) {
        rows.to = rows.base + TILE < dim ? rows.base + TILE : dim;
        for (int k = 0; k < n; k++)
            for (size_t i = rows.base; i < rows.to + 8; i += 8)
                _mm512_store_pd(&rows.x[k][i - rows.base],
                                i < rows.to ? load_floats(x[k] + i, first_lanes(rows.to - i))
                                            : _mm512_setzero_pd());
        for (size_t j = 0; j < rows.to; j += 4)
            add_block(gram, dim, x, weight, n, j, &rows);
    }
}

AVX512_INLINE void add_rows(double *gram, double *moment, uint32_t dim, const float *const *x,
                            const double *y, const double *weight, int n)
{
    add_to_gram(gram, dim, x, weight, n);
    add_moment(moment, dim, x, y, weight, n);
}

TARGET_AVX512 static void wide_gram_add(double *gram, double *moment, uint32_t dim,
                                        const float *const *x, const double *y,
                                        const double *weight, uint32_t n_rows)
{
#define PASS(k, n) add_rows(gram, moment, dim, x + (k), y + (k), weight ? weight + (k) : NULL, n)
    IN_PASSES(n_rows, PASS);
#undef PASS
}

/* ---- by the number of features */

void gram_add_avx512(double *gram, double *moment, uint32_t dim, const float *const *x,
                     const double *y, const double *weight, uint32_t n_rows)
{
    (dim <= LDL_SMALL ? gram_add_small_avx512 : wide_gram_add)(gram, moment, dim, x, y, weight,
                                                               n_rows);
}

void ldl_update_avx512(const ldl *f, const float *const *x, const double *y, const double *weight,
                       uint32_t n_rows, double *work)
{
    if (f->dim <= LDL_SMALL)
        learn_small_avx512(f, NULL, NULL, x, y, weight, n_rows, work);
    else
        ldl_update_avx2(f, x, y, weight, n_rows, work);
}

void ldl_learn_avx512(const ldl *f, double *gram, double *moment, const float *const *x,
                      const double *y, const double *weight, uint32_t n_rows, double *work)
{
    if (f->dim <= LDL_SMALL) {
        learn_small_avx512(f, gram, moment, x, y, weight, n_rows, work);
        return;
    }
    wide_gram_add(gram, moment, f->dim, x, y, weight, n_rows);
    ldl_update_avx2(f, x, y, weight, n_rows, work);
}

void ldl_sample_avx512(const ldl *f, double scale, const float *z, double *theta)
{
    (f->dim <= LDL_SMALL ? sample_small_avx512 : ldl_sample_avx2)(f, scale, z, theta);
}

void ldl_quadratic_avx512(const ldl *f, const float *x, size_t stride, uint32_t n, double *out,
                          double *work)
{
    (f->dim <= LDL_SMALL && n > 4 ? quadratic_small_avx512 : ldl_quadratic_avx2)(f, x, stride, n,
                                                                                 out, work);
}

void ldl_solve_avx512(const ldl *f, const double *rhs, double *x)
{
    (f->dim <= LDL_SMALL ? solve_small_avx512 : ldl_solve_avx2)(f, rhs, x);
}

#else
typedef int no_avx512; /* an empty translation unit is not C */
#endif
