/* recalibration_kernels.c - see recalibration_kernels.h.
 *
 * The bodies are written once, in vectors of four doubles, and compiled twice: for any machine, and
 * for AVX2.  Without fused operations every lane rounds alike in both.
 *
 * The logarithm is our own: log(x) = k log 2 + log(m) with sqrt(1/2) <= m < sqrt(2), and
 * log(m) = 2 artanh(t), t = (m - 1) / (m + 1), |t| <= 0.1716, by its series up to t^21, whose
 * remainder is 2e-19.  Its error is below 2 units in the last place.
 */
#include "engine/kernels/table.h"

#include <math.h>
#include <string.h>

#include "engine/kernels/lanes.h"

typedef double four __attribute__((vector_size(32)));
typedef uint64_t four_words __attribute__((vector_size(32)));
typedef float four_floats __attribute__((vector_size(16)));

#define ALL(x) ((four){0} + (x)) /* not for -0.0 */
#define LN2_HIGH 0x1.62e42fefa0000p-1
#define LN2_LOW 0x1.cf79abc9e3b3ap-40
#define SQRT_HALF_BITS 0x3FE6A09E667F3BCDu
#define BIAS 1023

/* A power beyond this would leave the floats once it is multiplied by a logarithm, at most 22.2.
 * Such a draw is 0 or 1 for all purposes; the two powers are lessened by one factor, so that the
 * odds of the one and the other stay right. */
#define LARGEST_POWER 1e36

#define LOAD(to, from) memcpy(&(to), from, sizeof(to))
#define STORE(to, from) memcpy(to, &(from), sizeof(from))

/* Vectors are passed by address, for without AVX there is no settled way to pass them. */
typedef void roots_fn(four *x);
typedef void scales_fn(const grid_scale *scale, four *out);

ALWAYS_INLINE void roots_plain(four *x)
{
    for (int i = 0; i < 4; i++)
        (*x)[i] = sqrt((*x)[i]);
}

ALWAYS_INLINE void scales_plain(const grid_scale *scale, four *out)
{
    four_words bits = {scale[0], scale[1], scale[2], scale[3]};
    *out = (four)(bits << GRID_SCALE_SHIFT);
}

ALWAYS_INLINE void choose(four *out, const four_words *where, const four *yes, const four *no)
{
    *out = (four)(((four_words)*yes & *where) | ((four_words)*no & ~*where));
}

/* x becomes log(x); x is positive, finite and normal. */
ALWAYS_INLINE void logarithms(four *x)
{
    const four_words two52 = (four_words)ALL(0x1p52);
    four_words bits = (four_words)*x;
    four_words k = (bits - SQRT_HALF_BITS + ((uint64_t)BIAS << 52)) >> 52; /* + BIAS */
    four e = ((four)(k + two52) - ALL(0x1p52)) - ALL((double)BIAS);
    four m = (four)(bits - ((k - BIAS) << 52));
    four t = (m - ALL(1.0)) / (m + ALL(1.0)), z = t * t;
    four z2 = z * z, z4 = z2 * z2;
    four p1 = ALL(2.0 / 3) + z * ALL(2.0 / 5), p2 = ALL(2.0 / 7) + z * ALL(2.0 / 9);
    four p3 = ALL(2.0 / 11) + z * ALL(2.0 / 13), p4 = ALL(2.0 / 15) + z * ALL(2.0 / 17);
    four p5 = ALL(2.0 / 19) + z * ALL(2.0 / 21);
    four p = (p1 + z2 * p2) + z4 * ((p3 + z2 * p4) + z4 * p5);
    *x = e * ALL(LN2_HIGH) + ((t + t) + (t * z * p + e * ALL(LN2_LOW)));
}

/* ---- one observation */

/* The told shape of the outcome under each shift, in units of the weight. */
ALWAYS_INLINE void outcome_shapes(const grid_axes *axes, const grid_lesson *l, double tilt,
                                  double *shape)
{
    for (uint32_t s = 0; s < axes->n_shifts; s += GRID_WIDTH) {
        four multiplier;
        LOAD(multiplier, axes->odds + s);
        four b = ALL(l->b) * (multiplier * ALL(tilt));
        four share = ALL(l->a + l->b) / (ALL(l->a) + b);
        four outcome = (l->clicked ? ALL(l->a) : b) * share;
        STORE(shape + s, outcome);
    }
}

/* Kernel: one row of cells; returns their new total. */
ALWAYS_INLINE double observe_row(uint32_t n, double weight, const grid_lesson *l, scales_fn *scales,
                                 const double *shape, double *factor, const grid_scale *scale,
                                 four *least)
{
    const four share = ALL(1 / (weight * (l->a + l->b) + l->examined));
    const four per_shape = ALL(weight) * share, alike = ALL(l->alike) * share;
    four sum = {0};
    for (uint32_t s = 0; s < n; s += GRID_WIDTH) {
        four told, f, c;
        LOAD(told, shape + s);
        LOAD(f, factor + s);
        scales(scale + s, &c);
        f *= per_shape * told + alike;
        STORE(factor + s, f);
        sum += f * c;
        four_words lower = (four_words)(f < *least);
        choose(least, &lower, &f, least);
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

ALWAYS_INLINE double observe(const grid_axes *axes, const grid_lesson *l, scales_fn *scales,
                             double *factor, const grid_scale *scale, double *total)
{
    four least = ALL(HUGE_VAL);
    for (uint32_t r = 0; r < axes->n_slopes; r++) {
        double shape[MOST_SHIFTS];
        outcome_shapes(axes, l, l->tilt[r], shape);
        for (uint32_t w = 0; w < axes->n_weights; w++) {
            *total++ = observe_row(axes->n_shifts, axes->weight[w], l, scales, shape, factor, scale,
                                   &least);
            factor += axes->n_shifts;
            scale += axes->n_shifts;
        }
    }
    double low = least[0] < least[1] ? least[0] : least[1];
    double high = least[2] < least[3] ? least[2] : least[3];
    return low < high ? low : high;
}

/* ---- one cell */

/* Kernel: four items; the odds b : a of the told prior become those of the cell. */
ALWAYS_INLINE void recalibrate_four(const grid_cell *cell, roots_fn *roots, four *a, four *b)
{
    four tilt = ALL(1.0);
    if (cell->slope < 1)
        tilt = *a / *b * ALL(cell->centre);
    if (cell->slope > 0 && cell->slope < 1)
        roots(&tilt);
    four moved = *b * (ALL(cell->odds) * tilt);
    four share = ALL(cell->weight) * (*a + *b) / (*a + moved);
    *a *= share;
    *b = moved * share;
}

ALWAYS_INLINE void add_observations(const four *a0, const four *b0, const double *examined,
                                    const double *clicked, double *a, double *b)
{
    four n, s;
    LOAD(n, examined);
    LOAD(s, clicked);
    four x = *a0 + s, y = *b0 + (n - s);
    STORE(a, x);
    STORE(b, y);
}

/* The last n < 4 items. */
ALWAYS_INLINE void add_last(const four *a0, const four *b0, size_t n, const double *examined,
                            const double *clicked, double *a, double *b)
{
    double last[2][GRID_WIDTH] = {{0}};
    memcpy(last[0], examined, n * sizeof(double));
    memcpy(last[1], clicked, n * sizeof(double));
    add_observations(a0, b0, last[0], last[1], a, b);
}

ALWAYS_INLINE void recalibrate(const grid_cell *cell, roots_fn *roots, size_t n,
                               const told_priors *told, const double *examined,
                               const double *clicked, double *a, double *b)
{
    four x = {0}, y = {0};
    size_t i = 0;
    if (!told->own) {
        x += *told->a;
        y += *told->b;
        recalibrate_four(cell, roots, &x, &y);
    }
    for (; i + GRID_WIDTH <= n; i += GRID_WIDTH) {
        if (told->own) {
            LOAD(x, told->a + i);
            LOAD(y, told->b + i);
            recalibrate_four(cell, roots, &x, &y);
        }
        add_observations(&x, &y, examined + i, clicked + i, a + i, b + i);
    }
    if (i == n)
        return;
    for (size_t j = i; told->own && j < i + GRID_WIDTH; j++) {
        x[j - i] = j < n ? told->a[j] : 1;
        y[j - i] = j < n ? told->b[j] : 1;
    }
    if (told->own)
        recalibrate_four(cell, roots, &x, &y);
    add_last(&x, &y, n - i, examined + i, clicked + i, a + i, b + i);
}

/* ---- the numbers of the sampler */

ALWAYS_INLINE void store_floats(float *to, const four *from)
{
    four_floats rounded = __builtin_convertvector(*from, four_floats);
    STORE(to, rounded);
}

/* d = shape - 1/3, of the shape raised by 1 if it is below 1; and 1 / sqrt(9 d). */
ALWAYS_INLINE void gamma_numbers(const four *shape, roots_fn *roots, four *d, float *c_out,
                                 float *d_out)
{
    four_words below = (four_words)(*shape < ALL(1.0));
    *d = *shape - ALL(1.0 / 3) + (four)((four_words)ALL(1.0) & below);
    four root = ALL(9.0) * *d;
    roots(&root);
    root = ALL(1.0) / root;
    store_floats(c_out, &root);
    store_floats(d_out, d);
}

/* 1 / shape of those below 1, 0 of others. */
ALWAYS_INLINE void powers(const four *shape, const four *least, float *out)
{
    four_words below = (four_words)(*shape < ALL(1.0));
    four_words usual = (four_words)(*least >= ALL(1 / LARGEST_POWER));
    four lessened = *least / *shape * ALL(LARGEST_POWER), power = ALL(1.0) / *shape;
    choose(&power, &usual, &power, &lessened);
    power = (four)((four_words)power & below);
    store_floats(out, &power);
}

ALWAYS_INLINE bool numbers_of_four(const double *a, const double *b, roots_fn *roots, size_t i,
                                   const beta_numbers *out)
{
    four x, y, da, db, least;
    LOAD(x, a + i);
    LOAD(y, b + i);
    gamma_numbers(&x, roots, &da, out->ca + i, out->da + i);
    gamma_numbers(&y, roots, &db, out->cb + i, out->db + i);
    da /= db;
    logarithms(&da);
    store_floats(out->log_da_db + i, &da);
    four_words first = (four_words)(x < y);
    choose(&least, &first, &x, &y);
    four_words below = (four_words)(least < ALL(1.0));
    bool any = (below[0] | below[1] | below[2] | below[3]) != 0;
    if (any) {
        powers(&x, &least, out->pa + i);
        powers(&y, &least, out->pb + i);
    } else {
        memset(out->pa + i, 0, GRID_WIDTH * sizeof(float));
        memset(out->pb + i, 0, GRID_WIDTH * sizeof(float));
    }
    return any;
}

ALWAYS_INLINE bool numbers(const double *a, const double *b, roots_fn *roots, size_t n,
                           const beta_numbers *out)
{
    bool any = false;
    for (size_t i = 0; i < n; i += GRID_WIDTH)
        any |= numbers_of_four(a, b, roots, i, out);
    return any;
}

/* ---- the versions */

double grid_observe_plain(const grid_axes *axes, const grid_lesson *lesson, double *factor,
                          const grid_scale *scale, double *total)
{
    return observe(axes, lesson, scales_plain, factor, scale, total);
}

void recalibrate_items_plain(const grid_cell *cell, size_t n, const told_priors *told,
                             const double *examined, const double *clicked, double *a, double *b)
{
    recalibrate(cell, roots_plain, n, told, examined, clicked, a, b);
}

bool beta_numbers_of_plain(const double *a, const double *b, size_t n, const beta_numbers *out)
{
    return numbers(a, b, roots_plain, n, out);
}

#if OLTR_X86

AVX2_INLINE void roots_avx2(four *x)
{
    *x = (four)_mm256_sqrt_pd(*x);
}

AVX2_INLINE void scales_avx2(const grid_scale *scale, four *out)
{
    __m256i bits = _mm256_cvtepu16_epi64(_mm_loadl_epi64((const __m128i *)(const void *)scale));
    *out = (four)_mm256_slli_epi64(bits, GRID_SCALE_SHIFT);
}

TARGET_AVX2 double grid_observe_avx2(const grid_axes *axes, const grid_lesson *lesson,
                                     double *factor, const grid_scale *scale, double *total)
{
    return observe(axes, lesson, scales_avx2, factor, scale, total);
}

TARGET_AVX2 void recalibrate_items_avx2(const grid_cell *cell, size_t n, const told_priors *told,
                                        const double *examined, const double *clicked, double *a,
                                        double *b)
{
    recalibrate(cell, roots_avx2, n, told, examined, clicked, a, b);
}

TARGET_AVX2 bool beta_numbers_of_avx2(const double *a, const double *b, size_t n,
                                      const beta_numbers *out)
{
    return numbers(a, b, roots_avx2, n, out);
}

#endif
