/* model_priors.h - priors of items from a file, for `oltr model create` and `oltr model prior`. */
#ifndef OLTR_APP_VERBS_MODEL_PRIORS_H
#define OLTR_APP_VERBS_MODEL_PRIORS_H

#include "app/logs/prior_csv.h"
#include "app/verbs/verbs.h"

/* Reads the file for a policy, by --columns and --lenient; reports skipped lines.  Free the table
 * either way. */
int model_priors_read(const struct arguments *arguments, const char *path,
                      const oltr_policy_info *info, struct prior_table *out);
/* Gives them to the model; a refusal names the line. */
int model_priors_give(const char *path, const struct prior_table *table, oltr_model *model);

/* --columns, as often as it was given. */
int model_columns(const struct arguments *arguments, struct log_names *names);
/* The lines that a lenient reader skipped, on standard error. */
void model_say_skipped(const struct log_report *report);

#endif
