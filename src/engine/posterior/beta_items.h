/* beta_items.h - the Beta posterior of each item's attraction: Beta(a0 + S, b0 + N - S).
 *
 * The state of ts-beta, bayes-ucb and ts-hyper: the sums, and the shapes before any click.  Those
 * are kept for each item or, where no item has a prior of its own, once.  Where they are the
 * numbers that the settings of the policy hold, in the same block of memory, there is no second
 * copy.  The shapes of the posterior are computed where they are needed: a lesson of ten items out
 * of 10,000 takes as long as its reads and writes of memory.
 */
#ifndef OLTR_ENGINE_POSTERIOR_BETA_ITEMS_H
#define OLTR_ENGINE_POSTERIOR_BETA_ITEMS_H

#include "engine/posterior/items.h"

typedef struct beta_pair {
    double a, b; /* the two shapes of a Beta distribution */
} beta_pair;

typedef struct beta_items {
    item_sums sums;
    item_priors priors;
    size_t a0, b0; /* offsets of (priors.n) doubles: the prior's shapes */
} beta_items;

static inline beta_items beta_items_plan(layout *l, uint32_t n_items, bool own_priors)
{
    beta_items p = {.priors = item_priors_of(n_items, own_priors)};
    p.a0 = layout_take_close(l, p.priors.n, sizeof(double));
    p.b0 = layout_take_close(l, p.priors.n, sizeof(double));
    p.sums = item_sums_plan(l, n_items);
    return p;
}

/* Every item has a prior, and its shapes are the arrays a and b, at beta_items_share(). */
static inline beta_items beta_items_plan_shared(layout *l, uint32_t n_items)
{
    beta_items p = {.priors = item_priors_of(n_items, true)};
    p.sums = item_sums_plan(l, n_items);
    return p;
}

/* Behind the state, in the block that is copied with it. */
static inline void beta_items_share(const void *state, beta_items *p, const double *a,
                                    const double *b)
{
    p->a0 = (size_t)((const unsigned char *)a - (const unsigned char *)state);
    p->b0 = (size_t)((const unsigned char *)b - (const unsigned char *)state);
}

static inline beta_pair beta_prior(const void *state, const beta_items *p, uint32_t i)
{
    size_t at = item_prior_at(&p->priors, i);
    return (beta_pair){doubles_at(state, p->a0)[at], doubles_at(state, p->b0)[at]};
}

static inline beta_pair beta_posterior(const void *state, const beta_items *p, uint32_t i)
{
    double n = doubles_at(state, p->sums.examined)[i], s = doubles_at(state, p->sums.reward)[i];
    beta_pair prior = beta_prior(state, p, i);
    return (beta_pair){prior.a + s, prior.b + (n - s)};
}

#endif
