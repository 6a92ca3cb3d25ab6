/* world.h - where the truth lives: instances, and the users who scan lists.
 *
 * A world kind is one file that ends in one const world_ops; a click model is one file that ends in one const click_ops; worlds.c lists both.
 * Every draw is a function of (seed, replication, stream, round, item), so all policies of a replication meet the same instance and
 * the same users, whatever they show.
 */
#ifndef OLTR_WORLD_WORLD_H
#define OLTR_WORLD_WORLD_H

#include <oltr/sim.h>

#include "base/error.h"

enum { STREAM_POLICY, STREAM_USERS, STREAM_INSTANCE, STREAM_PRIOR, STREAM_CONTEXTS };

/* The truth of one replication, and what the policies are told of it. */
typedef struct instance {
    uint32_t n_items;
    double *attraction; /* (n_items) */
    double *a, *b;      /* (n_items) the Beta prior that the policies are told */
    int tells;          /* 0: a and b mean nothing */
    double *mean, *sd;  /* (n_items) what policies are told that take a mean and a deviation */
    int tells_moments;  /* 0: mean and sd mean nothing */
    uint32_t dim;       /* features of an item; 0: none */
    const float *x;     /* (n_items, dim): `drawn`, or rows that the world keeps */
    float *drawn;       /* room for (n_items, dim); NULL for a dataset, whose rows are in place */
    double *theta;      /* (dim) */
} instance;

typedef struct world_ops {
    oltr_named info;
    oltr_status (*check)(const oltr_world *world, oltr_error *error);
    /* Fills the arrays of `out`; a dataset sets n_items too. */
    void (*draw)(const oltr_world *world, uint64_t seed, uint64_t replication, instance *out);
    /* OPTIONAL: what changes from round to round.  NULL, or does nothing unless moves() says so. */
    int (*moves)(const oltr_world *world);
    void (*advance)(const oltr_world *world, uint64_t seed, uint64_t replication, uint64_t round, instance *truth);
} world_ops;

typedef struct click_ops {
    oltr_named info;
    oltr_rewards rewards;
    oltr_status (*check)(const oltr_world *world, oltr_error *error);
    /* What a user does with the list: fills reward[] of the examined slots and returns how many those are. */
    uint32_t (*scan)(const oltr_world *world, const instance *truth, const oltr_rng *round, const oltr_ranking *shown,
                     double *reward);
    /* Expected reward of the list, and the largest of any list of k items. */
    double (*value)(const oltr_world *world, const instance *truth, const uint32_t *item, uint32_t k);
    double (*best)(const oltr_world *world, const instance *truth, uint32_t k);
} click_ops;

/* The next smaller attraction after `below`, and how many items have it: walks the attractions from the top. */
double next_attraction(const instance *truth, double below, uint32_t *count);

const world_ops *world_ops_of(const char *kind, oltr_error *error);
const click_ops *click_ops_of(const char *clicks, oltr_error *error);

/* All that can be wrong with a world, for any kind. */
oltr_status world_check(const oltr_world *world, oltr_error *error);

/* Replications are of so many groups, r of group r mod groups: the queries of a dataset, or one group. */
uint32_t world_groups(const oltr_world *world);
/* A replication with the most items of any, and the fewest items that one has. */
uint64_t world_largest(const oltr_world *world);
uint32_t world_fewest(const oltr_world *world);

/* Told prior = true prior (a, b) moved by the world's misspecification. */
oltr_status check_told_prior(const oltr_world *world, double a, double b, uint32_t item, oltr_error *error);

#endif
