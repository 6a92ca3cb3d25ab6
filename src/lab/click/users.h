/* users.h - what click models share: the draws of a user, and lists whose slots differ.
 *
 * Whether an item attracts the user of a round is decided by one word of the generator for (round,
 * item), the same in every click model, so that models whose parameters make them equal give the
 * same bits.  What else a user does is decided by a word of its own for (round, slot) or (round,
 * item), under a purpose that the model numbers from 1.
 */
#ifndef OLTR_LAB_CLICK_USERS_H
#define OLTR_LAB_CLICK_USERS_H

#include "engine/kernels/philox.h"
#include "lab/world/world.h"

/* Does something of chance p happen at this place, a slot or an item?  Always where p is 1. */
static inline bool happens(const oltr_rng *round, uint32_t place, uint32_t purpose, double p)
{
    uint32_t word[4];
    words_at(round, place / 4, purpose, word);
    return uniform_of_word(word[place % 4]) < p;
}

static inline bool attracts(const instance *truth, const oltr_rng *round, uint32_t item)
{
    return happens(round, item, 0, truth->attraction[item]);
}

/* The parameter `seen` of click models whose users may click more than once, OLTR_SEEN_... minus 1:
 * what policies are told was examined. */
extern const char *const seen_words[];
#define SEEN_ROW                                                                                   \
    {                                                                                              \
        {"seen",                                                                                   \
         OLTR_CHOICE,                                                                              \
         OLTR_SEEN_LAST - 1,                                                                       \
         0,                                                                                        \
         OLTR_SEEN_ALL - 1,                                                                        \
         seen_words,                                                                               \
         "which slots count as examined for policies: down to the `first` click, down to the "     \
         "`last` click (both: all slots where there is no click), those that `true` users looked " \
         "at, or `all`"},                                                                          \
            0, 0                                                                                   \
    }

/* What a slot does to the value of the item in it: the chance to leave after a click, or that the
 * slot is examined. */
typedef double (*slot_law)(const oltr_world *world, const instance *truth, uint32_t slot);

/* The place of a slot in the falling order of the k chances: in the best list that slot has the
 * most attractive item, the second most attractive one, ...  O(k). */
uint32_t rank_of_slot(slot_law law, const oltr_world *world, const instance *truth, uint32_t slot,
                      uint32_t k);
/* Do the chances of k slots never rise? */
bool slots_fall(slot_law law, const oltr_world *world, const instance *truth, uint32_t k);

#endif
