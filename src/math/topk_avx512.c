/* topk_avx512.c - the selection from short lists, as topk_avx2.c does it, with what AVX-512 has for it.
 *
 * Floats are sorted as whole numbers of the same order, because the larger of two integers is known after one cycle and of two floats after four.  The two
 * zeros, which are equal as floats, are two different integers; the comparison that finds the places is one of floats, and sees the tie.
 */
#include "math/topk.h"

#include "base/cpu.h"

#if OLTR_HAVE_AVX512

#include <immintrin.h>
#include <math.h>

#define KERNEL OLTR_TARGET_AVX512 static inline __attribute__((always_inline))

enum { FEW = 32, SORTING_K = 4, XOR_OF_AND = 0x78 }; /* a ^ (b & c), as a table of eight bits */

/* A float's bits to an integer of the same order, and back. */
KERNEL __m512i ordered16(__m512i bits)
{
    return _mm512_ternarylogic_epi32(bits, _mm512_srai_epi32(bits, 31), _mm512_set1_epi32(0x7FFFFFFF), XOR_OF_AND);
}

typedef struct four {
    __m256i a, b, c, d; /* in each lane, falling from a to d */
} four;

/* The best four of two sorted fours, lane by lane: the first half of a bitonic merge and its clean-up. */
KERNEL four merged(four x, four y)
{
    __m256i a = _mm256_max_epi32(x.a, y.d), b = _mm256_max_epi32(x.b, y.c);
    __m256i c = _mm256_max_epi32(x.c, y.b), d = _mm256_max_epi32(x.d, y.a);
    __m256i ac = _mm256_max_epi32(a, c), ca = _mm256_min_epi32(a, c);
    __m256i bd = _mm256_max_epi32(b, d), db = _mm256_min_epi32(b, d);
    return (four){_mm256_max_epi32(ac, bd), _mm256_min_epi32(ac, bd), _mm256_max_epi32(ca, db),
                  _mm256_min_epi32(ca, db)};
}

/* Eight sorted fours of 32. */
KERNEL four sorted(__m512i x, __m512i y)
{
    __m512i high = _mm512_max_epi32(x, y), low = _mm512_min_epi32(x, y);
    __m256i h0 = _mm512_castsi512_si256(high), h1 = _mm512_extracti32x8_epi32(high, 1);
    __m256i l0 = _mm512_castsi512_si256(low), l1 = _mm512_extracti32x8_epi32(low, 1);
    __m256i p = _mm256_min_epi32(h0, h1), q = _mm256_max_epi32(l0, l1);
    return (four){_mm256_max_epi32(h0, h1), _mm256_max_epi32(p, q), _mm256_min_epi32(p, q), _mm256_min_epi32(l0, l1)};
}

/* The place of an ordered value, which stands in all lanes; `twice` is not 0 when there are several. */
KERNEL uint32_t place_of(__m256i value, __m512 x, __m512 y, uint32_t *twice)
{
    __m512 top = _mm512_castsi512_ps(ordered16(_mm512_broadcastd_epi32(_mm256_castsi256_si128(value))));
    uint32_t low = _cvtmask16_u32(_mm512_cmp_ps_mask(x, top, _CMP_EQ_OQ));
    uint32_t mask = low | _cvtmask16_u32(_mm512_cmp_ps_mask(y, top, _CMP_EQ_OQ)) << 16;
    *twice |= mask & (mask - 1);
    return (uint32_t)__builtin_ctz(mask);
}

/* The k <= 4 best of 32; 0 on a tie. */
KERNEL int by_sorting(const float *x, uint32_t k, uint32_t *position, double *score)
{
    __m512 first = _mm512_loadu_ps(x), last = _mm512_loadu_ps(x + 16);
    uint32_t twice = 0;
    four t = sorted(ordered16(_mm512_castps_si512(first)), ordered16(_mm512_castps_si512(last)));
    t = merged(t, (four){_mm256_permute4x64_epi64(t.a, 0x4E), _mm256_permute4x64_epi64(t.b, 0x4E),
                         _mm256_permute4x64_epi64(t.c, 0x4E), _mm256_permute4x64_epi64(t.d, 0x4E)});
    t = merged(t, (four){_mm256_shuffle_epi32(t.a, 0x4E), _mm256_shuffle_epi32(t.b, 0x4E),
                         _mm256_shuffle_epi32(t.c, 0x4E), _mm256_shuffle_epi32(t.d, 0x4E)});
    t = merged(t, (four){_mm256_shuffle_epi32(t.a, 0xB1), _mm256_shuffle_epi32(t.b, 0xB1),
                         _mm256_shuffle_epi32(t.c, 0xB1), _mm256_shuffle_epi32(t.d, 0xB1)});
    position[0] = place_of(t.a, first, last, &twice);
    if (k > 1)
        position[1] = place_of(t.b, first, last, &twice);
    if (k > 2)
        position[2] = place_of(t.c, first, last, &twice);
    if (k > 3)
        position[3] = place_of(t.d, first, last, &twice);
    for (uint32_t slot = 0; score && slot < k; slot++)
        score[slot] = (double)x[position[slot]];
    return !twice;
}

OLTR_TARGET_AVX512 void topk_f32_avx512(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best,
                                        uint32_t *position, double *score)
{
    if (n > FEW || k > SORTING_K || !by_sorting(x, k, position, score))
        topk_f32_avx2(x, n, k, rng, best, position, score);
}

/* ---- ranking doubles by counting, as topk_avx2.c does floats: see there ------------------------------------- */

enum { COUNTING_K = 16, VECTORS = FEW / 8 };

typedef struct ranks32 {
    __m512i r[VECTORS];
} ranks32;

/* ranks of x[0..31] among x[0..n-1], n <= 32 */
KERNEL ranks32 count_ranks(const double *x, size_t n)
{
    ranks32 ranks;
    __m512d v[VECTORS];
#pragma GCC unroll 4
    for (int q = 0; q < VECTORS; q++) {
        v[q] = _mm512_loadu_pd(x + 8 * q);
        ranks.r[q] = _mm512_setzero_si512();
    }
    for (size_t j = 0; j < n; j++) {
        __m512d other = _mm512_set1_pd(x[j]);
#pragma GCC unroll 4
        for (int q = 0; q < VECTORS; q++)
            ranks.r[q] = _mm512_mask_add_epi64(ranks.r[q], _mm512_cmp_pd_mask(other, v[q], _CMP_GT_OQ), ranks.r[q],
                                               _mm512_set1_epi64(1));
    }
    return ranks;
}

/* Bit i: rank i of 32 is below k. */
KERNEL uint32_t ranks_below(const ranks32 *ranks, uint32_t k)
{
    uint32_t mask = 0;
#pragma GCC unroll 4
    for (int q = 0; q < VECTORS; q++)
        mask |= (uint32_t)_mm512_cmplt_epi64_mask(ranks->r[q], _mm512_set1_epi64(k)) << (8 * q);
    return mask;
}

/* The largest value that at least k of the 32 maxima reach. */
KERNEL double bar_of(const double *fold, uint32_t k)
{
    ranks32 ranks = count_ranks(fold, FEW);
    uint32_t mask = ranks_below(&ranks, k);
    __m512d least = _mm512_set1_pd(INFINITY);
#pragma GCC unroll 4
    for (int q = 0; q < VECTORS; q++)
        least = _mm512_mask_min_pd(least, (__mmask8)(mask >> (8 * q)), least, _mm512_loadu_pd(fold + 8 * q));
    return _mm512_reduce_min_pd(least);
}

/* How many of the scores reach the bar; as many of them as are surely fewer than 32 + 8 go to `few` and `where`. */
KERNEL size_t collect(const double *x, size_t n, double bar, double *few, uint64_t *where)
{
    size_t count = 0;
    __m512i place = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    for (size_t i = 0; i < n && count <= FEW; i += 8) {
        __m512d v = _mm512_loadu_pd(x + i);
        __mmask8 mask = _mm512_cmp_pd_mask(v, _mm512_set1_pd(bar), _CMP_GE_OQ);
        _mm512_storeu_pd(few + count, _mm512_maskz_compress_pd(mask, v));
        _mm512_storeu_si512(where + count, _mm512_maskz_compress_epi64(mask, place));
        place = _mm512_add_epi64(place, _mm512_set1_epi64(8));
        count += (size_t)__builtin_popcount(mask);
    }
    return count;
}

/* Writes the places of ranks 0..k-1; 0 when ties leave a rank without a holder. */
KERNEL int place_ranks(const ranks32 *ranks, uint32_t k, const double *x, const uint64_t *where, uint32_t *position,
                       double *score)
{
    uint64_t rank[FEW], held = 0;
    uint32_t mask = ranks_below(ranks, k);
    if ((uint32_t)__builtin_popcount(mask) != k)
        return 0;
    for (int q = 0; q < VECTORS; q++)
        _mm512_storeu_si512(rank + 8 * q, ranks->r[q]);
    for (; mask; mask &= mask - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(mask);
        held |= (uint64_t)1 << rank[i];
        position[rank[i]] = (uint32_t)where[i];
        if (score)
            score[rank[i]] = x[i];
    }
    return held == ((uint64_t)1 << k) - 1;
}

/* The k <= 16 best of n > 32; 0 when the tournament must decide. */
KERNEL int by_counting(const double *x, size_t n, uint32_t k, uint32_t *position, double *score)
{
    double fold[FEW], few[FEW + 16];
    uint64_t where[FEW + 16];
    for (size_t q = 0; q < FEW; q += 8) {
        __m512d m = _mm512_loadu_pd(x + q);
        for (size_t i = FEW; i < n; i += FEW)
            m = _mm512_max_pd(m, _mm512_loadu_pd(x + i + q));
        _mm512_storeu_pd(fold + q, m);
    }
    size_t count = collect(x, n, bar_of(fold, k), few, where);
    if (count > FEW)
        return 0;
    for (size_t i = count; i < FEW; i++)
        few[i] = -INFINITY;
    ranks32 ranks = count_ranks(few, count);
    return place_ranks(&ranks, k, few, where, position, score);
}

OLTR_TARGET_AVX512 void topk_f64_avx512(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best,
                                        uint32_t *position, double *score)
{
    if (n <= FEW || k > COUNTING_K || !by_counting(x, n, k, position, score))
        topk_f64_avx2(x, n, k, rng, best, position, score);
}

#else
typedef int no_avx512; /* an empty translation unit is not C */
#endif
