/* The linear posterior: batch ridge regression by LAPACK after any sequence of updates, drift, healing, and what its checks refuse. */
#define _POSIX_C_SOURCE 200809L
#include "math/ldl_kernels.h"
#include "posterior/linear.h"

#include <float.h>

#include "regression.h" /* after error.h: cmocka has a macro fail() */

/* A posterior in memory of its own. */
typedef struct belief {
    linear p;
    void *state;
} belief;

static belief belief_of(uint32_t dim, double ridge)
{
    layout l = {0, 0};
    belief b;
    b.p = linear_plan(&l, dim, ridge);
    assert_int_equal(l.overflow, 0);
    b.state = room(l.used, 1);
    linear_refresh(b.state, &b.p);
    return b;
}

static double *gram_of(const belief *b)
{
    return doubles_at(b->state, b->p.gram);
}

static double *moment_of(const belief *b)
{
    return doubles_at(b->state, b->p.moment);
}

/* Sums kept the slow way, in long double. */
typedef struct slow {
    uint32_t dim;
    long double *gram, *moment;
} slow;

static slow slow_of(uint32_t dim)
{
    return (slow){dim, room((size_t)dim * (dim + 1) / 2, sizeof(long double)), room(dim, sizeof(long double))};
}

static void slow_add(slow *s, const float *x, double y, double weight)
{
    for (size_t j = 0, at = 0; j < s->dim; j++) {
        for (size_t i = j; i < s->dim; i++, at++)
            s->gram[at] += (long double)weight * (long double)x[j] * (long double)x[i];
        s->moment[j] += (long double)weight * (long double)x[j] * y;
    }
}

/* Mean and variances of the n rows against LAPACK on the slow sums. */
static void assert_is_ridge_regression(const belief *b, const slow *s, const float *x, uint32_t n)
{
    uint32_t d = b->p.dim;
    double *gram = room_for_doubles((size_t)d * (d + 1) / 2), *moment = room_for_doubles(d),
           *theta = room_for_doubles(d);
    double *mean = room_for_doubles(n), *variance = room_for_doubles(n), *work = room_for_doubles(linear_work(d));
    for (size_t i = 0; i < (size_t)d * (d + 1) / 2; i++)
        gram[i] = (double)s->gram[i];
    for (size_t i = 0; i < d; i++)
        moment[i] = (double)s->moment[i];
    double *v = full_matrix(gram, d, b->p.ridge), *right = solve_by_lapack(v, moment, d);
    ldl f = linear_factor(b->state, &b->p);
    ldl_sample(&f, 0, NULL, theta);
    double off = distance(theta, right, d);
    if (!(off < 1e-9))
        fail_msg("dim %u, ridge %g: the estimate is %g from ridge regression", d, b->p.ridge, off);
    linear_predict(b->state, &b->p, x, d, n, mean, variance, work);
    for (uint32_t i = 0; i < n; i++) {
        double expected = 0, spread = variance_by_lapack(v, x + (size_t)i * d, d);
        for (uint32_t j = 0; j < d; j++)
            expected += (double)x[(size_t)i * d + j] * right[j];
        assert_true(fabs(mean[i] - expected) < 1e-9 * (fabs(expected) + 1e-3));
        if (!(fabs(variance[i] / spread - 1) < 1e-9))
            fail_msg("dim %u, ridge %g: variance %g instead of %g", d, b->p.ridge, variance[i], spread);
    }
    linear_predict(b->state, &b->p, x, d, n, variance, NULL, work);
    assert_memory_equal(mean, variance, n * sizeof *mean);
    assert_int_equal(linear_check(b->state, &b->p, NULL), OLTR_OK);
    assert_int_equal(linear_check_factor(b->state, &b->p, NULL), OLTR_OK);
    free(gram);
    free(moment);
    free(theta);
    free(mean);
    free(variance);
    free(work);
    free(v);
    free(right);
}

/* `rounds` rounds of 1 to 6 rows out of `items`, so that rows repeat, and with few items that there are fewer of them than dimensions. */
static void play(uint32_t dim, double ridge, uint32_t items, uint32_t rounds, int weighted, oltr_rng *rng)
{
    belief b = belief_of(dim, ridge);
    slow s = slow_of(dim);
    float *x = room((size_t)items * dim, sizeof *x);
    random_rows(rng, x, items, dim, dim);
    for (uint32_t t = 0; t < rounds; t++) {
        const float *row[6];
        double y[6], weight[6];
        uint32_t n = 1 + oltr_rng_below(rng, 6);
        for (uint32_t k = 0; k < n; k++) {
            row[k] = x + (size_t)oltr_rng_below(rng, items) * dim;
            y[k] = (double)row[k][0] + oltr_rng_normal(rng);
            weight[k] = weighted ? oltr_rng_uniform(rng) : 1;
            slow_add(&s, row[k], y[k], weight[k]);
        }
        linear_add(b.state, &b.p, row, y, weighted ? weight : NULL, n);
    }
    assert_is_ridge_regression(&b, &s, x, items < 4 ? items : 4);
    linear_refresh(b.state, &b.p);
    assert_is_ridge_regression(&b, &s, x, items < 4 ? items : 4);
    free(x);
    free(s.gram);
    free(s.moment);
    free(b.state);
}

static void test_is_batch_ridge_regression(void **unused)
{
    static const double ridges[] = {1e-4, 1e-2, 1, 10};
    (void)unused;
    oltr_rng rng = oltr_rng_make(21, 0);
    for (uint32_t dim = 1; dim <= 40; dim++)
        for (int r = 0; r < 4; r++) {
            play(dim, ridges[r], dim / 2 + 1, 20, r % 2, &rng);
            play(dim, ridges[r], 2 * dim, 3 * dim, !(r % 2), &rng);
        }
    for (int r = 0; r < 4; r++) {
        play(136, ridges[r], 50, 60, r % 2, &rng);
        play(136, ridges[r], 300, 200, !(r % 2), &rng);
        play(220, ridges[r], 316, 100, r % 2, &rng);
    }
}

static void test_nothing_learned_is_the_prior(void **unused)
{
    (void)unused;
    belief b = belief_of(5, 4);
    float x[] = {1, 2, 0, -1, 0.5f};
    double mean, variance, *work = room_for_doubles(linear_work(5));
    linear_predict(b.state, &b.p, x, 5, 1, &mean, &variance, work);
    assert_true(mean == 0);
    assert_true(fabs(variance - 6.25 / 4) < 1e-15);
    linear_add(b.state, &b.p, NULL, NULL, NULL, 0);
    assert_int_equal(linear_check_factor(b.state, &b.p, NULL), OLTR_OK);
    free(work);
    free(b.state);
}

/* 15000 rounds of 3 rows out of 120 in 136 dimensions, ridge 1e-4: the factor kept by updates beside one made anew from the sums. */
static void test_does_not_drift(void **unused)
{
    enum { D = 136, L = 120, ROUNDS = 15000 };
    (void)unused;
    oltr_rng rng = oltr_rng_make(22, 0);
    belief b = belief_of(D, 1e-4);
    float *x = room(L * D, sizeof *x);
    double *kept = room_for_doubles(2 * L), *fresh = room_for_doubles(2 * L), *work = room_for_doubles(linear_work(D));
    random_rows(&rng, x, L, D, D);
    for (int t = 0; t < ROUNDS; t++) {
        const float *row[3];
        double y[3];
        for (int k = 0; k < 3; k++) {
            row[k] = x + (size_t)oltr_rng_below(&rng, L) * D;
            y[k] = oltr_rng_uniform(&rng) < 0.5 + 0.4 * (double)row[k][1];
        }
        linear_add(b.state, &b.p, row, y, NULL, 3);
    }
    linear_predict(b.state, &b.p, x, D, L, kept, kept + L, work);
    linear_refresh(b.state, &b.p);
    linear_predict(b.state, &b.p, x, D, L, fresh, fresh + L, work);
    for (int i = 0; i < 2 * L; i++)
        assert_true(fabs(kept[i] / fresh[i] - 1) < 1e-9);
    free(x);
    free(kept);
    free(fresh);
    free(work);
    free(b.state);
}

static belief some_belief(oltr_rng *rng, uint32_t dim, uint32_t rows, double reward)
{
    belief b = belief_of(dim, 0.5);
    float *x = room(dim, sizeof *x);
    const float *row = x;
    for (uint32_t i = 0; i < rows; i++) {
        double y = reward * oltr_rng_normal(rng);
        random_rows(rng, x, 1, dim, dim);
        linear_add(b.state, &b.p, &row, &y, NULL, 1);
    }
    free(x);
    return b;
}

static void add_zeros(belief *b, uint32_t rows)
{
    float x[16] = {0};
    const float *row = x;
    double y = 0;
    for (uint32_t i = 0; i < rows; i++)
        linear_add(b->state, &b->p, &row, &y, NULL, 1);
}

static void test_a_hurt_factor_heals(void **unused)
{
    (void)unused;
    oltr_rng rng = oltr_rng_make(23, 0);
    belief b = some_belief(&rng, 16, 50, 1);
    ldl f = linear_factor(b.state, &b.p);
    oltr_error error;
    f.l[5 * f.stride + 16] += 1e-6; /* the right-hand side is compared every time */
    add_zeros(&b, 256);
    assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_OK);
    f.d[3] = NAN; /* noticed at once */
    add_zeros(&b, 1);
    assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_OK);
    f.d[3] = -1;
    assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_ESTATE);
    add_zeros(&b, 1);
    assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_OK);
    free(b.state);
}

/* Without rewards the right-hand side tells nothing: an error is noticed when its column comes round. */
static void test_every_column_comes_round(void **unused)
{
    (void)unused;
    oltr_rng rng = oltr_rng_make(27, 0);
    belief b = some_belief(&rng, 16, 50, 0);
    ldl f = linear_factor(b.state, &b.p);
    oltr_error error;
    for (uint32_t j = 0; j < 16; j++) {
        f.d[j] *= 1 + 1e-7;
        assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_ESTATE);
        assert_non_null(strstr(error.msg, "away from the sums"));
        add_zeros(&b, 16 * 256);
        assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_OK);
    }
    free(b.state);
}

static void test_impossible_sums_are_refused(void **unused)
{
    (void)unused;
    oltr_rng rng = oltr_rng_make(24, 0);
    oltr_error error;
    static const double values[] = {-1, NAN, INFINITY};
    for (uint32_t i = 0; i < 6; i++) {
        belief hurt = some_belief(&rng, 7, 20, 1);
        assert_int_equal(linear_check(hurt.state, &hurt.p, &error), OLTR_OK);
        gram_of(&hurt)[packed_column(7, i)] = values[i % 3];
        assert_int_equal(linear_check(hurt.state, &hurt.p, &error), OLTR_ESTATE);
        assert_non_null(strstr(error.msg, i ? "cannot be" : "feature 0: a sum of squares of -1 cannot be"));
        linear_refresh(hurt.state, &hurt.p); /* must not crash, whatever it believes then */
        free(hurt.state);
    }
    belief b = some_belief(&rng, 7, 20, 1);
    double *element = gram_of(&b) + packed_column(7, 2) + 3, right = *element;
    *element = 1e6;
    assert_int_equal(linear_check(b.state, &b.p, &error), OLTR_ESTATE);
    assert_non_null(strstr(error.msg, "features 2 and 5: a sum of products of 1e+06"));
    *element = right;
    moment_of(&b)[6] = INFINITY;
    assert_int_equal(linear_check(b.state, &b.p, &error), OLTR_ESTATE);
    assert_string_equal(error.msg, "feature 6: a sum of feature times reward of inf cannot be");
    free(b.state);
}

/* Each pair of features could be correlated at -0.9, but not all seven of them at once. */
static void test_sums_that_cannot_be_together_are_refused(void **unused)
{
    (void)unused;
    oltr_rng rng = oltr_rng_make(28, 0);
    oltr_error error;
    belief b = some_belief(&rng, 7, 20, 1);
    double *gram = gram_of(&b);
    for (size_t j = 0; j < 7; j++)
        for (size_t i = j + 1; i < 7; i++)
            gram[packed_column(7, j) + i - j] = -0.9 * sqrt(gram[packed_column(7, j)] * gram[packed_column(7, i)]);
    assert_int_equal(linear_check(b.state, &b.p, &error), OLTR_ESTATE);
    assert_non_null(strstr(error.msg, "not those of any rows"));
    linear_refresh(b.state, &b.p);
    assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_ESTATE);
    free(b.state);
}

/* Sums that have swallowed the ridge: the factor is that of sums with a raised diagonal, which both checks and the watch over drift know. */
static void test_a_swallowed_ridge_is_lived_with(void **unused)
{
    enum { D = 16 };
    (void)unused;
    oltr_rng rng = oltr_rng_make(29, 0);
    belief b = belief_of(D, 1e-4);
    float x[D];
    const float *row = x;
    double y = 1;
    for (int i = 0; i < 3; i++) {
        random_rows(&rng, x, 1, D, D);
        for (int j = 0; j < D; j++)
            x[j] *= 1e20f;
        linear_add(b.state, &b.p, &row, &y, NULL, 1);
    }
    assert_int_equal(linear_check_factor(b.state, &b.p, NULL), OLTR_OK);
    linear_refresh(b.state, &b.p);
    assert_true(b.p.lift > 0);
    assert_int_equal(linear_check(b.state, &b.p, NULL), OLTR_OK);
    assert_int_equal(linear_check_factor(b.state, &b.p, NULL), OLTR_OK);
    ldl f = linear_factor(b.state, &b.p);
    double *before = room_for_doubles(ldl_doubles(D));
    memcpy(before, f.l, ldl_doubles(D) * sizeof *before);
    add_zeros(&b, 256 * D);
    assert_memory_equal(before, f.l, ldl_doubles(D) * sizeof *before);
    free(before);
    free(b.state);
}

static void test_hostile_rows_do_no_harm(void **unused)
{
    static const float hostile[] = {1e30f, FLT_MAX, 1e-45f, FLT_MIN, -1e38f, 0, 1, -1};
    enum { D = 13 };
    (void)unused;
    oltr_rng rng = oltr_rng_make(25, 0);
    belief b = belief_of(D, 1e-4);
    double *work = room_for_doubles(linear_work(D)), mean, variance;
    float x[D];
    const float *row = x;
    for (int t = 0; t < 3000; t++) {
        double y = oltr_rng_normal(&rng);
        for (int j = 0; j < D; j++)
            x[j] = hostile[oltr_rng_below(&rng, t < 1000 ? 8 : 6)];
        linear_add(b.state, &b.p, &row, &y, NULL, 1);
        if (t % 500 == 499)
            linear_refresh(b.state, &b.p);
        linear_predict(b.state, &b.p, x, D, 1, &mean, &variance, work);
        assert_true(isfinite(mean) && isfinite(variance) && variance >= 0);
    }
    assert_int_equal(linear_check(b.state, &b.p, NULL), OLTR_OK);
    assert_int_equal(linear_check_factor(b.state, &b.p, NULL), OLTR_OK);
    free(work);
    free(b.state);
}

/* Weights that leave the doubles: the sums are lost, as the check says, but nothing crashes. */
static void test_overflow_is_reported(void **unused)
{
    (void)unused;
    oltr_rng rng = oltr_rng_make(26, 0);
    belief b = some_belief(&rng, 7, 20, 1);
    float x[] = {FLT_MAX, 1, 2, 3, 4, 5, 6};
    const float *row = x;
    double y = 1, weight = 1e300;
    linear_add(b.state, &b.p, &row, &y, &weight, 1);
    assert_int_equal(linear_check(b.state, &b.p, NULL), OLTR_ESTATE);
    add_zeros(&b, 300);
    free(b.state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_batch_ridge_regression),
        cmocka_unit_test(test_nothing_learned_is_the_prior),
        cmocka_unit_test(test_does_not_drift),
        cmocka_unit_test(test_a_hurt_factor_heals),
        cmocka_unit_test(test_impossible_sums_are_refused),
        cmocka_unit_test(test_hostile_rows_do_no_harm),
        cmocka_unit_test(test_sums_that_cannot_be_together_are_refused),
        cmocka_unit_test(test_a_swallowed_ridge_is_lived_with),
        cmocka_unit_test(test_overflow_is_reported),
        cmocka_unit_test(test_every_column_comes_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
