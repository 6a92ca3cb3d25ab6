/* lints.c - LinTS-LTR: Algorithm 2 of Azizi, Meshi, Zoghi and Karimzadehgan (AISTATS 2023).
 *
 * Belief.  Rewards are x'theta plus noise; V = lambda I + sum x x', b = sum x y over all examined
 * items, theta_hat = V^-1 b.
 *
 * Rule.  Draw theta ~ N(theta_hat, beta_t^2 V^-1), show the K items with the largest x'theta.
 * Rewards may be clicks or any real numbers.
 *
 * The width (radius) is one of three:
 *   theory    beta_t as printed (linear_policy.h);
 *   bayes     beta = sigma: the Gaussian posterior with noise sigma and prior variance
 *             sigma^2 / lambda;
 *   released  the released code: prior variance 1 and noise 1/2, that is lambda = 1/4 and
 *             beta = 1/2 here, whatever the parameters are; its own beta_t is never called.
 *
 * Where the paper is silent or slips: sigma has no value (1/2 is the largest a click can have); b
 * takes the item's own reward; t counts rounds, though V grows by up to K rows a round; lambda =
 * 1e-4 is below the 1 its proof needs, which makes the first samples huge, but only their direction
 * matters.
 *
 * Cost.  O(d^2) for the sample and for each examined item (linalg/ldl.h), O(L d) for the scores.
 */
#include "engine/policy/linear_policy.h"

enum { P_RADIUS, P_LAMBDA, P_S, P_SIGMA, P_HORIZON, P_NORM, N_PARAMS };
enum { THEORY, BAYES, RELEASED };
static const char *const radii[] = {"theory", "bayes", "released", NULL};
static const oltr_param params[N_PARAMS] = {
    {"radius", OLTR_CHOICE, THEORY, 0, 2, radii,
     "how wide to sample: the printed beta_t, a Gaussian posterior, or the released code"},
    {"lambda", OLTR_REAL, 1e-4, 1e-9, 1e6, NULL,
     "ridge: V starts as lambda I (not read by radius: released)"},
    {"S", OLTR_REAL, 1, 0, 1e6, NULL, "bound on the length of the true theta (radius: theory)"},
    {"sigma", OLTR_REAL, 0.5, 1e-6, 1e6, NULL,
     "standard deviation of a reward; the paper gives none (not read by radius: released)"},
    {"horizon", OLTR_INTEGER, 10000, 2, 1e15, NULL,
     "the number of rounds T in delta (radius: theory)"},
    NORM_PARAM,
};

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    double lambda = param(settings, P_LAMBDA), sigma = param(settings, P_SIGMA);
    uint32_t radius = choice(settings, P_RADIUS);
    (void)error;
    return linear_policy_init(
        state, settings, radius == RELEASED ? 0.25 : lambda, choice(settings, P_NORM),
        (linear_width){.spread = radius == RELEASED ? 0.5 : sigma,
                       .by_theory = radius == THEORY,
                       .theory = theory_width_of(settings->dim, lambda, param(settings, P_S), sigma,
                                                 param(settings, P_HORIZON))});
}

const policy_ops lints_ops = {
    .info = {.name = "lints",
             .title = "Linear Thompson sampling (LinTS-LTR)",
             .source = "Azizi, Meshi, Zoghi, Karimzadehgan: Overcoming Prior Misspecification in "
                       "Online Learning to Rank, 2023, Algorithm 2",
             .summary = "Samples the weights of a linear model from its posterior and shows the "
                        "largest scores.",
             .rewards = OLTR_REALS,
             LINEAR_POLICY_INFO},
    LINEAR_POLICY_OPS,
    .init = init,
    .rank = linear_policy_rank,
    .rank_together = linear_policy_rank_together,
    .predict = linear_policy_predict,
};
