/* race_kernels.h - which cells of a race (race/race.h) have their first arrival in time; and which
 * of many tied items take the slots of a short list. */
#ifndef OLTR_ENGINE_KERNELS_RACE_KERNELS_H
#define OLTR_ENGINE_KERNELS_RACE_KERNELS_H

#include <oltr/oltr.h>

/* Cells come in quads, the four whose keys differ in the last two bits: the four words of Philox at
 * position quad[q] and PURPOSE_RACE belong to the cells 4q..4q+3.  Writes the numbers of the cells
 * whose word is at most their limit, limit[l * stride + q] for lane l, and returns how many there
 * are.  Order: by groups of RACE_GROUP quads, in a group by lane, then by quad.  quad and each lane
 * of limit are readable up to a multiple of RACE_GROUP; hit has room for 4 n. */
enum { RACE_GROUP = 16 };
typedef uint32_t first_arrivals_fn(const oltr_rng *rng, const uint32_t *quad, const uint32_t *limit,
                                   uint32_t stride, uint32_t n, uint32_t *hit);

/* Slot after slot, from first_slot on, the rank of one of n tied items that is not in the list yet,
 * each equally likely (philox.h, tie_at).  k <= FEW_TIES, k <= n. */
enum { FEW_TIES = 16 };
typedef void few_ties_fn(const oltr_rng *rng, uint32_t first_slot, uint32_t n, uint32_t k,
                         uint32_t *rank);

#endif
