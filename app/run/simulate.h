/* simulate.h - the simulation of a job: with a partial file for --resume, stopped by Ctrl-C, and
 * with the results of all ranks of a team added up. */
#ifndef OLTR_APP_RUN_SIMULATE_H
#define OLTR_APP_RUN_SIMULATE_H

#include "app/run/job.h"

/* Empty results of the job's experiment; NULL after saying why. */
oltr_results *results_for(const struct job *job);

/* The part of the replications that this process simulates: a rank has the shard of its number. */
oltr_shard shard_of(const struct job *job);

/* Fills job->results; what `partial`, a file, has of them is not simulated again if the job
 * resumes.  After this call the leader of a team has the results of all.  An exit code. */
int simulate(struct job *job, const char *partial);

/* Removes the partial file, and temporary files of it. */
void remove_partial(const char *partial);

#endif
