/* partial_avx2.h - four doubles of which only some are there.
 *
 * They come and go in pieces, not under a mask.  Short vectors are read a moment after they were
 * written, and a processor hands what was stored to the next load without waiting for the cache
 * only if it was not stored under a mask and the load is no longer than the store.
 */
#ifndef OLTR_ENGINE_KERNELS_PARTIAL_AVX2_H
#define OLTR_ENGINE_KERNELS_PARTIAL_AVX2_H

#include <immintrin.h>
#include <stddef.h>

#include "engine/kernels/cpu.h"

/* Four doubles from x, those from `left` on being 0 and not read. */
AVX2_INLINE __m256d load_some(const double *x, size_t left)
{
    if (left >= 4)
        return _mm256_loadu_pd(x);
    __m128d low = left == 0 ? _mm_setzero_pd() : left == 1 ? _mm_load_sd(x) : _mm_loadu_pd(x);
    __m128d high = left == 3 ? _mm_load_sd(x + 2) : _mm_setzero_pd();
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}

AVX2_INLINE void store_some(double *x, __m256d v, size_t left)
{
    const __m128d low = _mm256_castpd256_pd128(v);
    if (left >= 4)
        _mm256_storeu_pd(x, v);
    else if (left == 1)
        _mm_store_sd(x, low);
    else if (left >= 2)
        _mm_storeu_pd(x, low);
    if (left == 3)
        _mm_store_sd(x + 2, _mm256_extractf128_pd(v, 1));
}

#endif
