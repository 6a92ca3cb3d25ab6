/* arena.h - what one worker needs to play: the memory of an instance, of one policy after the
 * other, and of the curves.
 *
 * Made once per thread and point, so that replications allocate nothing.  An arena is used by
 * the thread that makes it.
 */
#ifndef OLTR_LAB_SIM_ARENA_H
#define OLTR_LAB_SIM_ARENA_H

#include "lab/sim/results.h"
#include "lab/world/world.h"

typedef struct arena arena;

/* What an arena calls while it plays, about every 20 ms. */
typedef struct arena_watch {
    int (*stop)(void *context); /* NULL, or non-zero: stop */
    /* NULL, or gets the rounds that a policy has played since the last call, and their time */
    void (*played)(void *context, uint32_t policy, uint64_t rounds, uint64_t ns);
    void *context;
} arena_watch;

/* experiment.c: what oltr_experiment_check() asks but for the policies. */
oltr_status experiment_check_setting(const oltr_experiment *e, oltr_error *error);

/* NULL with the error set when a policy cannot be made in this world, or without memory.
 * `watch` may be NULL. */
arena *arena_new(const oltr_experiment *experiment, const arena_watch *watch, oltr_error *error);
void arena_free(arena *a);

/* Plays all policies through one replication.  OLTR_EINTERRUPTED when `stop` asked for it before
 * the end; any other status but OK when the world or a policy could not play on, with the reason in
 * *error. */
oltr_status arena_play(arena *a, uint64_t replication, oltr_error *error);

/* Of the last replication; the arrays belong to the arena. */
curves arena_curves(const arena *a);

#endif
