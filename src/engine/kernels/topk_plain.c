/* topk_plain.c - the plain C twins of the selection. */
#include "engine/kernels/table.h"

#include <math.h>

#include "engine/kernels/philox.h"

/* What topk_body.h needs, for one type of score. */
#define DEFINE_SEARCH(type, suffix)                                                                \
    static type max_##suffix(const type *x, size_t n)                                              \
    {                                                                                              \
        type m = x[0];                                                                             \
        for (size_t i = 1; i < n; i++)                                                             \
            m = x[i] > m ? x[i] : m;                                                               \
        return m;                                                                                  \
    }                                                                                              \
    static size_t count_##suffix(const type *x, size_t n, type v)                                  \
    {                                                                                              \
        size_t count = 0;                                                                          \
        for (size_t i = 0; i < n; i++)                                                             \
            count += !(x[i] < v || x[i] > v);                                                      \
        return count;                                                                              \
    }                                                                                              \
    static size_t nth_##suffix(const type *x, size_t n, type v, size_t j)                          \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            if (!(x[i] < v || x[i] > v) && j-- == 0)                                               \
                return i;                                                                          \
        return 0;                                                                                  \
    }

DEFINE_SEARCH(float, f32)
DEFINE_SEARCH(double, f64)

#define TARGET
#define REAL float
#define NAME(part) part##_f32
#include "engine/kernels/topk_body.h"
#define REAL double
#define NAME(part) part##_f64
#include "engine/kernels/topk_body.h"

void topk_f32_plain(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best,
                    uint32_t *position, double *score)
{
    tournament_f32(x, n, k, rng, best, position, score);
}

void topk_f64_plain(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best,
                    uint32_t *position, double *score)
{
    tournament_f64(x, n, k, rng, best, position, score);
}

bool topk_gauss_plain(const float *z, const float *mean, const float *sd, uint32_t k,
                      uint32_t *position)
{
    (void)z, (void)mean, (void)sd, (void)k, (void)position;
    return false;
}
