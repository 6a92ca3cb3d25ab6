/* drift.h - attractions that change from round to round, for worlds without drawn features.
 *
 *     walk    in every round the log-odds of every attraction move by a normal of standard
 *             deviation `drift_walk`, and are reflected at the bounds of the world.  O(items) a
 *             round
 *     jump    in every round every item has the chance `drift_jump` that its attraction is drawn
 *             anew from the law of the world.  O(jumps) a round: the gaps between the items that
 *             jump are geometric, so the others are not visited
 *
 * With both the walk comes first.  What happens to item i in round t is a function of (seed,
 * replication, t, i) and of the attraction before.  The prior that policies get is that of the
 * first instance.  Regret is against the best list of the round.
 */
#ifndef OLTR_LAB_WORLD_DRIFT_H
#define OLTR_LAB_WORLD_DRIFT_H

#include "lab/world/world.h"

/* How a world drifts. */
typedef struct drift_law {
    double low, high; /* where the walk is reflected */
    /* A new attraction of an item. */
    double (*redraw)(const oltr_world *world, const instance *truth, uint32_t item, oltr_rng *rng);
} drift_law;

oltr_status check_drift(const oltr_world *world, oltr_error *error);
int world_drifts(const oltr_world *world);
oltr_status drift(const oltr_world *world, const drift_law *law, uint64_t seed,
                  uint64_t replication, uint64_t round, instance *truth);

#endif
