/* topk.h - the K best of n scores, best first, with ties broken uniformly at random.
 *
 * A tournament of two levels: the scores lie in groups of about sqrt(n), each with its maximum kept
 * aside.  A slot is filled by the best group's best score, which is then struck out and its group's
 * maximum renewed: O(n) once and O(sqrt(n)) a slot, without a branch that depends on the scores.
 * Where m scores tie for a slot, the generator picks one of them (philox.h, tie_at), so that every
 * order of tied items is equally likely, and the order never depends on how items are numbered.
 */
#ifndef OLTR_ENGINE_SELECT_TOPK_H
#define OLTR_ENGINE_SELECT_TOPK_H

#include "engine/kernels/cpu.h"
#include "engine/rng/sample.h"

/* Groups are at least 8 scores, and are compared 8 at a time. */
static inline size_t topk_room(size_t n)
{
    return (padded(n) / 8 + 7) / 8 * 8;
}

/* x: (padded(n), see sample.h) scores, none of them NaN or -infinity, the padding -infinity;
 * destroyed. best: room for topk_room(n) values.  position: (k) the places in x of the K best.
 * score: (k) or NULL. */
void topk_f32(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best, uint32_t *position,
              double *score);
void topk_f32_plain(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best,
                    uint32_t *position, double *score);
void topk_f32_avx2(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best,
                   uint32_t *position, double *score);
void topk_f32_avx512(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best,
                     uint32_t *position, double *score);

/* The places of the k <= 3 best of 32 scores mean[i] + sd[i] z[i], which stay in registers; what is
 * no item has the mean -infinity.  0, and nothing written, where scores are so close that topk_f32
 * has to decide. */
int topk_gauss_avx512(const float *z, const float *mean, const float *sd, uint32_t k,
                      uint32_t *position);

/* The same of the n scores of gauss_scores_ahead, where it can be done. */
static inline int topk_gauss_ahead(const oltr_rng *rng, normals_ahead *ahead, const float *mean,
                                   const float *sd, size_t n, uint32_t k, uint32_t *position)
{
    return n <= NORMAL_GROUP && k <= 3 && cpu_has_avx512() &&
           topk_gauss_avx512(standard_normals_ahead_avx512(rng, ahead), mean, sd, k, position);
}

void topk_f64(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best,
              uint32_t *position, double *score);
void topk_f64_plain(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best,
                    uint32_t *position, double *score);
void topk_f64_avx2(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best,
                   uint32_t *position, double *score);
void topk_f64_avx512(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best,
                     uint32_t *position, double *score);

#endif
