/* float_math.h - the few functions of one float that the samplers need, exact in every operation
 * they make.
 *
 * Only +, *, /, sqrt and fused multiply-add are used, each correctly rounded on every machine, so
 * the AVX2 kernels, which do the same operations in the same order, return the same bits.  The
 * polynomials are least-maximum fits made for this file, within 4e-8 of the functions; with the
 * rounding of each step the results are within 1.5e-7.
 */
#ifndef OLTR_ENGINE_KERNELS_FLOAT_MATH_H
#define OLTR_ENGINE_KERNELS_FLOAT_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* log(1 + t) = t - t^2/2 + t^3 P(t) for sqrt(1/2) <= 1 + t < sqrt(2); coefficients of P, constant
 * first */
#define LOG_P0 0x1.5556d8p-2f
#define LOG_P1 -0x1.000382p-2f
#define LOG_P2 0x1.98d7f2p-3f
#define LOG_P3 -0x1.53824ap-3f
#define LOG_P4 0x1.317458p-3f
#define LOG_P5 -0x1.2432b8p-3f
#define LOG_P6 0x1.645ea0p-4f
#define LOG_SQRT_HALF_BITS 0x3F3504F3 /* sqrt(1/2) as a float */
#define LOG_LN2 0x1.62e430p-1f
/* sin(pi f / 2) = f S(f^2), cos(pi f / 2) = C(f^2) for |f| <= 1/2 */
#define SIN_0 0x1.921fb6p+0f
#define SIN_1 -0x1.4abbc0p-1f
#define SIN_2 0x1.46605ap-4f
#define SIN_3 -0x1.2dd66ap-8f
#define COS_1 -0x1.3bd392p+0f
#define COS_2 0x1.03af5cp-2f
#define COS_3 -0x1.4e5ed6p-6f
/* Where Marsaglia and Tsang's method accepts without a logarithm: for t = c x > -1/2,
 * 3 log(1+t) - 3t + 3t^2/2 - t^3 >= -(9/7) t^4, and x^2 = 9 d t^2, so u < 1 - (t x)^2 / 7 is
 * enough */
#define SQUEEZE (1.0f / 7)
#define SQUEEZE_FROM -0.5f
/* The interval of t where P holds without range reduction */
#define LOG_T_MIN -0x1.2bec34p-2f
#define LOG_T_MAX 0x1.a827fap-2f

static inline float log_p(float t)
{
    float p = fmaf(LOG_P6, t, LOG_P5);
    p = fmaf(p, t, LOG_P4);
    p = fmaf(p, t, LOG_P3);
    p = fmaf(p, t, LOG_P2);
    p = fmaf(p, t, LOG_P1);
    return fmaf(p, t, LOG_P0);
}

/* Natural logarithm of a positive normal float. */
static inline float log_float(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    int32_t exponent =
        (bits - LOG_SQRT_HALF_BITS) >> 23; /* of x = 2^exponent * m, sqrt(1/2) <= m < sqrt(2) */
    bits -= (int32_t)((uint32_t)exponent << 23);
    float m;
    memcpy(&m, &bits, sizeof m);
    float t = m - 1, square = t * t;
    float log_m = fmaf(log_p(t), t * square, fmaf(-0.5f, square, t));
    return fmaf((float)exponent, LOG_LN2, log_m);
}

/* Uniform on (0,1] with full resolution near 0: the tail of the normals reaches 6.66. */
static inline float uniform_float(uint32_t word)
{
    return fmaf((float)(int32_t)(word >> 1), 0x1p-31f, 0x1p-32f);
}

/* Logarithm of uniform_float(word), which is 1 - uniform_float(~word): as exact near 0 as
 * anywhere. */
static inline float log_uniform_float(uint32_t word)
{
    float t = -uniform_float(~word), square = t * t;
    if (t > LOG_T_MIN)
        return fmaf(log_p(t), t * square, fmaf(-0.5f, square, t));
    return log_float(uniform_float(word));
}

/* A standard Gumbel variable, -log(-log u): from -3.1 to 22.2, where its chance is 2^-32. */
static inline float gumbel_float(uint32_t word)
{
    return -log_float(-log_uniform_float(word));
}

/* Two independent normals from two words (Box and Muller 1958). */
static inline void box_muller(uint32_t word0, uint32_t word1, float *z0, float *z1)
{
    float radius = sqrtf(-2.0f * log_float(uniform_float(word0)));
    int32_t low;
    uint32_t shifted =
        word1 << 2; /* the two top bits are the quadrant, the rest the angle within it */
    memcpy(&low, &shifted, sizeof low);
    float f = (float)low * 0x1p-32f, z = f * f;
    float s = f * fmaf(fmaf(fmaf(SIN_3, z, SIN_2), z, SIN_1), z, SIN_0);
    float c = fmaf(fmaf(fmaf(COS_3, z, COS_2), z, COS_1), z, 1.0f);
    int odd = word1 >> 30 & 1;
    float x = odd ? s : c, y = odd ? c : s;
    *z0 = radius * ((word1 + 0x40000000u) >> 31 ? -x : x);
    *z1 = radius * (word1 >> 31 ? -y : y);
}

#endif
