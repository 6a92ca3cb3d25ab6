/* items.h - what was seen of each item: how often it was examined, and the sum of its rewards.
 *
 * These two sums are the whole learned state of every policy without context.  Everything else
 * (posterior means, quantiles, bounds) is derived from them and from the prior, so two states merge
 * by addition and fade by multiplication.
 */
#ifndef OLTR_ENGINE_POSTERIOR_ITEMS_H
#define OLTR_ENGINE_POSTERIOR_ITEMS_H

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/layout.h"

typedef struct item_sums {
    uint32_t n_items;
    size_t examined; /* offset of (n_items) doubles: N */
    size_t reward;   /* offset of (n_items) doubles: S */
} item_sums;

static inline item_sums item_sums_plan(layout *l, uint32_t n_items)
{
    return (item_sums){n_items, layout_take(l, n_items, sizeof(double)),
                       layout_take(l, n_items, sizeof(double))};
}

/* How many priors there are: one for each item, or one for all of them. */
/* Writes the zeros of the sums: the system gives pages at the first write, and a lesson of a few
 * items among millions would wait for several. */
static inline void item_sums_touch(void *state, const item_sums *sums)
{
    memset(doubles_at(state, sums->examined), 0, sums->n_items * sizeof(double));
    memset(doubles_at(state, sums->reward), 0, sums->n_items * sizeof(double));
}

typedef struct item_priors {
    uint32_t n;
    uint32_t mask; /* item & mask is the place of its prior */
} item_priors;

static inline item_priors item_priors_of(uint32_t n_items, bool own)
{
    return own ? (item_priors){n_items, UINT32_MAX} : (item_priors){1, 0};
}

static inline size_t item_prior_at(const item_priors *priors, uint32_t item)
{
    return item & priors->mask;
}

/* False for an item that was never examined, or whose observations were forgotten. */
static inline bool item_is_seen(double examined)
{
    return examined > 1e-9;
}

static inline void item_sums_gain(void *state, const item_sums *sums, uint32_t item,
                                  double examined, double reward)
{
    doubles_at(state, sums->examined)[item] += examined;
    doubles_at(state, sums->reward)[item] += reward;
}

/* `weight` observations of the same reward. */
static inline void item_sums_add(void *state, const item_sums *sums, uint32_t item, double reward,
                                 double weight)
{
    item_sums_gain(state, sums, item, weight, weight * reward);
}

/* Whether another `weight` observations would be more than item_sums_check() allows. */
bool item_sums_overflow(const void *state, const item_sums *sums, uint64_t t, uint32_t item,
                        double weight);

/* OLTR_ESTATE unless every N is from 0 to MOST_OBSERVATIONS + t, t the number of the next round,
 * and no S is larger than N of the largest rewards; with clicks, 0 <= S <= N too.  A round adds 1
 * to N and to t, so learning keeps the bound. */
oltr_status item_sums_check_one(const void *state, const item_sums *sums, uint64_t t, bool clicks,
                                uint32_t item, oltr_error *error);
oltr_status item_sums_check(const void *state, const item_sums *sums, uint64_t t, bool clicks,
                            oltr_error *error);

#endif
