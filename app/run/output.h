/* output.h - the files that a job leaves in its folder, and the table on the screen. */
#ifndef OLTR_APP_RUN_OUTPUT_H
#define OLTR_APP_RUN_OUTPUT_H

#include "app/run/job.h"

/* Results, summary, experiment.yaml, the manifest, and the claims with their verdicts. */
oltr_status output_write(const struct job *job, oltr_error *error);
/* experiment.yaml alone. */
oltr_status output_experiment(const struct job *job, oltr_error *error);
/* Policy, regret and its standard error, nanoseconds per round. */
void output_table(const struct job *job);

#endif
