/* forms_avx512.c - solutions for several rows with vectors of eight doubles: the operations of
 * forms_kernels.h in the same order.
 *
 * A lane is a row, and eight elements of each of eight rows stay in registers while the finished
 * ones are taken out.  Products of rows and columns do not gain by longer vectors: turning floats
 * into doubles is their bound.
 */
#include "engine/kernels/table.h"

#if OLTR_X86

#include <immintrin.h>

enum { WIDE = 8 };

typedef struct wide_elements {
    __m512d of[WIDE];
} wide_elements;

/* Elements j .. j+n-1 of eight rows. */
AVX512_INLINE void load_eight(const float *const *x, size_t j, size_t n, wide_elements *e)
{
    _Alignas(64) double by_row[WIDE][WIDE], by_element[WIDE][WIDE];
    const __mmask8 there = (__mmask8)(n < WIDE ? (1u << n) - 1 : 0xFF);
    for (size_t i = 0; i < WIDE; i++)
        _mm512_store_pd(by_row[i], _mm512_cvtps_pd(_mm256_maskz_loadu_ps(there, x[i] + j)));
    for (size_t k = 0; k < WIDE; k++)
        for (size_t i = 0; i < WIDE; i++)
            by_element[k][i] = by_row[i][k];
    for (size_t k = 0; k < WIDE; k++)
        e->of[k] = _mm512_load_pd(by_element[k]);
}

/* w (dim, 8) = L^-1 x. */
AVX512_INLINE void forward_eight(ldl f, const float *const *x, double *w)
{
    for (size_t c = 0; c < f.dim; c += WIDE) {
        const size_t n = f.dim - c < WIDE ? f.dim - c : WIDE;
        const double *l = f.l + c;
        wide_elements e;
        load_eight(x, c, n, &e);
        if (n == WIDE)
            for (size_t k = 0; k < c; k++, l += f.stride) {
                __m512d wk = _mm512_loadu_pd(w + k * WIDE);
                for (size_t i = 0; i < WIDE; i++)
                    e.of[i] = _mm512_fnmadd_pd(_mm512_set1_pd(l[i]), wk, e.of[i]);
            }
        else
            for (size_t k = 0; k < c; k++, l += f.stride) {
                __m512d wk = _mm512_loadu_pd(w + k * WIDE);
                for (size_t i = 0; i < n; i++)
                    e.of[i] = _mm512_fnmadd_pd(_mm512_set1_pd(l[i]), wk, e.of[i]);
            }
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < i; k++)
                e.of[i] = _mm512_fnmadd_pd(_mm512_set1_pd(l[k * f.stride + i]), e.of[k], e.of[i]);
            _mm512_storeu_pd(w + (c + i) * WIDE, e.of[i]);
        }
    }
}

/* Elements c .. c+n-1 of the solutions, those behind them being finished; n <= 8. */
AVX512_INLINE void back_eight(ldl f, size_t c, size_t n, const double *inverse, double *w)
{
    const double *l = f.l + c * f.stride;
    wide_elements e;
    for (size_t i = 0; i < n; i++)
        e.of[i] =
            _mm512_mul_pd(_mm512_loadu_pd(w + (c + i) * WIDE), _mm512_set1_pd(inverse[c + i]));
    for (size_t r = f.dim; r-- > c + n;) {
        __m512d wr = _mm512_loadu_pd(w + r * WIDE);
        for (size_t i = 0; i < n; i++)
            e.of[i] = _mm512_fnmadd_pd(_mm512_set1_pd(l[i * f.stride + r]), wr, e.of[i]);
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = n; --k > i;)
            e.of[i] = _mm512_fnmadd_pd(_mm512_set1_pd(l[i * f.stride + c + k]), e.of[k], e.of[i]);
        _mm512_storeu_pd(w + (c + i) * WIDE, e.of[i]);
    }
}

TARGET_AVX512 static void solve_eight(const ldl *f, const float *const *x, uint32_t count,
                                      double *out, size_t out_stride, double *work)
{
    double *w = work + ceil4(f->dim);
    const size_t whole = f->dim / WIDE * WIDE;
    forward_eight(*f, x, w);
    if (f->dim > whole)
        back_eight(*f, whole, f->dim - whole, work, w);
    for (size_t c = whole; c > 0; c -= WIDE)
        back_eight(*f, c - WIDE, WIDE, work, w);
    for (uint32_t i = 0; i < count; i++)
        for (size_t j = 0; j < ceil4(f->dim); j++)
            out[i * out_stride + j] = j < f->dim ? w[j * WIDE + i] : 0;
}

/* Up to four rows fill no vector of eight. */
void ldl_solve_rows_avx512(const ldl *f, const float *const *x, uint32_t n, double *out,
                           size_t out_stride, double *work)
{
    uint32_t first = 0;
    for (size_t j = 0; j < f->dim; j++)
        work[j] = 1 / f->d[j];
    for (; n - first > 4; first += n - first < WIDE ? n - first : WIDE) {
        uint32_t count = n - first < WIDE ? n - first : WIDE;
        const float *row[WIDE];
        for (uint32_t i = 0; i < WIDE; i++)
            row[i] = x[first + (i < count ? i : 0)];
        solve_eight(f, row, count, out + first * out_stride, out_stride, work);
    }
    if (first < n)
        ldl_solve_rows_avx2(f, x + first, n - first, out + first * out_stride, out_stride, work);
}

/* ---- squares */

/* 8 v rows (v a constant, 1 or 2) of the eight columns at g. */
AVX512_INLINE void lose_by_eight(double *g, size_t stride, int v, const double *row,
                                 const double *column, uint32_t n)
{
    __m512d e[WIDE][2];
    for (size_t q = 0; q < WIDE; q++)
        for (int i = 0; i < v; i++)
            e[q][i] = _mm512_load_pd(g + q * stride + WIDE * (size_t)i);
    for (uint32_t k = 0; k < n; k++, row += stride, column += stride)
        for (size_t q = 0; q < WIDE; q++)
            for (int i = 0; i < v; i++)
                e[q][i] = _mm512_fnmadd_pd(_mm512_set1_pd(column[q]),
                                           _mm512_load_pd(row + WIDE * (size_t)i), e[q][i]);
    for (size_t q = 0; q < WIDE; q++)
        for (int i = 0; i < v; i++)
            _mm512_store_pd(g + q * stride + WIDE * (size_t)i, e[q][i]);
}

TARGET_AVX512 void lose_squares_avx512(double *g, size_t stride, const double *t, uint32_t n)
{
    for (size_t j = 0; j < stride; j += WIDE) {
        size_t i = j;
        for (; i + 2 * WIDE <= stride; i += 2 * WIDE)
            lose_by_eight(g + j * stride + i, stride, 2, t + i, t + j, n);
        if (i < stride)
            lose_by_eight(g + j * stride + i, stride, 1, t + i, t + j, n);
    }
}

#else
typedef int no_avx512_forms; /* an empty translation unit is not C */
#endif
