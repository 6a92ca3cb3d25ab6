/* verbs.h - the verbs of the program: each has one file with its options and its function. */
#ifndef OLTR_APP_VERBS_VERBS_H
#define OLTR_APP_VERBS_VERBS_H

#include "app/args/command.h"

extern const struct option run_options[], merge_options[], policies_options[], plot_options[],
    report_options[], reproduce_options[], help_options[], data_inspect_options[],
    data_convert_options[], data_generate_options[], prior_train_options[], prior_check_options[];
extern const struct verb data_verbs[], prior_verbs[]; /* end with a name of NULL */

int cmd_run(const struct arguments *arguments);
int cmd_merge(const struct arguments *arguments);
int cmd_policies(const struct arguments *arguments);
int cmd_plot(const struct arguments *arguments);
int cmd_report(const struct arguments *arguments);
int cmd_reproduce(const struct arguments *arguments);
int cmd_version(const struct arguments *arguments);
int cmd_help(const struct arguments *arguments);
int cmd_data_inspect(const struct arguments *arguments);
int cmd_data_convert(const struct arguments *arguments);
int cmd_data_generate(const struct arguments *arguments);
int cmd_prior_train(const struct arguments *arguments);
int cmd_prior_check(const struct arguments *arguments);

/* The program, from its words to its exit code. */
int cli_main(int argc, char **argv);

#endif
