/* pg_ts.c - Polya-Gamma Thompson sampling: Dumitrascu, Feng and Engelhardt (NeurIPS 2018).
 *
 * Belief.  P(click) = mu(x'theta), mu the logistic function, prior N(0, I/lambda): the model of
 * logts, and the same counts N_r, S_r of distinct rows.
 *
 * Rule.  Draw theta from the posterior of the counts, show the K items with the largest x'theta.
 * logts draws from a normal approximation of that posterior; here `sweeps` Gibbs sweeps follow, of
 * all Polya-Gamma variables given theta, then of theta given them (posterior/logistic_gibbs.h).
 * With many sweeps theta is a draw of the posterior.
 *
 * The start.  The paper, whose text was not compared, is said to go on from the theta of the last
 * round.  That theta would be state that ranking changes, and no sum: rankings of several threads
 * would depend on their order, and two policies could not be merged.  Here every ranking starts
 * from a draw of the normal approximation, N(theta_hat, H^-1), which is a function of the sums and
 * of the generator.  So sweeps: 0 is logts, successive rankings are independent, and the sweeps
 * only have to correct what the approximation misses.  From theta_hat itself more sweeps would be
 * needed: where clicks are rare, a sweep moves theta by little (docs/algorithms/pg-ts.md has the
 * distances after 1 to 100 sweeps).
 *
 * Old rows.  Rows that are absorbed (logistic_policy.h) enter as a quadratic, which is a normal
 * prior to the sweep.
 *
 * Counts.  PG(n, z) is drawn for whole n.  So this policy takes no weights and cannot forget: both
 * would leave fractions of observations.
 *
 * Cost.  Learning is that of logts.  A ranking takes O(R d^2 + d^3) for each sweep, R the number of
 * rows kept: 1 us for 30 rows of 10 features.
 */
#include "engine/policy/logistic_policy.h"
#include "engine/posterior/logistic_gibbs.h"

enum { P_LAMBDA, P_SWEEPS, P_ROWS, P_NORM, N_PARAMS };
static const oltr_param params[N_PARAMS] = {
    {"lambda", OLTR_REAL, 1, 1e-9, 1e6, NULL, "precision of the prior of each weight"},
    {"sweeps", OLTR_INTEGER, 10, 0, 100, NULL,
     "sweeps of the Gibbs sampler in a ranking; 0 ranks by the normal approximation, as logts "
     "does"},
    ROWS_PARAM,
    NORM_PARAM,
};

/* Of the factor from which a chain starts: the default of logts. */
static const double DRIFT = 0.1;

typedef struct pg_ts {
    logistic_policy base;
    logistic_gibbs_plan gibbs; /* in the scratch, behind that of the rows */
    size_t bytes;
    uint32_t sweeps;
} pg_ts;

/* The scratch of a ranking: that of the rows, then the chain. */
static size_t plan_scratch(const logistic_policy *base, logistic_gibbs_plan *gibbs)
{
    layout l = {base->rows.scratch.bytes, false};
    *gibbs = logistic_gibbs_planned(&l, base->model.dim, base->model.capacity);
    return base->rows.scratch.bytes ? layout_bytes(&l) : 0;
}

static pg_ts plan(const oltr_settings *settings, size_t *scratch_bytes)
{
    pg_ts p = {.sweeps = (uint32_t)param(settings, P_SWEEPS)};
    layout l = {align_up(sizeof p), false};
    logistic_choices chosen = {.lambda = param(settings, P_LAMBDA),
                               .drift = DRIFT,
                               .rows = param(settings, P_ROWS),
                               .link = LINK_LOGIT,
                               .norm = choice(settings, P_NORM)};
    p.base = logistic_policy_plan(&l, settings, &chosen);
    *scratch_bytes = plan_scratch(&p.base, &p.gibbs);
    p.bytes = layout_bytes(&l);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    size_t scratch_bytes;
    return plan(settings, &scratch_bytes).bytes;
}

static size_t scratch_bytes(const oltr_settings *settings)
{
    size_t bytes;
    return plan(settings, &bytes).bytes ? bytes : 0;
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    size_t scratch_bytes;
    (void)error;
    *(pg_ts *)state = plan(settings, &scratch_bytes);
    logistic_policy_refresh(state, 1);
    return OLTR_OK;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const pg_ts *p = state;
    const logistic *m = &p->base.model;
    ldl factor = logistic_factor(p, m);
    double *theta = sample_theta(&p->base.rows, &factor, logistic_theta(p, m), 1, rng, scratch);
    (void)t;
    logistic_gibbs(p, m, &p->gibbs, rng, p->sweeps, theta, scratch);
    return rank_by_theta(&p->base.rows, theta, from, rng, scratch, out);
}

/* Whole counts: learning leaves no others. */
static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    const logistic_policy *p = state;
    const double *n = doubles_at(p, p->model.examined), *s = doubles_at(p, p->model.clicked);
    oltr_status status = logistic_policy_check(state, t, error);
    uint32_t rows = status == OLTR_OK ? (uint32_t)doubles_at(p, p->model.count)[0] : 0;
    for (uint32_t r = 0; r < rows; r++)
        if (n[r] > rint(n[r]) || n[r] < rint(n[r]) || s[r] > n[r])
            return set_error(error, OLTR_ESTATE,
                             "row %u: %g clicks in %g observations, which must be a whole number",
                             r, s[r], n[r]);
    return status;
}

/* By the normal approximation, as in logts. */
static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    const pg_ts *p = state;
    ldl factor = logistic_factor(p, &p->base.model);
    (void)t;
    return predict_chances(&p->base.rows, LINK_LOGIT, &factor, logistic_theta(p, &p->base.model), 1,
                           from, mean, sd);
}

const policy_ops pg_ts_ops = {
    .info = {.name = "pg-ts",
             .title = "Polya-Gamma Thompson sampling (PG-TS)",
             .source = "Dumitrascu, Feng, Engelhardt: PG-TS: Improved Thompson Sampling for "
                       "Logistic Contextual Bandits, NeurIPS 2018",
             .summary = "Samples the weights of a logistic model from its posterior by Gibbs "
                        "sampling and shows the largest scores.",
             .rewards = OLTR_CLICKS,
             .can_predict = 1,
             .can_merge = 1,
             .contextual = 1,
             .can_resize = 1,
             .exact_copy = 1,
             .n_params = N_PARAMS,
             .params = params},
    .state_bytes = state_bytes,
    .scratch_bytes = scratch_bytes,
    .min_saved_numbers = feature_min_saved,
    .init = init,
    .rank = rank,
    .learn = logistic_policy_learn,
    .sums = logistic_policy_sums,
    .refresh = logistic_policy_refresh,
    .check = check,
    .predict = predict,
    .merge = logistic_policy_merge,
    .row_rejected = logistic_policy_row_rejected,
    .check_derived = logistic_policy_check_derived,
    .derived = logistic_policy_derived,
    .resume = logistic_policy_resume,
};
