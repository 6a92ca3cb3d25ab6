/* logistic_gibbs.h - draws from the posterior of a logistic model, by Gibbs sampling with
 * Polya-Gamma variables (Polson, Scott and Windle 2013).
 *
 * One sweep from theta: for every row with a count,
 *     w_r ~ PG(N_r, x_r'theta),
 * then theta ~ N(m, A^-1) with
 *     A = lambda I + P + sum_r w_r x_r x_r',     A m = q + sum_r (S_r - N_r/2) x_r.
 * The law of theta that a sweep leaves unchanged is the posterior of the counts, with the prior
 * N(0, I/lambda) and the quadratics P, q of the absorbed rows (logistic.h): these act as a normal
 * prior.  Where no row was absorbed, it is the exact posterior.
 *
 * The mean is found around the estimate theta_hat: A (m - theta_hat) = h + sum_r (S_r - N_r/2 - w_r
 * x_r'theta_hat) x_r, with h = q - (lambda I + P) theta_hat.  At the root these terms cancel up to
 * the deviations of w_r from their means, so that the rounding of large counts does not move flat
 * directions.
 *
 * Cost of a sweep: O(R d^2 + d^3), and for each of the R rows one normal draw or, with N_r of at
 * most POLYA_GAMMA_EXACT, a few exact ones (rng/polya_gamma.h).
 */
#ifndef OLTR_ENGINE_POSTERIOR_LOGISTIC_GIBBS_H
#define OLTR_ENGINE_POSTERIOR_LOGISTIC_GIBBS_H

#include "engine/posterior/logistic.h"

/* Offsets of the arrays of a chain in a block of memory. */
typedef struct logistic_gibbs_plan {
    size_t score;    /* (rows) doubles: x'theta */
    size_t at_root;  /* (rows) doubles: x'theta_hat */
    size_t part;     /* (rows) doubles: a row's part of the right-hand side */
    size_t weight;   /* (rows) doubles: w */
    size_t draws;    /* (POLYA_GAMMA_DOUBLES, rows) doubles */
    size_t lists;    /* (2, rows) words */
    size_t normal;   /* (rows) floats, for several sweeps where rows are few */
    size_t standard; /* (dim) floats, likewise */
    size_t pull;     /* (dim) doubles: h */
    size_t moment;   /* (dim) doubles: the right-hand side */
    size_t nothing;  /* (dim) doubles: zeros */
    size_t gram;     /* (dim (dim+1) / 2) doubles */
    size_t product;  /* what is kept of the rows */
    size_t factor;   /* ldl_doubles(dim) */
} logistic_gibbs_plan;

logistic_gibbs_plan logistic_gibbs_planned(layout *l, uint32_t dim, size_t capacity);

/* `sweeps` sweeps from theta (dim), which gets the last one's draw.  Only reads the state; work:
 * the block of the plan.  The draws of sweep s = 0, 1, ... are those of round s + 1 of the
 * generator's fork 0. */
void logistic_gibbs(const void *state, const logistic *p, const logistic_gibbs_plan *plan,
                    const oltr_rng *rng, uint32_t sweeps, double *theta, void *work);

#endif
