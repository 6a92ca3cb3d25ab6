/* linear_ts.c - see linear_ts.h. */
#include "engine/policy/linear_ts.h"

#include <math.h>
#include <stdlib.h>

linear_ts linear_ts_plan(const oltr_settings *settings, double ridge, uint32_t norm)
{
    linear_ts p = {.variant = 0};
    layout l = {align_up(sizeof p), 0};
    p.model = linear_plan(&l, settings->dim, ridge);
    p.rows = context_plan(&l, settings, norm);
    p.largest_reward = settings->info->rewards == OLTR_CLICKS ? 1 : LARGEST_REWARD;
    p.bytes = l.overflow ? 0 : l.used;
    return p;
}

oltr_status linear_ts_rank(const linear_ts *p, double spread, const candidates *from,
                           const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    context_scratch s = context_scratch_of(scratch, &p->rows);
    ldl factor = linear_factor(p, &p->model);
    context_sample(&s, &p->rows, &factor, spread, rng);
    oltr_status status = context_scores(&s, &p->rows, from, s.theta);
    return status == OLTR_OK ? context_show(&s, &p->rows, from, rng, out) : status;
}

oltr_status linear_ts_learn(void *state, uint64_t t, const candidates *from,
                            const oltr_ranking *shown, const oltr_feedback *seen)
{
    linear_ts *p = state;
    const float *x[LEARN_BATCH];
    double y[LEARN_BATCH];
    (void)t;
    for (uint32_t start = 0; start < seen->n_examined; start += LEARN_BATCH) {
        uint32_t n = context_gather(p, &p->rows, from, shown, seen, start, seen->n_examined, x, y);
        linear_add(p, &p->model, x, y, seen->weight ? seen->weight + start : NULL, n);
    }
    return OLTR_OK;
}

uint32_t linear_ts_sums(const void *state, sum_array out[MAX_SUMS])
{
    const linear_ts *p = state;
    size_t d = p->model.dim;
    out[0] = (sum_array){"gram", doubles_at(p, p->model.gram), d * (d + 1) / 2, NULL};
    out[1] = (sum_array){"moment", doubles_at(p, p->model.moment), d, NULL};
    return 2;
}

void linear_ts_refresh(void *state, uint64_t t)
{
    linear_ts *p = state;
    (void)t;
    linear_refresh(p, &p->model);
}

oltr_status linear_ts_check(const void *state, uint64_t t, oltr_error *error)
{
    const linear_ts *p = state;
    linear_limits limits = {context_most_rows(t), OLTR_MAX_WEIGHT, p->largest_reward};
    return linear_check_within(p, &p->model, &limits, error);
}

oltr_status linear_ts_check_derived(const void *state, oltr_error *error)
{
    const linear_ts *p = state;
    return linear_check_factor(p, &p->model, error);
}

uint32_t linear_ts_derived(const void *state, sum_array out[MAX_SUMS])
{
    static const char *const names[LINEAR_DERIVED] = {"factor", "pivot", "watch"};
    const linear_ts *p = state;
    return linear_list_derived(p, &p->model, names, out);
}

oltr_status linear_ts_resume(void *state, uint64_t t, oltr_error *error)
{
    linear_ts *p = state;
    (void)t;
    return linear_resume(p, &p->model, error);
}

int linear_ts_refuses(const void *state, const float *x)
{
    const linear_ts *p = state;
    return context_refuses(&p->rows, x);
}

oltr_status linear_ts_predict(const linear_ts *p, double spread, const candidates *from,
                              double *mean, double *sd)
{
    double *work = malloc(linear_work(p->model.dim) * sizeof *work);
    if (!work)
        return OLTR_ENOMEM;
    linear_predict(p, &p->model, from->x, from->stride, from->n, mean, sd, work);
    free(work);
    for (uint32_t j = 0; sd && j < from->n; j++)
        sd[j] = spread * sqrt(sd[j]);
    if (sd)
        context_shorten(&p->rows, from, sd);
    return context_shorten(&p->rows, from, mean);
}
