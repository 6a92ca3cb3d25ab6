/* stat.h - comparisons of samples with exact laws, each with a declared false-alarm rate.
 *
 * Every comparison that a correct sampler could fail by bad luck is made by a check_ function
 * below, at rate ALPHA, and counted. Seeds are fixed, so luck was asked once: ALPHA says how likely
 * that single answer was to be wrong.  A file ends with the test stat_false_alarms, which fails
 * when the rates of its comparisons add up to more than one in a million.
 */
#ifndef OLTR_TESTS_STAT_H
#define OLTR_TESTS_STAT_H

#include "support/unit.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sf_psi.h>

static const double ALPHA = 1e-10;
static unsigned stat_comparisons;

static inline void stat_false_alarms(void **state)
{
    print_message("%u comparisons at a false-alarm rate of %g each\n", stat_comparisons, ALPHA);
    assert_true(stat_comparisons > 0);
    assert_true(stat_comparisons * ALPHA <= 1e-6);
}

/* GSL reports through return values; its default handler would end the process. */
static inline int stat_setup(void **state)
{
    gsl_set_error_handler_off();
    return 0;
}

/* ---- thresholds */

/* |Z| exceeds it with probability alpha. */
static inline double z_threshold(double alpha)
{
    return gsl_cdf_ugaussian_Qinv(alpha / 2);
}

/* The Kolmogorov-Smirnov distance of n draws exceeds it with probability at most alpha, for every n
 * and every law (Dvoretzky, Kiefer and Wolfowitz 1956 with Massart's constant). */
static inline double ks_threshold(size_t n, double alpha)
{
    return sqrt(log(2 / alpha) / (2 * (double)n));
}

/* The same for a standardised sum of n terms of the given skewness.  The far tail of such a sum is
 * the normal's times exp(z^3 skew / (6 sqrt n)) (Cramer), so the level is divided by that; infinite
 * where n is too small for such terms. */
static inline double sum_threshold(double skew, size_t n, double alpha)
{
    double tilt = fabs(skew) / (6 * sqrt((double)n)), z = z_threshold(alpha);
    if (!(tilt * z < 0.2))
        return INFINITY;
    for (int i = 0; i < 50; i++)
        z = z_threshold(alpha * exp(-tilt * z * z * z));
    return z;
}

/* ---- comparisons */

static inline void check_within(const char *what, const char *detail, double value,
                                double threshold)
{
    stat_comparisons++;
    if (!(fabs(value) <= threshold))
        fail_msg("%s: %s is %g, allowed is %g", what, detail, value, threshold);
}

/* A standardised sum of n terms. */
static inline void check_sum(const char *what, const char *detail, double z, double skew, size_t n)
{
    double threshold = sum_threshold(skew, n, ALPHA);
    assert_true(isfinite(threshold));
    check_within(what, detail, z, threshold);
}

/* A number of events whose expectation is known.  Poisson tails bound those of the binomial with
 * that mean (Hoeffding 1956); the normal stands in for large means, where GSL's Poisson fails. */
static inline void check_count(const char *what, const char *detail, unsigned count,
                               double expected)
{
    if (expected > 1e4) {
        check_sum(what, detail, (count - expected) / sqrt(expected), 1, (size_t)expected);
        return;
    }
    double low = expected > 0 ? gsl_cdf_poisson_P(count, expected) : 1;
    double high = count == 0 ? 1 : expected > 0 ? gsl_cdf_poisson_Q(count - 1, expected) : 0;
    stat_comparisons++;
    if (!(low >= ALPHA / 2 && high >= ALPHA / 2))
        fail_msg("%s: %u events %s, expected are %g", what, count, detail, expected);
}

/* Counts of `cells` equally likely outcomes; expects many of each. */
static inline void check_uniform_cells(const char *what, const unsigned *count, size_t cells)
{
    double total = 0, squares = 0;
    for (size_t i = 0; i < cells; i++)
        total += count[i];
    double expected = total / (double)cells;
    assert_true(expected >= 100);
    for (size_t i = 0; i < cells; i++)
        squares += (count[i] - expected) * (count[i] - expected) / expected;
    stat_comparisons++;
    double chance = gsl_cdf_chisq_Q(squares, (double)cells - 1);
    if (!(chance >= ALPHA))
        fail_msg("%s: chi-square %g with %zu cells has probability %g", what, squares, cells,
                 chance);
}

/* ---- Kolmogorov-Smirnov */

typedef double (*stat_cdf)(double x, const double *parameters);

/* Doubles as whole numbers in the same order. */
static inline uint64_t sort_key(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static inline void sort_by_digit(const double *from, double *to, size_t n, int shift)
{
    static size_t start[1 << 16];
    memset(start, 0, sizeof start);
    for (size_t i = 0; i < n; i++)
        start[sort_key(from[i]) >> shift & 0xFFFF]++;
    for (size_t digit = 0, sum = 0; digit < 1 << 16; digit++) {
        size_t count = start[digit];
        start[digit] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[start[sort_key(from[i]) >> shift & 0xFFFF]++] = from[i];
}

/* Ascending, in four passes of 16 bits: samples are large, and qsort would be half of the tests'
 * time. */
static inline void sort_doubles(double *x, size_t n)
{
    double *other = exactly(n, sizeof *other);
    for (int shift = 0; shift < 64; shift += 32) {
        sort_by_digit(x, other, n, shift);
        sort_by_digit(other, x, n, shift + 16);
    }
    for (size_t i = 1; i < n; i++)
        assert_true(x[i - 1] <= x[i]);
    free(other);
}

/* x: (n) sorted.  The distance is looked for at some 1024 of the draws only, which can but make it
 * smaller. */
static inline void check_ks(const char *what, const double *x, size_t n, stat_cdf cdf,
                            const double *parameters)
{
    double worst = 0;
    size_t step = n / 1024 + 1;
    for (size_t i = 0; i < n; i += step) {
        double p = cdf(x[i], parameters);
        worst = fmax(worst,
                     fmax(fabs(p - (double)i / (double)n), fabs((double)(i + 1) / (double)n - p)));
        if (isnan(p))
            worst = INFINITY;
    }
    check_within(what, "the Kolmogorov-Smirnov distance", worst, ks_threshold(n, ALPHA));
}

/* ---- moments */

enum { LAW_ORDERS = 12 }; /* the skewness of a fourth power needs twelve moments */

typedef struct stat_law {
    double mean, sd;
    double moment[LAW_ORDERS + 1]; /* of (x - mean) / sd */
} stat_law;

/* cumulant: (LAW_ORDERS + 1), the first unused. */
static inline stat_law law_of_cumulants(const double *cumulant)
{
    stat_law law = {.mean = cumulant[1], .sd = sqrt(cumulant[2]), .moment = {1}};
    for (int n = 2; n <= LAW_ORDERS; n++) {
        double choose = n - 1, scale = cumulant[2]; /* (n-1 choose j-1), sd^j */
        for (int j = 2; j <= n; j++) {
            law.moment[n] += choose * cumulant[j] / scale * law.moment[n - j];
            choose = choose * (n - j) / j;
            scale *= law.sd;
        }
    }
    return law;
}

static inline stat_law law_of_normal(void)
{
    const double cumulant[LAW_ORDERS + 1] = {[2] = 1};
    return law_of_cumulants(cumulant);
}

static inline stat_law law_of_uniform(void)
{
    stat_law law = {.mean = 0.5, .sd = sqrt(1.0 / 12)};
    for (int n = 0; n <= LAW_ORDERS; n += 2)
        law.moment[n] = pow(3, n / 2) / (n + 1);
    return law;
}

static inline stat_law law_of_gamma(double shape)
{
    double cumulant[LAW_ORDERS + 1] = {0, shape};
    for (int n = 2; n <= LAW_ORDERS; n++)
        cumulant[n] = cumulant[n - 1] * (n - 1);
    return law_of_cumulants(cumulant);
}

/* The logarithm of a Gamma(shape) variable: its cumulants are the polygammas. */
static inline stat_law law_of_log_gamma(double shape)
{
    double cumulant[LAW_ORDERS + 1] = {0};
    for (int n = 1; n <= LAW_ORDERS; n++)
        cumulant[n] = gsl_sf_psi_n(n - 1, shape);
    return law_of_cumulants(cumulant);
}

/* log(x / (1 - x)) of x ~ Beta(a,b) is the difference of two log-gammas. */
static inline stat_law law_of_log_odds(double a, double b)
{
    double cumulant[LAW_ORDERS + 1] = {0};
    for (int n = 1; n <= LAW_ORDERS; n++)
        cumulant[n] = gsl_sf_psi_n(n - 1, a) + (n % 2 ? -1 : 1) * gsl_sf_psi_n(n - 1, b);
    return law_of_cumulants(cumulant);
}

/* By parts: (a+b+n) E u^(n+1) = n (m (1-m) E u^(n-1) + (1-2m) E u^n), u = x - m, m the mean. */
static inline stat_law law_of_beta(double a, double b)
{
    double m = a / (a + b), variance = m * (b / (a + b)), central[LAW_ORDERS + 1] = {1, 0};
    for (int n = 1; n < LAW_ORDERS; n++)
        central[n + 1] =
            n * (variance * central[n - 1] + (b - a) / (a + b) * central[n]) / (a + b + n);
    stat_law law = {.mean = m, .sd = sqrt(central[2])};
    for (int n = 0; n <= LAW_ORDERS; n++)
        law.moment[n] = central[n] / pow(law.sd, n);
    return law;
}

/* Skewness of the k-th power of the standardised variable. */
static inline double law_power_skew(const stat_law *law, int k)
{
    double m = law->moment[k], m2 = law->moment[2 * k], m3 = law->moment[3 * k],
           variance = m2 - m * m;
    return (m3 - 3 * m2 * m + 2 * m * m * m) / (variance * sqrt(variance));
}

/* The first four moments of n draws, without those whose terms are too skew for a sample of that
 * size. */
static inline void check_moments(const char *what, const double *x, size_t n, const stat_law *law)
{
    static const char *const names[] = {"moment 1", "moment 2", "moment 3", "moment 4"};
    double sum[4] = {0};
    for (size_t i = 0; i < n; i++) {
        double u = (x[i] - law->mean) / law->sd, power = 1;
        for (int k = 0; k < 4; k++)
            sum[k] += power *= u;
    }
    for (int k = 1; k <= 4; k++) {
        double variance = law->moment[2 * k] - law->moment[k] * law->moment[k];
        double z = (sum[k - 1] - (double)n * law->moment[k]) / sqrt((double)n * variance);
        if (isfinite(sum_threshold(law_power_skew(law, k), n, ALPHA)))
            check_sum(what, names[k - 1], z, law_power_skew(law, k), n);
    }
}

/* Draws beyond 3, 4 and 5 standard deviations on either side; x: (n) sorted; cdf and its complement
 * exact in the tails. */
static inline void check_tails(const char *what, const double *x, size_t n, const stat_law *law,
                               stat_cdf cdf, stat_cdf complement, const double *parameters)
{
    static const char *const below[] = {"3 sd below", "4 sd below", "5 sd below"};
    static const char *const above[] = {"3 sd above", "4 sd above", "5 sd above"};
    for (int i = 0; i < 3; i++) {
        double low = law->mean - (i + 3) * law->sd, high = law->mean + (i + 3) * law->sd;
        unsigned n_low = 0, n_high = 0;
        while (n_low < n && x[n_low] <= low)
            n_low++;
        while (n_high < n && x[n - 1 - n_high] > high)
            n_high++;
        check_count(what, below[i], n_low, (double)n * cdf(low, parameters));
        check_count(what, above[i], n_high, (double)n * complement(high, parameters));
    }
}

#endif
