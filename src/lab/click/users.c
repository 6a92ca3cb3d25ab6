/* users.c - see users.h. */
#include "lab/click/users.h"

const char *const seen_words[] = {"first", "last", "true", "all", NULL};

bool slots_fall(slot_law law, const oltr_world *world, const instance *truth, uint32_t k)
{
    for (uint32_t slot = 1; slot < k; slot++)
        if (law(world, truth, slot) > law(world, truth, slot - 1))
            return false;
    return true;
}

uint32_t rank_of_slot(slot_law law, const oltr_world *world, const instance *truth, uint32_t slot,
                      uint32_t k)
{
    double own = law(world, truth, slot);
    uint32_t rank = 0;
    for (uint32_t other = 0; other < k; other++) {
        double chance = law(world, truth, other);
        rank += chance > own || (other < slot && !(chance < own));
    }
    return rank;
}
