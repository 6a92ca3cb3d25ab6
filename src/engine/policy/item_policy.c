/* item_policy.c - see common.h. */
#include "engine/policy/item_policy.h"

#include <math.h>

static layout plan_scratch(uint32_t n_items, size_t *score, size_t *best)
{
    layout l = {0, 0};
    *score = layout_take(&l, padded(n_items), sizeof(double));
    *best = layout_take(&l, topk_room(n_items), sizeof(double));
    return l;
}

size_t double_scratch_bytes(const oltr_settings *settings)
{
    size_t score, best;
    layout l = plan_scratch(settings->n_items, &score, &best);
    return l.overflow ? 0 : l.used;
}

double_scores double_scratch(void *scratch, uint32_t n_items)
{
    size_t score, best;
    plan_scratch(n_items, &score, &best);
    return (double_scores){doubles_at(scratch, score), doubles_at(scratch, best)};
}

void places_to_items(const candidates *from, const oltr_ranking *out)
{
    if (from->item)
        for (uint32_t slot = 0; slot < out->k; slot++)
            out->item[slot] = from->item[out->item[slot]];
}

oltr_status show_best(double_scores s, const candidates *from, const oltr_rng *rng,
                      const oltr_ranking *out)
{
    for (size_t j = from->n; j < padded(from->n); j++)
        s.score[j] = -INFINITY;
    topk_f64(s.score, from->n, out->k, rng, s.best, out->item, out->score);
    places_to_items(from, out);
    return OLTR_OK;
}

size_t oltr_scores_bytes(const oltr_settings *settings)
{
    return double_scratch_bytes(settings);
}

double *oltr_scores(void *scratch)
{
    return scratch;
}

/* Room for all items is room for the candidates: scores first, the maxima behind. */
oltr_status oltr_show_best(void *scratch, const oltr_candidates *from, const oltr_rng *rng,
                           const oltr_ranking *out)
{
    return show_best(double_scratch(scratch, from->n), from, rng, out);
}

uint32_t list_item_sums(const void *state, sum_array out[MAX_SUMS])
{
    const item_sums *sums = state;
    out[0] = (sum_array){"examined", doubles_at(state, sums->examined), sums->n_items, NULL};
    out[1] = (sum_array){"reward", doubles_at(state, sums->reward), sums->n_items, NULL};
    return 2;
}

size_t item_sums_saved(const oltr_settings *settings)
{
    return 2 * (size_t)settings->n_items;
}

/* An item is shown once, so each slot can be looked at by itself. */
int item_sums_overflows(const void *state, uint64_t t, const oltr_ranking *shown,
                        const oltr_feedback *seen)
{
    int over = 0;
    for (uint32_t slot = 0; slot < seen->n_examined; slot++)
        if (!seen->examined || seen->examined[slot])
            over |=
                item_sums_overflow(state, state, t, shown->item[slot], weight_of_slot(seen, slot));
    return over;
}

oltr_status check_clicks(const void *state, uint64_t t, oltr_error *error)
{
    return item_sums_check(state, state, t, 1, error);
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

oltr_status learn_nothing(void *state, uint64_t t, const candidates *from,
                          const oltr_ranking *shown, const oltr_feedback *seen)
{
    (void)state;
    (void)t;
    (void)from;
    (void)shown;
    (void)seen;
    return OLTR_OK;
}

uint32_t list_no_sums(const void *state, sum_array out[MAX_SUMS])
{
    (void)state;
    (void)out;
    return 0;
}

void refresh_nothing(void *state, uint64_t t)
{
    (void)state;
    (void)t;
}

oltr_status check_nothing(const void *state, uint64_t t, oltr_error *error)
{
    (void)state;
    (void)t;
    (void)error;
    return OLTR_OK;
}

const char *const prior_choices[] = {"none", "mean", "full", NULL};

oltr_status require_prior(const oltr_settings *settings, int wanted, int beta, oltr_error *error)
{
    if (!wanted)
        return OLTR_OK;
    if (!prior_given(&settings->prior))
        return set_error(
            error, OLTR_EPRIOR,
            "%s is to take its prior from outside, but none is given: give one, or set prior: none",
            settings->info->name);
    return prior_check(&settings->prior, settings->n_items, beta, error);
}

oltr_status require_item_prior(const oltr_settings *settings, int wanted, int beta, uint32_t item,
                               oltr_error *error)
{
    return wanted ? prior_check_item(&settings->prior, item, beta, error) : OLTR_OK;
}
