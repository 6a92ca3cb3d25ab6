/* rounds.h - the checks of a round, once for oltr_rank(), oltr_learn(), their plural forms, and
 * explain.c, which puts a refusal into words.
 */
#ifndef OLTR_ENGINE_POLICY_ROUNDS_H
#define OLTR_ENGINE_POLICY_ROUNDS_H

#include "engine/policy/block.h"
#include "engine/policy/slots.h"

/* One word for each item.  A check that has taken new stamps ignores words of at most `*last`. */
typedef struct item_marks {
    uint32_t *word; /* (n_items) */
    uint32_t *last; /* the largest stamp taken so far */
    uint32_t n_items;
} item_marks;

candidates candidates_of(const oltr_policy *policy, const oltr_query *query);

/* What oltr_rank() answers before the policy's own operation is called, and that call. */
oltr_status check_ranking(const oltr_policy *policy, const oltr_query *query,
                          const oltr_ranking *ranking, oltr_scratch *scratch, candidates *from);
oltr_status rank_checked(const oltr_policy *policy, const candidates *from, const oltr_rng *rng,
                         oltr_scratch *scratch, const oltr_ranking *ranking);

/* What oltr_learn() answers before the policy's own operation is called.  On OLTR_OK `from` is what
 * that operation gets. */
oltr_status check_learning(const oltr_policy *policy, const item_marks *marks,
                           const oltr_query *query, const oltr_ranking *shown,
                           const oltr_feedback *seen, candidates *from);

/* The candidate or the feature for which oltr_predict() answered `status`, which is returned. */
oltr_status explain_prediction(const oltr_policy *policy, const oltr_query *query,
                               oltr_status status, oltr_error *error);

/* 1 for what is no reward, from its bits without a branch; clicks are 0 and 1. */
static inline uint64_t bad_reward(double reward, bool clicks)
{
    static const double one = 1, largest = LARGEST_REWARD;
    uint64_t r, one_bits, largest_bits;
    memcpy(&r, &reward, sizeof r);
    memcpy(&one_bits, &one, sizeof one_bits);
    memcpy(&largest_bits, &largest, sizeof largest_bits);
    return clicks ? (r << 1 != 0) & (r != one_bits) : (largest_bits - (r & INT64_MAX)) >> 63;
}

static inline bool bad_weight(double weight)
{
    return !(weight > 0 && weight <= OLTR_MAX_WEIGHT);
}

/* Whether the room for later versions holds anything.  Read one word at a time, as the caller has
 * just written them: a wider read would stall for 20 cycles until they are in the cache. */
static inline bool is_extended(const void *const *reserved, uint32_t n)
{
    uintptr_t any = 0;
    for (uint32_t i = 0; i < n; i++) {
        any |= (uintptr_t)reserved[i];
        __asm__("" : "+r"(any));
    }
    return any != 0;
}

#endif
