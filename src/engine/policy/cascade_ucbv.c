/* cascade_ucbv.c - CascadeUCB-V: Vial, Sanghavi, Shakkottai and Srikant (NeurIPS 2022).
 *
 * Rule.  Rank by min{1, p_i + sqrt(4 p_i (1 - p_i) log t / N_i) + 6 log t / N_i}, p_i = S_i/N_i;
 * show the K largest.  Items never examined come first.  A Bernstein bound: it narrows with the
 * variance of the clicks, which is small for the rare clicks of real lists.
 */
#include "engine/policy/click_rate.h"

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    return click_rate_init(state, settings, (click_rate_state){.unseen = INFINITY});
}

static double bound(double rate, double weight, double log_t)
{
    double spread = log_t * weight;
    double value = rate + sqrt(4 * rate * (1 - rate) * spread) + 6 * spread;
    return value < 1 ? value : 1;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    click_rate_view v = click_rate_candidates(state, from, scratch);
    double log_t = log((double)t);
    for (uint32_t j = 0; j < from->n; j++)
        v.out.score[j] = v.weight[j] > 0 ? bound(v.rate[j], v.weight[j], log_t) : INFINITY;
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
             ITEM_POLICY_INFO,
             .fixed_scores = 1},
    CLICK_RATE_OPS,
    .init = init,
    .rank = rank,
};
