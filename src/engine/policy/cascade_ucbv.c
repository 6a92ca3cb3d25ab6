/* cascade_ucbv.c - CascadeUCB-V: Vial, Sanghavi, Shakkottai and Srikant (NeurIPS 2022).
 *
 * Rule.  Rank by min{1, p_i + sqrt(4 p_i (1 - p_i) log t / N_i) + 6 log t / N_i}, p_i = S_i/N_i;
 * show the K largest.  Items never examined come first.  A Bernstein bound: it narrows with the
 * variance of the clicks, which is small for the rare clicks of real lists.
 */
#include <math.h>

#include "engine/policy/click_rate.h"

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    *(share_state *)state = share_plan(settings);
    share_refresh(state, 1);
    return OLTR_OK;
}

static double bound(double share, double weight, double log_t)
{
    double spread = log_t * weight,
           value = share + sqrt(4 * share * (1 - share) * spread) + 6 * spread;
    return value < 1 ? value : 1;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    share_view v = share_candidates(state, from, scratch);
    double log_t = log((double)t);
    for (uint32_t j = 0; j < from->n; j++)
        v.out.score[j] = v.weight[j] > 0 ? bound(v.share[j], v.weight[j], log_t) : INFINITY;
    return show_best(v.out, from, rng, out);
}

const policy_ops cascade_ucbv_ops = {
    .info = {.name = "cascade-ucbv",
             .title = "CascadeUCB-V",
             .source = "Vial, Sanghavi, Shakkottai, Srikant: Minimax Regret for Cascading Bandits, "
                       "NeurIPS 2022",
             .summary =
                 "Ranks by Bernstein's upper confidence bound of every item's share of clicks.",
             .rewards = OLTR_CLICKS,
             .can_predict = 1,
             .can_merge = 1,
             .can_forget = 1,
             .takes_weights = 1,
             .by_item = 1,
             .can_resize = 1,
             .exact_copy = 1,
             .order_free = 1},
    .state_bytes = share_state_bytes,
    .scratch_bytes = share_scratch_bytes,
    .init = init,
    .rank = rank,
    .learn = share_learn,
    .sums = list_item_sums,
    .saved = item_sums_saved,
    .overflows = item_sums_overflows,
    .refresh = share_refresh,
    .renew_item = share_renew,
    .check = check_clicks,
    .predict = predict_clicks,
};
