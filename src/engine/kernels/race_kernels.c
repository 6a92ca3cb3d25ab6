/* race_kernels.c - see race_kernels.h.
 *
 * The comparison is between integers, so that the versions agree bit by bit.  A quad costs one
 * block of Philox; with AVX-512 a thousand quads take about 2 us.
 */
#include "engine/kernels/table.h"

#include "engine/kernels/philox.h"

/* Writes the cells of a group of quads that are set in the mask of each lane. */
static inline uint32_t *write_hits(uint32_t *hit, uint32_t first, uint32_t lane, uint32_t in)
{
    for (; in; in &= in - 1)
        *hit++ = 4 * (first + (uint32_t)__builtin_ctz(in)) + lane;
    return hit;
}

static inline uint32_t quads_from(uint32_t first, uint32_t n)
{
    return n - first < RACE_GROUP ? n - first : RACE_GROUP;
}

uint32_t first_arrivals_plain(const oltr_rng *rng, const uint32_t *quad, const uint32_t *limit,
                              uint32_t stride, uint32_t n, uint32_t *hit)
{
    uint32_t *end = hit;
    for (uint32_t first = 0; first < n; first += RACE_GROUP) {
        uint32_t in[4] = {0, 0, 0, 0}, word[4], many = quads_from(first, n);
        for (uint32_t q = 0; q < many; q++) {
            words_at(rng, quad[first + q], PURPOSE_RACE, word);
            for (uint32_t l = 0; l < 4; l++)
                in[l] |= (uint32_t)(word[l] <= limit[l * stride + first + q]) << q;
        }
        for (uint32_t l = 0; l < 4; l++)
            end = write_hits(end, first, l, in[l]);
    }
    return (uint32_t)(end - hit);
}

/* below[i] = the i-th smallest rank in the list, less i, does not fall with i.  The t-th rank left
 * is t + at, where `at` of them are at most t; it becomes below[at] = t, and the later ones move up
 * and lose 1. */
void few_ties_plain(const oltr_rng *rng, uint32_t first_slot, uint32_t n, uint32_t k,
                    uint32_t *rank)
{
    uint32_t below[FEW_TIES];
    for (uint32_t j = 0; j < k; j++) /* in a loop of their own, draws of several slots overlap */
        rank[j] = tie_at(rng, first_slot + j, n - j);
    for (uint32_t j = 0; j < k; j++) {
        uint32_t t = rank[j], at = j;
        for (; at > 0 && below[at - 1] > t; at--)
            below[at] = below[at - 1] - 1;
        below[at] = t;
        rank[j] = t + at;
    }
}

#if OLTR_X86
#include <immintrin.h>

AVX2_INLINE void multiply8(__m256i a, uint32_t by, __m256i *high, __m256i *low)
{
    const __m256i m = _mm256_set1_epi32((int)by);
    __m256i even = _mm256_mul_epu32(a, m), odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), m);
    *low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
    *high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
}

AVX2_INLINE __m256i xor8(__m256i a, __m256i b, uint32_t key)
{
    return _mm256_xor_si256(_mm256_xor_si256(a, b), _mm256_set1_epi32((int)key));
}

/* The words of 16 quads, as two vectors for each word; the two chains overlap. */
AVX2_INLINE void group_words8(const oltr_rng *rng, const uint32_t *quad, __m256i c[2][4])
{
    uint32_t k0 = rng->key[0], k1 = rng->key[1];
    for (int v = 0; v < 2; v++) {
        c[v][0] = _mm256_loadu_si256((const __m256i *)(const void *)(quad + 8 * v));
        c[v][1] = _mm256_set1_epi32((int)rng->counter[1]);
        c[v][2] = _mm256_set1_epi32((int)((rng->counter[2] & 0xFFFF0000u) | PURPOSE_RACE));
        c[v][3] = _mm256_set1_epi32((int)rng->counter[3]);
    }
    for (int i = 0; i < PHILOX_ROUNDS; i++) {
        for (int v = 0; v < 2; v++) {
            __m256i h0, l0, h1, l1;
            multiply8(c[v][0], PHILOX_M0, &h0, &l0);
            multiply8(c[v][2], PHILOX_M1, &h1, &l1);
            c[v][0] = xor8(h1, c[v][1], k0);
            c[v][1] = l1;
            c[v][2] = xor8(h0, c[v][3], k1);
            c[v][3] = l0;
        }
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
}

AVX2_INLINE uint32_t within8(__m256i word, const uint32_t *limit)
{
    __m256i most = _mm256_loadu_si256((const __m256i *)(const void *)limit);
    __m256i in = _mm256_cmpeq_epi32(_mm256_min_epu32(word, most), word);
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(in));
}

TARGET_AVX2 uint32_t first_arrivals_avx2(const oltr_rng *rng, const uint32_t *quad,
                                         const uint32_t *limit, uint32_t stride, uint32_t n,
                                         uint32_t *hit)
{
    uint32_t *end = hit;
    for (uint32_t first = 0; first < n; first += RACE_GROUP) {
        __m256i c[2][4];
        group_words8(rng, quad + first, c);
        for (uint32_t l = 0; l < 4; l++) {
            const uint32_t *at = limit + l * stride + first;
            uint32_t in = within8(c[0][l], at) | within8(c[1][l], at + 8) << 8;
            end = write_hits(end, first, l, in & ((1u << quads_from(first, n)) - 1));
        }
    }
    return (uint32_t)(end - hit);
}

enum { XOR3 = 0x96 }; /* a ^ b ^ c, as a table of eight bits */

AVX512_INLINE void multiply16(__m512i a, uint32_t by, __m512i *high, __m512i *low)
{
    const __m512i m = _mm512_set1_epi32((int)by);
    __m512i even = _mm512_mul_epu32(a, m), odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), m);
    *low = _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
    *high = _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
}

/* The words of `groups` times 16 positions: the chains overlap. */
AVX512_INLINE void group_words16(const oltr_rng *rng, uint32_t purpose, const uint32_t *position,
                                 int groups, __m512i c[][4])
{
    uint32_t k0 = rng->key[0], k1 = rng->key[1];
    for (int v = 0; v < groups; v++) {
        c[v][0] = _mm512_loadu_si512(position + RACE_GROUP * v);
        c[v][1] = _mm512_set1_epi32((int)rng->counter[1]);
        c[v][2] = _mm512_set1_epi32((int)((rng->counter[2] & 0xFFFF0000u) | purpose));
        c[v][3] = _mm512_set1_epi32((int)rng->counter[3]);
    }
    for (int i = 0; i < PHILOX_ROUNDS; i++) {
        for (int v = 0; v < groups; v++) {
            __m512i h0, l0, h1, l1;
            multiply16(c[v][0], PHILOX_M0, &h0, &l0);
            multiply16(c[v][2], PHILOX_M1, &h1, &l1);
            c[v][0] = _mm512_ternarylogic_epi32(h1, c[v][1], _mm512_set1_epi32((int)k0), XOR3);
            c[v][1] = l1;
            c[v][2] = _mm512_ternarylogic_epi32(h0, c[v][3], _mm512_set1_epi32((int)k1), XOR3);
            c[v][3] = l0;
        }
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
}

AVX512_INLINE uint32_t *hits_of16(const __m512i c[4], const uint32_t *limit, uint32_t stride,
                                  uint32_t first, uint32_t n, uint32_t *end)
{
    uint32_t whole = (1u << quads_from(first, n)) - 1;
    for (uint32_t l = 0; l < 4; l++) {
        __m512i most = _mm512_loadu_si512(limit + l * stride + first);
        end = write_hits(end, first, l, _mm512_cmple_epu32_mask(c[l], most) & whole);
    }
    return end;
}

TARGET_AVX512 uint32_t first_arrivals_avx512(const oltr_rng *rng, const uint32_t *quad,
                                             const uint32_t *limit, uint32_t stride, uint32_t n,
                                             uint32_t *hit)
{
    uint32_t *end = hit, first = 0;
    __m512i c[2][4];
    for (; first + RACE_GROUP < n; first += 2 * RACE_GROUP) {
        group_words16(rng, PURPOSE_RACE, quad + first, 2, c);
        end = hits_of16(c[0], limit, stride, first, n, end);
        end = hits_of16(c[1], limit, stride, first + RACE_GROUP, n, end);
    }
    if (first < n) {
        group_words16(rng, PURPOSE_RACE, quad + first, 1, c);
        end = hits_of16(c[0], limit, stride, first, n, end);
    }
    return (uint32_t)(end - hit);
}

/* below_of_words() of the even lanes. */
AVX512_INLINE __m512i below8(__m512i high, __m512i low, __m512i n)
{
    __m512i carry = _mm512_srli_epi64(_mm512_mul_epu32(low, n), 32);
    return _mm512_srli_epi64(_mm512_add_epi64(_mm512_mul_epu32(high, n), carry), 32);
}

AVX512_INLINE __m512i below16(__m512i high, __m512i low, __m512i n)
{
    __m512i even = below8(high, low, n);
    __m512i odd =
        below8(_mm512_srli_epi64(high, 32), _mm512_srli_epi64(low, 32), _mm512_srli_epi64(n, 32));
    return _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
}

/* below[] of few_ties_plain(), slot after slot: each step needs the result of the one before. */
AVX512_INLINE void near_ties(const uint32_t draw[FEW_TIES], uint32_t k, uint32_t *rank)
{
    const __m512i one = _mm512_set1_epi32(1);
    __m512i below = _mm512_setzero_si512();
    for (uint32_t j = 0; j < k; j++) {
        __m512i t = _mm512_set1_epi32((int)draw[j]);
        uint32_t less = _mm512_mask_cmple_epu32_mask((__mmask16)((1u << j) - 1), below, t);
        __mmask16 own = (__mmask16)(less + 1); /* the first that is not less */
        below = _mm512_mask_expand_epi32(t, (__mmask16)~own, below);
        below = _mm512_mask_sub_epi32(below, (__mmask16) ~(own | less), below, one);
        rank[j] = draw[j] + (uint32_t)__builtin_ctz(own);
    }
}

/* A draw's entry of below[] falls by less than FEW_TIES.  So of draws that differ by at least that,
 * as nearly all do where many items tie, the entry of an earlier one is at most t exactly if it is
 * the smaller draw, and the slots are computed independently: 6 % off a round of cascade-ucb1 over
 * 100,000 items.  False where two are nearer. */
AVX512_INLINE bool far_ties(const uint32_t draw[FEW_TIES], uint32_t k, uint32_t *rank)
{
    const __m512i one = _mm512_set1_epi32(1), width = _mm512_set1_epi32(FEW_TIES);
    const __m512i draws = _mm512_loadu_si512(draw), twice = _mm512_add_epi32(width, width);
    const uint32_t slots = (1u << k) - 1;
    uint32_t near = 0;
    __m512i ranks = draws;
    for (uint32_t j = 0; j < k; j++) {
        const __m512i t = _mm512_set1_epi32((int)draw[j]);
        const __mmask16 later = (__mmask16)(slots & ~((2u << j) - 1));
        const __m512i apart = _mm512_add_epi32(_mm512_sub_epi32(draws, t), width);
        near |= _mm512_mask_cmplt_epu32_mask(later, apart, twice);
        ranks =
            _mm512_mask_add_epi32(ranks, _mm512_mask_cmplt_epu32_mask(later, t, draws), ranks, one);
    }
    _mm512_mask_storeu_epi32(rank, (__mmask16)slots, ranks);
    return !near;
}

TARGET_AVX512 void few_ties_avx512(const oltr_rng *rng, uint32_t first_slot, uint32_t n, uint32_t k,
                                   uint32_t *rank)
{
    static const uint32_t count[FEW_TIES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const __m512i counts = _mm512_loadu_si512(count);
    uint32_t slot[FEW_TIES], draw[FEW_TIES];
    __m512i word[1][4];
    _mm512_storeu_si512(slot, _mm512_add_epi32(_mm512_set1_epi32((int)first_slot), counts));
    group_words16(rng, PURPOSE_TIES, slot, 1, word);
    __m512i left = _mm512_sub_epi32(_mm512_set1_epi32((int)n), counts);
    _mm512_storeu_si512(draw, below16(word[0][0], word[0][1], left));
    if (!far_ties(draw, k, rank))
        near_ties(draw, k, rank);
}
#endif
