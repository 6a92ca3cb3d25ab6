/* cascade_lints.c - CascadeLinTS: Zong, Ni, Sung, Ke, Wen and Kveton (UAI 2016).
 *
 * Belief.  M = I + sigma^-2 sum x x', B = sum x y, theta_hat = sigma^-2 M^-1 B. Rule.  Draw theta ~
 * N(theta_hat, M^-1), show the K items with the largest x'theta, not clipped. With V = sigma^2 M
 * this is V = sigma^2 I + sum x x', theta_hat = V^-1 B and a spread of sigma: one more linear
 * Thompson sampling.
 */
#include "engine/policy/linear_ts.h"

enum { P_SIGMA, P_NORM, N_PARAMS };
static const oltr_param params[N_PARAMS] = {
    {"sigma", OLTR_REAL, 1, 1e-4, 1e4, NULL,
     "learning rate: the standard deviation of a reward beside a prior variance of 1"},
    NORM_PARAM,
};

static linear_ts plan(const oltr_settings *settings)
{
    double sigma = param(settings, P_SIGMA);
    linear_ts p = linear_ts_plan(settings, sigma * sigma, choice(settings, P_NORM));
    p.a = sigma;
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    *(linear_ts *)state = plan(settings);
    linear_ts_refresh(state, 1);
    return OLTR_OK;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    (void)t;
    return linear_ts_rank(state, ((const linear_ts *)state)->a, from, rng, scratch, out);
}

static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    (void)t;
    return linear_ts_predict(state, ((const linear_ts *)state)->a, from, mean, sd);
}

const policy_ops cascade_lints_ops = {
    .info = {.name = "cascade-lints",
             .title = "CascadeLinTS",
             .source = "Zong, Ni, Sung, Ke, Wen, Kveton: Cascading Bandits for Large-Scale "
                       "Recommendation Problems, UAI 2016",
             .summary = "Linear Thompson sampling from the plain Gaussian posterior.",
             .rewards = OLTR_REALS,
             .can_predict = 1,
             .can_merge = 1,
             .can_forget = 1,
             .takes_weights = 1,
             .contextual = 1,
             .can_resize = 1,
             .exact_copy = 1,
             .n_params = N_PARAMS,
             .params = params},
    .state_bytes = state_bytes,
    .scratch_bytes = context_scratch_bytes,
    .init = init,
    .rank = rank,
    .learn = linear_ts_learn,
    .sums = linear_ts_sums,
    .saved = context_saved,
    .refresh = linear_ts_refresh,
    .check = linear_ts_check,
    .predict = predict,
    .refuses = linear_ts_refuses,
    .check_derived = linear_ts_check_derived,
    .derived = linear_ts_derived,
    .resume = linear_ts_resume,
};
