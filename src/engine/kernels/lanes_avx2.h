/* lanes_avx2.h - the operations of lanes.h in AVX2. */
#ifndef OLTR_ENGINE_KERNELS_LANES_AVX2_H
#define OLTR_ENGINE_KERNELS_LANES_AVX2_H

#include <immintrin.h>

#include "engine/kernels/cpu.h"
#include "engine/kernels/philox.h"

#define VERSION(name) name##_avx2
#define LANES_TARGET TARGET_AVX2
#define LANES_INLINE AVX2_INLINE

typedef __m256 f8;
typedef __m256i w8;
typedef __m256 m8;
typedef __m256d d4;
typedef __m128 f4;
typedef __m128d d1; /* one double: compilers convert a plain one back and forth */

/* An operation of one, two or three vectors. */
#define LANES_1(type, name, op)                                                                    \
    LANES_INLINE type name(type x)                                                                 \
    {                                                                                              \
        return op(x);                                                                              \
    }
#define LANES_2(result, type, name, op)                                                            \
    LANES_INLINE result name(type a, type b)                                                       \
    {                                                                                              \
        return op(a, b);                                                                           \
    }
#define LANES_3(type, name, op)                                                                    \
    LANES_INLINE type name(type a, type b, type c)                                                 \
    {                                                                                              \
        return op(a, b, c);                                                                        \
    }

/* ---- words */

LANES_INLINE w8 w8_all(uint32_t x)
{
    return _mm256_set1_epi32((int)x);
}

LANES_INLINE w8 w8_count(void) /* 0, 1, ..., 7 */
{
    return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}

LANES_INLINE w8 w8_load(const uint32_t *x)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)x);
}

LANES_INLINE void w8_store(uint32_t *x, w8 v)
{
    _mm256_storeu_si256((__m256i *)(void *)x, v);
}

LANES_2(w8, w8, w8_add, _mm256_add_epi32)
LANES_2(w8, w8, w8_sub, _mm256_sub_epi32)
LANES_2(w8, w8, w8_and, _mm256_and_si256)
LANES_2(w8, w8, w8_max_signed, _mm256_max_epi32)
LANES_2(w8, w8, w8_xor, _mm256_xor_si256)

/* Shifts by a constant. */
#define w8_left(x, n) _mm256_slli_epi32(x, n)
#define w8_right(x, n) _mm256_srli_epi32(x, n)
#define w8_right_signed(x, n) _mm256_srai_epi32(x, n)

/* The high and the low words of the products of 64 bits with a constant. */
typedef struct products {
    w8 high, low;
} products;

LANES_INLINE products w8_multiply(w8 x, uint32_t by)
{
    const w8 m = w8_all(by);
    w8 even = _mm256_mul_epu32(x, m), odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), m);
    return (products){_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA),
                      _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA)};
}

/* Philox4x32-10 of eight counters c, in place; c[1] and c[3] are the same in all lanes.  Even and
 * odd lanes go apart, each word in the low half of 64 bits, where the 32x32->64 multiplication
 * needs it; the high halves are never read. */
LANES_INLINE void philox8(w8 c[4], uint32_t key0, uint32_t key1)
{
    const w8 m0 = w8_all(PHILOX_M0), m1 = w8_all(PHILOX_M1);
    const w8 step0 = w8_all(PHILOX_W0), step1 = w8_all(PHILOX_W1);
    w8 e0 = c[0], e1 = c[1], e2 = c[2], e3 = c[3], k0 = w8_all(key0), k1 = w8_all(key1);
    w8 o0 = _mm256_srli_epi64(e0, 32), o1 = e1, o2 = _mm256_srli_epi64(e2, 32), o3 = e3;
    for (uint32_t i = 0; i < PHILOX_ROUNDS; i++) {
        w8 pe0 = _mm256_mul_epu32(e0, m0), pe1 = _mm256_mul_epu32(e2, m1);
        w8 po0 = _mm256_mul_epu32(o0, m0), po1 = _mm256_mul_epu32(o2, m1);
        e0 = w8_xor(_mm256_srli_epi64(pe1, 32), w8_xor(e1, k0));
        o0 = w8_xor(_mm256_srli_epi64(po1, 32), w8_xor(o1, k0));
        e2 = w8_xor(_mm256_srli_epi64(pe0, 32), w8_xor(e3, k1));
        o2 = w8_xor(_mm256_srli_epi64(po0, 32), w8_xor(o3, k1));
        e1 = pe1;
        o1 = po1;
        e3 = pe0;
        o3 = po0;
        k0 = w8_add(k0, step0);
        k1 = w8_add(k1, step1);
    }
    c[0] = _mm256_blend_epi32(e0, _mm256_slli_epi64(o0, 32), 0xAA);
    c[1] = _mm256_blend_epi32(e1, _mm256_slli_epi64(o1, 32), 0xAA);
    c[2] = _mm256_blend_epi32(e2, _mm256_slli_epi64(o2, 32), 0xAA);
    c[3] = _mm256_blend_epi32(e3, _mm256_slli_epi64(o3, 32), 0xAA);
}

/* ---- floats */

LANES_INLINE f8 f8_all(float x)
{
    return _mm256_set1_ps(x);
}

LANES_INLINE f8 f8_load(const float *x)
{
    return _mm256_loadu_ps(x);
}

LANES_INLINE void f8_store(float *x, f8 v)
{
    _mm256_storeu_ps(x, v);
}

/* The first n < 8, the others being 0 and not read. */
LANES_INLINE f8 f8_load_first(const float *x, size_t n)
{
    return _mm256_maskload_ps(x, _mm256_cmpgt_epi32(w8_all((uint32_t)n), w8_count()));
}

LANES_INLINE f8 f8_gather(const float *x, w8 i)
{
    return _mm256_i32gather_ps(x, i, sizeof *x);
}

LANES_INLINE f8 f8_of_signed(w8 x)
{
    return _mm256_cvtepi32_ps(x);
}

LANES_INLINE f8 f8_of_bits(w8 x)
{
    return _mm256_castsi256_ps(x);
}

LANES_INLINE w8 f8_bits(f8 x)
{
    return _mm256_castps_si256(x);
}

LANES_2(f8, f8, f8_add, _mm256_add_ps)
LANES_2(f8, f8, f8_sub, _mm256_sub_ps)
LANES_2(f8, f8, f8_mul, _mm256_mul_ps)
LANES_2(f8, f8, f8_div, _mm256_div_ps)
LANES_1(f8, f8_sqrt, _mm256_sqrt_ps)
LANES_3(f8, f8_fma, _mm256_fmadd_ps) /* a b + c */
LANES_3(f8, f8_fms, _mm256_fmsub_ps) /* a b - c */

LANES_INLINE f8 f8_neg(f8 x)
{
    return _mm256_xor_ps(x, _mm256_set1_ps(-0.0f));
}

LANES_2(f8, f8, f8_max, _mm256_max_ps)
LANES_2(f8, f8, f8_min, _mm256_min_ps)

LANES_INLINE m8 f8_greater(f8 a, f8 b)
{
    return _mm256_cmp_ps(a, b, _CMP_GT_OQ);
}

LANES_INLINE m8 f8_equal(f8 a, f8 b)
{
    return _mm256_cmp_ps(a, b, _CMP_EQ_OQ);
}

LANES_INLINE m8 f8_reaches(f8 a, f8 b) /* a >= b */
{
    return _mm256_cmp_ps(a, b, _CMP_GE_OQ);
}

/* Every lane's neighbour at a distance of 1, 2 or 4. */
LANES_INLINE f8 f8_swap_1(f8 x)
{
    return _mm256_permute_ps(x, 0xB1);
}

LANES_INLINE f8 f8_swap_2(f8 x)
{
    return _mm256_permute_ps(x, 0x4E);
}

LANES_INLINE f8 f8_swap_4(f8 x)
{
    return _mm256_permute2f128_ps(x, x, 1);
}

LANES_INLINE float f8_largest(f8 x)
{
    __m128 h = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    h = _mm_max_ps(h, _mm_movehl_ps(h, h));
    return _mm_cvtss_f32(_mm_max_ss(h, _mm_movehdup_ps(h)));
}

LANES_INLINE float f8_least(f8 x)
{
    __m128 h = _mm_min_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    h = _mm_min_ps(h, _mm_movehl_ps(h, h));
    return _mm_cvtss_f32(_mm_min_ss(h, _mm_movehdup_ps(h)));
}

LANES_INLINE w8 m8_words(m8 x) /* all bits of a lane, or none */
{
    return _mm256_castps_si256(x);
}

LANES_INLINE m8 m8_of_signs(w8 x) /* the lanes whose highest bit is set */
{
    return _mm256_castsi256_ps(x);
}

LANES_2(m8, m8, m8_and, _mm256_and_ps)
LANES_2(m8, m8, m8_or, _mm256_or_ps)

LANES_INLINE f8 f8_select(m8 where, f8 yes, f8 no)
{
    return _mm256_blendv_ps(no, yes, where);
}

LANES_INLINE uint32_t m8_bits(m8 x) /* bit i: lane i */
{
    return (uint32_t)_mm256_movemask_ps(x);
}

/* ---- four floats, four doubles */

LANES_INLINE f4 f4_all(float x)
{
    return _mm_set1_ps(x);
}

LANES_INLINE f4 f4_load(const float *x)
{
    return _mm_loadu_ps(x);
}

LANES_INLINE void f4_store(float *x, f4 v)
{
    _mm_storeu_ps(x, v);
}

LANES_INLINE __m128i f4_first(size_t n)
{
    static const int32_t lanes[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
    return _mm_loadu_si128((const __m128i *)(const void *)(lanes + 4 - n));
}

/* The first n <= 4, the others being 0 and not read, or not written. */
LANES_INLINE f4 f4_load_first(const float *x, size_t n)
{
    return _mm_maskload_ps(x, f4_first(n));
}

LANES_INLINE void f4_store_first(float *x, f4 v, size_t n)
{
    _mm_maskstore_ps(x, f4_first(n), v);
}

LANES_INLINE f4 f4_mul(f4 a, f4 b)
{
    return _mm_mul_ps(a, b);
}

LANES_INLINE d4 d4_of_floats(f4 x)
{
    return _mm256_cvtps_pd(x);
}

LANES_INLINE d4 d4_all(double x)
{
    return _mm256_set1_pd(x);
}

LANES_INLINE d4 d4_load(const double *x)
{
    return _mm256_loadu_pd(x);
}

LANES_INLINE void d4_store(double *x, d4 v)
{
    _mm256_storeu_pd(x, v);
}

/* The first n of four, those from n on being 0 and not read; n may be more than 4.  In pieces and
 * not under a mask: short vectors are read a moment after they were written, and a processor hands
 * a store to the next load before it is in the cache only if neither has a mask and the load is no
 * longer than the store. */
LANES_INLINE d4 d4_load_first(const double *x, size_t n)
{
    if (n >= 4)
        return _mm256_loadu_pd(x);
    __m128d low = n == 0 ? _mm_setzero_pd() : n == 1 ? _mm_load_sd(x) : _mm_loadu_pd(x);
    __m128d high = n == 3 ? _mm_load_sd(x + 2) : _mm_setzero_pd();
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}

/* The same for what code outside the kernels has just written, which it does in pairs. */
LANES_INLINE d4 d4_load_pairs(const double *x, size_t n)
{
    if (n < 4)
        return d4_load_first(x, n);
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(x)), _mm_loadu_pd(x + 2), 1);
}

/* The same under a mask: without a branch, for what was written long ago. */
LANES_INLINE d4 d4_load_masked(const double *x, size_t n)
{
    return _mm256_maskload_pd(x, _mm256_cvtepi32_epi64(f4_first(n)));
}

LANES_INLINE void d4_store_first(double *x, d4 v, size_t n)
{
    const __m128d low = _mm256_castpd256_pd128(v);
    if (n >= 4)
        _mm256_storeu_pd(x, v);
    else if (n == 1)
        _mm_store_sd(x, low);
    else if (n >= 2)
        _mm_storeu_pd(x, low);
    if (n == 3)
        _mm_store_sd(x + 2, _mm256_extractf128_pd(v, 1));
}

LANES_2(d4, d4, d4_add, _mm256_add_pd)
LANES_3(d4, d4_fma, _mm256_fmadd_pd) /* a b + c */
LANES_2(d4, d4, d4_sub, _mm256_sub_pd)
LANES_2(d4, d4, d4_mul, _mm256_mul_pd)
LANES_2(d4, d4, d4_div, _mm256_div_pd)
LANES_1(d4, d4_sqrt, _mm256_sqrt_pd)
LANES_3(d4, d4_fnma, _mm256_fnmadd_pd) /* c - a b */

LANES_INLINE d4 d4_or(d4 a, d4 b) /* of the bits */
{
    return _mm256_or_pd(a, b);
}

LANES_INLINE bool d4_is_zero(d4 x) /* all bits */
{
    return _mm256_testz_si256(_mm256_castpd_si256(x), _mm256_castpd_si256(x));
}

LANES_INLINE double d4_lane_0(d4 x)
{
    return _mm256_cvtsd_f64(x);
}

LANES_INLINE d1 d1_load(const double *x)
{
    return _mm_load_sd(x);
}

LANES_INLINE void d1_store(double *x, d1 v)
{
    _mm_store_sd(x, v);
}

LANES_3(d1, d1_fma, _mm_fmadd_sd)

/* Lane i, a constant, in all four. */
LANES_INLINE d4 d4_lane(d4 x, int i)
{
    return i == 0   ? _mm256_permute4x64_pd(x, 0x00)
           : i == 1 ? _mm256_permute4x64_pd(x, 0x55)
           : i == 2 ? _mm256_permute4x64_pd(x, 0xAA)
                    : _mm256_permute4x64_pd(x, 0xFF);
}

/* The lanes above or below i, a constant, from the second argument, the others from `rest`. */
LANES_INLINE d4 d4_above(d4 rest, d4 above, int i)
{
    return i == 0   ? _mm256_blend_pd(rest, above, 0xE)
           : i == 1 ? _mm256_blend_pd(rest, above, 0xC)
           : i == 2 ? _mm256_blend_pd(rest, above, 0x8)
                    : rest;
}

LANES_INLINE d4 d4_below(d4 rest, d4 below, int i)
{
    return i == 3   ? _mm256_blend_pd(rest, below, 0x7)
           : i == 2 ? _mm256_blend_pd(rest, below, 0x3)
           : i == 1 ? _mm256_blend_pd(rest, below, 0x1)
                    : rest;
}

LANES_INLINE __m256d d4_first(size_t n)
{
    static const int64_t lanes[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
    return _mm256_castsi256_pd(_mm256_loadu_si256((const __m256i *)(const void *)(lanes + 4 - n)));
}

/* Zeros in the lanes from n on, or in those before. */
LANES_INLINE d4 d4_only_first(d4 x, size_t n)
{
    return _mm256_and_pd(d4_first(n), x);
}

LANES_INLINE d4 d4_without_first(d4 x, size_t n)
{
    return _mm256_andnot_pd(d4_first(n), x);
}

/* Four vectors, each to the sum of its lanes, (0 + 1) + (2 + 3). */
LANES_INLINE d4 d4_sums(d4 a, d4 b, d4 c, d4 d)
{
    d4 ab = _mm256_hadd_pd(a, b), cd = _mm256_hadd_pd(c, d);
    return _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20),
                         _mm256_permute2f128_pd(ab, cd, 0x31));
}

LANES_INLINE void d4_transpose(d4 m[4])
{
    d4 a = _mm256_unpacklo_pd(m[0], m[1]), b = _mm256_unpackhi_pd(m[0], m[1]);
    d4 c = _mm256_unpacklo_pd(m[2], m[3]), d = _mm256_unpackhi_pd(m[2], m[3]);
    m[0] = _mm256_permute2f128_pd(a, c, 0x20);
    m[1] = _mm256_permute2f128_pd(b, d, 0x20);
    m[2] = _mm256_permute2f128_pd(a, c, 0x31);
    m[3] = _mm256_permute2f128_pd(b, d, 0x31);
}

LANES_2(d4, d4, d4_max, _mm256_max_pd)
LANES_2(d4, d4, d4_min, _mm256_min_pd)

LANES_INLINE d4 d4_swap_1(d4 x)
{
    return _mm256_permute_pd(x, 5);
}

LANES_INLINE d4 d4_swap_2(d4 x)
{
    return _mm256_permute2f128_pd(x, x, 1);
}

LANES_INLINE double d4_largest(d4 x)
{
    __m128d h = _mm_max_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_max_sd(h, _mm_unpackhi_pd(h, h)));
}

LANES_INLINE uint32_t d4_equal_bits(d4 a, d4 b) /* bit i: lanes i are equal */
{
    return (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_EQ_OQ));
}

LANES_INLINE uint32_t d4_reaches_bits(d4 a, d4 b) /* bit i: lane i of a is at least that of b */
{
    return (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GE_OQ));
}

LANES_INLINE double d4_sum(d4 x) /* (0 + 1) + (2 + 3) */
{
    d4 pairs = _mm256_hadd_pd(x, x);
    return _mm_cvtsd_f64(
        _mm_add_sd(_mm256_castpd256_pd128(pairs), _mm256_extractf128_pd(pairs, 1)));
}

#endif
