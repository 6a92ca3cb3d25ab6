/* job.h - one experiment, from the request to its folder of results.
 *
 * `oltr run`, `oltr merge` and `oltr reproduce` fill in the request and call job_run() or
 * job_merge(), which fill in the rest.  All files of this folder work on this one struct. */
#ifndef OLTR_APP_RUN_JOB_H
#define OLTR_APP_RUN_JOB_H

#include "app/config/config.h"

/* Of a job that is one of several: it reports its progress here and prints nothing but errors.  A
 * partial file that does not fit is not used.  Finished results of the same settings stay. */
struct job_watch {
    void (*progress)(void *context, const oltr_progress *state); /* NULL: none */
    void *context;
    double every; /* seconds between two calls */
};

struct job {
    /* the request */
    const char *file, *folder; /* the experiment, "-" for standard input; where its results go */
    bool quiet, resume, figures;
    bool full;  /* the size of the paper (full_size.h) */
    bool force; /* replaces the results of a finished run */
    uint32_t threads;
    oltr_shard shard;              /* count 0: the whole */
    struct overrides overrides;    /* what flags change in the file */
    uint32_t n_flags;              /* how many flags that were */
    const char **flag;             /* (n_flags) in words: "--rounds 100" */
    const struct job_watch *watch; /* or NULL */
    struct pool pool;              /* owns texts of the request */

    /* what the job makes of it */
    struct config config;       /* read from the file, unless the caller did so */
    struct prepared *data;      /* of worlds of kind dataset */
    oltr_results *results;      /* NULL without a simulation */
    double seconds;             /* of simulation */
    bool keep_experiment;       /* folder/experiment.yaml is the file that is run */
    bool is_finished, is_drawn; /* an earlier run left these results, and all their figures */
};

/* Both return an exit code.  job_free() must follow. */
int job_run(struct job *job);
/* The same experiment from what its shards have left in these folders. */
int job_merge(struct job *job, uint32_t n_folders, const char *const *shards);
void job_free(struct job *job);

#endif
