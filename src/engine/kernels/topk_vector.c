/* topk_vector.c - the selection with vectors of eight floats or four doubles. */
#include "engine/kernels/table.h"

#include "engine/kernels/lanes.h"

#if OLTR_LANES

#include <math.h>

#include "engine/kernels/philox.h"

LANES_INLINE float max_f32(const float *x, size_t n)
{
    f8 m = f8_load(x);
    for (size_t i = 8; i < n; i += 8)
        m = f8_max(m, f8_load(x + i));
    return f8_largest(m);
}

LANES_INLINE uint32_t equal_f32(const float *x, float v)
{
    return m8_bits(f8_equal(f8_load(x), f8_all(v)));
}

LANES_INLINE double max_f64(const double *x, size_t n)
{
    d4 m = d4_max(d4_load(x), d4_load(x + 4));
    for (size_t i = 8; i < n; i += 8)
        m = d4_max(m, d4_max(d4_load(x + i), d4_load(x + i + 4)));
    return d4_largest(m);
}

LANES_INLINE uint32_t equal_f64(const double *x, double v)
{
    return d4_equal_bits(d4_load(x), d4_all(v)) | d4_equal_bits(d4_load(x + 4), d4_all(v)) << 4;
}

/* What topk_body.h needs beside the maximum, over masks of eight. */
#define DEFINE_SEARCH(type, suffix)                                                                \
    LANES_INLINE size_t count_##suffix(const type *x, size_t n, type v)                            \
    {                                                                                              \
        size_t count = 0;                                                                          \
        for (size_t i = 0; i < n; i += 8)                                                          \
            count += (size_t)__builtin_popcount(equal_##suffix(x + i, v));                         \
        return count;                                                                              \
    }                                                                                              \
    LANES_INLINE size_t nth_##suffix(const type *x, size_t n, type v, size_t j)                    \
    {                                                                                              \
        for (size_t i = 0; i < n; i += 8) {                                                        \
            uint32_t mask = equal_##suffix(x + i, v);                                              \
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

#define TARGET LANES_TARGET
#define REAL float
#define NAME(part) part##_f32
#include "engine/kernels/topk_body.h"
#define REAL double
#define NAME(part) part##_f64
#include "engine/kernels/topk_body.h"

/* ---- ranking by counting.
 *
 * The slots of a tournament depend on each other.  For short lists, which is nearly all of them, it
 * is faster to compare everything with everything: the rank of a score is the number of scores
 * above it.
 *
 * The n scores are folded into 32 maxima of disjoint groups.  At least K scores reach the K-th
 * largest of these maxima, and few more do: 32 (1/32 + ... + 1/(33-K)) are expected, 12 for K = 10.
 * Those that reach it are collected and ranked by counting.  A tie shows as a rank without a score;
 * then, or if too many reach the bar, the tournament decides.
 */

enum { FOLD = 32, SORTING_K = 4 };

typedef struct ranks32 {
    w8 a, b, c, d;
} ranks32;

LANES_INLINE w8 one_more(w8 rank, f8 other, f8 x)
{
    return w8_sub(rank, m8_words(f8_greater(other, x)));
}

/* ranks of x[0..31] among x[0..n-1], n <= 32 */
LANES_INLINE ranks32 count_ranks(const float *x, size_t n)
{
    f8 va = f8_load(x), vb = f8_load(x + 8), vc = f8_load(x + 16), vd = f8_load(x + 24);
    w8 a = w8_all(0), b = a, c = a, d = a;
#pragma GCC unroll 4
    for (size_t j = 0; j < n; j++) {
        f8 other = f8_all(x[j]);
        a = one_more(a, other, va);
        b = one_more(b, other, vb);
        c = one_more(c, other, vc);
        d = one_more(d, other, vd);
    }
    return (ranks32){a, b, c, d};
}

LANES_INLINE uint32_t bits8(w8 rank, uint32_t k)
{
    return m8_bits(m8_of_signs(w8_sub(rank, w8_all(k)))); /* both are at most 32 */
}

/* Bit i: rank i of 32 is below k. */
LANES_INLINE uint32_t ranks_below(const ranks32 *r, uint32_t k)
{
    return bits8(r->a, k) | bits8(r->b, k) << 8 | bits8(r->c, k) << 16 | bits8(r->d, k) << 24;
}

/* Writes the places of ranks 0..k-1; false when ties leave a rank without a holder. */
LANES_INLINE bool place_ranks(const ranks32 *ranks, uint32_t k, const float *x,
                              const uint32_t *where, uint32_t *position, double *score)
{
    uint32_t rank[FOLD], mask = ranks_below(ranks, k);
    if ((uint32_t)__builtin_popcount(mask) != k)
        return false;
    w8_store(rank, ranks->a);
    w8_store(rank + 8, ranks->b);
    w8_store(rank + 16, ranks->c);
    w8_store(rank + 24, ranks->d);
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

LANES_INLINE f8 least_below(w8 rank, const float *x, uint32_t k)
{
    return f8_select(m8_of_signs(w8_sub(rank, w8_all(k))), f8_load(x), f8_all(INFINITY));
}

/* The largest value that at least k of the 32 maxima reach. */
LANES_INLINE float bar_of(const float *fold, uint32_t k)
{
    ranks32 r = count_ranks(fold, FOLD);
    return f8_least(f8_min(f8_min(least_below(r.a, fold, k), least_below(r.b, fold + 8, k)),
                           f8_min(least_below(r.c, fold + 16, k), least_below(r.d, fold + 24, k))));
}

LANES_INLINE uint32_t reach_32(const float *x, float bar)
{
    uint32_t mask = 0;
    for (int q = 0; q < 4; q++)
        mask |= m8_bits(f8_reaches(f8_load(x + 8 * q), f8_all(bar))) << (8 * q);
    return mask;
}

/* How many of the n scores reach the bar; the first 32 of them go to `near` and `where`. */
LANES_INLINE size_t collect(const float *x, size_t n, float bar, float *near, uint32_t *where)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i += FOLD)
        for (uint32_t mask = reach_32(x + i, bar); mask; mask &= mask - 1) {
            size_t at = i + (size_t)__builtin_ctz(mask);
            if (count < FOLD) {
                near[count] = x[at];
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
 * found by comparison, and a value that occurs twice is a tie.  Named members, not arrays:
 * compilers copy arrays through memory.
 */

typedef struct four32 {
    f8 a, b, c, d; /* in each lane, falling from a to d */
} four32;

LANES_INLINE four32 merged32(four32 x, four32 y)
{
    f8 a = f8_max(x.a, y.d), b = f8_max(x.b, y.c);
    f8 c = f8_max(x.c, y.b), d = f8_max(x.d, y.a);
    f8 ac = f8_max(a, c), ca = f8_min(a, c), bd = f8_max(b, d), db = f8_min(b, d);
    return (four32){f8_max(ac, bd), f8_min(ac, bd), f8_max(ca, db), f8_min(ca, db)};
}

LANES_INLINE four32 sorted32(const float *x)
{
    f8 a = f8_load(x), b = f8_load(x + 8), c = f8_load(x + 16), d = f8_load(x + 24);
    f8 ab = f8_max(a, b), ba = f8_min(a, b), cd = f8_max(c, d), dc = f8_min(c, d);
    f8 p = f8_min(ab, cd), q = f8_max(ba, dc);
    return (four32){f8_max(ab, cd), f8_max(p, q), f8_min(p, q), f8_min(ba, dc)};
}

LANES_INLINE uint32_t where_equal32(const float *x, f8 top)
{
    uint32_t mask = 0;
#pragma GCC unroll 4
    for (int q = 0; q < 4; q++)
        mask |= m8_bits(f8_equal(f8_load(x + 8 * q), top)) << (8 * q);
    return mask;
}

/* Notes the place in a mask of equal scores; not 0 when there are several. */
LANES_INLINE uint32_t note_place(uint32_t mask, uint32_t *position)
{
    *position = (uint32_t)__builtin_ctz(mask);
    return mask & (mask - 1);
}

/* The k <= 4 best of 32; false on a tie. */
LANES_INLINE bool by_sorting32(const float *x, uint32_t k, uint32_t *position, double *score)
{
    four32 t = sorted32(x);
    t = merged32(t, (four32){f8_swap_4(t.a), f8_swap_4(t.b), f8_swap_4(t.c), f8_swap_4(t.d)});
    t = merged32(t, (four32){f8_swap_2(t.a), f8_swap_2(t.b), f8_swap_2(t.c), f8_swap_2(t.d)});
    t = merged32(t, (four32){f8_swap_1(t.a), f8_swap_1(t.b), f8_swap_1(t.c), f8_swap_1(t.d)});
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

LANES_INLINE bool by_counting(const float *x, size_t n, uint32_t k, uint32_t *position,
                              double *score)
{
    if (n <= FOLD && k <= SORTING_K)
        return by_sorting32(x, k, position, score);
    if (n <= FOLD) {
        ranks32 ranks = count_ranks(x, n);
        return place_ranks(&ranks, k, x, NULL, position, score);
    }
    float fold[FOLD], near[FOLD];
    uint32_t where[FOLD];
    for (int q = 0; q < 4; q++) {
        f8 m = f8_load(x + 8 * q);
        for (size_t i = FOLD; i < n; i += FOLD)
            m = f8_max(m, f8_load(x + i + 8 * (size_t)q));
        f8_store(fold + 8 * q, m);
    }
    for (int i = 0; i < FOLD; i++)
        near[i] = -INFINITY;
    size_t count = collect(x, n, bar_of(fold, k), near, where);
    if (count > FOLD)
        return false;
    ranks32 ranks = count_ranks(near, count);
    return place_ranks(&ranks, k, near, where, position, score);
}

typedef struct four64 {
    d4 a, b, c, d;
} four64;

LANES_INLINE four64 merged64(four64 x, four64 y)
{
    d4 a = d4_max(x.a, y.d), b = d4_max(x.b, y.c), c = d4_max(x.c, y.b), d = d4_max(x.d, y.a);
    d4 ac = d4_max(a, c), ca = d4_min(a, c), bd = d4_max(b, d), db = d4_min(b, d);
    return (four64){d4_max(ac, bd), d4_min(ac, bd), d4_max(ca, db), d4_min(ca, db)};
}

LANES_INLINE four64 sorted64(const double *x)
{
    d4 a = d4_load(x), b = d4_load(x + 4), c = d4_load(x + 8), d = d4_load(x + 12);
    d4 ab = d4_max(a, b), ba = d4_min(a, b), cd = d4_max(c, d), dc = d4_min(c, d);
    d4 first = d4_max(ab, cd), p = d4_min(ab, cd), q = d4_max(ba, dc), last = d4_min(ba, dc);
    return (four64){first, d4_max(p, q), d4_min(p, q), last};
}

LANES_INLINE uint32_t where_equal64(const double *x, d4 top)
{
    uint32_t mask = 0;
#pragma GCC unroll 8
    for (int q = 0; q < 8; q++)
        mask |= d4_equal_bits(d4_load(x + 4 * q), top) << (4 * q);
    return mask;
}

/* The k <= 4 best of 32; false on a tie. */
LANES_INLINE bool by_sorting64(const double *x, uint32_t k, uint32_t *position, double *score)
{
    four64 t = merged64(sorted64(x), sorted64(x + 16));
    t = merged64(t, (four64){d4_swap_2(t.a), d4_swap_2(t.b), d4_swap_2(t.c), d4_swap_2(t.d)});
    t = merged64(t, (four64){d4_swap_1(t.a), d4_swap_1(t.b), d4_swap_1(t.c), d4_swap_1(t.d)});
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

/* A bar that k of the n doubles reach at least.  The maxima are ranked as floats: rounding keeps
 * their order, so the k-th of them is at most one float above the k-th of the doubles. */
LANES_INLINE double bar_of64(const double *x, size_t n, uint32_t k)
{
    double fold[FOLD];
    float rounded[FOLD];
    for (size_t half = 0; half < FOLD; half += FOLD / 2) {
        const double *at = x + half;
        four64 m = {d4_load(at), d4_load(at + 4), d4_load(at + 8), d4_load(at + 12)};
        for (at += FOLD; at < x + n; at += FOLD)
            m = (four64){d4_max(m.a, d4_load(at)), d4_max(m.b, d4_load(at + 4)),
                         d4_max(m.c, d4_load(at + 8)), d4_max(m.d, d4_load(at + 12))};
        d4_store(fold + half, m.a);
        d4_store(fold + half + 4, m.b);
        d4_store(fold + half + 8, m.c);
        d4_store(fold + half + 12, m.d);
    }
    for (int i = 0; i < FOLD; i++)
        rounded[i] = (float)fold[i];
    return (double)nextafterf(bar_of(rounded, k), -INFINITY);
}

/* As collect(), but ends with the 33rd. */
LANES_INLINE size_t collect64(const double *x, size_t n, double bar, double *near, uint32_t *where)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i += 8)
        for (uint32_t mask = d4_reaches_bits(d4_load(x + i), d4_all(bar)) |
                             d4_reaches_bits(d4_load(x + i + 4), d4_all(bar)) << 4;
             mask; mask &= mask - 1) {
            if (count == FOLD)
                return FOLD + 1;
            size_t at = i + (size_t)__builtin_ctz(mask);
            near[count] = x[at];
            where[count++] = (uint32_t)at;
        }
    return count;
}

/* How many of the first `count` scores, padded to four with -infinity, are above one of them. */
LANES_INLINE uint32_t rank64(const double *near, size_t count, double score)
{
    uint32_t not_above = 0;
    for (size_t i = 0; i < count; i += 4)
        not_above +=
            (uint32_t)__builtin_popcount(d4_reaches_bits(d4_all(score), d4_load(near + i)));
    return (uint32_t)(count + 3) / 4 * 4 - not_above;
}

LANES_INLINE bool by_counting64(const double *x, size_t n, uint32_t k, uint32_t *position,
                                double *score)
{
    double near[FOLD];
    uint32_t where[FOLD], held = 0, placed = 0;
    size_t count = collect64(x, n, bar_of64(x, n, k), near, where);
    if (count > FOLD)
        return false;
    for (size_t i = count; i % 4; i++)
        near[i] = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        uint32_t rank = rank64(near, count, near[i]);
        if (rank >= k)
            continue;
        placed++;
        held |= 1u << rank;
        position[rank] = where[i];
        if (score)
            score[rank] = near[i];
    }
    return placed == k && held == (1u << k) - 1;
}

enum { PLAIN_SCORES = 64, COUNTING_K = 16 /* beyond, too many scores reach the bar */ };

/* Counting passes over all scores twice, the tournament once and over some of them for each slot:
 * 0.17 us against 0.56 for 10 of 316 doubles, 2.3 against 1.8 for 10 of 10,000. */
LANES_INLINE bool counting_is_faster64(size_t n, uint32_t k)
{
    return k > 1 && k <= COUNTING_K && n <= (size_t)128 * k;
}

/* More than four of up to 64 scores: plain C is faster by up to 45 %.  A score that is struck out
 * is a short store, and a long load that covers it has to wait until it is in the cache.  Up to
 * four slots come here with ties only, where the tournament is faster: 240 ns against 400 for a
 * round of `random` with 30 items. */
LANES_INLINE bool plain_is_faster(size_t n, uint32_t k)
{
    return n <= PLAIN_SCORES && k > SORTING_K;
}

LANES_TARGET void VERSION(topk_f64)(double *x, size_t n, uint32_t k, const oltr_rng *rng,
                                    double *best, uint32_t *position, double *score)
{
    if (n <= FOLD ? k <= SORTING_K && by_sorting64(x, k, position, score)
                  : counting_is_faster64(n, k) && by_counting64(x, n, k, position, score))
        return;
    (plain_is_faster(n, k) ? topk_f64_plain : tournament_f64)(x, n, k, rng, best, position, score);
}

LANES_TARGET void VERSION(topk_f32)(float *x, size_t n, uint32_t k, const oltr_rng *rng,
                                    float *best, uint32_t *position, double *score)
{
    if (k <= COUNTING_K && by_counting(x, n, k, position, score))
        return;
    (plain_is_faster(n, k) ? topk_f32_plain : tournament_f32)(x, n, k, rng, best, position, score);
}

#else
typedef int no_lanes; /* an empty translation unit is not C */
#endif
