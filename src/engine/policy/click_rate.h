/* click_rate.h - the state of the policies whose index is a short formula of an item's click rate
 * and its number of observations.
 *
 * cascade-ucb1, cascade-ucbv and ts-cascade differ in one line, the formula.  In addition to the
 * sums they keep the rate p = S/N and the weight 1/(N + extra) of each item as arrays, so that the
 * formula runs down the items without a branch.
 */
#ifndef OLTR_ENGINE_POLICY_CLICK_RATE_H
#define OLTR_ENGINE_POLICY_CLICK_RATE_H

#include "engine/policy/item_policy.h"

typedef struct click_rate_state {
    item_sums sums; /* first: see item_policy.h */
    size_t rate;    /* (n_items) doubles: S/N; of an unseen item `unseen` */
    size_t weight;  /* (n_items) doubles: 1/(N + extra); of an unseen item 0 when extra is 0 */
    size_t bytes;
    double extra, unseen;
    double alpha;     /* cascade-ucb1 */
    uint32_t variant; /* as printed, or of the released code, by the policy's own enum */
} click_rate_state;

/* `own` gives extra, unseen, alpha and variant. */
oltr_status click_rate_init(void *state, const oltr_settings *settings, click_rate_state own);

#define CLICK_RATE_OPS                                                                             \
    ITEM_POLICY_OPS, .state_bytes = click_rate_bytes, .scratch_bytes = click_rate_scratch_bytes,   \
                     .learn = click_rate_learn, .refresh = click_rate_refresh,                     \
                     .renew_item = click_rate_renew, .check = check_clicks,                        \
                     .predict = predict_clicks

size_t click_rate_bytes(const oltr_settings *settings);
size_t click_rate_scratch_bytes(const oltr_settings *settings);
void click_rate_refresh(void *state, uint64_t t);
oltr_status click_rate_renew(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                             const double *before, oltr_error *error);
oltr_status click_rate_learn(void *state, uint64_t t, const candidates *from,
                             const oltr_ranking *shown, const oltr_feedback *seen);

/* Rate and weight of the candidates: copied next to each other, or where all items are candidates,
 * the arrays of the state. */
typedef struct click_rate_view {
    const double *rate, *weight; /* (from->n) */
    double_scores out;
} click_rate_view;
click_rate_view click_rate_candidates(const click_rate_state *p, const candidates *from,
                                      void *scratch);

#endif
