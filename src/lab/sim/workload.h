/* workload.h - how much of a run is done, in rounds and in time.
 *
 * Policies and the points of a sweep differ in cost by factors of thousands, so a share of
 * rounds is not a share of time.  The time of a round of each policy at each point is measured.
 * Where nothing was played yet, it is estimated: from the same policy at the last measured point,
 * times the ratio of two guesses by the settings (items, features, kind); without such a point,
 * from the guess times the ratio of measured to guessed time so far.
 */
#ifndef OLTR_LAB_SIM_WORKLOAD_H
#define OLTR_LAB_SIM_WORKLOAD_H

#include "lab/sim/results.h"

typedef struct workload workload;

/* All that `results` lacks of the shard; NULL without memory. */
workload *workload_new(const oltr_experiment *points, uint32_t n_points,
                       const oltr_results *results, oltr_shard shard);
void workload_free(workload *w);

/* Rounds that were played, and how long they took; by any number of threads at once. */
void workload_add(workload *w, uint32_t point, uint32_t policy, uint64_t rounds, uint64_t ns);

/* Fills in rounds, rounds_done, rounds_total, share and seconds_left of *progress, whose
 * `seconds` are known.  By one thread at a time. */
void workload_report(workload *w, oltr_progress *progress);

/* A guess, in nanoseconds; only ratios matter. */
double guess_round(const oltr_experiment *point, uint32_t policy);

#endif
