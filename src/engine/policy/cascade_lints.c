/* cascade_lints.c - CascadeLinTS: Zong, Ni, Sung, Ke, Wen and Kveton (UAI 2016).
 *
 * Belief.  M = I + sigma^-2 sum x x', B = sum x y, theta_hat = sigma^-2 M^-1 B.
 *
 * Rule.  Draw theta ~ N(theta_hat, M^-1), show the K items with the largest x'theta, not clipped.
 *
 * With V = sigma^2 M this is V = sigma^2 I + sum x x', theta_hat = V^-1 B and a spread of sigma:
 * linear Thompson sampling with a ridge of sigma^2.
 */
#include "engine/policy/linear_policy.h"

enum { P_SIGMA, P_NORM, N_PARAMS };
static const oltr_param params[N_PARAMS] = {
    {"sigma", OLTR_REAL, 1, 1e-4, 1e4, NULL,
     "learning rate: the standard deviation of a reward beside a prior variance of 1"},
    NORM_PARAM,
};

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    double sigma = param(settings, P_SIGMA);
    (void)error;
    return linear_policy_init(state, settings, sigma * sigma, choice(settings, P_NORM),
                              (linear_width){.spread = sigma});
}

const policy_ops cascade_lints_ops = {
    .info = {.name = "cascade-lints",
             .title = "CascadeLinTS",
             .source = "Zong, Ni, Sung, Ke, Wen, Kveton: Cascading Bandits for Large-Scale "
                       "Recommendation Problems, UAI 2016",
             .summary = "Linear Thompson sampling from the plain Gaussian posterior.",
             .rewards = OLTR_REALS,
             LINEAR_POLICY_INFO},
    LINEAR_POLICY_OPS,
    .init = init,
    .rank = linear_policy_rank,
    .rank_together = linear_policy_rank_together,
    .predict = linear_policy_predict,
};
