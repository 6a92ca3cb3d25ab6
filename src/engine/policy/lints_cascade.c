/* lints_cascade.c - LinTS-Cascade(lambda): Zhong, Cheung and Tan (JMLR 22, 2021).
 *
 * Belief.  M = I + sum x x', b = sum x y over all examined items, psi = M^-1 b. Rule.  Draw rho =
 * psi + lambda v_t sqrt(K) M^-1/2 xi, xi standard normal, v_t = 3 R sqrt(d log t); show the K items
 * with the largest x'rho.  In round 1 nothing is known and v_1 = 0: any list.
 *
 * M^-1/2 xi and L^-T D^-1/2 xi have the same law, N(0, M^-1), and the latter needs no matrix root.
 * The authors' code has R = 1/4; a click's constant is 1/2. In the released code of the GTS paper
 * this policy is LinTS-LTR under another name (variant: released): prior variance 1, noise 1/2, no
 * v_t.
 */
#include <math.h>

#include "engine/policy/linear_ts.h"

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

static linear_ts plan(const oltr_settings *settings)
{
    int released = choice(settings, P_VARIANT) == RELEASED;
    linear_ts p = linear_ts_plan(settings, released ? 0.25 : 1, choice(settings, P_NORM));
    p.variant = choice(settings, P_VARIANT);
    p.a = param(settings, P_LAMBDA) * 3 * param(settings, P_R);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static double spread(const linear_ts *p, uint64_t t, uint32_t k)
{
    return p->variant == RELEASED ? 0.5 : p->a * sqrt(p->model.dim * log((double)t) * k);
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
    return linear_ts_rank(state, spread(state, t, out->k), from, rng, scratch, out);
}

/* The width depends on the length of the list; here it is that of a list of one. */
static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    return linear_ts_predict(state, spread(state, t, 1), from, mean, sd);
}

const policy_ops lints_cascade_ops = {
    .info = {.name = "lints-cascade",
             .title = "LinTS-Cascade",
             .source = "Zhong, Cheung, Tan: Thompson Sampling Algorithms for Cascading Bandits, "
                       "JMLR 22, 2021",
             .summary = "Linear Thompson sampling whose width grows with sqrt(K d log t).",
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
