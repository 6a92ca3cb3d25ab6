/* topk.h - the K best of n scores (kernels/topk_kernels.h), by the kernels in use. */
#ifndef OLTR_ENGINE_SELECT_TOPK_H
#define OLTR_ENGINE_SELECT_TOPK_H

#include "engine/rng/sample.h"

static inline void topk_f32(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best,
                            uint32_t *position, double *score)
{
    KERNEL(topk_f32)(x, n, k, rng, best, position, score);
}

static inline void topk_f64(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best,
                            uint32_t *position, double *score)
{
    KERNEL(topk_f64)(x, n, k, rng, best, position, score);
}

/* The places of the k best of the n scores of gauss_scores_ahead, without writing the scores.
 * False, and nothing written, where this cannot be done. */
static inline bool topk_gauss_ahead(const oltr_rng *rng, normals_ahead *ahead, const float *mean,
                                    const float *sd, size_t n, uint32_t k, uint32_t *position)
{
    return k <= 3 && are_prefetched(n) &&
           KERNEL(topk_gauss)(KERNEL(prefetched_normals)(rng, ahead), mean, sd, k, position);
}

#endif
