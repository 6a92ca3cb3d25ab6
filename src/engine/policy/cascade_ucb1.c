/* cascade_ucb1.c - CascadeUCB1: Kveton, Szepesvari, Wen and Ashkan (ICML 2015).
 *
 * Rule.  Rank by S_i/N_i + sqrt(alpha log(t-1) / N_i), alpha = 1.5; show the K largest.  Items
 * never examined come first.
 *
 * The paper begins with one free observation of every item; a page that serves users has none, so
 * unseen items are shown first instead.  The released code has the bonus
 * max(sqrt(2 log(t-1)), 2) / sqrt(N_i) (bonus: released): it computes its bounds at the end of a
 * round, by that round's number.
 */
#include "engine/policy/click_rate.h"

enum { P_ALPHA, P_BONUS, N_PARAMS };
enum { PRINTED, RELEASED };
static const char *const bonuses[] = {"printed", "released", NULL};
static const oltr_param params[N_PARAMS] = {
    {"alpha", OLTR_REAL, 1.5, 0, 1e6, NULL,
     "width of the confidence bound (not read by bonus: released)"},
    {"bonus", OLTR_CHOICE, PRINTED, 0, 1, bonuses,
     "sqrt(alpha log(t-1)/n), or the released code's max(sqrt(2 log(t-1)), 2)/sqrt(n)"},
};

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    return click_rate_init(state, settings,
                           (click_rate_state){.unseen = INFINITY,
                                              .alpha = param(settings, P_ALPHA),
                                              .variant = choice(settings, P_BONUS)});
}

/* The term under the root, times N. */
static double budget(const click_rate_state *p, uint64_t t)
{
    double log_t = t > 1 ? log((double)(t - 1)) : 0;
    return p->variant == RELEASED ? fmax(2 * log_t, 4) : p->alpha * log_t;
}

static void indices(const rate_clock *clock, const double *rate, const double *weight, uint32_t n,
                    double *restrict index)
{
    for (uint32_t j = 0; j < n; j++)
        index[j] = rate[j] + sqrt(clock->bound * weight[j]);
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    rate_clock clock = {.bound = budget(state, t)};
    return click_rate_rank(state, indices, &clock, from, rng, scratch, out);
}

const policy_ops cascade_ucb1_ops = {
    .info = {.name = "cascade-ucb1",
             .title = "CascadeUCB1",
             .source = "Kveton, Szepesvari, Wen, Ashkan: Cascading Bandits, ICML 2015",
             .summary =
                 "Ranks by Hoeffding's upper confidence bound of every item's share of clicks.",
             .rewards = OLTR_CLICKS,
             ITEM_POLICY_INFO,
             .fixed_scores = 1,
             .n_params = N_PARAMS,
             .params = params},
    CLICK_RATE_OPS,
    .init = init,
    .rank = rank,
};
