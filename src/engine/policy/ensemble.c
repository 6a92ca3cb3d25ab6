/* ensemble.c - Ensemble: the fixed list by the prior, never learning (Kveton, Meshi, Zoghi and Qin
 * 2022).
 *
 * Rule.  Rank by the prior mean a/(a+b), or by its mode (a-1)/(a+b-2) where both shapes exceed 1
 * (rule: map).  The released code ranks by a alone (rule: released), which is the same order only
 * where a + b is the same for all items.  Without a prior all items tie.
 */
#include "engine/policy/no_learning.h"
#include "engine/posterior/item_prior.h"

enum { P_PRIOR, P_RULE, N_PARAMS };
enum { MEAN, MAP, RELEASED };
static const char *const rules[] = {"mean", "map", "released", NULL};
static const oltr_param params[N_PARAMS] = {
    {"prior", OLTR_CHOICE, PRIOR_NONE, 0, 2, prior_choices,
     "whether there is a prior to rank by; mean and full are the same here, without one all items "
     "tie"},
    {"rule", OLTR_CHOICE, MEAN, 0, 2, rules,
     "rank by the prior's mean, by its mode, or by a as in the released code"},
};

typedef struct ensemble_state {
    uint32_t n_items;
    size_t score; /* (n_items) doubles */
    size_t bytes;
} ensemble_state;

static ensemble_state plan(uint32_t n_items)
{
    ensemble_state p = {.n_items = n_items};
    layout l = {align_up(sizeof p), 0};
    p.score = layout_take(&l, n_items, sizeof(double));
    p.bytes = layout_bytes(&l);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings->n_items).bytes;
}

static double score_of(const oltr_settings *settings, uint32_t i)
{
    if (choice(settings, P_PRIOR) == PRIOR_NONE)
        return 0.5;
    if (choice(settings, P_RULE) == MEAN)
        return prior_mean(&settings->prior, i);
    double a = prior_a(&settings->prior, i), b = prior_b(&settings->prior, i);
    if (choice(settings, P_RULE) == RELEASED)
        return a;
    return a > 1 && b > 1 ? (a - 1) / (a + b - 2) : a / (a + b);
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    ensemble_state *p = state;
    *p = plan(settings->n_items);
    oltr_status status = require_prior(settings, choice(settings, P_PRIOR) != PRIOR_NONE,
                                       choice(settings, P_RULE) != MEAN, error);
    for (uint32_t i = 0; status == OLTR_OK && i < settings->n_items; i++)
        doubles_at(p, p->score)[i] = score_of(settings, i);
    return status;
}

static oltr_status renew_item(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                              const double *before, oltr_error *error)
{
    ensemble_state *p = state;
    oltr_status status = require_item_prior(settings, choice(settings, P_PRIOR) != PRIOR_NONE,
                                            choice(settings, P_RULE) != MEAN, item, error);
    (void)t, (void)before;
    if (status == OLTR_OK)
        doubles_at(p, p->score)[item] = score_of(settings, item);
    return status;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const ensemble_state *p = state;
    double_scores s = scores_in(scratch, p->n_items);
    (void)t;
    for (uint32_t j = 0; j < from->n; j++)
        s.score[j] = doubles_at(p, p->score)[candidate(from, j)];
    return show_best(s, from, rng, out);
}

const policy_ops ensemble_ops = {
    .info = {.name = "ensemble",
             .title = "Ensemble (the prior's own ranking)",
             .source = "Kveton, Meshi, Zoghi, Qin: On the Value of Prior in Online Learning to "
                       "Rank, AISTATS 2022",
             .summary = "Shows the fixed list of the prior and never learns.",
             NO_LEARNING_INFO,
             .fixed_scores = 1,
             .uses_prior = 1,
             .n_params = N_PARAMS,
             .params = params},
    NO_LEARNING_OPS,
    .state_bytes = state_bytes,
    .init = init,
    .rank = rank,
    .renew_item = renew_item,
};
