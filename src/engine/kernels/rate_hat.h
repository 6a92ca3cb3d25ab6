/* rate_hat.h - one draw of rate_kernels.h: attempts under the hat until one is accepted.
 *
 * Point.  The hat is 1 from x = left to right, and outside of them exponential.  The area of a tail
 * is its length, 1 / slope.  A uniform u gives the point that has the share u of the area to its
 * right.  The smallest u are far in the right tail and the largest far in the left one; both are
 * read with full resolution, the latter from 1 - u.
 *
 * Acceptance.  log f(x) - log f(0) = slope x + S (log(1 + t) - t) - Q(x), t = ratio x.  Q is a sum
 * over the slots of M (-log(1 - k x) - k x), of whose power series the terms 2 to 6 are kept; the
 * rest is below error |x|^7 where |k x| <= 3/4 for all slots.  An attempt that this does not decide
 * is open, and Q is computed.
 */
#ifndef OLTR_ENGINE_KERNELS_RATE_HAT_H
#define OLTR_ENGINE_KERNELS_RATE_HAT_H

#include "engine/kernels/cpu.h"
#include "engine/kernels/float_math.h"
#include "engine/kernels/philox.h"
#include "engine/kernels/rate_kernels.h"

/* Of a side without a tangent, whose length is 0: no u is in its tail. */
#define RATE_NO_TAIL 1e30f

typedef enum rate_verdict { RATE_REJECTED, RATE_ACCEPTED, RATE_OPEN } rate_verdict;

/* A point under the hat, and the logarithm of a uniform height between 0 and the hat. */
typedef struct rate_point {
    float x, log_height;
} rate_point;

/* log(1 + t) - t without cancellation; minus infinity from t = -1 down.  1 + t = 2^e (1 + r). */
ALWAYS_INLINE float log_excess(float t)
{
    float more = 1 + t, r;
    uint32_t bits;
    memcpy(&bits, &more, sizeof bits);
    int32_t e = (int32_t)(bits - LOG_SQRT_HALF_BITS) >> 23;
    bits -= (uint32_t)e << 23;
    memcpy(&r, &bits, sizeof r);
    r = e == 0 ? t : r - 1;
    float rest = fmaf((float)e, LOG_LN2, r - t);
    return more > 0 ? fmaf(r * r, fmaf(log_p(r), r, -0.5f), rest) : -INFINITY;
}

/* ---- one item */

typedef struct biased_rate {
    double clicks;             /* S: 0, or at least RATE_LEAST_COUNT */
    uint32_t n;                /* slots with misses */
    double missed[RATE_SLOTS]; /* (n) M_l, at least RATE_LEAST_COUNT */
    double kappa[RATE_SLOTS];  /* (n) */
} biased_rate;

ALWAYS_INLINE biased_rate rate_of(const rate_items *items, uint32_t i)
{
    biased_rate r;
    r.clicks = items->clicks[i] > RATE_LEAST_COUNT ? items->clicks[i] : 0;
    r.n = 0;
    for (uint32_t slot = 0; slot < items->n_slots; slot++) {
        r.missed[r.n] = items->missed[slot * items->stride + i];
        r.kappa[r.n] = items->kappa[slot];
        r.n += r.missed[r.n] > RATE_LEAST_COUNT;
    }
    return r;
}

/* ---- log f in units of x */

typedef struct rate_frame {
    double mode;
    float width, slope, clicks, ratio;
    uint32_t n;
    float missed[RATE_SLOTS], share[RATE_SLOTS]; /* (n) k = kappa width / (1 - kappa mode) */
} rate_frame;

ALWAYS_INLINE rate_frame rate_frame_of(const biased_rate *r, double mode, float width, float slope)
{
    rate_frame f;
    f.mode = mode;
    f.width = width;
    f.slope = slope;
    f.n = r->n;
    f.clicks = (float)r->clicks;
    f.ratio = r->clicks > 0 ? (float)((double)width / mode) : 0;
    for (uint32_t l = 0; l < r->n; l++) {
        f.missed[l] = (float)r->missed[l];
        f.share[l] = (float)(r->kappa[l] * (double)width / (1 - r->kappa[l] * mode));
    }
    return f;
}

/* log f(x) - log f(0) */
ALWAYS_INLINE float rate_fall(const rate_frame *f, float x)
{
    float sum = f->slope * x;
    sum = fmaf(f->clicks, log_excess(f->ratio * x), sum);
    for (uint32_t l = 0; l < f->n; l++)
        sum = fmaf(f->missed[l], log_excess(-f->share[l] * x), sum);
    return sum;
}

/* ---- attempts */

ALWAYS_INLINE rate_point rate_point_of(const float hat[RATE_NUMBERS], const uint32_t word[2])
{
    float y = uniform_float(word[0]) * hat[RATE_AREA];
    float right = y * hat[RATE_RIGHT_SLOPE];
    float left = uniform_float(~word[0]) * hat[RATE_AREA] * hat[RATE_LEFT_SLOPE];
    float fall = log_float(fminf(1, fminf(right, left)));
    float x = hat[RATE_END] - y;
    if (right < 1)
        x = fmaf(-hat[RATE_RIGHT_LENGTH], fall, hat[RATE_END] - hat[RATE_RIGHT_LENGTH]);
    else if (left < 1)
        x = fmaf(hat[RATE_LEFT_LENGTH], fall,
                 hat[RATE_END] - (hat[RATE_AREA] - hat[RATE_LEFT_LENGTH]));
    return (rate_point){x, fall + log_float(uniform_float(word[1]))};
}

ALWAYS_INLINE rate_verdict rate_judge(const float hat[RATE_NUMBERS], rate_point p)
{
    float x = p.x, square = x * x, size = fabsf(x);
    float series = fmaf(fmaf(hat[RATE_Q6], x, hat[RATE_Q5]), x, hat[RATE_Q4]);
    series = fmaf(fmaf(series, x, hat[RATE_Q3]), x, hat[RATE_Q2]);
    float log_f = fmaf(hat[RATE_CLICKS], log_excess(hat[RATE_RATIO] * x),
                       x * fmaf(-x, series, hat[RATE_SLOPE]));
    float above = log_f - p.log_height;
    float error = square * square * square * (size * hat[RATE_ERROR]);
    if (!(hat[RATE_REACH] >= size))
        return RATE_OPEN;
    return above >= error ? RATE_ACCEPTED : -error > above ? RATE_REJECTED : RATE_OPEN;
}

/* An open attempt. */
ALWAYS_INLINE bool rate_accepts(const rate_items *items, uint32_t i, const float hat[RATE_NUMBERS],
                                rate_point p)
{
    const double mode = items->mode[i], theta = mode + (double)hat[RATE_WIDTH] * (double)p.x;
    biased_rate r = rate_of(items, i);
    rate_frame f = rate_frame_of(&r, mode, hat[RATE_WIDTH], hat[RATE_SLOPE]);
    return theta >= 0 && theta <= 1 && rate_fall(&f, p.x) >= p.log_height;
}

ALWAYS_INLINE double rate_draw(const oltr_rng *rng, const rate_items *items, uint32_t i)
{
    float hat[RATE_NUMBERS];
    rate_point p = {0, 0};
    uint32_t word[4];
    for (size_t k = 0; k < RATE_NUMBERS; k++)
        hat[k] = items->number[k * items->stride + i];
    for (uint32_t n = 0; n < 2 * PURPOSE_POWERS; n++) { /* half succeed: all of them never fail */
        if (n % 2 == 0)
            words_at(rng, i, n / 2, word);
        p = rate_point_of(hat, word + n % 2 * 2);
        rate_verdict verdict = rate_judge(hat, p);
        if (verdict == RATE_ACCEPTED || (verdict == RATE_OPEN && rate_accepts(items, i, hat, p)))
            break;
    }
    return fmin(fmax(fma((double)hat[RATE_WIDTH], (double)p.x, items->mode[i]), 0), 1);
}

#endif
