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
 * Rows.  Rows that repeat are kept exactly.  Of rows seen once, rows: 0 keeps the newest: as many
 * as items, at least THOROUGH and at most MOST_THOROUGH, or WINDOW_PER_FEATURE for each feature if
 * that is more; older ones are absorbed (posterior/logistic.h).  Windows of 3 d rows leave
 * theta_hat within 0.1 posterior deviations of the full history, those of d rows within 0.3
 * (docs/numerics.md).
 *
 * Cost.  A few steps of O(R d + d^2), R the number of rows kept; O(d^2) per examined item; O(L d)
 * for the scores.  Where more rows were seen once than the first of these numbers, at most two
 * steps and a bounded amount of work on the factor.
 */
#include "engine/policy/linear_policy.h"
#include "engine/posterior/logistic.h"

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
    {"rows", OLTR_INTEGER, 0, 0, 1e6, NULL,
     "distinct feature rows kept exactly, older ones are absorbed; 0 means all that repeat and the "
     "newest of the others"},
    {"link", OLTR_CHOICE, LINK_LOGIT, 0, N_LINKS - 1, link_names,
     "how a score becomes a chance: logistic, normal distribution function, or 1 - exp(-e^z)"},
    NORM_PARAM,
};

typedef struct logts {
    logistic model;
    linear matrix; /* of stale or no weights, unused with fresh ones; its moment stays 0 */
    feature_rows rows;
    size_t bytes;
    uint32_t weights, scale;
    theory_width theory;
    double kappa;
} logts;

enum {
    THOROUGH = 256,         /* single rows with which every round still ends at the root; */
    MOST_THOROUGH = 1024,   /* as many as items, if these are more, up to this */
    WINDOW_PER_FEATURE = 3, /* single rows that are kept, where that is more */
};

static const double LEAST_KAPPA = 1e-13;

/* Fixed rows are as many as items; where there are more, rows do not repeat. */
static size_t thorough_of(const oltr_settings *settings)
{
    size_t items = settings->n_items;
    return items < THOROUGH ? THOROUGH : items < MOST_THOROUGH ? items : MOST_THOROUGH;
}

/* The parameter `rows`, or room for four rows an item and the window. */
static size_t capacity_of(const oltr_settings *settings, size_t window)
{
    size_t given = (size_t)param(settings, P_ROWS), items = settings->n_items;
    return given ? given : (items > 256 ? 4 * items : 1024) + window;
}

/* How many single rows are kept exactly: enough that theta has settled before they are absorbed
 * (docs/algorithms/logts.md). */
static size_t window_of(const oltr_settings *settings)
{
    size_t given = (size_t)param(settings, P_ROWS),
           per_feature = WINDOW_PER_FEATURE * (size_t)settings->dim;
    size_t thorough = thorough_of(settings);
    return given ? given : per_feature > thorough ? per_feature : thorough;
}

/* The least mu' with |z| <= S.  mu' has one peak, so an end has it.  Below LEAST_KAPPA, which is
 * that of logit at the largest S, a draw is noise alone, and 1 / kappa might overflow. */
static double kappa_of(uint32_t link, double bound)
{
    double e = exp(-bound);
    if (link == LINK_LOGIT)
        return e / ((1 + e) * (1 + e));
    return fmax(LEAST_KAPPA, fmin(link_here(link, bound).slope, link_here(link, -bound).slope));
}

static logts plan(const oltr_settings *settings)
{
    double lambda = param(settings, P_LAMBDA);
    logts p = {.weights = choice(settings, P_WEIGHTS), .scale = choice(settings, P_SCALE)};
    layout l = {align_up(sizeof p), false};
    size_t window = window_of(settings);
    p.model = logistic_plan(&l, settings->dim, capacity_of(settings, window), window, lambda,
                            p.weights == FRESH ? param(settings, P_DRIFT) : 0.5);
    p.model.link = choice(settings, P_LINK);
    if (!(param(settings, P_ROWS) > 0))
        p.model.thorough = (uint32_t)thorough_of(settings);
    if (p.weights != FRESH)
        p.matrix = linear_plan(&l, settings->dim, lambda);
    p.rows = feature_rows_plan(&l, settings, choice(settings, P_NORM));
    p.bytes = layout_bytes(&l);
    p.theory = theory_width_of(settings->dim, lambda, param(settings, P_S),
                               param(settings, P_SIGMA), param(settings, P_HORIZON));
    p.kappa = kappa_of(p.model.link, param(settings, P_S));
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static void refresh(void *state, uint64_t t)
{
    logts *p = state;
    (void)t;
    logistic_refresh(p, &p->model);
    if (p->weights != FRESH)
        linear_refresh(p, &p->matrix);
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    *(logts *)state = plan(settings);
    refresh(state, 1);
    return OLTR_OK;
}

static double spread(const logts *p, uint64_t t)
{
    return p->scale == UNIT ? 1 : theory_beta(&p->theory, t) / p->kappa;
}

static ldl factor_of(const logts *p)
{
    return p->weights == FRESH ? logistic_factor(p, &p->model) : linear_factor(p, &p->matrix);
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const logts *p = state;
    ldl factor = factor_of(p); /* its right-hand side is 0: the sample is noise around 0 */
    return rank_by_sample(&p->rows, &factor, logistic_theta(p, &p->model), spread(p, t), from, rng,
                          scratch, out);
}

/* The matrix of stale weights grows by mu' x x' at the estimate with which the list was shown. */
static void grow_matrix(logts *p, const float *const *x, const double *times, uint32_t n)
{
    double zero[LEARN_BATCH] = {0}, weight[LEARN_BATCH];
    for (uint32_t i = 0; i < n; i++) {
        double z;
        rows_times(x[i], p->model.dim, 1, p->model.dim, logistic_theta(p, &p->model), &z);
        weight[i] = link_here(p->model.link, z).slope * (times ? times[i] : 1);
    }
    linear_add(p, &p->matrix, x, zero, p->weights == STALE ? weight : times, n);
}

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    logts *p = state;
    row_batch b;
    (void)t;
    if (p->weights != FRESH)
        for (batch_begin(&b); batch_next(&b, p, &p->rows, from, shown, seen, seen->n_examined);)
            grow_matrix(p, b.x, b.weight, b.n);
    for (batch_begin(&b); batch_next(&b, p, &p->rows, from, shown, seen, seen->n_examined);)
        logistic_add_weighted(p, &p->model, b.x, b.y, b.weight, b.n);
    return OLTR_OK;
}

/* How many rows are in use; 0 where the stored number is impossible, as a forged snapshot may have
 * it. */
static size_t rows_in_use(const logts *p)
{
    double n = doubles_at(p, p->model.count)[0];
    return n >= 0 && n <= p->model.capacity ? (size_t)n : 0;
}

/* Numbers in the sum of the matrix. */
static size_t matrix_sums(const logts *p)
{
    size_t d = p->model.dim;
    return p->weights == FRESH ? 0 : d * (d + 1) / 2;
}

static uint32_t list_sums(const void *state, sum_array out[MAX_SUMS])
{
    const logts *p = state;
    const logistic *m = &p->model;
    size_t d = m->dim, packed = d * (d + 1) / 2, n = rows_in_use(p);
    out[0] = (sum_array){.name = "count", .value = doubles_at(p, m->count), .n = 2};
    out[1] = (sum_array){.name = "row", .single = floats_at(p, m->row), .n = n * d};
    out[2] = (sum_array){.name = "examined", .value = doubles_at(p, m->examined), .n = n};
    out[3] = (sum_array){.name = "clicked", .value = doubles_at(p, m->clicked), .n = n};
    out[4] = (sum_array){.name = "last", .value = doubles_at(p, m->last), .n = n};
    out[5] = (sum_array){.name = "precision", .value = doubles_at(p, m->precision), .n = packed};
    out[6] = (sum_array){.name = "pull", .value = doubles_at(p, m->linear_term), .n = d};
    out[7] =
        (sum_array){.name = "gram", .value = doubles_at(p, p->matrix.gram), .n = matrix_sums(p)};
    return 8;
}

/* Estimate and factor are found by a solver from where the last round left them: an exact copy
 * needs both. */
static uint32_t list_derived(const void *state, sum_array out[MAX_SUMS])
{
    static const char *const names[LINEAR_DERIVED] = {"matrix factor", "matrix pivot",
                                                      "matrix watch"};
    const logts *p = state;
    const logistic *m = &p->model;
    size_t d = m->dim, n = rows_in_use(p);
    ldl f = logistic_factor(p, m);
    out[0] = (sum_array){
        .name = "estimate", .value = doubles_at(p, m->theta), .n = logistic_estimate(m->dim)};
    out[1] = (sum_array){.name = "factor", .value = f.l, .n = d * (d + 1) / 2, .stride = f.stride};
    out[2] = (sum_array){.name = "pivot", .value = f.d, .n = d};
    out[3] = (sum_array){.name = "weight", .value = doubles_at(p, m->weight), .n = n};
    out[4] = (sum_array){.name = "score", .value = doubles_at(p, m->score), .n = n};
    return 5 + (p->weights == FRESH ? 0 : linear_list_derived(p, &p->matrix, names, out + 5));
}

static oltr_status resume(void *state, uint64_t t, oltr_error *error)
{
    logts *p = state;
    (void)t;
    oltr_status status = logistic_resume(p, &p->model, error);
    return status == OLTR_OK && p->weights != FRESH ? linear_resume(p, &p->matrix, error) : status;
}

static oltr_status merge(void *state, const void *from)
{
    logts *p = state;
    const logts *q = from;
    oltr_status status = logistic_merge(p, &p->model, q, &q->model);
    for (size_t i = 0; status == OLTR_OK && i < matrix_sums(p); i++)
        doubles_at(p, p->matrix.gram)[i] += doubles_at(q, q->matrix.gram)[i];
    return status;
}

static void forget(void *state, double keep)
{
    logts *p = state;
    logistic_forget(p, &p->model, keep);
    for (size_t i = 0; i < matrix_sums(p); i++)
        doubles_at(p, p->matrix.gram)[i] *= keep;
}

/* Rows that learn() could have left. */
static oltr_status check_rows(const logts *p, oltr_error *error)
{
    size_t n = rows_in_use(p);
    for (size_t i = 0; i < n * p->model.dim; i++)
        if (!(fabsf(floats_at(p, p->model.row)[i]) <= LARGEST_FEATURE))
            return set_error(error, OLTR_ESTATE, "row %zu: a feature of %g is impossible",
                             i / p->model.dim, (double)floats_at(p, p->model.row)[i]);
    return OLTR_OK;
}

static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    const logts *p = state;
    (void)t;
    oltr_status rows = check_rows(p, error);
    if (rows != OLTR_OK)
        return rows;
    linear absorbed = {.dim = p->model.dim,
                       .ridge = p->model.lambda,
                       .gram = p->model.precision,
                       .moment = p->model.linear_term};
    oltr_status status = logistic_check(p, &p->model, error);
    if (status == OLTR_OK)
        status = linear_check(p, &absorbed, error);
    return status == OLTR_OK && p->weights != FRESH ? linear_check(p, &p->matrix, error) : status;
}

static oltr_status check_derived(const void *state, oltr_error *error)
{
    const logts *p = state;
    oltr_status status = logistic_check_derived(p, &p->model, error);
    return status == OLTR_OK && p->weights != FRESH ? linear_check_factor(p, &p->matrix, error)
                                                    : status;
}

static int row_rejected(const void *state, const float *x)
{
    return row_is_too_long(&((const logts *)state)->rows, x);
}

static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    const logts *p = state;
    ldl factor = factor_of(p);
    return predict_chances(&p->rows, p->model.link, &factor, logistic_theta(p, &p->model),
                           spread(p, t), from, mean, sd);
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
    .learn = learn,
    .sums = list_sums,
    .min_saved_numbers = feature_min_saved,
    .refresh = refresh,
    .check = check,
    .predict = predict,
    .merge = merge,
    .forget = forget,
    .row_rejected = row_rejected,
    .check_derived = check_derived,
    .derived = list_derived,
    .resume = resume,
};
