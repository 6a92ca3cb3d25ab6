/* sample_avx512.c - the normals of all items, 32 at a time.  The same operations in the same order as sample.c and
 * float_math.h, so the same bits; tests/unit/kernels.c compares them.
 *
 * Eight counters fill the 64-bit halves of one vector as the 32x32->64 multiplication wants them; Box and Muller then take the 16 pairs
 * of words at once.
 */
#include "rng/sample.h"

#include "base/cpu.h"

#if OLTR_HAVE_AVX512

#include <immintrin.h>

#include "rng/float_math.h"
#include "rng/philox.h"

#define KERNEL OLTR_TARGET_AVX512 static inline __attribute__((always_inline))

enum { XOR3 = 0x96, XOR_OF_AND = 0x78 }; /* a ^ b ^ c and a ^ (b & c), as tables of eight bits */

KERNEL __m512i splat_word(uint32_t x)
{
    return _mm512_set1_epi32((int)x);
}

KERNEL __m512 splat(float x)
{
    return _mm512_set1_ps(x);
}

/* The keys of the ten rounds, made at once; a round takes its own from memory. */
typedef struct round_keys {
    _Alignas(64) uint32_t k0[16], k1[16];
} round_keys;

KERNEL round_keys keys_of(const oltr_rng *rng)
{
    const __m512i round = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    round_keys k;
    _mm512_store_si512(k.k0,
                       _mm512_add_epi32(splat_word(rng->key[0]), _mm512_mullo_epi32(round, splat_word(PHILOX_W0))));
    _mm512_store_si512(k.k1,
                       _mm512_add_epi32(splat_word(rng->key[1]), _mm512_mullo_epi32(round, splat_word(PHILOX_W1))));
    __asm__("" : "+m"(k)); /* in memory they cost nothing; compilers take them apart into registers they do not have */
    return k;
}

/* Where the words of the positions 0..7 are made: position, round, purpose 0, stream; the high halves are never read. */
typedef struct counters {
    __m512i position, round, purpose, stream;
} counters;

KERNEL counters counters_of(const oltr_rng *rng)
{
    return (counters){_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), splat_word(rng->counter[1]),
                      splat_word(rng->counter[2] & 0xFFFF0000u), splat_word(rng->counter[3])};
}

/* One step of Philox for eight counters. */
KERNEL void philox_step(__m512i c[4], __m512i m0, __m512i m1, __m512i k0, __m512i k1)
{
    __m512i p0 = _mm512_mul_epu32(c[0], m0), p1 = _mm512_mul_epu32(c[2], m1);
    c[0] = _mm512_ternarylogic_epi32(_mm512_srli_epi64(p1, 32), c[1], k0, XOR3);
    c[2] = _mm512_ternarylogic_epi32(_mm512_srli_epi64(p0, 32), c[3], k1, XOR3);
    c[1] = p1;
    c[3] = p0;
}

KERNEL __m512 log_p16(__m512 t)
{
    __m512 p = _mm512_fmadd_ps(splat(LOG_P6), t, splat(LOG_P5));
    p = _mm512_fmadd_ps(p, t, splat(LOG_P4));
    p = _mm512_fmadd_ps(p, t, splat(LOG_P3));
    p = _mm512_fmadd_ps(p, t, splat(LOG_P2));
    p = _mm512_fmadd_ps(p, t, splat(LOG_P1));
    return _mm512_fmadd_ps(p, t, splat(LOG_P0));
}

KERNEL __m512 log16(__m512 x)
{
    __m512i bits = _mm512_castps_si512(x);
    __m512i exponent = _mm512_srai_epi32(_mm512_sub_epi32(bits, splat_word(LOG_SQRT_HALF_BITS)), 23);
    __m512 m = _mm512_castsi512_ps(_mm512_sub_epi32(bits, _mm512_slli_epi32(exponent, 23)));
    __m512 t = _mm512_sub_ps(m, splat(1)), square = _mm512_mul_ps(t, t);
    __m512 log_m = _mm512_fmadd_ps(log_p16(t), _mm512_mul_ps(t, square), _mm512_fmadd_ps(splat(-0.5f), square, t));
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(exponent), splat(LOG_LN2), log_m);
}

KERNEL __m512 uniform16(__m512i word)
{
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_srli_epi32(word, 1)), splat(0x1p-31f), splat(0x1p-32f));
}

KERNEL void box_muller16(__m512i word0, __m512i word1, __m512 *z0, __m512 *z1)
{
    const __m512i top = splat_word(0x80000000u);
    __m512 radius = _mm512_sqrt_ps(_mm512_mul_ps(splat(-2), log16(uniform16(word0))));
    __m512 f = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_slli_epi32(word1, 2)), splat(0x1p-32f));
    __m512 z = _mm512_mul_ps(f, f);
    __m512 s = _mm512_fmadd_ps(splat(SIN_3), z, splat(SIN_2));
    s = _mm512_fmadd_ps(s, z, splat(SIN_1));
    s = _mm512_mul_ps(f, _mm512_fmadd_ps(s, z, splat(SIN_0)));
    __m512 c = _mm512_fmadd_ps(splat(COS_3), z, splat(COS_2));
    c = _mm512_fmadd_ps(c, z, splat(COS_1));
    c = _mm512_fmadd_ps(c, z, splat(1));
    __mmask16 odd = _mm512_test_epi32_mask(word1, splat_word(0x40000000u)); /* the quadrant is odd */
    __m512i x = _mm512_castps_si512(_mm512_mask_blend_ps(odd, c, s));
    __m512i y = _mm512_castps_si512(_mm512_mask_blend_ps(odd, s, c));
    __m512i turned = _mm512_add_epi32(word1, splat_word(0x40000000u));
    x = _mm512_ternarylogic_epi32(x, turned, top, XOR_OF_AND);
    y = _mm512_ternarylogic_epi32(y, word1, top, XOR_OF_AND);
    *z0 = _mm512_mul_ps(radius, _mm512_castsi512_ps(x));
    *z1 = _mm512_mul_ps(radius, _mm512_castsi512_ps(y));
}

/* The words of eight counters to the normals of 32 items, in their order. */
KERNEL void box_muller32(const __m512i c[4], __m512 *first, __m512 *last)
{
    const __m512i low = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    __m512 z0, z1;
    box_muller16(_mm512_permutex2var_epi32(c[0], low, c[2]), _mm512_permutex2var_epi32(c[1], low, c[3]), &z0, &z1);
    *first = _mm512_shuffle_f32x4(z0, z1, 0x44);
    *last = _mm512_shuffle_f32x4(z0, z1, 0xEE);
}

KERNEL void normals_of(const __m512i c[4], float *z)
{
    __m512 first, last;
    box_muller32(c, &first, &last);
    _mm512_storeu_ps(z, first);
    _mm512_storeu_ps(z + 16, last);
}

KERNEL void normals32(const counters *start, const round_keys *k, __m512 *first, __m512 *last)
{
    __m512i c[4] = {start->position, start->round, start->purpose, start->stream};
#pragma GCC unroll 10
    for (int i = 0; i < PHILOX_ROUNDS; i++)
        philox_step(c, splat_word(PHILOX_M0), splat_word(PHILOX_M1), splat_word(k->k0[i]), splat_word(k->k1[i]));
    box_muller32(c, first, last);
}

OLTR_TARGET_AVX512 void standard_normals_avx512(const oltr_rng *rng, size_t n, float *out)
{
    round_keys k = keys_of(rng);
    counters c = counters_of(rng);
    for (size_t i = 0; i < n; i += NORMAL_GROUP) {
        __m512 first, last;
        normals32(&c, &k, &first, &last);
        _mm512_storeu_ps(out + i, first);
        _mm512_storeu_ps(out + i + 16, last);
        c.position = _mm512_add_epi64(c.position, _mm512_set1_epi64(LANES));
    }
}

KERNEL void gauss_group(const counters *c, const round_keys *k, const float *mean, const float *sd, float *out)
{
    __m512 first, last;
    normals32(c, k, &first, &last);
    _mm512_storeu_ps(out, _mm512_fmadd_ps(_mm512_loadu_ps(sd), first, _mm512_loadu_ps(mean)));
    _mm512_storeu_ps(out + 16, _mm512_fmadd_ps(_mm512_loadu_ps(sd + 16), last, _mm512_loadu_ps(mean + 16)));
}

OLTR_TARGET_AVX512 static __attribute__((noinline)) void gauss_many(const oltr_rng *rng, const float *mean,
                                                                    const float *sd, size_t n, float *out)
{
    round_keys k = keys_of(rng);
    counters c = counters_of(rng);
    for (size_t i = 0; i < n; i += NORMAL_GROUP) {
        gauss_group(&c, &k, mean + i, sd + i, out + i);
        c.position = _mm512_add_epi64(c.position, _mm512_set1_epi64(LANES));
    }
}

/* One group by itself: what a loop keeps in registers would be put there for nothing. */
OLTR_TARGET_AVX512 void gauss_scores_avx512(const oltr_rng *rng, const float *mean, const float *sd, size_t n,
                                            float *out)
{
    if (n <= NORMAL_GROUP) {
        round_keys k = keys_of(rng);
        counters c = counters_of(rng);
        gauss_group(&c, &k, mean, sd, out);
    } else {
        gauss_many(rng, mean, sd, n, out);
    }
}

/* ---- ahead ---------------------------------------------------------------------------------------------- */

/* The normals of AHEAD rounds from rng on.  Step by step through all of them, so that none waits. */
OLTR_TARGET_AVX512 static __attribute__((noinline)) void make_ahead(const oltr_rng *rng, float z[][NORMAL_GROUP])
{
    const __m512i m0 = splat_word(PHILOX_M0), m1 = splat_word(PHILOX_M1);
    round_keys k = keys_of(rng);
    counters start = counters_of(rng);
    __m512i c[AHEAD][4];
    for (uint32_t q = 0; q < AHEAD; q++) {
        c[q][0] = start.position;
        c[q][1] = _mm512_add_epi32(start.round, splat_word(q));
        c[q][2] = start.purpose;
        c[q][3] = start.stream;
    }
#pragma GCC unroll 10
    for (int i = 0; i < PHILOX_ROUNDS; i++)
#pragma GCC unroll 4
        for (int q = 0; q < AHEAD; q++)
            philox_step(c[q], m0, m1, splat_word(k.k0[i]), splat_word(k.k1[i]));
#pragma GCC unroll 4
    for (int q = 0; q < AHEAD; q++)
        normals_of(c[q], z[q]);
}

/* The same key, stream and round?  Word by word: a vector load of what was just written in pieces has to wait for it. */
static int same_round(const oltr_rng *a, const oltr_rng *b)
{
    return !((a->key[0] ^ b->key[0]) | (a->key[1] ^ b->key[1]) | (a->counter[1] ^ b->counter[1]) |
             (a->counter[2] ^ b->counter[2]) | (a->counter[3] ^ b->counter[3]));
}

/* Another generator than was expected, or the first that was. */
OLTR_TARGET_AVX512 static __attribute__((noinline)) const float *begin(const oltr_rng *rng, int expected,
                                                                       normals_ahead *ahead)
{
    float *own = ahead->z[2 * AHEAD - 1];
    standard_normals_avx512(rng, NORMAL_GROUP, own);
    ahead->next = *rng;
    ahead->next.counter[1]++;
    ahead->at = (uint32_t)expected;
    if (expected)
        make_ahead(&ahead->next, ahead->z);
    return own;
}

/* The normals of the first 32 items; those of the next rounds too when calls come in order. */
KERNEL const float *first_normals(const oltr_rng *rng, normals_ahead *ahead)
{
    int expected = same_round(rng, &ahead->next);
    uint32_t at = ahead->at;
    if (__builtin_expect(!expected || !at, 0))
        return begin(rng, expected, ahead);
    ahead->next.counter[1]++;
    ahead->at = at % (2 * AHEAD) + 1;
    if (at % AHEAD == 0)
        make_ahead(&ahead->next, ahead->z + at % (2 * AHEAD));
    return ahead->z[at - 1];
}

OLTR_TARGET_AVX512 const float *standard_normals_ahead_avx512(const oltr_rng *rng, normals_ahead *ahead)
{
    return first_normals(rng, ahead);
}

OLTR_TARGET_AVX512 void gauss_scores_ahead_avx512(const oltr_rng *rng, normals_ahead *ahead, const float *mean,
                                                  const float *sd, float *out)
{
    const float *z = first_normals(rng, ahead);
    for (size_t i = 0; i < NORMAL_GROUP; i += 16)
        _mm512_storeu_ps(out + i,
                         _mm512_fmadd_ps(_mm512_loadu_ps(sd + i), _mm512_load_ps(z + i), _mm512_loadu_ps(mean + i)));
}

#else
typedef int no_avx512; /* an empty translation unit is not C */
#endif
