/* progress.h - how far a run is: on a terminal one line that is rewritten, elsewhere a line every
 * ten seconds. */
#ifndef OLTR_APP_RUN_PROGRESS_H
#define OLTR_APP_RUN_PROGRESS_H

#include "lab/plan/plan_internal.h"

struct progress {
    const oltr_plan *plan;
    bool terminal;
};

struct progress progress_begin(const oltr_plan *plan);
/* Seconds between two reports. */
double progress_every(const struct progress *progress);
/* A callback of oltr_run(); `progress` is a struct progress. */
void progress_show(void *progress, const oltr_progress *state);
/* Clears the line. */
void progress_end(const struct progress *progress);

double progress_now(void); /* seconds of a clock that never goes back */
/* "2:05", "1:02:05", or "?" where it is not known. */
void progress_time(double seconds, char *out, size_t size);

/* Replications done, and asked for in a shard, over all points. */
uint64_t progress_done(const oltr_plan *plan, const oltr_results *results);
uint64_t progress_total(const oltr_plan *plan, oltr_shard shard);

#endif
