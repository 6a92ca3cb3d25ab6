/* click_rate.c - see shares.h. */
#include "engine/policy/click_rate.h"

#include <math.h>

share_state share_plan(const oltr_settings *settings)
{
    share_state p = {.extra = 0, .unseen = INFINITY};
    layout l = {align_up(sizeof p), 0};
    p.sums = item_sums_plan(&l, settings->n_items);
    p.share = layout_take(&l, settings->n_items, sizeof(double));
    p.weight = layout_take(&l, settings->n_items, sizeof(double));
    p.bytes = l.overflow ? 0 : l.used;
    return p;
}

size_t share_state_bytes(const oltr_settings *settings)
{
    return share_plan(settings).bytes;
}

static void refresh_item(share_state *p, uint32_t i)
{
    double n = doubles_at(p, p->sums.examined)[i], s = doubles_at(p, p->sums.reward)[i];
    doubles_at(p, p->share)[i] = item_is_seen(n) ? s / n : p->unseen;
    doubles_at(p, p->weight)[i] = item_is_seen(n + p->extra) ? 1 / (n + p->extra) : 0;
}

void share_refresh(void *state, uint64_t t)
{
    share_state *p = state;
    (void)t;
    for (uint32_t i = 0; i < p->sums.n_items; i++)
        refresh_item(p, i);
}

oltr_status share_renew(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                        oltr_error *error)
{
    share_state *p = state;
    oltr_status status = item_sums_check_one(p, &p->sums, t, 1, item, error);
    (void)settings;
    if (status == OLTR_OK)
        refresh_item(p, item);
    return status;
}

oltr_status share_learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                        const oltr_feedback *seen)
{
    share_state *p = state;
    (void)t;
    (void)from;
    for (uint32_t slot = 0; slot < seen->n_examined; slot++) {
        item_sums_add(p, &p->sums, shown->item[slot], seen->reward[slot],
                      weight_of_slot(seen, slot));
        refresh_item(p, shown->item[slot]);
    }
    return OLTR_OK;
}

static layout plan_scratch(uint32_t n_items, size_t *share, size_t *weight)
{
    oltr_settings only = {.n_items = n_items};
    layout l = {align_up(double_scratch_bytes(&only)), 0};
    l.overflow = l.used == 0;
    *share = layout_take(&l, n_items, sizeof(double));
    *weight = layout_take(&l, n_items, sizeof(double));
    return l;
}

size_t share_scratch_bytes(const oltr_settings *settings)
{
    size_t share, weight;
    layout l = plan_scratch(settings->n_items, &share, &weight);
    return l.overflow ? 0 : l.used;
}

share_view share_candidates(const share_state *p, const candidates *from, void *scratch)
{
    const double *all_shares = doubles_at(p, p->share), *all_weights = doubles_at(p, p->weight);
    double_scores out = double_scratch(scratch, p->sums.n_items);
    if (!from->item)
        return (share_view){all_shares, all_weights, out};
    size_t share, weight;
    plan_scratch(p->sums.n_items, &share, &weight);
    double *some_shares = doubles_at(scratch, share), *some_weights = doubles_at(scratch, weight);
    for (uint32_t j = 0; j < from->n; j++) {
        some_shares[j] = all_shares[from->item[j]];
        some_weights[j] = all_weights[from->item[j]];
    }
    return (share_view){some_shares, some_weights, out};
}
