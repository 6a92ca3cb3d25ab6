/* class_rank.h - the list of the best items from one score for each class (classes.h): the very
 * list that the selection of select/topk.h makes from the scores of all items.
 *
 * That selection fills slot after slot.  Where m items tie for a slot, it takes the t-th of them in
 * the order of their numbers, t drawn from the slot's own words.  Here the tied items are the
 * members of the classes with the largest score that are not in the list yet; the t-th is found by
 * ranks alone, and the items of all ranks are then looked up in the trees side by side.
 *
 * Cost.  One pass over the classes, and a few cache misses a slot.  Where several classes have one
 * score, a slot is found by bisection, about 20 counts in each tree.  More than CLASSES_TOGETHER
 * such classes are left to the selection from all scores.
 */
#ifndef OLTR_ENGINE_RACE_CLASS_RANK_H
#define OLTR_ENGINE_RACE_CLASS_RANK_H

#include <oltr/oltr.h>

#include "engine/race/classes.h"

enum { CLASSES_TOGETHER = 8, CLASSES_ITEMS_PER_SLOT = 64, TIED_SHORT = 64 };

/* Whether the index should serve a list of k from the items 0..n-1.  It is faster then; the list is
 * the same. */
static inline bool classes_serve(const class_index *index, uint32_t n, uint32_t k)
{
    return !index->overfull && n >= CLASSES_LEAST_ITEMS && k <= n / CLASSES_ITEMS_PER_SLOT;
}

/* Room for a ranking, which begins with the scores: one double for each place. */
size_t class_scratch_bytes(uint32_t n_items);

/* The list of the k best of the items 0..n-1 by the scores of their classes, which the scratch
 * begins with; they are destroyed.  False, and nothing of use written, where too many classes have
 * one score. */
bool class_rank(const class_index *index, const oltr_rng *rng, uint32_t n, uint32_t k,
                void *scratch, uint32_t *item, double *score);

/* The same for items that all tie: slot after slot, the rank of an item among n that is not in the
 * list yet, each equally likely.  room: tied_room(n) words, aligned to 8 bytes.  O(n / 64 + k log
 * n); of short lists O(k^2) in place of that, which is less. */
static inline size_t tied_room(uint32_t n)
{
    return TIED_SHORT + 3 * ((size_t)n / 64 + 2);
}
void tied_ranks(const oltr_rng *rng, uint32_t first_slot, uint32_t n, uint32_t k, uint32_t *room,
                uint32_t *rank);

#endif
