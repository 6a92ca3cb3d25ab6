/* special.h - the special functions behind the upper-bound policies, written for this engine (GSL
 * serves the tests).
 *
 * Every inverse iterates to a tolerance, never a fixed number of steps, and is a pure function of
 * its arguments: items with equal counts get equal indices to the last bit, so that ties are ties.
 */
#ifndef OLTR_ENGINE_SPECIAL_SPECIAL_H
#define OLTR_ENGINE_SPECIAL_SPECIAL_H

/* log Gamma(x), x > 0 (libm's lgamma writes a global). */
double log_gamma(double x);

/* P(X <= x) and P(X > x) for X ~ Beta(a,b), a, b > 0; y = 1 - x is given too, so that neither end
 * loses digits. */
void beta_tails(double a, double b, double x, double y, double *lower, double *upper);

/* The density of Beta(a,b) at x, times x y: x^a y^b / B(a,b); and its logarithm. */
double beta_power(double a, double b, double x, double y);
double log_beta_power(double a, double b, double x, double y);

/* The x with P(X > x) = tail, X ~ Beta(a,b), 0 < a, b; tail >= 1 gives 0, tail <= 0 gives 1. */
double beta_quantile_upper(double a, double b, double tail);

/* A point near that quantile, at which the tail is known: |log upper - log tail| <= slack, unless
 * the quantile is within 1e-304 of an end, where the search stops. */
typedef struct beta_point {
    double x, y;  /* y = 1 - x */
    double power; /* beta_power() there */
    double upper; /* P(X > x) */
    double next;  /* log(x/y) after one more step of Halley's method */
} beta_point;
beta_point beta_near(double a, double b, double tail, double slack); /* 0 < tail <= 1/2 */

/* p log(p/q) + (1-p) log((1-p)/(1-q)); 0 log 0 = 0. */
double kl_bernoulli(double p, double q);

/* The largest q in [p,1] with kl(p,q) <= budget; 0 <= p <= 1, budget >= 0. */
double kl_upper(double p, double budget);

/* A point near it, at which the divergence is known: |kl - budget| <= slack budget. */
typedef struct kl_point {
    double q, kl;
    double next; /* log(q/(1-q)) after one more step of Halley's method */
} kl_point;
kl_point kl_near(double p, double budget, double slack); /* 0 < p < 1, budget > 0 */

#endif
