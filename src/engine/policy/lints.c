/* lints.c - LinTS-LTR: Algorithm 2 of Azizi, Meshi, Zoghi and Karimzadehgan (AISTATS 2023).
 *
 * Belief.  Rewards are x'theta plus noise; V = lambda I + sum x x', b = sum x y over all examined
 * items, theta_hat = V^-1 b. Rule.  Draw theta ~ N(theta_hat, beta_t^2 V^-1), show the K items with
 * the largest x'theta.  Rewards may be clicks or any real numbers.
 *
 * The width (radius):
 *   theory    as printed: beta_t = sigma^2 sqrt(d log(1 + t/lambda) + 2 log(1/delta_t)) +
 * sqrt(lambda) S, delta_t = delta / 2^max(1, ceil(log2 t)), delta = 1 / (T (log2 T + 2)).  The
 * paper writes "log"; its doubling argument needs base 2. bayes     beta = sigma: the Gaussian
 * posterior with noise sigma and prior variance sigma^2 / lambda. released  the released code:
 * prior variance 1 and noise 1/2, that is lambda = 1/4 and beta = 1/2 here, whatever the parameters
 * say; its own beta_t is never called.
 *
 * Where the paper is silent or slips: sigma has no value (1/2 is the worst a click can have); b
 * takes the item's own reward; t counts rounds, though V grows by up to K rows a round; lambda =
 * 1e-4 is below the 1 its proof needs, which makes the first samples huge, but only their direction
 * matters.
 *
 * Cost.  O(d^2) for the sample and for each examined item (math/ldl.h), O(L d) for the scores.
 */
#include <math.h>

#include "engine/policy/linear_ts.h"

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

static linear_ts plan(const oltr_settings *settings)
{
    int released = choice(settings, P_RADIUS) == RELEASED;
    linear_ts p = linear_ts_plan(settings, released ? 0.25 : param(settings, P_LAMBDA),
                                 choice(settings, P_NORM));
    p.variant = choice(settings, P_RADIUS);
    p.a = param(settings, P_SIGMA);
    p.b = sqrt(param(settings, P_LAMBDA)) * param(settings, P_S);
    p.c = log(param(settings, P_HORIZON)) +
          log(log2(param(settings, P_HORIZON)) + 2); /* log(1/delta) */
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

/* ceil(log2 t) of t >= 1 */
static int doublings(uint64_t t)
{
    return t > 1 ? 64 - __builtin_clzll(t - 1) : 0;
}

static double spread(const linear_ts *p, uint64_t t)
{
    if (p->variant != THEORY)
        return p->variant == BAYES ? p->a : 0.5;
    double log_delta = p->c + log(2) * (doublings(t) > 1 ? doublings(t) : 1); /* log(1/delta_t) */
    return p->a * p->a * sqrt(p->model.dim * log1p((double)t / p->model.ridge) + 2 * log_delta) +
           p->b;
}

/* The spread of the round to come: a long chain of operations, which finds room beside the update
 * here and would delay a ranking. */
static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    linear_ts *p = state;
    p->spread = spread(p, t);
    return linear_ts_learn(state, t, from, shown, seen);
}

static void refresh(void *state, uint64_t t)
{
    linear_ts *p = state;
    p->spread = spread(p, t);
    linear_ts_refresh(state, t);
}

static oltr_status resume(void *state, uint64_t t, oltr_error *error)
{
    linear_ts *p = state;
    p->spread = spread(p, t);
    return linear_ts_resume(state, t, error);
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    *(linear_ts *)state = plan(settings);
    refresh(state, 1);
    return OLTR_OK;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    (void)t;
    return linear_ts_rank(state, ((const linear_ts *)state)->spread, from, rng, scratch, out);
}

static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    (void)t;
    return linear_ts_predict(state, ((const linear_ts *)state)->spread, from, mean, sd);
}

const policy_ops lints_ops = {
    .info = {.name = "lints",
             .title = "Linear Thompson sampling (LinTS-LTR)",
             .source = "Azizi, Meshi, Zoghi, Karimzadehgan: Overcoming Prior Misspecification in "
                       "Online Learning to "
                       "Rank, 2023, Algorithm 2",
             .summary = "Samples the weights of a linear model from its posterior and shows the "
                        "largest scores.",
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
    .learn = learn,
    .sums = linear_ts_sums,
    .saved = context_saved,
    .refresh = refresh,
    .check = linear_ts_check,
    .predict = predict,
    .refuses = linear_ts_refuses,
    .check_derived = linear_ts_check_derived,
    .derived = linear_ts_derived,
    .resume = resume,
};
