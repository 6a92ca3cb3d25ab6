/* topk_kernels.h - the K best of n scores, best first, with ties broken uniformly at random.
 *
 * A tournament of two levels: the scores lie in groups of about sqrt(n), each with its maximum kept
 * aside.  A slot is filled by the best group's best score, which is then struck out and its group's
 * maximum renewed: O(n) once and O(sqrt(n)) a slot, without a branch that depends on the scores.
 * Where m scores tie for a slot, the generator picks one of them (philox.h, tie_at), so that every
 * order of tied items is equally likely, and the order never depends on how items are numbered.
 */
#ifndef OLTR_ENGINE_KERNELS_TOPK_KERNELS_H
#define OLTR_ENGINE_KERNELS_TOPK_KERNELS_H

#include <stdbool.h>

#include "engine/kernels/draw_kernels.h"

/* Groups are at least 8 scores, and are compared 8 at a time. */
static inline size_t topk_room(size_t n)
{
    return (padded(n) / 8 + 7) / 8 * 8;
}

/* x: (padded(n)) scores, none of them NaN or -infinity, the padding -infinity; destroyed.  best:
 * room for topk_room(n) values.  position: (k) the places in x of the K best.  score: (k) or
 * NULL. */
typedef void topk_f32_fn(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best,
                         uint32_t *position, double *score);
typedef void topk_f64_fn(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best,
                         uint32_t *position, double *score);

/* The places of the k <= 3 best of 32 scores mean[i] + sd[i] z[i], which stay in registers; a place
 * without an item has the mean -infinity.  False, and nothing written, where topk_f32 has to
 * decide: where scores are close, and always in plain C. */
typedef bool topk_gauss_fn(const float *z, const float *mean, const float *sd, uint32_t k,
                           uint32_t *position);

#endif
