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
    return click_rate_init(state, settings, (click_rate_state){.unseen = INFINITY, .clips = 1});
}

static void indices(const rate_clock *clock, const double *rate, const double *weight, uint32_t n,
                    double *restrict index)
{
    for (uint32_t j = 0; j < n; j++)
        index[j] = weight[j] > 0 ? bernstein_bound(rate[j], weight[j], clock->bound) : INFINITY;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    rate_clock clock = {.bound = log((double)t)};
    return click_rate_rank(state, indices, &clock, from, rng, scratch, out);
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
