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

oltr_status linear_policy_sample(const linear_policy *p, double spread, const candidates *from,
                                 const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    ldl factor = linear_factor(p, &p->model);
    return rank_by_sample(&p->rows, &factor, NULL, spread, from, rng, scratch, out);
}

oltr_status linear_policy_samples(const linear_policy *p, double spread, const candidates *from,
                                  const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    ldl factor = linear_factor(p, &p->model);
    return rank_by_samples(&p->rows, &factor, NULL, spread, from, rng, scratch, out);
}

oltr_status linear_policy_rank_together(const void *state, uint64_t t, const candidates *from,
                                        const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    const linear_policy *p = state;
    (void)t;
    return linear_policy_samples(p, p->width.spread, from, rng, scratch, out);
}

oltr_status linear_policy_rank(const void *state, uint64_t t, const candidates *from,
                               const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    const linear_policy *p = state;
    (void)t;
    return linear_policy_sample(p, p->width.spread, from, rng, scratch, out);
}

oltr_status linear_policy_predict_with(const linear_policy *p, double spread,
                                       const candidates *from, double *mean, double *sd)
{
    ldl factor = linear_factor(p, &p->model);
    return predict_scores(&p->rows, &factor, NULL, spread, from, mean, sd);
}

oltr_status linear_policy_predict(const void *state, uint64_t t, const candidates *from,
                                  double *mean, double *sd)
{
    const linear_policy *p = state;
    (void)t;
    return linear_policy_predict_with(p, p->width.spread, from, mean, sd);
}

/* beta_t of the next round.  It is computed when the state changes, not by rank: a long chain of
 * operations, which overlaps with the update of the factor and would delay a ranking. */
static void set_spread(linear_policy *p, uint64_t t)
{
    if (p->width.by_theory)
        p->width.spread = theory_beta(&p->width.theory, t);
}

oltr_status linear_policy_learn(void *state, uint64_t t, const candidates *from,
                                const oltr_ranking *shown, const oltr_feedback *seen)
{
    linear_policy *p = state;
    row_batch b;
    set_spread(p, t);
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
    return LINEAR_SUMS;
}

void linear_policy_refresh(void *state, uint64_t t)
{
    linear_policy *p = state;
    set_spread(p, t);
    linear_refresh(p, &p->model);
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
    linear_policy *p = state;
    set_spread(p, t);
    return linear_resume(p, &p->model, error);
}

int linear_policy_row_rejected(const void *state, const float *x)
{
    return row_is_too_long(&((const linear_policy *)state)->rows, x);
}
