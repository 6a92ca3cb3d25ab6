/* ndcg.h - the quality of an order: normalised discounted cumulative gain.
 *
 *   DCG@k = sum over the first k places of (2^grade - 1) / log2(1 + place)
 *   NDCG@k = DCG@k / the largest DCG@k of any order
 *
 * Documents with equal scores count with the mean over all of their orders (McSherry and Najork
 * 2008), so the order of the rows in a file does not matter.  A query without a relevant document
 * (all grades 0) has no NDCG; it is left out of every mean, and the number of queries that count is
 * reported. */
#ifndef OLTR_LAB_SCORER_NDCG_H
#define OLTR_LAB_SCORER_NDCG_H

#include <oltr/sim.h>

typedef struct ranked {
    float score;
    uint8_t grade;
} ranked;

/* 2^grade - 1 */
double gain_of(uint8_t grade);

/* Of one query; `document` is sorted by the call.  -1 without a relevant document. */
double ndcg_at(ranked *document, uint32_t n, uint32_t k);

/* The documents of query q with their scores, score[(row - first row of q) * stride], into `room`;
 * their number. */
uint32_t ranked_query(const oltr_dataset *dataset, uint32_t q, const float *score, size_t stride,
                      ranked *room);

/* How many documents the largest query has. */
uint32_t most_documents(const oltr_dataset *dataset);

/* The mean over the queries that have one, 0 when none has; score[row * stride] is the score of a
 * row; `room` holds most_documents(). *counted, if not NULL: over how many queries; *se: the
 * standard error of the mean (0 for one query). */
double ndcg_mean(const oltr_dataset *dataset, const float *score, size_t stride, uint32_t k,
                 ranked *room, uint32_t *counted, double *se);

#endif
