/* ops.h - the small interface that every policy implements, oltr/policy_ops.h, by its short
 * names.
 *
 * A policy is one file that ends in one const struct policy_ops, and one entry in registry.c.
 * rounds.c checks every argument before an operation is called and counts the rounds; snapshot.c
 * saves and loads, policy.c merges and forgets, for all policies alike, from the list of sums each
 * one gives.  So an operation can trust its input.
 */
#ifndef OLTR_ENGINE_POLICY_OPS_H
#define OLTR_ENGINE_POLICY_OPS_H

#include <math.h>
#include <string.h>
#include <oltr/policy_ops.h>

#include "engine/base/error.h"
#include "engine/base/layout.h"
#include "engine/limits.h"
#include "engine/posterior/items.h"
#include "engine/posterior/item_prior.h"
#include "engine/rng/sample.h"

typedef oltr_candidates candidates;
typedef oltr_sum_array sum_array;
typedef oltr_policy_ops policy_ops;
enum { MAX_SUMS = OLTR_MAX_SUMS };

/* In learn: the row of a shown item's features. */
static inline uint32_t row_of_item(const candidates *c, uint32_t item)
{
    return oltr_row_of(c, item);
}

static inline uint32_t candidate(const candidates *c, uint32_t j)
{
    return c->item ? c->item[j] : j;
}

/* Branching on n_examined mispredicts in every other round, and the processor discards what it had
 * begun of the next one.  So all slots of a list of k <= STEADY_SLOTS are processed, with a mask. A
 * slot that was not examined reads the reward of one that was, and must change nothing. */
enum { STEADY_SLOTS = 8 };

static inline uint32_t steady_slots(uint32_t k, uint32_t n_examined)
{
    return n_examined && k <= STEADY_SLOTS ? k : n_examined;
}

/* 1 or 0, as the borrow of a subtraction: a comparison might become a jump.  Nor may a loop count
 * from the last examined slot on, which compilers like to do: then even the items would not be
 * known before the user has stopped. */
static inline uint32_t was_examined(const oltr_feedback *seen, uint32_t slot)
{
    __asm__("" : "+r"(slot));
    return (uint32_t)(((uint64_t)slot - seen->n_examined) >> 63);
}

/* How many observations the slot counts for. */
static inline double weight_of_slot(const oltr_feedback *seen, uint32_t slot)
{
    return seen->weight ? seen->weight[slot] : 1;
}

static inline double steady_reward(const oltr_feedback *seen, uint32_t slot)
{
    return seen->reward[slot & -was_examined(seen, slot)];
}

/* The prefetched normals of a thread precede the scratch that `rank` gets. */
static inline normals_ahead *ahead_of(void *scratch)
{
    return (normals_ahead *)scratch - 1;
}

/* registry.c: that of the catalogue, or of a policy from outside; NULL for an info that is
 * neither. */
const policy_ops *policy_ops_of(const oltr_policy_info *info);

/* settings.c: everything but the prior, in settings that may have been filled in by hand. */
oltr_status settings_check(const oltr_settings *settings, oltr_error *error);

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
