/* polya_gamma.c - see polya_gamma.h.
 *
 * PG(1, z) = J / 4, where J with h = |z|/2 has the density
 *     f(x) = cosh(h) exp(-x h^2 / 2) sum_k (-1)^k a_k(x).
 * The coefficients have two forms, of which one falls fast below T = 0.64 and the other above:
 *     a_k(x) = pi (k + 1/2) (2 / (pi x))^(3/2) exp(-2 (k + 1/2)^2 / x)          x <= T
 *     a_k(x) = pi (k + 1/2) exp(-(k + 1/2)^2 pi^2 x / 2)                        x >  T
 * (Devroye 2009).  A proposal from the first term alone is an inverse Gaussian of mean 1/h, cut at
 * T, or an exponential of rate pi^2/8 + h^2/2 behind T.  It is accepted with the chance 1 - a_1/a_0
 * + a_2/a_0 - ..., whose partial sums are bounds from above and below in turn: so the draw is exact
 * with finitely many terms.  At least 0.99913 of the proposals are accepted.  a_1/a_0 is at most
 * 0.0058, so that most acceptances need no exponential.
 */
#include "engine/rng/polya_gamma.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "engine/kernels/link.h"

static const double PI = 3.14159265358979323846, T = 0.64;
static const double SURE = 1 - 0.0058; /* a_1/a_0 <= 3 exp(-4/T) = 0.00579 */
/* Above this h, the piece behind T has a chance below e^-170. */
static const double NEVER_BEHIND = 25;
/* Below this |z| the moments are series in z^2: their closed forms lose digits. */
static const double SHORT = 0.5;

/* ---- moments */

/* tanh(z/2) / (2z) = sum_k c_k s^k, s = z^2; and minus twice its derivative by s is the variance:
 * the logarithm of the transform is a function of z^2 + 2t. */
static polya_gamma_moments series(double n, double s)
{
    static const double c[] = {1.0 / 4,
                               -1.0 / 48,
                               1.0 / 480,
                               -17.0 / 80640,
                               31.0 / 1451520,
                               -691.0 / 319334400,
                               5461.0 / 24908083200,
                               -929569.0 / 41845579776000,
                               3202291.0 / 1422749712384000,
                               -221930581.0 / 973160803270656000};
    double mean = 0, slope = 0;
    for (int k = (int)(sizeof c / sizeof *c) - 1; k >= 0; k--) {
        slope = slope * s + mean; /* Horner's scheme, and its derivative */
        mean = mean * s + c[k];
    }
    return (polya_gamma_moments){n * mean, -2 * n * slope};
}

polya_gamma_moments polya_gamma_moments_from(double n, double z, double centred, double slope)
{
    if (!(fabs(z) >= SHORT))
        return series(n, z * z);
    double mean = centred / z; /* sinh z / cosh^2(z/2) = 2 tanh(z/2) */
    return (polya_gamma_moments){mean, (mean - slope) / z / z};
}

polya_gamma_moments polya_gamma_moments_of(double n, double z)
{
    link_values at = link_at(LINK_LOGIT, cpu_in_use(), z);
    return polya_gamma_moments_from(n, z, n * (at.mean - at.rest) / 2, n * at.slope);
}

double polya_gamma_normal(polya_gamma_moments m, double standard)
{
    double w = m.mean + sqrt(m.variance) * standard;
    return w > 0 ? w : 0;
}

/* ---- exact draws */

typedef struct jacobi_law {
    double h;      /* |z| / 2 */
    double rate;   /* of the exponential behind T */
    double behind; /* the chance of a proposal behind T */
} jacobi_law;

static double normal_below(double x)
{
    return erfc(-x * sqrt(0.5)) / 2;
}

/* Both masses times e^h, so that neither underflows before it is negligible. */
static jacobi_law law_of(double h)
{
    jacobi_law law = {.h = h, .rate = PI * PI / 8 + h * h / 2};
    if (h > NEVER_BEHIND)
        return law;
    double behind = PI / (2 * law.rate) * exp(h - law.rate * T), root = sqrt(T);
    double before =
        2 * (normal_below((T * h - 1) / root) + exp(2 * h) * normal_below(-(T * h + 1) / root));
    law.behind = behind / (behind + before);
    return law;
}

static double exponential(oltr_rng *rng)
{
    return -log(oltr_rng_uniform(rng));
}

/* Inverse Gaussian of mean 1/h > T and shape 1, cut at T: 1/Z^2 of a normal beyond 1/sqrt(T),
 * accepted with the chance exp(-h^2 x / 2). */
static double long_tailed(oltr_rng *rng, double h)
{
    for (;;) {
        double e = exponential(rng), x;
        if (e * e > 2 * exponential(rng) / T)
            continue;
        x = T / ((1 + T * e) * (1 + T * e));
        if (!(h > 0) || exponential(rng) >= h * h * x / 2)
            return x;
    }
}

/* The same with a mean of at most T: the method of Michael, Schucany and Haas (1976) until it is
 * below T.  The two roots have the product 1/h^2; the smaller one is computed without a
 * difference. */
static double concentrated(oltr_rng *rng, double h)
{
    for (;;) {
        double normal = oltr_rng_normal(rng), a = normal * normal / h;
        double share = 1 / (1 + a / 2 + sqrt(a + a * a / 4)); /* the smaller root over the mean */
        if (oltr_rng_uniform(rng) * (1 + share) > 1)
            share = 1 / share;
        if (share <= T * h)
            return share / h;
    }
}

/* The alternating series: whether a proposal x is accepted. */
static bool is_accepted(double x, double u)
{
    double unit = x <= T ? 2 / x : PI * PI * x / 2, sum = 1;
    if (u <= SURE)
        return true;
    for (int k = 1;; k++) {
        double term = (2 * k + 1) * exp(-k * (k + 1) * unit);
        sum += k % 2 ? -term : term;
        if (k % 2 ? u <= sum : u > sum)
            return k % 2;
    }
}

static double jacobi(oltr_rng *rng, const jacobi_law *law)
{
    for (;;) {
        double u = oltr_rng_uniform(rng), x;
        if (u < law->behind) /* u / behind is uniform again */
            x = T - log(u / law->behind) / law->rate;
        else
            x = law->h * T < 1 ? long_tailed(rng, law->h) : concentrated(rng, law->h);
        if (is_accepted(x, oltr_rng_uniform(rng)))
            return x;
    }
}

double polya_gamma_exact(oltr_rng *rng, double n, double z)
{
    double sum = 0;
    if (!(fabs(z) <= DBL_MAX))
        return isnan(z) ? z : 0;
    jacobi_law law = law_of(fabs(z) / 2);
    for (double k = 1; k <= n; k++)
        sum += jacobi(rng, &law);
    return sum / 4;
}

double polya_gamma(oltr_rng *rng, double n, double z)
{
    if (n <= POLYA_GAMMA_EXACT)
        return polya_gamma_exact(rng, n, z);
    if (!(fabs(z) <= DBL_MAX))
        return isnan(z) ? z : 0;
    return polya_gamma_normal(polya_gamma_moments_of(n, z), oltr_rng_normal(rng));
}
