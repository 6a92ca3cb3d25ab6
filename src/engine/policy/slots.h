/* slots.h - the examined slots of a short list, without a branch on their number.
 *
 * Branching on n_examined mispredicts in every other round, and the processor discards what it had
 * begun of the next one.  So all slots of a list of k <= BRANCHLESS_SLOTS are processed, with a
 * mask.  A slot that was not examined reads the reward of one that was, and must change nothing.
 */
#ifndef OLTR_ENGINE_POLICY_SLOTS_H
#define OLTR_ENGINE_POLICY_SLOTS_H

#include <oltr/oltr.h>

enum { BRANCHLESS_SLOTS = 8 };

/* How many slots to process. */
static inline uint32_t branchless_slots(uint32_t k, uint32_t n_examined)
{
    return n_examined && k <= BRANCHLESS_SLOTS ? k : n_examined;
}

/* 1 or 0, as the borrow of a subtraction: a comparison might become a jump.  The empty assembly
 * keeps compilers from counting the loop from n_examined: then even the items of the list would be
 * read only after n_examined is known. */
static inline uint32_t was_examined(const oltr_feedback *seen, uint32_t slot)
{
    __asm__("" : "+r"(slot));
    return (uint32_t)(((uint64_t)slot - seen->n_examined) >> 63);
}

static inline double branchless_reward(const oltr_feedback *seen, uint32_t slot)
{
    return seen->reward[slot & -was_examined(seen, slot)];
}

#endif
