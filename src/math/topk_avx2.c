/* topk_avx2.c - the selection with vectors of eight floats or four doubles. */
#include "math/topk.h"

#include "base/cpu.h"

#if OLTR_HAVE_AVX2

#include <immintrin.h>
#include <math.h>

#include "rng/philox.h"
#include "rng/sample.h"

#define KERNEL OLTR_TARGET_AVX2 static inline __attribute__((always_inline))

KERNEL float max_f32(const float *x, size_t n)
{
    __m256 m = _mm256_loadu_ps(x);
    for (size_t i = 8; i < n; i += 8)
        m = _mm256_max_ps(m, _mm256_loadu_ps(x + i));
    __m128 h = _mm_max_ps(_mm256_castps256_ps128(m), _mm256_extractf128_ps(m, 1));
    h = _mm_max_ps(h, _mm_movehl_ps(h, h));
    h = _mm_max_ss(h, _mm_movehdup_ps(h));
    return _mm_cvtss_f32(h);
}

KERNEL unsigned equal_f32(const float *x, float v)
{
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x), _mm256_set1_ps(v), _CMP_EQ_OQ));
}

KERNEL double max_f64(const double *x, size_t n)
{
    __m256d m = _mm256_max_pd(_mm256_loadu_pd(x), _mm256_loadu_pd(x + 4));
    for (size_t i = 8; i < n; i += 8)
        m = _mm256_max_pd(m, _mm256_max_pd(_mm256_loadu_pd(x + i), _mm256_loadu_pd(x + i + 4)));
    __m128d h = _mm_max_pd(_mm256_castpd256_pd128(m), _mm256_extractf128_pd(m, 1));
    return _mm_cvtsd_f64(_mm_max_sd(h, _mm_unpackhi_pd(h, h)));
}

KERNEL unsigned equal_f64(const double *x, double v)
{
    __m256d low = _mm256_cmp_pd(_mm256_loadu_pd(x), _mm256_set1_pd(v), _CMP_EQ_OQ);
    __m256d high = _mm256_cmp_pd(_mm256_loadu_pd(x + 4), _mm256_set1_pd(v), _CMP_EQ_OQ);
    return (unsigned)_mm256_movemask_pd(low) | (unsigned)_mm256_movemask_pd(high) << 4;
}

/* COUNT_EQUAL and NTH_EQUAL over masks of eight */
#define DEFINE_SEARCH(type, suffix)                                                                                  \
    KERNEL size_t count_##suffix(const type *x, size_t n, type v)                                                    \
    {                                                                                                                \
        size_t count = 0;                                                                                            \
        for (size_t i = 0; i < n; i += 8)                                                                            \
            count += (size_t)__builtin_popcount(equal_##suffix(x + i, v));                                           \
        return count;                                                                                                \
    }                                                                                                                \
    KERNEL size_t nth_##suffix(const type *x, size_t n, type v, size_t j)                                            \
    {                                                                                                                \
        for (size_t i = 0; i < n; i += 8) {                                                                          \
            unsigned mask = equal_##suffix(x + i, v);                                                                \
            size_t here = (size_t)__builtin_popcount(mask);                                                          \
            if (j < here) {                                                                                          \
                for (; j; j--)                                                                                       \
                    mask &= mask - 1;                                                                                \
                return i + (size_t)__builtin_ctz(mask);                                                              \
            }                                                                                                        \
            j -= here;                                                                                               \
        }                                                                                                            \
        return 0;                                                                                                    \
    }

DEFINE_SEARCH(float, f32)
DEFINE_SEARCH(double, f64)

#define TARGET_PICK OLTR_TARGET_AVX2
#define TARGET OLTR_TARGET_AVX2 static
#define REAL float
#define SELECT tournament_f32
#define SELECT_PICK pick_f32
#define MAX_OF max_f32
#define COUNT_EQUAL count_f32
#define NTH_EQUAL nth_f32
#include "math/topk_body.h"
#undef TARGET
#undef REAL
#undef SELECT
#undef SELECT_PICK
#undef MAX_OF
#undef COUNT_EQUAL
#undef NTH_EQUAL

#define TARGET OLTR_TARGET_AVX2
#define REAL double
#define SELECT topk_f64_avx2
#define SELECT_PICK pick_f64
#define MAX_OF max_f64
#define COUNT_EQUAL count_f64
#define NTH_EQUAL nth_f64
#include "math/topk_body.h"

/* ---- ranking by counting --------------------------------------------------------------------------------
 *
 * The tournament waits for each slot's result before it can start the next.  For short lists, which is nearly all of
 * them, it is faster to compare everything with everything: the rank of a score is the number of scores above it.
 *   1. Fold the n scores into 32 maxima of disjoint groups.  At least K scores reach the K-th largest of these maxima,
 *      and few more do: 32 (1/32 + ... + 1/(33-K)) are expected, 12 for K = 10.
 *   2. Collect the scores that reach it, and rank these by counting.
 * A tie shows as a rank that nobody holds; then, or if too many reach the bar, the tournament decides.
 */

enum { FOLD = 32, STRIKING_K = 4 };

typedef struct ranks32 {
    __m256i r[4];
} ranks32;

/* ranks of x[0..31] among x[0..n-1], n <= 32 */
KERNEL ranks32 count_ranks(const float *x, size_t n)
{
    __m256 v[4];
    ranks32 ranks;
    for (int q = 0; q < 4; q++) {
        v[q] = _mm256_loadu_ps(x + 8 * q);
        ranks.r[q] = _mm256_setzero_si256();
    }
#pragma GCC unroll 4
    for (size_t j = 0; j < n; j++) {
        __m256 other = _mm256_broadcast_ss(x + j);
        for (int q = 0; q < 4; q++)
            ranks.r[q] = _mm256_sub_epi32(ranks.r[q], _mm256_castps_si256(_mm256_cmp_ps(other, v[q], _CMP_GT_OQ)));
    }
    return ranks;
}

/* Bit i: rank i of 32 is below k. */
KERNEL uint32_t ranks_below(const ranks32 *ranks, uint32_t k)
{
    uint32_t mask = 0;
    for (int q = 0; q < 4; q++) {
        __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)k), ranks->r[q]);
        mask |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(below)) << (8 * q);
    }
    return mask;
}

/* Writes the places of ranks 0..k-1; 0 when ties leave a rank without a holder. */
KERNEL int place_ranks(const ranks32 *ranks, uint32_t k, const float *x, const uint32_t *where, uint32_t *position,
                       double *score)
{
    uint32_t rank[FOLD], mask = ranks_below(ranks, k);
    if ((uint32_t)__builtin_popcount(mask) != k)
        return 0;
    for (int q = 0; q < 4; q++)
        _mm256_storeu_si256((__m256i *)(void *)(rank + 8 * q), ranks->r[q]);
    uint64_t held = 0;
    for (; mask; mask &= mask - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(mask);
        held |= (uint64_t)1 << rank[i];
        position[rank[i]] = where ? where[i] : i;
        if (score)
            score[rank[i]] = (double)x[i];
    }
    return held == ((uint64_t)1 << k) - 1;
}

/* The largest value that at least k of the 32 maxima reach. */
KERNEL float bar_of(const float *fold, uint32_t k)
{
    ranks32 ranks = count_ranks(fold, FOLD);
    __m256 least = _mm256_set1_ps(INFINITY);
    for (int q = 0; q < 4; q++) {
        __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)k), ranks.r[q]);
        least = _mm256_min_ps(least, _mm256_blendv_ps(_mm256_set1_ps(INFINITY), _mm256_loadu_ps(fold + 8 * q),
                                                      _mm256_castsi256_ps(below)));
    }
    float eight[8];
    _mm256_storeu_ps(eight, _mm256_sub_ps(_mm256_setzero_ps(), least));
    return -max_f32(eight, 8);
}

KERNEL uint32_t reach_32(const float *x, __m256 bar)
{
    uint32_t mask = 0;
    for (int q = 0; q < 4; q++)
        mask |= (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x + 8 * q), bar, _CMP_GE_OQ)) << (8 * q);
    return mask;
}

/* How many of the n scores reach the bar; the first 32 of them go to `few` and `where`. */
KERNEL size_t collect(const float *x, size_t n, float bar, float *few, uint32_t *where)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i += FOLD)
        for (uint32_t mask = reach_32(x + i, _mm256_set1_ps(bar)); mask; mask &= mask - 1) {
            size_t at = i + (size_t)__builtin_ctz(mask);
            if (count < FOLD) {
                few[count] = x[at];
                where[count] = (uint32_t)at;
            }
            count++;
        }
    return count;
}

/* The k best of 32 scores by k rounds of "find the largest, strike it out", all in registers; 0 on a tie. */
KERNEL int by_striking(const float *x, uint32_t k, uint32_t *position, double *score)
{
    __m256 v[4];
    for (int q = 0; q < 4; q++)
        v[q] = _mm256_loadu_ps(x + 8 * q);
    for (uint32_t slot = 0; slot < k; slot++) {
        __m256 top = _mm256_max_ps(_mm256_max_ps(v[0], v[1]), _mm256_max_ps(v[2], v[3]));
        top = _mm256_max_ps(top, _mm256_permute2f128_ps(top, top, 1));
        top = _mm256_max_ps(top, _mm256_permute_ps(top, 0x4E));
        top = _mm256_max_ps(top, _mm256_permute_ps(top, 0xB1));
        uint32_t mask = 0;
        for (int q = 0; q < 4; q++) {
            __m256 equal = _mm256_cmp_ps(v[q], top, _CMP_EQ_OQ);
            mask |= (uint32_t)_mm256_movemask_ps(equal) << (8 * q);
            v[q] = _mm256_blendv_ps(v[q], _mm256_set1_ps(-INFINITY), equal);
        }
        if (mask & (mask - 1))
            return 0;
        position[slot] = (uint32_t)__builtin_ctz(mask);
        if (score)
            score[slot] = (double)x[position[slot]];
    }
    return 1;
}

KERNEL int by_counting(const float *x, size_t n, uint32_t k, uint32_t *position, double *score)
{
    if (n <= FOLD && k <= STRIKING_K)
        return by_striking(x, k, position, score);
    if (n <= FOLD) {
        ranks32 ranks = count_ranks(x, n);
        return place_ranks(&ranks, k, x, NULL, position, score);
    }
    float fold[FOLD], few[FOLD];
    uint32_t where[FOLD];
    for (int q = 0; q < 4; q++) {
        __m256 m = _mm256_loadu_ps(x + 8 * q);
        for (size_t i = FOLD; i < n; i += FOLD)
            m = _mm256_max_ps(m, _mm256_loadu_ps(x + i + 8 * (size_t)q));
        _mm256_storeu_ps(fold + 8 * q, m);
    }
    for (int i = 0; i < FOLD; i++)
        few[i] = -INFINITY;
    size_t count = collect(x, n, bar_of(fold, k), few, where);
    if (count > FOLD)
        return 0;
    ranks32 ranks = count_ranks(few, count);
    return place_ranks(&ranks, k, few, where, position, score);
}

enum { COUNTING_K = 16 }; /* beyond, too many scores reach the bar */

OLTR_TARGET_AVX2 void topk_f32_avx2(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best,
                                    uint32_t *position, double *score)
{
    if (k > COUNTING_K || !by_counting(x, n, k, position, score))
        tournament_f32(x, n, k, rng, best, position, score);
}

#else
typedef int no_avx2; /* an empty translation unit is not C */
#endif
