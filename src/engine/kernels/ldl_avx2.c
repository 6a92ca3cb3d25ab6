/* ldl_avx2.c - the kernels of ldl.h with vectors of four doubles.  The operations and their order
 * are those of ldl_kernels.h, so the bits are those of the twins in ldl.c; tests/unit/ldl.c
 * compares them.
 *
 * Columns are taken in blocks of four that begin at multiples of four, so that every vector of a
 * column is aligned.  The part of a block on the diagonal is a chain of dependent steps (and of
 * divisions); what is below it is many independent ones.  The update runs the chain of the next
 * block between the pieces of the work below this one, so that neither waits for the other.
 */
#include "engine/kernels/table.h"

#if OLTR_X86

#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "engine/kernels/partial_avx2.h"

/* The first n of four lanes, n = 0..4. */
AVX2_INLINE __m256i first_lanes(size_t n)
{
    static const int64_t lanes[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
    return _mm256_loadu_si256((const __m256i *)(const void *)(lanes + 4 - n));
}

/* The first n of four floats, n = 0..4. */
AVX2_INLINE __m128i first_floats(size_t n)
{
    static const int32_t lanes[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
    return _mm_loadu_si128((const __m128i *)(const void *)(lanes + 4 - n));
}

AVX2_INLINE __m256d load_floats(const float *x, size_t left)
{
    return _mm256_cvtps_pd(left >= 4 ? _mm_loadu_ps(x) : _mm_maskload_ps(x, first_floats(left)));
}

/* Lane i in all four; i is a constant where this is inlined. */
AVX2_INLINE __m256d lane(__m256d v, int i)
{
    return i == 0   ? _mm256_permute4x64_pd(v, 0x00)
           : i == 1 ? _mm256_permute4x64_pd(v, 0x55)
           : i == 2 ? _mm256_permute4x64_pd(v, 0xAA)
                    : _mm256_permute4x64_pd(v, 0xFF);
}

/* The lanes above i from `above`, the others from `rest`. */
AVX2_INLINE __m256d lanes_above(__m256d rest, __m256d above, int i)
{
    return i == 0   ? _mm256_blend_pd(rest, above, 0xE)
           : i == 1 ? _mm256_blend_pd(rest, above, 0xC)
           : i == 2 ? _mm256_blend_pd(rest, above, 0x8)
                    : rest;
}

AVX2_INLINE __m256d lanes_below(__m256d rest, __m256d below, int i)
{
    return i == 3   ? _mm256_blend_pd(rest, below, 0x7)
           : i == 2 ? _mm256_blend_pd(rest, below, 0x3)
           : i == 1 ? _mm256_blend_pd(rest, below, 0x1)
                    : rest;
}

/* ---- factor */

/* Takes the `n` finished columns from c on out of column j, from row `row` (a multiple of 4) on. */
AVX2_INLINE void take_out(const ldl *f, size_t c, int n, size_t j, size_t row)
{
    const double *left = f->l + c * f->stride;
    double *l = f->l + j * f->stride;
    __m256d t[4];
    for (int i = 0; i < n; i++)
        t[i] = _mm256_set1_pd(left[(size_t)i * f->stride + j] * f->d[c + (size_t)i]);
    for (size_t r = row; r <= f->dim; r += 4) {
        __m256d e = _mm256_loadu_pd(l + r);
        for (int i = 0; i < n; i++)
            e = _mm256_fnmadd_pd(_mm256_loadu_pd(left + (size_t)i * f->stride + r), t[i], e);
        _mm256_storeu_pd(l + r, e);
    }
}

/* The same for the four columns from j on (a multiple of 4), and four finished ones. */
AVX2_INLINE void take_out_16(ldl f, size_t c, size_t j)
{
    __m256d t[4][4];
    for (size_t i = 0; i < 4; i++)
        for (size_t q = 0; q < 4; q++)
            t[i][q] = _mm256_set1_pd(f.l[(c + i) * f.stride + j + q] * f.d[c + i]);
    for (size_t r = j; r <= f.dim; r += 4) {
        const double *left = f.l + c * f.stride + r;
        double *l = f.l + j * f.stride + r;
        __m256d e[4];
        for (size_t q = 0; q < 4; q++)
            e[q] = _mm256_loadu_pd(l + q * f.stride);
        for (size_t i = 0; i < 4; i++) {
            __m256d li = _mm256_loadu_pd(left + i * f.stride);
            for (size_t q = 0; q < 4; q++)
                e[q] = _mm256_fnmadd_pd(li, t[i][q], e[q]);
        }
        for (size_t q = 0; q < 4; q++)
            _mm256_storeu_pd(l + q * f.stride, e[q]);
    }
}

/* Column j has lost all columns before it: its pivot and its multipliers.  The rows up to j become
 * 0. */
AVX2_INLINE bool finish_column(const ldl *f, size_t j, double whole)
{
    double *l = f->l + j * f->stride, pivot = l[j];
    if (!pivot_is_positive(pivot, whole))
        return false;
    f->d[j] = pivot;
    __m256d inverse = _mm256_set1_pd(1 / pivot);
    size_t row = j & ~(size_t)3;
    __m256d keep = _mm256_castsi256_pd(first_lanes(j - row + 1));
    _mm256_storeu_pd(l + row,
                     _mm256_andnot_pd(keep, _mm256_mul_pd(_mm256_loadu_pd(l + row), inverse)));
    for (size_t r = row + 4; r <= f->dim; r += 4)
        _mm256_storeu_pd(l + r, _mm256_mul_pd(_mm256_loadu_pd(l + r), inverse));
    return true;
}

AVX2_INLINE bool factor_block(const ldl *f, const double *gram, double ridge, double lift, size_t c)
{
    for (size_t j = c; j < c + 4 && j < f->dim; j++) {
        if (j == c + 1)
            take_out(f, c, 1, j, c);
        else if (j == c + 2)
            take_out(f, c, 2, j, c);
        else if (j == c + 3)
            take_out(f, c, 3, j, c);
        if (!finish_column(f, j, (gram[packed_column(f->dim, j)] + ridge) * (1 + lift)))
            return false;
    }
    return true;
}

TARGET_AVX2 bool ldl_factor_avx2(const ldl *f, const double *gram, const double *moment,
                                 double ridge, double lift)
{
    for (size_t j = 0; j < f->dim; j++) {
        double *l = f->l + j * f->stride;
        memset(l, 0, f->stride * sizeof *l);
        memcpy(l + j, gram + packed_column(f->dim, j), (f->dim - j) * sizeof *l);
        l[j] = (l[j] + ridge) * (1 + lift);
        l[f->dim] = moment ? moment[j] : 0;
    }
    for (size_t c = 0; c < f->dim; c += 4) {
        if (!factor_block(f, gram, ridge, lift, c))
            return false;
        size_t j = c + 4;
        for (; j + 4 <= f->dim; j += 4)
            take_out_16(*f, c, j);
        for (; j < f->dim; j++)
            take_out(f, c, 4, j, j & ~(size_t)3);
    }
    for (size_t j = f->dim; j < ceil4(f->dim); j++)
        f->d[j] = 1;
    return true;
}

/* ---- update */

/* What four columns do to the rows below them: p_k -= p l, then l += beta p_k, column i and row of
 * x k. */
typedef struct steps {
    __m256d p[4][UPDATE_ROWS], beta[4][UPDATE_ROWS];
    double gamma[4][UPDATE_ROWS]; /* of a steep step, else -1 */
    bool steep;                   /* one of them is */
} steps;

/* Column c + i through its four rows c..c+3, which `p` holds: makes the column's steps. */
AVX2_INLINE void make_step(ldl f, size_t c, int i, __m256d *p, double *alpha, int n, steps *s)
{
    double *at = f.l + (c + (size_t)i) * f.stride + c, d = f.d[c + (size_t)i];
    __m256d before = _mm256_loadu_pd(at), l = before;
    for (int k = 0; k < n; k++) {
        __m256d pj = lane(p[k], i);
        double x = _mm256_cvtsd_f64(pj), a = alpha[k] * x;
        double sum = fma(a, x, d), inverse = 1 / sum;
        double gamma = d * inverse;
        bool steep = is_steep(d, sum);
        __m256d beta = _mm256_set1_pd(a * inverse), old = p[k];
        alpha[k] *= gamma;
        d = sum;
        p[k] = _mm256_fnmadd_pd(pj, l, p[k]);
        if (__builtin_expect(steep, 0))
            l = _mm256_fmadd_pd(beta, old, _mm256_mul_pd(_mm256_set1_pd(gamma), l));
        else
            l = _mm256_fmadd_pd(beta, p[k], l);
        s->p[i][k] = pj;
        s->beta[i][k] = beta;
        s->gamma[i][k] = steep ? gamma : -1;
        s->steep |= steep;
    }
    f.d[c + (size_t)i] = d;
    _mm256_storeu_pd(at, lanes_above(before, l, i));
}

/* The same as take_many_steps where a step is steep: seldom, so small rather than fast. */
TARGET_AVX2 static __attribute__((noinline)) void
take_steep_steps(ldl f, size_t c, size_t row, size_t end, double *work, int n, const steps *s)
{
    for (; row < end; row += 4)
        for (int i = 0; i < 4; i++) {
            double *l = f.l + (c + (size_t)i) * f.stride + row;
            __m256d e = _mm256_loadu_pd(l);
            for (int k = 0; k < n; k++) {
                double *at = work + (size_t)k * f.stride + row;
                __m256d old = _mm256_loadu_pd(at), p = _mm256_fnmadd_pd(s->p[i][k], e, old);
                if (s->gamma[i][k] >= 0)
                    e = _mm256_fmadd_pd(s->beta[i][k], old,
                                        _mm256_mul_pd(_mm256_set1_pd(s->gamma[i][k]), e));
                else
                    e = _mm256_fmadd_pd(s->beta[i][k], p, e);
                _mm256_storeu_pd(at, p);
            }
            _mm256_storeu_pd(l, e);
        }
}

/* The steps of the columns c..c+3 on `vectors` (1 or 2) times four rows from `row` on. */
AVX2_INLINE void take_steps(ldl f, size_t c, size_t row, int vectors, double *work, int n,
                            const steps *s)
{
    __m256d p[UPDATE_ROWS][2];
    double *l = f.l + c * f.stride + row;
    work += row;
    for (int k = 0; k < n; k++)
        for (int v = 0; v < vectors; v++)
            p[k][v] = _mm256_loadu_pd(work + (size_t)k * f.stride + 4 * v);
    for (int i = 0; i < 4; i++) {
        __m256d e[2];
        for (int v = 0; v < vectors; v++)
            e[v] = _mm256_loadu_pd(l + (size_t)i * f.stride + 4 * v);
        for (int k = 0; k < n; k++) {
            for (int v = 0; v < vectors; v++)
                p[k][v] = _mm256_fnmadd_pd(s->p[i][k], e[v], p[k][v]);
            for (int v = 0; v < vectors; v++)
                e[v] = _mm256_fmadd_pd(s->beta[i][k], p[k][v], e[v]);
        }
        for (int v = 0; v < vectors; v++)
            _mm256_storeu_pd(l + (size_t)i * f.stride + 4 * v, e[v]);
    }
    for (int k = 0; k < n; k++)
        for (int v = 0; v < vectors; v++)
            _mm256_storeu_pd(work + (size_t)k * f.stride + 4 * v, p[k][v]);
}

AVX2_INLINE size_t take_many_steps(ldl f, size_t c, size_t row, size_t end, double *work, int n,
                                   const steps *s)
{
    if (__builtin_expect(s->steep, 0)) {
        take_steep_steps(f, c, row, end, work, n, s);
        return end;
    }
    for (; row + 8 <= end; row += 8) {
        take_steps(f, c, row, 2, work, n, s);
        __asm__ volatile("" ::
                             : "memory"); /* the steps are more than there are registers: leave them
                                             where they are */
    }
    if (row < end)
        take_steps(f, c, row, 1, work, n, s);
    return end;
}

/* One column of the block at c + 4, then a part of what the block at c still has to do. */
AVX2_INLINE size_t step_and_steps(ldl f, size_t c, int i, size_t row, size_t stop, __m256d *p,
                                  double *alpha, double *work, int n, const steps *now, steps *next)
{
    if (c + 4 + (size_t)i < f.dim)
        make_step(f, c + 4, i, p, alpha, n, next);
    return row < stop ? take_many_steps(f, c, row, stop, work, n, now) : row;
}

/* Kernel: n rows (a constant) through L.  work: (n, stride) the rows, rewards behind them, then
 * zeros. */
AVX2_INLINE void update_rows(ldl f, double *work, double *alpha, int n)
{
    const size_t end = ceil4((size_t)f.dim + 1);
    steps both[2];
    __m256d p[UPDATE_ROWS];
    for (int k = 0; k < n; k++)
        p[k] = _mm256_loadu_pd(work + (size_t)k * f.stride);
    both[0].steep = false;
    make_step(f, 0, 0, p, alpha, n, &both[0]);
    if (f.dim > 1)
        make_step(f, 0, 1, p, alpha, n, &both[0]);
    if (f.dim > 2)
        make_step(f, 0, 2, p, alpha, n, &both[0]);
    if (f.dim > 3)
        make_step(f, 0, 3, p, alpha, n, &both[0]);
    for (size_t c = 0; c + 4 < end; c += 4) {
        const steps *now = &both[c / 4 % 2];
        steps *next = &both[(c / 4 + 1) % 2];
        next->steep = false;
        take_many_steps(f, c, c + 4, c + 8, work, n, now);
        for (int k = 0; k < n; k++)
            p[k] = _mm256_loadu_pd(work + (size_t)k * f.stride + c + 4);
        size_t row = c + 8, quarter = (end - row + 31) / 32 * 8; /* an even number of vectors */
        size_t second = row + quarter < end ? row + quarter : end,
               third = second + quarter < end ? second + quarter : end;
        size_t fourth = third + quarter < end ? third + quarter : end;
        row = step_and_steps(f, c, 0, row, second, p, alpha, work, n, now, next);
        row = step_and_steps(f, c, 1, row, third, p, alpha, work, n, now, next);
        row = step_and_steps(f, c, 2, row, fourth, p, alpha, work, n, now, next);
        step_and_steps(f, c, 3, row, end, p, alpha, work, n, now, next);
    }
}

TARGET_AVX2 static void update_1(const ldl *f, double *work, double *alpha)
{
    update_rows(*f, work, alpha, 1);
}

TARGET_AVX2 static void update_2(const ldl *f, double *work, double *alpha)
{
    update_rows(*f, work, alpha, 2);
}

TARGET_AVX2 static void update_3(const ldl *f, double *work, double *alpha)
{
    update_rows(*f, work, alpha, 3);
}

TARGET_AVX2 static void update_4(const ldl *f, double *work, double *alpha)
{
    update_rows(*f, work, alpha, 4);
}

/* The row x, its reward, and zeros up to the stride: in whole vectors, which can be read at once
 * where pieces of one could not. */
AVX2_INLINE void load_row(const float *x, double y, uint32_t dim, size_t stride, double *p)
{
    size_t r = 0, left = dim & 3;
    for (; r + 4 <= dim; r += 4)
        _mm256_storeu_pd(p + r, _mm256_cvtps_pd(_mm_loadu_ps(x + r)));
    __m256d reward = _mm256_and_pd(_mm256_set1_pd(y), _mm256_castsi256_pd(first_lanes(left + 1)));
    __m256d rest = left ? load_floats(x + r, left) : reward;
    _mm256_storeu_pd(p + r, _mm256_blendv_pd(reward, rest, _mm256_castsi256_pd(first_lanes(left))));
    for (r += 4; r < stride; r += 4)
        _mm256_storeu_pd(p + r, _mm256_setzero_pd());
}

TARGET_AVX2 void ldl_update_avx2(const ldl *f, const float *const *x, const double *y,
                                 const double *weight, uint32_t n_rows, double *work)
{
    static void (*const update_n[])(const ldl *, double *, double *) = {update_1, update_2,
                                                                        update_3, update_4};
    for (uint32_t first = 0; first < n_rows; first += UPDATE_ROWS) {
        uint32_t n = n_rows - first < UPDATE_ROWS ? n_rows - first : UPDATE_ROWS;
        double alpha[UPDATE_ROWS];
        for (uint32_t k = 0; k < n; k++) {
            load_row(x[first + k], y[first + k], f->dim, f->stride, work + k * f->stride);
            alpha[k] = weight ? weight[first + k] : 1;
        }
        update_n[n - 1](f, work, alpha);
    }
}

/* ---- substitution */

/* Four vectors, each to the sum of its lanes. */
AVX2_INLINE __m256d sums_of(__m256d a, __m256d b, __m256d c, __m256d d)
{
    __m256d ab = _mm256_hadd_pd(a, b), cd = _mm256_hadd_pd(c, d);
    return _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20),
                         _mm256_permute2f128_pd(ab, cd, 0x31));
}

AVX2_INLINE void transpose(__m256d m[4])
{
    __m256d a = _mm256_unpacklo_pd(m[0], m[1]), b = _mm256_unpackhi_pd(m[0], m[1]);
    __m256d c = _mm256_unpacklo_pd(m[2], m[3]), d = _mm256_unpackhi_pd(m[2], m[3]);
    m[0] = _mm256_permute2f128_pd(a, c, 0x20);
    m[1] = _mm256_permute2f128_pd(b, d, 0x20);
    m[2] = _mm256_permute2f128_pd(a, c, 0x31);
    m[3] = _mm256_permute2f128_pd(b, d, 0x31);
}

/* The triangle of the n columns from c on, last column first; x: what is left of the right-hand
 * side. */
AVX2_INLINE __m256d back_triangle(const ldl *f, size_t c, size_t n, __m256d x)
{
    __m256d row[4];
    for (size_t i = 0; i < 4; i++)
        row[i] = i < n ? _mm256_loadu_pd(f->l + (c + i) * f->stride + c) : _mm256_setzero_pd();
    transpose(row);
    for (int i = 3; i > 0; i--)
        if ((size_t)i < n)
            x = lanes_below(x, _mm256_fnmadd_pd(row[i], lane(x, i), x), i);
    return x;
}

/* What the block of n columns from c on starts from: what stands in x, or, with z, u + scale z /
 * sqrt(d), or, with neither, u. */
typedef struct beginning {
    const double *x;
    const float *z;
    double scale;
} beginning;

AVX2_INLINE __m256d begin_block(const ldl *f, const beginning *from, size_t c, size_t n)
{
    if (from->x)
        return load_some(from->x + c, n);
    double four[4] = {0};
    for (size_t i = 0; i < n; i++)
        four[i] = f->l[(c + i) * f->stride + f->dim];
    __m256d u = _mm256_loadu_pd(four);
    if (!from->z)
        return u;
    __m256d noise =
        _mm256_div_pd(load_floats(from->z + c, n), _mm256_sqrt_pd(_mm256_loadu_pd(f->d + c)));
    return _mm256_fmadd_pd(_mm256_set1_pd(from->scale), noise, u);
}

/* Kernel: x = L^-T of the beginning.  The dots of four columns at a time; the rows found last are
 * used last, so that the long part never waits for them. */
AVX2_INLINE void back_from(const ldl *f, const beginning *from, double *x)
{
    const size_t whole = f->dim & ~(size_t)3, rest = f->dim - whole, s = f->stride;
    __m256d tail = _mm256_setzero_pd();
    if (rest) {
        tail = back_triangle(f, whole, rest, begin_block(f, from, whole, rest));
        store_some(x + whole, tail, rest);
    }
    for (size_t end = whole; end > 0; end -= 4) {
        const double *l = f->l + (end - 4) * s;
        __m256d even[4], odd[4], start = begin_block(f, from, end - 4, 4);
        for (size_t i = 0; i < 4; i++)
            even[i] = odd[i] = _mm256_setzero_pd();
        size_t r = ceil4(f->dim);
        __m256d high = rest ? tail : r > end ? _mm256_loadu_pd(x + r - 4) : tail;
        for (; r >= end + 8; r -= 8) {
            __m256d low = _mm256_loadu_pd(x + r - 8);
            for (size_t i = 0; i < 4; i++) {
                even[i] = _mm256_fmadd_pd(_mm256_loadu_pd(l + i * s + r - 4), high, even[i]);
                odd[i] = _mm256_fmadd_pd(_mm256_loadu_pd(l + i * s + r - 8), low, odd[i]);
            }
            if (r >= end + 12)
                high = _mm256_loadu_pd(x + r - 12);
        }
        if (r > end)
            for (size_t i = 0; i < 4; i++)
                even[i] = _mm256_fmadd_pd(_mm256_loadu_pd(l + i * s + r - 4), high, even[i]);
        for (size_t i = 0; i < 4; i++)
            even[i] = _mm256_add_pd(even[i], odd[i]);
        __m256d left = _mm256_sub_pd(start, sums_of(even[0], even[1], even[2], even[3]));
        _mm256_storeu_pd(x + end - 4, back_triangle(f, end - 4, 4, left));
    }
}

TARGET_AVX2 static void back(const ldl *f, double *x)
{
    back_from(f, &(beginning){x, NULL, 0}, x);
}

TARGET_AVX2 void ldl_sample_avx2(const ldl *f, double scale, const float *z, double *theta)
{
    if (z)
        back_from(f, &(beginning){NULL, z, scale}, theta);
    else
        back_from(f, &(beginning){NULL, NULL, 0}, theta);
}

TARGET_AVX2 static void forward(const ldl *f, double *x)
{
    for (size_t c = 0; c < f->dim; c += 4) {
        const double *l = f->l + c * f->stride;
        size_t n = f->dim - c < 4 ? f->dim - c : 4;
        __m256d own = load_some(x + c, n), xj[4];
        for (int i = 0; i < 4; i++) {
            xj[i] = lane(own, i);
            if ((size_t)i < n)
                own = lanes_above(
                    own,
                    _mm256_fnmadd_pd(_mm256_loadu_pd(l + (size_t)i * f->stride + c), xj[i], own),
                    i);
        }
        store_some(x + c, own, n);
        for (size_t r = c + 4; r < f->dim; r += 4) {
            __m256d e = load_some(x + r, f->dim - r);
            for (size_t i = 0; i < 4; i++)
                e = _mm256_fnmadd_pd(_mm256_loadu_pd(l + i * f->stride + r), xj[i], e);
            store_some(x + r, e, f->dim - r);
        }
    }
}

TARGET_AVX2 void ldl_solve_avx2(const ldl *f, const double *rhs, double *x)
{
    if (x != rhs)
        memcpy(x, rhs, f->dim * sizeof *x);
    forward(f, x);
    for (size_t j = 0; j < f->dim; j++)
        x[j] /= f->d[j];
    back(f, x);
}

/* ---- many rows at once */

/* Four dimensions, from j on, of four items into four vectors of items. */
AVX2_INLINE void load_items(const float *const item[4], size_t j, size_t left, __m256d out[4])
{
    for (size_t i = 0; i < 4; i++)
        out[i] = load_floats(item[i] + j, left);
    transpose(out);
}

/* Takes the first `end` columns out of four rows of L times 4 v items, which stay in registers
 * meanwhile.  l: their place in column 0. */
AVX2_INLINE void take_out_of_items(const double *l, size_t stride, size_t end, const double *w,
                                   int v, __m256d e[4][3])
{
    __m256d own[4][3];
    for (int i = 0; i < 4; i++)
        for (int q = 0; q < v; q++)
            own[i][q] = e[i][q];
    for (size_t k = 0; k < end; k++, l += stride, w += 4 * v) {
        __m256d wk[3];
        for (int q = 0; q < v; q++)
            wk[q] = _mm256_loadu_pd(w + 4 * q);
        for (int i = 0; i < 4; i++) {
            __m256d lik = _mm256_broadcast_sd(l + i);
            for (int q = 0; q < v; q++)
                own[i][q] = _mm256_fnmadd_pd(lik, wk[q], own[i][q]);
        }
    }
    for (int i = 0; i < 4; i++)
        for (int q = 0; q < v; q++)
            e[i][q] = own[i][q];
}

/* Kernel: 4 v items side by side, v <= 3 a constant: w_r (r, 4 v) = (L^-1 x)_r. */
AVX2_INLINE void quadratic_items(const ldl *f, const float *const *item, int v,
                                 const double *inverse, double *w, __m256d *sum)
{
    const size_t width = 4 * (size_t)v, stride = f->stride;
    for (int q = 0; q < v; q++)
        sum[q] = _mm256_setzero_pd();
    for (size_t c = 0; c < f->dim; c += 4) {
        const double *l = f->l + c;
        __m256d e[4][3];
        for (int q = 0; q < v; q++) {
            __m256d four[4];
            load_items(item + 4 * q, c, f->dim - c, four);
            for (int i = 0; i < 4; i++)
                e[i][q] = four[i];
        }
        take_out_of_items(l, stride, c, w, v, e);
        for (int i = 0; i < 4 && c + (size_t)i < f->dim; i++) {
            for (int k = 0; k < i; k++) {
                __m256d lik = _mm256_broadcast_sd(l + (c + (size_t)k) * f->stride + i);
                for (int q = 0; q < v; q++)
                    e[i][q] = _mm256_fnmadd_pd(lik, e[k][q], e[i][q]);
            }
            __m256d d = _mm256_broadcast_sd(inverse + c + i);
            for (int q = 0; q < v; q++) {
                sum[q] = _mm256_fmadd_pd(_mm256_mul_pd(e[i][q], d), e[i][q], sum[q]);
                _mm256_storeu_pd(w + (c + (size_t)i) * width + 4 * (size_t)q, e[i][q]);
            }
        }
    }
}

TARGET_AVX2 static void quadratic_12(const ldl *f, const float *const *item, const double *inverse,
                                     double *w, double *out)
{
    __m256d sum[3];
    quadratic_items(f, item, 3, inverse, w, sum);
    for (int q = 0; q < 3; q++)
        _mm256_storeu_pd(out + 4 * q, sum[q]);
}

TARGET_AVX2 static void quadratic_4(const ldl *f, const float *const *item, const double *inverse,
                                    double *w, double *out)
{
    __m256d sum[1];
    quadratic_items(f, item, 1, inverse, w, sum);
    _mm256_storeu_pd(out, sum[0]);
}

TARGET_AVX2 void ldl_quadratic_avx2(const ldl *f, const float *x, size_t stride, uint32_t n,
                                    double *out, double *work)
{
    double *inverse = work, *w = work + ceil4(f->dim), result[QUADRATIC_ITEMS];
    for (size_t j = 0; j < f->dim; j++)
        inverse[j] = 1 / f->d[j];
    for (uint32_t first = 0, count; first < n; first += count) {
        const float *item[QUADRATIC_ITEMS];
        uint32_t width = n - first > 4 ? QUADRATIC_ITEMS : 4;
        count = n - first < width ? n - first : width;
        for (uint32_t i = 0; i < width; i++)
            item[i] = x + (first + (i < count ? i : 0)) * stride;
        (width == 4 ? quadratic_4 : quadratic_12)(f, item, inverse, w, result);
        memcpy(out + first, result, count * sizeof *out);
    }
}

enum {
    CACHE_LINE = 64,                /* bytes */
    STREAM_AHEAD = 16 * CACHE_LINE, /* between 8 and 24 lines the speed hardly depends on it */
};

/* What lies `ahead` bytes behind x, which may be beyond the rows: a prefetch reads nothing. */
AVX2_INLINE void fetch_ahead(const float *x, size_t ahead)
{
    _mm_prefetch((const char *)((uintptr_t)x + ahead), _MM_HINT_T0);
}

/* Eight features of a row. */
AVX2_INLINE void add_8(const float *row, const double *theta, __m256d *even, __m256d *odd)
{
    *even = _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(row)), _mm256_loadu_pd(theta), *even);
    *odd =
        _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(row + 4)), _mm256_loadu_pd(theta + 4), *odd);
}

/* The last features of n rows, at most four: some lanes of `sum`. */
AVX2_INLINE void add_last(const float *x, size_t stride, int n, const double *theta, size_t left,
                          __m256d sum[])
{
    const __m128i lanes = first_floats(left);
    const __m256d t = load_some(theta, left);
    for (int i = 0; i < n; i++)
        sum[i] = _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_maskload_ps(x + (size_t)i * stride, lanes)), t,
                                 sum[i]);
}

/* Kernel: n rows of floats (1 or 4, a constant) times theta: four partial sums of each. */
AVX2_INLINE void partial_sums(const float *x, size_t stride, int n, uint32_t dim,
                              const double *theta, size_t ahead, __m256d sum[])
{
    __m256d even[4], odd[4];
    for (int i = 0; i < n; i++)
        even[i] = odd[i] = _mm256_setzero_pd();
    size_t j = 0;
    for (; j + LINE_FLOATS <= dim; j += LINE_FLOATS)
        for (int i = 0; i < n; i++) {
            const float *row = x + (size_t)i * stride + j;
            fetch_ahead(row, ahead);
            add_8(row, theta + j, &even[i], &odd[i]);
            add_8(row + 8, theta + j + 8, &even[i], &odd[i]);
        }
    if (j + 8 <= dim) {
        for (int i = 0; i < n; i++)
            add_8(x + (size_t)i * stride + j, theta + j, &even[i], &odd[i]);
        j += 8;
    }
    if (j < dim)
        add_last(x + j, stride, n, theta + j, dim - j < 4 ? dim - j : 4, even);
    if (j + 4 < dim)
        add_last(x + j + 4, stride, n, theta + j + 4, dim - j - 4, odd);
    for (int i = 0; i < n; i++)
        sum[i] = _mm256_add_pd(even[i], odd[i]);
}

/* Four rows side by side, the next four fetched ahead: the fastest while the rows come from a
 * cache. */
AVX2_INLINE __m256d four_rows(const float *x, size_t stride, uint32_t dim, const double *theta)
{
    __m256d sum[4];
    partial_sums(x, stride, 4, dim, theta, 4 * stride * sizeof *x, sum);
    return sums_of(sum[0], sum[1], sum[2], sum[3]);
}

/* Four rows one after the other: memory is read at almost twice the rate of four rows side by side,
 * because the processor's own prefetchers follow one stream of addresses better than four. */
AVX2_INLINE __m256d four_streamed(const float *x, size_t stride, uint32_t dim, const double *theta)
{
    __m256d sum[4];
    for (size_t i = 0; i < 4; i++)
        partial_sums(x + i * stride, stride, 1, dim, theta, STREAM_AHEAD, &sum[i]);
    return sums_of(sum[0], sum[1], sum[2], sum[3]);
}

AVX2_INLINE double one_row(const float *x, uint32_t dim, const double *theta)
{
    __m256d sum, zero = _mm256_setzero_pd();
    partial_sums(x, 0, 1, dim, theta, 0, &sum);
    return _mm256_cvtsd_f64(sums_of(sum, zero, zero, zero));
}

/* Adds 0 to `wrong` where all four numbers are finite, else NaN. */
AVX2_INLINE __m256d note_finite(__m256d wrong, __m256d x)
{
    return _mm256_or_pd(wrong, _mm256_sub_pd(x, x));
}

AVX2_INLINE bool was_finite(__m256d wrong)
{
    return _mm256_testz_si256(_mm256_castpd_si256(wrong), _mm256_castpd_si256(wrong));
}

enum { SHORT = 16 }; /* features */

/* A row of at most 16 features, in `blocks` vectors of four (a constant), the last of which has
 * only some lanes; or theta likewise. */
AVX2_INLINE __m256d short_row_times(const float *x, const __m256d theta[4], size_t blocks,
                                    __m128i last)
{
    __m256d sum[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    for (size_t b = 0; b < blocks; b++)
        sum[b % 2] =
            _mm256_fmadd_pd(_mm256_cvtps_pd(b + 1 < blocks ? _mm_loadu_ps(x + 4 * b)
                                                           : _mm_maskload_ps(x + 4 * b, last)),
                            theta[b], sum[b % 2]);
    return _mm256_add_pd(sum[0], sum[1]);
}

/* Kernel: n such rows; theta stays in registers.  Of the last four rows, the last one stands in
 * for those that are not there. */
AVX2_INLINE bool short_rows_times(const float *x, size_t stride, uint32_t n, uint32_t dim,
                                  const double *theta, double *out, size_t blocks)
{
    const size_t left = dim - 4 * (blocks - 1);
    const __m128i last = first_floats(left);
    __m256d t[4], wrong = _mm256_setzero_pd(), sum[4];
    for (size_t b = 0; b < blocks; b++)
        t[b] = load_some(theta + 4 * b, b + 1 < blocks ? 4 : left);
    for (; n >= 4; n -= 4, x += 4 * stride, out += 4) {
        for (size_t i = 0; i < 4; i++)
            sum[i] = short_row_times(x + i * stride, t, blocks, last);
        __m256d four = sums_of(sum[0], sum[1], sum[2], sum[3]);
        wrong = note_finite(wrong, four);
        _mm256_storeu_pd(out, four);
    }
    if (n) {
        for (size_t i = 0; i < 4; i++)
            sum[i] = short_row_times(x + (i < n ? i : n - 1) * stride, t, blocks, last);
        __m256d four = sums_of(sum[0], sum[1], sum[2], sum[3]);
        wrong = note_finite(wrong, four);
        store_some(out, four, n);
    }
    return was_finite(wrong);
}

TARGET_AVX2 static bool short_rows_times_avx2(const float *x, size_t stride, uint32_t n,
                                              uint32_t dim, const double *theta, double *out)
{
    return dim > 12  ? short_rows_times(x, stride, n, dim, theta, out, 4)
           : dim > 8 ? short_rows_times(x, stride, n, dim, theta, out, 3)
           : dim > 4 ? short_rows_times(x, stride, n, dim, theta, out, 2)
                     : short_rows_times(x, stride, n, dim, theta, out, true);
}

/* Kernel: `streamed` is a constant. */
AVX2_INLINE bool long_rows_times(const float *x, size_t stride, uint32_t n, uint32_t dim,
                                 const double *theta, double *out, bool streamed)
{
    __m256d wrong = _mm256_setzero_pd();
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const float *rows = x + i * stride;
        __m256d four = streamed ? four_streamed(rows, stride, dim, theta)
                                : four_rows(rows, stride, dim, theta);
        wrong = note_finite(wrong, four);
        _mm256_storeu_pd(out + i, four);
    }
    for (; i < n; i++) {
        out[i] = one_row(x + i * stride, dim, theta);
        wrong = note_finite(wrong, _mm256_set1_pd(out[i]));
    }
    return was_finite(wrong);
}

TARGET_AVX2 static bool stream_times(const float *x, size_t stride, uint32_t n, uint32_t dim,
                                     const double *theta, double *out)
{
    return long_rows_times(x, stride, n, dim, theta, out, true);
}

TARGET_AVX2 bool rows_times_avx2(const float *x, size_t stride, uint32_t n, uint32_t dim,
                                 const double *theta, double *out)
{
    if (dim <= SHORT)
        return short_rows_times_avx2(x, stride, n, dim, theta, out);
    if (rows_are_streamed(stride, n, dim))
        return stream_times(x, stride, n, dim, theta, out);
    return long_rows_times(x, stride, n, dim, theta, out, false);
}

TARGET_AVX2 bool rows_within_avx2(const float *x, size_t stride, const uint32_t *row, uint32_t n,
                                  uint32_t dim, float most)
{
    const __m256i sign = _mm256_set1_epi32(INT32_MIN),
                  limit = _mm256_castps_si256(_mm256_set1_ps(most));
    const __m256i last = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(dim % 8)),
                                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256i largest = _mm256_setzero_si256(); /* bits without the sign */
    for (uint32_t i = 0; i < n; i++) {
        const float *at = x + (row ? row[i] : i) * stride;
        for (uint32_t j = 0; j + 8 <= dim; j += 8, at += 8)
            largest = _mm256_max_epi32(
                largest,
                _mm256_andnot_si256(sign, _mm256_loadu_si256((const __m256i *)(const void *)at)));
        largest = _mm256_max_epi32(
            largest,
            _mm256_andnot_si256(sign, _mm256_maskload_epi32((const int *)(const void *)at, last)));
    }
    return _mm256_testz_si256(_mm256_cmpgt_epi32(largest, limit), sign);
}

/* ---- the sums */

enum { TILE = 256 }; /* rows of gram whose x lie in double on the stack: 8 KiB */

typedef struct tile {
    double x[UPDATE_ROWS][TILE]; /* rows base.. of each x */
    size_t base;
} tile;

/* Element (i, j) gains t_k x_k, one k after the other. */
AVX2_INLINE void add_element(double *g, const double *t, const tile *rows, size_t i, int n)
{
    __m128d sum = _mm_load_sd(g);
    for (int k = 0; k < n; k++)
        sum = _mm_fmadd_sd(_mm_load_sd(t + k), _mm_load_sd(&rows->x[k][i - rows->base]), sum);
    _mm_store_sd(g, sum);
}

/* Rows from..to of the columns j..j+3; column q begins, if it had a row 0, at g[q].  Four columns
 * share what is loaded of x. */
AVX2_INLINE void add_columns(double *const g[4], double t[4][UPDATE_ROWS], const tile *rows,
                             size_t from, size_t to, int n)
{
    double *g0 = g[0], *g1 = g[1], *g2 = g[2], *g3 = g[3];
    const double *x = rows->x[0];
    __m256d tk[4][UPDATE_ROWS];
    for (int q = 0; q < 4; q++)
        for (int k = 0; k < n; k++)
            tk[q][k] = _mm256_set1_pd(t[q][k]);
    size_t i = from;
    for (; i + 4 <= to; i += 4) {
        __m256d s0 = _mm256_loadu_pd(g0 + i), s1 = _mm256_loadu_pd(g1 + i),
                s2 = _mm256_loadu_pd(g2 + i), s3 = _mm256_loadu_pd(g3 + i);
        for (int k = 0; k < n; k++) {
            __m256d xk = _mm256_loadu_pd(x + k * TILE + (i - rows->base));
            s0 = _mm256_fmadd_pd(tk[0][k], xk, s0);
            s1 = _mm256_fmadd_pd(tk[1][k], xk, s1);
            s2 = _mm256_fmadd_pd(tk[2][k], xk, s2);
            s3 = _mm256_fmadd_pd(tk[3][k], xk, s3);
        }
        _mm256_storeu_pd(g0 + i, s0);
        _mm256_storeu_pd(g1 + i, s1);
        _mm256_storeu_pd(g2 + i, s2);
        _mm256_storeu_pd(g3 + i, s3);
    }
    for (; i < to; i++)
        for (int q = 0; q < 4; q++)
            add_element(g[q] + i, t[q], rows, i, n);
}

/* The columns j..j+3 (those there are) of the tile whose rows end before `to`. */
AVX2_INLINE void add_block(double *gram, uint32_t dim, const float *const *x, const double *weight,
                           int n, size_t j, const tile *rows, size_t to)
{
    double *g[4], t[4][UPDATE_ROWS];
    for (size_t q = 0; q < 4 && j + q < dim; q++) {
        g[q] = gram + packed_column(dim, j + q) - (j + q);
        for (int k = 0; k < n; k++)
            t[q][k] = (double)x[k][j + q] * (weight ? weight[k] : 1);
        for (size_t i = j + q; j >= rows->base && i < j + 4 && i < to; i++)
            add_element(g[q] + i, t[q], rows, i, n);
    }
    if (j + 4 < to)
        add_columns(g, t, rows, j >= rows->base ? j + 4 : rows->base, to, n);
}

AVX2_INLINE void add_tile(double *gram, uint32_t dim, const float *const *x, const double *weight,
                          int n, size_t base, size_t to)
{
    tile rows;
    rows.base = base;
    for (int k = 0; k < n; k++)
        for (size_t i = base; i < to; i++)
            rows.x[k][i - base] = (double)x[k][i];
    for (size_t j = 0; j < to; j += 4)
        add_block(gram, dim, x, weight, n, j, &rows, to);
}

AVX2_INLINE void add_rows(double *gram, double *moment, uint32_t dim, const float *const *x,
                          const double *y, const double *weight, int n)
{
    for (size_t base = 0; base < dim; base += TILE)
        add_tile(gram, dim, x, weight, n, base, base + TILE < dim ? base + TILE : dim);
    for (int k = 0; k < n; k++) {
        __m256d yk = _mm256_set1_pd(y[k]), wk = _mm256_set1_pd(weight ? weight[k] : 1);
        for (size_t j = 0; j < dim; j += 4) {
            __m256d t = _mm256_mul_pd(load_floats(x[k] + j, dim - j), wk);
            store_some(moment + j, _mm256_fmadd_pd(t, yk, load_some(moment + j, dim - j)), dim - j);
        }
    }
}

TARGET_AVX2 void gram_add_avx2(double *gram, double *moment, uint32_t dim, const float *const *x,
                               const double *y, const double *weight, uint32_t n_rows)
{
#define PASS(k, n) add_rows(gram, moment, dim, x + (k), y + (k), weight ? weight + (k) : NULL, n)
    IN_PASSES(n_rows, PASS);
#undef PASS
}

/* The factor comes last: what of it is still near, the sample of the next round reads first. */
void ldl_learn_avx2(const ldl *f, double *gram, double *moment, const float *const *x,
                    const double *y, const double *weight, uint32_t n_rows, double *work)
{
    gram_add_avx2(gram, moment, f->dim, x, y, weight, n_rows);
    ldl_update_avx2(f, x, y, weight, n_rows, work);
}

#else
typedef int no_avx2; /* an empty translation unit is not C */
#endif
