/* item_policy.c - see item_policy.h. */
#include "engine/policy/item_policy.h"

uint32_t item_policy_sums(const void *state, sum_array out[MAX_SUMS])
{
    const item_sums *sums = state;
    out[0] = (sum_array){"examined", doubles_at(state, sums->examined), sums->n_items, NULL};
    out[1] = (sum_array){"reward", doubles_at(state, sums->reward), sums->n_items, NULL};
    return 2;
}

size_t item_policy_min_saved(const oltr_settings *settings)
{
    return 2 * (size_t)settings->n_items;
}

/* An item is shown once, so each slot can be checked by itself. */
int item_policy_overflows(const void *state, uint64_t t, const oltr_ranking *shown,
                          const oltr_feedback *seen)
{
    bool over = false;
    for (uint32_t slot = 0; slot < seen->n_examined; slot++)
        if (!seen->examined || seen->examined[slot])
            over |=
                item_sums_overflow(state, state, t, shown->item[slot], weight_of_slot(seen, slot));
    return over;
}

oltr_status check_each_item(const void *state, uint64_t t, check_item_fn *check_item,
                            oltr_error *error)
{
    const item_sums *sums = state;
    oltr_status status = OLTR_OK;
    for (uint32_t i = 0; status == OLTR_OK && i < sums->n_items; i++)
        status = check_item(state, t, i, error);
    return status;
}

oltr_status check_clicks(const void *state, uint64_t t, oltr_error *error)
{
    return item_sums_check(state, state, t, true, error);
}

oltr_status predict_clicks(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    const item_sums *sums = state;
    const double *n = doubles_at(state, sums->examined), *s = doubles_at(state, sums->reward);
    (void)t;
    for (uint32_t j = 0; j < from->n; j++) {
        uint32_t i = candidate(from, j);
        double p = item_is_seen(n[i]) ? s[i] / n[i] : 0;
        mean[j] = p;
        if (sd)
            sd[j] = item_is_seen(n[i]) ? sqrt(p * (1 - p) / n[i]) : 0.5;
    }
    return OLTR_OK;
}
