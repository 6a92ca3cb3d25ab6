/* oracle.h - the tails of the Beta distribution, slow and obvious, to judge the fast ones.
 *
 * Lentz's evaluation of the continued fraction of the incomplete beta function (DLMF 8.17.22) in
 * long double, as many steps as it takes.  GSL's gsl_cdf_beta_* stops after 512 steps and answers
 * NaN for large shapes near the mode, so it cannot judge everywhere; where it answers,
 * unit/special.c holds this oracle against it.
 */
#ifndef OLTR_TESTS_ORACLE_H
#define OLTR_TESTS_ORACLE_H

#include <float.h>
#include <math.h>

typedef struct oracle_tails {
    double lower, upper;
} oracle_tails;

/* The term d_m of the fraction, DLMF 8.17.23. */
static inline long double oracle_term(long double a, long double b, long double x, long m)
{
    long double k = (long double)(m / 2);
    if (m % 2 == 0)
        return k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
    return -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
}

static inline long double oracle_fraction(long double a, long double b, long double x)
{
    const long double tiny = LDBL_MIN * 1e10L;
    long double c = 1, d = 0, value = 1;
    for (long m = 1; m < 10000000; m++) {
        long double term = oracle_term(a, b, x, m);
        d = 1 + term * d;
        c = 1 + term / c;
        d = 1 / (fabsl(d) < tiny ? tiny : d);
        c = fabsl(c) < tiny ? tiny : c;
        value *= c * d;
        if (fabsl(c * d - 1) < 2 * LDBL_EPSILON)
            break;
    }
    return 1 / value;
}

/* The remainder of Stirling's formula for log Gamma(x), x >= 100. */
static inline long double oracle_stirling(long double x)
{
    long double z = 1 / (x * x);
    return (1.0L / 12 - z * (1.0L / 360 - z * (1.0L / 1260 - z * (1.0L / 1680 - z / 1188)))) / x;
}

/* log Gamma(large) - log Gamma(small + large); two large logarithms would leave no digits of the
 * difference. */
static inline long double oracle_log_gamma_step(long double small, long double large)
{
    if (large < 100)
        return lgammal(large) - lgammal(small + large);
    return small - (large - 0.5L) * log1pl(small / large) - small * logl(small + large) +
           oracle_stirling(large) - oracle_stirling(small + large);
}

static inline long double oracle_log_beta(long double a, long double b)
{
    return a < b ? lgammal(a) + oracle_log_gamma_step(a, b)
                 : lgammal(b) + oracle_log_gamma_step(b, a);
}

/* I_x(a,b) by the fraction itself: fast for x below the mean. */
static inline long double oracle_one_side(long double a, long double b, long double x,
                                          long double y)
{
    long double log_x = x < 0.5L ? logl(x) : log1pl(-y), log_y = y < 0.5L ? logl(y) : log1pl(-x);
    return expl(a * log_x + b * log_y - oracle_log_beta(a, b)) * oracle_fraction(a, b, x) / a;
}

/* P(X <= x) and P(X > x), X ~ Beta(a,b), y = 1 - x. */
static inline oracle_tails oracle_beta(double a, double b, double x, double y)
{
    oracle_tails tails;
    if (x <= 0 || y <= 0)
        return (oracle_tails){x <= 0 ? 0 : 1, x <= 0 ? 1 : 0};
    if (x * (a + b + 2) < a + 1) {
        long double lower = oracle_one_side(a, b, x, y);
        tails = (oracle_tails){(double)lower, (double)(1 - lower)};
    } else {
        long double upper = oracle_one_side(b, a, y, x);
        tails = (oracle_tails){(double)(1 - upper), (double)upper};
    }
    return tails;
}

#endif
