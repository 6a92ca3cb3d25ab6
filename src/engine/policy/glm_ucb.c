/* glm_ucb.c - UCB-GLM: Li, Lu and Zhou (ICML 2017); for lists GL-CDCM of Liu, Li and Zhang (2018).
 *
 * Belief.  P(click) = mu(x'theta), mu by the link.  theta_hat is the regularised root of the score
 * equation, the same as that of logts for the same lambda (posterior/logistic.h); and
 *     V = lambda I + sum x x'   over all examined rows, without weights.
 *
 * Rule.  Show the K items with the largest
 *     U(x) = x'theta_hat + alpha sqrt(x'V^-1 x),
 *     alpha = (sigma / kappa) sqrt((d/2) log(1 + 2t/d) + log T)     (width: theory),
 * or the parameter alpha (width: given).  mu is monotone, so the bound needs no mu.  sigma is the
 * standard deviation of a click, kappa the least mu'(z) with |z| <= S.
 *
 * Where we differ from the paper:
 *   - The constants of alpha were not compared with its text.  An implementation that cites it
 *     (RecSim, module glm_algorithms) has T where we have t.
 *   - The paper first shows random items until the least eigenvalue of sum x x' is 1, so that an
 *     unregularised estimate exists.  Here lambda does that: its default is 1, the same eigenvalue.
 *   - The paper's kappa is over all theta within 1 of the true one.  With |x| <= 1 and a true theta
 *     of length s that is S = s + 1.
 *   - The paper observes one item in a round; here every examined item of a list is learned.
 *
 * Cost.  That of learning in logts, O(d^2) per examined item for V, and O(L d^2) for the forms;
 * forms of rows that stay are kept (posterior/row_forms.h).
 */
#include "engine/policy/linear_policy.h"
#include "engine/policy/logistic_policy.h"

enum { P_LAMBDA, P_WIDTH, P_ALPHA, P_SIGMA, P_S, P_HORIZON, P_ROWS, P_LINK, P_NORM, N_PARAMS };
enum { THEORY, GIVEN };
static const char *const widths[] = {"theory", "given", NULL};
static const oltr_param params[N_PARAMS] = {
    {"lambda", OLTR_REAL, 1, 1e-9, 1e6, NULL,
     "ridge of the score equation and of the matrix; it replaces the random rounds of the paper"},
    {"width", OLTR_CHOICE, THEORY, 0, 1, widths, "the alpha of the theory, or the parameter alpha"},
    {"alpha", OLTR_REAL, 1, 0, 1e6, NULL,
     "how many times sqrt(x'V^-1 x) is added to a score (width: given)"},
    {"sigma", OLTR_REAL, 0.5, 1e-6, 1e6, NULL, "standard deviation of a click (width: theory)"},
    {"S", OLTR_REAL, 1, 0, 30, NULL,
     "bound on the scores x'theta, over which kappa is the least slope (width: theory)"},
    {"horizon", OLTR_INTEGER, 10000, 2, 1e15, NULL, "the number of rounds T (width: theory)"},
    ROWS_PARAM,
    LINK_PARAM,
    NORM_PARAM,
};

/* The factor of the curvature only guides the solver, which tolerates weights so far off. */
static const double DRIFT = 0.5;

typedef struct glm_ucb {
    logistic_policy base; /* its matrix is V */
    row_forms forms;
    size_t bytes;
    uint32_t width;
    double alpha;              /* width: given */
    double ratio, log_horizon; /* sigma / kappa and log T */
} glm_ucb;

static glm_ucb plan(const oltr_settings *settings)
{
    double lambda = param(settings, P_LAMBDA);
    glm_ucb p = {.width = choice(settings, P_WIDTH), .alpha = param(settings, P_ALPHA)};
    layout l = {align_up(sizeof p), false};
    logistic_choices chosen = {.lambda = lambda,
                               .drift = DRIFT,
                               .rows = param(settings, P_ROWS),
                               .link = choice(settings, P_LINK),
                               .norm = choice(settings, P_NORM),
                               .matrix = true};
    p.base = logistic_policy_plan(&l, settings, &chosen);
    p.forms = row_forms_plan(&l, settings->n_items, settings->dim);
    p.bytes = layout_bytes(&l);
    p.ratio = param(settings, P_SIGMA) / least_slope(chosen.link, param(settings, P_S));
    p.log_horizon = log(param(settings, P_HORIZON));
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static void refresh(void *state, uint64_t t)
{
    glm_ucb *p = state;
    logistic_policy_refresh(state, t);
    row_forms_reset(p, &p->forms);
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    *(glm_ucb *)state = plan(settings);
    refresh(state, 1);
    return OLTR_OK;
}

static double alpha_of(const glm_ucb *p, uint64_t t)
{
    double d = p->base.model.dim;
    if (p->width == GIVEN)
        return p->alpha;
    return p->ratio * sqrt(d / 2 * log1p(2 * (double)t / d) + p->log_horizon);
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const glm_ucb *p = state;
    upper_bound bound = {.state = p,
                         .model = &p->base.matrix,
                         .forms = &p->forms,
                         .width = alpha_of(p, t),
                         .most = INFINITY,
                         .theta = logistic_theta(p, &p->base.model)};
    return rank_by_upper_bound(&p->base.rows, &bound, from, rng, scratch, out);
}

static void learn_matrix(glm_ucb *p, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    static const double zero[LEARN_BATCH];
    ldl factor = linear_factor(p, &p->base.matrix);
    bool anew = false;
    row_batch b;
    row_forms_begin(p, &p->forms, from, shown);
    for (batch_begin(&b); batch_next(&b, p, &p->base.rows, from, shown, seen, seen->n_examined);) {
        row_forms_correct(p, &p->forms, &factor, b.x, b.weight, shown->item + b.start, b.n,
                          p->base.rows.norm != NORM_SCALE);
        anew |= linear_add(p, &p->base.matrix, b.x, zero, b.weight, b.n);
    }
    row_forms_end(p, &p->forms, &factor, anew);
}

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    learn_matrix(state, from, shown, seen);
    return logistic_policy_learn(state, t, from, shown, seen);
}

static uint32_t list_derived(const void *state, sum_array out[MAX_SUMS])
{
    const glm_ucb *p = state;
    uint32_t n = logistic_policy_derived(state, out);
    return n + row_forms_list(p, &p->forms, out + n);
}

static oltr_status resume(void *state, uint64_t t, oltr_error *error)
{
    glm_ucb *p = state;
    ldl factor = linear_factor(p, &p->base.matrix);
    oltr_status status = logistic_policy_resume(state, t, error);
    return status == OLTR_OK ? row_forms_resume(p, &p->forms, &factor, error) : status;
}

static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    const glm_ucb *p = state;
    linear_limits limits = {most_rows_before(t), OLTR_MAX_WEIGHT, 0};
    oltr_status status = logistic_policy_check(state, t, error);
    return status == OLTR_OK ? linear_check_within(p, &p->base.matrix, &limits, error) : status;
}

static oltr_status check_derived(const void *state, oltr_error *error)
{
    const glm_ucb *p = state;
    ldl factor = linear_factor(p, &p->base.matrix);
    oltr_status status = logistic_policy_check_derived(state, error);
    return status == OLTR_OK ? row_forms_check(p, &p->forms, &factor, error) : status;
}

/* mu(x'theta_hat) and mu' sqrt(x'V^-1 x): what alpha = 1 adds to the chance, to first order. */
static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    const glm_ucb *p = state;
    ldl factor = linear_factor(p, &p->base.matrix);
    (void)t;
    return predict_chances(&p->base.rows, p->base.model.link, &factor,
                           logistic_theta(p, &p->base.model), 1, from, mean, sd);
}

const policy_ops glm_ucb_ops = {
    .info = {.name = "glm-ucb",
             .title = "Upper confidence bounds of a generalised linear model (UCB-GLM)",
             .source = "Li, Lu, Zhou: Provably Optimal Algorithms for Generalized Linear "
                       "Contextual Bandits, ICML 2017",
             .summary = "Ranks by the upper confidence bound of the score in a logistic model.",
             .rewards = OLTR_CLICKS,
             LINEAR_POLICY_INFO},
    .state_bytes = state_bytes,
    .scratch_bytes = feature_scratch_bytes,
    .min_saved_numbers = feature_min_saved,
    .init = init,
    .rank = rank,
    .learn = learn,
    .sums = logistic_policy_sums_and_matrix,
    .refresh = refresh,
    .check = check,
    .predict = predict,
    .merge = logistic_policy_merge,
    .forget = logistic_policy_forget,
    .row_rejected = logistic_policy_row_rejected,
    .check_derived = check_derived,
    .derived = list_derived,
    .resume = resume,
};
