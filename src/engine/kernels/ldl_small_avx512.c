/* ldl_small_avx512.c - the kernels of ldl.h for at most 15 features.  The operations and their
 * order are those of ldl_kernels.h.
 *
 * A row with its reward fits in two vectors of eight doubles, and so does a column of L.  A round
 * is one long chain of dependent steps (each column of the update needs a division of the one
 * before), and what surrounds the chain costs more than the arithmetic: so everything stays in
 * registers, and lanes that are not there are masked off.
 */
#include "engine/kernels/table.h"

#if OLTR_X86

#include <immintrin.h>

#include "engine/kernels/lanes_avx2.h"

/* The first n of eight lanes, or all. */
AVX512_INLINE __mmask8 first_lanes(size_t n)
{
    return (__mmask8)(n < 8 ? (1u << n) - 1 : 0xFF);
}

/* Lanes 0..7 and 8..15 of a row or a column. */
typedef struct sixteen {
    __m512d low, high;
} sixteen;

/* Which lanes a row of `dim` features has, and where its high ones begin. */
typedef struct shape {
    __mmask8 low, high;
    size_t far;
} shape;

AVX512_INLINE shape shape_of(uint32_t dim)
{
    return (shape){first_lanes(dim), dim > 8 ? first_lanes(dim - 8) : 0, dim > 8 ? 8 : 0};
}

AVX512_INLINE sixteen load_row(const float *x, shape s)
{
    return (sixteen){_mm512_cvtps_pd(_mm256_maskz_loadu_ps(s.low, x)),
                     _mm512_cvtps_pd(_mm256_maskz_loadu_ps(s.high, x + s.far))};
}

AVX512_INLINE __m512d pick(sixteen from, __m512i lanes)
{
    return _mm512_permutex2var_pd(from.low, lanes, from.high);
}

/* ---- the sums */

/* Where the elements of the packed triangle of 15 features stand.  The triangle of fewer features
 * is the end of this one, with as many taken off each number as features are missing. */
enum { ELEMENTS = LDL_SMALL * (LDL_SMALL + 1) / 2 };
/* clang-format off */
static const uint8_t row_of[ELEMENTS + 8] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    6, 7, 8, 9, 10, 11, 12, 13, 14,
    7, 8, 9, 10, 11, 12, 13, 14,
    8, 9, 10, 11, 12, 13, 14,
    9, 10, 11, 12, 13, 14,
    10, 11, 12, 13, 14,
    11, 12, 13, 14,
    12, 13, 14,
    13, 14,
    14};
static const uint8_t column_of[ELEMENTS + 8] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
    4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
    5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
    6, 6, 6, 6, 6, 6, 6, 6, 6,
    7, 7, 7, 7, 7, 7, 7, 7,
    8, 8, 8, 8, 8, 8, 8,
    9, 9, 9, 9, 9, 9,
    10, 10, 10, 10, 10,
    11, 11, 11, 11,
    12, 12, 12,
    13, 13,
    14};
/* clang-format on */

/* Eight numbers of a table, less `missing`. */
AVX512_INLINE __m512i load_places(const uint8_t *at, __m512i missing)
{
    return _mm512_sub_epi64(
        _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)at)), missing);
}

/* The sums of products of a few features, and where their places begin in the tables. */
typedef struct triangle {
    double *gram;
    size_t elements, skipped;
    __m512i missing;
    __mmask8 last; /* lanes of the last eight elements that are there */
} triangle;

AVX512_INLINE triangle triangle_of(double *gram, uint32_t dim)
{
    size_t elements = dim * (dim + 1) / 2;
    return (triangle){gram, elements, ELEMENTS - elements,
                      _mm512_set1_epi64((long long)(LDL_SMALL - dim)), first_lanes(elements % 8)};
}

/* n rows, read to be learned. */
typedef struct small_rows {
    shape s;
    sixteen x[UPDATE_ROWS], weighted[UPDATE_ROWS];
    __m512d y[UPDATE_ROWS];
    __m128d weight[UPDATE_ROWS];
} small_rows;

AVX512_INLINE small_rows read_rows(uint32_t dim, const float *const *x, const double *y,
                                   const double *weight, int n)
{
    small_rows r;
    r.s = shape_of(dim);
    for (int k = 0; k < n; k++) {
        r.x[k] = load_row(x[k], r.s);
        r.y[k] = _mm512_set1_pd(y[k]);
        r.weight[k] = _mm_set_sd(weight ? weight[k] : 1);
        __m512d w = _mm512_broadcastsd_pd(r.weight[k]);
        r.weighted[k] = (sixteen){_mm512_mul_pd(r.x[k].low, w), _mm512_mul_pd(r.x[k].high, w)};
    }
    return r;
}

/* What the elements e..e+7, those there are, gain by n rows (a constant). */
AVX512_INLINE void add_elements(const triangle *t, size_t e, const small_rows *r, int n)
{
    __mmask8 lanes = e + 8 <= t->elements ? 0xFF : t->last;
    __m512i i = load_places(row_of + t->skipped + e, t->missing);
    __m512i j = load_places(column_of + t->skipped + e, t->missing);
    __m512d sum = _mm512_maskz_loadu_pd(lanes, t->gram + e);
    for (int k = 0; k < n; k++)
        sum = _mm512_fmadd_pd(pick(r->weighted[k], j), pick(r->x[k], i), sum);
    _mm512_mask_storeu_pd(t->gram + e, lanes, sum);
}

AVX512_INLINE void add_moment(double *moment, const small_rows *r, int n)
{
    sixteen sum = {_mm512_maskz_loadu_pd(r->s.low, moment),
                   _mm512_maskz_loadu_pd(r->s.high, moment + r->s.far)};
    for (int k = 0; k < n; k++) {
        sum.low = _mm512_fmadd_pd(r->weighted[k].low, r->y[k], sum.low);
        sum.high = _mm512_fmadd_pd(r->weighted[k].high, r->y[k], sum.high);
    }
    _mm512_mask_storeu_pd(moment, r->s.low, sum.low);
    _mm512_mask_storeu_pd(moment + r->s.far, r->s.high, sum.high);
}

AVX512_INLINE void add_rows(double *gram, double *moment, uint32_t dim, const float *const *x,
                            const double *y, const double *weight, int n)
{
    const small_rows r = read_rows(dim, x, y, weight, n);
    const triangle t = triangle_of(gram, dim);
    add_moment(moment, &r, n);
#pragma GCC unroll 1
    for (size_t e = 0; e < t.elements; e += 8)
        add_elements(&t, e, &r, n);
}

TARGET_AVX512 void gram_add_small_avx512(double *gram, double *moment, uint32_t dim,
                                         const float *const *x, const double *y,
                                         const double *weight, uint32_t n_rows)
{
#define PASS(k, n) add_rows(gram, moment, dim, x + (k), y + (k), weight ? weight + (k) : NULL, n)
    IN_PASSES(n_rows, PASS);
#undef PASS
}

/* ---- update and sums */

/* The high lanes of a column.  Of up to 11 features they are four, and behind them is the next
 * column: a load is delayed by a store whose addresses it overlaps, even in lanes that are masked
 * off, so there the vector is no longer than that. */
AVX512_INLINE __m512d load_high(const double *at, __mmask8 lanes, int wide)
{
    return wide ? _mm512_maskz_loadu_pd(lanes, at)
                : _mm512_castpd256_pd512(_mm256_maskz_loadu_pd(lanes, at));
}

AVX512_INLINE void store_high(double *at, __mmask8 lanes, int wide, __m512d v)
{
    if (wide)
        _mm512_mask_storeu_pd(at, lanes, v);
    else
        _mm256_mask_storeu_pd(at, lanes, _mm512_castpd512_pd256(v));
}

/* Column j, all n rows (a constant) of p through it.  From j = 7 on a column has nothing in its low
 * lanes. */
AVX512_INLINE void update_column(ldl f, size_t j, uint32_t below, int has_low, int wide, sixteen *p,
                                 __m128d *alpha, int n)
{
    double *at = f.l + j * f.stride;
    const __m512i lane = _mm512_set1_epi64((long long)j);
    const __m128d one = _mm_set_sd(1), steep = _mm_set_sd(STEEP);
    __m128d d = _mm_load_sd(f.d + j);
    sixteen l = {has_low ? _mm512_maskz_loadu_pd((__mmask8)below, at) : _mm512_setzero_pd(),
                 load_high(at + 8, (__mmask8)(below >> 8), wide)};
    for (int k = 0; k < n; k++) {
        __m512d pj = pick(p[k], lane);
        __m128d x = _mm512_castpd512_pd128(pj), a = _mm_mul_sd(alpha[k], x),
                sum = _mm_fmadd_sd(a, x, d);
        __m128d inverse = _mm_div_sd(one, sum), gamma = _mm_mul_sd(d, inverse);
        __m512d beta = _mm512_broadcastsd_pd(_mm_mul_sd(a, inverse));
        sixteen old = p[k];
        alpha[k] = _mm_mul_sd(alpha[k], gamma);
        if (has_low)
            p[k].low = _mm512_fnmadd_pd(pj, l.low, old.low);
        p[k].high = _mm512_fnmadd_pd(pj, l.high, old.high);
        if (__builtin_expect(_mm_comigt_sd(sum, _mm_mul_sd(steep, d)), 0)) {
            l.low =
                _mm512_fmadd_pd(beta, old.low, _mm512_mul_pd(_mm512_broadcastsd_pd(gamma), l.low));
            l.high = _mm512_fmadd_pd(beta, old.high,
                                     _mm512_mul_pd(_mm512_broadcastsd_pd(gamma), l.high));
        } else {
            l.low = _mm512_fmadd_pd(beta, p[k].low, l.low);
            l.high = _mm512_fmadd_pd(beta, p[k].high, l.high);
        }
        d = sum;
    }
    _mm_store_sd(f.d + j, d);
    if (has_low)
        _mm512_mask_storeu_pd(at, (__mmask8)below, l.low);
    store_high(at + 8, (__mmask8)(below >> 8), wide, l.high);
}

/* Kernel: n rows (a constant), each with its reward behind it, through L and, where gram is not
 * NULL, into the sums.  During the divisions of a column, eight elements of the sums are
 * added; there are always columns enough. */
AVX512_INLINE void learn_rows(ldl f, double *gram, double *moment, const float *const *x,
                              const double *y, const double *weight, int n, int wide)
{
    const small_rows r = read_rows(f.dim, x, y, weight, n);
    const triangle sums = triangle_of(gram, f.dim);
    const size_t elements = gram ? sums.elements : 0;
    const uint32_t reward = 1u << f.dim;
    uint32_t below = 2 * reward - 1; /* the rows of L from the diagonal of the next column on */
    sixteen p[UPDATE_ROWS];
    __m128d alpha[UPDATE_ROWS];
    for (int k = 0; k < n; k++) {
        p[k].low = _mm512_mask_mov_pd(r.x[k].low, (__mmask8)reward, r.y[k]);
        p[k].high = _mm512_mask_mov_pd(r.x[k].high, (__mmask8)(reward >> 8), r.y[k]);
        alpha[k] = r.weight[k];
    }
    if (gram)
        add_moment(moment, &r, n);
#pragma GCC unroll 1
    for (size_t j = 0; j < f.dim; j++) {
        below &= below - 1;
        if (j < 7)
            update_column(f, j, below, 1, wide, p, alpha, n);
        else
            update_column(f, j, below, 0, wide, p, alpha, n);
        if (8 * j < elements)
            add_elements(&sums, 8 * j, &r, n);
    }
}

AVX512_INLINE void learn_all(const ldl *f, double *gram, double *moment, const float *const *x,
                             const double *y, const double *weight, uint32_t n_rows, int wide)
{
#define PASS(k, n)                                                                                 \
    learn_rows(*f, gram, moment, x + (k), y + (k), weight ? weight + (k) : NULL, n, wide)
    IN_PASSES(n_rows, PASS);
#undef PASS
}

TARGET_AVX512 void learn_small_avx512(const ldl *f, double *gram, double *moment,
                                      const float *const *x, const double *y, const double *weight,
                                      uint32_t n_rows, double *work)
{
    (void)work;
    if (f->dim > 11)
        learn_all(f, gram, moment, x, y, weight, n_rows, 1);
    else
        learn_all(f, gram, moment, x, y, weight, n_rows, 0);
}

/* ---- substitution */

/* Four vectors, each to the sum of its lanes. */
AVX512_INLINE __m256d sums_of_four(const __m256d v[4])
{
    __m256d a = _mm256_hadd_pd(v[0], v[1]), b = _mm256_hadd_pd(v[2], v[3]);
    return _mm256_add_pd(_mm256_permute2f128_pd(a, b, 0x20), _mm256_permute2f128_pd(a, b, 0x31));
}

/* x loses the triangle of four columns, last column first; row 4b of column i is at
 * column[i][4b], and l[i] begins there.  The elements of x that others wait for are broadcast first
 * and then lose in all lanes what they lose in x, for a broadcast takes as long as a
 * subtraction. */
AVX512_INLINE __m256d back_triangle(const double *const column[4], size_t b, const __m256d l[4],
                                    __m256d x)
{
    const __m256d last = _mm256_permute4x64_pd(x, 0xFF);
    __m256d third = _mm256_permute4x64_pd(x, 0xAA), second = _mm256_permute4x64_pd(x, 0x55);
    third = _mm256_fnmadd_pd(_mm256_set1_pd(column[2][4 * b + 3]), last, third);
    second = _mm256_fnmadd_pd(_mm256_set1_pd(column[1][4 * b + 3]), last, second);
    second = _mm256_fnmadd_pd(_mm256_set1_pd(column[1][4 * b + 2]), third, second);
    __m256d p = _mm256_unpackhi_pd(l[0], l[1]), q = _mm256_unpackhi_pd(l[2], l[3]),
            r = _mm256_unpacklo_pd(l[0], l[1]);
    __m256d s = _mm256_unpacklo_pd(l[2], l[3]);
    x = _mm256_mask3_fnmadd_pd(_mm256_permute2f128_pd(p, q, 0x31), last, x, 7);
    x = _mm256_mask3_fnmadd_pd(_mm256_permute2f128_pd(r, s, 0x31), third, x, 3);
    return _mm256_mask3_fnmadd_pd(_mm256_permute2f128_pd(p, q, 0x20), second, x, 1);
}

/* Kernel: x = L^-T x, x in `blocks` (1..4, a constant) vectors of four.  A column that is not
 * there is one of zeros. */
AVX512_INLINE void back_blocks(ldl f, size_t blocks, __m256d x[4])
{
#pragma GCC unroll 4
    for (size_t b = blocks; b-- > 0;) {
        const double *column[4];
        __m256d sum[2][4], l[4];
        for (size_t i = 0; i < 4; i++) {
            const int there = b + 1 < blocks || 4 * b + i < f.dim;
            column[i] = f.l + (there ? 4 * b + i : 0) * f.stride;
            l[i] = _mm256_maskz_loadu_pd(there ? 0xF : 0, column[i] + 4 * b);
            sum[0][i] = sum[1][i] = _mm256_setzero_pd();
        }
#pragma GCC unroll 4
        for (size_t q = blocks; --q > b;)
            for (size_t i = 0; i < 4; i++)
                sum[(blocks - 1 - q) % 2][i] = _mm256_fmadd_pd(_mm256_loadu_pd(column[i] + 4 * q),
                                                               x[q], sum[(blocks - 1 - q) % 2][i]);
        for (size_t i = 0; i < 4; i++)
            sum[0][i] = _mm256_add_pd(sum[0][i], sum[1][i]);
        if (b + 1 < blocks) /* below the last block there is nothing */
            x[b] = _mm256_sub_pd(x[b], sums_of_four(sum[0]));
        x[b] = back_triangle(column, b, l, x[b]);
    }
}

AVX512_INLINE void back_and_store(const ldl *f, size_t blocks, __m256d x[4], double *out)
{
    const size_t last = blocks - 1;
    back_blocks(*f, blocks, x);
    for (size_t b = 0; b < last; b++)
        _mm256_storeu_pd(out + 4 * b, x[b]);
    d4_store_first(out + 4 * last, x[last], f->dim - 4 * last);
}

/* x: four vectors of four, those that are not there unread. */
AVX512_INLINE void back_small(const ldl *f, __m256d x[4], double *out)
{
    if (f->dim > 12)
        back_and_store(f, 4, x, out);
    else if (f->dim > 8)
        back_and_store(f, 3, x, out);
    else if (f->dim > 4)
        back_and_store(f, 2, x, out);
    else
        back_and_store(f, 1, x, out);
}

/* u of the four columns from c on, with noise where there is any. */
AVX512_INLINE __m256d begin_block(const ldl *f, double scale, const float *z, size_t c)
{
    if (c >= f->dim)
        return _mm256_setzero_pd();
    const __mmask8 here = first_lanes(f->dim - c) & 0xF;
    const double *u = f->l + c * f->stride + f->dim;
    __m256d x = _mm256_setr_pd(u[0], here & 2 ? u[f->stride] : 0, here & 4 ? u[2 * f->stride] : 0,
                               here & 8 ? u[3 * f->stride] : 0);
    if (!z)
        return x;
    __m256d deviation = _mm256_sqrt_pd(_mm256_loadu_pd(f->d + c));
    __m256d noise = _mm256_div_pd(_mm256_cvtps_pd(_mm_maskz_loadu_ps(here, z + c)), deviation);
    return _mm256_fmadd_pd(_mm256_set1_pd(scale), noise, x);
}

TARGET_AVX512 void sample_small_avx512(const ldl *f, double scale, const float *z, double *theta)
{
    __m256d x[4];
    for (size_t b = 0; b < 4; b++)
        x[b] = begin_block(f, scale, z, 4 * b);
    back_small(f, x, theta);
}

/* x = L^-1 x, column by column, four of them in a block.  As in back_triangle, their x_j are
 * broadcast at once and lose in all lanes what they lose in x. */
AVX512_INLINE sixteen forward(const ldl *f, sixteen x)
{
    uint32_t below = (1u << f->dim) - 1; /* the elements from x_j on */
#pragma GCC unroll 1
    for (size_t c = 0; c < f->dim; c += 4) {
        __m512d head[4];
        for (size_t i = 0; i < 4; i++)
            head[i] = pick(x, _mm512_set1_epi64((long long)(c + i)));
        for (size_t i = 0; i < 4 && c + i < f->dim; i++) {
            const double *l = f->l + (c + i) * f->stride;
            below &= below - 1;
            const __mmask8 low = (__mmask8)below, high = (__mmask8)(below >> 8);
            for (size_t k = i + 1; k < 4; k++)
                head[k] = _mm512_fnmadd_pd(_mm512_set1_pd(l[c + k]), head[i], head[k]);
            x.low = _mm512_mask3_fnmadd_pd(_mm512_maskz_loadu_pd(low, l), head[i], x.low, low);
            x.high =
                _mm512_mask3_fnmadd_pd(_mm512_maskz_loadu_pd(high, l + 8), head[i], x.high, high);
        }
    }
    return x;
}

/* Four elements, from c on, divided by d; those that are not there stay. */
AVX512_INLINE __m256d divided(const ldl *f, __m256d x, size_t c)
{
    const __mmask8 here = f->dim > c ? first_lanes(f->dim - c) & 0xF : 0;
    return _mm256_mask_div_pd(x, here, x, _mm256_maskz_loadu_pd(here, f->d + c));
}

/* Eight elements from c on, in two halves: so they were stored a moment ago, and a load of what two
 * stores have written waits until both are through. */
AVX512_INLINE __m512d load_halves(const double *x, uint32_t dim, size_t c)
{
    return _mm512_insertf64x4(_mm512_castpd256_pd512(d4_load_first(x + c, dim - c)),
                              d4_load_first(x + c + 4, dim > c + 4 ? dim - c - 4 : 0), 1);
}

/* The last block is divided first, for the way back begins there. */
TARGET_AVX512 void solve_small_avx512(const ldl *f, const double *rhs, double *x)
{
    sixteen v = {load_halves(rhs, f->dim, 0),
                 f->dim > 8 ? load_halves(rhs, f->dim, 8) : _mm512_setzero_pd()};
    v = forward(f, v);
    __m256d block[4] = {_mm512_castpd512_pd256(v.low), _mm512_extractf64x4_pd(v.low, 1),
                        _mm512_castpd512_pd256(v.high), _mm512_extractf64x4_pd(v.high, 1)};
    if (f->dim > 12)
        block[3] = divided(f, block[3], 12);
    if (f->dim > 8)
        block[2] = divided(f, block[2], 8);
    block[1] = divided(f, block[1], 4);
    block[0] = divided(f, block[0], 0);
    back_small(f, block, x);
}

/* ---- quadratic forms */

/* Eight rows of eight floats to eight columns. */
AVX512_INLINE void transpose_eight(__m256 m[8])
{
    __m256 a[8], b[8];
    for (int i = 0; i < 8; i += 2) {
        a[i] = _mm256_unpacklo_ps(m[i], m[i + 1]);
        a[i + 1] = _mm256_unpackhi_ps(m[i], m[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; k++) {
            b[i + 2 * k] = _mm256_shuffle_ps(a[i + k], a[i + 2 + k], 0x44);
            b[i + 2 * k + 1] = _mm256_shuffle_ps(a[i + k], a[i + 2 + k], 0xEE);
        }
    for (int i = 0; i < 4; i++) {
        m[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
        m[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
    }
}

/* Feature j of eight rows, the first `count` of which are there, in w[j]. */
AVX512_INLINE void load_features(const float *x, size_t stride, uint32_t count, shape s,
                                 __m512d w[16])
{
    __m256 low[8], high[8];
    for (uint32_t i = 0; i < 8; i++) {
        const float *row = x + (i < count ? i : 0) * stride;
        low[i] = _mm256_maskz_loadu_ps(s.low, row);
        high[i] = _mm256_maskz_loadu_ps(s.high, row + s.far);
    }
    transpose_eight(low);
    for (int j = 0; j < 8; j++)
        w[j] = _mm512_cvtps_pd(low[j]);
    if (s.far) {
        transpose_eight(high);
        for (int j = 0; j < 8; j++)
            w[8 + j] = _mm512_cvtps_pd(high[j]);
    }
}

/* Kernel: 16 rows side by side, eight in a vector.  Column by column, so that the elements below
 * w_j lose l_rj w_j independently of each other; each loses in the order j = 0, 1, ..., r-1 all the
 * same.  most: a constant, at least dim.  Up to 12 features the rows stay in registers. */
AVX512_INLINE void quadratic_16(const ldl *f, const double *inverse, __m512d a[16], __m512d b[16],
                                __m512d sum[2], size_t most)
{
    const size_t dim = f->dim;
    sum[0] = sum[1] = _mm512_setzero_pd();
#pragma GCC unroll 16
    for (size_t j = 0; j < most; j++) {
        if (j >= dim)
            break;
        const double *l = f->l + j * f->stride;
        const __m512d by = _mm512_set1_pd(inverse[j]);
        sum[0] = _mm512_fmadd_pd(_mm512_mul_pd(a[j], by), a[j], sum[0]);
        sum[1] = _mm512_fmadd_pd(_mm512_mul_pd(b[j], by), b[j], sum[1]);
#pragma GCC unroll 16
        for (size_t r = j + 1; r < most; r++) {
            if (r >= dim)
                break;
            const __m512d lrj = _mm512_set1_pd(l[r]);
            a[r] = _mm512_fnmadd_pd(lrj, a[j], a[r]);
            b[r] = _mm512_fnmadd_pd(lrj, b[j], b[r]);
        }
    }
}

AVX512_INLINE void quadratic_small(const ldl *f, const float *x, size_t stride, uint32_t n,
                                   double *out, double *inverse, size_t most)
{
    const shape s = shape_of(f->dim);
    for (size_t j = 0; j < f->dim; j++)
        inverse[j] = 1 / f->d[j];
    for (uint32_t first = 0; first < n; first += 16) {
        uint32_t left = n - first, more = left > 8 ? left - 8 : 0;
        const float *at = x + first * stride;
        __m512d a[16], b[16], sum[2];
        load_features(at, stride, left, s, a);
        load_features(more ? at + 8 * stride : at, stride, more, s, b);
        quadratic_16(f, inverse, a, b, sum, most);
        _mm512_mask_storeu_pd(out + first, first_lanes(left), sum[0]);
        _mm512_mask_storeu_pd(out + first + 8, more ? first_lanes(more) : 0, sum[1]);
    }
}

TARGET_AVX512 void quadratic_small_avx512(const ldl *f, const float *x, size_t stride, uint32_t n,
                                          double *out, double *work)
{
    if (f->dim > 12)
        quadratic_small(f, x, stride, n, out, work, LDL_SMALL);
    else if (f->dim > 8)
        quadratic_small(f, x, stride, n, out, work, 12);
    else
        quadratic_small(f, x, stride, n, out, work, 8);
}

#else
typedef int no_avx512; /* an empty translation unit is not C */
#endif
