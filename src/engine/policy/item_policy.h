/* item_policy.h - operations of the policies whose state begins with an item_sums: per-item sums
 * of observations and rewards.
 */
#ifndef OLTR_ENGINE_POLICY_ITEM_POLICY_H
#define OLTR_ENGINE_POLICY_ITEM_POLICY_H

#include "engine/policy/candidate_scores.h"
#include "engine/posterior/item_prior.h"
#include "engine/posterior/items.h"

/* What all of them promise in their info. */
#define ITEM_POLICY_INFO                                                                           \
    .can_predict = 1, .can_merge = 1, .can_forget = 1, .takes_weights = 1, .by_item = 1,           \
    .can_resize = 1, .exact_copy = 1, .order_free = 1

/* The operations that are the same for all of them. */
#define ITEM_POLICY_OPS                                                                            \
    .sums = item_policy_sums, .min_saved_numbers = item_policy_min_saved,                          \
    .overflows = item_policy_overflows

uint32_t item_policy_sums(const void *state, sum_array out[MAX_SUMS]);
size_t item_policy_min_saved(const oltr_settings *settings);
int item_policy_overflows(const void *state, uint64_t t, const oltr_ranking *shown,
                          const oltr_feedback *seen);

/* Adds the rewards of the examined slots to the sums. */
static inline void item_policy_add(void *state, const oltr_ranking *shown,
                                   const oltr_feedback *seen)
{
    for (uint32_t slot = 0; slot < seen->n_examined; slot++)
        item_sums_add(state, state, shown->item[slot], seen->reward[slot],
                      weight_of_slot(seen, slot));
}

/* check, of policies that check every item by itself. */
typedef oltr_status check_item_fn(const void *state, uint64_t t, uint32_t i, oltr_error *error);
oltr_status check_each_item(const void *state, uint64_t t, check_item_fn *check_item,
                            oltr_error *error);

/* After a short list was found without reading the sums of its items: asks for them, because a
 * lesson will need them.  Many items, so that each is a cache miss. */
static inline void prefetch_sums(const void *state, const oltr_ranking *out)
{
    enum { MOST_SLOTS = 16 };
    const item_sums *sums = state;
    for (uint32_t slot = 0; slot < out->k && slot < MOST_SLOTS; slot++) {
        __builtin_prefetch(&doubles_at(state, sums->examined)[out->item[slot]]);
        __builtin_prefetch(&doubles_at(state, sums->reward)[out->item[slot]]);
    }
}

/* check, of policies that learn from clicks. */
oltr_status check_clicks(const void *state, uint64_t t, oltr_error *error);
/* predict: the share of clicks, and its binomial standard error; of an unseen item 0 and 1/2. */
oltr_status predict_clicks(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd);

#endif
