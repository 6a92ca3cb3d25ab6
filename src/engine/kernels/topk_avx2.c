/* topk_avx2.c - the selection with vectors of eight floats or four doubles. */
#include "engine/kernels/table.h"

#if OLTR_X86

#include <immintrin.h>
#include <math.h>

#include "engine/kernels/philox.h"

AVX2_INLINE float max_f32(const float *x, size_t n)
{
    __m256 m = _mm256_loadu_ps(x);
    for (size_t i = 8; i < n; i += 8)
        m = _mm256_max_ps(m, _mm256_loadu_ps(x + i));
    __m128 h = _mm_max_ps(_mm256_castps256_ps128(m), _mm256_extractf128_ps(m, 1));
    h = _mm_max_ps(h, _mm_movehl_ps(h, h));
    h = _mm_max_ss(h, _mm_movehdup_ps(h));
    return _mm_cvtss_f32(h);
}

AVX2_INLINE unsigned equal_f32(const float *x, float v)
{
    return (unsigned)_mm256_movemask_ps(
        _mm256_cmp_ps(_mm256_loadu_ps(x), _mm256_set1_ps(v), _CMP_EQ_OQ));
}

AVX2_INLINE double max_f64(const double *x, size_t n)
{
    __m256d m = _mm256_max_pd(_mm256_loadu_pd(x), _mm256_loadu_pd(x + 4));
    for (size_t i = 8; i < n; i += 8)
        m = _mm256_max_pd(m, _mm256_max_pd(_mm256_loadu_pd(x + i), _mm256_loadu_pd(x + i + 4)));
    __m128d h = _mm_max_pd(_mm256_castpd256_pd128(m), _mm256_extractf128_pd(m, 1));
    return _mm_cvtsd_f64(_mm_max_sd(h, _mm_unpackhi_pd(h, h)));
}

AVX2_INLINE unsigned equal_f64(const double *x, double v)
{
    __m256d low = _mm256_cmp_pd(_mm256_loadu_pd(x), _mm256_set1_pd(v), _CMP_EQ_OQ);
    __m256d high = _mm256_cmp_pd(_mm256_loadu_pd(x + 4), _mm256_set1_pd(v), _CMP_EQ_OQ);
    return (unsigned)_mm256_movemask_pd(low) | (unsigned)_mm256_movemask_pd(high) << 4;
}

/* COUNT_EQUAL and NTH_EQUAL over masks of eight */
#define DEFINE_SEARCH(type, suffix)                                                                \
    AVX2_INLINE size_t count_##suffix(const type *x, size_t n, type v)                             \
    {                                                                                              \
        size_t count = 0;                                                                          \
        for (size_t i = 0; i < n; i += 8)                                                          \
            count += (size_t)__builtin_popcount(equal_##suffix(x + i, v));                         \
        return count;                                                                              \
    }                                                                                              \
    AVX2_INLINE size_t nth_##suffix(const type *x, size_t n, type v, size_t j)                     \
    {                                                                                              \
        for (size_t i = 0; i < n; i += 8) {                                                        \
            unsigned mask = equal_##suffix(x + i, v);                                              \
            size_t here = (size_t)__builtin_popcount(mask);                                        \
            if (j < here) {                                                                        \
                for (; j; j--)                                                                     \
                    mask &= mask - 1;                                                              \
                return i + (size_t)__builtin_ctz(mask);                                            \
            }                                                                                      \
            j -= here;                                                                             \
        }                                                                                          \
        return 0;                                                                                  \
    }

DEFINE_SEARCH(float, f32)
DEFINE_SEARCH(double, f64)

#define TARGET TARGET_AVX2
#define REAL float
#define NAME(part) part##_f32
#include "engine/kernels/topk_body.h"
#define REAL double
#define NAME(part) part##_f64
#include "engine/kernels/topk_body.h"

/* ---- ranking by counting.
 *
 * The tournament waits for each slot's result before it can start the next.  For short lists, which
 * is nearly all of them, it is faster to compare everything with everything: the rank of a score is
 * the number of scores above it.
 *   1. Fold the n scores into 32 maxima of disjoint groups.  At least K scores reach the K-th
 * largest of these maxima, and few more do: 32 (1/32 + ... + 1/(33-K)) are expected, 12 for K = 10.
 *   2. Collect the scores that reach it, and rank these by counting.
 * A tie shows as a rank that nobody holds; then, or if too many reach the bar, the tournament
 * decides.
 */

enum { FOLD = 32, SORTING_K = 4 };

typedef struct ranks32 {
    __m256i a, b, c, d;
} ranks32;

AVX2_INLINE __m256i one_more(__m256i rank, __m256 other, __m256 x)
{
    return _mm256_sub_epi32(rank, _mm256_castps_si256(_mm256_cmp_ps(other, x, _CMP_GT_OQ)));
}

/* ranks of x[0..31] among x[0..n-1], n <= 32 */
AVX2_INLINE ranks32 count_ranks(const float *x, size_t n)
{
    __m256 va = _mm256_loadu_ps(x), vb = _mm256_loadu_ps(x + 8), vc = _mm256_loadu_ps(x + 16),
           vd = _mm256_loadu_ps(x + 24);
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
#pragma GCC unroll 4
    for (size_t j = 0; j < n; j++) {
        __m256 other = _mm256_broadcast_ss(x + j);
        a = one_more(a, other, va);
        b = one_more(b, other, vb);
        c = one_more(c, other, vc);
        d = one_more(d, other, vd);
    }
    return (ranks32){a, b, c, d};
}

AVX2_INLINE uint32_t bits8(__m256i rank, uint32_t k)
{
    return (uint32_t)_mm256_movemask_ps(
        _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32((int)k), rank)));
}

/* Bit i: rank i of 32 is below k. */
AVX2_INLINE uint32_t ranks_below(const ranks32 *r, uint32_t k)
{
    return bits8(r->a, k) | bits8(r->b, k) << 8 | bits8(r->c, k) << 16 | bits8(r->d, k) << 24;
}

/* Writes the places of ranks 0..k-1; 0 when ties leave a rank without a holder. */
AVX2_INLINE int place_ranks(const ranks32 *ranks, uint32_t k, const float *x, const uint32_t *where,
                            uint32_t *position, double *score)
{
    uint32_t rank[FOLD], mask = ranks_below(ranks, k);
    if ((uint32_t)__builtin_popcount(mask) != k)
        return 0;
    _mm256_storeu_si256((__m256i *)(void *)rank, ranks->a);
    _mm256_storeu_si256((__m256i *)(void *)(rank + 8), ranks->b);
    _mm256_storeu_si256((__m256i *)(void *)(rank + 16), ranks->c);
    _mm256_storeu_si256((__m256i *)(void *)(rank + 24), ranks->d);
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

AVX2_INLINE __m256 least_below(__m256i rank, const float *x, uint32_t k)
{
    __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)k), rank);
    return _mm256_blendv_ps(_mm256_set1_ps(INFINITY), _mm256_loadu_ps(x),
                            _mm256_castsi256_ps(below));
}

/* The largest value that at least k of the 32 maxima reach. */
AVX2_INLINE float bar_of(const float *fold, uint32_t k)
{
    ranks32 r = count_ranks(fold, FOLD);
    __m256 least = _mm256_min_ps(
        _mm256_min_ps(least_below(r.a, fold, k), least_below(r.b, fold + 8, k)),
        _mm256_min_ps(least_below(r.c, fold + 16, k), least_below(r.d, fold + 24, k)));
    __m128 h = _mm_min_ps(_mm256_castps256_ps128(least), _mm256_extractf128_ps(least, 1));
    h = _mm_min_ps(h, _mm_movehl_ps(h, h));
    h = _mm_min_ss(h, _mm_movehdup_ps(h));
    return _mm_cvtss_f32(h);
}

AVX2_INLINE uint32_t reach_32(const float *x, __m256 bar)
{
    uint32_t mask = 0;
    for (int q = 0; q < 4; q++)
        mask |=
            (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x + 8 * q), bar, _CMP_GE_OQ))
            << (8 * q);
    return mask;
}

/* How many of the n scores reach the bar; the first 32 of them go to `few` and `where`. */
AVX2_INLINE size_t collect(const float *x, size_t n, float bar, float *few, uint32_t *where)
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

/* ---- the four best of 32.
 *
 * For the shortest lists a sorting network beats any search: four vectors are sorted lane by lane,
 * then lanes are merged, each merge keeping the best four of two sorted fours (the first half of a
 * bitonic merge and its clean-up).  What is left are the four largest values; where they stand is
 * found by comparison, and a value that stands twice is a tie.  Named members, not arrays:
 * compilers copy arrays through memory.
 */

typedef struct four32 {
    __m256 a, b, c, d; /* in each lane, falling from a to d */
} four32;

AVX2_INLINE four32 merged32(four32 x, four32 y)
{
    __m256 a = _mm256_max_ps(x.a, y.d), b = _mm256_max_ps(x.b, y.c);
    __m256 c = _mm256_max_ps(x.c, y.b), d = _mm256_max_ps(x.d, y.a);
    __m256 ac = _mm256_max_ps(a, c), ca = _mm256_min_ps(a, c), bd = _mm256_max_ps(b, d),
           db = _mm256_min_ps(b, d);
    return (four32){_mm256_max_ps(ac, bd), _mm256_min_ps(ac, bd), _mm256_max_ps(ca, db),
                    _mm256_min_ps(ca, db)};
}

AVX2_INLINE four32 sorted32(const float *x)
{
    __m256 a = _mm256_loadu_ps(x), b = _mm256_loadu_ps(x + 8), c = _mm256_loadu_ps(x + 16),
           d = _mm256_loadu_ps(x + 24);
    __m256 ab = _mm256_max_ps(a, b), ba = _mm256_min_ps(a, b), cd = _mm256_max_ps(c, d),
           dc = _mm256_min_ps(c, d);
    __m256 p = _mm256_min_ps(ab, cd), q = _mm256_max_ps(ba, dc);
    return (four32){_mm256_max_ps(ab, cd), _mm256_max_ps(p, q), _mm256_min_ps(p, q),
                    _mm256_min_ps(ba, dc)};
}

AVX2_INLINE uint32_t where_equal32(const float *x, __m256 top)
{
    uint32_t mask = 0;
#pragma GCC unroll 4
    for (int q = 0; q < 4; q++)
        mask |=
            (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x + 8 * q), top, _CMP_EQ_OQ))
            << (8 * q);
    return mask;
}

/* Notes the place in a mask of equal scores; not 0 when there are several. */
AVX2_INLINE uint32_t note_place(uint32_t mask, uint32_t *position)
{
    *position = (uint32_t)__builtin_ctz(mask);
    return mask & (mask - 1);
}

/* The k <= 4 best of 32; 0 on a tie. */
AVX2_INLINE int by_sorting32(const float *x, uint32_t k, uint32_t *position, double *score)
{
    four32 t = sorted32(x);
    t = merged32(
        t, (four32){_mm256_permute2f128_ps(t.a, t.a, 1), _mm256_permute2f128_ps(t.b, t.b, 1),
                    _mm256_permute2f128_ps(t.c, t.c, 1), _mm256_permute2f128_ps(t.d, t.d, 1)});
    t = merged32(t, (four32){_mm256_permute_ps(t.a, 0x4E), _mm256_permute_ps(t.b, 0x4E),
                             _mm256_permute_ps(t.c, 0x4E), _mm256_permute_ps(t.d, 0x4E)});
    t = merged32(t, (four32){_mm256_permute_ps(t.a, 0xB1), _mm256_permute_ps(t.b, 0xB1),
                             _mm256_permute_ps(t.c, 0xB1), _mm256_permute_ps(t.d, 0xB1)});
    uint32_t twice = note_place(where_equal32(x, t.a), &position[0]);
    if (k > 1)
        twice |= note_place(where_equal32(x, t.b), &position[1]);
    if (k > 2)
        twice |= note_place(where_equal32(x, t.c), &position[2]);
    if (k > 3)
        twice |= note_place(where_equal32(x, t.d), &position[3]);
    for (uint32_t slot = 0; score && slot < k; slot++)
        score[slot] = (double)x[position[slot]];
    return !twice;
}

AVX2_INLINE int by_counting(const float *x, size_t n, uint32_t k, uint32_t *position, double *score)
{
    if (n <= FOLD && k <= SORTING_K)
        return by_sorting32(x, k, position, score);
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

typedef struct four64 {
    __m256d a, b, c, d;
} four64;

AVX2_INLINE four64 merged64(four64 x, four64 y)
{
    __m256d a = _mm256_max_pd(x.a, y.d), b = _mm256_max_pd(x.b, y.c), c = _mm256_max_pd(x.c, y.b),
            d = _mm256_max_pd(x.d, y.a);
    __m256d ac = _mm256_max_pd(a, c), ca = _mm256_min_pd(a, c), bd = _mm256_max_pd(b, d),
            db = _mm256_min_pd(b, d);
    return (four64){_mm256_max_pd(ac, bd), _mm256_min_pd(ac, bd), _mm256_max_pd(ca, db),
                    _mm256_min_pd(ca, db)};
}

AVX2_INLINE four64 sorted64(const double *x)
{
    __m256d a = _mm256_loadu_pd(x), b = _mm256_loadu_pd(x + 4), c = _mm256_loadu_pd(x + 8),
            d = _mm256_loadu_pd(x + 12);
    __m256d ab = _mm256_max_pd(a, b), ba = _mm256_min_pd(a, b), cd = _mm256_max_pd(c, d),
            dc = _mm256_min_pd(c, d);
    __m256d first = _mm256_max_pd(ab, cd), p = _mm256_min_pd(ab, cd), q = _mm256_max_pd(ba, dc),
            last = _mm256_min_pd(ba, dc);
    return (four64){first, _mm256_max_pd(p, q), _mm256_min_pd(p, q), last};
}

AVX2_INLINE uint32_t where_equal64(const double *x, __m256d top)
{
    uint32_t mask = 0;
#pragma GCC unroll 8
    for (int q = 0; q < 8; q++)
        mask |=
            (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(x + 4 * q), top, _CMP_EQ_OQ))
            << (4 * q);
    return mask;
}

/* The k <= 4 best of 32; 0 on a tie. */
AVX2_INLINE int by_sorting64(const double *x, uint32_t k, uint32_t *position, double *score)
{
    four64 t = merged64(sorted64(x), sorted64(x + 16));
    t = merged64(
        t, (four64){_mm256_permute2f128_pd(t.a, t.a, 1), _mm256_permute2f128_pd(t.b, t.b, 1),
                    _mm256_permute2f128_pd(t.c, t.c, 1), _mm256_permute2f128_pd(t.d, t.d, 1)});
    t = merged64(t, (four64){_mm256_permute_pd(t.a, 5), _mm256_permute_pd(t.b, 5),
                             _mm256_permute_pd(t.c, 5), _mm256_permute_pd(t.d, 5)});
    uint32_t twice = note_place(where_equal64(x, t.a), &position[0]);
    if (k > 1)
        twice |= note_place(where_equal64(x, t.b), &position[1]);
    if (k > 2)
        twice |= note_place(where_equal64(x, t.c), &position[2]);
    if (k > 3)
        twice |= note_place(where_equal64(x, t.d), &position[3]);
    for (uint32_t slot = 0; score && slot < k; slot++)
        score[slot] = x[position[slot]];
    return !twice;
}

TARGET_AVX2 void topk_f64_avx2(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best,
                               uint32_t *position, double *score)
{
    if (n > FOLD || k > SORTING_K || !by_sorting64(x, k, position, score))
        tournament_f64(x, n, k, rng, best, position, score);
}

enum { COUNTING_K = 16 }; /* beyond, too many scores reach the bar */

TARGET_AVX2 void topk_f32_avx2(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best,
                               uint32_t *position, double *score)
{
    if (k > COUNTING_K || !by_counting(x, n, k, position, score))
        tournament_f32(x, n, k, rng, best, position, score);
}

#else
typedef int no_avx2; /* an empty translation unit is not C */
#endif
