/* lanes_neon.h - the operations of lanes.h in NEON, which every arm64 has: pairs of 128 bits. */
#ifndef OLTR_ENGINE_KERNELS_LANES_NEON_H
#define OLTR_ENGINE_KERNELS_LANES_NEON_H

#include <arm_neon.h>
#include <stdbool.h>
#include <string.h>

#include "engine/kernels/cpu.h"
#include "engine/kernels/philox.h"

#define VERSION(name) name##_neon
#define LANES_TARGET
#define LANES_INLINE ALWAYS_INLINE

typedef struct f8 {
    float32x4_t a, b;
} f8;
typedef struct w8 {
    uint32x4_t a, b;
} w8;
typedef w8 m8; /* all bits of a lane, or none */
typedef struct d4 {
    float64x2_t a, b;
} d4;
typedef float32x4_t f4;
typedef double d1;

/* An operation of one or two vectors, on both halves. */
#define LANES_1(type, name, op)                                                                    \
    LANES_INLINE type name(type x)                                                                 \
    {                                                                                              \
        return (type){op(x.a), op(x.b)};                                                           \
    }
#define LANES_2(result, type, name, op)                                                            \
    LANES_INLINE result name(type x, type y)                                                       \
    {                                                                                              \
        return (result){op(x.a, y.a), op(x.b, y.b)};                                               \
    }

/* ---- words */

LANES_INLINE w8 w8_all(uint32_t x)
{
    return (w8){vdupq_n_u32(x), vdupq_n_u32(x)};
}

LANES_INLINE w8 w8_load(const uint32_t *x)
{
    return (w8){vld1q_u32(x), vld1q_u32(x + 4)};
}

LANES_INLINE void w8_store(uint32_t *x, w8 v)
{
    vst1q_u32(x, v.a);
    vst1q_u32(x + 4, v.b);
}

LANES_INLINE w8 w8_count(void) /* 0, 1, ..., 7 */
{
    static const uint32_t count[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    return w8_load(count);
}

LANES_2(w8, w8, w8_add, vaddq_u32)
LANES_2(w8, w8, w8_sub, vsubq_u32)
LANES_2(w8, w8, w8_and, vandq_u32)
LANES_2(w8, w8, w8_xor, veorq_u32)

LANES_INLINE w8 w8_max_signed(w8 x, w8 y)
{
    return (w8){
        vreinterpretq_u32_s32(vmaxq_s32(vreinterpretq_s32_u32(x.a), vreinterpretq_s32_u32(y.a))),
        vreinterpretq_u32_s32(vmaxq_s32(vreinterpretq_s32_u32(x.b), vreinterpretq_s32_u32(y.b)))};
}

/* Shifts by a constant. */
LANES_INLINE w8 w8_left(w8 x, int n)
{
    return (w8){vshlq_u32(x.a, vdupq_n_s32(n)), vshlq_u32(x.b, vdupq_n_s32(n))};
}

LANES_INLINE w8 w8_right(w8 x, int n)
{
    return w8_left(x, -n);
}

LANES_INLINE w8 w8_right_signed(w8 x, int n)
{
    return (w8){vreinterpretq_u32_s32(vshlq_s32(vreinterpretq_s32_u32(x.a), vdupq_n_s32(-n))),
                vreinterpretq_u32_s32(vshlq_s32(vreinterpretq_s32_u32(x.b), vdupq_n_s32(-n)))};
}

/* The high and the low words of the products of 64 bits with a constant. */
typedef struct products {
    w8 high, low;
} products;

LANES_INLINE products w8_multiply(w8 x, uint32_t by)
{
    const uint32x4_t m = vdupq_n_u32(by);
    uint32x4_t a0 = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(x.a), vget_low_u32(m)));
    uint32x4_t a1 = vreinterpretq_u32_u64(vmull_high_u32(x.a, m));
    uint32x4_t b0 = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(x.b), vget_low_u32(m)));
    uint32x4_t b1 = vreinterpretq_u32_u64(vmull_high_u32(x.b, m));
    return (products){{vuzp2q_u32(a0, a1), vuzp2q_u32(b0, b1)},
                      {vuzp1q_u32(a0, a1), vuzp1q_u32(b0, b1)}};
}

/* Philox4x32-10 of eight counters c, in place. */
LANES_INLINE void philox8(w8 c[4], uint32_t k0, uint32_t k1)
{
    for (uint32_t i = 0; i < PHILOX_ROUNDS; i++, k0 += PHILOX_W0, k1 += PHILOX_W1) {
        products p0 = w8_multiply(c[0], PHILOX_M0), p1 = w8_multiply(c[2], PHILOX_M1);
        c[0] = w8_xor(p1.high, w8_xor(c[1], w8_all(k0)));
        c[2] = w8_xor(p0.high, w8_xor(c[3], w8_all(k1)));
        c[1] = p1.low;
        c[3] = p0.low;
    }
}

/* ---- floats */

LANES_INLINE f8 f8_all(float x)
{
    return (f8){vdupq_n_f32(x), vdupq_n_f32(x)};
}

LANES_INLINE f8 f8_load(const float *x)
{
    return (f8){vld1q_f32(x), vld1q_f32(x + 4)};
}

LANES_INLINE void f8_store(float *x, f8 v)
{
    vst1q_f32(x, v.a);
    vst1q_f32(x + 4, v.b);
}

/* The first n < 8, the others being 0 and not read. */
LANES_INLINE f8 f8_load_first(const float *x, size_t n)
{
    float y[8] = {0};
    memcpy(y, x, n * sizeof *x);
    return f8_load(y);
}

LANES_INLINE f8 f8_gather(const float *x, w8 i)
{
    uint32_t at[8];
    float y[8];
    w8_store(at, i);
    for (int l = 0; l < 8; l++)
        y[l] = x[at[l]];
    return f8_load(y);
}

LANES_INLINE f8 f8_of_signed(w8 x)
{
    return (f8){vcvtq_f32_s32(vreinterpretq_s32_u32(x.a)),
                vcvtq_f32_s32(vreinterpretq_s32_u32(x.b))};
}

LANES_INLINE f8 f8_of_bits(w8 x)
{
    return (f8){vreinterpretq_f32_u32(x.a), vreinterpretq_f32_u32(x.b)};
}

LANES_INLINE w8 f8_bits(f8 x)
{
    return (w8){vreinterpretq_u32_f32(x.a), vreinterpretq_u32_f32(x.b)};
}

LANES_2(f8, f8, f8_add, vaddq_f32)
LANES_2(f8, f8, f8_sub, vsubq_f32)
LANES_2(f8, f8, f8_mul, vmulq_f32)
LANES_2(f8, f8, f8_div, vdivq_f32)
LANES_1(f8, f8_sqrt, vsqrtq_f32)
LANES_1(f8, f8_neg, vnegq_f32)

LANES_INLINE f8 f8_fma(f8 x, f8 y, f8 z) /* x y + z */
{
    return (f8){vfmaq_f32(z.a, x.a, y.a), vfmaq_f32(z.b, x.b, y.b)};
}

LANES_INLINE f8 f8_fms(f8 x, f8 y, f8 z) /* x y - z */
{
    return f8_fma(x, y, f8_neg(z));
}

LANES_2(f8, f8, f8_max, vmaxq_f32)
LANES_2(f8, f8, f8_min, vminq_f32)
LANES_2(m8, f8, f8_greater, vcgtq_f32)
LANES_2(m8, f8, f8_equal, vceqq_f32)
LANES_2(m8, f8, f8_reaches, vcgeq_f32)

/* Every lane's neighbour at a distance of 1, 2 or 4. */
LANES_1(f8, f8_swap_1, vrev64q_f32)

LANES_INLINE f8 f8_swap_2(f8 x)
{
    return (f8){vextq_f32(x.a, x.a, 2), vextq_f32(x.b, x.b, 2)};
}

LANES_INLINE f8 f8_swap_4(f8 x)
{
    return (f8){x.b, x.a};
}

LANES_INLINE float f8_largest(f8 x)
{
    return vmaxvq_f32(vmaxq_f32(x.a, x.b));
}

LANES_INLINE float f8_least(f8 x)
{
    return vminvq_f32(vminq_f32(x.a, x.b));
}

LANES_INLINE w8 m8_words(m8 x) /* all bits of a lane, or none */
{
    return x;
}

LANES_INLINE m8 m8_of_signs(w8 x) /* the lanes whose highest bit is set */
{
    return (m8){vcltzq_s32(vreinterpretq_s32_u32(x.a)), vcltzq_s32(vreinterpretq_s32_u32(x.b))};
}

LANES_INLINE m8 m8_and(m8 x, m8 y)
{
    return w8_and(x, y);
}

LANES_2(m8, m8, m8_or, vorrq_u32)

LANES_INLINE f8 f8_select(m8 where, f8 yes, f8 no)
{
    return (f8){vbslq_f32(where.a, yes.a, no.a), vbslq_f32(where.b, yes.b, no.b)};
}

LANES_INLINE uint32_t m8_bits(m8 x) /* bit i: lane i */
{
    static const uint32_t bit[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    w8 set = w8_and(x, w8_load(bit));
    return vaddvq_u32(vorrq_u32(set.a, set.b));
}

/* ---- four floats, four doubles */

LANES_INLINE f4 f4_all(float x)
{
    return vdupq_n_f32(x);
}

LANES_INLINE f4 f4_load(const float *x)
{
    return vld1q_f32(x);
}

LANES_INLINE void f4_store(float *x, f4 v)
{
    vst1q_f32(x, v);
}

/* The first n <= 4, the others being 0 and not read, or not written. */
LANES_INLINE f4 f4_load_first(const float *x, size_t n)
{
    float y[4] = {0};
    memcpy(y, x, n * sizeof *x);
    return f4_load(y);
}

LANES_INLINE void f4_store_first(float *x, f4 v, size_t n)
{
    float y[4];
    f4_store(y, v);
    memcpy(x, y, n * sizeof *x);
}

LANES_INLINE f4 f4_mul(f4 x, f4 y)
{
    return vmulq_f32(x, y);
}

LANES_INLINE d4 d4_of_floats(f4 x)
{
    return (d4){vcvt_f64_f32(vget_low_f32(x)), vcvt_high_f64_f32(x)};
}

LANES_INLINE d4 d4_all(double x)
{
    return (d4){vdupq_n_f64(x), vdupq_n_f64(x)};
}

LANES_INLINE d4 d4_load(const double *x)
{
    return (d4){vld1q_f64(x), vld1q_f64(x + 2)};
}

LANES_INLINE void d4_store(double *x, d4 v)
{
    vst1q_f64(x, v.a);
    vst1q_f64(x + 2, v.b);
}

/* The first n of four, those from n on being 0 and not read; n may be more than 4. */
LANES_INLINE d4 d4_load_first(const double *x, size_t n)
{
    double y[4] = {0};
    if (n >= 4)
        return d4_load(x);
    memcpy(y, x, n * sizeof *x);
    return d4_load(y);
}

LANES_INLINE d4 d4_load_pairs(const double *x, size_t n)
{
    return d4_load_first(x, n);
}

LANES_INLINE d4 d4_load_masked(const double *x, size_t n)
{
    return d4_load_first(x, n);
}

LANES_INLINE void d4_store_first(double *x, d4 v, size_t n)
{
    double y[4];
    d4_store(y, v);
    memcpy(x, y, (n < 4 ? n : 4) * sizeof *x);
}

LANES_2(d4, d4, d4_add, vaddq_f64)

LANES_INLINE d4 d4_fma(d4 x, d4 y, d4 z) /* x y + z */
{
    return (d4){vfmaq_f64(z.a, x.a, y.a), vfmaq_f64(z.b, x.b, y.b)};
}

LANES_2(d4, d4, d4_sub, vsubq_f64)
LANES_2(d4, d4, d4_mul, vmulq_f64)
LANES_2(d4, d4, d4_div, vdivq_f64)
LANES_1(d4, d4_sqrt, vsqrtq_f64)

LANES_INLINE d4 d4_fnma(d4 x, d4 y, d4 z) /* z - x y */
{
    return (d4){vfmsq_f64(z.a, x.a, y.a), vfmsq_f64(z.b, x.b, y.b)};
}

LANES_INLINE uint64x2_t d2_bits(float64x2_t x)
{
    return vreinterpretq_u64_f64(x);
}

LANES_INLINE d4 d4_or(d4 x, d4 y) /* of the bits */
{
    return (d4){vreinterpretq_f64_u64(vorrq_u64(d2_bits(x.a), d2_bits(y.a))),
                vreinterpretq_f64_u64(vorrq_u64(d2_bits(x.b), d2_bits(y.b)))};
}

LANES_INLINE bool d4_is_zero(d4 x) /* all bits */
{
    uint64x2_t any = vorrq_u64(d2_bits(x.a), d2_bits(x.b));
    return (vgetq_lane_u64(any, 0) | vgetq_lane_u64(any, 1)) == 0;
}

LANES_INLINE double d4_lane_0(d4 x)
{
    return vgetq_lane_f64(x.a, 0);
}

LANES_INLINE d1 d1_load(const double *x)
{
    return *x;
}

LANES_INLINE void d1_store(double *x, d1 v)
{
    *x = v;
}

LANES_INLINE d1 d1_fma(d1 x, d1 y, d1 z)
{
    return __builtin_fma(x, y, z);
}

/* Lane i, a constant, in all four. */
LANES_INLINE d4 d4_lane(d4 x, int i)
{
    float64x2_t half = i < 2 ? x.a : x.b;
    half = i % 2 ? vdupq_laneq_f64(half, 1) : vdupq_laneq_f64(half, 0);
    return (d4){half, half};
}

/* The lanes above or below i, a constant, from the second argument, the others from `rest`. */
LANES_INLINE d4 d4_above(d4 rest, d4 above, int i)
{
    return i == 0   ? (d4){vcopyq_laneq_f64(above.a, 0, rest.a, 0), above.b}
           : i == 1 ? (d4){rest.a, above.b}
           : i == 2 ? (d4){rest.a, vcopyq_laneq_f64(above.b, 0, rest.b, 0)}
                    : rest;
}

LANES_INLINE d4 d4_below(d4 rest, d4 below, int i)
{
    return i == 3   ? (d4){below.a, vcopyq_laneq_f64(below.b, 1, rest.b, 1)}
           : i == 2 ? (d4){below.a, rest.b}
           : i == 1 ? (d4){vcopyq_laneq_f64(below.a, 1, rest.a, 1), rest.b}
                    : rest;
}

/* Zeros in the lanes from n on, or in those before. */
LANES_INLINE d4 d4_only_first(d4 x, size_t n)
{
    double y[4];
    d4_store(y, x);
    return d4_load_first(y, n);
}

LANES_INLINE d4 d4_without_first(d4 x, size_t n)
{
    double y[4];
    d4_store(y, x);
    memset(y, 0, n * sizeof *y);
    return d4_load(y);
}

/* Four vectors, each to the sum of its lanes, (0 + 1) + (2 + 3). */
LANES_INLINE d4 d4_sums(d4 x, d4 y, d4 z, d4 w)
{
    return (d4){vaddq_f64(vpaddq_f64(x.a, y.a), vpaddq_f64(x.b, y.b)),
                vaddq_f64(vpaddq_f64(z.a, w.a), vpaddq_f64(z.b, w.b))};
}

LANES_INLINE void d4_transpose(d4 m[4])
{
    d4 t[4] = {{vzip1q_f64(m[0].a, m[1].a), vzip1q_f64(m[2].a, m[3].a)},
               {vzip2q_f64(m[0].a, m[1].a), vzip2q_f64(m[2].a, m[3].a)},
               {vzip1q_f64(m[0].b, m[1].b), vzip1q_f64(m[2].b, m[3].b)},
               {vzip2q_f64(m[0].b, m[1].b), vzip2q_f64(m[2].b, m[3].b)}};
    memcpy(m, t, sizeof t);
}

LANES_2(d4, d4, d4_max, vmaxq_f64)
LANES_2(d4, d4, d4_min, vminq_f64)

LANES_INLINE d4 d4_swap_1(d4 x)
{
    return (d4){vextq_f64(x.a, x.a, 1), vextq_f64(x.b, x.b, 1)};
}

LANES_INLINE d4 d4_swap_2(d4 x)
{
    return (d4){x.b, x.a};
}

LANES_INLINE double d4_largest(d4 x)
{
    return vmaxvq_f64(vmaxq_f64(x.a, x.b));
}

/* Bit i: the bits of lane i are set. */
LANES_INLINE uint32_t bits_of_lanes(uint64x2_t a, uint64x2_t b)
{
    return (uint32_t)((vgetq_lane_u64(a, 0) & 1) | (vgetq_lane_u64(a, 1) & 2) |
                      (vgetq_lane_u64(b, 0) & 4) | (vgetq_lane_u64(b, 1) & 8));
}

LANES_INLINE uint32_t d4_equal_bits(d4 x, d4 y) /* bit i: lanes i are equal */
{
    return bits_of_lanes(vceqq_f64(x.a, y.a), vceqq_f64(x.b, y.b));
}

LANES_INLINE uint32_t d4_reaches_bits(d4 x, d4 y) /* bit i: lane i of x is at least that of y */
{
    return bits_of_lanes(vcgeq_f64(x.a, y.a), vcgeq_f64(x.b, y.b));
}

LANES_INLINE double d4_sum(d4 x) /* (0 + 1) + (2 + 3) */
{
    return vpaddd_f64(x.a) + vpaddd_f64(x.b);
}

#endif
