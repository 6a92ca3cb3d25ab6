/* item_policy.h - what most policies share: per-item sums as the first member of their state, and a
 * double score for each candidate.
 *
 * The functions are operations of policy_ops for states that begin with an item_sums.
 */
#ifndef OLTR_ENGINE_POLICY_ITEM_POLICY_H
#define OLTR_ENGINE_POLICY_ITEM_POLICY_H

#include "engine/select/topk.h"
#include "engine/policy/ops.h"
#include "engine/rng/sample.h"

/* ---- scratch: scores of one ranking, and the tournament's maxima */

size_t double_scratch_bytes(const oltr_settings *settings);

typedef struct double_scores {
    double *score; /* (padded(n)) */
    double *best;
} double_scores;
double_scores double_scratch(void *scratch, uint32_t n_items);

/* Pads the scores of all candidates, and shows the best of them.  Always OLTR_OK. */
oltr_status show_best(double_scores s, const candidates *from, const oltr_rng *rng,
                      const oltr_ranking *out);

/* Turns places among the candidates into items. */
void places_to_items(const candidates *from, const oltr_ranking *out);

/* ---- operations for states that begin with item_sums */

uint32_t list_item_sums(const void *state, sum_array out[MAX_SUMS]);
size_t item_sums_saved(const oltr_settings *settings);
int item_sums_overflows(const void *state, uint64_t t, const oltr_ranking *shown,
                        const oltr_feedback *seen);
oltr_status check_clicks(const void *state, uint64_t t, oltr_error *error);
/* The share of clicks, and its binomial standard error; of an unseen item 0 and 1/2. */
oltr_status predict_clicks(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd);

/* ---- operations of policies that learn nothing */

oltr_status learn_nothing(void *state, uint64_t t, const candidates *from,
                          const oltr_ranking *shown, const oltr_feedback *seen);
uint32_t list_no_sums(const void *state, sum_array out[MAX_SUMS]);
void refresh_nothing(void *state, uint64_t t);
oltr_status check_nothing(const void *state, uint64_t t, oltr_error *error);

/* ---- the parameter that says what a policy takes from the prior */

enum { PRIOR_NONE, PRIOR_MEAN, PRIOR_FULL };
extern const char *const prior_choices[];

/* The same of one item: the settings hold a prior if it is `wanted`. */
oltr_status require_item_prior(const oltr_settings *settings, int wanted, int beta, uint32_t item,
                               oltr_error *error);
/* OLTR_EPRIOR when `wanted` and the settings hold none, or a bad one. */
oltr_status require_prior(const oltr_settings *settings, int wanted, int beta, oltr_error *error);

#endif
