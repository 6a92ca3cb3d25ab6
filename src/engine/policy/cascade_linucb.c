/* cascade_linucb.c - CascadeLinUCB: Zong, Ni, Sung, Ke, Wen and Kveton (UAI 2016).
 *
 * Belief.  M = I + sigma^-2 sum x x', B = sum x y, theta_hat = sigma^-2 M^-1 B; kept as V = sigma^2
 * M. Rule.  Rank by min{x'theta_hat + c sqrt(x'M^-1 x), 1}, show the K largest.  With the c of the
 * theory nearly all items are clipped at 1 for a long time: ties, broken at random, do the
 * exploring.
 *
 * The width c: as printed, sqrt(d log(1 + T K / (d sigma^2)) + 2 log(T K)) / sigma + S; or a number
 * of your own.
 *
 * The released code of the GTS paper (width: released) has sigma = 1/2 whatever the parameter says,
 * and measures with V instead of M: its bound is x'theta_hat + C sqrt(x'V^-1 x), C = sqrt(d) +
 * sqrt(d log((1 + T B^2) T)) / 2, fixed over time, which is c = 2 C above.  B, its longest row, is
 * 1 in all of its experiments and is 1 here.  Its ties go to whatever numpy's sort puts last,
 * mostly high item numbers; here they are left to chance, as everywhere.
 *
 * Cost.  The quadratic form of every candidate, O(L d^2).
 */
#include <math.h>

#include "engine/policy/linear_ts.h"

enum { P_SIGMA, P_WIDTH, P_C, P_S, P_HORIZON, P_NORM, N_PARAMS };
enum { PRINTED, RELEASED, GIVEN };
static const char *const widths[] = {"printed", "released", "given", NULL};
static const oltr_param params[N_PARAMS] = {
    {"sigma", OLTR_REAL, 1, 1e-4, 1e4, NULL,
     "learning rate: the standard deviation of a reward beside a prior variance of 1 (not read by "
     "width: released)"},
    {"width", OLTR_CHOICE, PRINTED, 0, 2, widths,
     "the width c of the theory; all as in the released code, sigma 0.5 included; or the parameter "
     "c"},
    {"c", OLTR_REAL, 1, 0, 1e6, NULL, "the width, with width: given"},
    {"S", OLTR_REAL, 1, 0, 1e6, NULL, "bound on the length of the true theta (width: printed)"},
    {"horizon", OLTR_INTEGER, 10000, 2, 1e15, NULL, "the number of rounds T in the width"},
    NORM_PARAM,
};

static linear_ts plan(const oltr_settings *settings)
{
    double sigma = choice(settings, P_WIDTH) == RELEASED ? 0.5 : param(settings, P_SIGMA);
    linear_ts p = linear_ts_plan(settings, sigma * sigma, choice(settings, P_NORM));
    p.variant = choice(settings, P_WIDTH);
    p.a = p.variant == GIVEN ? param(settings, P_C) : param(settings, P_HORIZON);
    p.b = param(settings, P_S);
    p.c = sigma;
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

static double width(const linear_ts *p, uint32_t k)
{
    double d = p->model.dim, horizon = p->a, sigma = p->c;
    if (p->variant == GIVEN)
        return p->a;
    if (p->variant == RELEASED)
        return (sqrt(d) + 0.5 * sqrt(d * log((1 + horizon) * horizon))) /
               sigma; /* of sqrt(x'V^-1 x), so of M */
    return sqrt(d * log1p(horizon * k / (d * sigma * sigma)) + 2 * log(horizon * k)) / sigma + p->b;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const linear_ts *p = state;
    context_scratch s = context_scratch_of(scratch, &p->rows);
    ldl factor = linear_factor(p, &p->model);
    (void)t;
    ldl_sample(&factor, 0, NULL, s.theta);
    oltr_status status = context_scores(&s, &p->rows, from, s.theta);
    if (status != OLTR_OK)
        return status;
    context_widths(&s, &p->rows, from, &factor);
    double c = width(p, out->k) * p->c; /* sqrt(x'M^-1 x) = sigma sqrt(x'V^-1 x) */
    for (uint32_t j = 0; j < from->n; j++) {
        double bound = s.scores.score[j] + c * s.width[j];
        s.scores.score[j] = bound < 1 ? bound : 1;
    }
    return context_show(&s, &p->rows, from, rng, out);
}

static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    (void)t;
    return linear_ts_predict(state, ((const linear_ts *)state)->c, from, mean, sd);
}

const policy_ops cascade_linucb_ops = {
    .info = {.name = "cascade-linucb",
             .title = "CascadeLinUCB (C-LinUCB)",
             .source = "Zong, Ni, Sung, Ke, Wen, Kveton: Cascading Bandits for Large-Scale "
                       "Recommendation Problems, UAI 2016",
             .summary = "Ranks by the upper confidence bound of a linear model, clipped at 1.",
             .rewards = OLTR_CLICKS,
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
