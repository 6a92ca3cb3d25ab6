/* ldl.c - what the factor needs beside its kernels: memory, a factor nearby, and drift. */
#include "engine/linalg/ldl.h"

#include <math.h>
#include <string.h>

void ldl_reset(const ldl *f, double ridge)
{
    memset(f->l, 0, f->dim * f->stride * sizeof *f->l);
    for (size_t j = 0; j < ceil4(f->dim); j++)
        f->d[j] = j < f->dim ? ridge : 1;
}

double ldl_factor_nearby(const ldl *f, const double *gram, const double *moment, double ridge)
{
    if (ldl_factor(f, gram, moment, ridge))
        return 0;
    for (double lift = 0x1p-52 * f->dim; lift <= LDL_MOST_LIFT; lift *= 4)
        if (KERNEL(ldl_factor)(f, gram, moment, ridge, lift))
            return lift;
    return -1;
}

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
