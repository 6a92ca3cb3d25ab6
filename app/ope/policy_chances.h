/* policy_chances.h - the chances of one evaluated policy for the lists of a log: what the
 * estimators of oltr/ope.h read beside the log itself. */
#ifndef OLTR_APP_OPE_POLICY_CHANCES_H
#define OLTR_APP_OPE_POLICY_CHANCES_H

#include "app/ope/ope_data.h"

/* Which of the numbers are wanted. */
struct chances_wanted {
    bool prefix, slot, rewards, match;
    uint32_t draws; /* 0: exact */
    uint64_t seed;
    const double *rate; /* (folds, k, items), for `rewards` */
    uint32_t folds;
    void (*progress)(void *with, uint64_t done, uint64_t lists); /* after each list, or NULL */
    void *progress_with;
};

/* (n, k) arrays; NULL: the policy does not have them. */
struct policy_chances {
    double *prefix, *slot, *q, *v;
    uint8_t *match; /* (n) */
    bool borrowed;  /* prefix and slot are columns of the log */
};
void policy_chances_free(struct policy_chances *chances);

/* Of a model: a refusal names the line of the list.  Without list ids only `slot` is computed. */
oltr_status chances_of_model(const struct ope_data *data, const oltr_model *model, bool greedy,
                             const struct chances_wanted *wanted, struct policy_chances *out,
                             oltr_error *error);
/* Of a policy that the log itself has: NAME_prefix and NAME_slot, the pair number `column`. */
void chances_of_columns(const struct ope_data *data, uint32_t column, struct policy_chances *out);
/* Of a policy that is known by its own log: how often each item is in each slot there. */
oltr_status chances_of_shares(const struct ope_data *data, const struct ope_data *shown,
                              struct policy_chances *out, oltr_error *error);

#endif
