/* index_cache.h - the indices of all items as series of the clock (special/clock_series.h), kept
 * for one segment of it.
 *
 * Derived state of bayes-ucb and cascade-klucb.  The policy gives the slow variable and a function
 * that makes one item's series; the cache keeps them as columns, so that reading all indices is one
 * pass of multiplications over the items.
 */
#ifndef OLTR_ENGINE_POLICY_INDEX_CACHE_H
#define OLTR_ENGINE_POLICY_INDEX_CACHE_H

#include "engine/special/clock_series.h"
#include "engine/policy/item_policy.h"

typedef struct index_cache {
    uint32_t n_items;
    size_t center;    /* (n_items) doubles */
    size_t term;      /* (SERIES_TERMS, n_items) doubles */
    size_t exact;     /* (n_items) words: 1 where no series converges and every reading computes */
    uint32_t n_exact; /* how many of those */
    clock_segment segment;
} index_cache;

/* The policy's part: its slow variable, and the index of an item as a series and as a number.
 * `series` returns false where no series converges; then `value` is used. */
typedef struct index_rule {
    double (*slow)(uint64_t t);
    bool (*series)(const void *state, uint32_t item, const clock_segment *segment,
                   clock_series *out);
    double (*value)(const void *state, uint32_t item, uint64_t t);
} index_rule;

index_cache index_cache_plan(layout *l, uint32_t n_items);

/* Makes the cache right for round t after the sums of the `n` items listed have changed (item NULL:
 * of all). */
void index_cache_update(void *state, index_cache *cache, const index_rule *rule, uint64_t t,
                        const uint32_t *item, uint32_t n);

/* The index of every candidate in round t, which must be in the cached segment. */
void index_cache_read(const void *state, const index_cache *cache, const index_rule *rule,
                      uint64_t t, const candidates *from, double *out);

#endif
