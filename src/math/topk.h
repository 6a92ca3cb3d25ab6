/* topk.h - the K best of n scores, best first, with ties broken uniformly at random.
 *
 * A tournament of two levels: the scores lie in groups of about sqrt(n), each with its maximum kept aside.  A slot is
 * filled by the best group's best score, which is then struck out and its group's maximum renewed: O(n) once and
 * O(sqrt(n)) a slot, without a branch that depends on the scores.  Where m scores tie for a slot, the generator picks one of
 * them (philox.h, tie_at), so that every order of tied items is equally likely, and the order never depends on how items
 * are numbered.
 */
#ifndef OLTR_MATH_TOPK_H
#define OLTR_MATH_TOPK_H

#include "rng/sample.h"

/* Groups are at least 8 scores, and are compared 8 at a time. */
static inline size_t topk_room(size_t n)
{
    return (padded(n) / 8 + 7) / 8 * 8;
}

/* x: (padded(n), see sample.h) scores, none of them NaN or -infinity, the padding -infinity; destroyed.
 * best: room for topk_room(n) values.  position: (k) the places in x of the K best.  score: (k) or NULL. */
void topk_f32(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best, uint32_t *position, double *score);
void topk_f32_plain(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best, uint32_t *position,
                    double *score);
void topk_f32_avx2(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best, uint32_t *position, double *score);
void topk_f32_avx512(float *x, size_t n, uint32_t k, const oltr_rng *rng, float *best, uint32_t *position,
                     double *score);

void topk_f64(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best, uint32_t *position, double *score);
void topk_f64_plain(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best, uint32_t *position,
                    double *score);
void topk_f64_avx2(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best, uint32_t *position,
                   double *score);
void topk_f64_avx512(double *x, size_t n, uint32_t k, const oltr_rng *rng, double *best, uint32_t *position,
                     double *score);

#endif
