/* bayes_ucb.c - Bayes-UCB with a Beta posterior (BayesUCB-Beta): Kveton, Meshi, Zoghi and Qin
 * (2022), after Kaufmann (2018).
 *
 * Belief.  The attraction of item i is Beta(a_i + S_i, b_i + N_i - S_i).
 *
 * Rule.  Rank by the quantile of level 1 - 1/t, t counted from 1, show the K largest.  In round 1
 * the level is 0 and all tie: any list.
 *
 * Cost.  A quantile of every item every round would take nearly all the time of a simulation.  But
 * between observations of an item only the level moves, so its quantile is kept as a power series
 * in log t (index_cache.h): a round costs one or two incomplete beta functions for each examined
 * item and eight multiplications for each other one.  From 4096 items on and under a common prior,
 * items with equal sums share a series, and a short list from all items reads each series once.
 * Shapes well below 1 have no series; their quantiles are computed when they can be in the list.
 */
#include "engine/special/special.h"
#include "engine/policy/beta_policy.h"
#include "engine/policy/index_cache.h"

typedef struct bayes_ucb_state {
    beta_items items; /* first: see beta_policy.h */
    index_cache index;
    size_t bytes;
} bayes_ucb_state;

static bayes_ucb_state plan(const oltr_settings *settings)
{
    bayes_ucb_state p;
    layout l = {sizeof p, 0};
    p.items = beta_plan(&l, settings);
    p.index = index_cache_plan(&l, settings->n_items, !takes_prior(settings));
    p.bytes = layout_bytes(&l);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static double slow(uint64_t t)
{
    return log((double)t);
}

/* The shapes of the posterior. */
static class_key key(const void *state, uint32_t i)
{
    const bayes_ucb_state *p = state;
    beta_pair q = beta_posterior(p, &p->items, i);
    return (class_key){q.a, q.b};
}

static bool series(class_key q, const clock_segment *segment, clock_series *out)
{
    return quantile_series(q.a, q.b, segment, out);
}

static double value(class_key q, uint64_t t)
{
    return beta_quantile_upper(q.a, q.b, 1 / (double)t);
}

static const index_rule rule = {slow, key, series, value};

static void refresh(void *state, uint64_t t)
{
    bayes_ucb_state *p = state;
    index_cache_update(p, &p->index, &rule, t, NULL, 0);
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    bayes_ucb_state *p = state;
    *p = plan(settings);
    oltr_status status = beta_init(state, settings, error);
    index_cache_init(state, &p->index);
    if (status == OLTR_OK)
        refresh(state, 1);
    return status;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const bayes_ucb_state *p = state;
    return index_cache_rank(p, &p->index, &rule, t, from, rng, scratch, out);
}

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    bayes_ucb_state *p = state;
    (void)from;
    item_policy_add(state, shown, seen);
    index_cache_update(p, &p->index, &rule, t, shown->item, seen->n_examined);
    return OLTR_OK;
}

static oltr_status renew_item(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                              const double *before, oltr_error *error)
{
    bayes_ucb_state *p = state;
    oltr_status status = beta_renew(state, t, settings, item, error);
    (void)before;
    if (status == OLTR_OK)
        index_cache_update(p, &p->index, &rule, t, &item, 1);
    return status;
}

/* Sums and priors byte by byte, then the cache. */
static int agrees(const void *state, const void *anew)
{
    const bayes_ucb_state *p = state, *q = anew;
    size_t cache = p->index.by_item.center - sizeof *p;
    return memcmp(p + 1, q + 1, cache) == 0 && index_cache_agrees(p, &p->index, q, &q->index);
}

const policy_ops bayes_ucb_ops = {
    .info = {.name = "bayes-ucb",
             .title = "Bayes-UCB with a Beta posterior (BayesUCB-Beta)",
             .source = "Kveton, Meshi, Zoghi, Qin: On the Value of Prior in Online Learning to "
                       "Rank, AISTATS 2022",
             .summary = "Ranks by the upper 1/t quantile of every item's Beta posterior.",
             .rewards = OLTR_CLICKS,
             ITEM_POLICY_INFO,
             .fixed_scores = 1,
             .uses_prior = 1,
             .n_params = BETA_PARAMS,
             .params = beta_params},
    ITEM_POLICY_OPS,
    .state_bytes = state_bytes,
    .scratch_bytes = index_cache_scratch_bytes,
    .init = init,
    .rank = rank,
    .learn = learn,
    .refresh = refresh,
    .renew_item = renew_item,
    .check = check_clicks,
    .agrees = agrees,
    .predict = beta_predict,
};
