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

/* The candidates of a request, checked: distinct, in range.  item is NULL when they are the items 0..n-1.  Policies with context find a row of
 * settings.dim features for each. */
typedef struct candidates {
    uint32_t n;
    const uint32_t *item; /* (n) or NULL */
    const float *x;       /* (n, stride) or NULL */
    size_t stride;
} candidates;

/* The row of an item's features; n when it is no candidate. */
static inline uint32_t row_of_item(const candidates *c, uint32_t item)
{
    uint32_t row = 0;
    if (!c->item)
        return item < c->n ? item : c->n;
    while (row < c->n && c->item[row] != item)
        row++;
    return row;
}

static inline uint32_t candidate(const candidates *c, uint32_t j)
{
    return c->item ? c->item[j] : j;
}

#define LARGEST_FEATURE 1e6f /* beside a ridge of 1e-4, squares of larger ones leave a factor fewer than nine digits */

/* One array of learned sums. */
typedef struct sum_array {
    const char *name;
    double *value; /* (n), or NULL */
    size_t n;
    float *single; /* (n) in its place: feature rows, which do not add up */
} sum_array;
enum { MAX_SUMS = 8 };

typedef struct policy_ops {
    oltr_policy_info info;

    /* REQUIRED.  `t` is the number of the next round to be ranked, from 1.  State and scratch are aligned to 64 bytes, the
     * state is zeroed before init.  state_bytes and scratch_bytes are 0 when the size does not fit. */
    size_t (*state_bytes)(const oltr_settings *settings);
    size_t (*scratch_bytes)(const oltr_settings *settings);
    oltr_status (*init)(void *state, const oltr_settings *settings, oltr_error *error);
    oltr_status (*rank)(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng, void *scratch,
                        const oltr_ranking *out); /* OLTR_EFEATURE when a feature is not finite, else OLTR_OK */
    void (*learn)(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                  const oltr_feedback *seen);
    uint32_t (*sums)(const void *state, sum_array out[MAX_SUMS]); /* how many arrays; what was learned, nothing else */
    void (*refresh)(void *state, uint64_t t);                     /* rebuilds all that is derived from the sums */
    oltr_status (*check)(const void *state, oltr_error *error);   /* are the sums possible? */

    /* OPTIONAL.  predict: NULL where info says it cannot; sd may be NULL; OLTR_ENOMEM where it needs room of its own.
     * merge, forget: NULL means that all sums add up, and fade, number by number.
     * check_derived: NULL means that refresh() gives the very bytes that learn() leaves. */
    size_t (*saved)(
        const oltr_settings *settings); /* at least so many numbers are in a snapshot's sums; NULL: maybe none */
    oltr_status (*predict)(const void *state, uint64_t t, const candidates *from, double *mean, double *sd);
    void (*merge)(void *state, const void *from);
    void (*forget)(void *state, double keep);
    int (*refuses)(const void *state, const float *x); /* a policy with context: is this row against its settings? */
    oltr_status (*check_derived)(const void *state, oltr_error *error);
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
