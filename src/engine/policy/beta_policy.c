/* beta_policy.c - see beta_policy.h. */
#include "engine/policy/beta_policy.h"

const oltr_param beta_params[BETA_PARAMS] = {BETA_PARAM_ROWS};

/* Where the shapes are shared with the settings, it writes what is there. */
static void set_prior(void *state, const oltr_settings *settings, uint32_t i)
{
    const beta_items *p = state;
    uint32_t take = choice(settings, BETA_PRIOR);
    double a = param(settings, BETA_A), b = param(settings, BETA_B), weight = a + b;
    if (take == PRIOR_MEAN)
        prior_shapes_of_mean(&settings->prior, i, weight, &a, &b);
    else if (take == PRIOR_FULL) {
        a = prior_a(&settings->prior, i);
        b = prior_b(&settings->prior, i);
    }
    doubles_at(state, p->a0)[item_prior_at(&p->priors, i)] = a;
    doubles_at(state, p->b0)[item_prior_at(&p->priors, i)] = b;
}

oltr_status beta_renew(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                       oltr_error *error)
{
    const beta_items *p = state;
    oltr_status status = require_item_prior(settings, takes_prior(settings), true, item, error);
    if (status == OLTR_OK)
        status = item_sums_check_one(state, &p->sums, t, true, item, error);
    if (status != OLTR_OK)
        return status;
    set_prior(state, settings, item);
    return OLTR_OK;
}

oltr_status beta_init(void *state, const oltr_settings *settings, oltr_error *error)
{
    beta_items *p = state;
    oltr_status status = require_prior(settings, takes_prior(settings), true, error);
    if (status == OLTR_OK && !p->a0)
        beta_items_share(state, p, settings->prior.a, settings->prior.b);
    for (uint32_t i = 0; status == OLTR_OK && i < p->priors.n; i++)
        set_prior(state, settings, i);
    return status;
}

oltr_status beta_predict(const void *state, uint64_t t, const candidates *from, double *mean,
                         double *sd)
{
    const beta_items *p = state;
    (void)t;
    for (uint32_t j = 0; j < from->n; j++) {
        beta_pair q = beta_posterior(state, p, candidate(from, j));
        mean[j] = q.a / (q.a + q.b);
        if (sd)
            sd[j] = beta_sd(q.a, q.b);
    }
    return OLTR_OK;
}

void rank_by_beta(const oltr_rng *rng, const beta_shapes *shapes, const candidates *from,
                  uint32_t *todo, float *score, float *best, const oltr_ranking *out)
{
    beta_scores(rng, shapes, from->item, from->n, todo, score);
    if (from->item)
        for (size_t j = from->n; j < padded(from->n); j++)
            score[j] = -INFINITY;
    topk_f32(score, from->n, out->k, rng, best, out->item, out->score);
    places_to_items(from, out);
    if (out->score)
        for (uint32_t slot = 0; slot < out->k; slot++)
            out->score[slot] = 1 / (1 + exp(-out->score[slot]));
}
