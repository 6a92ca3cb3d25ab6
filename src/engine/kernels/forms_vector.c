/* forms_vector.c - the kernels of forms_kernels.h with vectors of four doubles.
 *
 * Solutions: a lane of a vector is a row, and up to twelve rows go through L side by side, so that
 * an element of L is read once for all of them.  Four elements of each stay in registers while the
 * finished ones are taken out.  Products: four rows times three columns at a time, so that a
 * feature is turned into a double once for three products.  Whitening: sixteen columns go through
 * the triangle together, because the steps of one depend on each other.  Squares: eight rows of
 * four columns stay in registers while all of t is taken out.
 */
#include "engine/kernels/table.h"

#include "engine/kernels/lanes.h"

#if OLTR_LANES

LANES_INLINE d4 floats_from(const float *x, size_t left)
{
    return d4_of_floats(left >= 4 ? f4_load(x) : f4_load_first(x, left));
}

/* ---- solutions */

/* Four elements of 4 v rows. */
typedef struct elements {
    d4 of[4][3];
} elements;

LANES_INLINE void load_elements(const float *const *x, size_t j, size_t left, int v, elements *e)
{
    for (int q = 0; q < v; q++) {
        d4 four[4];
        for (int i = 0; i < 4; i++)
            four[i] = floats_from(x[4 * q + i] + j, left);
        d4_transpose(four);
        for (int i = 0; i < 4; i++)
            e->of[i][q] = four[i];
    }
}

/* Element i loses l times each of the finished elements w (4 v doubles). */
LANES_INLINE void lose(elements *e, int i, double l, const d4 *w, int v)
{
    d4 all = d4_all(l);
    for (int q = 0; q < v; q++)
        e->of[i][q] = d4_fnma(all, w[q], e->of[i][q]);
}

/* w (dim, 4 v) = L^-1 x, in blocks of four elements. */
LANES_INLINE void forward_rows(ldl f, const float *const *x, int v, double *w)
{
    const size_t width = 4 * (size_t)v;
    for (size_t c = 0; c < f.dim; c += 4) {
        elements e;
        load_elements(x, c, f.dim - c, v, &e);
        const double *l = f.l + c;
        for (size_t k = 0; k < c; k++, l += f.stride) {
            d4 wk[3];
            for (int q = 0; q < v; q++)
                wk[q] = d4_load(w + k * width + 4 * (size_t)q);
            for (int i = 0; i < 4; i++)
                lose(&e, i, l[i], wk, v);
        }
        for (int i = 0; i < 4 && c + (size_t)i < f.dim; i++) {
            for (int k = 0; k < i; k++)
                lose(&e, i, l[(size_t)k * f.stride + (size_t)i], e.of[k], v);
            for (int q = 0; q < v; q++)
                d4_store(w + (c + (size_t)i) * width + 4 * (size_t)q, e.of[i][q]);
        }
    }
}

/* Elements c .. c+n-1 of the solutions, those behind them being finished. */
LANES_INLINE void back_block(ldl f, size_t c, int n, const double *inverse, int v, double *w)
{
    const size_t width = 4 * (size_t)v;
    const double *l = f.l + c * f.stride;
    elements e;
    for (int i = 0; i < n; i++)
        for (int q = 0; q < v; q++)
            e.of[i][q] = d4_mul(d4_load(w + (c + (size_t)i) * width + 4 * (size_t)q),
                                d4_all(inverse[c + (size_t)i]));
    for (size_t r = f.dim; r-- > c + (size_t)n;) {
        d4 wr[3];
        for (int q = 0; q < v; q++)
            wr[q] = d4_load(w + r * width + 4 * (size_t)q);
        for (int i = 0; i < n; i++)
            lose(&e, i, l[(size_t)i * f.stride + r], wr, v);
    }
    for (int i = n; i-- > 0;) {
        for (int k = n; --k > i;)
            lose(&e, i, l[(size_t)i * f.stride + c + (size_t)k], e.of[k], v);
        for (int q = 0; q < v; q++)
            d4_store(w + (c + (size_t)i) * width + 4 * (size_t)q, e.of[i][q]);
    }
}

LANES_INLINE void back_rows(ldl f, const double *inverse, int v, double *w)
{
    size_t whole = f.dim & ~(size_t)3;
    if (f.dim - whole == 3)
        back_block(f, whole, 3, inverse, v, w);
    else if (f.dim - whole == 2)
        back_block(f, whole, 2, inverse, v, w);
    else if (f.dim - whole == 1)
        back_block(f, whole, 1, inverse, v, w);
    for (size_t c = whole; c > 0; c -= 4)
        back_block(f, c - 4, 4, inverse, v, w);
}

/* From (dim, 4 v) to one column for each of `count` rows. */
LANES_INLINE void to_columns(const double *w, size_t dim, int v, uint32_t count, double *out,
                             size_t out_stride)
{
    for (size_t j = 0; j < dim; j += 4)
        for (int q = 0; q < v; q++) {
            d4 four[4];
            for (size_t i = 0; i < 4; i++)
                four[i] =
                    j + i < dim ? d4_load(w + (j + i) * 4 * (size_t)v + 4 * (size_t)q) : d4_all(0);
            d4_transpose(four);
            for (uint32_t i = 0; i < 4 && 4 * (uint32_t)q + i < count; i++)
                d4_store(out + (4 * (uint32_t)q + i) * out_stride + j, four[i]);
        }
}

/* Kernel: 4 v rows side by side, v a constant; the first `count` are wanted. */
LANES_INLINE void solve_side_by_side(const ldl *f, const float *const *x, int v, uint32_t count,
                                     double *out, size_t out_stride, double *work)
{
    double *w = work + ceil4(f->dim);
    forward_rows(*f, x, v, w);
    back_rows(*f, work, v, w);
    to_columns(w, f->dim, v, count, out, out_stride);
}

LANES_TARGET static void solve_4(const ldl *f, const float *const *x, uint32_t count, double *out,
                                 size_t out_stride, double *work)
{
    solve_side_by_side(f, x, 1, count, out, out_stride, work);
}

LANES_TARGET static void solve_8(const ldl *f, const float *const *x, uint32_t count, double *out,
                                 size_t out_stride, double *work)
{
    solve_side_by_side(f, x, 2, count, out, out_stride, work);
}

LANES_TARGET static void solve_12(const ldl *f, const float *const *x, uint32_t count, double *out,
                                  size_t out_stride, double *work)
{
    solve_side_by_side(f, x, 3, count, out, out_stride, work);
}

LANES_TARGET void VERSION(ldl_solve_rows)(const ldl *f, const float *const *x, uint32_t n,
                                          double *out, size_t out_stride, double *work)
{
    for (size_t j = 0; j < f->dim; j++)
        work[j] = 1 / f->d[j];
    for (uint32_t first = 0; first < n; first += QUADRATIC_ITEMS) {
        uint32_t count = n - first < QUADRATIC_ITEMS ? n - first : QUADRATIC_ITEMS;
        const float *row[QUADRATIC_ITEMS];
        for (uint32_t i = 0; i < QUADRATIC_ITEMS; i++)
            row[i] = x[first + (i < count ? i : 0)];
        (count > 8   ? solve_12
         : count > 4 ? solve_8
                     : solve_4)(f, row, count, out + first * out_stride, out_stride, work);
    }
}

/* ---- products */

/* Kernel: four rows times m columns, m <= 3 a constant; the first `count` rows are wanted. */
LANES_INLINE void four_by(const float *const x[4], uint32_t dim, const double *column,
                          size_t column_stride, int m, uint32_t count, double *out, size_t n)
{
    d4 sum[3][4];
    for (int k = 0; k < m; k++)
        for (int i = 0; i < 4; i++)
            sum[k][i] = d4_all(0);
    for (size_t j = 0; j < dim; j += 4) {
        d4 c[3];
        for (int k = 0; k < m; k++)
            c[k] = d4_load(column + (size_t)k * column_stride + j);
        for (int i = 0; i < 4; i++) {
            d4 four = floats_from(x[i] + j, dim - j);
            for (int k = 0; k < m; k++)
                sum[k][i] = d4_fma(four, c[k], sum[k][i]);
        }
    }
    for (int k = 0; k < m; k++)
        d4_store_first(out + (size_t)k * n, d4_sums(sum[k][0], sum[k][1], sum[k][2], sum[k][3]),
                       count);
}

LANES_TARGET void VERSION(rows_times_columns)(const float *const *x, uint32_t n, uint32_t dim,
                                              const double *column, size_t column_stride,
                                              uint32_t m, double *out)
{
    for (uint32_t first = 0; first < n; first += 4) {
        uint32_t count = n - first < 4 ? n - first : 4, k = 0;
        const float *four[4];
        for (uint32_t i = 0; i < 4; i++)
            four[i] = x[first + (i < count ? i : 0)];
        for (; k + 3 <= m; k += 3)
            four_by(four, dim, column + k * column_stride, column_stride, 3, count,
                    out + (size_t)k * n + first, n);
        if (m - k == 2)
            four_by(four, dim, column + k * column_stride, column_stride, 2, count,
                    out + (size_t)k * n + first, n);
        else if (m - k == 1)
            four_by(four, dim, column + k * column_stride, column_stride, 1, count,
                    out + (size_t)k * n + first, n);
    }
}

/* ---- whitening */

/* 4 v columns, v a constant; or, with `left` below 4, the first `left` of four. */
LANES_INLINE void whiten_block(const double *c, const double *root, uint32_t n, double *s,
                               size_t columns, size_t left, int v)
{
    for (uint32_t k = 0; k < n; k++) {
        double *own = s + k * columns;
        d4 sum[4], scale = d4_all(root[k]), inverse = d4_all(1 / c[k * n + k]);
        for (size_t q = 0; q < (size_t)v; q++)
            sum[q] = d4_mul(left < 4 ? d4_load_first(own, left) : d4_load(own + 4 * q), scale);
        for (uint32_t j = 0; j < k; j++) {
            const double *done = s + j * columns;
            d4 factor = d4_all(c[j * n + k]);
            for (size_t q = 0; q < (size_t)v; q++)
                sum[q] = d4_fnma(
                    factor, left < 4 ? d4_load_first(done, left) : d4_load(done + 4 * q), sum[q]);
        }
        for (size_t q = 0; q < (size_t)v; q++)
            if (left < 4)
                d4_store_first(own, d4_mul(sum[q], inverse), left);
            else
                d4_store(own + 4 * q, d4_mul(sum[q], inverse));
    }
}

LANES_TARGET void VERSION(whiten)(const double *c, const double *root, uint32_t n, double *s,
                                  size_t columns)
{
    size_t i = 0;
    for (; i + 16 <= columns; i += 16)
        whiten_block(c, root, n, s + i, columns, 4, 4);
    for (; i + 4 <= columns; i += 4)
        whiten_block(c, root, n, s + i, columns, 4, 1);
    if (i < columns)
        whiten_block(c, root, n, s + i, columns, columns - i, 1);
}

/* ---- squares */

/* Eight rows of the four columns at g lose the products of their t with that of the columns. */
LANES_INLINE void lose_eight_by_four(double *g, size_t stride, const double *row,
                                     const double *column, uint32_t n)
{
    d4 e[4][2];
    for (size_t q = 0; q < 4; q++)
        for (size_t v = 0; v < 2; v++)
            e[q][v] = d4_load(g + q * stride + 4 * v);
    for (uint32_t k = 0; k < n; k++, row += stride, column += stride) {
        d4 low = d4_load(row), high = d4_load(row + 4);
        for (size_t q = 0; q < 4; q++) {
            d4 all = d4_all(column[q]);
            e[q][0] = d4_fnma(all, low, e[q][0]);
            e[q][1] = d4_fnma(all, high, e[q][1]);
        }
    }
    for (size_t q = 0; q < 4; q++)
        for (size_t v = 0; v < 2; v++)
            d4_store(g + q * stride + 4 * v, e[q][v]);
}

LANES_TARGET void VERSION(lose_squares)(double *g, size_t stride, const double *t, uint32_t n)
{
    for (size_t j = 0; j < stride; j += 4)
        for (size_t i = j & ~(size_t)7; i < stride; i += 8)
            lose_eight_by_four(g + j * stride + i, stride, t + i, t + j, n);
}

#else
typedef int no_lanes; /* an empty translation unit is not C */
#endif
