/* cascade_klucb.c - CascadeKL-UCB: Kveton, Szepesvari, Wen and Ashkan (ICML 2015).
 *
 * Rule.  Rank by the largest q with N_i kl(S_i/N_i, q) <= B(t), B(t) = log t + 3 log log t, kl the
 * divergence of two Bernoulli distributions; show the K largest.  Items never examined come first
 * (their bound is infinite).  While log log t is not positive, t < 3, the budget is 0.
 *
 * The released code has B(t) = log(t-1) + 3 log(log(t-1) + 1) (budget: released): it computes its
 * bounds at the end of a round, by that round's number.
 *
 * Cost.  As with Bayes-UCB, only the budget moves between observations, so each bound is kept as a
 * power series in it (index_cache.h): a round costs about two divergences for each examined item
 * and eight multiplications for each other one.  From 4096 items on, items with equal sums share a
 * series, and a short list from all items reads each series once.
 */
#include "engine/special/special.h"
#include "engine/policy/index_cache.h"

enum { P_BUDGET, N_PARAMS };
enum { PRINTED, RELEASED };
static const char *const budgets[] = {"printed", "released", NULL};
static const oltr_param params[N_PARAMS] = {
    {"budget", OLTR_CHOICE, PRINTED, 0, 1, budgets,
     "log t + 3 log log t, or the released code's log(t-1) + 3 log(log(t-1) + 1)"},
};

typedef struct klucb_state {
    item_sums sums; /* first: see item_policy.h */
    index_cache index;
    size_t bytes;
    uint32_t budget;
} klucb_state;

static klucb_state plan(const oltr_settings *settings)
{
    klucb_state p = {.budget = choice(settings, P_BUDGET)};
    layout l = {align_up(sizeof p), 0};
    p.sums = item_sums_plan(&l, settings->n_items);
    p.index = index_cache_plan(&l, settings->n_items, true);
    p.bytes = layout_bytes(&l);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static double printed_budget(uint64_t t)
{
    return t < 3 ? 0 : log((double)t) + 3 * log(log((double)t));
}

static double released_budget(uint64_t t)
{
    double log_t = t > 1 ? log((double)(t - 1)) : 0;
    return log_t + 3 * log1p(log_t);
}

/* Observations and clicks. */
static class_key key(const void *state, uint32_t i)
{
    const klucb_state *p = state;
    return (class_key){doubles_at(p, p->sums.examined)[i], doubles_at(p, p->sums.reward)[i]};
}

static bool series(class_key sums, const clock_segment *segment, clock_series *out)
{
    if (item_is_seen(sums.a))
        return kl_series(sums.a, sums.b / sums.a, segment, out);
    *out = (clock_series){.c = {INFINITY}};
    return true;
}

static double bound_at(class_key sums, double budget)
{
    return item_is_seen(sums.a) ? kl_upper(sums.b / sums.a, budget / sums.a) : INFINITY;
}

static double printed_value(class_key sums, uint64_t t)
{
    return bound_at(sums, printed_budget(t));
}

static double released_value(class_key sums, uint64_t t)
{
    return bound_at(sums, released_budget(t));
}

static const index_rule rules[] = {{printed_budget, key, series, printed_value},
                                   {released_budget, key, series, released_value}};

static void refresh(void *state, uint64_t t)
{
    klucb_state *p = state;
    index_cache_update(p, &p->index, &rules[p->budget], t, NULL, 0);
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    klucb_state *p = state;
    (void)error;
    *p = plan(settings);
    item_sums_touch(p, &p->sums);
    index_cache_init(p, &p->index);
    refresh(state, 1);
    return OLTR_OK;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const klucb_state *p = state;
    return index_cache_rank(p, &p->index, &rules[p->budget], t, from, rng, scratch, out);
}

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    klucb_state *p = state;
    (void)from;
    item_policy_add(state, shown, seen);
    index_cache_update(p, &p->index, &rules[p->budget], t, shown->item, seen->n_examined);
    return OLTR_OK;
}

static oltr_status renew_item(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                              const double *before, oltr_error *error)
{
    klucb_state *p = state;
    oltr_status status = item_sums_check_one(p, &p->sums, t, true, item, error);
    (void)settings, (void)before;
    if (status == OLTR_OK)
        index_cache_update(p, &p->index, &rules[p->budget], t, &item, 1);
    return status;
}

/* Sums byte by byte, then the cache. */
static int agrees(const void *state, const void *anew)
{
    const klucb_state *p = state, *q = anew;
    size_t cache = p->index.by_item.center - sizeof *p;
    return memcmp(p + 1, q + 1, cache) == 0 && index_cache_agrees(p, &p->index, q, &q->index);
}

const policy_ops cascade_klucb_ops = {
    .info = {.name = "cascade-klucb",
             .title = "CascadeKL-UCB",
             .source = "Kveton, Szepesvari, Wen, Ashkan: Cascading Bandits, ICML 2015",
             .summary = "Ranks by the Kullback-Leibler upper confidence bound of every item's "
                        "share of clicks.",
             .rewards = OLTR_CLICKS,
             ITEM_POLICY_INFO,
             .fixed_scores = 1,
             .n_params = N_PARAMS,
             .params = params},
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
    .predict = predict_clicks,
};
