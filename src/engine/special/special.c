/* special.c - incomplete beta function and its inverse, and the inverse of the Bernoulli
 * divergence.
 *
 * Beta tails: the continued fraction of the incomplete beta function (Abramowitz and Stegun
 * 26.5.8), times x^a y^b / B(a,b).  That factor is formed by its deviance from the mode (Loader's
 * saddle-point form) when both shapes are large, because the three gammas of B(a,b) would cancel
 * ten digits at shapes of 1e6.  From shapes of 1e6 on an integral over 24 points takes the place of
 * the fraction, whose steps are too many there.
 *
 * Beta quantile: Halley's method on the logarithm of the tail, as a function of u = log(x/y).  In
 * that variable both ends of (0,1) are far away, the derivatives are free (see beta_near), and the
 * start 26.5.22 of Abramowitz and Stegun is within a few percent, so three evaluations do for
 * ordinary shapes; a bracket keeps the rest safe.
 */
#include "engine/special/special.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define HALF_LOG_2PI 0.91893853320467274178
enum { STIRLING_FROM = 10 }; /* from here on six terms of Stirling's series give all digits */

/* log Gamma(x) - ((x - 1/2) log x - x + log(2 pi)/2), x >= STIRLING_FROM */
static double stirling_error(double x)
{
    double z = 1 / (x * x);
    double s = -691.0 / 360360;
    s = s * z + 1.0 / 1188;
    s = s * z - 1.0 / 1680;
    s = s * z + 1.0 / 1260;
    s = s * z - 1.0 / 360;
    s = s * z + 1.0 / 12;
    return s / x;
}

double log_gamma(double x)
{
    double product = 1;
    for (; x < STIRLING_FROM; x += 1)
        product *= x;
    return (x - 0.5) * log(x) - x + HALF_LOG_2PI + stirling_error(x) - log(product);
}

/* log Gamma(b) - log Gamma(a + b) for large b, without forming either. */
static double log_gamma_step(double a, double b)
{
    return a - (b - 0.5) * log1p(a / b) - a * log(a + b) + stirling_error(b) -
           stirling_error(a + b);
}

static double log_beta(double a, double b)
{
    double small = a < b ? a : b, large = a < b ? b : a;
    if (large < STIRLING_FROM)
        return log_gamma(small) + log_gamma(large) - log_gamma(small + large);
    return log_gamma(small) + log_gamma_step(small, large);
}

/* u - log(1 + u) for u = x / x0 - 1, its relative accuracy kept near 0 and near -1 */
static double deviance(double u, double x, double x0)
{
    if (u < -0.5)
        return u - log(x / x0);
    if (fabs(u) > 0.01)
        return u - log1p(u);
    return u * u *
           (0.5 -
            u * (1.0 / 3 - u * (0.25 - u * (0.2 - u * (1.0 / 6 - u * (1.0 / 7 - u * 0.125))))));
}

/* log(x^a y^b / B(a,b)) */
double log_beta_power(double a, double b, double x, double y)
{
    if (a >= STIRLING_FROM && b >= STIRLING_FROM) {
        double n = a + b, x0 = a / n, y0 = b / n;
        double off = x < y ? x - x0 : y0 - y;
        return 0.5 * log(a * y0) - HALF_LOG_2PI + stirling_error(n) - stirling_error(a) -
               stirling_error(b) - a * deviance(off / x0, x, x0) - b * deviance(-off / y0, y, y0);
    }
    double log_x = x < y ? log(x) : log1p(-y), log_y = x < y ? log1p(-x) : log(y);
    return a * log_x + b * log_y - log_beta(a, b);
}

double beta_power(double a, double b, double x, double y)
{
    return exp(log_beta_power(a, b, x, y));
}

/* The continued fraction for x below about the mean: P(X <= x) = x^a y^b / (a B(a,b)) * fraction.
 * Cleared of its denominators it is
 *     a / (a + N1 / (a+1 + N2 / (a+2 + ...))),     N_2m = m (b-m) x,  N_2m+1 = -(a+m) (a+b+m) x:
 * the convergents p/q follow by multiplication alone (Wallis), and two of them agree when p q' - p'
 * q is negligible relative to q q'. */
static double beta_fraction(double a, double b, double x)
{
    double p0 = 1, q0 = 1, p1 = 1, q1 = 1 - (a + b) * x / (a + 1); /* the first two convergents */
    for (double m = 1; m < 1e5; m++) { /* a is below LARGE_SHAPE: some hundred steps suffice */
        double even = m * (b - m) * x, odd = -(a + m) * (a + b + m) * x;
        double d0 = a + 2 * m - 1, d1 = d0 + 1, d2 = d1 + 1, s = d0 * d1, r = d1 * d2;
        double p2 = s * p1 + even * p0, q2 = s * q1 + even * q0;
        double p3 = r * p2 + odd * (s * p1), q3 = r * q2 + odd * (s * q1);
        p0 = p2 * r;
        q0 = q2 * r;
        p1 = p3;
        q1 = q3;
        if (!(fabs(p1 * q0 - p0 * q1) > 2 * DBL_EPSILON * fabs(p0 * q1))) /* done, or NaN */
            break;
        if (fabs(q1) > 1e60) { /* four such factors still fit a double */
            double shrink = 1 / q1;
            p0 *= shrink;
            q0 *= shrink;
            p1 *= shrink;
            q1 = 1;
        }
    }
    return p1 / q1;
}

/* Gauss and Legendre's rule of 24 points on [-1,1]: its points above 0, and their weights. */
enum { RULE = 12 };
static const struct {
    double at, weight;
} rule[RULE] = {
    {0.06405689286260563, 0.12793819534675221},  {0.19111886747361631, 0.1258374563468283},
    {0.3150426796961634, 0.12167047292780342},   {0.43379350762604513, 0.11550566805372561},
    {0.54542147138883956, 0.10744427011596561},  {0.64809365193697555, 0.097618652104114065},
    {0.74012419157855436, 0.086190161531953288}, {0.82000198597390295, 0.073346481411080411},
    {0.88641552700440096, 0.059298584915436742}, {0.9382745520027328, 0.044277438817419551},
    {0.97472855597130947, 0.028531388628933743}, {0.99518721999702131, 0.012341229799987091},
};

/* How the log density of u = log(x/y) falls from the place (x,y) to the place v below it:
 *     a log(x'/x) + b log(y'/y) = -(a y - b x) v - (a+b) (log(1 + y (e^v - 1)) - y v),
 * or the same with x for y and -v for v: whichever of the two is small keeps the digits. */
typedef struct descent {
    double a, b, x, y;
} descent;

static double fall(const descent *d, double v)
{
    double bend =
        d->y < d->x ? log1p(d->y * expm1(v)) - d->y * v : log1p(d->x * expm1(-v)) + d->x * v;
    return -(d->a * d->y - d->b * d->x) * v - (d->a + d->b) * bend;
}

/* A v at which the density has fallen to about e^-40 of what it is at 0: Newton's method on a
 * concave function. */
static double depth(const descent *d)
{
    double slope = d->a * d->y - d->b * d->x, curve = (d->a + d->b) * d->x * d->y;
    double v = 80 / (slope + sqrt(slope * slope + 80 * curve));
    for (int i = 0; i < 50; i++) {
        double gap = fall(d, v) + 40, e = exp(-v), y = d->y / (d->y + d->x * e),
               x = d->x * e / (d->y + d->x * e);
        if (fabs(gap) < 2)
            break;
        v += gap / (d->a * y - d->b * x);
    }
    return v;
}

/* P(X <= x) / (x^a y^b / B(a,b)) for x below about the mean and a large a, where the fraction needs
 * a great number of steps and loses its digits on the way: the integral of the density over all u
 * below, from 1 down to e^-40, which 24 points give to all digits. */
static double beta_integral(double a, double b, double x, double y)
{
    descent d = {a, b, x, y};
    double half = depth(&d) / 2, sum = 0;
    for (int i = RULE; i-- > 0;)
        sum += rule[i].weight *
               (exp(fall(&d, half * (1 + rule[i].at))) + exp(fall(&d, half * (1 - rule[i].at))));
    return half * sum;
}

#define LARGE_SHAPE 1e6

/* P(X <= x), x below about the mean. */
static double near_tail(double a, double b, double x, double y, double power)
{
    return fmin(1,
                power * (a < LARGE_SHAPE ? beta_fraction(a, b, x) / a : beta_integral(a, b, x, y)));
}

/* Both tails, given the power. */
static void tails_of_power(double a, double b, double x, double y, double power, double *lower,
                           double *upper)
{
    if (x <= (a + 1) / (a + b + 2)) {
        *lower = near_tail(a, b, x, y, power);
        *upper = 1 - *lower;
    } else {
        *upper = near_tail(b, a, y, x, power);
        *lower = 1 - *upper;
    }
}

void beta_tails(double a, double b, double x, double y, double *lower, double *upper)
{
    if (x <= 0 || y <= 0) {
        *lower = x <= 0 ? 0 : 1;
        *upper = 1 - *lower;
        return;
    }
    tails_of_power(a, b, x, y, beta_power(a, b, x, y), lower, upper);
}

/* z with P(Z > z) = tail, to three digits (Abramowitz and Stegun 26.2.23); 0 < tail <= 1/2 */
static double normal_upper_rough(double tail)
{
    double t = sqrt(-2 * log(tail));
    return t - (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + 0.04481 * t));
}

/* A first u = log(x/y) for the upper quantile. */
static double quantile_start(double a, double b, double tail)
{
    if (a >= 1 && b >= 1) {
        double z = -normal_upper_rough(tail), lambda = (z * z - 3) / 6;
        double ra = 1 / (2 * a - 1), rb = 1 / (2 * b - 1), h = 2 / (ra + rb);
        double w = z * sqrt(fmax(h + lambda, 0)) / h - (rb - ra) * (lambda + 5.0 / 6 - 2 / (3 * h));
        return log(a / b) - 2 * w;
    }
    double log_low = a * log(a / (a + b)) - log(a), log_high = b * log(b / (a + b)) - log(b);
    double log_sum = fmax(log_low, log_high) + log1p(exp(-fabs(log_low - log_high)));
    if (log1p(-tail) < log_low - log_sum)
        return (log(a) + log_sum + log1p(-tail)) / a; /* x is small: u = log x */
    return -(log(b) + log_sum + log(tail)) / b;       /* y is small: u = -log y */
}

static void split(double u, double *x, double *y)
{
    double e = exp(-fabs(u)), large = 1 / (1 + e), small = e / (1 + e);
    *x = u < 0 ? small : large;
    *y = u < 0 ? large : small;
}

enum { U_LIMIT = 700 }; /* beyond, x or y is below 1e-304 */

beta_point beta_near(double a, double b, double tail, double slack)
{
    double low = -U_LIMIT, high = U_LIMIT;
    double u = fmin(fmax(quantile_start(a, b, tail), low), high);
    beta_point at;
    for (int i = 0; i < 200; i++) {
        double lower;
        split(u, &at.x, &at.y);
        at.power = beta_power(a, b, at.x, at.y);
        tails_of_power(a, b, at.x, at.y, at.power, &lower, &at.upper);
        double gap = log(at.upper) - log(tail); /* falls with u; its slope is -rate */
        double rate = at.power / at.upper, curve = (a * at.y - b * at.x + rate) / 2;
        if (gap > 0)
            low = u;
        else
            high = u;
        double newton = gap / rate, step = newton / fmin(fmax(1 + newton * curve, 0.5), 2);
        bool inside = u + step >= low && u + step <= high; /* false for NaN and infinities too */
        at.next = inside ? u + step : 0.5 * (low + high);
        if (fabs(gap) <= slack || fabs(at.next - u) <= 1e-15 * fabs(u))
            break;
        u = at.next;
    }
    return at;
}

double beta_quantile_upper(double a, double b, double tail)
{
    if (tail >= 1 || tail <= 0)
        return tail >= 1 ? 0 : 1;
    if (tail > 0.5) /* the quantile of 1 - X: the tail that is solved for is the small one */
        return 1 - beta_quantile_upper(b, a, 1 - tail);
    /* Halley's error is cubed by a step: after 1e-5 one more step is exact. */
    beta_point at = beta_near(a, b, tail, 1e-5);
    if (fabs(at.next) >= U_LIMIT - 1)
        return at.next < 0 ? 0 : 1;
    split(at.next, &at.x, &at.y);
    return at.x;
}

double kl_bernoulli(double p, double q)
{
    double a = p > 0 ? p * log(p / q) : 0, b = p < 1 ? (1 - p) * (log1p(-p) - log1p(-q)) : 0;
    return a + b;
}

/* In u = log(q/(1-q)) the divergence is log(1 + e^u) - p u + constant: convex, with slope q - p and
 * curvature q (1-q), so Halley's method from any start is soon at the root's right and falls to
 * it. */
kl_point kl_near(double p, double budget, double slack)
{
    double log_p = log(p), log_rest = log1p(-p), from = log_p - log_rest;
    double least = -p * log_p - (1 - p) * log_rest; /* log(1 + e^u) - p u at q = p */
    double most = (least + budget) / (1 - p);       /* there it is certainly beyond the budget */
    double u = fmin(from + sqrt(2 * budget / (p * (1 - p))), most);
    kl_point at;
    for (int i = 0; i < 200; i++) {
        double e = exp(-fabs(u));
        at.q = u < 0 ? e / (1 + e) : 1 / (1 + e);
        at.kl = log1p(e) + (u > 0 ? u : 0) - p * u - least;
        double gap = at.kl - budget, slope = at.q - p, newton = gap / slope;
        double step = newton / fmin(fmax(1 - newton * at.q * (1 - at.q) / (2 * slope), 0.5), 2);
        at.next = fmin(u - step, most);
        if (!(slope > 0 && at.next > from))
            at.next = 0.5 * (u + from);
        if (fabs(gap) <= slack * budget || fabs(at.next - u) <= 1e-15 * fabs(u))
            break;
        u = at.next;
    }
    return at;
}

double kl_upper(double p, double budget)
{
    if (p >= 1 || budget <= 0)
        return p;
    if (p <= 0)
        return -expm1(-budget);
    double q, rest;
    split(kl_near(p, budget, 1e-5).next, &q, &rest);
    return q < p ? p : q;
}
