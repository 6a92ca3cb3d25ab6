/* random.c - a list drawn uniformly from all lists: the baseline that any policy must beat.
 *
 * Every candidate has the same score, and ties are broken uniformly: slot after slot, one of the
 * candidates that are not in the list yet.  Those are numbered without looking at them
 * (race/class_rank.h): a short list takes as long from a million as from a hundred.
 */
#include "engine/policy/no_learning.h"

static size_t state_bytes(const oltr_settings *settings)
{
    (void)settings;
    return LAYOUT_ALIGN;
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)state, (void)settings, (void)error;
    return OLTR_OK;
}

static void refresh_nothing(void *state, uint64_t t)
{
    (void)state, (void)t;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    (void)state, (void)t;
    show_any(from, rng, scratch, 0, out);
    return OLTR_OK;
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
    .refresh = refresh_nothing,
    .state_bytes = state_bytes,
    .scratch_bytes = no_learning_scratch_bytes,
    .init = init,
    .rank = rank,
    .renew_item = renew_item,
};
