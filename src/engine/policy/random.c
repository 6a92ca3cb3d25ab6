/* random.c - a list drawn uniformly from all lists: the baseline that any policy must beat. */
#include "engine/policy/no_learning.h"

typedef struct random_state {
    uint32_t n_items;
} random_state;

static size_t state_bytes(const oltr_settings *settings)
{
    (void)settings;
    return align_up(sizeof(random_state));
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    ((random_state *)state)->n_items = settings->n_items;
    return OLTR_OK;
}

/* Every candidate has the same score, and ties are broken uniformly. */
static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    double_scores s = scores_in(scratch, ((const random_state *)state)->n_items);
    (void)t;
    for (uint32_t j = 0; j < from->n; j++)
        s.score[j] = 0;
    return show_best(s, from, rng, out);
}

static oltr_status renew_item(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                              const double *before, oltr_error *error)
{
    (void)state, (void)t, (void)settings, (void)item, (void)before, (void)error;
    return OLTR_OK;
}

const policy_ops random_ops = {
    .info = {.name = "random",
             .title = "Random",
             .source = "the baseline of baselines",
             .summary = "Shows a list drawn uniformly at random and never learns.",
             NO_LEARNING_INFO,
             .fixed_scores = 1},
    NO_LEARNING_OPS,
    .state_bytes = state_bytes,
    .init = init,
    .rank = rank,
    .renew_item = renew_item,
};
