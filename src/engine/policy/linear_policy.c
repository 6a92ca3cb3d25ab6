/* linear_policy.c - see linear_policy.h. */
#include "engine/policy/linear_policy.h"

theory_width theory_width_of(uint32_t dim, double lambda, double bound, double sigma,
                             double horizon)
{
    return (theory_width){dim, lambda, sigma, sqrt(lambda) * bound,
                          log(horizon) + log(log2(horizon) + 2)};
}

/* ceil(log2 t) of t >= 1 */
static int doublings(uint64_t t)
{
    return t > 1 ? 64 - __builtin_clzll(t - 1) : 0;
}

double theory_beta(const theory_width *w, uint64_t t)
{
    double log_delta = w->log_delta + log(2) * (doublings(t) > 1 ? doublings(t) : 1);
    return w->sigma * w->sigma * sqrt(w->dim * log1p((double)t / w->lambda) + 2 * log_delta) +
           w->bound;
}

linear_policy linear_policy_plan(layout *l, const oltr_settings *settings, double ridge,
                                 uint32_t norm)
{
    return (linear_policy){.model = linear_plan(l, settings->dim, ridge),
                           .rows = feature_rows_plan(l, settings, norm),
                           .largest_reward =
                               settings->info->rewards == OLTR_CLICKS ? 1 : LARGEST_REWARD};
}

size_t linear_policy_bytes(const oltr_settings *settings)
{
    layout l = {align_up(sizeof(linear_policy)), false};
    linear_policy_plan(&l, settings, 1, NORM_ACCEPT);
    return layout_bytes(&l);
}

oltr_status linear_policy_init(void *state, const oltr_settings *settings, double ridge,
                               uint32_t norm, linear_width width)
{
    linear_policy *p = state;
    layout l = {align_up(sizeof *p), false};
    *p = linear_policy_plan(&l, settings, ridge, norm);
    p->width = width;
    linear_policy_refresh(state, 1);
    return OLTR_OK;
}

oltr_status linear_policy_learn(void *state, uint64_t t, const candidates *from,
                                const oltr_ranking *shown, const oltr_feedback *seen)
{
    linear_policy *p = state;
    row_batch b;
    (void)t;
    for (batch_begin(&b); batch_next(&b, p, &p->rows, from, shown, seen, seen->n_examined);)
        linear_add(p, &p->model, b.x, b.y, b.weight, b.n);
    return OLTR_OK;
}

uint32_t linear_policy_sums(const void *state, sum_array out[MAX_SUMS])
{
    const linear_policy *p = state;
    size_t d = p->model.dim;
    out[0] = (sum_array){"gram", doubles_at(p, p->model.gram), d * (d + 1) / 2, NULL};
    out[1] = (sum_array){"moment", doubles_at(p, p->model.moment), d, NULL};
    return 2;
}

void linear_policy_refresh(void *state, uint64_t t)
{
    (void)t;
    linear_refresh(state, &((linear_policy *)state)->model);
}

oltr_status linear_policy_check(const void *state, uint64_t t, oltr_error *error)
{
    const linear_policy *p = state;
    linear_limits limits = {most_rows_before(t), OLTR_MAX_WEIGHT, p->largest_reward};
    return linear_check_within(p, &p->model, &limits, error);
}

oltr_status linear_policy_check_derived(const void *state, oltr_error *error)
{
    return linear_check_factor(state, &((const linear_policy *)state)->model, error);
}

uint32_t linear_policy_derived(const void *state, sum_array out[MAX_SUMS])
{
    static const char *const names[LINEAR_DERIVED] = {"factor", "pivot", "watch"};
    return linear_list_derived(state, &((const linear_policy *)state)->model, names, out);
}

oltr_status linear_policy_resume(void *state, uint64_t t, oltr_error *error)
{
    (void)t;
    return linear_resume(state, &((linear_policy *)state)->model, error);
}

int linear_policy_row_rejected(const void *state, const float *x)
{
    return row_is_too_long(&((const linear_policy *)state)->rows, x);
}
