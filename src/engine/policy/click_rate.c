/* click_rate.c - see click_rate.h. */
#include "engine/policy/click_rate.h"

static click_rate_state plan(const oltr_settings *settings, click_rate_state p)
{
    layout l = {align_up(sizeof p), false};
    p.sums = item_sums_plan(&l, settings->n_items);
    p.rate = layout_take(&l, settings->n_items, sizeof(double));
    p.weight = layout_take(&l, settings->n_items, sizeof(double));
    p.bytes = layout_bytes(&l);
    return p;
}

size_t click_rate_bytes(const oltr_settings *settings)
{
    return plan(settings, (click_rate_state){.extra = 0}).bytes;
}

static void refresh_item(click_rate_state *p, uint32_t i)
{
    double n = doubles_at(p, p->sums.examined)[i], s = doubles_at(p, p->sums.reward)[i];
    doubles_at(p, p->rate)[i] = item_is_seen(n) ? s / n : p->unseen;
    doubles_at(p, p->weight)[i] = item_is_seen(n + p->extra) ? 1 / (n + p->extra) : 0;
}

void click_rate_refresh(void *state, uint64_t t)
{
    click_rate_state *p = state;
    (void)t;
    for (uint32_t i = 0; i < p->sums.n_items; i++)
        refresh_item(p, i);
}

oltr_status click_rate_init(void *state, const oltr_settings *settings, click_rate_state own)
{
    *(click_rate_state *)state = plan(settings, own);
    click_rate_refresh(state, 1);
    return OLTR_OK;
}

oltr_status click_rate_renew(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                             const double *before, oltr_error *error)
{
    click_rate_state *p = state;
    oltr_status status = item_sums_check_one(p, &p->sums, t, true, item, error);
    (void)settings, (void)before;
    if (status == OLTR_OK)
        refresh_item(p, item);
    return status;
}

oltr_status click_rate_learn(void *state, uint64_t t, const candidates *from,
                             const oltr_ranking *shown, const oltr_feedback *seen)
{
    (void)t, (void)from;
    item_policy_add(state, shown, seen);
    for (uint32_t slot = 0; slot < seen->n_examined; slot++)
        refresh_item(state, shown->item[slot]);
    return OLTR_OK;
}

static layout plan_scratch(uint32_t n_items, size_t *rate, size_t *weight)
{
    size_t best;
    layout l = scores_plan(n_items, &best);
    *rate = layout_take(&l, n_items, sizeof(double));
    *weight = layout_take(&l, n_items, sizeof(double));
    return l;
}

size_t click_rate_scratch_bytes(const oltr_settings *settings)
{
    size_t rate, weight;
    layout l = plan_scratch(settings->n_items, &rate, &weight);
    return layout_bytes(&l);
}

click_rate_view click_rate_candidates(const click_rate_state *p, const candidates *from,
                                      void *scratch)
{
    const double *all_rates = doubles_at(p, p->rate), *all_weights = doubles_at(p, p->weight);
    double_scores out = scores_in(scratch, p->sums.n_items);
    size_t rate_at, weight_at;
    if (!from->item)
        return (click_rate_view){all_rates, all_weights, out};
    plan_scratch(p->sums.n_items, &rate_at, &weight_at);
    double *rate = doubles_at(scratch, rate_at), *weight = doubles_at(scratch, weight_at);
    for (uint32_t j = 0; j < from->n; j++) {
        rate[j] = all_rates[from->item[j]];
        weight[j] = all_weights[from->item[j]];
    }
    return (click_rate_view){rate, weight, out};
}
