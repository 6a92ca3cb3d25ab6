/* logistic_policy.c - see logistic_policy.h. */
#include "engine/policy/logistic_policy.h"

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
static size_t capacity_of(const oltr_settings *settings, size_t given, size_t window)
{
    size_t items = settings->n_items;
    return given ? given : (items > 256 ? 4 * items : 1024) + window;
}

/* How many single rows are kept exactly: enough that theta has settled before they are absorbed
 * (docs/algorithms/logts.md). */
static size_t window_of(const oltr_settings *settings, size_t given)
{
    size_t per_feature = WINDOW_PER_FEATURE * (size_t)settings->dim;
    size_t thorough = thorough_of(settings);
    return given ? given : per_feature > thorough ? per_feature : thorough;
}

logistic_policy logistic_policy_plan(layout *l, const oltr_settings *settings,
                                     const logistic_choices *chosen)
{
    size_t given = (size_t)chosen->rows, window = window_of(settings, given);
    logistic_policy p = {.matrix.dim = 0};
    p.model = logistic_plan(l, settings->dim, capacity_of(settings, given, window), window,
                            chosen->lambda, chosen->drift);
    p.model.link = chosen->link;
    if (!given)
        p.model.thorough = (uint32_t)thorough_of(settings);
    p.rows = feature_rows_plan(l, settings, chosen->norm);
    if (chosen->matrix)
        p.matrix = linear_plan(l, settings->dim, chosen->lambda);
    return p;
}

/* mu' has one peak, so an end has its least value.  Below LEAST_KAPPA, which is that of logit at a
 * bound of 30, a width is noise alone, and 1 / kappa might overflow. */
double least_slope(uint32_t link, double bound)
{
    double e = exp(-bound);
    if (link == LINK_LOGIT)
        return e / ((1 + e) * (1 + e));
    return fmax(LEAST_KAPPA, fmin(link_here(link, bound).slope, link_here(link, -bound).slope));
}

/* How many rows are in use; 0 where the stored number is impossible, as a forged snapshot may have
 * it. */
static size_t rows_in_use(const logistic_policy *p)
{
    double n = doubles_at(p, p->model.count)[0];
    return n >= 0 && n <= p->model.capacity ? (size_t)n : 0;
}

uint32_t logistic_policy_sums(const void *state, sum_array out[MAX_SUMS])
{
    const logistic_policy *p = state;
    const logistic *m = &p->model;
    size_t d = m->dim, packed = d * (d + 1) / 2, n = rows_in_use(p);
    out[0] = (sum_array){.name = "count", .value = doubles_at(p, m->count), .n = 2};
    out[1] = (sum_array){.name = "row", .single = floats_at(p, m->row), .n = n * d};
    out[2] = (sum_array){.name = "examined", .value = doubles_at(p, m->examined), .n = n};
    out[3] = (sum_array){.name = "clicked", .value = doubles_at(p, m->clicked), .n = n};
    out[4] = (sum_array){.name = "last", .value = doubles_at(p, m->last), .n = n};
    out[5] = (sum_array){.name = "precision", .value = doubles_at(p, m->precision), .n = packed};
    out[6] = (sum_array){.name = "pull", .value = doubles_at(p, m->linear_term), .n = d};
    return LOGISTIC_SUMS;
}

static size_t matrix_numbers(const logistic_policy *p)
{
    size_t d = p->matrix.dim;
    return d * (d + 1) / 2;
}

uint32_t logistic_policy_sums_and_matrix(const void *state, sum_array out[MAX_SUMS])
{
    const logistic_policy *p = state;
    uint32_t n = logistic_policy_sums(state, out);
    out[n] =
        (sum_array){.name = "gram", .value = doubles_at(p, p->matrix.gram), .n = matrix_numbers(p)};
    return n + 1;
}

/* Estimate and factor are found by a solver from where the last round left them: an exact copy
 * needs both. */
uint32_t logistic_policy_derived(const void *state, sum_array out[MAX_SUMS])
{
    static const char *const names[LINEAR_DERIVED] = {"matrix factor", "matrix pivot",
                                                      "matrix watch"};
    const logistic_policy *p = state;
    const logistic *m = &p->model;
    size_t d = m->dim, n = rows_in_use(p);
    ldl f = logistic_factor(p, m);
    out[0] = (sum_array){
        .name = "estimate", .value = doubles_at(p, m->theta), .n = logistic_estimate(m->dim)};
    out[1] = (sum_array){.name = "factor", .value = f.l, .n = d * (d + 1) / 2, .stride = f.stride};
    out[2] = (sum_array){.name = "pivot", .value = f.d, .n = d};
    out[3] = (sum_array){.name = "weight", .value = doubles_at(p, m->weight), .n = n};
    out[4] = (sum_array){.name = "score", .value = doubles_at(p, m->score), .n = n};
    return LOGISTIC_DERIVED +
           (p->matrix.dim ? linear_list_derived(p, &p->matrix, names, out + LOGISTIC_DERIVED) : 0);
}

void logistic_policy_refresh(void *state, uint64_t t)
{
    logistic_policy *p = state;
    (void)t;
    logistic_refresh(p, &p->model);
    if (p->matrix.dim)
        linear_refresh(p, &p->matrix);
}

oltr_status logistic_policy_resume(void *state, uint64_t t, oltr_error *error)
{
    logistic_policy *p = state;
    (void)t;
    oltr_status status = logistic_resume(p, &p->model, error);
    return status == OLTR_OK && p->matrix.dim ? linear_resume(p, &p->matrix, error) : status;
}

oltr_status logistic_policy_merge(void *state, const void *from)
{
    logistic_policy *p = state;
    const logistic_policy *q = from;
    oltr_status status = logistic_merge(p, &p->model, q, &q->model);
    for (size_t i = 0; status == OLTR_OK && i < matrix_numbers(p); i++)
        doubles_at(p, p->matrix.gram)[i] += doubles_at(q, q->matrix.gram)[i];
    return status;
}

void logistic_policy_forget(void *state, double keep)
{
    logistic_policy *p = state;
    logistic_forget(p, &p->model, keep);
    if (p->matrix.dim)
        linear_fade(p, &p->matrix, keep);
}

/* Rows that learn() could have left. */
static oltr_status check_rows(const logistic_policy *p, oltr_error *error)
{
    size_t n = rows_in_use(p);
    for (size_t i = 0; i < n * p->model.dim; i++)
        if (!(fabsf(floats_at(p, p->model.row)[i]) <= LARGEST_FEATURE))
            return set_error(error, OLTR_ESTATE, "row %zu: a feature of %g is impossible",
                             i / p->model.dim, (double)floats_at(p, p->model.row)[i]);
    return OLTR_OK;
}

oltr_status logistic_policy_check(const void *state, uint64_t t, oltr_error *error)
{
    const logistic_policy *p = state;
    (void)t;
    linear absorbed = {.dim = p->model.dim,
                       .ridge = p->model.lambda,
                       .gram = p->model.precision,
                       .moment = p->model.linear_term};
    oltr_status status = check_rows(p, error);
    if (status == OLTR_OK)
        status = logistic_check(p, &p->model, error);
    return status == OLTR_OK ? linear_check(p, &absorbed, error) : status;
}

oltr_status logistic_policy_check_derived(const void *state, oltr_error *error)
{
    const logistic_policy *p = state;
    oltr_status status = logistic_check_derived(p, &p->model, error);
    return status == OLTR_OK && p->matrix.dim ? linear_check_factor(p, &p->matrix, error) : status;
}

int logistic_policy_row_rejected(const void *state, const float *x)
{
    return row_is_too_long(&((const logistic_policy *)state)->rows, x);
}

oltr_status logistic_policy_learn(void *state, uint64_t t, const candidates *from,
                                  const oltr_ranking *shown, const oltr_feedback *seen)
{
    logistic_policy *p = state;
    row_batch b;
    (void)t;
    for (batch_begin(&b); batch_next(&b, p, &p->rows, from, shown, seen, seen->n_examined);)
        logistic_add_weighted(p, &p->model, b.x, b.y, b.weight, b.n);
    return OLTR_OK;
}
