/* verbs.h - the verbs of the program: each has one file with its options and its function. */
#ifndef OLTR_APP_VERBS_VERBS_H
#define OLTR_APP_VERBS_VERBS_H

#include "app/args/command.h"

extern const struct option run_options[], merge_options[], policies_options[], plot_options[],
    report_options[], reproduce_options[], help_options[], data_inspect_options[],
    data_convert_options[], data_generate_options[], prior_train_options[], prior_check_options[],
    model_create_options[], model_learn_options[], model_rank_options[], model_show_options[],
    model_prior_options[], model_remove_options[], model_reset_options[], model_trim_options[],
    model_forget_options[], model_merge_options[], model_dump_options[], model_check_options[],
    ope_options[];
extern const struct verb data_verbs[], prior_verbs[], model_verbs[]; /* end with a name of NULL */

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
int cmd_ope(const struct arguments *arguments);
int cmd_model_create(const struct arguments *arguments);
int cmd_model_learn(const struct arguments *arguments);
int cmd_model_rank(const struct arguments *arguments);
int cmd_model_show(const struct arguments *arguments);
int cmd_model_prior(const struct arguments *arguments);
int cmd_model_remove(const struct arguments *arguments);
int cmd_model_reset(const struct arguments *arguments);
int cmd_model_trim(const struct arguments *arguments);
int cmd_model_forget(const struct arguments *arguments);
int cmd_model_merge(const struct arguments *arguments);
int cmd_model_dump(const struct arguments *arguments);
int cmd_model_check(const struct arguments *arguments);

/* The program, from its words to its exit code. */
int cli_main(int argc, char **argv);

#endif
