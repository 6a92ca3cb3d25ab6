/* ops.h - the interface that every policy implements, oltr/policy_ops.h, by its short names.
 *
 * A policy is one file that ends in one const struct policy_ops, and one entry in registry.c.
 * rounds.c checks every argument before an operation is called and counts the rounds; snapshot.c
 * saves and loads, policy.c merges and forgets, for all policies alike, from the list of sums each
 * one gives.  So an operation can trust its input.
 */
#ifndef OLTR_ENGINE_POLICY_OPS_H
#define OLTR_ENGINE_POLICY_OPS_H

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <oltr/policy_ops.h>

#include "engine/base/error.h"
#include "engine/base/layout.h"
#include "engine/limits.h"
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

/* The item of candidate j. */
static inline uint32_t candidate(const candidates *c, uint32_t j)
{
    return c->item ? c->item[j] : j;
}

/* How many observations an examined slot counts for. */
static inline double weight_of_slot(const oltr_feedback *seen, uint32_t slot)
{
    return seen->weight ? seen->weight[slot] : 1;
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

/* The prefetched normals of a thread precede the scratch that `rank` gets. */
static inline normals_ahead *ahead_of(void *scratch)
{
    return (normals_ahead *)scratch - 1;
}

#endif
