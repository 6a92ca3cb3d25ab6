/* beta_items.h - the Beta posterior of each item's attraction: Beta(a0 + S, b0 + N - S).
 *
 * The state of ts-beta and bayes-ucb: the sums, and the shapes before any click.
 */
#ifndef OLTR_ENGINE_POSTERIOR_BETA_ITEMS_H
#define OLTR_ENGINE_POSTERIOR_BETA_ITEMS_H

#include "engine/posterior/items.h"

typedef struct beta_items {
    item_sums sums;
    size_t a0, b0; /* offsets of (n_items) doubles: the prior's shapes */
    size_t a, b;   /* offsets of (n_items) doubles: the posterior's shapes, derived */
} beta_items;

static inline beta_items beta_items_plan(layout *l, uint32_t n_items)
{
    beta_items p = {.sums = item_sums_plan(l, n_items)};
    p.a0 = layout_take(l, n_items, sizeof(double));
    p.b0 = layout_take(l, n_items, sizeof(double));
    p.a = layout_take(l, n_items, sizeof(double));
    p.b = layout_take(l, n_items, sizeof(double));
    return p;
}

static inline void beta_items_refresh(void *state, const beta_items *p, uint32_t i)
{
    double n = doubles_at(state, p->sums.examined)[i], s = doubles_at(state, p->sums.reward)[i];
    doubles_at(state, p->a)[i] = doubles_at(state, p->a0)[i] + s;
    doubles_at(state, p->b)[i] = doubles_at(state, p->b0)[i] + (n - s);
}

#endif
