/* logistic_policy.h - policies on a logistic model: counts of distinct rows, and the root of their
 * score equation (posterior/logistic.h).
 *
 * The states of logts, glm-ucb and pg-ts begin with a logistic_policy.  They differ in what they
 * add to it and in how they rank; which rows are kept, what is saved and checked, and how two
 * histories merge is here.  Two of them have a second matrix, of rows with other weights.
 *
 * Rows.  Rows that repeat are kept exactly.  Of rows seen once, rows: 0 keeps the newest: as many
 * as items, at least THOROUGH and at most MOST_THOROUGH, or WINDOW_PER_FEATURE for each feature if
 * that is more; older ones are absorbed (posterior/logistic.h).  Windows of 3 d rows leave
 * theta_hat within 0.1 posterior deviations of the full history, those of d rows within 0.3
 * (docs/numerics.md).
 */
#ifndef OLTR_ENGINE_POLICY_LOGISTIC_POLICY_H
#define OLTR_ENGINE_POLICY_LOGISTIC_POLICY_H

#include "engine/policy/feature_rows.h"
#include "engine/posterior/linear.h"
#include "engine/posterior/logistic.h"

typedef struct logistic_policy {
    logistic model;
    feature_rows rows;
    linear matrix; /* of the examined rows, its moment stays 0; dim 0: none */
} logistic_policy;

#define ROWS_PARAM                                                                                 \
    {                                                                                              \
        "rows", OLTR_INTEGER, 0, 0, 1e6, NULL,                                                     \
            "distinct feature rows kept exactly, older ones are absorbed; 0 means all that "       \
            "repeat and the newest of the others"                                                  \
    }
#define LINK_PARAM                                                                                 \
    {                                                                                              \
        "link", OLTR_CHOICE, LINK_LOGIT, 0, N_LINKS - 1, link_names,                               \
            "how a score becomes a chance: logistic, normal distribution function, or 1 - "        \
            "exp(-e^z)"                                                                            \
    }

/* What the parameters of a policy say about its model. */
typedef struct logistic_choices {
    double lambda, drift; /* as in logistic_plan() */
    double rows;          /* the parameter of ROWS_PARAM */
    uint32_t link, norm;
    bool matrix; /* the policy has one and adds rows to it */
} logistic_choices;

logistic_policy logistic_policy_plan(layout *l, const oltr_settings *settings,
                                     const logistic_choices *chosen);

/* kappa, the least mu' with |z| <= bound. */
double least_slope(uint32_t link, double bound);

/* The first arrays of the sums and of the derived numbers; a policy's own may follow. */
enum { LOGISTIC_SUMS = 7, LOGISTIC_DERIVED = 5 };
uint32_t logistic_policy_sums(const void *state, sum_array out[MAX_SUMS]);
/* The same and the matrix, which is empty where there is none. */
uint32_t logistic_policy_sums_and_matrix(const void *state, sum_array out[MAX_SUMS]);
uint32_t logistic_policy_derived(const void *state, sum_array out[MAX_SUMS]);

/* Operations; those of a policy that adds sums or derived numbers call them. */
void logistic_policy_refresh(void *state, uint64_t t);
oltr_status logistic_policy_resume(void *state, uint64_t t, oltr_error *error);
oltr_status logistic_policy_merge(void *state, const void *from);
void logistic_policy_forget(void *state, double keep);
oltr_status logistic_policy_check(const void *state, uint64_t t, oltr_error *error);
oltr_status logistic_policy_check_derived(const void *state, oltr_error *error);
int logistic_policy_row_rejected(const void *state, const float *x);
/* Learns the examined rows of a list. */
oltr_status logistic_policy_learn(void *state, uint64_t t, const candidates *from,
                                  const oltr_ranking *shown, const oltr_feedback *seen);

#endif
