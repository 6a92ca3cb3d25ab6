/* dense_avx2.c - dense rows, a value at a time without a branch; see dense.h.
 *
 * First all blanks of the next bytes are found, 64 bytes at a time: they end the values.  In a
 * dense row the next feature's id is known, and with it where its value begins: "17:" is compared
 * as eight bytes, and nothing depends on the outcome, so that values are independent.  Sixteen
 * bytes from there are looked at together; the first point divides them.  One shuffle, picked by
 * length, point and sign (make_tables), drops sign and point and moves the digits to the right end;
 * three multiply-and-add steps make two integers of them.  The division rounds once, and the middle
 * between two floats is refused (line.c has the reason).  What is wrong is collected and asked for
 * once a group.
 */
#include "lab/data/dense.h"

#include "engine/kernels/cpu.h"

#if OLTR_X86

#include <immintrin.h>

/* What is wrong with the values so far. */
typedef struct faults {
    uint64_t keys;   /* 0: all ids are the expected ones */
    __m256i digits;  /* at most 9 everywhere: all digits are digits */
    __m256i middles; /* 0: no value is in the middle between two floats, or without a digit */
} faults;

/* A value as it was found: sixteen digits, and what to divide them by. */
typedef struct found {
    __m128i digit;
    double divisor;
} found;

/* The blanks of a stretch of text, as offsets. */
enum { STRETCH = 128, AT_ONCE = 12 };
typedef struct blanks {
    const char *text; /* from where they count */
    uint32_t scanned; /* how much of it was looked at */
    uint32_t n;       /* how many are there, behind the first */
    uint32_t
        at[DENSE_GROUP + STRETCH + 1 + AT_ONCE + 8]; /* at[0] is the one before the next value */
} blanks;

/* Adds those of 64 bytes. */
AVX2_INLINE void scan(blanks *b)
{
    const char *p = b->text + b->scanned;
    const __m256i blank = _mm256_set1_epi8(' ');
    __m256i low = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(const void *)p), blank);
    __m256i high =
        _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(const void *)(p + 32)), blank);
    uint64_t mask =
        (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32 | (uint32_t)_mm256_movemask_epi8(low);
    uint32_t *to = b->at + 1 + b->n, n = (uint32_t)__builtin_popcountll(mask);
    for (uint32_t i = 0; i < AT_ONCE;
         i++, mask &= mask - 1) /* more than there mostly are: no branch to guess */
        to[i] = b->scanned + (uint32_t)_tzcnt_u64(mask);
    for (uint32_t i = AT_ONCE; i < n; i++, mask &= mask - 1)
        to[i] = b->scanned + (uint32_t)_tzcnt_u64(mask);
    b->n += n;
    b->scanned += 64;
}

/* Forgets the blanks of `used` values, at most a group is left; and looks further, if there is text
 * to look at. */
AVX2_INLINE int refill(blanks *b, uint32_t used, const char *readable)
{
    memmove(b->at, b->at + used, (DENSE_GROUP + 1) * sizeof *b->at);
    b->n -= used;
    if (readable - (b->text + b->scanned) < DENSE_REACH)
        return 0;
    for (uint32_t i = 0; i < STRETCH / 64; i++)
        scan(b);
    return 1;
}

/* The value between two blanks. */
AVX2_INLINE found take(const line_tables *t, const key *k, const char *text, const uint32_t *at,
                       faults *f)
{
    const char *start = text + at[0] + 1, *p = start + k->length;
    uint64_t head;
    memcpy(&head, start, sizeof head);
    uint32_t length = at[1] - at[0] - 1 - k->length;
    length = length < DENSE_LANES - 1 ? length : DENSE_LANES - 1; /* also if there is none */
    __m128i value = _mm_loadu_si128((const __m128i *)(const void *)p);
    uint32_t points = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(value, _mm_set1_epi8('.')));
    size_t form = (size_t)(*p == '-') << 8 | length << 4 | _tzcnt_u32(points | 1u << length);
    f->keys |= (head & k->mask) ^ k->text;
    value = _mm_sub_epi8(value, _mm_set1_epi8('0'));
    return (found){
        _mm_shuffle_epi8(value, _mm_loadu_si128((const __m128i *)(const void *)t->digit[form])),
        t->divisor[form]};
}

AVX2_INLINE __m256i pair(__m128i a, __m128i b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}

/* Sixteen digits of two values -> four integers of four digits each. */
AVX2_INLINE __m256i fours(__m256i digit, faults *f)
{
    f->digits = _mm256_max_epu8(f->digits, digit);
    __m256i two = _mm256_maddubs_epi16(digit, _mm256_set1_epi16(0x010A)); /* 10 a + b */
    return _mm256_madd_epi16(two, _mm256_set1_epi32(0x00010064));         /* 100 a + b */
}

/* Four values as floats. */
AVX2_INLINE __m128 round_four(const found *v, faults *f)
{
    __m256i even = fours(pair(v[0].digit, v[2].digit), f),
            odd = fours(pair(v[1].digit, v[3].digit), f);
    __m256i eights =
        _mm256_madd_epi16(_mm256_packus_epi32(even, odd), _mm256_set1_epi32(0x00012710));
    __m256i apart = _mm256_permutevar8x32_epi32(eights, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
    __m256d above = _mm256_cvtepi32_pd(_mm256_castsi256_si128(apart)),
            below = _mm256_cvtepi32_pd(_mm256_extracti128_si256(apart, 1));
    __m256d digits = _mm256_add_pd(_mm256_mul_pd(above, _mm256_set1_pd(1e8)), below);
    __m256d value = _mm256_div_pd(
        digits, _mm256_set_pd(v[3].divisor, v[2].divisor, v[1].divisor, v[0].divisor));
    __m256i low = _mm256_and_si256(_mm256_castpd_si256(value), _mm256_set1_epi64x(0x1FFFFFFF));
    f->middles =
        _mm256_or_si256(f->middles, _mm256_cmpeq_epi64(low, _mm256_set1_epi64x(0x10000000)));
    return _mm256_cvtpd_ps(value);
}

AVX2_INLINE int is_right(const faults *f)
{
    __m256i not_digits = _mm256_subs_epu8(f->digits, _mm256_set1_epi8(9)),
            any = _mm256_or_si256(not_digits, f->middles);
    return f->keys == 0 && _mm256_testz_si256(any, any);
}

AVX2_INLINE faults no_faults(void)
{
    return (faults){0, _mm256_setzero_si256(), _mm256_setzero_si256()};
}

/* Four features between the blanks at[0] to at[4]. */
AVX2_INLINE void take_four(const line_tables *t, const key *k, const char *text, const uint32_t *at,
                           float *x, faults *f)
{
    found v[4];
    v[0] = take(t, k, text, at, f);
    v[1] = take(t, k + 1, text, at + 1, f);
    v[2] = take(t, k + 2, text, at + 2, f);
    v[3] = take(t, k + 3, text, at + 3, f);
    _mm_storeu_ps(x, round_four(v, f));
}

TARGET_AVX2 uint32_t dense_avx2(const line_tables *t, const char **at, const char *readable,
                                uint32_t most, float *x)
{
    blanks b;
    uint32_t done = 0, used = 0;
    b.text = *at - 1;
    b.scanned = 1;
    b.n = 0;
    b.at[0] = 0; /* the blank before the first feature */
    while (done + DENSE_GROUP <= most) {
        faults f = no_faults();
        if (b.n - used < DENSE_GROUP) {
            int more = refill(&b, used, readable);
            used = 0;
            if (b.n < DENSE_GROUP && more)
                continue;
            if (b.n < DENSE_GROUP)
                break;
        }
        const key *k = &t->keys[done];
        const uint32_t *blank = b.at + used;
        take_four(t, k, b.text, blank, x + done, &f);
        take_four(t, k + 4, b.text, blank + 4, x + done + 4, &f);
        if (!is_right(&f))
            break;
        done += DENSE_GROUP;
        used += DENSE_GROUP;
    }
    for (; done > 0 && done < most && used < b.n; done++, used++) { /* those of a broken group */
        faults f = no_faults();
        found one = take(t, &t->keys[done], b.text, b.at + used, &f), v[4] = {one, one, one, one};
        x[done] = _mm_cvtss_f32(round_four(v, &f));
        if (!is_right(&f))
            break;
    }
    *at = done ? b.text + b.at[used] + 1 : *at;
    return done;
}

#else

/* Never called: dense_is_fast() is false in such a build. */
uint32_t dense_avx2(const line_tables *t, const char **at, const char *readable, uint32_t most,
                    float *x)
{
    (void)t, (void)at, (void)readable, (void)most, (void)x;
    return 0;
}

#endif
