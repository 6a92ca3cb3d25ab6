/* ldl_vector.c - the kernels of the factor with vectors of four doubles: the operations of
 * ldl_kernels.h in the same order.
 *
 * Columns are taken in blocks of four that begin at multiples of four, so that every vector of a
 * column is aligned.  The part of a block on the diagonal is a chain of dependent steps (and of
 * divisions); what is below it is many independent ones.  The update runs the chain of the next
 * block between the pieces of the work below this one, so that the two overlap.
 */
#include "engine/kernels/table.h"

#include "engine/kernels/lanes.h"

#if OLTR_LANES

#include <math.h>
#include <string.h>

LANES_INLINE d4 load_floats(const float *x, size_t left)
{
    return d4_of_floats(left >= 4 ? f4_load(x) : f4_load_first(x, left));
}

/* ---- factor */

/* Takes the `n` finished columns from c on out of column j, from row `row` (a multiple of 4) on. */
LANES_INLINE void take_out(const ldl *f, size_t c, int n, size_t j, size_t row)
{
    const double *left = f->l + c * f->stride;
    double *l = f->l + j * f->stride;
    d4 t[4];
    for (int i = 0; i < n; i++)
        t[i] = d4_all(left[(size_t)i * f->stride + j] * f->d[c + (size_t)i]);
    for (size_t r = row; r <= f->dim; r += 4) {
        d4 e = d4_load(l + r);
        for (int i = 0; i < n; i++)
            e = d4_fnma(d4_load(left + (size_t)i * f->stride + r), t[i], e);
        d4_store(l + r, e);
    }
}

/* The same for the four columns from j on (a multiple of 4), and four finished ones. */
LANES_INLINE void take_out_16(ldl f, size_t c, size_t j)
{
    d4 t[4][4];
    for (size_t i = 0; i < 4; i++)
        for (size_t q = 0; q < 4; q++)
            t[i][q] = d4_all(f.l[(c + i) * f.stride + j + q] * f.d[c + i]);
    for (size_t r = j; r <= f.dim; r += 4) {
        const double *left = f.l + c * f.stride + r;
        double *l = f.l + j * f.stride + r;
        d4 e[4];
        for (size_t q = 0; q < 4; q++)
            e[q] = d4_load(l + q * f.stride);
        for (size_t i = 0; i < 4; i++) {
            d4 li = d4_load(left + i * f.stride);
            for (size_t q = 0; q < 4; q++)
                e[q] = d4_fnma(li, t[i][q], e[q]);
        }
        for (size_t q = 0; q < 4; q++)
            d4_store(l + q * f.stride, e[q]);
    }
}

/* Column j has lost all columns before it: its pivot and its multipliers.  The rows up to j become
 * 0. */
LANES_INLINE bool finish_column(const ldl *f, size_t j, double whole)
{
    double *l = f->l + j * f->stride, pivot = l[j];
    if (!pivot_is_positive(pivot, whole))
        return false;
    f->d[j] = pivot;
    d4 inverse = d4_all(1 / pivot);
    size_t row = j & ~(size_t)3;
    d4_store(l + row, d4_without_first(d4_mul(d4_load(l + row), inverse), j - row + 1));
    for (size_t r = row + 4; r <= f->dim; r += 4)
        d4_store(l + r, d4_mul(d4_load(l + r), inverse));
    return true;
}

LANES_INLINE bool factor_block(const ldl *f, const double *gram, double ridge, double lift,
                               size_t c)
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

LANES_TARGET bool VERSION(ldl_factor)(const ldl *f, const double *gram, const double *moment,
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
    d4 p[4][UPDATE_ROWS], beta[4][UPDATE_ROWS];
    double gamma[4][UPDATE_ROWS]; /* of a steep step, else -1 */
    bool steep;                   /* one of them is */
} steps;

/* Column c + i through its four rows c..c+3, which `p` holds: makes the column's steps. */
LANES_INLINE void make_step(ldl f, size_t c, int i, d4 *p, double *alpha, int n, steps *s)
{
    double *at = f.l + (c + (size_t)i) * f.stride + c, d = f.d[c + (size_t)i];
    d4 before = d4_load(at), l = before;
    for (int k = 0; k < n; k++) {
        d4 pj = d4_lane(p[k], i);
        double x = d4_lane_0(pj), a = alpha[k] * x;
        double sum = fma(a, x, d), inverse = 1 / sum;
        double gamma = d * inverse;
        bool steep = is_steep(d, sum);
        d4 beta = d4_all(a * inverse), old = p[k];
        alpha[k] *= gamma;
        d = sum;
        p[k] = d4_fnma(pj, l, p[k]);
        if (__builtin_expect(steep, 0))
            l = d4_fma(beta, old, d4_mul(d4_all(gamma), l));
        else
            l = d4_fma(beta, p[k], l);
        s->p[i][k] = pj;
        s->beta[i][k] = beta;
        s->gamma[i][k] = steep ? gamma : -1;
        s->steep |= steep;
    }
    f.d[c + (size_t)i] = d;
    d4_store(at, d4_above(before, l, i));
}

/* The same as take_many_steps where a step is steep: seldom, so small rather than fast. */
LANES_TARGET static __attribute__((noinline)) void
take_steep_steps(ldl f, size_t c, size_t row, size_t end, double *work, int n, const steps *s)
{
    for (; row < end; row += 4)
        for (int i = 0; i < 4; i++) {
            double *l = f.l + (c + (size_t)i) * f.stride + row;
            d4 e = d4_load(l);
            for (int k = 0; k < n; k++) {
                double *at = work + (size_t)k * f.stride + row;
                d4 old = d4_load(at), p = d4_fnma(s->p[i][k], e, old);
                if (s->gamma[i][k] >= 0)
                    e = d4_fma(s->beta[i][k], old, d4_mul(d4_all(s->gamma[i][k]), e));
                else
                    e = d4_fma(s->beta[i][k], p, e);
                d4_store(at, p);
            }
            d4_store(l, e);
        }
}

/* The steps of the columns c..c+3 on `vectors` (1 or 2) times four rows from `row` on. */
LANES_INLINE void take_steps(ldl f, size_t c, size_t row, int vectors, double *work, int n,
                             const steps *s)
{
    d4 p[UPDATE_ROWS][2];
    double *l = f.l + c * f.stride + row;
    work += row;
    for (int k = 0; k < n; k++)
        for (int v = 0; v < vectors; v++)
            p[k][v] = d4_load(work + (size_t)k * f.stride + 4 * v);
    for (int i = 0; i < 4; i++) {
        d4 e[2];
        for (int v = 0; v < vectors; v++)
            e[v] = d4_load(l + (size_t)i * f.stride + 4 * v);
        for (int k = 0; k < n; k++) {
            for (int v = 0; v < vectors; v++)
                p[k][v] = d4_fnma(s->p[i][k], e[v], p[k][v]);
            for (int v = 0; v < vectors; v++)
                e[v] = d4_fma(s->beta[i][k], p[k][v], e[v]);
        }
        for (int v = 0; v < vectors; v++)
            d4_store(l + (size_t)i * f.stride + 4 * v, e[v]);
    }
    for (int k = 0; k < n; k++)
        for (int v = 0; v < vectors; v++)
            d4_store(work + (size_t)k * f.stride + 4 * v, p[k][v]);
}

LANES_INLINE size_t take_many_steps(ldl f, size_t c, size_t row, size_t end, double *work, int n,
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
LANES_INLINE size_t step_and_steps(ldl f, size_t c, int i, size_t row, size_t stop, d4 *p,
                                   double *alpha, double *work, int n, const steps *now,
                                   steps *next)
{
    if (c + 4 + (size_t)i < f.dim)
        make_step(f, c + 4, i, p, alpha, n, next);
    return row < stop ? take_many_steps(f, c, row, stop, work, n, now) : row;
}

/* Kernel: n rows (a constant) through L.  work: (n, stride) the rows, rewards behind them, then
 * zeros. */
LANES_INLINE void update_rows(ldl f, double *work, double *alpha, int n)
{
    const size_t end = ceil4((size_t)f.dim + 1);
    steps both[2];
    d4 p[UPDATE_ROWS];
    for (int k = 0; k < n; k++)
        p[k] = d4_load(work + (size_t)k * f.stride);
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
            p[k] = d4_load(work + (size_t)k * f.stride + c + 4);
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

LANES_TARGET static void update_1(const ldl *f, double *work, double *alpha)
{
    update_rows(*f, work, alpha, 1);
}

LANES_TARGET static void update_2(const ldl *f, double *work, double *alpha)
{
    update_rows(*f, work, alpha, 2);
}

LANES_TARGET static void update_3(const ldl *f, double *work, double *alpha)
{
    update_rows(*f, work, alpha, 3);
}

LANES_TARGET static void update_4(const ldl *f, double *work, double *alpha)
{
    update_rows(*f, work, alpha, 4);
}

/* The row x, its reward, and zeros up to the stride: in whole vectors, which can be read at once
 * where pieces of one could not. */
LANES_INLINE void load_row(const float *x, double y, uint32_t dim, size_t stride, double *p)
{
    size_t r = 0, left = dim & 3;
    for (; r + 4 <= dim; r += 4)
        d4_store(p + r, d4_of_floats(f4_load(x + r)));
    d4 reward = d4_without_first(d4_all(y), left); /* and what follows is 0 */
    reward = d4_only_first(reward, left + 1);
    d4 rest = left ? load_floats(x + r, left) : d4_all(0);
    d4_store(p + r, d4_or(reward, rest));
    for (r += 4; r < stride; r += 4)
        d4_store(p + r, d4_all(0));
}

LANES_TARGET void VERSION(ldl_update)(const ldl *f, const float *const *x, const double *y,
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

/* The triangle of the n columns from c on, last column first; x: what is left of the right-hand
 * side. */
LANES_INLINE d4 back_triangle(const ldl *f, size_t c, size_t n, d4 x)
{
    d4 row[4];
    for (size_t i = 0; i < 4; i++)
        row[i] = i < n ? d4_load(f->l + (c + i) * f->stride + c) : d4_all(0);
    d4_transpose(row);
    for (int i = 3; i > 0; i--)
        if ((size_t)i < n)
            x = d4_below(x, d4_fnma(row[i], d4_lane(x, i), x), i);
    return x;
}

/* What the block of n columns from c on starts from: what is in x, or, with z, u + scale z /
 * sqrt(d), or, with neither, u. */
typedef struct beginning {
    const double *x;
    const float *z;
    double scale;
} beginning;

LANES_INLINE d4 begin_block(const ldl *f, const beginning *from, size_t c, size_t n)
{
    if (from->x)
        return d4_load_first(from->x + c, n);
    double four[4] = {0};
    for (size_t i = 0; i < n; i++)
        four[i] = f->l[(c + i) * f->stride + f->dim];
    d4 u = d4_load(four);
    if (!from->z)
        return u;
    d4 noise = d4_div(load_floats(from->z + c, n), d4_sqrt(d4_load(f->d + c)));
    return d4_fma(d4_all(from->scale), noise, u);
}

/* Kernel: x = L^-T of the beginning.  The dots of four columns at a time; the rows found last are
 * used last, so that the long part does not depend on them. */
LANES_INLINE void back_from(const ldl *f, const beginning *from, double *x)
{
    const size_t whole = f->dim & ~(size_t)3, rest = f->dim - whole, s = f->stride;
    d4 tail = d4_all(0);
    if (rest) {
        tail = back_triangle(f, whole, rest, begin_block(f, from, whole, rest));
        d4_store_first(x + whole, tail, rest);
    }
    for (size_t end = whole; end > 0; end -= 4) {
        const double *l = f->l + (end - 4) * s;
        d4 even[4], odd[4], start = begin_block(f, from, end - 4, 4);
        for (size_t i = 0; i < 4; i++)
            even[i] = odd[i] = d4_all(0);
        size_t r = ceil4(f->dim);
        d4 high = rest ? tail : r > end ? d4_load(x + r - 4) : tail;
        for (; r >= end + 8; r -= 8) {
            d4 low = d4_load(x + r - 8);
            for (size_t i = 0; i < 4; i++) {
                even[i] = d4_fma(d4_load(l + i * s + r - 4), high, even[i]);
                odd[i] = d4_fma(d4_load(l + i * s + r - 8), low, odd[i]);
            }
            if (r >= end + 12)
                high = d4_load(x + r - 12);
        }
        if (r > end)
            for (size_t i = 0; i < 4; i++)
                even[i] = d4_fma(d4_load(l + i * s + r - 4), high, even[i]);
        for (size_t i = 0; i < 4; i++)
            even[i] = d4_add(even[i], odd[i]);
        d4 left = d4_sub(start, d4_sums(even[0], even[1], even[2], even[3]));
        d4_store(x + end - 4, back_triangle(f, end - 4, 4, left));
    }
}

LANES_TARGET static void back(const ldl *f, double *x)
{
    back_from(f, &(beginning){x, NULL, 0}, x);
}

LANES_TARGET void VERSION(ldl_sample)(const ldl *f, double scale, const float *z, double *theta)
{
    if (z)
        back_from(f, &(beginning){NULL, z, scale}, theta);
    else
        back_from(f, &(beginning){NULL, NULL, 0}, theta);
}

LANES_TARGET static void forward(const ldl *f, double *x)
{
    for (size_t c = 0; c < f->dim; c += 4) {
        const double *l = f->l + c * f->stride;
        size_t n = f->dim - c < 4 ? f->dim - c : 4;
        d4 own = d4_load_first(x + c, n), xj[4];
        for (int i = 0; i < 4; i++) {
            xj[i] = d4_lane(own, i);
            if ((size_t)i < n)
                own = d4_above(own, d4_fnma(d4_load(l + (size_t)i * f->stride + c), xj[i], own), i);
        }
        d4_store_first(x + c, own, n);
        for (size_t r = c + 4; r < f->dim; r += 4) {
            d4 e = d4_load_first(x + r, f->dim - r);
            for (size_t i = 0; i < 4; i++)
                e = d4_fnma(d4_load(l + i * f->stride + r), xj[i], e);
            d4_store_first(x + r, e, f->dim - r);
        }
    }
}

LANES_TARGET void VERSION(ldl_solve)(const ldl *f, const double *rhs, double *x)
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
LANES_INLINE void load_items(const float *const item[4], size_t j, size_t left, d4 out[4])
{
    for (size_t i = 0; i < 4; i++)
        out[i] = load_floats(item[i] + j, left);
    d4_transpose(out);
}

/* Takes the first `end` columns out of four rows of L times 4 v items, which stay in registers
 * meanwhile.  l: their place in column 0. */
LANES_INLINE void take_out_of_items(const double *l, size_t stride, size_t end, const double *w,
                                    int v, d4 e[4][3])
{
    d4 own[4][3];
    for (int i = 0; i < 4; i++)
        for (int q = 0; q < v; q++)
            own[i][q] = e[i][q];
    for (size_t k = 0; k < end; k++, l += stride, w += 4 * v) {
        d4 wk[3];
        for (int q = 0; q < v; q++)
            wk[q] = d4_load(w + 4 * q);
        for (int i = 0; i < 4; i++) {
            d4 lik = d4_all(*(l + i));
            for (int q = 0; q < v; q++)
                own[i][q] = d4_fnma(lik, wk[q], own[i][q]);
        }
    }
    for (int i = 0; i < 4; i++)
        for (int q = 0; q < v; q++)
            e[i][q] = own[i][q];
}

/* Kernel: 4 v items side by side, v <= 3 a constant: w_r (r, 4 v) = (L^-1 x)_r. */
LANES_INLINE void quadratic_items(const ldl *f, const float *const *item, int v,
                                  const double *inverse, double *w, d4 *sum)
{
    const size_t width = 4 * (size_t)v, stride = f->stride;
    for (int q = 0; q < v; q++)
        sum[q] = d4_all(0);
    for (size_t c = 0; c < f->dim; c += 4) {
        const double *l = f->l + c;
        d4 e[4][3];
        for (int q = 0; q < v; q++) {
            d4 four[4];
            load_items(item + 4 * q, c, f->dim - c, four);
            for (int i = 0; i < 4; i++)
                e[i][q] = four[i];
        }
        take_out_of_items(l, stride, c, w, v, e);
        for (int i = 0; i < 4 && c + (size_t)i < f->dim; i++) {
            for (int k = 0; k < i; k++) {
                d4 lik = d4_all(*(l + (c + (size_t)k) * f->stride + i));
                for (int q = 0; q < v; q++)
                    e[i][q] = d4_fnma(lik, e[k][q], e[i][q]);
            }
            d4 d = d4_all(*(inverse + c + i));
            for (int q = 0; q < v; q++) {
                sum[q] = d4_fma(d4_mul(e[i][q], d), e[i][q], sum[q]);
                d4_store(w + (c + (size_t)i) * width + 4 * (size_t)q, e[i][q]);
            }
        }
    }
}

LANES_TARGET static void quadratic_12(const ldl *f, const float *const *item, const double *inverse,
                                      double *w, double *out)
{
    d4 sum[3];
    quadratic_items(f, item, 3, inverse, w, sum);
    for (int q = 0; q < 3; q++)
        d4_store(out + 4 * q, sum[q]);
}

LANES_TARGET static void quadratic_4(const ldl *f, const float *const *item, const double *inverse,
                                     double *w, double *out)
{
    d4 sum[1];
    quadratic_items(f, item, 1, inverse, w, sum);
    d4_store(out, sum[0]);
}

LANES_TARGET void VERSION(ldl_quadratic)(const ldl *f, const float *x, size_t stride, uint32_t n,
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

/* What lies `ahead` bytes behind x, which may be beyond the rows: a prefetch reads nothing.  0:
 * nothing. */
LANES_INLINE void fetch_ahead(const float *x, size_t ahead)
{
    if (ahead)
        __builtin_prefetch((const char *)((uintptr_t)x + ahead), 0, 3);
}

/* Eight features of a row. */
LANES_INLINE void add_8(const float *row, const double *theta, d4 *even, d4 *odd)
{
    *even = d4_fma(d4_of_floats(f4_load(row)), d4_load(theta), *even);
    *odd = d4_fma(d4_of_floats(f4_load(row + 4)), d4_load(theta + 4), *odd);
}

/* The last features of n rows, at most four: some lanes of `sum`. */
LANES_INLINE void add_last(const float *x, size_t stride, int n, const double *theta, size_t left,
                           d4 sum[])
{
    const d4 t = d4_load_first(theta, left);
    for (int i = 0; i < n; i++)
        sum[i] = d4_fma(d4_of_floats(f4_load_first(x + (size_t)i * stride, left)), t, sum[i]);
}

/* Kernel: n rows of floats (1 or 4, a constant) times theta: four partial sums of each. */
LANES_INLINE void partial_sums(const float *x, size_t stride, int n, uint32_t dim,
                               const double *theta, size_t ahead, d4 sum[])
{
    d4 even[4], odd[4];
    for (int i = 0; i < n; i++)
        even[i] = odd[i] = d4_all(0);
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
        sum[i] = d4_add(even[i], odd[i]);
}

/* Four rows side by side, the next four fetched ahead: the fastest while the rows come from a
 * cache. */
LANES_INLINE d4 four_rows(const float *x, size_t stride, uint32_t dim, const double *theta)
{
    d4 sum[4];
    partial_sums(x, stride, 4, dim, theta, 4 * stride * sizeof *x, sum);
    return d4_sums(sum[0], sum[1], sum[2], sum[3]);
}

/* How far ahead rows from memory are fetched: 2 KB made a pass over a million rows 1.4 times as
 * fast on a Xeon with DDR5; 1 KB and 3 KB gave nearly the same. */
enum { STREAM_AHEAD = 2048 };

/* Four rows one after the other, which the processor's own prefetchers follow, too: better than
 * four rows side by side. */
LANES_INLINE d4 four_streamed(const float *x, size_t stride, uint32_t dim, const double *theta)
{
    d4 sum[4];
    for (size_t i = 0; i < 4; i++)
        partial_sums(x + i * stride, stride, 1, dim, theta, STREAM_AHEAD, &sum[i]);
    return d4_sums(sum[0], sum[1], sum[2], sum[3]);
}

LANES_INLINE double one_row(const float *x, uint32_t dim, const double *theta)
{
    d4 sum, zero = d4_all(0);
    partial_sums(x, 0, 1, dim, theta, 0, &sum);
    return d4_lane_0(d4_sums(sum, zero, zero, zero));
}

/* Adds 0 to `wrong` where all four numbers are finite, else NaN. */
LANES_INLINE d4 note_finite(d4 wrong, d4 x)
{
    return d4_or(wrong, d4_sub(x, x));
}

LANES_INLINE bool was_finite(d4 wrong)
{
    return d4_is_zero(wrong);
}

enum { SHORT = 16 }; /* features */

/* A row of at most 16 features, in `blocks` vectors of four (a constant), the last of which has
 * only some lanes; or theta likewise. */
LANES_INLINE d4 short_row_times(const float *x, const d4 theta[4], size_t blocks, size_t left)
{
    d4 sum[2] = {d4_all(0), d4_all(0)};
    for (size_t b = 0; b < blocks; b++)
        sum[b % 2] = d4_fma(
            d4_of_floats(b + 1 < blocks ? f4_load(x + 4 * b) : f4_load_first(x + 4 * b, left)),
            theta[b], sum[b % 2]);
    return d4_add(sum[0], sum[1]);
}

/* Kernel: n such rows; theta stays in registers.  Of the last four rows, the last one is used
 * in place of those that are missing. */
LANES_INLINE bool short_rows_times(const float *x, size_t stride, uint32_t n, uint32_t dim,
                                   const double *theta, double *out, size_t blocks)
{
    const size_t left = dim - 4 * (blocks - 1);
    d4 t[4], wrong = d4_all(0), sum[4];
    for (size_t b = 0; b < blocks; b++)
        t[b] = d4_load_pairs(theta + 4 * b, b + 1 < blocks ? 4 : left);
    for (; n >= 4; n -= 4, x += 4 * stride, out += 4) {
        for (size_t i = 0; i < 4; i++)
            sum[i] = short_row_times(x + i * stride, t, blocks, left);
        d4 four = d4_sums(sum[0], sum[1], sum[2], sum[3]);
        wrong = note_finite(wrong, four);
        d4_store(out, four);
    }
    if (n) {
        for (size_t i = 0; i < 4; i++)
            sum[i] = short_row_times(x + (i < n ? i : n - 1) * stride, t, blocks, left);
        d4 four = d4_sums(sum[0], sum[1], sum[2], sum[3]);
        wrong = note_finite(wrong, four);
        d4_store_first(out, four, n);
    }
    return was_finite(wrong);
}

LANES_TARGET static bool any_short_rows_times(const float *x, size_t stride, uint32_t n,
                                              uint32_t dim, const double *theta, double *out)
{
    return dim > 12  ? short_rows_times(x, stride, n, dim, theta, out, 4)
           : dim > 8 ? short_rows_times(x, stride, n, dim, theta, out, 3)
           : dim > 4 ? short_rows_times(x, stride, n, dim, theta, out, 2)
                     : short_rows_times(x, stride, n, dim, theta, out, true);
}

/* The rows from i on. */
LANES_INLINE d4 last_rows_times(const float *x, size_t stride, uint32_t i, uint32_t n, uint32_t dim,
                                const double *theta, double *out, d4 wrong)
{
    for (; i < n; i++) {
        out[i] = one_row(x + i * stride, dim, theta);
        wrong = note_finite(wrong, d4_all(out[i]));
    }
    return wrong;
}

LANES_INLINE bool long_rows_times(const float *x, size_t stride, uint32_t n, uint32_t dim,
                                  const double *theta, double *out)
{
    d4 wrong = d4_all(0);
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        d4 four = four_rows(x + i * stride, stride, dim, theta);
        wrong = note_finite(wrong, four);
        d4_store(out + i, four);
    }
    return was_finite(last_rows_times(x, stride, i, n, dim, theta, out, wrong));
}

/* Rows from memory: four of the first half, then four of the second, and so on.  Memory gives more
 * to two streams of addresses than to one (bench/linear.c). */
LANES_TARGET static bool stream_times(const float *x, size_t stride, uint32_t n, uint32_t dim,
                                      const double *theta, double *out)
{
    d4 wrong = d4_all(0);
    const uint32_t half = n / 8 * 4;
    for (uint32_t i = 0; i < half; i += 4)
        for (uint32_t at = i; at <= half + i; at += half) {
            d4 four = four_streamed(x + at * stride, stride, dim, theta);
            wrong = note_finite(wrong, four);
            d4_store(out + at, four);
        }
    return was_finite(last_rows_times(x, stride, 2 * half, n, dim, theta, out, wrong));
}

LANES_TARGET bool VERSION(rows_times)(const float *x, size_t stride, uint32_t n, uint32_t dim,
                                      const double *theta, double *out)
{
    if (dim <= SHORT)
        return any_short_rows_times(x, stride, n, dim, theta, out);
    if (rows_are_streamed(stride, n, dim))
        return stream_times(x, stride, n, dim, theta, out);
    return long_rows_times(x, stride, n, dim, theta, out);
}

/* ---- several thetas */

/* One row times each theta: features are turned into doubles once. */
LANES_INLINE d4 row_times_several(const float *x, uint32_t dim, const double *const *theta)
{
    d4 even[SEVERAL], odd[SEVERAL];
    for (int k = 0; k < SEVERAL; k++)
        even[k] = odd[k] = d4_all(0);
    size_t j = 0;
    for (; j + 8 <= dim; j += 8) {
        const d4 low = d4_of_floats(f4_load(x + j)), high = d4_of_floats(f4_load(x + j + 4));
        fetch_ahead(x + j, STREAM_AHEAD);
        for (int k = 0; k < SEVERAL; k++) {
            even[k] = d4_fma(low, d4_load(theta[k] + j), even[k]);
            odd[k] = d4_fma(high, d4_load(theta[k] + j + 4), odd[k]);
        }
    }
    for (int k = 0; k < SEVERAL; k++) {
        if (j < dim)
            add_last(x + j, 0, 1, theta[k] + j, dim - j < 4 ? dim - j : 4, &even[k]);
        if (j + 4 < dim)
            add_last(x + j + 4, 0, 1, theta[k] + j + 4, dim - j - 4, &odd[k]);
        even[k] = d4_add(even[k], odd[k]);
    }
    return d4_sums(even[0], even[1], even[2], even[3]);
}

/* The four rows from row i on, or the `left` that there are. */
LANES_INLINE d4 four_times_several(const float *x, size_t stride, uint32_t i, size_t left,
                                   uint32_t dim, const double *const *theta, double *const *out,
                                   d4 wrong)
{
    d4 four[SEVERAL];
    for (size_t r = 0; r < 4; r++)
        four[r] = row_times_several(x + (i + (r < left ? r : 0)) * stride, dim, theta);
    d4_transpose(four);
    for (int k = 0; k < SEVERAL; k++) {
        wrong = note_finite(wrong, four[k]);
        if (left < 4)
            d4_store_first(out[k] + i, four[k], left);
        else
            d4_store(out[k] + i, four[k]);
    }
    return wrong;
}

/* From memory, which is then read once in place of SEVERAL times; rows in a cache do not gain by
 * it. In two streams, as in stream_times(). */
LANES_TARGET static bool stream_times_several(const float *x, size_t stride, uint32_t n,
                                              uint32_t dim, const double *const *theta,
                                              double *const *out)
{
    d4 wrong = d4_all(0);
    const uint32_t half = n / 8 * 4;
    for (uint32_t i = 0; i < half; i += 4) {
        wrong = four_times_several(x, stride, i, 4, dim, theta, out, wrong);
        wrong = four_times_several(x, stride, half + i, 4, dim, theta, out, wrong);
    }
    for (uint32_t i = 2 * half; i < n; i += 4)
        wrong = four_times_several(x, stride, i, n - i, dim, theta, out, wrong);
    return was_finite(wrong);
}

bool VERSION(rows_times_several)(const float *x, size_t stride, uint32_t n, uint32_t dim,
                                 const double *const *theta, double *const *out)
{
    bool good = true;
    if (dim > SHORT && rows_are_streamed(stride, n, dim))
        return stream_times_several(x, stride, n, dim, theta, out);
    for (int k = 0; k < SEVERAL; k++)
        good &= VERSION(rows_times)(x, stride, n, dim, theta[k], out[k]);
    return good;
}

/* Without its sign, a float is the larger the larger its bits are, and NaN above all. */
LANES_TARGET bool VERSION(rows_within)(const float *x, size_t stride, const uint32_t *row,
                                       uint32_t n, uint32_t dim, float most)
{
    const w8 magnitude = w8_all(INT32_MAX);
    w8 largest = w8_all(0);
    for (uint32_t i = 0; i < n; i++) {
        const float *at = x + (row ? row[i] : i) * stride;
        for (uint32_t j = 0; j + 8 <= dim; j += 8, at += 8)
            largest = w8_max_signed(largest, w8_and(magnitude, f8_bits(f8_load(at))));
        largest = w8_max_signed(largest, w8_and(magnitude, f8_bits(f8_load_first(at, dim % 8))));
    }
    return m8_bits(m8_of_signs(w8_sub(f8_bits(f8_all(most)), largest))) == 0;
}

/* ---- the sums */

enum { TILE = 256 }; /* rows of gram whose x lie in double on the stack: 8 KiB */

typedef struct tile {
    double x[UPDATE_ROWS][TILE]; /* rows base.. of each x */
    size_t base;
} tile;

/* Element (i, j) gains t_k x_k, one k after the other. */
LANES_INLINE void add_element(double *g, const double *t, const tile *rows, size_t i, int n)
{
    d1 sum = d1_load(g);
    for (int k = 0; k < n; k++)
        sum = d1_fma(d1_load(t + k), d1_load(&rows->x[k][i - rows->base]), sum);
    d1_store(g, sum);
}

/* Rows from..to of the columns j..j+3; column q begins, if it had a row 0, at g[q].  Four columns
 * share what is loaded of x. */
LANES_INLINE void add_columns(double *const g[4], double t[4][UPDATE_ROWS], const tile *rows,
                              size_t from, size_t to, int n)
{
    double *g0 = g[0], *g1 = g[1], *g2 = g[2], *g3 = g[3];
    const double *x = rows->x[0];
    d4 tk[4][UPDATE_ROWS];
    for (int q = 0; q < 4; q++)
        for (int k = 0; k < n; k++)
            tk[q][k] = d4_all(t[q][k]);
    size_t i = from;
    for (; i + 4 <= to; i += 4) {
        d4 s0 = d4_load(g0 + i), s1 = d4_load(g1 + i), s2 = d4_load(g2 + i), s3 = d4_load(g3 + i);
        for (int k = 0; k < n; k++) {
            d4 xk = d4_load(x + k * TILE + (i - rows->base));
            s0 = d4_fma(tk[0][k], xk, s0);
            s1 = d4_fma(tk[1][k], xk, s1);
            s2 = d4_fma(tk[2][k], xk, s2);
            s3 = d4_fma(tk[3][k], xk, s3);
        }
        d4_store(g0 + i, s0);
        d4_store(g1 + i, s1);
        d4_store(g2 + i, s2);
        d4_store(g3 + i, s3);
    }
    for (; i < to; i++)
        for (int q = 0; q < 4; q++)
            add_element(g[q] + i, t[q], rows, i, n);
}

/* The columns j..j+3 (those there are) of the tile whose rows end before `to`. */
LANES_INLINE void add_block(double *gram, uint32_t dim, const float *const *x, const double *weight,
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

LANES_INLINE void add_tile(double *gram, uint32_t dim, const float *const *x, const double *weight,
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

LANES_INLINE void add_rows(double *gram, double *moment, uint32_t dim, const float *const *x,
                           const double *y, const double *weight, int n)
{
    for (size_t base = 0; base < dim; base += TILE)
        add_tile(gram, dim, x, weight, n, base, base + TILE < dim ? base + TILE : dim);
    for (int k = 0; k < n; k++) {
        d4 yk = d4_all(y[k]), wk = d4_all(weight ? weight[k] : 1);
        for (size_t j = 0; j < dim; j += 4) {
            d4 t = d4_mul(load_floats(x[k] + j, dim - j), wk);
            d4_store_first(moment + j, d4_fma(t, yk, d4_load_first(moment + j, dim - j)), dim - j);
        }
    }
}

LANES_TARGET void VERSION(gram_add)(double *gram, double *moment, uint32_t dim,
                                    const float *const *x, const double *y, const double *weight,
                                    uint32_t n_rows)
{
#define PASS(k, n) add_rows(gram, moment, dim, x + (k), y + (k), weight ? weight + (k) : NULL, n)
    IN_PASSES(n_rows, PASS);
#undef PASS
}

/* The factor comes last: what of it is still near, the sample of the next round reads first. */
void VERSION(ldl_learn)(const ldl *f, double *gram, double *moment, const float *const *x,
                        const double *y, const double *weight, uint32_t n_rows, double *work)
{
    VERSION(gram_add)(gram, moment, f->dim, x, y, weight, n_rows);
    VERSION(ldl_update)(f, x, y, weight, n_rows, work);
}

#else
typedef int no_lanes; /* an empty translation unit is not C */
#endif
