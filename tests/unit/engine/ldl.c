/* The growing factor: certificates recomputed in long double, LAPACK, hostile numbers.
 * tests/kernels compares the versions of its kernels with each other. */
#define _POSIX_C_SOURCE 200809L
#include "support/regression.h"

#include <float.h>

#include "engine/linalg/ldl.h"

static uint32_t sizes(uint32_t index)
{
    static const uint32_t large[] = {46, 136, 220};
    return index < 40 ? index + 1 : large[index - 40];
}
enum { N_SIZES = 43, ITEMS = 29 };

/* ---- certificates */

/* Sums and factor of `rows` random rows with rewards. */
typedef struct model {
    uint32_t dim, rows;
    double ridge;
    float *x;
    double *gram, *moment, *memory, *work;
    ldl factor;
} model;

static model model_of(dice *rng, uint32_t dim, uint32_t rows, double ridge)
{
    model m = {dim,
               rows,
               ridge,
               room((size_t)rows * dim, sizeof(float)),
               room_for_doubles((size_t)dim * (dim + 1) / 2),
               room_for_doubles(dim),
               room_for_doubles(ldl_doubles(dim)),
               room_for_doubles(ldl_update_work(dim) + ldl_quadratic_work(dim)),
               {0}};
    m.factor = ldl_view(m.memory, dim);
    ldl_reset(&m.factor, ridge);
    random_rows(rng, m.x, rows, dim, dim);
    for (uint32_t i = 0; i < rows; i += 3) {
        const float *row[3];
        double y[3];
        uint32_t n = rows - i < 3 ? rows - i : 3;
        for (uint32_t k = 0; k < n; k++) {
            row[k] = m.x + (size_t)(i + k) * dim;
            y[k] = normal(rng);
        }
        gram_add(m.gram, m.moment, dim, row, y, NULL, n);
        ldl_update(&m.factor, row, y, NULL, n, m.work);
    }
    return m;
}

static void model_free(model *m)
{
    free(m->x);
    free(m->gram);
    free(m->moment);
    free(m->memory);
    free(m->work);
}

/* The largest error of L D L' against V and of L D u against b, recomputed here: relative to the
 * diagonal, as ldl.h says. */
static double certificate(const model *m)
{
    const ldl *f = &m->factor;
    double *v = full_matrix(m->gram, m->dim, m->ridge), worst = 0, explained = 0;
    for (size_t k = 0; k < m->dim; k++)
        explained += f->d[k] * f->l[k * f->stride + m->dim] * f->l[k * f->stride + m->dim];
    for (size_t i = 0; i <= m->dim; i++)
        for (size_t j = 0; j < m->dim && j <= i; j++) {
            long double sum = 0;
            for (size_t k = 0; k <= j; k++)
                sum += (long double)(i == k ? 1 : f->l[k * f->stride + i]) * f->d[k] *
                       (j == k ? 1 : f->l[k * f->stride + j]);
            double target = i < m->dim ? v[j * m->dim + i] : m->moment[j];
            double scale = sqrt(v[j * m->dim + j] * (i < m->dim ? v[i * m->dim + i] : explained));
            worst = fmax(worst, fabs((double)(sum - target)) / scale);
        }
    free(v);
    return worst;
}

static double reported_error(const model *m)
{
    double worst = ldl_moment_error(&m->factor, m->gram, m->moment, m->ridge,
                                    ldl_explained(&m->factor), m->work);
    for (uint32_t j = 0; j < m->dim; j++)
        worst = fmax(worst, ldl_column_error(&m->factor, m->gram, m->ridge, j, m->work));
    return worst;
}

static void test_factor_times_its_transpose_is_the_matrix(void **unused)
{
    dice rng = {3};
    for (uint32_t i = 0; i < N_SIZES; i++) {
        uint32_t dim = sizes(i);
        model m = model_of(&rng, dim, i % 3 == 0 ? dim / 2 + 1 : 3 * dim + 1, i % 2 ? 1e-4 : 10);
        assert_true(certificate(&m) < 1e-13);
        assert_true(reported_error(&m) < 1e-13);
        assert_int_equal(ldl_factor(&m.factor, m.gram, m.moment, m.ridge), 1);
        assert_true(certificate(&m) < 1e-13);
        assert_true(reported_error(&m) < 1e-13);
        model_free(&m);
    }
}

/* A row that multiplies a pivot by 1e20 must not leave behind the digits of what was there before:
 * features of ordinary size, and now and then, one by one or in one batch, one that is `length`
 * times as large. */
static void test_rows_of_very_different_size(void **unused)
{
    static const float length[] = {1e2F, 1e4F, 1e6F, 1e10F, 1e15F, 1e30F};
    dice rng = {13};
    for (uint32_t dim = 1; dim <= 40; dim++)
        for (uint32_t i = 0; i < 6; i++) {
            model m = model_of(&rng, dim, 0, i % 2 ? 1e-4 : 1);
            float *x = room((size_t)3 * dim, sizeof *x);
            const float *row[3] = {x, x + dim, x + 2 * dim};
            for (int round = 0; round < 40; round++) {
                double y[3] = {normal(&rng), 1, 0};
                random_rows(&rng, x, 3, dim, dim);
                x[below(&rng, 3 * dim)] = round % 2 ? length[i] : -length[i];
                gram_add(m.gram, m.moment, dim, row, y, NULL, 3);
                ldl_update(&m.factor, row, y, NULL, 3, m.work);
            }
            double error = certificate(&m);
            if (!(error < 1e-12))
                fail_msg("dim %u, features of %g: the factor is %g from the sums", dim,
                         (double)length[i], error);
            free(x);
            model_free(&m);
        }
}

static void test_errors_are_noticed(void **unused)
{
    dice rng = {4};
    model m = model_of(&rng, 21, 60, 0.5);
    double *places[] = {&m.factor.d[7], &m.factor.l[7 * m.factor.stride + 9]};
    for (int i = 0; i < 2; i++) {
        double right = *places[i];
        *places[i] *= 1 + 1e-6;
        double found = ldl_column_error(&m.factor, m.gram, m.ridge, 7, m.work);
        assert_true(found > 1e-9 && found < 1e-5);
        *places[i] = NAN;
        assert_true(isinf(ldl_column_error(&m.factor, m.gram, m.ridge, 7, m.work)));
        *places[i] = right;
    }
    m.factor.l[3 * m.factor.stride + 21] *= 1 + 1e-6;
    assert_true(ldl_moment_error(&m.factor, m.gram, m.moment, m.ridge, ldl_explained(&m.factor),
                                 m.work) > 1e-9);
    model_free(&m);
}

static void test_reset_is_the_ridge(void **unused)
{
    dice rng = {5};
    model m = model_of(&rng, 9, 30, 2), fresh = model_of(&rng, 9, 0, 2);
    ldl_reset(&m.factor, 2);
    assert_memory_equal(m.memory, fresh.memory, ldl_doubles(9) * sizeof(double));
    assert_true(certificate(&fresh) == 0);
    assert_true(reported_error(&fresh) == 0);
    model_free(&m);
    model_free(&fresh);
}

/* ---- against LAPACK */

static void compare_with_lapack(const model *m)
{
    double *v = full_matrix(m->gram, m->dim, m->ridge), *found = room_for_doubles(m->dim),
           *right = solve_by_lapack(v, m->moment, m->dim);
    ldl_sample(&m->factor, 1, NULL, found);
    assert_true(distance(found, right, m->dim) < 1e-9);
    ldl_solve(&m->factor, m->moment, found);
    assert_true(distance(found, right, m->dim) < 1e-9);
    memcpy(found, m->moment, m->dim * sizeof *found);
    ldl_solve(&m->factor, found, found);
    assert_true(distance(found, right, m->dim) < 1e-9);
    uint32_t n = m->rows < 5 ? m->rows : 5;
    double variance[5], oracle[5];
    ldl_quadratic(&m->factor, m->x, m->dim, n, variance, m->work);
    for (uint32_t i = 0; i < n; i++)
        oracle[i] = variance_by_lapack(v, m->x + (size_t)i * m->dim, m->dim);
    for (uint32_t i = 0; i < n; i++)
        assert_true(fabs(variance[i] / oracle[i] - 1) < 1e-9);
    free(v);
    free(found);
    free(right);
}

static void test_estimate_and_variance_equal_lapack(void **unused)
{
    dice rng = {6};
    for (uint32_t i = 0; i < N_SIZES; i++) {
        model m = model_of(&rng, sizes(i), i % 3 == 0 ? sizes(i) / 2 + 1 : 2 * sizes(i) + 1,
                           i % 2 ? 1e-4 : 1);
        compare_with_lapack(&m);
        assert_int_equal(ldl_factor(&m.factor, m.gram, m.moment, m.ridge), 1);
        compare_with_lapack(&m);
        model_free(&m);
    }
}

/* (theta - mean)' V (theta - mean) = scale^2 z'z for any z: L^-T D^-1/2 is a root of V^-1. */
static void test_sample_is_on_its_ellipsoid(void **unused)
{
    dice rng = {7};
    for (uint32_t i = 0; i < N_SIZES; i++) {
        model m = model_of(&rng, sizes(i), 2 * sizes(i), 0.5);
        double *mean = room_for_doubles(m.dim), *theta = room_for_doubles(m.dim);
        float *z = room_for_floats(m.dim);
        double *v = full_matrix(m.gram, m.dim, m.ridge), length = 0, form = 0;
        for (uint32_t j = 0; j < m.dim; j++) {
            z[j] = (float)normal(&rng);
            length += 4 * (double)z[j] * (double)z[j];
        }
        ldl_sample(&m.factor, 2, NULL, mean);
        ldl_sample(&m.factor, 2, z, theta);
        for (size_t a = 0; a < m.dim; a++)
            for (size_t b = 0; b < m.dim; b++)
                form += (theta[a] - mean[a]) * v[a * m.dim + b] * (theta[b] - mean[b]);
        assert_true(fabs(form / length - 1) < 1e-10);
        free(mean);
        free(z);
        free(theta);
        free(v);
        model_free(&m);
    }
}

/* w = C'(theta - mean) / scale with V = C C' by LAPACK must be standard normal.  100000 draws at
 * dim 6: 21 moments of second order and 6 of the first, each within 6 standard errors; a right
 * sampler fails with probability below 27 * 2e-9 * 1.5 (the skewness of the chi-square) < 1e-7. */
static void test_sample_has_the_covariance(void **unused)
{
    enum { D = 6, DRAWS = 100000 };
    const double scale = 0.7;
    float z[D];
    double mean[D], theta[D], first[D] = {0}, second[D][D] = {{0}};
    dice rng = {8};
    model m = model_of(&rng, D, 15, 0.3);
    double *c = full_matrix(m.gram, D, m.ridge), *right = solve_by_lapack(c, m.moment, D);
    memcpy(mean, right, sizeof mean);
    assert_int_equal(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', D, c, D), 0);
    for (int n = 0; n < DRAWS; n++) {
        double w[D] = {0};
        for (int i = 0; i < D; i++)
            z[i] = (float)normal(&rng);
        ldl_sample(&m.factor, scale, z, theta);
        for (int j = 0; j < D; j++)
            for (int i = j; i < D; i++)
                w[j] += c[j * D + i] * (theta[i] - mean[i]) / scale;
        for (int i = 0; i < D; i++) {
            first[i] += w[i];
            for (int j = 0; j <= i; j++)
                second[i][j] += w[i] * w[j];
        }
    }
    for (int i = 0; i < D; i++) {
        assert_true(fabs(first[i]) < 6 * sqrt(DRAWS));
        for (int j = 0; j <= i; j++)
            assert_true(fabs(second[i][j] - (i == j ? DRAWS : 0)) <
                        6 * sqrt(i == j ? 2.0 * DRAWS : DRAWS));
    }
    free(c);
    free(right);
    model_free(&m);
}

/* ---- sums and products */

static void test_sums_are_exact_products_added_in_order(void **unused)
{
    dice rng = {9};
    for (uint32_t i = 0; i < 40; i++) {
        model m = model_of(&rng, sizes(i), 25, 1);
        for (size_t j = 0, at = 0; j < m.dim; j++)
            for (size_t r = j; r < m.dim; r++, at++) {
                double sum = 0;
                for (size_t k = 0; k < m.rows; k++)
                    sum += (double)m.x[k * m.dim + j] * (double)m.x[k * m.dim + r];
                assert_true(sum == m.gram[at]);
            }
        model_free(&m);
    }
}

static void test_rows_times_is_the_product(void **unused)
{
    dice rng = {10};
    for (uint32_t i = 0; i < N_SIZES; i++) {
        uint32_t dim = sizes(i);
        float *x = room((size_t)ITEMS * dim, sizeof *x);
        double *theta = room_for_doubles(dim), out[ITEMS];
        random_rows(&rng, x, ITEMS, dim, dim);
        for (uint32_t j = 0; j < dim; j++)
            theta[j] = normal(&rng);
        rows_times(x, dim, ITEMS, dim, theta, out);
        for (uint32_t r = 0; r < ITEMS; r++) {
            long double sum = 0, size = 0;
            for (uint32_t j = 0; j < dim; j++) {
                sum += (long double)x[r * dim + j] * theta[j];
                size += fabsl((long double)x[r * dim + j] * theta[j]);
            }
            assert_true(fabsl(sum - out[r]) <= 1e-15L * size * 4);
        }
        free(x);
        free(theta);
    }
}

/* ---- what cannot be factored */

/* One feature of one row is strange: it is seen where that row is among those asked for. */
static void expect_within(const float *x, uint32_t dim, uint32_t strange_row, int strange_is_within)
{
    uint32_t others[ITEMS], all[ITEMS], n = 0;
    for (uint32_t r = 0; r < ITEMS; r++) {
        all[r] = ITEMS - 1 - r;
        if (r != strange_row)
            others[n++] = r;
    }
    assert_int_equal(rows_within(x, dim, all, ITEMS, dim, 1e6F), strange_is_within);
    assert_true(rows_within(x, dim, others, n, dim, 1e6F));
    assert_true(rows_within(x, dim, NULL, strange_row, dim, 1e6F));
    assert_int_equal(rows_within(x, dim, NULL, strange_row + 1, dim, 1e6F), strange_is_within);
}

static void expect_finite(const float *x, uint32_t dim, uint32_t strange_row, int strange_is_finite)
{
    double *theta = room_for_doubles(dim), out[ITEMS];
    for (uint32_t j = 0; j < dim; j++)
        theta[j] = 1;
    assert_int_equal(rows_times(x, dim, ITEMS, dim, theta, out), strange_is_finite);
    assert_true(rows_times(x, dim, strange_row, dim, theta, out));
    assert_int_equal(rows_times(x, dim, strange_row + 1, dim, theta, out), strange_is_finite);
    free(theta);
}

static void test_strange_features_are_seen(void **unused)
{
    static const float strange[] = {1e6F,    -1e6F,    1.0000001e6F, -1.0000001e6F, 1e-42F, -0.0F,
                                    FLT_MAX, -FLT_MAX, INFINITY,     -INFINITY,     NAN,    -NAN};
    enum { WITHIN = 1 << 0 | 1 << 1 | 1 << 4 | 1 << 5, FINITE = (1 << 8) - 1 };
    dice rng = {12};
    for (uint32_t i = 0; i < N_SIZES; i++)
        for (uint32_t s = 0; s < COUNT(strange); s++) {
            uint32_t dim = sizes(i), row = below(&rng, ITEMS);
            float *x = room((size_t)ITEMS * dim, sizeof *x);
            random_rows(&rng, x, ITEMS, dim, dim);
            x[(size_t)row * dim + below(&rng, dim)] = strange[s];
            expect_within(x, dim, row, WITHIN >> s & 1);
            expect_finite(x, dim, row, FINITE >> s & 1);
            free(x);
        }
}

static void test_what_is_not_positive_definite_is_refused(void **unused)
{
    static const double indefinite[] = {1, 2, 1}, negative[] = {-1, 0, 1}, empty[] = {0, 0, 0},
                        nan[] = {1, NAN, 1}, infinite[] = {1, 0, INFINITY};
    static const double *const bad[] = {indefinite, negative, nan, infinite};
    double memory[64] __attribute__((aligned(64)));
    assert_true(ldl_doubles(2) <= 64);
    ldl f = ldl_view(memory, 2);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ldl_factor(&f, bad[i], NULL, 0.1), 0);
        assert_true(ldl_factor_nearby(&f, bad[i], NULL, 0.1) < 0);
    }
    assert_int_equal(ldl_factor(&f, empty, NULL, 0), 0);
    assert_int_equal(ldl_factor(&f, empty, NULL, 1e-300), 1);
    assert_true(ldl_factor_nearby(&f, empty, NULL, 1e-300) == 0);
}

/* Rows of 1e30 swallow a ridge of 1e-4 in the sums: no factor of the sums as they are, but one
 * nearby. */
static void test_a_swallowed_ridge_is_survived(void **unused)
{
    dice rng = {11};
    model m = model_of(&rng, 30, 0, 1e-4);
    float x[30];
    const float *row = x;
    double y = 1, out;
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 30; j++)
            x[j] = (float)((unit(&rng) - 0.5) * 1e30);
        gram_add(m.gram, m.moment, 30, &row, &y, NULL, 1);
    }
    assert_int_equal(ldl_factor(&m.factor, m.gram, m.moment, m.ridge), 0);
    double lift = ldl_factor_nearby(&m.factor, m.gram, m.moment, m.ridge);
    assert_true(lift > 0 && lift < 1e-13);
    assert_true(reported_error(&m) < lift + 1e-14);
    ldl_quadratic(&m.factor, x, 30, 1, &out, m.work);
    assert_true(out > 0 && isfinite(out));
    model_free(&m);
}

static void test_hostile_rows_leave_a_positive_diagonal(void **unused)
{
    static const float hostile[] = {1e30f, FLT_MAX, 1e-45f, FLT_MIN, -1e38f, 0, 1, -1};
    dice rng = {12};
    for (uint32_t dim = 1; dim <= 24; dim++) {
        model m = model_of(&rng, dim, 0, 1e-4);
        float x[24];
        const float *row = x;
        for (int round = 0; round < 200; round++) {
            double y = normal(&rng), weight = round % 7 ? 1 : 0, out, theta[24];
            for (uint32_t j = 0; j < dim; j++)
                x[j] = round % 5 ? hostile[below(&rng, 8)] : hostile[round / 5 % 8];
            ldl_update(&m.factor, &row, &y, &weight, 1, m.work);
            for (uint32_t j = 0; j < dim; j++)
                assert_true(m.factor.d[j] > 0 && isfinite(m.factor.d[j]));
            ldl_sample(&m.factor, 1, NULL, theta);
            ldl_quadratic(&m.factor, x, dim, 1, &out, m.work);
            assert_true(isfinite(out) && out >= 0);
        }
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factor_times_its_transpose_is_the_matrix),
        cmocka_unit_test(test_rows_of_very_different_size),
        cmocka_unit_test(test_errors_are_noticed),
        cmocka_unit_test(test_reset_is_the_ridge),
        cmocka_unit_test(test_estimate_and_variance_equal_lapack),
        cmocka_unit_test(test_sample_is_on_its_ellipsoid),
        cmocka_unit_test(test_sample_has_the_covariance),
        cmocka_unit_test(test_sums_are_exact_products_added_in_order),
        cmocka_unit_test(test_rows_times_is_the_product),
        cmocka_unit_test(test_strange_features_are_seen),
        cmocka_unit_test(test_what_is_not_positive_definite_is_refused),
        cmocka_unit_test(test_a_swallowed_ridge_is_survived),
        cmocka_unit_test(test_hostile_rows_leave_a_positive_diagonal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
