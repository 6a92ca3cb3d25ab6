/* polya_gamma.h - draws from the Polya-Gamma distribution PG(n, z) (Polson, Scott and Windle 2013).
 *
 * Definition.  PG(1, z) has the Laplace transform E exp(-t w) = cosh(z/2) / cosh(sqrt(z^2 + 2t)/2);
 * PG(n, z) is the sum of n independent draws of it.  n is a whole number here.  Given w, a logistic
 * likelihood is a normal one: posterior/logistic_gibbs.h.
 *
 * Draws.  Up to POLYA_GAMMA_EXACT, n exact draws of PG(1, z), 40 to 100 ns each.  Beyond, a normal
 * with the exact mean and variance; its skewness, which is missing then, is 1.96 / sqrt(n) at z = 0
 * and less elsewhere.
 */
#ifndef OLTR_ENGINE_RNG_POLYA_GAMMA_H
#define OLTR_ENGINE_RNG_POLYA_GAMMA_H

#include <oltr/oltr.h>

enum { POLYA_GAMMA_EXACT = 20 };

typedef struct polya_gamma_moments {
    double mean, variance;
} polya_gamma_moments;

/* n tanh(z/2) / (2z) and n (sinh z - z) / (4 z^3 cosh^2(z/2)). */
polya_gamma_moments polya_gamma_moments_of(double n, double z);
/* The same from n (mu - 1/2) and n mu', mu the logistic function at z, where they are known. */
polya_gamma_moments polya_gamma_moments_from(double n, double z, double centred, double slope);

/* One draw for a whole n >= 0.  0 for n = 0, and for an infinite z; NaN for a z that is no
 * number. */
double polya_gamma(oltr_rng *rng, double n, double z);
/* The same for n of at most POLYA_GAMMA_EXACT. */
double polya_gamma_exact(oltr_rng *rng, double n, double z);
/* The normal of these moments at a standard normal draw; one below 0, which has a chance of 1e-8
 * for n = 21, counts as 0. */
double polya_gamma_normal(polya_gamma_moments m, double standard);

#endif
