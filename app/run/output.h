/* output.h - what a run leaves behind: the files in its folder and the table on the screen. */
#ifndef OLTR_APP_RUN_OUTPUT_H
#define OLTR_APP_RUN_OUTPUT_H

#include "app/config/config.h"
#include "app/run/prepare.h"

/* What is known of a run besides its configuration. */
struct run {
    const struct config *config;
    const char *file;   /* the experiment, as it was named */
    const char *folder; /* where everything goes */
    uint32_t n_flags;
    const char *const *flag; /* (n_flags) what overrode the file */
    uint32_t threads;
    double seconds;
    const oltr_results *results; /* NULL without a simulation */
    const struct prepared *data; /* of worlds of kind dataset; NULL: none */
    bool is_finished, is_drawn;  /* an earlier run has left these results, and all their figures */
    bool keep_experiment;        /* folder/experiment.yaml is the file that is being run */
};

/* Results, summary, experiment.yaml and, last, the manifest. */
oltr_status output_write(const struct run *run, oltr_error *error);
/* experiment.yaml alone. */
oltr_status output_experiment(const struct run *run, oltr_error *error);
/* Policy, regret and its standard error, nanoseconds per round. */
void output_table(const struct run *run);

#endif
