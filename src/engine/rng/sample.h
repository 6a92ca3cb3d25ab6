/* sample.h - the draws of a ranking (kernels/draw_kernels.h), by the kernels in use.
 */
#ifndef OLTR_ENGINE_RNG_SAMPLE_H
#define OLTR_ENGINE_RNG_SAMPLE_H

#include "engine/kernels/table.h"

static inline void standard_normals(const oltr_rng *rng, size_t n, float *out)
{
    KERNEL(standard_normals)(rng, n, out);
}

static inline void gauss_scores(const oltr_rng *rng, const float *mean, const float *sd,
                                const uint32_t *item, size_t n, float *out)
{
    KERNEL(gauss_scores)(rng, mean, sd, item, n, out);
}

static inline void beta_scores(const oltr_rng *rng, const beta_shapes *shapes, const uint32_t *item,
                               size_t n, uint32_t *todo, float *out)
{
    KERNEL(beta_scores)(rng, shapes, item, n, todo, out);
}

/* Whether the normals of n items come from `ahead`: only the AVX-512 kernels gain by it. */
static inline bool are_prefetched(size_t n)
{
    return n <= NORMAL_GROUP && cpu_in_use() == OLTR_CPU_AVX512;
}

/* The same as gauss_scores and standard_normals; the latter returns where the normals are, in `out`
 * or in `ahead`. */
static inline void gauss_scores_ahead(const oltr_rng *rng, normals_ahead *ahead, const float *mean,
                                      const float *sd, const uint32_t *item, size_t n, float *out)
{
    if (!item && are_prefetched(n))
        KERNEL(prefetched_scores)(rng, ahead, mean, sd, out);
    else
        gauss_scores(rng, mean, sd, item, n, out);
}

static inline const float *standard_normals_ahead(const oltr_rng *rng, normals_ahead *ahead,
                                                  size_t n, float *out)
{
    if (are_prefetched(n))
        return KERNEL(prefetched_normals)(rng, ahead);
    standard_normals(rng, n, out);
    return out;
}

typedef struct beta_shape {
    float ca, cb, da, db, log_da_db, pa, pb;
} beta_shape;

/* The entries in beta_shapes of an item of Beta(a,b), a and b > 0. */
beta_shape beta_shape_of(double a, double b);

#endif
