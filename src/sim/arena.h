/* arena.h - one worker's place to play: the memory of an instance, of one policy after the other, and of the curves.
 *
 * Made once per thread and point, so that replications allocate nothing.
 */
#ifndef OLTR_SIM_ARENA_H
#define OLTR_SIM_ARENA_H

#include "world/world.h"

typedef struct arena arena;

/* NULL with the error set when a policy cannot be made in this world, or without memory. */
arena *arena_new(const oltr_experiment *experiment, oltr_error *error);
void arena_free(arena *a);

/* Plays all policies through one replication.  OLTR_EINTERRUPTED when `stop` said so before the end; any other status but OK when a policy
 * could not play on, with the reason in *error. */
oltr_status arena_play(arena *a, uint64_t replication, int (*stop)(void *context), void *context, oltr_error *error);

/* The curves of the last replication, (n_policies, n_checkpoints) each, and the CPU time of each policy. */
const double *arena_regret(const arena *a);
const double *arena_reward(const arena *a);
const uint64_t *arena_ns(const arena *a);

#endif
