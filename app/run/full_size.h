/* full_size.h - `oltr run --full`: an experiment on judged queries at the size of the paper, and
 * what that will cost here. */
#ifndef OLTR_APP_RUN_FULL_SIZE_H
#define OLTR_APP_RUN_FULL_SIZE_H

#include "app/run/job.h"

/* Adds to the overrides of a job whose file is open: every test query, 50 replications, 10,000
 * rounds; and, where no data are given, a generated set as large as the real one.  They come first,
 * so that the flags of the command line change them.  Returns an exit code. */
int full_size_choose(struct job *job);

/* Times a sample of the experiment, whose data are loaded, and prints what all of it and, with
 * --shard or MPI, this part will take.  Returns an exit code. */
int full_size_announce(const struct job *job);

#endif
