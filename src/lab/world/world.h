/* world.h - the environment: instances, and the users who scan lists; oltr/world_ops.h by its short
 * names.
 *
 * A world kind is one file that ends in one const world_ops; a click model is one file that ends in
 * one const click_ops; worlds.c lists both. Every draw is a function of (seed, replication, stream,
 * round, item), so all policies of a replication meet the same instance and the same users,
 * whatever they show.
 */
#ifndef OLTR_LAB_WORLD_WORLD_H
#define OLTR_LAB_WORLD_WORLD_H

#include <oltr/world_ops.h>

#include "engine/base/error.h"

enum {
    STREAM_POLICY = OLTR_STREAM_POLICY,
    STREAM_USERS = OLTR_STREAM_USERS,
    STREAM_INSTANCE = OLTR_STREAM_INSTANCE,
    STREAM_PRIOR = OLTR_STREAM_PRIOR,
    STREAM_CONTEXTS = OLTR_STREAM_CONTEXTS
};
typedef oltr_instance instance;
typedef oltr_world_ops world_ops;
typedef oltr_click_ops click_ops;

/* The k largest attractions, falling, or the k smallest, rising; (k) in truth->room.  k <=
 * n_items. */
const double *largest_attractions(const instance *truth, uint32_t k);
const double *smallest_attractions(const instance *truth, uint32_t k);

/* Is a drawing that has come to item i to be given up? */
static inline int draw_stopped(const instance *out, uint32_t i)
{
    return i % 4096 == 4095 && out->stop && out->stop(out->stop_context);
}

/* By name, from the catalogue. */
const world_ops *world_ops_of(const char *kind, oltr_error *error);
const click_ops *click_ops_of(const char *clicks, oltr_error *error);
/* Those of this world: its own, or by name. */
const world_ops *world_kind(const oltr_world *world, oltr_error *error);
const click_ops *world_clicks(const oltr_world *world, oltr_error *error);

/* All that can be wrong with a world, for any kind. */
oltr_status world_check(const oltr_world *world, oltr_error *error);

/* Replications are of so many groups, r of group r mod groups: the queries of a dataset, or one
 * group. */
uint32_t world_groups(const oltr_world *world);
/* A replication with the most items of any, and the fewest items that one has. */
uint64_t world_largest(const oltr_world *world);
uint32_t world_fewest(const oltr_world *world);

/* The prior that policies get: the true one (a, b) moved by the world's misspecification. */
oltr_status check_told_prior(const oltr_world *world, double a, double b, uint32_t item,
                             oltr_error *error);

#endif
