/* job.h - one experiment from its file to its folder of results: what `oltr run` does once it knows
 * what is asked of it. */
#ifndef OLTR_APP_RUN_JOB_H
#define OLTR_APP_RUN_JOB_H

#include "app/config/config.h"

/* Who looks on in place of the terminal, when a job is one of several: no words of its own but
 * errors, and a partial file that does not fit is not used. */
struct job_watch {
    void (*progress)(void *context, const oltr_progress *state);
    void *context;
    double every; /* seconds between two calls */
};

struct job {
    const char *file, *folder; /* the experiment, "-" for standard input; where its results go */
    bool quiet, resume, figures;
    bool force; /* replaces the results of a finished run */
    uint32_t threads;
    oltr_shard shard; /* count 0: the whole */
    uint32_t n_overrides;
    const struct override *override; /* (n_overrides) what flags change in the file */
    const char *const *flag;         /* (n_overrides) the same in words: "--rounds 100" */
    const struct job_watch *watch;   /* or NULL */
};

/* Everything; an exit code. */
int job_run(const struct job *job);

/* The same experiment from what its shards have left in these folders. */
int job_merge(const struct job *job, uint32_t n_folders, const char *const *shards);

#endif
