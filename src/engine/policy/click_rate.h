/* click_rate.h - the state of the policies whose index is a short formula of an item's share of
 * clicks and its number of observations.
 *
 * cascade-ucb1, cascade-ucbv and ts-cascade differ in one line, the formula.  Beside the sums they
 * keep the share p = S/N and the weight 1/(N + extra) of each item as arrays, so that the formula
 * runs down the items without a branch.
 */
#ifndef OLTR_ENGINE_POLICY_CLICK_RATE_H
#define OLTR_ENGINE_POLICY_CLICK_RATE_H

#include "engine/policy/item_policy.h"

typedef struct share_state {
    item_sums sums; /* first: see common.h */
    size_t share;   /* (n_items) doubles: S/N; of an unseen item `unseen` */
    size_t weight;  /* (n_items) doubles: 1/(N + extra); of an unseen item 1/extra, or 0 when extra
                       is 0 */
    size_t bytes;
    double extra, unseen;
    double constant; /* the policy's own parameter */
    uint32_t variant;
} share_state;

share_state share_plan(const oltr_settings *settings);
size_t share_state_bytes(const oltr_settings *settings);
void share_refresh(void *state, uint64_t t);
oltr_status share_renew(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                        oltr_error *error);
oltr_status share_learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                        const oltr_feedback *seen);

/* Copies share and weight of the candidates next to each other, or points to them where all items
 * are candidates. */
typedef struct share_view {
    const double *share, *weight; /* (from->n) */
    double_scores out;
} share_view;
share_view share_candidates(const share_state *p, const candidates *from, void *scratch);
size_t share_scratch_bytes(const oltr_settings *settings);

#endif
