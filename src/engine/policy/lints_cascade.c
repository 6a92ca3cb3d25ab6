/* lints_cascade.c - LinTS-Cascade(lambda): Zhong, Cheung and Tan (JMLR 22, 2021).
 *
 * Belief.  M = I + sum x x', b = sum x y over all examined items, psi = M^-1 b.
 *
 * Rule.  Draw rho = psi + lambda v_t sqrt(K) M^-1/2 xi, xi standard normal, v_t = 3 R sqrt(d log
 * t); show the K items with the largest x'rho.  In round 1 nothing is known and v_1 = 0: any list.
 *
 * M^-1/2 xi and L^-T D^-1/2 xi have the same law, N(0, M^-1), and the latter needs no matrix root.
 * The authors' code has R = 1/4; a click's constant is 1/2.  In the released code of the GTS paper
 * this policy is LinTS-LTR under another name (variant: released): prior variance 1, noise 1/2, no
 * v_t.
 */
#include "engine/policy/linear_policy.h"

enum { P_LAMBDA, P_R, P_VARIANT, P_NORM, N_PARAMS };
enum { PRINTED, RELEASED };
static const char *const variants[] = {"printed", "released", NULL};
static const oltr_param params[N_PARAMS] = {
    {"lambda", OLTR_REAL, 1, 0, 1e6, NULL,
     "strength of exploration (not read by variant: released)"},
    {"R", OLTR_REAL, 0.25, 0, 1e6, NULL,
     "sub-Gaussian constant of a reward (not read by variant: released)"},
    {"variant", OLTR_CHOICE, PRINTED, 0, 1, variants,
     "as printed, or as in the released code of the GTS paper"},
    NORM_PARAM,
};

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    uint32_t variant = choice(settings, P_VARIANT);
    double factor = param(settings, P_LAMBDA) * 3 * param(settings, P_R);
    (void)error;
    return linear_policy_init(state, settings, variant == RELEASED ? 0.25 : 1,
                              choice(settings, P_NORM),
                              (linear_width){.variant = variant, .factor = factor});
}

static double spread(const linear_policy *p, uint64_t t, uint32_t k)
{
    return p->width.variant == RELEASED ? 0.5
                                        : p->width.factor * sqrt(p->model.dim * log((double)t) * k);
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    return linear_policy_sample(state, spread(state, t, out->k), from, rng, scratch, out);
}

static oltr_status rank_together(const void *state, uint64_t t, const candidates *from,
                                 const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    return linear_policy_samples(state, spread(state, t, out->k), from, rng, scratch, out);
}

/* The width depends on the length of the list; here it is that of a list of one. */
static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    return linear_policy_predict_with(state, spread(state, t, 1), from, mean, sd);
}

const policy_ops lints_cascade_ops = {
    .info = {.name = "lints-cascade",
             .title = "LinTS-Cascade",
             .source = "Zhong, Cheung, Tan: Thompson Sampling Algorithms for Cascading Bandits, "
                       "JMLR 22, 2021",
             .summary = "Linear Thompson sampling whose width grows with sqrt(K d log t).",
             .rewards = OLTR_REALS,
             LINEAR_POLICY_INFO},
    LINEAR_POLICY_OPS,
    .init = init,
    .rank = rank,
    .rank_together = rank_together,
    .predict = predict,
};
