/* ope_run.h - one command of `oltr ope`: the policies, the log, and what came out. */
#ifndef OLTR_APP_VERBS_OPE_RUN_H
#define OLTR_APP_VERBS_OPE_RUN_H

#include "app/ope/ope_results.h"
#include "app/verbs/model_family.h"

enum { MOST_POLICIES = 64, LABEL_SIZE = 256 };

enum policy_form { BY_KIND, BY_MODEL, BY_COLUMNS, BY_LOG };

struct evaluated {
    const char *label; /* as it was given */
    const char *text;  /* without greedy: and its form */
    enum policy_form form;
    bool greedy;
    uint32_t column; /* BY_COLUMNS: number of the pair */
    oltr_model *own; /* BY_KIND */
    oltr_store *store;
    const oltr_model *model;
};

struct ope_run {
    const struct arguments *arguments;
    struct log_files files;
    struct log_report report;
    struct ope_data data;
    struct evaluated policy[MOST_POLICIES];
    char label[MOST_POLICIES][LABEL_SIZE];
    uint32_t n_policies, n_columns;
    bool chosen[OLTR_OPE_ESTIMATORS], any_chosen;
    oltr_ope_options options;
    uint32_t draws, folds;
    double *rate;
    const char *items_from; /* the model that names all items; NULL: the log does */
    struct ope_results results;
    char reason[640]; /* why the first estimate that was not made was not */
};

/* EXIT_OK, or another exit code after a message, all of them. */
int ope_read_policies(struct ope_run *run);     /* --policy and --model */
int ope_make_models(struct ope_run *run);       /* before the log is read */
bool ope_has_models(const struct ope_run *run); /* policies that need candidates */
int ope_train(struct ope_run *run, struct evaluated *p);
/* Notes how many of the lists a stored model has learned already. */
void ope_note_learned(struct ope_run *run, const struct evaluated *p);
void ope_free_policies(struct ope_run *run);

/* Where all items of a model were ranked: the log or a model given by --model has their names, or
 * the evaluation is refused. */
int ope_name_all_items(struct ope_run *run);

/* All estimates of all policies, and the notes. */
int ope_evaluate_all(struct ope_run *run);

extern const char *const ope_intervals[]; /* of --interval, as OLTR_OPE_BOOTSTRAP, ... */

#endif
