/* policy.h - the small interface behind which every policy lives.
 *
 * A policy is one file that ends in one const struct policy_ops, and one line in registry.c.  policy.c checks every argument before
 * an operation is called, counts the rounds, and does snapshots, merging and forgetting for all policies alike, from the
 * list of sums each one gives.  So an operation can trust its input and needs no status of its own.
 */
#ifndef OLTR_POLICY_POLICY_H
#define OLTR_POLICY_POLICY_H

#include <math.h>

#include "base/error.h"
#include "base/layout.h"
#include "posterior/items.h"
#include "posterior/prior.h"

/* The candidates of a request, checked: distinct, in range.  item is NULL when they are the items 0..n-1. */
typedef struct candidates {
    uint32_t n;
    const uint32_t *item; /* (n) or NULL */
} candidates;

static inline uint32_t candidate(const candidates *c, uint32_t j)
{
    return c->item ? c->item[j] : j;
}

/* One array of learned sums. */
typedef struct sum_array {
    const char *name;
    double *value;
    size_t n;
} sum_array;
enum { MAX_SUMS = 4 };

typedef struct policy_ops {
    oltr_policy_info info;

    /* REQUIRED.  `t` is the number of the next round to be ranked, from 1.  State and scratch are aligned to 64 bytes, the
     * state is zeroed before init.  state_bytes and scratch_bytes are 0 when the size does not fit. */
    size_t (*state_bytes)(const oltr_settings *settings);
    size_t (*scratch_bytes)(const oltr_settings *settings);
    oltr_status (*init)(void *state, const oltr_settings *settings, oltr_error *error);
    void (*rank)(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng, void *scratch,
                 const oltr_ranking *out);
    void (*learn)(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                  const oltr_feedback *seen);
    uint32_t (*sums)(const void *state, sum_array out[MAX_SUMS]); /* how many; [0..] what was learned, nothing else */
    void (*refresh)(void *state, uint64_t t);                    /* rebuilds all that is derived from the sums */
    oltr_status (*check)(const void *state, oltr_error *error); /* are the sums possible? */

    /* OPTIONAL: NULL where info says it cannot */
    size_t (*saved)(const oltr_settings *settings); /* at least so many numbers are in a snapshot's sums; NULL: maybe none */
    void (*predict)(const void *state, uint64_t t, const candidates *from, double *mean, double *sd); /* sd may be NULL */
} policy_ops;

/* registry.c */
const policy_ops *policy_ops_of(const oltr_policy_info *info);

/* Within bounds, and whole where it must be? */
static inline int param_fits(const oltr_param *p, double value)
{
    int whole = value >= rint(value) && value <= rint(value);
    return value >= p->min && value <= p->max && (p->type == OLTR_REAL || whole);
}

/* The value of parameter `index`, as the policy's own enum numbers them. */
static inline double param(const oltr_settings *settings, uint32_t index)
{
    return settings->value[index];
}

static inline uint32_t choice(const oltr_settings *settings, uint32_t index)
{
    return (uint32_t)settings->value[index];
}

#endif
