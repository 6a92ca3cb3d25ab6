/* clock_series.c - segments of the clock, and the recurrences of the two series (see
 * clock_series.h). */
#include "engine/special/clock_series.h"

#include <math.h>

#include "engine/special/special.h"

/* A segment ends at first^1.05: 2.5 % of log t on either side of its middle.  A series may be
 * centred so far from the middle, as a share of it. */
#define SEGMENT_SHARE 1.05
#define NEAR 0.02
#define SERIES_TOLERANCE 1e-12

static uint64_t next_segment(uint64_t first)
{
    uint64_t far = (uint64_t)pow((double)first, SEGMENT_SHARE);
    return far > first ? far : first + 1;
}

clock_segment clock_segment_of(uint64_t t, double (*slow)(uint64_t t))
{
    uint64_t first = 1, next = next_segment(first);
    while (next <= t) {
        first = next;
        next = next_segment(first);
    }
    double from = slow(first), to = slow(next - 1);
    return (clock_segment){first, next - 1, 0.5 * (from + to), 0.5 * (to - from)};
}

/* sum of c[j] c[k-j], j = 1..k-1 */
static inline double inner_square(const double *c, int k)
{
    double sum = 0;
#pragma GCC unroll 8
    for (int j = 1; 2 * j < k; j++)
        sum += c[j] * c[k - j];
    return 2 * sum + (k % 2 == 0 && k > 0 ? c[k / 2] * c[k / 2] : 0);
}

/* Whether the last terms are negligible relative to the first over the whole segment; false for
 * NaN. */
static bool converges(const clock_series *s, const clock_segment *segment)
{
    double reach = segment->half + fabs(s->center - segment->middle), power = reach;
    for (int k = 1; k < SERIES_TERMS - 2; k++)
        power *= reach;
    double tail =
        fabs(s->c[SERIES_TERMS - 2]) * power + fabs(s->c[SERIES_TERMS - 1]) * power * reach;
    return tail * reach <= SERIES_TOLERANCE * s->c[0];
}

static bool constant_series(double value, const clock_segment *segment, clock_series *out)
{
    *out = (clock_series){.center = segment->middle, .c = {value}};
    return true;
}

/* In u = log(x/y): v = du/ds solves v' = -v - v^2 (a - (a+b) x), and x' = x (1-x) v. */
static void quantile_terms(double a, double b, const beta_point *at, double c[SERIES_TERMS])
{
    double v[SERIES_TERMS], square[SERIES_TERMS], pull[SERIES_TERMS], spread[SERIES_TERMS],
        n = a + b;
    c[0] = at->x;
    v[0] = at->upper / at->power;
    pull[0] = a * at->y - b * at->x;
    spread[0] = at->x * at->y;
    square[0] = v[0] * v[0];
#pragma GCC unroll 16
    for (int k = 0; k < SERIES_TERMS - 1; k++) {
        double share = 1.0 / (k + 1), grow = 0, turn = 0;
#pragma GCC unroll 16
        for (int j = 0; j <= k; j++) {
            grow += spread[j] * v[k - j];
            turn += square[j] * pull[k - j];
        }
        c[k + 1] = grow * share;
        v[k + 1] = -(v[k] + turn) * share;
        pull[k + 1] = -n * c[k + 1];
        square[k + 1] = 2 * v[0] * v[k + 1] + inner_square(v, k + 1);
        spread[k + 1] = (at->y - at->x) * c[k + 1] - inner_square(c, k + 1);
    }
}

bool quantile_series(double a, double b, const clock_segment *segment, clock_series *out)
{
    if (segment->half <= 0)
        return constant_series(beta_quantile_upper(a, b, exp(-segment->middle)), segment, out);
    const double slacks[] = {NEAR * segment->middle, 1e-9};
    for (int i = 0; i < 2; i++) {
        beta_point at = beta_near(a, b, exp(-segment->middle), slacks[i]);
        out->center = -log(at.upper);
        quantile_terms(a, b, &at, out->c);
        if (converges(out, segment))
            return true;
    }
    return false;
}

/* n (q-p) q' = q (1-q), coefficient by coefficient; both sides need the same convolution. */
static void kl_terms(double n, double p, double q, double c[SERIES_TERMS])
{
    double scale = 1 / (q - p), rate = 1 / n, last = 0;
    c[0] = q;
    c[1] = q * (1 - q) * rate * scale;
#pragma GCC unroll 16
    for (int k = 1; k < SERIES_TERMS - 1; k++) {
        double next = inner_square(c, k + 1);
        c[k + 1] = (((1 - 2 * q) * c[k] - last) * (rate * (1.0 / (k + 1))) - 0.5 * next) * scale;
        last = next;
    }
}

bool kl_series(double n, double p, const clock_segment *segment, clock_series *out)
{
    if (segment->half <= 0 || p >= 1)
        return constant_series(kl_upper(p, segment->middle / n), segment, out);
    if (p <= 0) {
        out->center = segment->middle;
        kl_terms(n, p, kl_upper(p, segment->middle / n), out->c);
        return converges(out, segment);
    }
    const double slacks[] = {NEAR, 1e-9};
    for (int i = 0; i < 2; i++) {
        kl_point at = kl_near(p, segment->middle / n, slacks[i]);
        out->center = n * at.kl;
        kl_terms(n, p, at.q, out->c);
        if (converges(out, segment))
            return true;
    }
    return false;
}
