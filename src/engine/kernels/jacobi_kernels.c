/* jacobi_kernels.c - see jacobi_kernels.h. */
#include "engine/kernels/table.h"

#include <math.h>
#include <string.h>

#include "engine/kernels/jacobi_quantile.h"
#include "engine/kernels/lanes.h"

static float quantile(uint32_t size, float s)
{
    float u = s * JACOBI_SCALE, shifted = u + JACOBI_ROUNDING, t = u - (shifted - JACOBI_ROUNDING);
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    uint32_t at = size * JACOBI_PIECES + bits % JACOBI_PIECES;
    float x = jacobi_terms[JACOBI_TERMS - 1][at];
    for (int m = JACOBI_TERMS - 2; m >= 0; m--)
        x = fmaf(x, t, jacobi_terms[m][at]);
    return x;
}

void jacobi_sums_plain(size_t n, const float *normal, const float *exponential, const uint32_t *sum,
                       const float *tilt, float *out)
{
    for (size_t i = 0; i < n; i++) {
        float x = quantile(sum[i] % JACOBI_SIZES, normal[i]);
        out[i] = exponential[i] >= x * tilt[i] ? x : -1;
    }
}

#if OLTR_LANES

LANES_INLINE f8 quantile8(w8 sum, f8 s)
{
    w8 size = w8_and(sum, w8_all(JACOBI_SIZES - 1));
    f8 u = f8_mul(s, f8_all(JACOBI_SCALE)), shifted = f8_add(u, f8_all(JACOBI_ROUNDING));
    f8 t = f8_sub(u, f8_sub(shifted, f8_all(JACOBI_ROUNDING)));
    w8 at = w8_add(w8_left(size, 4), w8_and(f8_bits(shifted), w8_all(JACOBI_PIECES - 1)));
    f8 x = f8_gather(jacobi_terms[JACOBI_TERMS - 1], at);
    for (int m = JACOBI_TERMS - 2; m >= 0; m--)
        x = f8_fma(x, t, f8_gather(jacobi_terms[m], at));
    return x;
}

LANES_TARGET void VERSION(jacobi_sums)(size_t n, const float *normal, const float *exponential,
                                       const uint32_t *sum, const float *tilt, float *out)
{
    for (size_t i = 0; i < n; i += 8) {
        f8 x = quantile8(w8_load(sum + i), f8_load(normal + i));
        m8 accepted = f8_reaches(f8_load(exponential + i), f8_mul(x, f8_load(tilt + i)));
        f8_store(out + i, f8_select(accepted, x, f8_all(-1)));
    }
}

#endif

#if OLTR_X86

/* Coefficient m by its number of six bits, from four vectors. */
AVX512_INLINE __m512 term16(int m, __m512i at, __mmask16 upper)
{
    const float *of = jacobi_terms[m];
    __m512 low = _mm512_permutex2var_ps(_mm512_loadu_ps(of), at, _mm512_loadu_ps(of + 16));
    __m512 high = _mm512_permutex2var_ps(_mm512_loadu_ps(of + 32), at, _mm512_loadu_ps(of + 48));
    return _mm512_mask_blend_ps(upper, low, high);
}

AVX512_INLINE __m512 quantile16(__m512i sum, __m512 s)
{
    const __m512 rounding = _mm512_set1_ps(JACOBI_ROUNDING);
    __m512 u = _mm512_mul_ps(s, _mm512_set1_ps(JACOBI_SCALE)), shifted = _mm512_add_ps(u, rounding);
    __m512 t = _mm512_sub_ps(u, _mm512_sub_ps(shifted, rounding));
    __m512i at = _mm512_add_epi32(
        _mm512_slli_epi32(sum, 4), /* of its six lowest bits four are free and two are the size */
        _mm512_and_si512(_mm512_castps_si512(shifted), _mm512_set1_epi32(JACOBI_PIECES - 1)));
    __mmask16 upper = _mm512_test_epi32_mask(sum, _mm512_set1_epi32(2));
    __m512 x = term16(JACOBI_TERMS - 1, at, upper);
#pragma GCC unroll 8
    for (int m = JACOBI_TERMS - 2; m >= 0; m--)
        x = _mm512_fmadd_ps(x, t, term16(m, at, upper));
    return x;
}

TARGET_AVX512 void jacobi_sums_avx512(size_t n, const float *normal, const float *exponential,
                                      const uint32_t *sum, const float *tilt, float *out)
{
    for (size_t i = 0; i < n; i += 16) {
        __m512 x = quantile16(_mm512_loadu_si512(sum + i), _mm512_loadu_ps(normal + i));
        __m512 least = _mm512_mul_ps(x, _mm512_loadu_ps(tilt + i));
        __mmask16 accepted =
            _mm512_cmp_ps_mask(_mm512_loadu_ps(exponential + i), least, _CMP_GE_OQ);
        _mm512_storeu_ps(out + i, _mm512_mask_blend_ps(accepted, _mm512_set1_ps(-1), x));
    }
}

#endif
