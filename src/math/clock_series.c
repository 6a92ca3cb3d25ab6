/* clock_series.c - segments of the clock, and the recurrences of the two series (see clock_series.h). */
#include "math/clock_series.h"

#include <math.h>

#include "math/special.h"

#define SEGMENT_SHARE 1.05 /* a segment ends at first^1.05: 2.5 % of log t on either side of its middle */
#define SERIES_TOLERANCE 1e-12
#define NEAR 0.02 /* how far from the segment's middle, as a share of it, a series may be centred */

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

/* coefficient k of the product of two series */
static double product(const double *f, const double *g, int k)
{
    double sum = 0;
    for (int j = 0; j <= k; j++)
        sum += f[j] * g[k - j];
    return sum;
}

/* coefficient k of r = 1/f, given those below */
static double reciprocal(const double *f, const double *r, int k)
{
    double sum = 0;
    for (int j = 1; j <= k; j++)
        sum += f[j] * r[k - j];
    return k ? -sum / f[0] : 1 / f[0];
}

/* Do the last terms vanish beside the first over the whole segment?  (False for NaN.) */
static int settles(const clock_series *s, const clock_segment *segment)
{
    double reach = segment->half + fabs(s->center - segment->middle), power = reach;
    for (int k = 1; k < SERIES_TERMS - 2; k++)
        power *= reach;
    double tail = fabs(s->c[SERIES_TERMS - 2]) * power + fabs(s->c[SERIES_TERMS - 1]) * power * reach;
    return tail * reach <= SERIES_TOLERANCE * s->c[0];
}

static int constant_series(double value, const clock_segment *segment, clock_series *out)
{
    *out = (clock_series){.center = segment->middle, .c = {value}};
    return 1;
}

static void quantile_terms(double a, double b, const beta_point *at, double c[SERIES_TERMS])
{
    double m[SERIES_TERMS], rx[SERIES_TERMS], ry[SERIES_TERMS], y[SERIES_TERMS], g[SERIES_TERMS], h[SERIES_TERMS];
    c[0] = at->x;
    y[0] = at->y;
    m[0] = at->upper * at->x * at->y / at->power;
    for (int k = 0; k < SERIES_TERMS - 1; k++) {
        rx[k] = reciprocal(c, rx, k);
        ry[k] = reciprocal(y, ry, k);
        g[k] = (a - 1) * rx[k] - (b - 1) * ry[k];
        h[k] = (k == 0) + product(m, g, k);
        c[k + 1] = m[k] / (k + 1);
        y[k + 1] = -c[k + 1];
        m[k + 1] = -product(h, m, k) / (k + 1);
    }
}

int quantile_series(double a, double b, const clock_segment *segment, clock_series *out)
{
    if (segment->half <= 0)
        return constant_series(beta_quantile_upper(a, b, exp(-segment->middle)), segment, out);
    const double slacks[] = {NEAR * segment->middle, 1e-9};
    for (int i = 0; i < 2; i++) {
        beta_point at = beta_near(a, b, exp(-segment->middle), slacks[i]);
        out->center = -log(at.upper);
        quantile_terms(a, b, &at, out->c);
        if (settles(out, segment))
            return 1;
    }
    return 0;
}

static void kl_terms(double n, double p, double q, double c[SERIES_TERMS])
{
    double distance[SERIES_TERMS], inverse[SERIES_TERMS], rest[SERIES_TERMS], spread[SERIES_TERMS];
    c[0] = q;
    distance[0] = q - p;
    rest[0] = 1 - q;
    for (int k = 0; k < SERIES_TERMS - 1; k++) {
        inverse[k] = reciprocal(distance, inverse, k);
        spread[k] = product(c, rest, k);
        c[k + 1] = product(spread, inverse, k) / (n * (k + 1));
        distance[k + 1] = c[k + 1];
        rest[k + 1] = -c[k + 1];
    }
}

int kl_series(double n, double p, const clock_segment *segment, clock_series *out)
{
    if (segment->half <= 0 || p >= 1)
        return constant_series(kl_upper(p, segment->middle / n), segment, out);
    if (p <= 0) {
        out->center = segment->middle;
        kl_terms(n, p, kl_upper(p, segment->middle / n), out->c);
        return settles(out, segment);
    }
    const double slacks[] = {NEAR, 1e-9};
    for (int i = 0; i < 2; i++) {
        kl_point at = kl_near(p, segment->middle / n, slacks[i]);
        out->center = n * at.kl;
        kl_terms(n, p, at.q, out->c);
        if (settles(out, segment))
            return 1;
    }
    return 0;
}
