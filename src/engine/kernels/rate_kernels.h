/* rate_kernels.h - the posterior of an attraction in the position-based model, where a slot l is
 * examined with a known chance kappa_l and a click has the chance kappa_l theta: its draws, and
 * what they need of every item.
 *
 * Definition.  With S clicks, M_l showings in slot l without a click, and a uniform prior, the
 * density of theta on [0,1] is proportional to
 *     f(theta) = theta^S  product over l of (1 - kappa_l theta)^M_l.
 * With one kappa of 1 it is Beta(1 + S, 1 + M).  log f is concave.
 *
 * Mode.  The root of S = sum of M_l kappa_l theta / (1 - kappa_l theta).  In z = theta / (1 - c
 * theta), c the largest kappa that has a miss, every term is k z / (1 + (c - k) z): the sum is
 * concave and rises, so that Newton's method climbs to the root from every point below it, as z =
 * S / A is, A = sum of M_l kappa_l.  It begins where all slots have the mean kappa (weighed by M_l
 * kappa_l), which is above the root and near it, and never goes below S / A.
 *
 * Hat.  Rejection, exact for every concave log f (Devroye 1986, chapter VII): the hat is 1 around
 * the mode, and beyond it the tangents of log f on either side, where log f has fallen by about 1.
 * The unit of distance is
 *     w = 2 / (g + sqrt(g^2 + 2 q)),  g = |slope|, q = |curvature| at the mode.
 * There log f = -x^2 + e x^3 + ..., x = (theta - mode) / w, and the tangents are at
 *     x = 1 + |e|/2 on the longer side, 1 / (1 + |e|/2 + e^2/4) on the shorter.
 * The acceptance is 0.89 for a normal density, 0.77 or more for whole numbers of clicks and misses,
 * and was above 0.58 for 20,000 random counts from 1e-9 to 1e15.
 *
 * Draw.  In floats (rate_hat.h), as differences from the mode that do not cancel: log f is exact to
 * 1e-6 whatever the counts are.  Attempt n of item i has the words 0,1 (n even) or 2,3 (n odd) of
 * position i, purpose floor(n / 2): the first makes the point, the second the height.
 */
#ifndef OLTR_ENGINE_KERNELS_RATE_KERNELS_H
#define OLTR_ENGINE_KERNELS_RATE_KERNELS_H

#include <oltr/oltr.h>

enum { RATE_SLOTS = 8 };

/* Fewer observations count as none: they change the density by less than 1e-7. */
#define RATE_LEAST_COUNT 1e-9

/* What rate_hat.h needs of an item, in units of x. */
enum {
    RATE_WIDTH, /* of x = 1 */
    RATE_AREA,  /* under the hat */
    RATE_END,   /* where the hat would end if the right tail were as high as the top */
    RATE_RIGHT_LENGTH,
    RATE_LEFT_LENGTH,
    RATE_RIGHT_SLOPE,
    RATE_LEFT_SLOPE,
    RATE_CLICKS, /* S */
    RATE_RATIO,  /* width / mode; 0 without clicks */
    RATE_SLOPE,  /* of log f at the mode: 0 but for rounding, or the mode is 0 or 1 */
    RATE_Q2,     /* the terms 2 to 6 of Q, without the powers of x */
    RATE_Q3,
    RATE_Q4,
    RATE_Q5,
    RATE_Q6,
    RATE_ERROR,
    RATE_REACH, /* up to this |x| the error holds, and theta is at most 1 */
    RATE_NUMBERS
};

/* The counts of items, and what is derived from them. */
typedef struct rate_items {
    const double *clicks; /* (n_items) S */
    const double *missed; /* (n_slots, stride) M_l */
    const double *kappa;  /* (n_slots) from above 0 to 1 */
    uint32_t n_slots;     /* at most RATE_SLOTS */
    float *number;        /* (RATE_NUMBERS, stride) */
    double *mode;         /* (stride) */
    size_t stride;        /* padded(n_items) */
} rate_items;

/* Derives the numbers and modes of the n items item[0], item[1], ... */
typedef void rate_hats_of_fn(const rate_items *items, const uint32_t *item, size_t n);

/* out[j] = the draw of item[j], or of item j when item is NULL.  out is padded; its padding may be
 * written. */
typedef void rate_draws_fn(const oltr_rng *rng, const rate_items *items, const uint32_t *item,
                           size_t n, double *out);

#endif
