/* world.h - the environment of a simulation: instances, and the users who scan lists.  The types
 * are those of oltr/world_ops.h, by short names.
 *
 * A world kind is one file that ends in one const world_ops; a click model is one file that ends in
 * one const click_ops; world_registry.c lists both.  Every draw is a function of (seed,
 * replication, stream, round, item), so all policies of a replication meet the same instance and
 * the same users, whatever they show.
 */
#ifndef OLTR_LAB_WORLD_WORLD_H
#define OLTR_LAB_WORLD_WORLD_H

#include <stdbool.h>

#include <oltr/world_ops.h>

#include "engine/base/error.h"

enum {
    STREAM_POLICY = OLTR_STREAM_POLICY,
    STREAM_USERS = OLTR_STREAM_USERS,
    STREAM_INSTANCE = OLTR_STREAM_INSTANCE,
    STREAM_PRIOR = OLTR_STREAM_PRIOR,
    STREAM_CONTEXTS = OLTR_STREAM_CONTEXTS,
    STREAM_DRIFT = OLTR_STREAM_DRIFT
};
typedef oltr_instance instance;
typedef oltr_world_ops world_ops;
typedef oltr_click_ops click_ops;
typedef oltr_world_param world_param;

/* ---- world_registry.c */

/* By name, from the catalogue; NULL with the error set. */
const world_ops *world_ops_of(const char *kind, oltr_error *error);
const click_ops *click_ops_of(const char *clicks, oltr_error *error);
/* The place of a name among the `count` entries of a catalogue, or `count` with the error set;
 * `what` is for the message. */
uint32_t named_index(const char *what, const char *name, uint32_t count,
                     const oltr_named *(*at)(uint32_t), oltr_error *error);

/* ---- world_check.c */

/* Those of this world: custom ones, or by name. */
const world_ops *world_kind(const oltr_world *world, oltr_error *error);
const click_ops *world_clicks(const oltr_world *world, oltr_error *error);
/* The parameter of a click model that may be a number for each slot; NULL: it has none. */
const world_param *slot_param(const click_ops *clicks);
/* Everything that can be wrong with a world of any kind. */
oltr_status world_check(const oltr_world *world, oltr_error *error);
/* The prior that policies get, (a, b) shifted by the world's misspecification, must be a Beta
 * distribution. */
oltr_status check_shifted_prior(const oltr_world *world, double a, double b, uint32_t item,
                                oltr_error *error);
bool is_shifted(const oltr_world *world); /* is its misspecification anything but 0? */

/* ---- dataset_world.c */

/* The query with the most documents. */
uint32_t largest_query(const oltr_dataset *data);
/* Whether it has all arrays, and its queries cover its rows. */
oltr_status dataset_check_shape(const oltr_dataset *data, oltr_error *error);
static inline uint32_t query_size(const oltr_dataset *data, uint32_t query)
{
    return data->first_row[query + 1] - data->first_row[query];
}
/* Do the queries of a dataset share the rounds of each replication? */
bool world_has_traffic(const oltr_world *world);
/* The prior that policies get of `n` rows of a dataset, into a, b, mean, sd of `out`. */
void dataset_prior(const oltr_world *world, uint32_t first, uint32_t n, instance *out);
/* Replications fall into this many groups, r into group r mod groups: the queries of a dataset that
 * are played one by one, or one group. */
uint32_t world_groups(const oltr_world *world);
/* A replication with the most items of any, and the fewest items of any replication. */
uint64_t world_largest(const oltr_world *world);
uint32_t world_fewest(const oltr_world *world);

/* ---- attractions.c */

/* The k largest attractions, falling, or the k smallest, rising; (k) in truth->room.  k <=
 * n_items.  The first is O(1) where truth->largest knows them. */
const double *largest_attractions(const instance *truth, uint32_t k);
const double *smallest_attractions(const instance *truth, uint32_t k);
/* The largest attractions of a world of which few change in a round, kept from one search to the
 * next: a change costs a look at some hundred numbers, and most searches cost nothing.  Every item
 * outside has at most `bound`, every item inside at least that. */
enum { LARGEST_KEPT = 256 };
typedef struct oltr_largest {
    bool known; /* else the next search fills it */
    uint32_t n;
    double bound;
    uint32_t item[LARGEST_KEPT]; /* (n) the largest first */
    double value[LARGEST_KEPT];
} oltr_largest;
/* The attraction of an item is another now. */
void attraction_changed(const instance *truth, uint32_t item);
/* All may be. */
static inline void attractions_changed(const instance *truth)
{
    if (truth->largest)
        truth->largest->known = false;
}

/* The same of attraction times weight; weight (n_items), or NULL: 1. */
const double *largest_products(const instance *truth, const double *weight, uint32_t k);
const double *smallest_products(const instance *truth, const double *weight, uint32_t k);

/* At item i of a draw: has the run been stopped?  Asked at every 4096th item. */
static inline bool draw_stopped(const instance *out, uint32_t i)
{
    return i % 4096 == 4095 && out->stop && out->stop(out->stop_context);
}

#endif
