/* forms_plain.c - the plain C twins of the kernels of forms_kernels.h. */
#include "engine/kernels/table.h"

#include <math.h>
#include <string.h>

static void solve_one(const ldl *f, double *g)
{
    for (size_t j = 0; j < f->dim; j++)
        for (size_t r = j + 1; r < f->dim; r++)
            g[r] = fma(-f->l[j * f->stride + r], g[j], g[r]);
    for (size_t j = 0; j < f->dim; j++)
        g[j] *= 1 / f->d[j];
    for (size_t j = f->dim; j-- > 0;)
        for (size_t r = f->dim; --r > j;)
            g[j] = fma(-f->l[j * f->stride + r], g[r], g[j]);
}

void ldl_solve_rows_plain(const ldl *f, const float *const *x, uint32_t n, double *out,
                          size_t out_stride, double *work)
{
    (void)work;
    for (uint32_t k = 0; k < n; k++) {
        double *g = out + k * out_stride;
        for (size_t j = 0; j < ceil4(f->dim); j++)
            g[j] = j < f->dim ? (double)x[k][j] : 0;
        solve_one(f, g);
    }
}

void rows_times_columns_plain(const float *const *x, uint32_t n, uint32_t dim, const double *column,
                              size_t column_stride, uint32_t m, double *out)
{
    for (uint32_t k = 0; k < m; k++)
        for (uint32_t i = 0; i < n; i++) {
            const double *c = column + k * column_stride;
            double sum[4] = {0};
            for (size_t j = 0; j < ceil4(dim); j++)
                sum[j % 4] = fma(j < dim ? (double)x[i][j] : 0, c[j], sum[j % 4]);
            out[(size_t)k * n + i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        }
}

void whiten_plain(const double *c, const double *root, uint32_t n, double *s, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        for (uint32_t k = 0; k < n; k++) {
            double sum = s[k * columns + i] * root[k];
            for (uint32_t j = 0; j < k; j++)
                sum = fma(-c[j * n + k], s[j * columns + i], sum);
            s[k * columns + i] = sum * (1 / c[k * n + k]);
        }
}

void lose_squares_plain(double *g, size_t stride, const double *t, uint32_t n)
{
    for (size_t j = 0; j < stride; j++)
        for (size_t i = j & ~(size_t)7; i < stride; i++)
            for (uint32_t k = 0; k < n; k++)
                g[j * stride + i] = fma(-t[k * stride + j], t[k * stride + i], g[j * stride + i]);
}
