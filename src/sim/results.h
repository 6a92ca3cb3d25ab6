/* results.h - the sums behind regret curves, in exact integers.
 *
 * Adding doubles in another order gives other bits.  So each replication's curve is rounded once, to a multiple of 2^-scale, and from there on sums and sums of squares are integers of
 * 128 bits: the order of threads, interruptions and merges cannot show.  The scale is chosen from the horizon so that 52 bits hold any curve; at 10,000 rounds
 * and 3 slots one unit is 7e-12.
 */
#ifndef OLTR_SIM_RESULTS_H
#define OLTR_SIM_RESULTS_H

#include <oltr/sim.h>

__extension__ typedef __int128 wide;

typedef struct tally {
    wide regret, regret_squares, reward; /* over replications, in units of 2^-scale */
} tally;

typedef struct point_results {
    uint32_t n_policies, n_checkpoints, replications, done;
    int scale;
    tally *at;            /* (n_policies, n_checkpoints) */
    uint64_t *ns;         /* (n_policies) thread CPU nanoseconds */
    uint64_t rounds;      /* of the horizon */
    unsigned char *whole; /* (replications) 1 where it is in the sums */
} point_results;

struct oltr_results {
    uint32_t n_points;
    point_results *point; /* (n_points) */
    uint64_t digest;      /* of the experiment these are the results of */
};

/* A number that differs for any two experiments that could differ in a result; 0 without memory. */
uint64_t experiment_digest(const oltr_experiment *points, uint32_t n_points);

/* One replication: curves of every policy, (n_policies, n_checkpoints) each, and the time each took. */
void results_add(oltr_results *results, uint32_t point, uint32_t replication, const double *regret,
                 const double *reward, const uint64_t *ns);

#endif
