/* offers.h - what the shell is offered for names and keys (app/args/completion.h): each function is
 * an `offer` of the tables of options and verbs. */
#ifndef OLTR_APP_VERBS_OFFERS_H
#define OLTR_APP_VERBS_OFFERS_H

#include "app/args/completion.h"

void offer_policies(const struct completion *to);
void offer_grades(const struct completion *to); /* how they become attractions */
void offer_shapes(const struct completion *to); /* of generated data sets */
/* Of `oltr help`: commands, the commands of a family, experiment. */
void offer_commands(const struct completion *to);
void offer_experiments(const struct completion *to); /* of `oltr reproduce` (cmd_reproduce.c) */
/* KEY=VALUE of `oltr run --set`: the keys of an experiment file, the labels of the policies in FILE
 * and their parameters. */
void offer_experiment_keys(const struct completion *to);
/* KEY=VALUE of `oltr model create --set`: settings of a model, parameters of --policy. */
void offer_model_keys(const struct completion *to);

#endif
