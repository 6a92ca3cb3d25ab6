/* polya_gamma.c - the draws of PG(n, z) have its law: the moments of its series of gammas, its
 * distribution function in closed form, its Laplace transform; and finite draws for any z.
 *
 * PG(n, z) is the sum over k of Gamma(n) / (2 pi^2 ((k - 1/2)^2 + z^2 / (4 pi^2))), which gives
 * every cumulant without a word of the sampler.  Fixed seeds; false alarms: see stat.h.
 */
#include <gsl/gsl_sf_erf.h>
#include <stdio.h>

#include "engine/rng/polya_gamma.h"
#include "support/stat.h"

enum { N = 1 << 13 }; /* times EFFORT */

static const double PI = 3.14159265358979323846;
/* On both sides of the change of proposals at |z| = 2 / 0.64, and of the series of moments. */
static const double tilts[] = {0, 0.3, -0.499, 0.501, 1, -2.5, 3.12, 3.13, 5, -12, 40};

/* ---- moments */

/* Cumulant m is (m-1)! n sum_k c_k^m; beyond the last term the sum is an integral. */
static double cumulant_of(double n, double z, int m)
{
    const int last = 20000;
    double sum = 0, factorial = 1;
    for (int k = last; k >= 1; k--)
        sum += pow(1 / (2 * PI * PI * ((k - 0.5) * (k - 0.5)) + z * z / 2), m);
    sum += pow(2 * PI * PI, -m) * pow(last, 1 - 2 * m) / (2 * m - 1);
    for (int k = 2; k < m; k++)
        factorial *= k;
    return n * factorial * sum;
}

static void moments_are_the_closed_forms(void **state)
{
    for (size_t i = 0; i < COUNT(tilts); i++)
        for (int n = 1; n <= 1000; n *= 10) {
            double z = tilts[i];
            polya_gamma_moments m = polya_gamma_moments_of(n, z);
            assert_true(fabs(m.mean / cumulant_of(n, z, 1) - 1) < 1e-9);
            assert_true(fabs(m.variance / cumulant_of(n, z, 2) - 1) < 1e-9);
            if (fabs(z) < 0.1)
                continue;
            double root = cosh(z / 2);
            assert_true(fabs(m.mean / (n / (2 * z) * tanh(z / 2)) - 1) < 1e-13);
            assert_true(fabs(m.variance / (n / (4 * z * z * z) * (sinh(z) - z) / root / root) - 1) <
                        1e-11);
        }
    polya_gamma_moments flat = polya_gamma_moments_of(3, 0);
    assert_true(fabs(flat.mean - 0.75) < 1e-15 && fabs(flat.variance - 0.125) < 1e-15);
}

/* Both branches agree where they meet, and no z gives nonsense. */
static void moments_are_smooth_and_positive(void **state)
{
    polya_gamma_moments below = polya_gamma_moments_of(1, 0.5 - 1e-12),
                        above = polya_gamma_moments_of(1, 0.5);
    assert_true(fabs(below.mean - above.mean) < 1e-12);
    assert_true(fabs(below.variance - above.variance) < 1e-12);
    for (double z = 1e-300; z < 1e300; z *= 7) {
        polya_gamma_moments m = polya_gamma_moments_of(21, z),
                            same = polya_gamma_moments_of(21, -z);
        assert_true(m.mean > 0 && m.mean <= 21 * 0.25 * (1 + 1e-15));
        assert_true(m.variance >= 0 && m.variance <= 21 / 24.0 * (1 + 1e-15));
        assert_true(m.mean >= same.mean && m.mean <= same.mean);
    }
}

/* ---- exact draws */

static double draws[N * EFFORT];

static void fill(double n, double z, uint64_t replication)
{
    oltr_rng rng = oltr_rng_make(5, replication);
    for (size_t i = 0; i < COUNT(draws); i++) {
        draws[i] = polya_gamma(&rng, n, z);
        assert_true(draws[i] >= 0 && isfinite(draws[i]));
    }
}

/* The first passage of a level c by a Brownian motion with drift h, times e^(ch) cosh h. */
static double passage(double x, double h, double c)
{
    double root = sqrt(2 * x);
    return exp(gsl_sf_log_erfc((c - h * x) / root) - c * h) +
           exp(gsl_sf_log_erfc((c + h * x) / root) + c * h);
}

/* Four times the draw is a first passage out of an interval: an alternating sum over images. */
static double one_cdf(double w, const double *z)
{
    double h = fabs(*z) / 2, x = 4 * w, sum = 0;
    for (int k = 400; k >= 0; k--)
        sum += (k % 2 ? -1 : 1) * passage(x, h, 2 * k + 1);
    return cosh(h) * sum;
}

static stat_law law_of(double n, double z)
{
    double cumulant[LAW_ORDERS + 1] = {0, polya_gamma_moments_of(n, z).mean};
    for (int m = 2; m <= LAW_ORDERS; m++)
        cumulant[m] = cumulant_of(n, z, m);
    return law_of_cumulants(cumulant);
}

static void single_draws_have_the_law(void **state)
{
    for (size_t i = 0; i < COUNT(tilts); i++) {
        char what[64];
        stat_law law = law_of(1, tilts[i]);
        (void)snprintf(what, sizeof what, "PG(1, %g)", tilts[i]);
        fill(1, tilts[i], i);
        check_moments(what, draws, COUNT(draws), &law);
        sort_doubles(draws, COUNT(draws));
        check_ks(what, draws, COUNT(draws), one_cdf, &tilts[i]);
    }
}

/* Sums of exact draws, and the normal beyond 20, of which mean and variance are right. */
static void sums_have_the_moments(void **state)
{
    static const double counts[] = {2, 7, 20, 21, 300};
    static const double some[] = {0, 1.5, -6};
    for (size_t i = 0; i < COUNT(counts); i++)
        for (size_t j = 0; j < COUNT(some); j++) {
            char what[64];
            stat_law law =
                counts[i] > POLYA_GAMMA_EXACT ? law_of_normal() : law_of(counts[i], some[j]);
            polya_gamma_moments m = polya_gamma_moments_of(counts[i], some[j]);
            law.mean = m.mean;
            law.sd = sqrt(m.variance);
            (void)snprintf(what, sizeof what, "PG(%g, %g)", counts[i], some[j]);
            fill(counts[i], some[j], 100 + 10 * i + j);
            check_moments(what, draws, COUNT(draws) / 4, &law);
        }
}

/* E exp(-t w) = (cosh(z/2) / cosh(sqrt(z^2 + 2t) / 2))^n. */
static double transform(double n, double z, double t)
{
    return pow(cosh(z / 2) / cosh(sqrt(z * z + 2 * t) / 2), n);
}

static void draws_have_the_transform(void **state)
{
    static const double counts[] = {1, 5}, times[] = {0.3, 1, 3};
    for (size_t i = 0; i < COUNT(tilts); i++)
        for (size_t j = 0; j < COUNT(counts); j++) {
            fill(counts[j], tilts[i], 200 + 10 * i + j);
            for (size_t k = 0; k < COUNT(times); k++) {
                double m[4] = {1}, t = times[k], sum = 0, n = (double)COUNT(draws);
                for (int power = 1; power < 4; power++)
                    m[power] = transform(counts[j], tilts[i], power * t);
                for (size_t d = 0; d < COUNT(draws); d++)
                    sum += exp(-t * draws[d]) - m[1];
                double variance = m[2] - m[1] * m[1],
                       third = m[3] - 3 * m[2] * m[1] + 2 * m[1] * m[1] * m[1];
                check_sum("PG", "its Laplace transform", sum / sqrt(n * variance),
                          third / (variance * sqrt(variance)), COUNT(draws));
            }
        }
}

/* ---- hostile arguments */

/* For large |z| a draw is near n / (2 |z|), with a relative variance of 2 / (n |z|). */
static void large_tilts_concentrate(void **state)
{
    for (double z = 30; z < 1e300; z *= 1e9) {
        oltr_rng rng = oltr_rng_make(6, 1);
        double sum = 0, n = 7, share = sqrt(2 / (n * z));
        for (int i = 0; i < 400; i++)
            sum += polya_gamma(&rng, n, i % 2 ? z : -z) * 2 * z / n / 400;
        assert_true(fabs(sum - 1) < 8 * share / sqrt(400) + 1e-12);
    }
}

static void extreme_arguments_give_finite_draws(void **state)
{
    static const double extreme[] = {1e-310, 1e-300, 1e-8, 49.9, 50.1, 700, 1e4, 1e154, 1.7e308};
    oltr_rng rng = oltr_rng_make(7, 1);
    for (size_t i = 0; i < COUNT(extreme); i++)
        for (double n = 0; n < 1e13; n = n * 5 + 1) {
            double w = polya_gamma(&rng, n, i % 2 ? -extreme[i] : extreme[i]);
            assert_true(isfinite(w) && (n > 0 ? w > 0 || extreme[i] > 1e300 : !(w > 0)));
        }
    assert_true(polya_gamma(&rng, 3, INFINITY) <= 0 && polya_gamma(&rng, 30, -INFINITY) <= 0);
    assert_true(isnan(polya_gamma(&rng, 3, NAN)) && isnan(polya_gamma(&rng, 30, NAN)));
    assert_true(polya_gamma_normal((polya_gamma_moments){1, 1}, -6) <= 0);
}

/* The same generator gives the same draw. */
static void draws_repeat(void **state)
{
    for (double n = 1; n < 100; n *= 3) {
        oltr_rng one = oltr_rng_make(8, 1), other = oltr_rng_make(8, 1);
        double a = polya_gamma(&one, n, 0.7), b = polya_gamma(&other, n, 0.7);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_the_closed_forms),
        cmocka_unit_test(moments_are_smooth_and_positive),
        cmocka_unit_test(single_draws_have_the_law),
        cmocka_unit_test(sums_have_the_moments),
        cmocka_unit_test(draws_have_the_transform),
        cmocka_unit_test(large_tilts_concentrate),
        cmocka_unit_test(extreme_arguments_give_finite_draws),
        cmocka_unit_test(draws_repeat),
        cmocka_unit_test(stat_false_alarms),
    };
    return cmocka_run_group_tests(tests, stat_setup, NULL);
}
