/* draw_avx512.c - the normals of all items, 32 at a time.  The same operations in the same order
 * as draw_plain.c and float_math.h, so the same bits; tests/kernels/draws.c compares them.
 *
 * Eight counters fill the 64-bit halves of one vector as the 32x32->64 multiplication needs them;
 * Box and Muller then take the 16 pairs of words at once.
 */
#include "engine/kernels/table.h"

#if OLTR_X86

#include <immintrin.h>
#include <string.h>

#include "engine/kernels/float_math.h"
#include "engine/kernels/philox.h"

enum { XOR3 = 0x96, XOR_OF_AND = 0x78 }; /* a ^ b ^ c and a ^ (b & c), as tables of eight bits */

AVX512_INLINE __m512i splat_word(uint32_t x)
{
    return _mm512_set1_epi32((int)x);
}

AVX512_INLINE __m512 splat(float x)
{
    return _mm512_set1_ps(x);
}

/* The keys of the ten rounds, made at once; a round takes its own from memory. */
typedef struct round_keys {
    _Alignas(64) uint32_t k0[16], k1[16];
} round_keys;

AVX512_INLINE round_keys keys_of(const oltr_rng *rng)
{
    const __m512i round = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    round_keys k;
    _mm512_store_si512(k.k0, _mm512_add_epi32(splat_word(rng->key[0]),
                                              _mm512_mullo_epi32(round, splat_word(PHILOX_W0))));
    _mm512_store_si512(k.k1, _mm512_add_epi32(splat_word(rng->key[1]),
                                              _mm512_mullo_epi32(round, splat_word(PHILOX_W1))));
    __asm__(""
            : "+m"(k)); /* in memory they cost nothing; compilers take them apart into registers
                           they do not have */
    return k;
}

/* Where the words of the positions 0..7 are made: position, round, purpose 0, stream; the high
 * halves are never read. */
typedef struct counters {
    __m512i position, round, purpose, stream;
} counters;

AVX512_INLINE counters counters_of(const oltr_rng *rng)
{
    return (counters){_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), splat_word(rng->counter[1]),
                      splat_word(rng->counter[2] & 0xFFFF0000u), splat_word(rng->counter[3])};
}

/* One step of Philox for eight counters. */
AVX512_INLINE void philox_step(__m512i c[4], __m512i m0, __m512i m1, __m512i k0, __m512i k1)
{
    __m512i p0 = _mm512_mul_epu32(c[0], m0), p1 = _mm512_mul_epu32(c[2], m1);
    c[0] = _mm512_ternarylogic_epi32(_mm512_srli_epi64(p1, 32), c[1], k0, XOR3);
    c[2] = _mm512_ternarylogic_epi32(_mm512_srli_epi64(p0, 32), c[3], k1, XOR3);
    c[1] = p1;
    c[3] = p0;
}

/* Box and Muller's method is a chain of some thirty operations, each waiting for the one before. So
 * several vectors take each step together: n is known when this is compiled, and the loops are
 * gone. */
enum { MOST = 4 };
#define EACH _Pragma("GCC unroll 4") for (int i = 0; i < n; i++)

AVX512_INLINE void fma_each(int n, __m512 x[], const __m512 by[], float plus)
{
    EACH x[i] = _mm512_fmadd_ps(x[i], by[i], splat(plus));
}

AVX512_INLINE void log_each(int n, __m512 x[])
{
    __m512i exponent[MOST];
    __m512 t[MOST], square[MOST], p[MOST];
    EACH exponent[i] = _mm512_srai_epi32(
        _mm512_sub_epi32(_mm512_castps_si512(x[i]), splat_word(LOG_SQRT_HALF_BITS)), 23);
    EACH t[i] = _mm512_castsi512_ps(
        _mm512_sub_epi32(_mm512_castps_si512(x[i]), _mm512_slli_epi32(exponent[i], 23)));
    EACH t[i] = _mm512_sub_ps(t[i], splat(1));
    EACH square[i] = _mm512_mul_ps(t[i], t[i]);
    EACH p[i] = splat(LOG_P6);
    fma_each(n, p, t, LOG_P5);
    fma_each(n, p, t, LOG_P4);
    fma_each(n, p, t, LOG_P3);
    fma_each(n, p, t, LOG_P2);
    fma_each(n, p, t, LOG_P1);
    fma_each(n, p, t, LOG_P0);
    EACH p[i] = _mm512_fmadd_ps(p[i], _mm512_mul_ps(t[i], square[i]),
                                _mm512_fmadd_ps(splat(-0.5f), square[i], t[i]));
    EACH x[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(exponent[i]), splat(LOG_LN2), p[i]);
}

AVX512_INLINE void radius_each(int n, const __m512i word[], __m512 r[])
{
    EACH r[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_srli_epi32(word[i], 1)), splat(0x1p-31f),
                                splat(0x1p-32f));
    log_each(n, r);
    EACH r[i] = _mm512_sqrt_ps(_mm512_mul_ps(splat(-2), r[i]));
}

/* The sine and the cosine of the part of the angle within its quadrant. */
AVX512_INLINE void angle_each(int n, const __m512i word[], __m512 s[], __m512 c[])
{
    __m512 f[MOST], z[MOST];
    EACH f[i] = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_slli_epi32(word[i], 2)), splat(0x1p-32f));
    EACH z[i] = _mm512_mul_ps(f[i], f[i]);
    EACH s[i] = splat(SIN_3);
    EACH c[i] = splat(COS_3);
    fma_each(n, s, z, SIN_2);
    fma_each(n, c, z, COS_2);
    fma_each(n, s, z, SIN_1);
    fma_each(n, c, z, COS_1);
    fma_each(n, s, z, SIN_0);
    fma_each(n, c, z, 1);
    EACH s[i] = _mm512_mul_ps(f[i], s[i]);
}

AVX512_INLINE __m512 turned(__m512 radius, __m512 x, __m512i word)
{
    const __m512i top = splat_word(0x80000000u);
    return _mm512_mul_ps(radius, _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
                                     _mm512_castps_si512(x), word, top, XOR_OF_AND)));
}

AVX512_INLINE void box_muller_each(int n, const __m512i word0[], const __m512i word1[], __m512 z0[],
                                   __m512 z1[])
{
    const __m512i quarter = splat_word(0x40000000u);
    __m512 r[MOST], s[MOST], c[MOST];
    radius_each(n, word0, r);
    angle_each(n, word1, s, c);
    EACH
    {
        __mmask16 odd = _mm512_test_epi32_mask(word1[i], quarter); /* the quadrant is odd */
        z0[i] = turned(r[i], _mm512_mask_blend_ps(odd, c[i], s[i]),
                       _mm512_add_epi32(word1[i], quarter));
        z1[i] = turned(r[i], _mm512_mask_blend_ps(odd, s[i], c[i]), word1[i]);
    }
}

/* The words of n times eight counters to the normals of n times 32 items, in their order. */
AVX512_INLINE void normals_each(int n, __m512i c[][4], __m512 z[][2])
{
    const __m512i low =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    __m512i word0[MOST], word1[MOST];
    __m512 z0[MOST], z1[MOST];
    EACH word0[i] = _mm512_permutex2var_epi32(c[i][0], low, c[i][2]);
    EACH word1[i] = _mm512_permutex2var_epi32(c[i][1], low, c[i][3]);
    box_muller_each(n, word0, word1, z0, z1);
    EACH
    {
        z[i][0] = _mm512_shuffle_f32x4(z0[i], z1[i], 0x44);
        z[i][1] = _mm512_shuffle_f32x4(z0[i], z1[i], 0xEE);
    }
}

AVX512_INLINE void philox_each(int n, __m512i c[][4], const round_keys *k)
{
#pragma GCC unroll 10
    for (int step = 0; step < PHILOX_ROUNDS; step++)
        EACH philox_step(c[i], splat_word(PHILOX_M0), splat_word(PHILOX_M1),
                         splat_word(k->k0[step]), splat_word(k->k1[step]));
}

/* The normals of n times 32 items, each time `groups` groups of counters and `rounds` rounds
 * further on. */
AVX512_INLINE void normals_from(int n, const counters *start, int groups, int rounds,
                                const round_keys *k, __m512 z[][2])
{
    __m512i c[MOST][4];
    EACH
    {
        c[i][0] = _mm512_add_epi64(start->position, _mm512_set1_epi64(i * groups * LANES));
        c[i][1] = _mm512_add_epi32(start->round, _mm512_set1_epi32(i * rounds));
        c[i][2] = start->purpose;
        c[i][3] = start->stream;
    }
    philox_each(n, c, k);
    normals_each(n, c, z);
}

AVX512_INLINE void store_each(int n, __m512 z[][2], float *out)
{
    EACH
    {
        _mm512_storeu_ps(out + i * NORMAL_GROUP, z[i][0]);
        _mm512_storeu_ps(out + i * NORMAL_GROUP + 16, z[i][1]);
    }
}

AVX512_INLINE void next_groups(counters *c, int groups)
{
    c->position = _mm512_add_epi64(c->position, _mm512_set1_epi64(groups * LANES));
}

TARGET_AVX512 void standard_normals_avx512(const oltr_rng *rng, size_t n, float *out)
{
    round_keys k = keys_of(rng);
    counters c = counters_of(rng);
    for (size_t i = 0; i < n; i += NORMAL_GROUP) {
        __m512 z[1][2];
        normals_from(1, &c, 1, 0, &k, z);
        store_each(1, z, out + i);
        next_groups(&c, 1);
    }
}

AVX512_INLINE void gauss_groups(int n, const counters *c, const round_keys *k, const float *mean,
                                const float *sd, float *out)
{
    __m512 z[MOST][2];
    normals_from(n, c, 1, 0, k, z);
    EACH
    {
        const float *m = mean + i * NORMAL_GROUP, *s = sd + i * NORMAL_GROUP;
        z[i][0] = _mm512_fmadd_ps(_mm512_loadu_ps(s), z[i][0], _mm512_loadu_ps(m));
        z[i][1] = _mm512_fmadd_ps(_mm512_loadu_ps(s + 16), z[i][1], _mm512_loadu_ps(m + 16));
    }
    store_each(n, z, out);
}

TARGET_AVX512 static __attribute__((noinline)) void
gauss_many(const oltr_rng *rng, const float *mean, const float *sd, size_t n, float *out)
{
    round_keys k = keys_of(rng);
    counters c = counters_of(rng);
    size_t i = 0;
    for (; i + MOST * NORMAL_GROUP <= padded(n); i += MOST * NORMAL_GROUP) {
        gauss_groups(MOST, &c, &k, mean + i, sd + i, out + i);
        next_groups(&c, MOST);
    }
    for (; i < n; i += NORMAL_GROUP) {
        gauss_groups(1, &c, &k, mean + i, sd + i, out + i);
        next_groups(&c, 1);
    }
}

/* ---- named items */

/* The words of the blocks of n times 16 items anywhere, of which each item takes its own pair.  The
 * multiplication reads the even halves of a vector, so the blocks of the items in odd places are
 * computed in a second one. */
AVX512_INLINE void own_words_each(int n, const __m512i item[], const counters *from,
                                  const round_keys *k, __m512i word0[], __m512i word1[])
{
    __m512i even[MOST / 2][4], odd[MOST / 2][4];
    EACH
    {
        __m512i position = _mm512_add_epi32(_mm512_slli_epi32(_mm512_srli_epi32(item[i], 5), 3),
                                            _mm512_and_si512(item[i], splat_word(LANES - 1)));
        even[i][0] = position;
        odd[i][0] = _mm512_srli_epi64(position, 32);
        even[i][1] = odd[i][1] = from->round;
        even[i][2] = odd[i][2] = from->purpose;
        even[i][3] = odd[i][3] = from->stream;
    }
    philox_each(n, even, k);
    philox_each(n, odd, k);
    EACH
    {
        __mmask16 second = _mm512_test_epi32_mask(item[i], splat_word(16)); /* words 2,3 */
        __m512i w[4];
        for (int j = 0; j < 4; j++)
            w[j] = _mm512_mask_blend_epi32(0xAAAA, even[i][j], _mm512_slli_epi64(odd[i][j], 32));
        word0[i] = _mm512_mask_blend_epi32(second, w[0], w[2]);
        word1[i] = _mm512_mask_blend_epi32(second, w[1], w[3]);
    }
}

/* n times 16 items, of the last 16 the first `last`. Plain loads: from millions of items they miss
 * the cache, and more of them overlap than of the gather instruction. */
AVX512_INLINE void gauss_named(int n, uint32_t last, const counters *from, const round_keys *k,
                               const float *mean, const float *sd, const uint32_t *name, float *out)
{
    _Alignas(64) float m[16 * MOST / 2], s[16 * MOST / 2];
    __m512i item[MOST / 2], word0[MOST / 2], word1[MOST / 2];
    __m512 z0[MOST / 2], z1[MOST / 2];
    const __mmask16 end = (__mmask16)((1u << last) - 1);
    EACH item[i] = _mm512_maskz_loadu_epi32(i + 1 < n ? 0xFFFF : end, name + 16 * i);
    for (uint32_t j = 0; j < 16 * (uint32_t)(n - 1) + last; j++) {
        m[j] = mean[name[j]];
        s[j] = sd[name[j]];
    }
    own_words_each(n, item, from, k, word0, word1);
    box_muller_each(n, word0, word1, z0, z1);
    EACH
    {
        __mmask16 sine = _mm512_test_epi32_mask(item[i], splat_word(8)); /* the second of a pair */
        _mm512_mask_storeu_ps(out + 16 * i, i + 1 < n ? 0xFFFF : end,
                              _mm512_fmadd_ps(_mm512_load_ps(s + 16 * i),
                                              _mm512_mask_blend_ps(sine, z0[i], z1[i]),
                                              _mm512_load_ps(m + 16 * i)));
    }
}

TARGET_AVX512 static __attribute__((noinline)) void gauss_list(const oltr_rng *rng,
                                                               const float *mean, const float *sd,
                                                               const uint32_t *item, size_t n,
                                                               float *out)
{
    round_keys k = keys_of(rng);
    counters c = counters_of(rng);
    size_t j = 0;
    for (; j + 32 <= n; j += 32)
        gauss_named(2, 16, &c, &k, mean, sd, item + j, out + j);
    for (; j < n; j += 16)
        gauss_named(1, n - j < 16 ? (uint32_t)(n - j) : 16, &c, &k, mean, sd, item + j, out + j);
}

/* One group by itself: what a loop keeps in registers would be put there for nothing. */
TARGET_AVX512 void gauss_scores_avx512(const oltr_rng *rng, const float *mean, const float *sd,
                                       const uint32_t *item, size_t n, float *out)
{
    if (item) {
        gauss_list(rng, mean, sd, item, n, out);
    } else if (n <= NORMAL_GROUP) {
        round_keys k = keys_of(rng);
        counters c = counters_of(rng);
        gauss_groups(1, &c, &k, mean, sd, out);
    } else {
        gauss_many(rng, mean, sd, n, out);
    }
}

/* ---- ahead */

/* The normals of AHEAD rounds from rng on. */
TARGET_AVX512 static __attribute__((noinline)) void make_ahead(const oltr_rng *rng,
                                                               float z[][NORMAL_GROUP])
{
    round_keys k = keys_of(rng);
    counters c = counters_of(rng);
#pragma GCC unroll 2
    for (int q = 0; q < AHEAD; q += MOST) {
        __m512 made[MOST][2];
        normals_from(MOST, &c, 0, 1, &k, made);
        store_each(MOST, made, z[q]);
        c.round = _mm512_add_epi32(c.round, _mm512_set1_epi32(MOST));
    }
}

AVX512_INLINE uint64_t two_words(const uint32_t *word)
{
    uint64_t both;
    memcpy(&both, word, sizeof both);
    return both;
}

/* The same key, stream and round?  In small pieces: a vector load of what was just written in
 * pieces has to wait for it. */
AVX512_INLINE int same_round(const oltr_rng *a, const oltr_rng *b)
{
    return !((two_words(a->key) ^ two_words(b->key)) |
             (two_words(a->counter + 2) ^ two_words(b->counter + 2)) |
             (a->counter[1] ^ b->counter[1]));
}

/* Is this the generator that was asked for last?  0 where that is not known: before normals are
 * made ahead. */
AVX512_INLINE int is_last(const oltr_rng *rng, const normals_ahead *ahead)
{
    oltr_rng last = ahead->next;
    last.counter[1]--;
    return ahead->at && same_round(rng, &last);
}

/* Another generator than was expected, or the first that was.  The last one once more is common: a
 * list that could not be picked is ranked by its scores. */
TARGET_AVX512 static __attribute__((noinline)) const float *begin(const oltr_rng *rng, int expected,
                                                                  normals_ahead *ahead)
{
    float *own = ahead->z[2 * AHEAD - 1];
    if (!expected && is_last(rng, ahead))
        return ahead->z[(ahead->at + 2 * AHEAD - 2) % (2 * AHEAD)];
    standard_normals_avx512(rng, NORMAL_GROUP, own);
    ahead->next = *rng;
    ahead->next.counter[1]++;
    ahead->at = (uint32_t)expected;
    if (expected)
        make_ahead(&ahead->next, ahead->z);
    return own;
}

/* The normals of the first 32 items; those of the next rounds too when calls come in order. */
AVX512_INLINE const float *first_normals(const oltr_rng *rng, normals_ahead *ahead)
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

TARGET_AVX512 const float *prefetched_normals_avx512(const oltr_rng *rng, normals_ahead *ahead)
{
    return first_normals(rng, ahead);
}

TARGET_AVX512 void prefetched_scores_avx512(const oltr_rng *rng, normals_ahead *ahead,
                                            const float *mean, const float *sd, float *out)
{
    const float *z = first_normals(rng, ahead);
    for (size_t i = 0; i < NORMAL_GROUP; i += 16)
        _mm512_storeu_ps(out + i, _mm512_fmadd_ps(_mm512_loadu_ps(sd + i), _mm512_load_ps(z + i),
                                                  _mm512_loadu_ps(mean + i)));
}

#else
typedef int no_avx512; /* an empty translation unit is not C */
#endif
