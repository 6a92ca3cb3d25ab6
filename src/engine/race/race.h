/* race.h - exact Thompson sampling of the K best of n items without sampling them all.
 *
 * Definition.  Item i has a standard exponential E_i, and its sample is X_i = Q_i(E_i), Q_i the
 * upper quantile of its posterior (family.h): X_i has the law of the posterior, and the X_i are
 * independent if the E_i are.  Items with like posteriors are a cell.  In a cell of m items the
 * exponentials, smallest first, arrive at u_1 < u_2 < ...: u_1 = G_1 / m, u_{j+1} = u_j + G_{j+1} /
 * (m - j) with standard exponentials G (Renyi 1953), and arrival j hits one of the members that
 * were not hit before, each with the same chance.  The G and the members are drawn from a generator
 * that is keyed on the round and on the key of the cell, the member as the t-th smallest item
 * number.  So the whole sample X is a function of (posteriors, generator) and of nothing else.
 *
 * Reading it.  The bound of a cell, Q_c(u) >= Q_i(u), means that an arrival at u can exceed tau
 * only if u <= H_c(tau).  Reading every cell up to H_c(tau) therefore finds every item with X_i >=
 * tau.  If K or more are found, the K largest of them are the K largest of all.  If not, tau is
 * lowered and the same arrivals are read again, further: the same sample, so no bias.  tau decides
 * how long a call takes and nothing else.
 *
 * Cost.  One block of Philox for four cells decides which have an arrival in time
 * (kernels/race_kernels.h), and about K + 4 sqrt(K) + 2 arrivals are read, times what the bounds
 * are too wide.  Each is a few cache misses, of the tree and of the posterior, which are overlapped
 * in waves.
 *
 * Precision.  E of the first arrival has 64 random bits over m, and quantiles are computed in
 * double: maxima beyond 6.66 deviations, where the float sampler ends, come as often as they
 * should.
 */
#ifndef OLTR_ENGINE_RACE_RACE_H
#define OLTR_ENGINE_RACE_RACE_H

#include <oltr/oltr.h>

#include "engine/race/cells.h"

/* When a race is run: the candidates are the items 0..n-1, and the list is short.  Other requests,
 * and all while the index is overfull, sample every candidate. */
enum { RACE_LEAST_ITEMS = 4096, RACE_ITEMS_PER_SLOT = 64 };
static inline bool race_serves(const race_index *index, uint32_t n, uint32_t k)
{
    return !index->overfull && n >= RACE_LEAST_ITEMS && k <= n / RACE_ITEMS_PER_SLOT;
}

/* Room for a ranking: offsets are planned once for a number of items.  0 bytes: it does not fit in
 * memory. */
size_t race_scratch_bytes(uint32_t n_items);

/* The list of the k largest samples of the items 0..n-1, k <= n <= n_items; score may be NULL.
 * Items from n on have no influence.  k is at most the n_items of the scratch /
 * RACE_ITEMS_PER_SLOT + RACE_SPARE_SLOTS. */
enum { RACE_SPARE_SLOTS = 64 };
void race_rank(const race_index *index, const race_items *items, const oltr_rng *rng, uint32_t n,
               uint32_t k, void *scratch, uint32_t *item, double *score);

#endif
