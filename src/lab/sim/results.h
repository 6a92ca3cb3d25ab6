/* results.h - the sums behind regret curves and other metrics, in exact integers.
 *
 * Adding doubles in another order gives other bits.  So each replication's curve is rounded once,
 * to a multiple of 2^-scale, and from there on sums and sums of squares are integers of 128 bits:
 * the order of threads, interruptions and merges does not matter.  The scale is chosen from the
 * horizon so that 52 bits hold any curve; at 10,000 rounds and 3 slots one unit is 7e-12.
 *
 * The largest regret of a replication is kept for every policy and checkpoint: also a maximum
 * does not depend on the order.
 *
 * NDCG@K of the shown list is recorded in the rounds of checkpoints; an instance without an
 * attractive item has none and is not counted.  The click rate follows from the rewards at two
 * checkpoints; the squares of these differences give its error.
 *
 * Policies of one replication meet the same instance and the same users, so they are compared in
 * pairs: the squares of their differences are summed too. Replications of a dataset fall into
 * groups, its queries: two users of one query carry less information than two queries do, and
 * standard errors are those between groups.
 */
#ifndef OLTR_LAB_SIM_RESULTS_H
#define OLTR_LAB_SIM_RESULTS_H

#include <stdbool.h>

#include <oltr/sim.h>

#include "lab/sim/wide.h"

enum { CURVE_BITS = 52, WHOLE = 1, SATURATED = 2, NDCG_BITS = 40 };

/* Over replications, in units of 2^-scale; those of NDCG are 2^-NDCG_BITS. */
typedef struct tally {
    wide regret, regret_squares, reward;
    wide gain_squares; /* of the reward since the checkpoint before */
    wide ndcg, ndcg_squares;
    wide judged; /* replications that have an NDCG */
} tally;
enum { TALLY = sizeof(tally) / sizeof(wide) };

/* The sums of one point.  All that are wide are in one array, `sums`: results are merged and
 * cleared as one list of numbers, and read by the names below. */
typedef struct point_results {
    uint32_t n_policies, n_checkpoints, replications, done;
    uint32_t n_groups; /* replication r belongs to group r mod n_groups; 1: there are none */
    int scale;
    uint64_t rounds; /* of the horizon */
    uint64_t *round; /* (n_checkpoints) */
    size_t n_sums, group_curves;
    wide *sums;          /* (n_sums) the three arrays that follow, in this order */
    tally *at;           /* (n_policies, n_checkpoints) */
    wide *pair_squares;  /* (pairs, n_checkpoints) of the differences of regret; pair_index() */
    wide *group_squares; /* (n_groups, n_policies) at the last checkpoint, where there are groups */
    /* (n_groups, n_policies, n_checkpoints) = (group_curves), likewise; one block, in this order:
     */
    int64_t *group_regret, *group_reward, *group_ndcg, *group_judged;
    uint32_t *group_done; /* (n_groups) */
    /* (n_policies, n_checkpoints) scratch: the replication that is being added */
    int64_t *units, *reward_units;
    int64_t *worst;       /* (n_policies, n_checkpoints) the largest regret; 0 where none is done */
    uint64_t *ns;         /* (n_policies) thread CPU nanoseconds */
    unsigned char *whole; /* (replications) WHOLE where it is in the sums, and SATURATED where all
                             lists were equally good */
} point_results;

enum { GROUP_ARRAYS = 4 };

struct oltr_results {
    uint32_t n_points;
    point_results *point; /* (n_points) */
    uint64_t digest;      /* of the experiment these are the results of */
};

/* How many pairs there are, and which one is (i, j), i < j < n. */
static inline size_t pair_count(uint32_t n)
{
    return (size_t)n * (n - 1) / 2;
}

static inline size_t pair_index(uint32_t n, uint32_t i, uint32_t j)
{
    return (size_t)i * (2 * (size_t)n - i - 1) / 2 + (j - i - 1);
}

/* A number that differs for any two experiments that could differ in a result; 0 without memory. */
uint64_t experiment_digest(const oltr_experiment *points, uint32_t n_points);

/* oltr_results_new() of points that oltr_experiment_check() has accepted. */
oltr_results *results_of_checked(const oltr_experiment *points, uint32_t n_points,
                                 oltr_error *error);

/* One replication. */
typedef struct curves {
    const double *regret, *reward; /* (n_policies, n_checkpoints) */
    const uint64_t *ns;            /* (n_policies) thread CPU time */
    bool saturated;                /* every list is as good as any other */
    const double *ndcg; /* (n_policies, n_checkpoints), NaN where there is none; NULL: nowhere */
} curves;

void results_add(oltr_results *results, uint32_t point, uint32_t replication, const curves *of);

/* As if nothing had been done yet. */
void results_clear(oltr_results *results);

#endif
