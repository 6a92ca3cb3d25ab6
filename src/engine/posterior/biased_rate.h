/* biased_rate.h - the posterior of an attraction in the position-based model, where a slot l is
 * examined with a known chance kappa_l and a click has the chance kappa_l theta.
 *
 * Definition.  With S clicks, M_l showings in slot l without a click, and a uniform prior, the
 * density of theta on [0,1] is proportional to
 *     f(theta) = theta^S  product over l of (1 - kappa_l theta)^M_l.
 * With one kappa of 1 it is Beta(1 + S, 1 + M).  log f is concave.
 *
 * Mode.  The root of S = sum of M_l kappa_l theta / (1 - kappa_l theta).  In z = theta / (1 - c
 * theta), c the largest kappa that has a miss, every term is k z / (1 + (c - k) z): the sum is
 * concave and rises, so that Newton's method from z = S / (sum of M_l kappa_l) climbs to the root
 * and never passes it.
 *
 * Draw.  Rejection, exact for every concave log f (Devroye 1986, chapter VII): the hat is 1 around
 * the mode, and beyond it the tangents of log f at a distance w on either side,
 *     w = 2 / (g + sqrt(g^2 + 2 q)),  g = |slope|, q = |curvature| at the mode,
 * where log f has fallen by about 1; w is doubled until log f has fallen by at least 1/4.  The
 * acceptance is 0.89 for a normal density and 0.85 for one click.  Between the tangents' points the
 * chords of log f are a lower bound, by which half of the draws are accepted without a logarithm.
 * log f is computed as a difference from the mode: up to 1e15 observations it is exact to 1e-8.
 */
#ifndef OLTR_ENGINE_POSTERIOR_BIASED_RATE_H
#define OLTR_ENGINE_POSTERIOR_BIASED_RATE_H

#include <stdbool.h>
#include <stdint.h>
#include <oltr/oltr.h>

enum { RATE_SLOTS = 8 };

/* What was seen of one item. */
typedef struct biased_rate {
    double clicks;             /* S: 0, or at least 1e-100 */
    uint32_t n;                /* slots with misses */
    double missed[RATE_SLOTS]; /* (n) M_l, at least 1e-100 */
    double kappa[RATE_SLOTS];  /* (n) from above 0 to 1 */
} biased_rate;

/* The hat: from `left` to `right` it is 1, outside it falls by the slopes. */
typedef struct rate_hat {
    double mode;
    double left_width, right_width; /* w of the head of this file, on either side */
    double left, right;             /* where the tangents reach the height of the mode */
    double left_slope, right_slope; /* of log f at mode - w and mode + w, both above 0 */
    double left_area, right_area;   /* under the tangents; 0 where w reaches the end of [0,1] */
    double left_drop, right_drop;   /* by how much log f has fallen at these points */
} rate_hat;

rate_hat rate_hat_of(const biased_rate *r);

/* A draw of item `item` in the generator's round, of which these are the words of position `item`,
 * purpose 0.  The first alone decides most draws without looking at the counts: true, and the draw.
 * Where it does not, the second makes the draw. */
bool rate_draw_at_once(const rate_hat *hat, const uint32_t word[4], double *theta);
double rate_draw(const biased_rate *r, const rate_hat *hat, const oltr_rng *rng, uint32_t item,
                 const uint32_t word[4]);

/* Mean and standard deviation, to 1e-8 of the latter. */
void rate_moments(const biased_rate *r, const rate_hat *hat, double *mean, double *sd);

#endif
