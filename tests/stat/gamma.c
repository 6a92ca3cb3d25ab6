/* gamma.c - the gamma draws have the law of their shape, below 1, at 1, and far above.
 *
 * The sampler changes its method at shape 1 and rejects some proposals, so each shape is looked at
 * by itself, on its own scale and on that of its logarithm, where small shapes show their lower
 * tail.  Fixed seeds; false alarms: see stat.h.
 */
#include <stdio.h>

#include "support/stat.h"
#include <oltr/oltr.h>

enum { N = 1 << 16 }; /* times EFFORT */
#include "support/stat_draws.h"

static const double shapes[] = {0.01, 0.1, 0.5, 0.999, 1, 1.001, 1.5, 2, 10, 1000, 1e6};
enum { N_SHAPES = COUNT(shapes) };

/* Wilson and Hilferty (1931): for large shapes, the cube root is normal.  GSL is wrong in the first
 * digit for some x there. */
static double large_shape_z(double x, double shape)
{
    return (cbrt(x / shape) - 1 + 1 / (9 * shape)) * sqrt(9 * shape);
}

enum { LARGE_SHAPE = 100000 };

static double gamma_cdf(double x, const double *shape)
{
    if (*shape > LARGE_SHAPE)
        return gsl_cdf_ugaussian_P(large_shape_z(x, *shape));
    return x > 0 ? gsl_cdf_gamma_P(x, *shape, 1) : 0;
}

static double gamma_complement(double x, const double *shape)
{
    if (*shape > LARGE_SHAPE)
        return gsl_cdf_ugaussian_Q(large_shape_z(x, *shape));
    return x > 0 ? gsl_cdf_gamma_Q(x, *shape, 1) : 1;
}

/* Of log x; far down, P(X <= x) = x^k / Gamma(k+1). */
static double log_gamma_cdf(double log_x, const double *shape)
{
    if (log_x < -30)
        return exp(*shape * log_x - gsl_sf_lngamma(*shape + 1));
    return gamma_cdf(exp(log_x), shape);
}

static double log_gamma_complement(double log_x, const double *shape)
{
    return log_x < -30 ? 1 - log_gamma_cdf(log_x, shape) : gamma_complement(exp(log_x), shape);
}

static size_t fill(double *x, double shape, uint64_t replication)
{
    size_t n = (size_t)N * EFFORT;
    oltr_rng rng = oltr_rng_make(1, replication);
    for (size_t i = 0; i < n; i++) {
        x[i] = oltr_rng_gamma(&rng, shape);
        assert_true(x[i] >= 0 && isfinite(x[i]));
    }
    return n;
}

static void draws_have_the_law_of_their_shape(void **state)
{
    for (int s = 0; s < N_SHAPES; s++) {
        char what[64];
        stat_law law = law_of_gamma(shapes[s]);
        size_t n = fill(draws, shapes[s], (uint64_t)s);
        (void)snprintf(what, sizeof what, "Gamma(%g)", shapes[s]);
        check_moments(what, draws, n, &law);
        sort_doubles(draws, n);
        check_ks(what, draws, n, gamma_cdf, &shapes[s]);
        check_tails(what, draws, n, &law, gamma_cdf, gamma_complement, &shapes[s]);
    }
}

static void logarithms_have_the_law_of_their_shape(void **state)
{
    for (int s = 0; s < N_SHAPES; s++) {
        char what[64];
        stat_law law = law_of_log_gamma(shapes[s]);
        size_t n = fill(draws, shapes[s], 100 + (uint64_t)s);
        for (size_t i = 0; i < n; i++)
            draws[i] = log(draws[i]);
        (void)snprintf(what, sizeof what, "log Gamma(%g)", shapes[s]);
        if (shapes[s] >= 0.1) /* below, some draws are less than the least double */
            check_moments(what, draws, n, &law);
        sort_doubles(draws, n);
        check_tails(what, draws, n, &law, log_gamma_cdf, log_gamma_complement, &shapes[s]);
    }
}

static void tiny_shapes_give_the_right_share_of_tiny_draws(void **state)
{
    static const double tiny[] = {1e-3, 1e-2, 0.05};
    static const double limits[] = {1e-300, 1e-100, 1e-10, 1e-3, 1};
    for (size_t s = 0; s < COUNT(tiny); s++) {
        size_t n = fill(draws, tiny[s], 200 + s);
        for (size_t l = 0; l < COUNT(limits); l++) {
            unsigned above = 0;
            for (size_t i = 0; i < n; i++)
                above += draws[i] > limits[l];
            double share = log_gamma_complement(log(limits[l]), &tiny[s]);
            check_count("Gamma of a tiny shape", "above a limit", above, (double)n * share);
        }
    }
}

static void extreme_shapes_give_finite_draws(void **state)
{
    static const double extreme[] = {1e-300, 1e-10, 1e9, 1e15, 1e300};
    for (size_t s = 0; s < COUNT(extreme); s++) {
        oltr_rng rng = oltr_rng_make(3, s);
        for (int i = 0; i < 10000; i++) {
            double x = oltr_rng_gamma(&rng, extreme[s]);
            assert_true(x >= 0 && isfinite(x));
            if (extreme[s] >= 1e9)
                assert_true(fabs(x / extreme[s] - 1) < 1e-3);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_have_the_law_of_their_shape),
        cmocka_unit_test(logarithms_have_the_law_of_their_shape),
        cmocka_unit_test(tiny_shapes_give_the_right_share_of_tiny_draws),
        cmocka_unit_test(extreme_shapes_give_finite_draws),
        cmocka_unit_test(stat_false_alarms),
    };
    return cmocka_run_group_tests_name("gamma", tests, setup, teardown);
}
