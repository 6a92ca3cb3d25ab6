/* rate_kernels.c - the hats of rate_kernels.h, and the plain version of its draws.
 *
 * The hats are made for four items at a time, in vectors of four doubles and four floats.  The body
 * is written once and compiled twice: for any machine, and for AVX2.  Without fused operations
 * every lane rounds alike in both, and no lane depends on another.
 */
#include "engine/kernels/table.h"

#include <math.h>

#include "engine/kernels/lanes.h"
#include "engine/kernels/rate_hat.h"

typedef double four __attribute__((vector_size(32)));
typedef int64_t four_words __attribute__((vector_size(32)));
typedef float floats __attribute__((vector_size(16)));
typedef int32_t words __attribute__((vector_size(16)));
typedef uint32_t bit_words __attribute__((vector_size(16)));

#define ALL(x) ((four){0} + (x)) /* not for -0.0 */
#define FLOATS(x) ((floats){0} + (x))
#define TO_FLOATS(x) __builtin_convertvector(x, floats)
#define TO_FOUR(x) __builtin_convertvector(x, four)
#define CHOOSE(condition, x, y)                                                                    \
    ((four)(((four_words)(x) & (four_words)(condition)) |                                          \
            ((four_words)(y) & ~(four_words)(condition))))
#define CHOOSE_FLOATS(condition, x, y)                                                             \
    ((floats)(((words)(x) & (words)(condition)) | ((words)(y) & ~(words)(condition))))

enum { TOGETHER = 4 };

/* Vectors are passed by address, for without AVX there is no settled way to pass them. */
typedef void roots_fn(four *x);

/* ---- four items */

typedef struct rate_counts {
    four clicks, clicked;    /* S, or 1 where it is 0; and whether it is not */
    uint32_t n;              /* slots where one of them has misses */
    four missed[RATE_SLOTS]; /* (n) M_l */
    four kappa[RATE_SLOTS];  /* (n) 0 without misses */
} rate_counts;

/* Of fewer items the last is repeated. */
ALWAYS_INLINE void counts_of(const rate_items *items, const uint32_t *item, size_t n,
                             rate_counts *c)
{
    uint32_t at[TOGETHER];
    for (size_t j = 0; j < TOGETHER; j++)
        at[j] = item[j < n ? j : n - 1];
    const double *s = items->clicks;
    four clicks = {s[at[0]], s[at[1]], s[at[2]], s[at[3]]};
    c->clicked = (four)(clicks > ALL(RATE_LEAST_COUNT));
    c->clicks = CHOOSE(c->clicked, clicks, ALL(1.0));
    c->n = 0;
    for (uint32_t slot = 0; slot < items->n_slots; slot++) {
        const double *m = items->missed + slot * items->stride;
        four missed = {m[at[0]], m[at[1]], m[at[2]], m[at[3]]};
        if (!(m[at[0]] + m[at[1]] + m[at[2]] + m[at[3]] > RATE_LEAST_COUNT))
            continue;
        four_words some = missed > ALL(RATE_LEAST_COUNT);
        c->missed[c->n] = CHOOSE(some, missed, ALL(0.0));
        c->kappa[c->n++] = CHOOSE(some, ALL(items->kappa[slot]), ALL(0.0));
    }
}

/* ---- the mode */

/* At 1 the logarithm of a miss in a slot that all examine ends. */
#define LAST_BELOW_1 (1 - 0x1p-53)

/* After a step of s the error of the mode is about s^2 of it.  Up to an error of 3e-5 widths log f
 * is nowhere more than 1e-9 above that of the mode. */
#define ENOUGH 1e-9

/* Newton's step at z, as a share of z. */
ALWAYS_INLINE void newton_step(const rate_counts *c, const four *most, const four *z, four *step)
{
    four left = c->clicks, rate = {0};
    for (uint32_t l = 0; l < c->n; l++) {
        four below = ALL(1.0) / (ALL(1.0) + (*most - c->kappa[l]) * *z);
        four part = c->missed[l] * c->kappa[l] * below;
        left -= part * *z;
        rate += part * below;
    }
    *step = left / (rate * *z);
}

/* z of the mode, from above 0; of items without misses any number. */
ALWAYS_INLINE void climb(const rate_counts *c, const four *most, const four *least, four *z)
{
    four_words active = {-1, -1, -1, -1};
    for (int i = 0; i < 200 && (active[0] | active[1] | active[2] | active[3]); i++) {
        four step;
        newton_step(c, most, z, &step);
        four next = *z + step * *z, square = step * step;
        next = CHOOSE(next > *least, next, *least);
        *z = CHOOSE(active, next, *z);
        active &= (c->clicks + ALL(1.0)) * (square * square) > ALL(ENOUGH);
    }
}

ALWAYS_INLINE void modes_of(const rate_counts *c, four *mode)
{
    four most = {0}, all = {0}, squares = {0};
    for (uint32_t l = 0; l < c->n; l++) {
        four part = c->missed[l] * c->kappa[l];
        most = CHOOSE(most > c->kappa[l], most, c->kappa[l]);
        all += part;
        squares += part * c->kappa[l];
    }
    four_words some = all > ALL(0.0);
    all = CHOOSE(some, all, ALL(1.0));
    four least = c->clicks / all, below = ALL(1.0) + (squares / all - most) * least;
    four z = CHOOSE(below > ALL(0.1), least / below, least);
    four last = CHOOSE(most < ALL(1.0), ALL(1.0), ALL(LAST_BELOW_1));
    climb(c, &most, &least, &z);
    four theta = z / (ALL(1.0) + most * z);
    theta = CHOOSE(theta < last, theta, last);
    theta = CHOOSE(some, theta, ALL(1.0));
    *mode = CHOOSE(c->clicked, theta, ALL(0.0));
}

/* ---- log f in units of x */

typedef struct rate_frames {
    four mode;
    floats width, slope, clicks, ratio;
    uint32_t n;
    floats missed[RATE_SLOTS], share[RATE_SLOTS]; /* (n) k = kappa width / (1 - kappa mode) */
} rate_frames;

ALWAYS_INLINE void frames_of(const rate_counts *c, roots_fn *roots, rate_frames *f)
{
    modes_of(c, &f->mode);
    four part[RATE_SLOTS], mode = CHOOSE(c->clicked, f->mode, ALL(1.0));
    four g = CHOOSE(c->clicked, c->clicks / mode, ALL(0.0)), q = g / mode;
    for (uint32_t l = 0; l < c->n; l++) {
        part[l] = c->kappa[l] / (ALL(1.0) - c->kappa[l] * f->mode);
        g -= c->missed[l] * part[l];
        q += c->missed[l] * part[l] * part[l];
    }
    four root = g * g + ALL(2.0) * q;
    roots(&root);
    four steep = CHOOSE(g < ALL(0.0), ALL(0.0) - g, g) + root;
    f->width = TO_FLOATS(CHOOSE(steep > ALL(2.0), ALL(2.0) / steep, ALL(1.0)));
    four width = TO_FOUR(f->width);
    f->slope = TO_FLOATS(g * width);
    f->clicks = TO_FLOATS(CHOOSE(c->clicked, c->clicks, ALL(0.0)));
    f->ratio = TO_FLOATS(CHOOSE(c->clicked, width / mode, ALL(0.0)));
    f->n = c->n;
    for (uint32_t l = 0; l < c->n; l++) {
        f->missed[l] = TO_FLOATS(c->missed[l]);
        f->share[l] = TO_FLOATS(part[l] * width);
    }
}

/* log(1 + t) - t, as in rate_hat.h but for the fused operations. */
ALWAYS_INLINE void log_excesses(const floats *t, floats *out)
{
    floats more = FLOATS(1.0f) + *t;
    bit_words bits = (bit_words)more;
    words e = (words)(bits - LOG_SQRT_HALF_BITS) >> 23;
    floats r = (floats)(bits - ((bit_words)e << 23)) - FLOATS(1.0f);
    r = CHOOSE_FLOATS(e == 0, *t, r);
    floats p = FLOATS(LOG_P6) * r + FLOATS(LOG_P5);
    p = p * r + FLOATS(LOG_P4);
    p = p * r + FLOATS(LOG_P3);
    p = p * r + FLOATS(LOG_P2);
    p = p * r + FLOATS(LOG_P1);
    p = p * r + FLOATS(LOG_P0);
    floats sum = r * r * (p * r - FLOATS(0.5f)) +
                 (__builtin_convertvector(e, floats) * FLOATS(LOG_LN2) + (r - *t));
    *out = CHOOSE_FLOATS(more > FLOATS(0.0f), sum, FLOATS(-INFINITY));
}

/* log f(x) - log f(0), and its slope. */
ALWAYS_INLINE void falls_at(const rate_frames *f, const floats *x, floats *fall, floats *slope)
{
    floats t = f->ratio * *x, part;
    log_excesses(&t, &part);
    floats sum = f->slope * *x + f->clicks * part;
    floats bend = f->clicks * f->ratio * f->ratio / (FLOATS(1.0f) + t);
    for (uint32_t l = 0; l < f->n; l++) {
        t = FLOATS(0.0f) - f->share[l] * *x;
        log_excesses(&t, &part);
        sum += f->missed[l] * part;
        bend += f->missed[l] * f->share[l] * f->share[l] / (FLOATS(1.0f) + t);
    }
    *fall = sum;
    *slope = f->slope - *x * bend;
}

/* ---- the hat */

/* The terms 2 to 7 of Q, without the powers of x, and the largest k. */
enum { TERMS = 6 };
typedef struct rate_series {
    floats q[TERMS], largest;
} rate_series;

ALWAYS_INLINE void series_of(const rate_frames *f, rate_series *s)
{
    for (int j = 0; j < TERMS; j++)
        s->q[j] = FLOATS(0.0f);
    s->largest = FLOATS(0.0f);
    for (uint32_t l = 0; l < f->n; l++) {
        floats k = f->share[l], term = f->missed[l] * k;
        s->largest = CHOOSE_FLOATS(s->largest > k, s->largest, k);
        for (int j = 0; j < TERMS; j++) {
            term *= k;
            s->q[j] += term * FLOATS(1.0f / (float)(j + 2));
        }
    }
}

/* e of the header; 0 where the mode is an end of [0,1], and log f may fall from it by its slope. */
ALWAYS_INLINE void third_term(const rate_frames *f, const rate_series *s, floats *e)
{
    four inner = CHOOSE(f->mode < ALL(LAST_BELOW_1), f->mode, ALL(0.0));
    floats both = f->clicks * f->ratio * f->ratio * f->ratio * FLOATS(1.0f / 3) - s->q[1];
    *e = CHOOSE_FLOATS(TO_FLOATS(CHOOSE(inner > ALL(0.0), ALL(1.0), ALL(0.0))) > FLOATS(0.5f), both,
                       FLOATS(0.0f));
}

/* Where the tangent is, on the side of which e is the third term. */
ALWAYS_INLINE void tangent_place(const floats *e, floats *at)
{
    floats half = *e * FLOATS(0.5f), below = FLOATS(1.0f) - half + half * half;
    *at = CHOOSE_FLOATS(*e > FLOATS(0.0f), FLOATS(1.0f) + half, FLOATS(1.0f) / below);
}

/* One side of the hat: how far it is 1, and its tail. */
typedef struct rate_side {
    floats top, length, slope;
} rate_side;

/* Sign 1 or -1; e as seen from this side; `end` is the distance to the end of [0,1].  The side is 1
 * to the end where that has the smaller area. */
ALWAYS_INLINE void side_of(const rate_frames *f, float sign, const floats *e, const floats *end,
                           rate_side *s)
{
    floats at, fall, slope, zero = FLOATS(0.0f);
    tangent_place(e, &at);
    words inside = at < FLOATS(0.99f) * *end;
    floats x = FLOATS(sign) * CHOOSE_FLOATS(inside, at, zero);
    falls_at(f, &x, &fall, &slope);
    floats steep = zero - FLOATS(sign) * slope;
    inside &= steep > zero;
    steep = CHOOSE_FLOATS(inside, steep, FLOATS(1.0f));
    floats length = FLOATS(1.0f) / steep, top = at + fall * length;
    top = CHOOSE_FLOATS(top > zero, top, zero);
    inside &= top + length < *end;
    s->top = CHOOSE_FLOATS(inside, top, *end);
    s->length = CHOOSE_FLOATS(inside, length, zero);
    s->slope = CHOOSE_FLOATS(inside, steep, FLOATS(RATE_NO_TAIL));
}

ALWAYS_INLINE void store_hats(const rate_frames *f, const rate_series *s, const rate_side *left,
                              const rate_side *right, const floats *high, floats *number)
{
    floats reach = FLOATS(0.75f) / s->largest;
    words limited = (right->length > FLOATS(0.0f)) & (*high < reach);
    number[RATE_WIDTH] = f->width;
    number[RATE_AREA] = left->top + right->top + (left->length + right->length);
    number[RATE_END] = right->top + right->length;
    number[RATE_RIGHT_LENGTH] = right->length;
    number[RATE_LEFT_LENGTH] = left->length;
    number[RATE_RIGHT_SLOPE] = right->slope;
    number[RATE_LEFT_SLOPE] = left->slope;
    number[RATE_CLICKS] = f->clicks;
    number[RATE_RATIO] = f->ratio;
    number[RATE_SLOPE] = f->slope;
    for (int j = 0; j < TERMS - 1; j++)
        number[RATE_Q2 + j] = s->q[j];
    number[RATE_ERROR] = FLOATS(4.0f) * s->q[TERMS - 1];
    number[RATE_REACH] = CHOOSE_FLOATS(limited, *high, reach);
}

ALWAYS_INLINE void hats_of_four(const rate_items *items, const uint32_t *item, size_t n,
                                roots_fn *roots)
{
    rate_counts c;
    rate_frames f;
    rate_series s;
    rate_side left, right;
    floats e, number[RATE_NUMBERS];
    counts_of(items, item, n, &c);
    frames_of(&c, roots, &f);
    series_of(&f, &s);
    third_term(&f, &s, &e);
    floats opposite = FLOATS(0.0f) - e, low = TO_FLOATS(f.mode / TO_FOUR(f.width));
    floats high = TO_FLOATS((ALL(1.0) - f.mode) / TO_FOUR(f.width));
    side_of(&f, -1, &opposite, &low, &left);
    side_of(&f, 1, &e, &high, &right);
    store_hats(&f, &s, &left, &right, &high, number);
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < RATE_NUMBERS; k++)
            items->number[k * items->stride + item[j]] = number[k][j];
        items->mode[item[j]] = f.mode[j];
    }
}

ALWAYS_INLINE void hats_of(const rate_items *items, const uint32_t *item, size_t n, roots_fn *roots)
{
    for (size_t j = 0; j < n; j += TOGETHER)
        hats_of_four(items, item + j, n - j < TOGETHER ? n - j : TOGETHER, roots);
}

/* ---- the versions */

ALWAYS_INLINE void roots_plain(four *x)
{
    for (int i = 0; i < TOGETHER; i++)
        (*x)[i] = sqrt((*x)[i]);
}

void rate_hats_of_plain(const rate_items *items, const uint32_t *item, size_t n)
{
    hats_of(items, item, n, roots_plain);
}

void rate_draws_plain(const oltr_rng *rng, const rate_items *items, const uint32_t *item, size_t n,
                      double *out)
{
    for (uint32_t j = 0; j < n; j++)
        out[j] = rate_draw(rng, items, item ? item[j] : j);
}

#if OLTR_X86
AVX2_INLINE void roots_avx2(four *x)
{
    *x = (four)_mm256_sqrt_pd(*x);
}

TARGET_AVX2 void rate_hats_of_avx2(const rate_items *items, const uint32_t *item, size_t n)
{
    hats_of(items, item, n, roots_avx2);
}
#endif
