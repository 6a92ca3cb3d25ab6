/* logts_newton.c - LogTS with Newton steps: Algorithm 4 (appendix) of Azizi, Meshi, Zoghi and
 * Karimzadehgan (AISTATS 2023).
 *
 * State.  V = K I and theta_hat = 0.
 *
 * Rule.  Draw theta ~ N(theta_hat, v^2 V^-1), show the K items with the largest x'theta.
 *
 * Learning, for each examined item in the order of the list, with s = +1 for a click and -1 for
 * none:
 *     V += x x',     theta_hat += alpha mu(-s x'theta_hat) s V^-1 x      (V already holds x)
 * No equation is solved and no history kept.  What is learned depends on the order, so two states
 * cannot be merged.
 *
 * step: exact.  The printed V lacks the weights mu' of the curvature, so v V^-1/2 is the true
 * uncertainty of the estimate only by chance: with one slot, one run in ten converges to a wrong
 * item (docs/algorithms/logts-newton.md has the numbers).  Here an observation updates the belief
 * N(theta_hat, V^-1) by its exact maximum and its curvature there:
 *     theta_hat += c s V^-1 x,   c = mu(-s x'theta_hat - c x'V^-1 x),
 *     then   V += mu'(x'theta_hat) x x'
 * with the V from before and the theta_hat from after the step.  The equation for c has one root,
 * on a line.  Whatever the length of x, no step overshoots; a step with the weights of the printed
 * order, mu' before the step, diverges where x is long and mu' close to 0.
 *
 * Where the paper is unclear: its counter of matrices reads one that does not exist for the first
 * item of a round; one running pair (V, theta_hat) is meant.  alpha has no value: V lacks the
 * weights mu', so a step of Newton's size needs alpha near 1/mu', 4 at p = 1/2, which is the
 * default.  V^-1 is narrower than the Laplace posterior by the same factor: v = 2 makes up for it,
 * v = 1 is printed.  The analyses it builds on keep |theta_hat| below a bound: `clip`.  The
 * released code has no such policy.
 */
#include "engine/policy/linear_policy.h"
#include "engine/posterior/logistic.h"

enum { P_ALPHA, P_V, P_SLOTS, P_CLIP, P_STEP, P_NORM, N_PARAMS };
enum { PRINTED, EXACT };
static const char *const steps[] = {"printed", "exact", NULL};
static const oltr_param params[N_PARAMS] = {
    {"alpha", OLTR_REAL, 4, 0, 1e6, NULL,
     "length of a step; the paper gives none (not read by step: exact)"},
    {"v", OLTR_REAL, 1, 0, 1e6, NULL, "how wide to sample; printed 1"},
    {"slots", OLTR_INTEGER, 3, 1, 1e6, NULL,
     "the length K of the lists it is made for: V starts as K I"},
    {"clip", OLTR_REAL, 0, 0, 1e6, NULL, "largest length of theta_hat; 0 means no bound"},
    {"step", OLTR_CHOICE, PRINTED, 0, 1, steps,
     "as printed, in a matrix without weights; or to the exact maximum, in a matrix with them"},
    NORM_PARAM,
};

typedef struct logts_newton {
    linear_policy matrix; /* V; its moment stays 0 */
    size_t theta;         /* offset of (dim) doubles: theta_hat, learned */
    size_t step;          /* offset of (dim) doubles: room */
    size_t bytes;
    double alpha, v, clip;
    uint32_t kind; /* of step */
} logts_newton;

static logts_newton plan(const oltr_settings *settings)
{
    logts_newton p = {.alpha = param(settings, P_ALPHA),
                      .v = param(settings, P_V),
                      .clip = param(settings, P_CLIP),
                      .kind = choice(settings, P_STEP)};
    layout l = {align_up(sizeof p), false};
    p.matrix = linear_policy_plan(&l, settings, param(settings, P_SLOTS), choice(settings, P_NORM));
    p.theta = layout_take(&l, settings->dim, sizeof(double));
    p.step = layout_take(&l, settings->dim, sizeof(double));
    p.bytes = layout_bytes(&l);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    *(logts_newton *)state = plan(settings);
    linear_policy_refresh(state, 1);
    return OLTR_OK;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const logts_newton *p = state;
    ldl factor = linear_factor(p, &p->matrix.model);
    (void)t;
    return rank_by_sample(&p->matrix.rows, &factor, doubles_at(p, p->theta), p->v, from, rng,
                          scratch, out);
}

static oltr_status rank_together(const void *state, uint64_t t, const candidates *from,
                                 const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    const logts_newton *p = state;
    ldl factor = linear_factor(p, &p->matrix.model);
    (void)t;
    return rank_by_samples(&p->matrix.rows, &factor, doubles_at(p, p->theta), p->v, from, rng,
                           scratch, out);
}

static double longest_theta(const logts_newton *p)
{
    return p->clip > 0 ? p->clip : LONGEST_NEWTON_THETA;
}

static double length_of_theta(const logts_newton *p)
{
    const double *theta = doubles_at(p, p->theta);
    double square = 0;
    for (uint32_t i = 0; i < p->matrix.model.dim; i++)
        square += theta[i] * theta[i];
    return sqrt(square);
}

static void clip(logts_newton *p)
{
    double *theta = doubles_at(p, p->theta), length = length_of_theta(p);
    double shrink = length > longest_theta(p) ? longest_theta(p) / length : 1;
    for (uint32_t i = 0; shrink < 1 && i < p->matrix.model.dim; i++)
        theta[i] *= shrink;
}

/* V^-1 x into the room for a step. */
static double *direction(logts_newton *p, const float *x)
{
    ldl factor = linear_factor(p, &p->matrix.model);
    double *step = doubles_at(p, p->step);
    for (uint32_t i = 0; i < p->matrix.model.dim; i++)
        step[i] = (double)x[i];
    ldl_solve(&factor, step, step);
    return step;
}

static void move(logts_newton *p, double length)
{
    double *theta = doubles_at(p, p->theta), *step = doubles_at(p, p->step);
    for (uint32_t i = 0; i < p->matrix.model.dim; i++)
        theta[i] += length * step[i];
    clip(p);
}

/* The root a of a - z = q mu(-a): where an observation leaves s x'theta_hat that found it at z. The
 * difference rises with a, so that halving the interval always works; Newton's method does in three
 * to six steps as a rule. */
static double margin_after(double z, double q)
{
    double low = z, high = z + q * sigmoid(-z), a = z;
    for (int i = 0; i < 200; i++) {
        double rest = sigmoid(-a), off = a - z - q * rest, step = off / (1 + q * rest * (1 - rest));
        if (fabs(step) <= 1e-15 * (1 + fabs(a) + fabs(z)))
            return a - step;
        *(off < 0 ? &low : &high) = a;
        a = a - step > low && a - step < high ? a - step : 0.5 * (low + high);
    }
    return a;
}

static void printed_step(logts_newton *p, const float *x, double sign)
{
    const double zero = 0;
    double z;
    linear_add(p, &p->matrix.model, &x, &zero, NULL, 1);
    direction(p, x);
    rows_times(x, p->matrix.model.dim, 1, p->matrix.model.dim, doubles_at(p, p->theta), &z);
    move(p, p->alpha * sigmoid(-sign * z) * sign);
}

static void exact_step(logts_newton *p, const float *x, double sign)
{
    const double zero = 0;
    double z, q;
    rows_times(x, p->matrix.model.dim, 1, p->matrix.model.dim, doubles_at(p, p->theta), &z);
    rows_times(x, p->matrix.model.dim, 1, p->matrix.model.dim, direction(p, x), &q);
    double a = margin_after(sign * z, fmax(q, 0)), weight = sigmoid(a) * sigmoid(-a);
    move(p, sign * sigmoid(-a));
    linear_add(p, &p->matrix.model, &x, &zero, &weight, 1);
}

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    logts_newton *p = state;
    row_batch b;
    (void)t;
    for (batch_begin(&b); batch_next(&b, p, &p->matrix.rows, from, shown, seen, seen->n_examined);)
        for (uint32_t i = 0; i < b.n; i++)
            (p->kind == EXACT ? exact_step : printed_step)(p, b.x[i], b.y[i] > 0.5 ? 1 : -1);
    return OLTR_OK;
}

static uint32_t list_sums(const void *state, sum_array out[MAX_SUMS])
{
    const logts_newton *p = state;
    size_t d = p->matrix.model.dim;
    out[0] = (sum_array){"gram", doubles_at(p, p->matrix.model.gram), d * (d + 1) / 2, NULL};
    out[1] = (sum_array){"theta", doubles_at(p, p->theta), d, NULL};
    return 2;
}

static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    const logts_newton *p = state;
    linear_limits limits = {most_rows_before(t), 1, 0};
    double length = length_of_theta(p);
    if (!(length <= longest_theta(p) * (1 + 1e-9)))
        return set_error(error, OLTR_ESTATE,
                         "weights of length %g are impossible: learning keeps them within %g",
                         length, longest_theta(p));
    return linear_check_within(p, &p->matrix.model, &limits, error);
}

static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    const logts_newton *p = state;
    ldl factor = linear_factor(p, &p->matrix.model);
    (void)t;
    return predict_chances(&p->matrix.rows, LINK_LOGIT, &factor, doubles_at(p, p->theta), p->v,
                           from, mean, sd);
}

const policy_ops logts_newton_ops = {
    .info = {.name = "logts-newton",
             .title = "Logistic Thompson sampling with Newton steps (LogTS-Newton)",
             .source = "Azizi, Meshi, Zoghi, Karimzadehgan: Overcoming Prior Misspecification in "
                       "Online Learning to Rank, 2023, Algorithm 4",
             .summary = "Logistic Thompson sampling that takes one Newton step per observation and "
                        "keeps no history.",
             .rewards = OLTR_CLICKS,
             .can_predict = 1,
             .contextual = 1,
             .can_resize = 1,
             .exact_copy = 1,
             .n_params = N_PARAMS,
             .params = params},
    LINEAR_FACTOR_OPS,
    .state_bytes = state_bytes,
    .init = init,
    .rank = rank,
    .rank_together = rank_together,
    .learn = learn,
    .sums = list_sums,
    .check = check,
    .predict = predict,
};
