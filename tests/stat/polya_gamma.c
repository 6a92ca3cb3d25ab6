/* polya_gamma.c - the draws of PG(n, z) have its law: the moments of its series of gammas, its
 * distribution function in closed form, its Laplace transform; and finite draws for any z.  The
 * functions of a normal that draws are made of are also integrated, without chance.
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
/* On both sides of the sizes of sums, of the change of methods at |z| = 2 / 0.64, and of the series
 * of moments. */
static const double tilts[] = {0, 0.3, -0.499, 0.501, 0.8, 1, 1.6, -2.5, 3.12, 3.13, 5, -12, 40};

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

/* The weight of n observations at z as a function of a normal. */
static double weight_at(double n, double z, float standard)
{
    double count[WEIGHT_LANES] = {n}, score[WEIGHT_LANES] = {z}, one[WEIGHT_LANES] = {1},
           half[WEIGHT_LANES] = {0.5}, residual[WEIGHT_LANES], slope[WEIGHT_LANES],
           weight[WEIGHT_LANES];
    float normal[WEIGHT_LANES] = {standard};
    KERNEL(logistic_residuals)(WEIGHT_LANES, score, one, half, residual, slope);
    KERNEL(polya_gamma_normals)(WEIGHT_LANES, count, score, residual, slope, normal, weight);
    return weight[0];
}

/* The mean of f over normals, by the trapezoidal rule. */
static double mean_over_normals(double (*f)(double s, const double *of), const double *of)
{
    const double step = 1.0 / 64;
    double sum = 0;
    for (double s = -6.65625; s < 6.66; s += step)
        sum += f(s, of) * exp(-s * s / 2);
    return sum * step / sqrt(2 * PI);
}

/* of: n, z, the power and what it is about. */
static double power_of_weight(double s, const double *of)
{
    return pow(weight_at(of[0], of[1], (float)s) - of[3], of[2]);
}

static double moment_of_weight(double n, double z, double power, double about)
{
    return mean_over_normals(power_of_weight, (double[]){n, z, power, about});
}

/* Up to powers of 1/n: the mean and the variance of the cube to the second, the third moment to the
 * first. */
static void weights_of_many_have_the_moments(void **state)
{
    for (size_t i = 0; i < COUNT(tilts); i++)
        for (double n = POLYA_GAMMA_EXACT + 1; n < 1e6; n *= 9) {
            double z = tilts[i], mean = cumulant_of(n, z, 1), n2 = n * n;
            assert_true(fabs(moment_of_weight(n, z, 1, 0) / mean - 1) < 1e-9 + 2e-4 / n2);
            assert_true(fabs(moment_of_weight(n, z, 2, mean) / cumulant_of(n, z, 2) - 1) <
                        1e-8 + 5e-3 / n2);
            assert_true(fabs(moment_of_weight(n, z, 3, mean) / cumulant_of(n, z, 3) - 1) <
                        2e-4 + 0.05 / n);
        }
}

/* Both forms agree where they meet, and no z gives nonsense. */
static void weights_of_many_are_smooth_and_positive(void **state)
{
    for (float s = -6.5f; s < 6.6f; s += 1) {
        double below = weight_at(9, 0.5 - 1e-12, s), above = weight_at(9, 0.5, s);
        assert_true(fabs(below - above) < 1e-10);
    }
    for (double z = 1e-300; z < 1e70; z *= 7) {
        double w = weight_at(21, z, 0), same = weight_at(21, -z, 0);
        assert_true(w > 0 && w <= 21 * 0.25);
        assert_true(w >= same && w <= same);
    }
}

/* ---- exact draws */

/* of: the size and t. */
static double transform_of_sum(double s, const double *of)
{
    float normal[JACOBI_LANES] = {(float)s}, never[JACOBI_LANES] = {0}, tilt[JACOBI_LANES] = {0},
          x[JACOBI_LANES];
    uint32_t sum[JACOBI_LANES] = {(uint32_t)of[0]};
    KERNEL(jacobi_sums)(1, normal, never, sum, tilt, x);
    return exp(-of[1] * (double)x[0]);
}

/* 1 / cosh(sqrt(2t)) to the power b, for negative t by the cosine; there the upper tail counts,
 * which ends at 6.66 deviations. */
static void sums_have_the_transform(void **state)
{
    static const double times[] = {-0.5, -0.1, 0.01, 0.3, 1, 3};
    for (uint32_t size = 0; size < JACOBI_SIZES; size++)
        for (size_t k = 0; k < COUNT(times); k++) {
            double t = times[k], root = sqrt(2 * fabs(t)),
                   exact = pow(t < 0 ? cos(root) : cosh(root), -(double)(1 << size)),
                   found = mean_over_normals(transform_of_sum, (double[]){size, t});
            assert_true(fabs(found / exact - 1) < (t < -0.2 ? 2e-5 : 1e-6));
        }
}

static double draws[N * EFFORT];

/* COUNT(draws) rows of the same n and z. */
static void fill(double n, double z, uint64_t replication)
{
    enum { PART = 1 << 10 };
    static double count[PART], score[PART], doubles[POLYA_GAMMA_DOUBLES * PART];
    static uint32_t words[2 * PART];
    static float normal[PART];
    static polya_gamma_source source;
    const oltr_rng rng = oltr_rng_make(5, replication);
    for (size_t i = 0; i < PART; i++) {
        count[i] = n;
        score[i] = z;
    }
    polya_gamma_begin(&source, &rng, 0);
    polya_gamma_rows rows = polya_gamma_rows_of(PART, count, doubles, words);
    for (size_t i = 0; i < COUNT(draws); i += PART) {
        const oltr_rng own = oltr_rng_at(rng, 3, i + 1);
        KERNEL(standard_normals)(&own, PART, normal);
        memset(draws + i, 0, PART * sizeof *draws);
        polya_gamma_draw(&source, &rows, count, score, normal, draws + i);
    }
    for (size_t i = 0; i < COUNT(draws); i++)
        assert_true(draws[i] >= 0 && isfinite(draws[i]));
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
    double cumulant[LAW_ORDERS + 1] = {0};
    for (int m = 1; m <= LAW_ORDERS; m++)
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

/* Sums of exact draws, and the cubes beyond. */
static void sums_have_the_moments(void **state)
{
    static const double counts[] = {2, 3, 7, 8, 9, 13, 20, 21, 300};
    static const double some[] = {0, 1.5, -6};
    for (size_t i = 0; i < COUNT(counts); i++)
        for (size_t j = 0; j < COUNT(some); j++) {
            char what[64];
            stat_law law = law_of(counts[i], some[j]);
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

static double one_draw(polya_gamma_source *source, double n, double z, float standard)
{
    double count[WEIGHT_LANES] = {n}, score[WEIGHT_LANES] = {z}, weight[WEIGHT_LANES] = {0};
    double doubles[POLYA_GAMMA_DOUBLES * WEIGHT_LANES];
    uint32_t words[2 * WEIGHT_LANES];
    float normal[NORMAL_GROUP] = {standard};
    polya_gamma_rows rows = polya_gamma_rows_of(1, count, doubles, words);
    polya_gamma_draw(source, &rows, count, score, normal, weight);
    return weight[0];
}

static polya_gamma_source source_of(uint64_t seed)
{
    polya_gamma_source source;
    const oltr_rng rng = oltr_rng_make(seed, 1);
    polya_gamma_begin(&source, &rng, 0);
    return source;
}

/* For large |z| a draw is near n / (2 |z|), with a relative variance of 2 / (n |z|). */
static void large_tilts_concentrate(void **state)
{
    for (double z = 30; z < 1e300; z *= 1e9) {
        polya_gamma_source source = source_of(6);
        double sum = 0, n = 7, share = sqrt(2 / (n * z));
        for (int i = 0; i < 400; i++)
            sum += one_draw(&source, n, i % 2 ? z : -z, 0) * 2 * z / n / 400;
        assert_true(fabs(sum - 1) < 8 * share / sqrt(400) + 1e-12);
    }
}

static void extreme_arguments_give_finite_draws(void **state)
{
    static const double extreme[] = {1e-310, 1e-300, 1e-8, 49.9, 50.1, 700, 1e4, 1e154, 1.7e308};
    polya_gamma_source source = source_of(7);
    for (size_t i = 0; i < COUNT(extreme); i++)
        for (double n = 0; n < 1e13; n = n * 5 + 1)
            for (float s = -6.66f; s < 7; s += 3.33f) {
                double w = one_draw(&source, n, i % 2 ? -extreme[i] : extreme[i], s);
                assert_true(isfinite(w) && (n > 0 ? w > 0 || extreme[i] > 1e70 : !(w > 0)));
            }
    assert_true(one_draw(&source, 3, INFINITY, 0) <= 0 && one_draw(&source, 30, -INFINITY, 1) <= 0);
    assert_true(one_draw(&source, 3, NAN, 0) <= 0 && one_draw(&source, 30, NAN, 1) <= 0);
}

/* The same generator gives the same draws, whatever is in the room. */
static void draws_repeat(void **state)
{
    for (double n = 1; n < 100; n *= 3) {
        polya_gamma_source one = source_of(8), other = source_of(8);
        for (int i = 0; i < 300; i++) {
            double a = one_draw(&one, n, 0.7, 1), b = one_draw(&other, n, 0.7, 1);
            assert_memory_equal(&a, &b, sizeof a);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_of_many_have_the_moments),
        cmocka_unit_test(weights_of_many_are_smooth_and_positive),
        cmocka_unit_test(sums_have_the_transform),
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
