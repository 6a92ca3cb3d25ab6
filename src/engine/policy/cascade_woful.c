/* cascade_woful.c - CascadeWOFUL: Vial, Sanghavi, Shakkottai and Srikant (NeurIPS 2022).
 *
 * Two ridge regressions.  The first, G_H = lambda_H I + sum x x', gives an upper bound on every
 * attraction,
 *     U_H(x) = x'theta_H + alpha_H sqrt(x'G_H^-1 x), clipped to [0,1].
 * A click's variance is at most its attraction, so the second regression weighs each observation
 * with w = 1 / max{U_H, 1/K}, U_H at the time when the list was shown: G_B = lambda_B I + sum w x
 * x', b_B = sum w x y, and the items are ranked by U_B(x) = x'theta_B + alpha_B sqrt(x'G_B^-1 x).
 *
 * The radii (delta = 1/T, R = 1/2, lambda_H = 1, lambda_B = K)
 *     alpha_H = sqrt(lambda_H) S + R sqrt(d log(1 + t K / (d lambda_H)) + 2 log(1/delta))
 *     alpha_B = sqrt(lambda_B) S + 8 sqrt(d log(1 + t K^2 / (d lambda_B)) log(4 t^2 K^2 / delta))
 *               + 4 sqrt(K) log(4 t^2 K^2 / delta)
 * are a reconstruction from the published rate; their constants could not be checked against the
 * paper.  They are far too wide in practice; `scale` multiplies both.
 *
 * The released code of the GTS paper (variant: released) is another algorithm.  Both regressions
 * have noise 1/2 with a prior variance of 1, which is a ridge of 1/4; alpha_H is the fixed width
 * C of its CascadeLinUCB (cascade_linucb.c) and alpha_B is K C; U_H is taken after the round was
 * learned, and is not clipped at 1; and the second regression learns a 0 for every item that was
 * shown but not examined.  A comparison made with it shows little about the algorithm.
 */
#include "engine/policy/linear_policy.h"

enum { P_SCALE, P_S, P_SLOTS, P_HORIZON, P_VARIANT, P_NORM, N_PARAMS };
enum { PRINTED, RELEASED };
enum { WEIGHTED, PLAIN, MODELS }; /* B and H among the covariances */
static const char *const variants[] = {"printed", "released", NULL};
static const oltr_param params[N_PARAMS] = {
    {"scale", OLTR_REAL, 1, 0, 1e6, NULL, "multiplies both radii"},
    {"S", OLTR_REAL, 1, 0, 1e6, NULL,
     "bound on the length of the true theta (not read by variant: released)"},
    {"slots", OLTR_INTEGER, 3, 1, 1e6, NULL, "the length K of the lists it is made for"},
    {"horizon", OLTR_INTEGER, 10000, 2, 1e15, NULL, "the number of rounds T; delta = 1/T"},
    {"variant", OLTR_CHOICE, PRINTED, 0, 1, variants,
     "as published, or as in the released code of the GTS paper"},
    NORM_PARAM,
};

typedef struct woful {
    linear_policy plain;         /* H */
    linear weighted;             /* B */
    row_forms forms;             /* x'G_B^-1 x of the candidates */
    row_covariances covariances; /* of B, then of H, of candidates that all stay */
    size_t theta;                /* offset of (dim) doubles: theta_H while learning */
    size_t gather;               /* offset of (LEARN_BATCH, dim) floats: the rows of a batch */
    size_t work;                 /* offset of room for quadratic forms while learning */
    size_t bytes;
    double scale, bound, slots, horizon; /* bound: S */
    uint32_t variant;
} woful;

static woful plan(const oltr_settings *settings)
{
    woful p = {.variant = choice(settings, P_VARIANT),
               .scale = param(settings, P_SCALE),
               .bound = param(settings, P_S),
               .slots = param(settings, P_SLOTS),
               .horizon = param(settings, P_HORIZON)};
    layout l = {align_up(sizeof p), false};
    bool released = p.variant == RELEASED;
    p.plain = linear_policy_plan(&l, settings, released ? 0.25 : 1, choice(settings, P_NORM));
    p.weighted = linear_plan(&l, settings->dim, released ? 0.25 : p.slots);
    p.forms = row_forms_plan(&l, settings->n_items, settings->dim);
    p.covariances = covariances_of(&l, settings, choice(settings, P_NORM), MODELS);
    p.theta = layout_take(&l, settings->dim, sizeof(double));
    p.gather = layout_take(&l, (size_t)LEARN_BATCH * settings->dim, sizeof(float));
    p.work = layout_take(&l, ldl_quadratic_work(settings->dim), sizeof(double));
    p.bytes = layout_bytes(&l);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static void refresh(void *state, uint64_t t)
{
    woful *p = state;
    linear *model[MODELS] = {&p->weighted, &p->plain.model};
    row_covariances_reset(p, &p->covariances, model);
    linear_policy_refresh(state, t);
    linear_refresh(state, &p->weighted);
    row_forms_reset(state, &p->forms);
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    *(woful *)state = plan(settings);
    refresh(state, 1);
    return OLTR_OK;
}

static double released_width(const woful *p)
{
    double d = p->plain.model.dim;
    return sqrt(d) + 0.5 * sqrt(d * log((1 + p->horizon) * p->horizon));
}

static double radius_plain(const woful *p, double t)
{
    double d = p->plain.model.dim;
    if (p->variant == RELEASED)
        return p->scale * released_width(p);
    return p->scale * (p->bound + 0.5 * sqrt(d * log1p(t * p->slots / d) + 2 * log(p->horizon)));
}

static double radius_weighted(const woful *p, double t)
{
    double d = p->plain.model.dim, k = p->slots, log_term = log(4 * t * t * k * k * p->horizon);
    if (p->variant == RELEASED)
        return p->scale * k * released_width(p);
    return p->scale * (sqrt(k) * p->bound + 8 * sqrt(d * log1p(t * k / d) * log_term) +
                       4 * sqrt(k) * log_term);
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const woful *p = state;
    upper_bound bound = {
        p, &p->weighted, &p->forms, &p->covariances, radius_weighted(p, (double)t), INFINITY};
    return rank_by_upper_bound(&p->plain.rows, &bound, from, rng, scratch, out);
}

/* What is read and learned in a round. */
typedef struct lesson {
    const candidates *from;
    const oltr_ranking *shown;
    const oltr_feedback *seen;
    uint32_t end; /* slots that the weighted regression learns */
    double alpha; /* of H */
    bool covered; /* by the covariances */
} lesson;

/* The means and forms of H of the rows of a batch, whose forms are computed side by side. */
static void plain_values(woful *p, const row_batch *b, const lesson *l, double *mean, double *form)
{
    const uint32_t dim = p->weighted.dim, *item = l->shown->item + b->start;
    ldl factor = linear_factor(p, &p->plain.model);
    float *x = floats_at(p, p->gather);
    for (uint32_t i = 0; l->covered && i < b->n; i++) {
        mean[i] = covered_mean(p, &p->covariances, PLAIN, item[i]);
        form[i] = covered_form(p, &p->covariances, PLAIN, item[i]);
    }
    if (l->covered)
        return;
    for (uint32_t i = 0; i < b->n; i++)
        memcpy(x + (size_t)i * dim, b->x[i], dim * sizeof *x);
    rows_times(x, dim, b->n, dim, doubles_at(p, p->theta), mean);
    ldl_quadratic(&factor, x, dim, b->n, form, doubles_at(p, p->work));
}

/* 1 / max{U_H(x), 1/K} of the rows of a batch, times the weights of the feedback. */
static void weights_of(woful *p, const row_batch *b, const lesson *l, double *weight)
{
    double mean[LEARN_BATCH], form[LEARN_BATCH];
    plain_values(p, b, l, mean, form);
    for (uint32_t i = 0; i < b->n; i++) {
        double upper = mean[i] + l->alpha * sqrt(form[i]);
        if (p->variant != RELEASED)
            upper = fmin(upper, 1);
        weight[i] = 1 / fmax(upper, 1 / p->slots);
        if (b->start + i < l->seen->n_examined)
            weight[i] *= weight_of_slot(l->seen, b->start + i);
    }
}

static void learn_weighted(woful *p, const lesson *l)
{
    double weight[LEARN_BATCH];
    ldl factor = linear_factor(p, &p->plain.model), own = linear_factor(p, &p->weighted);
    bool anew = false;
    row_batch b;
    if (!l->covered)
        ldl_sample(&factor, 0, NULL, doubles_at(p, p->theta));
    for (batch_begin(&b); batch_next(&b, p, &p->plain.rows, l->from, l->shown, l->seen, l->end);) {
        const uint32_t *item = l->shown->item + b.start;
        weights_of(p, &b, l, weight);
        if (l->covered) {
            row_covariances_learn(p, &p->covariances, WEIGHTED, b.y, weight, item, b.n);
            continue;
        }
        row_forms_correct(p, &p->forms, &own, b.x, weight, item, b.n,
                          p->plain.rows.norm != NORM_SCALE);
        anew |= linear_add(p, &p->weighted, b.x, b.y, weight, b.n);
    }
    if (!l->covered)
        row_forms_end(p, &p->forms, &own, anew);
}

static void learn_plain(woful *p, uint64_t t, const lesson *l)
{
    row_batch b;
    if (!l->covered) {
        linear_policy_learn(p, t, l->from, l->shown, l->seen);
        return;
    }
    for (batch_begin(&b);
         batch_next(&b, p, &p->plain.rows, l->from, l->shown, l->seen, l->seen->n_examined);)
        row_covariances_learn(p, &p->covariances, PLAIN, b.y, b.weight, l->shown->item + b.start,
                              b.n);
}

/* The weighted regression learns first, while the plain one is still what it was when the list was
 * shown.  In the released code it learns last. */
static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    woful *p = state;
    linear *model[MODELS] = {&p->weighted, &p->plain.model};
    bool released = p->variant == RELEASED;
    row_forms_begin(p, &p->forms, from, shown);
    lesson l = {.from = from,
                .shown = shown,
                .seen = seen,
                .end = released ? shown->k : seen->n_examined,
                .alpha = radius_plain(p, (double)(t - 1)),
                .covered = row_covariances_begin(p, &p->covariances, &p->forms, model)};
    if (released)
        learn_plain(p, t, &l);
    learn_weighted(p, &l);
    if (!released)
        learn_plain(p, t, &l);
    if (l.covered)
        row_covariances_end(p, &p->covariances, &p->forms, model, l.end);
    else
        row_covariances_enter(p, &p->covariances, &p->forms, model);
    return OLTR_OK;
}

static uint32_t list_sums(const void *state, sum_array out[MAX_SUMS])
{
    const woful *p = state;
    size_t d = p->weighted.dim;
    uint32_t n = linear_policy_sums(state, out);
    out[n++] = (sum_array){"weighted-gram", doubles_at(p, p->weighted.gram), d * (d + 1) / 2, NULL};
    out[n++] = (sum_array){"weighted-moment", doubles_at(p, p->weighted.moment), d, NULL};
    return n + row_covariances_sums(p, &p->covariances, out + n);
}

/* The policy's own weight is at most K, that of the feedback at most OLTR_MAX_WEIGHT. */
static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    const woful *p = state;
    linear_limits weighted = {most_rows_before(t), OLTR_MAX_WEIGHT * p->slots, 1};
    oltr_status status = linear_policy_check(state, t, error);
    if (status == OLTR_OK)
        status = linear_check_within(p, &p->weighted, &weighted, error);
    return status == OLTR_OK ? row_covariances_check_counts(p, &p->covariances,
                                                            weighted.rows * weighted.weight, error)
                             : status;
}

/* Not offered to callers; a policy of another size that has no room for the counts is made so. */
static oltr_status merge(void *state, const void *from)
{
    woful *p = state;
    const woful *q = from;
    linear *model[MODELS] = {&p->weighted, &p->plain.model};
    const linear *other[MODELS] = {&q->weighted, &q->plain.model};
    row_covariances_reset(p, &p->covariances, model);
    row_covariances_add(p, model, q, &q->covariances, other);
    return OLTR_OK;
}

static oltr_status check_derived(const void *state, oltr_error *error)
{
    const woful *p = state;
    ldl factor = linear_factor(p, &p->weighted);
    linear weighted = p->weighted, plain = p->plain.model, *model[MODELS] = {&weighted, &plain};
    if (row_covariances_on(&p->covariances))
        return row_covariances_check(p, &p->covariances, &p->forms, model, error);
    oltr_status status = linear_policy_check_derived(state, error);
    if (status == OLTR_OK)
        status = linear_check_factor(state, &p->weighted, error);
    return status == OLTR_OK ? row_forms_check(p, &p->forms, &factor, error) : status;
}

static uint32_t list_derived(const void *state, sum_array out[MAX_SUMS])
{
    static const char *const names[LINEAR_DERIVED] = {"weighted-factor", "weighted-pivot",
                                                      "weighted-watch"};
    const woful *p = state;
    uint32_t n = linear_policy_derived(state, out);
    n += linear_list_derived(state, &p->weighted, names, out + n);
    n += row_forms_list(state, &p->forms, out + n);
    return n + row_covariances_list(state, &p->covariances, out + n);
}

static oltr_status resume(void *state, uint64_t t, oltr_error *error)
{
    woful *p = state;
    linear *model[MODELS] = {&p->weighted, &p->plain.model};
    (void)t;
    return row_covariances_resume(p, &p->covariances, &p->forms, model, error);
}

const policy_ops cascade_woful_ops = {
    .info = {.name = "cascade-woful",
             .title = "CascadeWOFUL (C-WOFUL)",
             .source = "Vial, Sanghavi, Shakkottai, Srikant: Minimax Regret for Cascading Bandits, "
                       "NeurIPS 2022",
             .summary =
                 "Ranks by a variance-aware upper confidence bound of a weighted linear model.",
             .rewards = OLTR_CLICKS,
             .takes_weights = 1,
             .contextual = 1,
             .can_resize = 1,
             .exact_copy = 1,
             .n_params = N_PARAMS,
             .params = params},
    .state_bytes = state_bytes,
    .scratch_bytes = bound_scratch_bytes,
    .init = init,
    .rank = rank,
    .learn = learn,
    .sums = list_sums,
    .least_sums = 2 * LINEAR_SUMS,
    .merge = merge,
    .min_saved_numbers = feature_min_saved,
    .refresh = refresh,
    .check = check,
    .row_rejected = linear_policy_row_rejected,
    .check_derived = check_derived,
    .derived = list_derived,
    .least_derived = 2 * LINEAR_DERIVED,
    .resume = resume,
};
