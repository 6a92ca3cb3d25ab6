/* progress.h - how far a run is: one line that rewrites itself on a terminal, plain lines now and
 * then elsewhere. */
#ifndef OLTR_APP_RUN_PROGRESS_H
#define OLTR_APP_RUN_PROGRESS_H

#include "app/config/config.h"

struct progress {
    const struct config *config;
    bool terminal;
};

struct progress progress_begin(const struct config *config);
/* Seconds between two reports. */
double progress_every(const struct progress *progress);
void progress_show(const struct progress *progress, const oltr_progress *state);
/* Takes the rewriting line away. */
void progress_end(const struct progress *progress);

/* "2:05", "1:02:05", or "?" where it is not known. */
void progress_time(double seconds, char *out, size_t size);

/* Replications done, and asked for in a shard, over all points. */
uint64_t progress_done(const struct config *config, const oltr_results *results);
uint64_t progress_total(const struct config *config, oltr_shard shard);

#endif
