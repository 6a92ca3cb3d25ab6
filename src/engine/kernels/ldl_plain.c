/* ldl_plain.c - the plain C twins of the kernels of the factor; ldl_kernels.h has their order. */
#include "engine/kernels/table.h"

#include <math.h>
#include <string.h>

/* Column j of V and of b into the rows j..dim of l; everything else in the column is 0. */
static void load_column(const ldl *f, const double *gram, const double *moment, double diagonal,
                        size_t j)
{
    double *l = f->l + j * f->stride;
    memset(l, 0, f->stride * sizeof *l);
    memcpy(l + j, gram + packed_column(f->dim, j), (f->dim - j) * sizeof *l);
    l[j] = diagonal;
    l[f->dim] = moment ? moment[j] : 0;
}

bool ldl_factor_plain(const ldl *f, const double *gram, const double *moment, double ridge,
                      double lift)
{
    for (size_t j = 0; j < f->dim; j++) {
        double *l = f->l + j * f->stride,
               whole = (gram[packed_column(f->dim, j)] + ridge) * (1 + lift);
        load_column(f, gram, moment, whole, j);
        for (size_t k = 0; k < j; k++) {
            const double *left = f->l + k * f->stride;
            double t = left[j] * f->d[k];
            for (size_t r = j; r <= f->dim; r++)
                l[r] = fma(-left[r], t, l[r]);
        }
        if (!pivot_is_positive(l[j], whole))
            return false;
        f->d[j] = l[j];
        double inverse = 1 / l[j];
        l[j] = 0;
        for (size_t r = j + 1; r <= f->dim; r++)
            l[r] *= inverse;
    }
    for (size_t j = f->dim; j < ceil4(f->dim); j++)
        f->d[j] = 1;
    return true;
}

/* One row through L.  p: (dim + 1) the row and its reward, destroyed. */
static void update_one_plain(const ldl *f, double *p, double alpha)
{
    for (size_t j = 0; j < f->dim; j++) {
        double *l = f->l + j * f->stride, pj = p[j], s = alpha * pj;
        double d = f->d[j], sum = fma(s, pj, d), inverse = 1 / sum, beta = s * inverse,
               gamma = d * inverse;
        f->d[j] = sum;
        alpha *= gamma;
        for (size_t r = j + 1; r <= f->dim; r++) {
            double before = p[r];
            p[r] = fma(-pj, l[r], before);
            l[r] = is_steep(d, sum) ? fma(beta, before, gamma * l[r]) : fma(beta, p[r], l[r]);
        }
    }
}

/* The kernel takes several rows through a column before the next column; row by row gives the same
 * bits, because a row meets each column after the rows before it either way. */
void ldl_update_plain(const ldl *f, const float *const *x, const double *y, const double *weight,
                      uint32_t n_rows, double *work)
{
    for (uint32_t k = 0; k < n_rows; k++) {
        for (size_t r = 0; r < f->dim; r++)
            work[r] = (double)x[k][r];
        work[f->dim] = y[k];
        update_one_plain(f, work, weight ? weight[k] : 1);
    }
}

static double sum_of_8(const double a[2][4])
{
    return ((a[0][0] + a[1][0]) + (a[0][1] + a[1][1])) +
           ((a[0][2] + a[1][2]) + (a[0][3] + a[1][3]));
}

/* sum of l_r x_r over the rows from `from`, a multiple of 4, to the end of the matrix. */
static double dot_below(const ldl *f, const double *l, const double *x, size_t from)
{
    double sum[2][4] = {{0}};
    size_t set = 0;
    for (size_t r = ceil4(f->dim); r > from; r -= 4, set ^= 1)
        for (size_t i = 0; i < 4; i++)
            sum[set][i] = fma(l[r - 4 + i], r - 4 + i < f->dim ? x[r - 4 + i] : 0, sum[set][i]);
    return sum_of_8((const double(*)[4])sum);
}

static void back_plain(const ldl *f, double *x)
{
    for (size_t end = ceil4(f->dim); end > 0; end -= 4) {
        size_t from = end - 4, to = end < f->dim ? end : f->dim;
        for (size_t j = from; j < to; j++)
            x[j] -= dot_below(f, f->l + j * f->stride, x, end);
        for (size_t r = to; r-- > from;)
            for (size_t j = from; j < r; j++)
                x[j] = fma(-f->l[j * f->stride + r], x[r], x[j]);
    }
}

static void forward_plain(const ldl *f, double *x)
{
    for (size_t j = 0; j < f->dim; j++)
        for (size_t r = j + 1; r < f->dim; r++)
            x[r] = fma(-f->l[j * f->stride + r], x[j], x[r]);
}

void ldl_solve_plain(const ldl *f, const double *rhs, double *x)
{
    if (x != rhs)
        memcpy(x, rhs, f->dim * sizeof *x);
    forward_plain(f, x);
    for (size_t j = 0; j < f->dim; j++)
        x[j] /= f->d[j];
    back_plain(f, x);
}

void ldl_sample_plain(const ldl *f, double scale, const float *z, double *theta)
{
    const double *u = f->l + f->dim;
    for (size_t j = 0; j < f->dim; j++)
        theta[j] =
            z ? fma(scale, (double)z[j] / sqrt(f->d[j]), u[j * f->stride]) : u[j * f->stride];
    back_plain(f, theta);
}

void ldl_quadratic_plain(const ldl *f, const float *x, size_t stride, uint32_t n, double *out,
                         double *work)
{
    for (uint32_t i = 0; i < n; i++) {
        for (size_t r = 0; r < f->dim; r++)
            work[r] = (double)x[i * stride + r];
        forward_plain(f, work);
        out[i] = 0;
        for (size_t r = 0; r < f->dim; r++)
            out[i] = fma(work[r] * (1 / f->d[r]), work[r], out[i]);
    }
}

bool rows_times_plain(const float *x, size_t stride, uint32_t n, uint32_t dim, const double *theta,
                      double *out)
{
    bool finite = true;
    for (uint32_t i = 0; i < n; i++) {
        double sum[2][4] = {{0}};
        const float *row = x + i * stride;
        for (size_t j = 0; j < ceil4(dim); j++) {
            double *s = &sum[j / 4 % 2][j % 4];
            *s = j < dim ? fma((double)row[j], theta[j], *s) : *s + 0;
        }
        out[i] = sum_of_8((const double(*)[4])sum);
        finite = finite && isfinite(out[i]);
    }
    return finite;
}

bool rows_times_several_plain(const float *x, size_t stride, uint32_t n, uint32_t dim,
                              const double *const *theta, double *const *out)
{
    bool good = true;
    for (int k = 0; k < SEVERAL; k++)
        good &= rows_times_plain(x, stride, n, dim, theta[k], out[k]);
    return good;
}

/* Without its sign, a float is the larger the larger its bits are, and NaN above all. */
bool rows_within_plain(const float *x, size_t stride, const uint32_t *row, uint32_t n, uint32_t dim,
                       float most)
{
    uint32_t limit, bits, beyond = 0;
    memcpy(&limit, &most, sizeof limit);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < dim; j++) {
            memcpy(&bits, x + (row ? row[i] : i) * stride + j, sizeof bits);
            beyond |= limit - (bits & INT32_MAX); /* negative for one that is larger */
        }
    return !(beyond >> 31);
}

void gram_add_plain(double *gram, double *moment, uint32_t dim, const float *const *x,
                    const double *y, const double *weight, uint32_t n_rows)
{
    for (uint32_t k = 0; k < n_rows; k++)
        for (size_t j = 0; j < dim; j++) {
            double t = (double)x[k][j] * (weight ? weight[k] : 1),
                   *column = gram + packed_column(dim, j) - j;
            for (size_t i = j; i < dim; i++)
                column[i] =
                    weight ? fma(t, (double)x[k][i], column[i]) : column[i] + t * (double)x[k][i];
            moment[j] = fma(t, y[k], moment[j]);
        }
}

void ldl_learn_plain(const ldl *f, double *gram, double *moment, const float *const *x,
                     const double *y, const double *weight, uint32_t n_rows, double *work)
{
    ldl_update_plain(f, x, y, weight, n_rows, work);
    gram_add_plain(gram, moment, f->dim, x, y, weight, n_rows);
}
