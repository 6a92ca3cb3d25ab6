/* clock_series.h - upper bounds that change with the round number alone, as short power series.
 *
 * Between two observations of an item, its Bayes-UCB quantile or its KL-UCB bound changes only
 * because the round number grows.  Both are smooth in a slow variable of the clock: the quantile in
 * log t, the bound in its budget log t + 3 log log t.  So time is cut into segments, and for each
 * item and segment the index is a Taylor polynomial about a point near the segment's middle:
 * computed once when the item is observed or the segment begins, then read by a few
 * multiplications.  The polynomial is a pure function of the item's counts and the segment, so
 * items with equal counts have equal indices, to the bit.
 *
 * Both indices solve a first-order differential equation, and a recurrence gives all coefficients.
 *   quantile  x(s), P(X > x) = e^-s:   x' = x (1-x) v,  v' = -v - v^2 (a - (a+b) x),
 *                                      v = du/ds,  u = log(x/(1-x))
 *   bound     q(B), n kl(p,q) = B:     q' = q (1-q) / (n (q-p))
 * The nearest singularity is where the slow variable is 0, and segments are a fixed share of the
 * distance to it, so that SERIES_TERMS terms reach rounding error.  Where they do not (tiny
 * shapes), there is no series and the caller computes the index itself.  The series also replaces
 * the last steps of the root-finder: it starts from any point near the root where the tail is
 * known.
 */
#ifndef OLTR_ENGINE_SPECIAL_CLOCK_SERIES_H
#define OLTR_ENGINE_SPECIAL_CLOCK_SERIES_H

#include <stdbool.h>
#include <stdint.h>

enum { SERIES_TERMS = 9 };

/* Rounds first..last, and the slow variable's middle and half width over them. */
typedef struct clock_segment {
    uint64_t first, last;
    double middle, half;
} clock_segment;

/* The segment that holds round t >= 1; `slow` is the variable as a function of the round,
 * increasing. */
clock_segment clock_segment_of(uint64_t t, double (*slow)(uint64_t t));

/* A series about `center` of the slow variable. */
typedef struct clock_series {
    double center;
    double c[SERIES_TERMS];
} clock_series;

/* The upper quantile of Beta(a,b) at tail exp(-s), for s in the segment.  Returns false when the
 * terms do not fall fast enough there; the series is then useless. */
bool quantile_series(double a, double b, const clock_segment *segment, clock_series *out);

/* The same for the largest q with n kl(p,q) <= B, for B in the segment. */
bool kl_series(double n, double p, const clock_segment *segment, clock_series *out);

#endif
