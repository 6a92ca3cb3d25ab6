/* regression.h - ridge regression the slow way, for the tests of the linear posterior: dense
 * matrices, LAPACK, refinement in long double. */
#ifndef OLTR_TESTS_REGRESSION_H
#define OLTR_TESTS_REGRESSION_H

#include "support/unit.h"

#include <lapacke.h>

/* Memory of exactly this size, so that AddressSanitizer sees a step too far; 64 bytes aligned. */
static inline void *room(size_t count, size_t size)
{
    void *memory = NULL;
    size_t bytes = count && size ? count * size : 1;
    assert_int_equal(posix_memalign(&memory, 64, bytes), 0);
    memset(memory, 0, bytes);
    return memory;
}

static inline double *room_for_doubles(size_t n)
{
    return room(n, sizeof(double));
}

static inline float *room_for_floats(size_t n)
{
    return room(n, sizeof(float));
}

/* (n, stride) rows of features in -1..1. */
static inline void random_rows(dice *rng, float *x, uint32_t n, uint32_t dim, size_t stride)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < dim; j++)
            x[i * stride + j] = (float)(2 * unit(rng) - 1);
}

/* gram + ridge I as a full symmetric matrix. */
static inline double *full_matrix(const double *gram, uint32_t dim, double ridge)
{
    double *v = room_for_doubles((size_t)dim * dim);
    for (size_t j = 0, at = 0; j < dim; j++)
        for (size_t i = j; i < dim; i++, at++)
            v[j * dim + i] = v[i * dim + j] = gram[at] + (i == j ? ridge : 0);
    return v;
}

/* V^-1 b by Cholesky, then refined with residuals in long double until they are rounding: the
 * solution for these very sums, whatever its condition. */
static inline double *solve_by_lapack(const double *v, const double *b, uint32_t dim)
{
    double *factor = room_for_doubles((size_t)dim * dim), *x = room_for_doubles(dim),
           *r = room_for_doubles(dim);
    memcpy(factor, v, (size_t)dim * dim * sizeof *v);
    memcpy(x, b, dim * sizeof *b);
    assert_int_equal(
        LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', (int)dim, 1, factor, (int)dim, x, (int)dim), 0);
    for (int pass = 0; pass < 4; pass++) {
        for (size_t i = 0; i < dim; i++) {
            long double left = b[i];
            for (size_t j = 0; j < dim; j++)
                left -= (long double)v[j * dim + i] * x[j];
            r[i] = (double)left;
        }
        assert_int_equal(
            LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', (int)dim, 1, factor, (int)dim, r, (int)dim), 0);
        for (size_t i = 0; i < dim; i++)
            x[i] += r[i];
    }
    free(factor);
    free(r);
    return x;
}

/* x' V^-1 x, the same way. */
static inline double variance_by_lapack(const double *v, const float *x, uint32_t dim)
{
    double *b = room_for_doubles(dim), sum = 0;
    for (size_t i = 0; i < dim; i++)
        b[i] = (double)x[i];
    double *solution = solve_by_lapack(v, b, dim);
    for (size_t i = 0; i < dim; i++)
        sum += b[i] * solution[i];
    free(b);
    free(solution);
    return sum;
}

/* |a - b| / |b|, Euclidean. */
static inline double distance(const double *a, const double *b, size_t n)
{
    double difference = 0, length = 0;
    for (size_t i = 0; i < n; i++) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        length += b[i] * b[i];
    }
    return difference > 0 ? sqrt(difference / length) : isnan(difference) ? INFINITY : 0;
}

#endif
