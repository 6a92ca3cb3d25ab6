/* cascade_linucb.c - CascadeLinUCB: Zong, Ni, Sung, Ke, Wen and Kveton (UAI 2016).
 *
 * Belief.  M = I + sigma^-2 sum x x', B = sum x y, theta_hat = sigma^-2 M^-1 B; kept as V = sigma^2
 * M.
 *
 * Rule.  Rank by min{x'theta_hat + c sqrt(x'M^-1 x), 1}, show the K largest.  With the c of the
 * theory nearly all items are clipped at 1 for a long time: then ties, broken at random, explore.
 *
 * The width c: as printed, sqrt(d log(1 + T K / (d sigma^2)) + 2 log(T K)) / sigma + S; or a number
 * of your own.
 *
 * The released code of the GTS paper (width: released) has sigma = 1/2 whatever the parameter is,
 * and measures with V instead of M: its bound is x'theta_hat + C sqrt(x'V^-1 x), C = sqrt(d) +
 * sqrt(d log((1 + T B^2) T)) / 2, fixed over time, which is c = 2 C above.  B, its longest row, is
 * 1 in all of its experiments and is 1 here.  It gives ties to the items that numpy's sort puts
 * last, mostly high item numbers; here they are broken at random, as everywhere.
 *
 * Cost.  The quadratic form of every candidate, O(L d^2); of rows that stay, O(L d) for each
 * observed row (posterior/row_forms.h).  Where all rows stay, O(L^2 + d^2) for each observed row
 * and O(L) for a ranking, beside the comparison of the rows (posterior/row_covariances.h).
 */
#include "engine/policy/linear_policy.h"

typedef struct bounded {
    linear_policy linear;
    row_forms forms;             /* of the candidates */
    row_covariances covariances; /* of candidates that all stay */
} bounded;

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
    {"c", OLTR_REAL, 1, 0, 1e6, NULL, "the width (width: given)"},
    {"S", OLTR_REAL, 1, 0, 1e6, NULL, "bound on the length of the true theta (width: printed)"},
    {"horizon", OLTR_INTEGER, 10000, 2, 1e15, NULL, "the number of rounds T in the width"},
    NORM_PARAM,
};

static bounded plan(const oltr_settings *settings, double ridge, size_t *bytes)
{
    layout l = {align_up(sizeof(bounded)), false};
    bounded p;
    p.linear = linear_policy_plan(&l, settings, ridge, choice(settings, P_NORM));
    p.forms = row_forms_plan(&l, settings->n_items, settings->dim);
    p.covariances = covariances_of(&l, settings, choice(settings, P_NORM), 1);
    *bytes = layout_bytes(&l);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    size_t bytes;
    plan(settings, 1, &bytes);
    return bytes;
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    bounded *p = state;
    size_t bytes;
    uint32_t variant = choice(settings, P_WIDTH);
    double sigma = variant == RELEASED ? 0.5 : param(settings, P_SIGMA);
    (void)error;
    *p = plan(settings, sigma * sigma, &bytes);
    p->linear.width = (linear_width){.variant = variant,
                                     .spread = sigma,
                                     .factor = param(settings, P_C),
                                     .horizon = param(settings, P_HORIZON),
                                     .bound = param(settings, P_S)};
    linear_policy_refresh(state, 1);
    return OLTR_OK;
}

/* c */
static double width(const linear_policy *p, uint32_t k)
{
    const linear_width *w = &p->width;
    double d = p->model.dim, horizon = w->horizon, sigma = w->spread;
    if (w->variant == GIVEN)
        return w->factor;
    if (w->variant == RELEASED) /* C / sigma: C is of sqrt(x'V^-1 x) */
        return (sqrt(d) + 0.5 * sqrt(d * log((1 + horizon) * horizon))) / sigma;
    return sqrt(d * log1p(horizon * k / (d * sigma * sigma)) + 2 * log(horizon * k)) / sigma +
           w->bound;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const bounded *p = state;
    const linear_policy *own = &p->linear;
    /* sqrt(x'M^-1 x) = sigma sqrt(x'V^-1 x) */
    upper_bound bound = {
        p, &own->model, &p->forms, &p->covariances, width(own, out->k) * own->width.spread, 1};
    (void)t;
    return rank_by_upper_bound(&own->rows, &bound, from, rng, scratch, out);
}

/* With the factor, and the forms of rows that stay. */
static void learn_with_factor(bounded *p, const candidates *from, const oltr_ranking *shown,
                              const oltr_feedback *seen)
{
    linear_policy *own = &p->linear;
    ldl factor = linear_factor(p, &own->model);
    bool anew = false;
    row_batch b;
    for (batch_begin(&b); batch_next(&b, p, &own->rows, from, shown, seen, seen->n_examined);) {
        row_forms_correct(p, &p->forms, &factor, b.x, b.weight, shown->item + b.start, b.n,
                          own->rows.norm != NORM_SCALE);
        anew |= linear_add(p, &own->model, b.x, b.y, b.weight, b.n);
    }
    row_forms_end(p, &p->forms, &factor, anew);
}

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    bounded *p = state;
    linear *model[] = {&p->linear.model};
    row_batch b;
    (void)t;
    row_forms_begin(p, &p->forms, from, shown);
    if (!row_covariances_begin(p, &p->covariances, &p->forms, model)) {
        learn_with_factor(p, from, shown, seen);
        row_covariances_enter(p, &p->covariances, &p->forms, model);
        return OLTR_OK;
    }
    for (batch_begin(&b); batch_next(&b, p, &p->linear.rows, from, shown, seen, seen->n_examined);)
        row_covariances_learn(p, &p->covariances, 0, b.y, b.weight, shown->item + b.start, b.n);
    row_covariances_end(p, &p->covariances, &p->forms, model, seen->n_examined);
    return OLTR_OK;
}

static void refresh(void *state, uint64_t t)
{
    bounded *p = state;
    linear *model[] = {&p->linear.model};
    row_covariances_reset(p, &p->covariances, model);
    linear_policy_refresh(state, t);
    row_forms_reset(state, &p->forms);
}

static uint32_t list_sums(const void *state, sum_array out[MAX_SUMS])
{
    const bounded *p = state;
    uint32_t n = linear_policy_sums(state, out);
    return n + row_covariances_sums(p, &p->covariances, out + n);
}

static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    const bounded *p = state;
    oltr_status status = linear_policy_check(state, t, error);
    return status == OLTR_OK ? row_covariances_check_counts(
                                   p, &p->covariances, most_rows_before(t) * OLTR_MAX_WEIGHT, error)
                             : status;
}

static oltr_status merge(void *state, const void *from)
{
    bounded *p = state;
    const bounded *q = from;
    linear *model[] = {&p->linear.model};
    const linear *other[] = {&q->linear.model};
    row_covariances_reset(p, &p->covariances, model);
    row_covariances_add(p, model, q, &q->covariances, other);
    return OLTR_OK;
}

static void forget(void *state, double keep)
{
    bounded *p = state;
    linear *model[] = {&p->linear.model};
    row_covariances_reset(p, &p->covariances, model);
    linear_fade(p, &p->linear.model, keep);
}

static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    const bounded *p = state;
    const upper_bound of = {p, &p->linear.model, &p->forms, &p->covariances, 0, 0, NULL};
    if (!row_covariances_on(&p->covariances))
        return linear_policy_predict(state, t, from, mean, sd);
    return predict_covered(&p->linear.rows, &of, p->linear.width.spread, from, mean, sd);
}

static oltr_status check_derived(const void *state, oltr_error *error)
{
    const bounded *p = state;
    linear model = p->linear.model, *models[] = {&model};
    if (row_covariances_on(&p->covariances))
        return row_covariances_check(p, &p->covariances, &p->forms, models, error);
    ldl factor = linear_factor(p, &p->linear.model);
    oltr_status status = linear_policy_check_derived(state, error);
    return status == OLTR_OK ? row_forms_check(p, &p->forms, &factor, error) : status;
}

static uint32_t list_derived(const void *state, sum_array out[MAX_SUMS])
{
    const bounded *p = state;
    uint32_t n = linear_policy_derived(state, out);
    n += row_forms_list(state, &p->forms, out + n);
    return n + row_covariances_list(state, &p->covariances, out + n);
}

static oltr_status resume(void *state, uint64_t t, oltr_error *error)
{
    bounded *p = state;
    linear *model[] = {&p->linear.model};
    (void)t;
    return row_covariances_resume(p, &p->covariances, &p->forms, model, error);
}

const policy_ops cascade_linucb_ops = {
    .info = {.name = "cascade-linucb",
             .title = "CascadeLinUCB (C-LinUCB)",
             .source = "Zong, Ni, Sung, Ke, Wen, Kveton: Cascading Bandits for Large-Scale "
                       "Recommendation Problems, UAI 2016",
             .summary = "Ranks by the upper confidence bound of a linear model, clipped at 1.",
             .rewards = OLTR_CLICKS,
             LINEAR_POLICY_INFO},
    .state_bytes = state_bytes,
    .scratch_bytes = bound_scratch_bytes,
    .min_saved_numbers = feature_min_saved,
    .init = init,
    .rank = rank,
    .learn = learn,
    .sums = list_sums,
    .least_sums = LINEAR_SUMS,
    .merge = merge,
    .forget = forget,
    .refresh = refresh,
    .check = check,
    .row_rejected = linear_policy_row_rejected,
    .check_derived = check_derived,
    .derived = list_derived,
    .least_derived = LINEAR_DERIVED,
    .resume = resume,
    .predict = predict,
};
