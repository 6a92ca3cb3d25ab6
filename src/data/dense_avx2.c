/* dense_avx2.c - dense rows, a value at a time without a branch; see dense.h.
 *
 * In a dense row the next feature's id is known, and with it where the value begins: "17:" is compared as eight bytes, and no one waits for
 * the outcome.  Sixteen bytes from there are looked at together: the first blank ends the value, the first point divides it.  One shuffle,
 * picked by the two places and the sign (make_tables), drops sign and point and moves the digits to the right end; three multiply-and-add steps make two
 * integers of them.  The division rounds once, and the middle between two floats is refused (line.c has the reason).
 * What is wrong is collected and asked for once a group: the only thing that one value waits for is the end of the one before.
 */
#include "data/dense.h"

#include "base/cpu.h"

#if OLTR_HAVE_AVX2

#include <immintrin.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* By sign and length - point: no point, then a point with 0, 1, 2, ... digits behind it. */
static const double divisor[2 * DENSE_LANES] = {1e0,  1e0,  1e1,  1e2,  1e3,  1e4,   1e5,   1e6,   1e7,   1e8,  1e9,
                                                1e10, 1e11, 1e12, 1e13, 1e14, -1e0,  -1e0,  -1e1,  -1e2,  -1e3, -1e4,
                                                -1e5, -1e6, -1e7, -1e8, -1e9, -1e10, -1e11, -1e12, -1e13, -1e14};

/* What is wrong with the values so far: nothing, if all is zero. */
typedef struct faults {
    uint64_t bad;
    __m128i bytes; /* not digits */
    __m256d middles;
} faults;

/* A value as it was found: its digits as two integers of eight digits, and what to divide by. */
typedef struct found {
    __m128i halves;
    double divisor;
} found;

OLTR_TARGET_AVX2 static inline __m128i digits_to_halves(__m128i digit)
{
    __m128i two = _mm_maddubs_epi16(digit, _mm_set1_epi16(0x010A)); /* 10 a + b */
    __m128i four = _mm_madd_epi16(two, _mm_set1_epi32(0x00010064)); /* 100 a + b */
    return _mm_madd_epi16(_mm_packus_epi32(four, four), _mm_set1_epi32(0x00012710));
}

/* The feature at *at, which moves to where the next one must begin. */
OLTR_TARGET_AVX2 ALWAYS_INLINE found take(const line_tables *t, uint32_t id, const char **at, faults *f)
{
    const key *k = &t->keys[id];
    const char *p = *at + k->length;
    uint64_t head;
    memcpy(&head, *at, sizeof head);
    __m128i text = _mm_loadu_si128((const __m128i *)(const void *)p);
    uint32_t blanks = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8(' ')));
    *at = p + 1 + _tzcnt_u32(blanks); /* all that the next value waits for; 32 without a blank, which is a fault */
    uint32_t points = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8('.')));
    uint32_t length = _tzcnt_u32(blanks | 0x8000), point = _tzcnt_u32(blanks | points | 0x8000);
    uint32_t minus = *p == '-', form = minus << 8 | length << 4 | point;
    __m128i digit = _mm_shuffle_epi8(_mm_sub_epi8(text, _mm_set1_epi8('0')),
                                     _mm_loadu_si128((const __m128i *)(const void *)t->digit[form]));
    f->bad |= ((head & k->mask) ^ k->text) | t->lacks[form];
    f->bytes = _mm_or_si128(f->bytes, _mm_subs_epu8(digit, _mm_set1_epi8(9)));
    return (found){digits_to_halves(digit), divisor[minus << 4 | (length - point)]};
}

/* Four values as floats. */
OLTR_TARGET_AVX2 ALWAYS_INLINE __m128 round_four(const found *v, faults *f)
{
    const __m256d low = _mm256_castsi256_pd(_mm256_set1_epi64x(0x1FFFFFFF)),
                  middle = _mm256_castsi256_pd(_mm256_set1_epi64x(0x10000000));
    __m128 ab = _mm_castsi128_ps(_mm_unpacklo_epi64(v[0].halves, v[1].halves));
    __m128 cd = _mm_castsi128_ps(_mm_unpacklo_epi64(v[2].halves, v[3].halves));
    __m256d above = _mm256_cvtepi32_pd(_mm_castps_si128(_mm_shuffle_ps(ab, cd, 0x88)));
    __m256d below = _mm256_cvtepi32_pd(_mm_castps_si128(_mm_shuffle_ps(ab, cd, 0xDD)));
    __m256d digits = _mm256_add_pd(_mm256_mul_pd(above, _mm256_set1_pd(1e8)), below);
    __m256d value = _mm256_div_pd(digits, _mm256_set_pd(v[3].divisor, v[2].divisor, v[1].divisor, v[0].divisor));
    __m256i is_middle = _mm256_cmpeq_epi64(_mm256_castpd_si256(_mm256_and_pd(value, low)), _mm256_castpd_si256(middle));
    f->middles = _mm256_or_pd(f->middles, _mm256_castsi256_pd(is_middle));
    return _mm256_cvtpd_ps(value);
}

OLTR_TARGET_AVX2 ALWAYS_INLINE int is_right(const faults *f)
{
    return f->bad == 0 && _mm_testz_si128(f->bytes, f->bytes) && _mm256_movemask_pd(f->middles) == 0;
}

OLTR_TARGET_AVX2 ALWAYS_INLINE faults no_faults(void)
{
    return (faults){0, _mm_setzero_si128(), _mm256_setzero_pd()};
}

OLTR_TARGET_AVX2 uint32_t dense_avx2(const line_tables *tables, const char **at, const char *readable, uint32_t most,
                                     float *x)
{
    const char *p = *at;
    uint32_t done = 0;
    for (; done + DENSE_GROUP <= most && readable - *at >= DENSE_REACH; done += DENSE_GROUP, *at = p) {
        faults f = no_faults();
        for (uint32_t i = 0; i < DENSE_GROUP; i += 4) {
            uint32_t id = done + i;
            found v[4];
            v[0] = take(tables, id, &p, &f);
            v[1] = take(tables, id + 1, &p, &f);
            v[2] = take(tables, id + 2, &p, &f);
            v[3] = take(tables, id + 3, &p, &f);
            _mm_storeu_ps(&x[done + i], round_four(v, &f));
        }
        if (!is_right(&f))
            break;
    }
    for (; done > 0 && done < most && readable - *at >= DENSE_REACH; done++, *at = p) { /* those of a broken group */
        faults f = no_faults();
        p = *at;
        found one = take(tables, done, &p, &f), v[4] = {one, one, one, one};
        x[done] = _mm_cvtss_f32(round_four(v, &f));
        if (!is_right(&f))
            break;
    }
    return done;
}

#else

/* Never called: cpu_has_avx2() is 0 in such a build. */
uint32_t dense_avx2(const line_tables *tables, const char **at, const char *readable, uint32_t most, float *x)
{
    (void)tables, (void)at, (void)readable, (void)most, (void)x;
    return 0;
}

#endif
