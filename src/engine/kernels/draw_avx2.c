/* draw_avx2.c - the draws eight items at a time: the operations of draw_plain.c and float_math.h in
 * the same order. */
#include "engine/kernels/table.h"

#if OLTR_X86

#include <immintrin.h>

#include "engine/kernels/float_math.h"
#include "engine/kernels/philox.h"

typedef struct words8 {
    __m256i w[4];
} words8;

/* The counter words that are the same for all positions of a round. */
typedef struct counters {
    __m256i round, purpose, stream;
    uint32_t k0, k1;
} counters;

AVX2_INLINE counters counters_of(const oltr_rng *rng, uint32_t purpose)
{
    return (counters){_mm256_set1_epi32((int)rng->counter[1]),
                      _mm256_set1_epi32((int)((rng->counter[2] & 0xFFFF0000u) | purpose)),
                      _mm256_set1_epi32((int)rng->counter[3]), rng->key[0], rng->key[1]};
}

/* Philox4x32-10 of eight positions.  Even and odd lanes go apart, each word in the low half of 64
 * bits, as the 32x32->64 multiplication wants it; what is left in the high halves is never read. */
AVX2_INLINE words8 philox8(counters c, __m256i position)
{
    const __m256i m0 = _mm256_set1_epi32((int)PHILOX_M0), m1 = _mm256_set1_epi32((int)PHILOX_M1);
    __m256i e0 = position, o0 = _mm256_srli_epi64(position, 32);
    __m256i e1 = c.round, o1 = c.round, e2 = c.purpose, o2 = _mm256_srli_epi64(c.purpose, 32),
            e3 = c.stream, o3 = c.stream;
    __m256i k0 = _mm256_set1_epi32((int)c.k0), k1 = _mm256_set1_epi32((int)c.k1);
    const __m256i w0 = _mm256_set1_epi32((int)PHILOX_W0), w1 = _mm256_set1_epi32((int)PHILOX_W1);
    for (uint32_t i = 0; i < PHILOX_ROUNDS; i++) {
        __m256i pe0 = _mm256_mul_epu32(e0, m0), pe1 = _mm256_mul_epu32(e2, m1);
        __m256i po0 = _mm256_mul_epu32(o0, m0), po1 = _mm256_mul_epu32(o2, m1);
        e0 = _mm256_xor_si256(_mm256_srli_epi64(pe1, 32), _mm256_xor_si256(e1, k0));
        o0 = _mm256_xor_si256(_mm256_srli_epi64(po1, 32), _mm256_xor_si256(o1, k0));
        e2 = _mm256_xor_si256(_mm256_srli_epi64(pe0, 32), _mm256_xor_si256(e3, k1));
        o2 = _mm256_xor_si256(_mm256_srli_epi64(po0, 32), _mm256_xor_si256(o3, k1));
        e1 = pe1;
        o1 = po1;
        e3 = pe0;
        o3 = po0;
        k0 = _mm256_add_epi32(k0, w0);
        k1 = _mm256_add_epi32(k1, w1);
    }
    return (words8){{_mm256_blend_epi32(e0, _mm256_slli_epi64(o0, 32), 0xAA),
                     _mm256_blend_epi32(e1, _mm256_slli_epi64(o1, 32), 0xAA),
                     _mm256_blend_epi32(e2, _mm256_slli_epi64(o2, 32), 0xAA),
                     _mm256_blend_epi32(e3, _mm256_slli_epi64(o3, 32), 0xAA)}};
}

AVX2_INLINE __m256 splat(float x)
{
    return _mm256_set1_ps(x);
}

AVX2_INLINE __m256 log_p8(__m256 t)
{
    __m256 p = _mm256_fmadd_ps(splat(LOG_P6), t, splat(LOG_P5));
    p = _mm256_fmadd_ps(p, t, splat(LOG_P4));
    p = _mm256_fmadd_ps(p, t, splat(LOG_P3));
    p = _mm256_fmadd_ps(p, t, splat(LOG_P2));
    p = _mm256_fmadd_ps(p, t, splat(LOG_P1));
    return _mm256_fmadd_ps(p, t, splat(LOG_P0));
}

AVX2_INLINE __m256 log8(__m256 x)
{
    __m256i bits = _mm256_castps_si256(x);
    __m256i exponent =
        _mm256_srai_epi32(_mm256_sub_epi32(bits, _mm256_set1_epi32(LOG_SQRT_HALF_BITS)), 23);
    __m256 m = _mm256_castsi256_ps(_mm256_sub_epi32(bits, _mm256_slli_epi32(exponent, 23)));
    __m256 t = _mm256_sub_ps(m, splat(1)), square = _mm256_mul_ps(t, t);
    __m256 log_m = _mm256_fmadd_ps(log_p8(t), _mm256_mul_ps(t, square),
                                   _mm256_fmadd_ps(splat(-0.5f), square, t));
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(exponent), splat(LOG_LN2), log_m);
}

AVX2_INLINE __m256 uniform8(__m256i word)
{
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_srli_epi32(word, 1)), splat(0x1p-31f),
                           splat(0x1p-32f));
}

AVX2_INLINE void box_muller8(__m256i word0, __m256i word1, __m256 *z0, __m256 *z1)
{
    const __m256i top = _mm256_set1_epi32((int)0x80000000u);
    __m256 radius = _mm256_sqrt_ps(_mm256_mul_ps(splat(-2), log8(uniform8(word0))));
    __m256 f = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_slli_epi32(word1, 2)), splat(0x1p-32f));
    __m256 z = _mm256_mul_ps(f, f);
    __m256 s = _mm256_fmadd_ps(splat(SIN_3), z, splat(SIN_2));
    s = _mm256_fmadd_ps(s, z, splat(SIN_1));
    s = _mm256_mul_ps(f, _mm256_fmadd_ps(s, z, splat(SIN_0)));
    __m256 c = _mm256_fmadd_ps(splat(COS_3), z, splat(COS_2));
    c = _mm256_fmadd_ps(c, z, splat(COS_1));
    c = _mm256_fmadd_ps(c, z, splat(1));
    __m256 odd =
        _mm256_castsi256_ps(_mm256_slli_epi32(word1, 1)); /* its sign bit: the quadrant is odd */
    __m256 x = _mm256_blendv_ps(c, s, odd), y = _mm256_blendv_ps(s, c, odd);
    __m256i sign0 = _mm256_and_si256(_mm256_add_epi32(word1, _mm256_set1_epi32(0x40000000)), top);
    __m256i sign1 = _mm256_and_si256(word1, top);
    *z0 = _mm256_mul_ps(radius, _mm256_xor_ps(x, _mm256_castsi256_ps(sign0)));
    *z1 = _mm256_mul_ps(radius, _mm256_xor_ps(y, _mm256_castsi256_ps(sign1)));
}

AVX2_INLINE __m256i lanes(void)
{
    return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}

AVX2_INLINE void gauss_group(counters c, __m256i position, const float *mean, const float *sd,
                             float *out)
{
    words8 w = philox8(c, position);
    __m256 z[4];
    box_muller8(w.w[0], w.w[1], &z[0], &z[1]);
    box_muller8(w.w[2], w.w[3], &z[2], &z[3]);
    for (size_t j = 0; j < 4; j++) {
        size_t i = LANES * j;
        _mm256_storeu_ps(out + i,
                         _mm256_fmadd_ps(_mm256_loadu_ps(sd + i), z[j], _mm256_loadu_ps(mean + i)));
    }
}

TARGET_AVX2 static __attribute__((noinline)) void gauss_many(const oltr_rng *rng, const float *mean,
                                                             const float *sd, size_t n, float *out)
{
    counters c = counters_of(rng, 0);
    __m256i position = lanes();
    for (size_t group = 0; group < n; group += NORMAL_GROUP) {
        gauss_group(c, position, mean + group, sd + group, out + group);
        position = _mm256_add_epi32(position, _mm256_set1_epi32(LANES));
    }
}

TARGET_AVX2 static __attribute__((noinline)) void gauss_all(const oltr_rng *rng, const float *mean,
                                                            const float *sd, size_t n, float *out)
{
    if (n <= NORMAL_GROUP)
        gauss_group(counters_of(rng, 0), lanes(), mean, sd, out);
    else
        gauss_many(rng, mean, sd, n, out);
}

TARGET_AVX2 void standard_normals_avx2(const oltr_rng *rng, size_t n, float *out)
{
    counters c = counters_of(rng, 0);
    __m256i position = lanes();
    for (size_t group = 0; group < n; group += NORMAL_GROUP) {
        words8 w = philox8(c, position);
        __m256 z[4];
        box_muller8(w.w[0], w.w[1], &z[0], &z[1]);
        box_muller8(w.w[2], w.w[3], &z[2], &z[3]);
        for (size_t j = 0; j < 4; j++)
            _mm256_storeu_ps(out + group + LANES * j, z[j]);
        position = _mm256_add_epi32(position, _mm256_set1_epi32(LANES));
    }
}

/* The normals of eight items anywhere: one block each, of which the item's own pair of words is
 * taken. */
AVX2_INLINE __m256 normals_of(counters c, __m256i item)
{
    __m256i position = _mm256_add_epi32(_mm256_slli_epi32(_mm256_srli_epi32(item, 5), 3),
                                        _mm256_and_si256(item, _mm256_set1_epi32(LANES - 1)));
    words8 w = philox8(c, position);
    __m256 second = _mm256_castsi256_ps(_mm256_slli_epi32(item, 27)); /* sign bit: words 2,3 */
    __m256 sine = _mm256_castsi256_ps(
        _mm256_slli_epi32(item, 28)); /* sign bit: the second normal of the pair */
    __m256 word0 =
        _mm256_blendv_ps(_mm256_castsi256_ps(w.w[0]), _mm256_castsi256_ps(w.w[2]), second);
    __m256 word1 =
        _mm256_blendv_ps(_mm256_castsi256_ps(w.w[1]), _mm256_castsi256_ps(w.w[3]), second);
    __m256 z0, z1;
    box_muller8(_mm256_castps_si256(word0), _mm256_castps_si256(word1), &z0, &z1);
    return _mm256_blendv_ps(z0, z1, sine);
}

/* The first `n` of eight indices, the rest repeating the first. */
AVX2_INLINE __m256i load_items(const uint32_t *item, size_t n)
{
    if (n >= LANES)
        return _mm256_loadu_si256((const __m256i *)(const void *)item);
    uint32_t eight[LANES];
    for (size_t l = 0; l < LANES; l++)
        eight[l] = item[l < n ? l : 0];
    return _mm256_loadu_si256((const __m256i *)(const void *)eight);
}

AVX2_INLINE __m256 load_some(const float *from, size_t n)
{
    if (n >= LANES)
        return _mm256_loadu_ps(from);
    float eight[LANES] = {0};
    memcpy(eight, from, n * sizeof *from);
    return _mm256_loadu_ps(eight);
}

AVX2_INLINE void store_some(float *out, __m256 x, size_t n)
{
    if (n >= LANES) {
        _mm256_storeu_ps(out, x);
        return;
    }
    float eight[LANES];
    _mm256_storeu_ps(eight, x);
    memcpy(out, eight, n * sizeof *out);
}

TARGET_AVX2 static void gauss_some(const oltr_rng *rng, const float *mean, const float *sd,
                                   const uint32_t *item, size_t n, float *out)
{
    counters c = counters_of(rng, 0);
    for (size_t j = 0; j < n; j += LANES) {
        __m256i i = load_items(item + j, n - j);
        __m256 m = _mm256_i32gather_ps(mean, i, sizeof *mean),
               s = _mm256_i32gather_ps(sd, i, sizeof *sd);
        store_some(out + j, _mm256_fmadd_ps(s, normals_of(c, i), m), n - j);
    }
}

TARGET_AVX2 void gauss_scores_avx2(const oltr_rng *rng, const float *mean, const float *sd,
                                   const uint32_t *item, size_t n, float *out)
{
    if (item)
        gauss_some(rng, mean, sd, item, n, out);
    else
        gauss_all(rng, mean, sd, n, out);
}

/* ---- directions */

enum { SETS = 3, MANY = SETS * NORMAL_GROUP }; /* three sets of eight counters, 96 words */

/* Positions differ in the first counter word alone: half of the first two rounds of Philox is the
 * same for all of them. */
typedef struct many_counters {
    uint32_t first_c2;                        /* XORed into c2 in the first round */
    uint32_t second_c0, second_c2, second_c3; /* XORed into c0 and c2 in the second; c3 after it */
    uint32_t k0[PHILOX_ROUNDS], k1[PHILOX_ROUNDS];
} many_counters;

static many_counters many_counters_of(const oltr_rng *rng, uint32_t purpose)
{
    many_counters c;
    for (uint32_t r = 0; r < PHILOX_ROUNDS; r++) {
        c.k0[r] = rng->key[0] + r * PHILOX_W0;
        c.k1[r] = rng->key[1] + r * PHILOX_W1;
    }
    uint64_t p1 = (uint64_t)PHILOX_M1 * ((rng->counter[2] & 0xFFFF0000u) | purpose);
    uint64_t p0 = (uint64_t)PHILOX_M0 * ((uint32_t)(p1 >> 32) ^ rng->counter[1] ^ c.k0[0]);
    c.first_c2 = rng->counter[3] ^ c.k1[0];
    c.second_c0 = (uint32_t)p1 ^ c.k0[1];
    c.second_c2 = (uint32_t)(p0 >> 32) ^ c.k1[1];
    c.second_c3 = (uint32_t)p0;
    return c;
}

AVX2_INLINE __m256i splat_word(uint32_t word)
{
    return _mm256_set1_epi32((int)word);
}

typedef struct product8 {
    __m256i high, low;
} product8;

AVX2_INLINE product8 multiply8(__m256i x, uint32_t by)
{
    const __m256i m = splat_word(by);
    __m256i even = _mm256_mul_epu32(x, m), odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), m);
    return (product8){_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA),
                      _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA)};
}

AVX2_INLINE __m256i xor3(__m256i x, __m256i y, __m256i z)
{
    return _mm256_xor_si256(x, _mm256_xor_si256(y, z));
}

/* The words of philox8() of 24 positions.  A word of eight counters is one vector, so that three
 * sets fit the registers; while one set waits for its multiplications, the others go on. */
AVX2_INLINE void philox24(const many_counters *c, __m256i position, words8 w[SETS])
{
    for (int s = 0; s < SETS; s++) { /* the first two rounds */
        product8 p0 =
            multiply8(_mm256_add_epi32(position, splat_word((uint32_t)s * LANES)), PHILOX_M0);
        product8 p1 = multiply8(_mm256_xor_si256(p0.high, splat_word(c->first_c2)), PHILOX_M1);
        w[s].w[0] = _mm256_xor_si256(p1.high, splat_word(c->second_c0));
        w[s].w[1] = p1.low;
        w[s].w[2] = _mm256_xor_si256(p0.low, splat_word(c->second_c2));
        w[s].w[3] = splat_word(c->second_c3);
    }
    for (int r = 2; r < PHILOX_ROUNDS; r++) {
        const __m256i k0 = splat_word(c->k0[r]), k1 = splat_word(c->k1[r]);
        for (int s = 0; s < SETS; s++) {
            product8 p0 = multiply8(w[s].w[0], PHILOX_M0), p1 = multiply8(w[s].w[2], PHILOX_M1);
            w[s].w[0] = xor3(p1.high, w[s].w[1], k0);
            w[s].w[2] = xor3(p0.high, w[s].w[3], k1);
            w[s].w[1] = p1.low;
            w[s].w[3] = p0.low;
        }
    }
}

AVX2_INLINE void uniform_groups(const many_counters *c, __m256i position, float *out)
{
    words8 w[SETS];
    philox24(c, position, w);
    for (size_t s = 0; s < SETS; s++)
        for (size_t j = 0; j < 4; j++)
            _mm256_storeu_ps(out + NORMAL_GROUP * s + LANES * j, uniform8(w[s].w[j]));
}

/* The n uniforms from a counter on, all of one purpose. */
TARGET_AVX2 static __attribute__((noinline)) void uniform_run(const oltr_rng *rng, uint64_t counter,
                                                              size_t n, float *out)
{
    const many_counters c = many_counters_of(rng, (uint32_t)(counter >> 32));
    __m256i position = _mm256_add_epi32(lanes(), splat_word((uint32_t)counter));
    for (; n >= MANY; n -= MANY, out += MANY) {
        uniform_groups(&c, position, out);
        position = _mm256_add_epi32(position, splat_word(SETS * LANES));
    }
    if (n) {
        float last[MANY];
        uniform_groups(&c, position, last);
        memcpy(out, last, n * sizeof *out);
    }
}

/* The uniforms first..first+n-1, where first is a multiple of 32; a run of one purpose ends at 2^32
 * counters. */
static void uniforms(const oltr_rng *rng, uint64_t first, size_t n, float *out)
{
    while (n) {
        uint64_t counter = first / 4, left = ((UINT64_C(1) << 32) - (uint32_t)counter) * 4;
        size_t run = n < left ? n : (size_t)left;
        uniform_run(rng, counter, run, out);
        first += run;
        out += run;
        n -= run;
    }
}

/* Some of four floats: the first n < 4. */
AVX2_INLINE __m128i first_lanes(size_t n)
{
    static const int32_t lane[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
    return _mm_loadu_si128((const __m128i *)(const void *)(lane + 4 - n));
}

AVX2_INLINE __m256d add_square(__m256d sum, __m128 x)
{
    __m256d wide = _mm256_cvtps_pd(x);
    return _mm256_fmadd_pd(wide, wide, sum);
}

AVX2_INLINE double sum_of_parts(const __m256d part[4])
{
    __m256d four = _mm256_add_pd(_mm256_add_pd(part[0], part[1]), _mm256_add_pd(part[2], part[3]));
    __m256d pairs = _mm256_hadd_pd(four, four);
    return _mm_cvtsd_f64(
        _mm_add_sd(_mm256_castpd256_pd128(pairs), _mm256_extractf128_pd(pairs, 1)));
}

AVX2_INLINE double sum_of_squares(const float *row, size_t dim)
{
    __m256d part[4];
    size_t j = 0;
    for (size_t s = 0; s < 4; s++)
        part[s] = _mm256_setzero_pd();
    for (; j + 16 <= dim; j += 16)
        for (size_t s = 0; s < 4; s++)
            part[s] = add_square(part[s], _mm_loadu_ps(row + j + 4 * s));
    for (size_t s = 0; s < 4; s++, j += 4)
        if (j + 4 <= dim)
            part[s] = add_square(part[s], _mm_loadu_ps(row + j));
        else if (j < dim)
            part[s] = add_square(part[s], _mm_maskload_ps(row + j, first_lanes(dim - j)));
    return sum_of_parts(part);
}

/* Four numbers of a row times `by`, and what they add to the product with theta. */
AVX2_INLINE __m256d scale_four(float *row, __m128 by, const double *theta, __m256d sum)
{
    __m128 x = _mm_mul_ps(_mm_loadu_ps(row), by);
    _mm_storeu_ps(row, x);
    return _mm256_fmadd_pd(_mm256_cvtps_pd(x), _mm256_loadu_pd(theta), sum);
}

AVX2_INLINE __m256d scale_some(float *row, __m128 by, const double *theta, size_t n, __m256d sum)
{
    const __m128i lane = first_lanes(n);
    __m128 x = _mm_mul_ps(_mm_maskload_ps(row, lane), by);
    _mm_maskstore_ps(row, lane, x);
    return _mm256_fmadd_pd(_mm256_cvtps_pd(x),
                           _mm256_maskload_pd(theta, _mm256_cvtepi32_epi64(lane)), sum);
}

AVX2_INLINE double scale_row(float *row, size_t dim, float factor, const double *theta)
{
    const __m128 by = _mm_set1_ps(factor);
    __m256d part[4];
    size_t j = 0;
    for (size_t s = 0; s < 4; s++)
        part[s] = _mm256_setzero_pd();
    for (; j + 16 <= dim; j += 16)
        for (size_t s = 0; s < 4; s++)
            part[s] = scale_four(row + j + 4 * s, by, theta + j + 4 * s, part[s]);
    for (size_t s = 0; s < 4; s++, j += 4)
        if (j + 4 <= dim)
            part[s] = scale_four(row + j, by, theta + j, part[s]);
        else if (j < dim)
            part[s] = scale_some(row + j, by, theta + j, dim - j, part[s]);
    return sum_of_parts(part);
}

TARGET_AVX2 void cube_directions_avx2(const oltr_rng *rng, uint64_t first, size_t n, uint32_t dim,
                                      const double *theta, float *out, double *product)
{
    for (size_t i = 0; i < n; i += DIRECTION_ROWS, out += (size_t)DIRECTION_ROWS * dim) {
        const size_t rows = n - i < DIRECTION_ROWS ? n - i : DIRECTION_ROWS;
        float factor[DIRECTION_ROWS];
        uniforms(rng, (first + i) * dim, rows * dim, out);
        for (size_t r = 0; r < rows; r++)
            factor[r] = (float)(1 / sqrt(sum_of_squares(out + r * dim, dim)));
        for (size_t r = 0; r < rows; r++)
            product[i + r] = scale_row(out + r * dim, dim, factor[r], theta);
    }
}

/* ---- Beta */

typedef struct proposal {
    __m256 xa, xb, ta, tb, ua, ub;
    __m256 plausible; /* both 1 + t > 0 */
    __m256 squeezed;  /* accepted by the squeeze alone */
} proposal;

AVX2_INLINE __m256 squeeze8(__m256 t, __m256 x, __m256 u)
{
    __m256 tx = _mm256_mul_ps(t, x);
    __m256 bound = _mm256_fmadd_ps(_mm256_mul_ps(splat(-SQUEEZE), tx), tx, splat(1));
    return _mm256_and_ps(_mm256_cmp_ps(t, splat(SQUEEZE_FROM), _CMP_GT_OQ),
                         _mm256_cmp_ps(u, bound, _CMP_LT_OQ));
}

AVX2_INLINE proposal propose_from(words8 w, __m256 ca, __m256 cb)
{
    proposal p;
    box_muller8(w.w[0], w.w[1], &p.xa, &p.xb);
    p.ua = uniform8(w.w[2]);
    p.ub = uniform8(w.w[3]);
    p.ta = _mm256_mul_ps(ca, p.xa);
    p.tb = _mm256_mul_ps(cb, p.xb);
    p.plausible = _mm256_and_ps(_mm256_cmp_ps(p.ta, splat(-1), _CMP_GT_OQ),
                                _mm256_cmp_ps(p.tb, splat(-1), _CMP_GT_OQ));
    p.squeezed = _mm256_and_ps(squeeze8(p.ta, p.xa, p.ua), squeeze8(p.tb, p.xb, p.ub));
    return p;
}

AVX2_INLINE proposal propose(counters c, __m256i item, __m256 ca, __m256 cb)
{
    return propose_from(philox8(c, item), ca, cb);
}

AVX2_INLINE __m256 log_odds8(const proposal *p, __m256 log_da_db)
{
    __m256 ratio = _mm256_div_ps(_mm256_add_ps(splat(1), p->ta), _mm256_add_ps(splat(1), p->tb));
    return _mm256_fmadd_ps(splat(3), log8(ratio), log_da_db);
}

AVX2_INLINE __m256 acceptance8(__m256 d, __m256 t)
{
    __m256 cube = _mm256_mul_ps(_mm256_mul_ps(t, t), t);
    __m256 near = _mm256_and_ps(_mm256_cmp_ps(t, splat(LOG_T_MIN), _CMP_GT_OQ),
                                _mm256_cmp_ps(t, splat(LOG_T_MAX), _CMP_LT_OQ));
    __m256 inner = _mm256_mul_ps(cube, _mm256_fmadd_ps(splat(3), log_p8(t), splat(-1)));
    __m256 rest = _mm256_fmsub_ps(_mm256_mul_ps(splat(1.5f), t), t, cube);
    rest = _mm256_fmadd_ps(splat(-3), t, rest);
    __m256 outer = _mm256_fmadd_ps(splat(3), log8(_mm256_add_ps(splat(1), t)), rest);
    return _mm256_mul_ps(d, _mm256_blendv_ps(outer, inner, near));
}

AVX2_INLINE __m256 accepts8(__m256 d, __m256 t, __m256 x, __m256 u)
{
    return _mm256_or_ps(squeeze8(t, x, u), _mm256_cmp_ps(log8(u), acceptance8(d, t), _CMP_LT_OQ));
}

/* Candidates in `todo` (n of them): one attempt with the whole test.  Those rejected stay, in
 * order; returns how many. */
TARGET_AVX2 static __attribute__((noinline)) size_t try_again(counters c, const beta_shapes *s,
                                                              const uint32_t *item, uint32_t *todo,
                                                              size_t n, float *out)
{
    size_t left = 0;
    for (size_t j = 0; j < n; j += LANES) {
        uint32_t here[LANES], id[LANES], count = (uint32_t)(n - j < LANES ? n - j : LANES);
        for (uint32_t l = 0; l < LANES; l++) {
            here[l] = todo[j + (l < count ? l : 0)];
            id[l] = item ? item[here[l]] : here[l];
        }
        __m256i i = load_items(id, LANES);
        proposal p =
            propose(c, i, _mm256_i32gather_ps(s->ca, i, 4), _mm256_i32gather_ps(s->cb, i, 4));
        __m256 a = accepts8(_mm256_i32gather_ps(s->da, i, 4), p.ta, p.xa, p.ua);
        __m256 b = accepts8(_mm256_i32gather_ps(s->db, i, 4), p.tb, p.xb, p.ub);
        unsigned accepted =
            (unsigned)_mm256_movemask_ps(_mm256_and_ps(p.plausible, _mm256_and_ps(a, b)));
        float value[LANES];
        _mm256_storeu_ps(value, log_odds8(&p, _mm256_i32gather_ps(s->log_da_db, i, 4)));
        for (uint32_t l = 0; l < count; l++)
            if (accepted >> l & 1)
                out[here[l]] = value[l];
            else
                todo[left++] = here[l];
    }
    return left;
}

/* One candidate, attempts 0..7 at once; 0 when all are rejected. */
TARGET_AVX2 static __attribute__((noinline)) int
try_eight(const oltr_rng *rng, const beta_shapes *s, uint32_t i, float *out)
{
    counters c = counters_of(rng, 0);
    c.purpose = _mm256_add_epi32(c.purpose, lanes());
    proposal p = propose(c, _mm256_set1_epi32((int)i), splat(s->ca[i]), splat(s->cb[i]));
    __m256 a = accepts8(splat(s->da[i]), p.ta, p.xa, p.ua),
           b = accepts8(splat(s->db[i]), p.tb, p.xb, p.ub);
    unsigned accepted =
        (unsigned)_mm256_movemask_ps(_mm256_and_ps(p.plausible, _mm256_and_ps(a, b)));
    float value[LANES];
    _mm256_storeu_ps(value, log_odds8(&p, splat(s->log_da_db[i])));
    if (!accepted)
        return 0;
    *out = value[__builtin_ctz(accepted)];
    return 1;
}

enum { FEW = 3 }; /* up to so many, it is faster to try eight times for one than once for eight */

static size_t try_few(const oltr_rng *rng, const beta_shapes *s, const uint32_t *item,
                      uint32_t *todo, size_t n, float *out)
{
    size_t left = 0;
    for (size_t j = 0; j < n; j++) {
        uint32_t at = todo[j];
        if (!try_eight(rng, s, item ? item[at] : at, &out[at]))
            todo[left++] = at;
    }
    return left;
}

AVX2_INLINE __m256 log_uniform8(__m256i word)
{
    __m256i rest = _mm256_xor_si256(word, _mm256_set1_epi32(-1));
    __m256 t = _mm256_xor_ps(uniform8(rest), splat(-0.0f)), square = _mm256_mul_ps(t, t);
    __m256 inner = _mm256_fmadd_ps(log_p8(t), _mm256_mul_ps(t, square),
                                   _mm256_fmadd_ps(splat(-0.5f), square, t));
    return _mm256_blendv_ps(log8(uniform8(word)), inner,
                            _mm256_cmp_ps(t, splat(LOG_T_MIN), _CMP_GT_OQ));
}

/* Takes back that shapes below 1 were raised. */
TARGET_AVX2 static __attribute__((noinline)) void
add_powers(counters c, const beta_shapes *s, const uint32_t *item, size_t n, float *out)
{
    for (size_t j = 0; j < n; j += LANES) {
        __m256i i = item ? load_items(item + j, n - j)
                         : _mm256_add_epi32(lanes(), _mm256_set1_epi32((int)j));
        __m256 pa = item ? _mm256_i32gather_ps(s->pa, i, 4) : _mm256_loadu_ps(s->pa + j);
        __m256 pb = item ? _mm256_i32gather_ps(s->pb, i, 4) : _mm256_loadu_ps(s->pb + j);
        __m256 has = _mm256_cmp_ps(_mm256_max_ps(pa, pb), splat(0), _CMP_GT_OQ);
        if (_mm256_movemask_ps(has) == 0)
            continue;
        words8 w = philox8(c, i);
        __m256 second = _mm256_mul_ps(log_uniform8(w.w[1]), pb);
        __m256 more = _mm256_fmsub_ps(log_uniform8(w.w[0]), pa, second);
        __m256 odds = load_some(out + j, n - j);
        store_some(out + j, _mm256_blendv_ps(odds, _mm256_add_ps(odds, more), has), n - j);
    }
}

AVX2_INLINE __m256i load_word(const uint32_t *word)
{
    return _mm256_load_si256((const __m256i *)(const void *)word);
}

/* First pass: all items, 32 at a time, accepted where the squeeze is enough, as it nearly always
 * is.  The others are listed in todo.  The words are made before the proposals, because the two
 * together do not fit the registers. */
TARGET_AVX2 static __attribute__((noinline)) size_t first_pass(counters c, const beta_shapes *s,
                                                               const uint32_t *item, size_t n,
                                                               uint32_t *todo, float *out)
{
    size_t left = 0;
    _Alignas(32) uint32_t words[4][4][LANES];
    for (size_t start = 0; start < n; start += 4 * LANES) {
        size_t end = n - start < 4 * LANES ? n : start + 4 * LANES;
        for (size_t j = start, q = 0; j < end; j += LANES, q++) {
            __m256i i = item ? load_items(item + j, n - j)
                             : _mm256_add_epi32(lanes(), _mm256_set1_epi32((int)j));
            words8 w = philox8(c, i);
            _mm256_store_si256((__m256i *)(void *)words[q][0], w.w[0]);
            _mm256_store_si256((__m256i *)(void *)words[q][1], w.w[1]);
            _mm256_store_si256((__m256i *)(void *)words[q][2], w.w[2]);
            _mm256_store_si256((__m256i *)(void *)words[q][3], w.w[3]);
        }
        uint32_t all = 0;
        for (size_t j = start, q = 0; j < end; j += LANES, q++) {
            unsigned live = n - j < LANES ? (1u << (n - j)) - 1 : 0xFFu;
            __m256i i = item ? load_items(item + j, n - j) : _mm256_setzero_si256();
            __m256 ca = item ? _mm256_i32gather_ps(s->ca, i, 4) : _mm256_loadu_ps(s->ca + j);
            __m256 cb = item ? _mm256_i32gather_ps(s->cb, i, 4) : _mm256_loadu_ps(s->cb + j);
            __m256 shift =
                item ? _mm256_i32gather_ps(s->log_da_db, i, 4) : _mm256_loadu_ps(s->log_da_db + j);
            words8 w = {{load_word(words[q][0]), load_word(words[q][1]), load_word(words[q][2]),
                         load_word(words[q][3])}};
            proposal p = propose_from(w, ca, cb);
            __m256 value = log_odds8(&p, shift);
            if (item)
                store_some(out + j, value, n - j);
            else
                _mm256_storeu_ps(out + j, value);
            unsigned failed = live & ~(unsigned)_mm256_movemask_ps(p.squeezed);
            all |= failed << (q * LANES);
        }
        for (; all; all &= all - 1)
            todo[left++] = (uint32_t)start + (uint32_t)__builtin_ctz(all);
    }
    return left;
}

TARGET_AVX2 void beta_scores_avx2(const oltr_rng *rng, const beta_shapes *shapes,
                                  const uint32_t *item, size_t n, uint32_t *todo, float *out)
{
    size_t left = first_pass(counters_of(rng, 0), shapes, item, n, todo, out);
    if (left <= FEW)
        left = try_few(rng, shapes, item, todo, left, out);
    for (uint32_t attempt = 0; left; attempt = (attempt + 1) & 0x7FFF)
        left = try_again(counters_of(rng, attempt), shapes, item, todo, left, out);
    if (shapes->n_powers)
        add_powers(counters_of(rng, PURPOSE_POWERS), shapes, item, n, out);
    if (!item)
        for (size_t j = n; j < padded(n); j++)
            out[j] = -INFINITY;
}

#else
typedef int no_avx2; /* an empty translation unit is not C */
#endif
