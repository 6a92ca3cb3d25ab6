/* ts_cascade.c - TS-Cascade: Zhong, Cheung and Tan (JMLR 22, 2021).
 *
 * Rule.  One normal Z for the whole round; rank by
 *     p_i + Z max{ sqrt(p_i (1 - p_i) log(t+1) / (N_i + 1)),  log(t+1) / (N_i + 1) },
 * p_i = S_i/N_i, 0 when unseen; show the K largest.  With all items unseen everything ties; with
 * Z < 0 the unseen are last, not first.
 *
 * The released code of the GTS paper counts its rounds from 0, so that log t replaces log(t+1)
 * (clock: released).
 */
#include "engine/policy/click_rate.h"
#include "engine/kernels/philox.h"

enum { P_CLOCK, N_PARAMS };
enum { PRINTED, RELEASED };
static const char *const clocks[] = {"printed", "released", NULL};
static const oltr_param params[N_PARAMS] = {
    {"clock", OLTR_CHOICE, PRINTED, 0, 1, clocks,
     "log(t+1) as printed, or log t as in the released code; t counts from 1"},
};

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    return click_rate_init(state, settings,
                           (click_rate_state){.extra = 1, .variant = choice(settings, P_CLOCK)});
}

static void indices(const rate_clock *clock, const double *rate, const double *weight, uint32_t n,
                    double *restrict index)
{
    for (uint32_t j = 0; j < n; j++) {
        double spread = clock->bound * weight[j], root = sqrt(rate[j] * (1 - rate[j]) * spread);
        index[j] = rate[j] + clock->normal * (root > spread ? root : spread);
    }
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const click_rate_state *p = state;
    oltr_rng own = *rng;
    rate_clock clock = {.bound = log((double)t + (p->variant == PRINTED)),
                        .normal = oltr_rng_normal(&own)};
    return click_rate_rank(p, indices, &clock, from, rng, scratch, out);
}

const policy_ops ts_cascade_ops = {
    .info =
        {.name = "ts-cascade",
         .title = "TS-Cascade",
         .source = "Zhong, Cheung, Tan: Thompson Sampling Algorithms for Cascading Bandits, JMLR "
                   "22, 2021",
         .summary =
             "Shifts every item's share of clicks by one shared normal times its confidence width.",
         .rewards = OLTR_CLICKS,
         ITEM_POLICY_INFO,
         .n_params = N_PARAMS,
         .params = params},
    CLICK_RATE_OPS,
    .init = init,
    .rank = rank,
};
