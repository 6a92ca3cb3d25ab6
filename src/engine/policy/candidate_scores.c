/* candidate_scores.c - see candidate_scores.h; the public form of it for policies outside the
 * library is at the end. */
#include "engine/policy/candidate_scores.h"

size_t scores_bytes(const oltr_settings *settings)
{
    size_t best;
    layout l = scores_plan(settings->n_items, &best);
    return layout_bytes(&l);
}

double_scores scores_in(void *scratch, uint32_t n_items)
{
    size_t best;
    scores_plan(n_items, &best);
    return (double_scores){scratch, doubles_at(scratch, best)};
}

void places_to_items(const candidates *from, const oltr_ranking *out)
{
    if (from->item)
        for (uint32_t slot = 0; slot < out->k; slot++)
            out->item[slot] = from->item[out->item[slot]];
}

void best_places(double_scores s, uint32_t n, const oltr_rng *rng, const oltr_ranking *out)
{
    for (size_t j = n; j < padded(n); j++)
        s.score[j] = -INFINITY;
    topk_f64(s.score, n, out->k, rng, s.best, out->item, out->score);
}

oltr_status show_best(double_scores s, const candidates *from, const oltr_rng *rng,
                      const oltr_ranking *out)
{
    best_places(s, from->n, rng, out);
    places_to_items(from, out);
    return OLTR_OK;
}

size_t oltr_scores_bytes(const oltr_settings *settings)
{
    return scores_bytes(settings);
}

double *oltr_scores(void *scratch)
{
    return scratch;
}

/* A scratch for all items has room for the candidates.  A NaN has no place in an order: selecting
 * would leave places that are no candidates. */
oltr_status oltr_show_best(void *scratch, const oltr_candidates *from, const oltr_rng *rng,
                           const oltr_ranking *out)
{
    double_scores s = scores_in(scratch, from->n);
    for (uint32_t j = 0; j < from->n; j++)
        if (isnan(s.score[j]))
            return OLTR_ESTATE;
    return show_best(s, from, rng, out);
}
