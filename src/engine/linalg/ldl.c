/* ldl.c - the plain C twins of the kernels of ldl.h, the choice between them and AVX2, and what
 * needs no kernel. */
#include "engine/linalg/ldl.h"

#include <math.h>
#include <string.h>

#include "engine/kernels/cpu.h"
#include "engine/kernels/ldl_kernels.h"

static const ldl_kernels *kernels(uint32_t dim)
{
    if (cpu_has_avx512())
        return dim <= LDL_FEW ? &ldl_few_avx512 : &ldl_avx512;
    return cpu_has_avx2() ? &ldl_avx2 : &ldl_plain;
}

/* ---- memory */

size_t ldl_doubles(uint32_t dim)
{
    return dim * ldl_stride(dim) + ceil4(dim);
}

void ldl_reset(const ldl *f, double ridge)
{
    memset(f->l, 0, f->dim * f->stride * sizeof *f->l);
    for (size_t j = 0; j < ceil4(f->dim); j++)
        f->d[j] = j < f->dim ? ridge : 1;
}

/* ---- factor */

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

static int factor_plain(const ldl *f, const double *gram, const double *moment, double ridge,
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
            return 0;
        f->d[j] = l[j];
        double inverse = 1 / l[j];
        l[j] = 0;
        for (size_t r = j + 1; r <= f->dim; r++)
            l[r] *= inverse;
    }
    for (size_t j = f->dim; j < ceil4(f->dim); j++)
        f->d[j] = 1;
    return 1;
}

int ldl_factor(const ldl *f, const double *gram, const double *moment, double ridge)
{
    return kernels(f->dim)->factor(f, gram, moment, ridge, 0);
}

double ldl_factor_nearby(const ldl *f, const double *gram, const double *moment, double ridge)
{
    if (ldl_factor(f, gram, moment, ridge))
        return 0;
    for (double lift = 0x1p-52 * f->dim; lift <= LDL_MOST_LIFT; lift *= 4)
        if (kernels(f->dim)->factor(f, gram, moment, ridge, lift))
            return lift;
    return -1;
}

/* ---- update */

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
static void update_plain(const ldl *f, const float *const *x, const double *y, const double *weight,
                         uint32_t n_rows, double *work)
{
    for (uint32_t k = 0; k < n_rows; k++) {
        for (size_t r = 0; r < f->dim; r++)
            work[r] = (double)x[k][r];
        work[f->dim] = y[k];
        update_one_plain(f, work, weight ? weight[k] : 1);
    }
}

size_t ldl_update_work(uint32_t dim)
{
    return UPDATE_ROWS * ldl_stride(dim);
}

void ldl_update(const ldl *f, const float *const *x, const double *y, const double *weight,
                uint32_t n_rows, double *work)
{
    kernels(f->dim)->update(f, x, y, weight, n_rows, work);
}

/* ---- substitution */

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

static void solve_plain(const ldl *f, const double *rhs, double *x)
{
    if (x != rhs)
        memcpy(x, rhs, f->dim * sizeof *x);
    forward_plain(f, x);
    for (size_t j = 0; j < f->dim; j++)
        x[j] /= f->d[j];
    back_plain(f, x);
}

static void sample_plain(const ldl *f, double scale, const float *z, double *theta)
{
    const double *u = f->l + f->dim;
    for (size_t j = 0; j < f->dim; j++)
        theta[j] =
            z ? fma(scale, (double)z[j] / sqrt(f->d[j]), u[j * f->stride]) : u[j * f->stride];
    back_plain(f, theta);
}

void ldl_sample(const ldl *f, double scale, const float *z, double *theta)
{
    kernels(f->dim)->sample(f, scale, z, theta);
}

void ldl_solve(const ldl *f, const double *rhs, double *x)
{
    kernels(f->dim)->solve(f, rhs, x);
}

/* ---- many rows at once */

static void quadratic_plain(const ldl *f, const float *x, size_t stride, uint32_t n, double *out,
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

size_t ldl_quadratic_work(uint32_t dim)
{
    return (QUADRATIC_ITEMS + 1) * ceil4(dim);
}

void ldl_quadratic(const ldl *f, const float *x, size_t stride, uint32_t n, double *out,
                   double *work)
{
    kernels(f->dim)->quadratic(f, x, stride, n, out, work);
}

static int rows_times_plain(const float *x, size_t stride, uint32_t n, uint32_t dim,
                            const double *theta, double *out)
{
    int finite = 1;
    for (uint32_t i = 0; i < n; i++) {
        double sum[2][4] = {{0}};
        const float *row = x + i * stride;
        for (size_t j = 0; j < ceil4(dim); j++) {
            double *s = &sum[j / 4 % 2][j % 4];
            *s = j < dim ? fma((double)row[j], theta[j], *s) : *s + 0;
        }
        out[i] = sum_of_8((const double(*)[4])sum);
        finite &= isfinite(out[i]) != 0;
    }
    return finite;
}

int rows_times(const float *x, size_t stride, uint32_t n, uint32_t dim, const double *theta,
               double *out)
{
    return kernels(dim)->rows_times(x, stride, n, dim, theta, out);
}

/* Without its sign, a float is the larger the larger its bits are, and NaN above all. */
static int rows_within_plain(const float *x, size_t stride, const uint32_t *row, uint32_t n,
                             uint32_t dim, float most)
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

int rows_within(const float *x, size_t stride, const uint32_t *row, uint32_t n, uint32_t dim,
                float most)
{
    return kernels(dim)->rows_within(x, stride, row, n, dim, most);
}

static void gram_add_plain(double *gram, double *moment, uint32_t dim, const float *const *x,
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

void gram_add(double *gram, double *moment, uint32_t dim, const float *const *x, const double *y,
              const double *weight, uint32_t n_rows)
{
    kernels(dim)->gram_add(gram, moment, dim, x, y, weight, n_rows);
}

static void learn_plain(const ldl *f, double *gram, double *moment, const float *const *x,
                        const double *y, const double *weight, uint32_t n_rows, double *work)
{
    update_plain(f, x, y, weight, n_rows, work);
    gram_add_plain(gram, moment, f->dim, x, y, weight, n_rows);
}

void ldl_learn(const ldl *f, double *gram, double *moment, const float *const *x, const double *y,
               const double *weight, uint32_t n_rows, double *work)
{
    kernels(f->dim)->learn(f, gram, moment, x, y, weight, n_rows, work);
}

/* ---- drift */

/* error / scale, where a scale of 0 forgives no error. */
static double relative(double error, double scale)
{
    return error > 0 ? error / scale : isnan(error) ? INFINITY : 0;
}

double ldl_column_error(const ldl *f, const double *gram, double ridge, uint32_t j, double *work)
{
    const double *target = gram + packed_column(f->dim, j) - j;
    double worst = 0, own = target[j] + ridge;
    for (size_t r = j; r < f->dim; r++)
        work[r] =
            (r == j ? own : target[r]) - (r == j ? f->d[j] : f->l[j * f->stride + r] * f->d[j]);
    for (size_t k = 0; k < j; k++) {
        const double *l = f->l + k * f->stride;
        double t = l[j] * f->d[k];
        for (size_t r = j; r < f->dim; r++)
            work[r] -= l[r] * t;
    }
    for (size_t r = j; r < f->dim; r++) {
        double error =
            relative(fabs(work[r]), sqrt(own) * sqrt(gram[packed_column(f->dim, r)] + ridge));
        worst = error > worst ? error : worst;
    }
    return worst;
}

double ldl_explained(const ldl *f)
{
    double sum = 0;
    for (size_t j = 0; j < f->dim; j++)
        sum += f->d[j] * f->l[j * f->stride + f->dim] * f->l[j * f->stride + f->dim];
    return sum;
}

double ldl_moment_error(const ldl *f, const double *gram, const double *moment, double ridge,
                        double squares, double *work)
{
    double worst = 0;
    memcpy(work, moment, f->dim * sizeof *work);
    for (size_t k = 0; k < f->dim; k++) {
        const double *l = f->l + k * f->stride;
        double t = f->d[k] * l[f->dim];
        work[k] -= t;
        for (size_t r = k + 1; r < f->dim; r++)
            work[r] -= l[r] * t;
    }
    for (size_t r = 0; r < f->dim; r++) {
        double error =
            relative(fabs(work[r]), sqrt(gram[packed_column(f->dim, r)] + ridge) * sqrt(squares));
        worst = error > worst ? error : worst;
    }
    return worst;
}

/* ---- the sets */

#define PLAIN                                                                                      \
    {                                                                                              \
        factor_plain, update_plain, learn_plain, sample_plain, solve_plain, quadratic_plain,       \
            rows_times_plain, rows_within_plain, gram_add_plain                                    \
    }

const ldl_kernels ldl_plain = PLAIN;

#if !OLTR_HAVE_AVX2
const ldl_kernels ldl_avx2 = PLAIN, ldl_avx512 = PLAIN, ldl_few_avx512 = PLAIN;
#endif
