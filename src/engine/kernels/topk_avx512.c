/* topk_avx512.c - the selection as topk_vector.c does it, with what AVX-512 has for it.
 *
 * The four best of 32.  Floats are sorted as integers of the same order, because the larger of two
 * integers is known after one cycle and of two floats after four; and each carries its place in its
 * last five bits, so that nothing has to be looked up in the end.  That decides all but the lists
 * where scores agree in all other bits: these are left to topk_vector.c.  The vectors have 256
 * bits: those of 512 would leave one of three ports idle.
 */
#include "engine/kernels/table.h"

#if OLTR_X86

#include <immintrin.h>

enum { SMALL = 32, SORTING_K = 4 };
enum {
    XOR_OF_AND = 0x78,
    THIS_OR_THAT = 0xD8
}; /* a ^ (b & c); b where c is set, else a: as tables of eight bits */

typedef struct four {
    __m256i a, b, c, d; /* in each lane, falling from a to d */
} four;

/* The best four of two sorted fours, lane by lane: the first half of a bitonic merge and its
 * clean-up. */
AVX512_INLINE four merged(four x, four y)
{
    __m256i a = _mm256_max_epi32(x.a, y.d), b = _mm256_max_epi32(x.b, y.c);
    __m256i c = _mm256_max_epi32(x.c, y.b), d = _mm256_max_epi32(x.d, y.a);
    __m256i ac = _mm256_max_epi32(a, c), ca = _mm256_min_epi32(a, c);
    __m256i bd = _mm256_max_epi32(b, d), db = _mm256_min_epi32(b, d);
    return (four){_mm256_max_epi32(ac, bd), _mm256_min_epi32(ac, bd), _mm256_max_epi32(ca, db),
                  _mm256_min_epi32(ca, db)};
}

/* Eight sorted fours of 32. */
AVX512_INLINE four sorted(four x)
{
    __m256i ab = _mm256_max_epi32(x.a, x.b), ba = _mm256_min_epi32(x.a, x.b);
    __m256i cd = _mm256_max_epi32(x.c, x.d), dc = _mm256_min_epi32(x.c, x.d);
    __m256i p = _mm256_min_epi32(ab, cd), q = _mm256_max_epi32(ba, dc);
    return (four){_mm256_max_epi32(ab, cd), _mm256_max_epi32(p, q), _mm256_min_epi32(p, q),
                  _mm256_min_epi32(ba, dc)};
}

/* The four best of 32, in the first lane. */
AVX512_INLINE four best_four(four t)
{
    t = sorted(t);
    t = merged(t, (four){_mm256_permute4x64_epi64(t.a, 0x4E), _mm256_permute4x64_epi64(t.b, 0x4E),
                         _mm256_permute4x64_epi64(t.c, 0x4E), _mm256_permute4x64_epi64(t.d, 0x4E)});
    t = merged(t, (four){_mm256_shuffle_epi32(t.a, 0x4E), _mm256_shuffle_epi32(t.b, 0x4E),
                         _mm256_shuffle_epi32(t.c, 0x4E), _mm256_shuffle_epi32(t.d, 0x4E)});
    return merged(t, (four){_mm256_shuffle_epi32(t.a, 0xB1), _mm256_shuffle_epi32(t.b, 0xB1),
                            _mm256_shuffle_epi32(t.c, 0xB1), _mm256_shuffle_epi32(t.d, 0xB1)});
}

/* The first values of a, b, c and d. */
AVX512_INLINE __m128i first_lane(four t)
{
    __m128i ab = _mm_unpacklo_epi32(_mm256_castsi256_si128(t.a), _mm256_castsi256_si128(t.b));
    __m128i cd = _mm_unpacklo_epi32(_mm256_castsi256_si128(t.c), _mm256_castsi256_si128(t.d));
    return _mm_unpacklo_epi64(ab, cd);
}

/* A float's bits, the last five of them giving way to its place.  As integers, those of positive
 * floats are in their order, and above all others; with `any_sign`, all are in their order. */
AVX512_INLINE __m256i with_place(__m256 score, int first, bool any_sign)
{
    const __m256i place =
        _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(first));
    __m256i bits = _mm256_castps_si256(score);
    if (any_sign)
        bits = _mm256_ternarylogic_epi32(bits, _mm256_srai_epi32(bits, 31),
                                         _mm256_set1_epi32(INT32_MAX), XOR_OF_AND);
    return _mm256_ternarylogic_epi32(bits, place, _mm256_set1_epi32(SMALL - 1), THIS_OR_THAT);
}

AVX512_INLINE uint32_t reach8(__m256i x, __m256i bar)
{
    return (uint32_t)__builtin_popcount(_cvtmask8_u32(_mm256_cmpge_epi32_mask(x, bar)));
}

/* How many of 32 are no smaller than the fourth of the best, or close to it. */
AVX512_INLINE uint32_t reach_fourth(four x, __m128i best)
{
    __m256i bar = _mm256_broadcastd_epi32(_mm_shuffle_epi32(best, 0xFF));
    bar = _mm256_sub_epi32(bar, _mm256_set1_epi32(2 * SMALL - 1));
    return reach8(x.a, bar) + reach8(x.b, bar) + reach8(x.c, bar) + reach8(x.d, bar);
}

AVX512_INLINE void write_places(__m128i best, uint32_t k, uint32_t *position)
{
    best = _mm_and_si128(best, _mm_set1_epi32(SMALL - 1));
    position[0] = (uint32_t)_mm_cvtsi128_si32(best);
    if (k > 1)
        position[1] = (uint32_t)_mm_extract_epi32(best, 1);
    if (k > 2)
        position[2] = (uint32_t)_mm_extract_epi32(best, 2);
    if (k > 3)
        position[3] = (uint32_t)_mm_extract_epi32(best, 3);
}

/* The places of the k <= 4 best of 32; without `any_sign`, k <= 3, and these must be positive.  0,
 * and nothing written, unless their first bits tell them apart, and from the next: what lies within
 * 64 of one another may be equal, zeros of either sign among them. */
AVX512_INLINE bool small_best(__m256 a, __m256 b, __m256 c, __m256 d, bool any_sign, uint32_t k,
                              uint32_t *position)
{
    const __m128i apart = _mm_set1_epi32(2 * SMALL);
    four x = {with_place(a, 0, any_sign), with_place(b, 8, any_sign), with_place(c, 16, any_sign),
              with_place(d, 24, any_sign)};
    __m128i best = first_lane(best_four(x)),
            gap = _mm_sub_epi32(best, _mm_shuffle_epi32(best, 0xF9));
    __mmask8 close = _mm_cmplt_epu32_mask(gap, apart);
    if (!any_sign)
        close |= _mm_cmplt_epi32_mask(best, apart);
    if (_cvtmask8_u32(close) & ((1u << (k < 4 ? k : 3)) - 1) ||
        (k == 4 && reach_fourth(x, best) != 4))
        return false;
    write_places(best, k, position);
    return true;
}

AVX512_INLINE __m256 gauss8(const float *z, const float *mean, const float *sd)
{
    return _mm256_fmadd_ps(_mm256_loadu_ps(sd), _mm256_loadu_ps(z), _mm256_loadu_ps(mean));
}

TARGET_AVX512 bool topk_gauss_avx512(const float *z, const float *mean, const float *sd, uint32_t k,
                                     uint32_t *position)
{
    return small_best(gauss8(z, mean, sd), gauss8(z + 8, mean + 8, sd + 8),
                      gauss8(z + 16, mean + 16, sd + 16), gauss8(z + 24, mean + 24, sd + 24), false,
                      k, position);
}

TARGET_AVX512 void topk_f32_avx512(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best,
                                   uint32_t *position, double *score)
{
    if (n > SMALL || k > SORTING_K ||
        !small_best(_mm256_loadu_ps(x), _mm256_loadu_ps(x + 8), _mm256_loadu_ps(x + 16),
                    _mm256_loadu_ps(x + 24), true, k, position)) {
        topk_f32_avx2(x, n, k, rng, best, position, score);
        return;
    }
    for (uint32_t slot = 0; score && slot < k; slot++)
        score[slot] = (double)x[position[slot]];
}

/* ---- the four best of 32 doubles, as topk_vector.c finds them, eight at a time */

typedef struct four64 {
    __m512d a, b, c, d; /* in each lane, falling from a to d */
} four64;

AVX512_INLINE four64 merged64(four64 x, four64 y)
{
    __m512d a = _mm512_max_pd(x.a, y.d), b = _mm512_max_pd(x.b, y.c);
    __m512d c = _mm512_max_pd(x.c, y.b), d = _mm512_max_pd(x.d, y.a);
    __m512d ac = _mm512_max_pd(a, c), ca = _mm512_min_pd(a, c), bd = _mm512_max_pd(b, d),
            db = _mm512_min_pd(b, d);
    return (four64){_mm512_max_pd(ac, bd), _mm512_min_pd(ac, bd), _mm512_max_pd(ca, db),
                    _mm512_min_pd(ca, db)};
}

/* Eight sorted fours of 32. */
AVX512_INLINE four64 sorted64(const __m512d x[4])
{
    __m512d ab = _mm512_max_pd(x[0], x[1]), ba = _mm512_min_pd(x[0], x[1]);
    __m512d cd = _mm512_max_pd(x[2], x[3]), dc = _mm512_min_pd(x[2], x[3]);
    __m512d p = _mm512_min_pd(ab, cd), q = _mm512_max_pd(ba, dc);
    return (four64){_mm512_max_pd(ab, cd), _mm512_max_pd(p, q), _mm512_min_pd(p, q),
                    _mm512_min_pd(ba, dc)};
}

/* The place of the value in lane 0; `twice` is not 0 when there are several. */
AVX512_INLINE uint32_t place_of64(__m512d value, const __m512d x[4], uint32_t *twice)
{
    __m512d top = _mm512_broadcastsd_pd(_mm512_castpd512_pd128(value));
    __mmask16 low = _mm512_kunpackb(_mm512_cmp_pd_mask(x[1], top, _CMP_EQ_OQ),
                                    _mm512_cmp_pd_mask(x[0], top, _CMP_EQ_OQ));
    __mmask16 high = _mm512_kunpackb(_mm512_cmp_pd_mask(x[3], top, _CMP_EQ_OQ),
                                     _mm512_cmp_pd_mask(x[2], top, _CMP_EQ_OQ));
    uint32_t mask = _cvtmask32_u32(_mm512_kunpackw(high, low));
    *twice |= mask & (mask - 1);
    return (uint32_t)__builtin_ctz(mask);
}

/* The k <= 4 best of 32; 0 on a tie.  Scores were stored four at a time, and a longer load would
 * have to wait for that. */
AVX512_INLINE bool by_sorting64(const double *score_of, uint32_t k, uint32_t *position,
                                double *score)
{
    __m512d x[4];
    uint32_t twice = 0;
    for (int q = 0; q < 4; q++)
        x[q] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(score_of + 8 * q)),
                                  _mm256_loadu_pd(score_of + 8 * q + 4), 1);
    four64 t = sorted64(x);
    t = merged64(
        t, (four64){_mm512_shuffle_f64x2(t.a, t.a, 0x4E), _mm512_shuffle_f64x2(t.b, t.b, 0x4E),
                    _mm512_shuffle_f64x2(t.c, t.c, 0x4E), _mm512_shuffle_f64x2(t.d, t.d, 0x4E)});
    t = merged64(t, (four64){_mm512_permutex_pd(t.a, 0x4E), _mm512_permutex_pd(t.b, 0x4E),
                             _mm512_permutex_pd(t.c, 0x4E), _mm512_permutex_pd(t.d, 0x4E)});
    t = merged64(t, (four64){_mm512_permute_pd(t.a, 0x55), _mm512_permute_pd(t.b, 0x55),
                             _mm512_permute_pd(t.c, 0x55), _mm512_permute_pd(t.d, 0x55)});
    position[0] = place_of64(t.a, x, &twice);
    if (k > 1)
        position[1] = place_of64(t.b, x, &twice);
    if (k > 2)
        position[2] = place_of64(t.c, x, &twice);
    if (k > 3)
        position[3] = place_of64(t.d, x, &twice);
    for (uint32_t slot = 0; score && slot < k; slot++)
        score[slot] = score_of[position[slot]];
    return !twice;
}

TARGET_AVX512 void topk_f64_avx512(double *x, size_t n, uint32_t k, const oltr_rng *rng,
                                   double *best, uint32_t *position, double *score)
{
    if (n > SMALL || k > SORTING_K || !by_sorting64(x, k, position, score))
        topk_f64_avx2(x, n, k, rng, best, position, score);
}

#else
typedef int no_avx512; /* an empty translation unit is not C */
#endif
