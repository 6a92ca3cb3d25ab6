/* logts.c - LogTS-LTR: Algorithm 3 of Azizi, Meshi, Zoghi and Karimzadehgan (AISTATS 2023).
 *
 * Belief.  P(click) = mu(x'theta), mu the logistic function (link: logit), the normal distribution
 * function (probit) or 1 - exp(-e^z) (cloglog).  theta_hat solves the regularised
 * score equation (posterior/logistic.h) after every round: to 1e-8 where rows repeat; with many
 * rows seen once, as far as a bounded number of steps leads.
 *
 * Rule.  Draw theta ~ N(theta_hat, scale^2 A^-1), show the K items with the largest x'theta (mu is
 * monotone, so that is the order of the chances of a click).
 *
 * Where the paper is unclear, and what we take:
 *   - Its score equation has no regulariser, and no root while the data are separable, as they are
 *     at first.  lambda theta is added.
 *   - Its matrix sums mu (1 - mu) x x' with each weight at the estimate of its own round.  The
 *     Laplace posterior it cites has all weights at the current estimate (weights: fresh); the
 *     literal version is weights: stale.  For links other than logit we take mu' in place of
 *     mu (1 - mu): it is the derivative of the printed equation, and what kappa bounds.
 *   - Its scale beta_t / kappa belongs to a matrix without weights (weights: none, scale: theory);
 *     with weights it counts the curvature twice.  The released code has scale 1 and fresh weights,
 *     as is the default here; its lambda is 1, not the printed 1e-4.  kappa is the
 *     least mu'(z) with |z| <= S, for logit e^S / (1 + e^S)^2; beta_t is in linear_policy.h.
 *
 * The factor of fresh weights is kept from round to round and corrected where a weight has moved by
 * more than `drift`: the sampled covariance is then within that share of the exact one.  drift: 0
 * builds it anew every round.
 *
 * Which rows are kept, and which absorbed: logistic_policy.h.
 *
 * Cost.  A few steps of O(R d + d^2), R the number of rows kept; O(d^2) per examined item; O(L d)
 * for the scores.  Where more rows were seen once than the first of these numbers, at most two
 * steps and a bounded amount of work on the factor.
 */
#include "engine/policy/linear_policy.h"
#include "engine/policy/logistic_policy.h"

enum {
    P_LAMBDA,
    P_WEIGHTS,
    P_SCALE,
    P_S,
    P_SIGMA,
    P_HORIZON,
    P_DRIFT,
    P_ROWS,
    P_LINK,
    P_NORM,
    N_PARAMS
};
enum { FRESH, STALE, NONE };
enum { UNIT, THEORY };
static const char *const weights[] = {"fresh", "stale", "none", NULL};
static const char *const scales[] = {"unit", "theory", NULL};
static const oltr_param params[N_PARAMS] = {
    {"lambda", OLTR_REAL, 1e-4, 1e-9, 1e6, NULL,
     "ridge of the score equation and of the matrix; the released code has 1"},
    {"weights", OLTR_CHOICE, FRESH, 0, 2, weights,
     "weights of the matrix: at the current estimate, at that of their own round, or none"},
    {"scale", OLTR_CHOICE, UNIT, 0, 1, scales,
     "how wide to sample: 1, or the printed beta_t / kappa"},
    {"S", OLTR_REAL, 1, 0, 30, NULL, "bound on the length of the true theta (scale: theory)"},
    {"sigma", OLTR_REAL, 0.5, 1e-6, 1e6, NULL, "standard deviation of a click (scale: theory)"},
    {"horizon", OLTR_INTEGER, 10000, 2, 1e15, NULL, "the number of rounds T (scale: theory)"},
    {"drift", OLTR_REAL, 0.1, 0, 0.5, NULL,
     "how far a weight may move before the factor is corrected (weights: fresh)"},
    ROWS_PARAM,
    LINK_PARAM,
    NORM_PARAM,
};

typedef struct logts {
    logistic_policy base; /* with a matrix of stale or no weights; without one, if fresh */
    size_t bytes;
    uint32_t weights, scale;
    theory_width theory;
    double kappa;
} logts;

static logts plan(const oltr_settings *settings)
{
    double lambda = param(settings, P_LAMBDA);
    logts p = {.weights = choice(settings, P_WEIGHTS), .scale = choice(settings, P_SCALE)};
    layout l = {align_up(sizeof p), false};
    logistic_choices chosen = {.lambda = lambda,
                               .drift = p.weights == FRESH ? param(settings, P_DRIFT) : 0.5,
                               .rows = param(settings, P_ROWS),
                               .link = choice(settings, P_LINK),
                               .norm = choice(settings, P_NORM),
                               .matrix = p.weights != FRESH};
    p.base = logistic_policy_plan(&l, settings, &chosen);
    p.bytes = layout_bytes(&l);
    p.theory = theory_width_of(settings->dim, lambda, param(settings, P_S),
                               param(settings, P_SIGMA), param(settings, P_HORIZON));
    p.kappa = least_slope(chosen.link, param(settings, P_S));
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    *(logts *)state = plan(settings);
    logistic_policy_refresh(state, 1);
    return OLTR_OK;
}

static double spread(const logts *p, uint64_t t)
{
    return p->scale == UNIT ? 1 : theory_beta(&p->theory, t) / p->kappa;
}

static ldl factor_of(const logts *p)
{
    return p->weights == FRESH ? logistic_factor(p, &p->base.model)
                               : linear_factor(p, &p->base.matrix);
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const logts *p = state;
    ldl factor = factor_of(p); /* its right-hand side is 0: the sample is noise around 0 */
    return rank_by_sample(&p->base.rows, &factor, logistic_theta(p, &p->base.model), spread(p, t),
                          from, rng, scratch, out);
}

static oltr_status rank_together(const void *state, uint64_t t, const candidates *from,
                                 const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    const logts *p = state;
    ldl factor = factor_of(p);
    return rank_by_samples(&p->base.rows, &factor, logistic_theta(p, &p->base.model), spread(p, t),
                           from, rng, scratch, out);
}

/* The matrix of stale weights grows by mu' x x' at the estimate with which the list was shown. */
static void grow_matrix(logts *p, const float *const *x, const double *times, uint32_t n)
{
    double zero[LEARN_BATCH] = {0}, weight[LEARN_BATCH];
    for (uint32_t i = 0; i < n; i++) {
        double z;
        rows_times(x[i], p->base.model.dim, 1, p->base.model.dim, logistic_theta(p, &p->base.model),
                   &z);
        weight[i] = link_here(p->base.model.link, z).slope * (times ? times[i] : 1);
    }
    linear_add(p, &p->base.matrix, x, zero, p->weights == STALE ? weight : times, n);
}

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    logts *p = state;
    row_batch b;
    if (p->weights != FRESH)
        for (batch_begin(&b);
             batch_next(&b, p, &p->base.rows, from, shown, seen, seen->n_examined);)
            grow_matrix(p, b.x, b.weight, b.n);
    return logistic_policy_learn(state, t, from, shown, seen);
}

static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    const logts *p = state;
    oltr_status status = logistic_policy_check(state, t, error);
    return status == OLTR_OK && p->weights != FRESH ? linear_check(p, &p->base.matrix, error)
                                                    : status;
}

static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    const logts *p = state;
    ldl factor = factor_of(p);
    return predict_chances(&p->base.rows, p->base.model.link, &factor,
                           logistic_theta(p, &p->base.model), spread(p, t), from, mean, sd);
}

const policy_ops logts_ops = {
    .info = {.name = "logts",
             .title = "Logistic Thompson sampling (LogTS-LTR)",
             .source = "Azizi, Meshi, Zoghi, Karimzadehgan: Overcoming Prior Misspecification in "
                       "Online Learning to Rank, 2023, Algorithm 3",
             .summary = "Samples the weights of a logistic model from its Laplace posterior and "
                        "shows the largest scores.",
             .rewards = OLTR_CLICKS,
             LINEAR_POLICY_INFO},
    .state_bytes = state_bytes,
    .scratch_bytes = feature_scratch_bytes,
    .init = init,
    .rank = rank,
    .rank_together = rank_together,
    .learn = learn,
    .sums = logistic_policy_sums_and_matrix,
    .min_saved_numbers = feature_min_saved,
    .refresh = logistic_policy_refresh,
    .check = check,
    .predict = predict,
    .merge = logistic_policy_merge,
    .forget = logistic_policy_forget,
    .row_rejected = logistic_policy_row_rejected,
    .check_derived = logistic_policy_check_derived,
    .derived = logistic_policy_derived,
    .resume = logistic_policy_resume,
};
