/* topk.c - the plain C twins of the selection, and the choice between them and the AVX2 kernels. */
#include "engine/select/topk.h"

#include <math.h>

#include "engine/kernels/cpu.h"
#include "engine/rng/philox.h"
#include "engine/rng/sample.h"

static float max_f32(const float *x, size_t n)
{
    float m = x[0];
    for (size_t i = 1; i < n; i++)
        m = x[i] > m ? x[i] : m;
    return m;
}

static size_t count_f32(const float *x, size_t n, float v)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += !(x[i] < v || x[i] > v);
    return count;
}

static size_t nth_f32(const float *x, size_t n, float v, size_t j)
{
    for (size_t i = 0; i < n; i++)
        if (!(x[i] < v || x[i] > v) && j-- == 0)
            return i;
    return 0;
}

static double max_f64(const double *x, size_t n)
{
    double m = x[0];
    for (size_t i = 1; i < n; i++)
        m = x[i] > m ? x[i] : m;
    return m;
}

static size_t count_f64(const double *x, size_t n, double v)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += !(x[i] < v || x[i] > v);
    return count;
}

static size_t nth_f64(const double *x, size_t n, double v, size_t j)
{
    for (size_t i = 0; i < n; i++)
        if (!(x[i] < v || x[i] > v) && j-- == 0)
            return i;
    return 0;
}

#define TARGET_PICK
#define TARGET
#define REAL float
#define SELECT topk_f32_plain
#define SELECT_PICK pick_f32
#define MAX_OF max_f32
#define COUNT_EQUAL count_f32
#define NTH_EQUAL nth_f32
#include "engine/kernels/topk_body.h"
#undef REAL
#undef SELECT
#undef SELECT_PICK
#undef MAX_OF
#undef COUNT_EQUAL
#undef NTH_EQUAL

#define REAL double
#define SELECT topk_f64_plain
#define SELECT_PICK pick_f64
#define MAX_OF max_f64
#define COUNT_EQUAL count_f64
#define NTH_EQUAL nth_f64
#include "engine/kernels/topk_body.h"

void topk_f32(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best, uint32_t *position,
              double *score)
{
    if (cpu_has_avx512())
        topk_f32_avx512(x, n, k, rng, best, position, score);
    else if (cpu_has_avx2())
        topk_f32_avx2(x, n, k, rng, best, position, score);
    else
        topk_f32_plain(x, n, k, rng, best, position, score);
}

void topk_f64(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best,
              uint32_t *position, double *score)
{
    if (cpu_has_avx512())
        topk_f64_avx512(x, n, k, rng, best, position, score);
    else if (cpu_has_avx2())
        topk_f64_avx2(x, n, k, rng, best, position, score);
    else
        topk_f64_plain(x, n, k, rng, best, position, score);
}

#if !OLTR_HAVE_AVX2
/* Never called: cpu_has_avx2() and cpu_has_avx512() are 0 in such a build. */
void topk_f32_avx512(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best,
                     uint32_t *position, double *score)
{
    topk_f32_plain(x, n, k, rng, best, position, score);
}

int topk_gauss_avx512(const float *z, const float *mean, const float *sd, uint32_t k,
                      uint32_t *position)
{
    (void)z, (void)mean, (void)sd, (void)k, (void)position;
    return 0;
}

void topk_f32_avx2(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best,
                   uint32_t *position, double *score)
{
    topk_f32_plain(x, n, k, rng, best, position, score);
}

void topk_f64_avx512(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best,
                     uint32_t *position, double *score)
{
    topk_f64_plain(x, n, k, rng, best, position, score);
}

void topk_f64_avx2(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best,
                   uint32_t *position, double *score)
{
    topk_f64_plain(x, n, k, rng, best, position, score);
}
#endif
