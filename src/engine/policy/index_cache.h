/* index_cache.h - the indices of all items as series of the clock (special/clock_series.h), kept
 * for one segment of it.
 *
 * Derived state of bayes-ucb and cascade-klucb.  The policy gives the slow variable and a function
 * that makes a series from the two numbers that decide an index; the cache keeps them as columns,
 * so that reading all indices is one pass of multiplications over the items.
 *
 * Under a common prior and from CLASSES_LEAST_ITEMS items on, items with equal numbers are a class
 * (race/classes.h), and there is one series for each class: a segment that begins costs as many
 * series as there are classes, and a short list from all items reads no more.  The columns of the
 * items are used only while there are too many classes.  Series are functions of the numbers and
 * the segment, so both give the same bits.
 */
#ifndef OLTR_ENGINE_POLICY_INDEX_CACHE_H
#define OLTR_ENGINE_POLICY_INDEX_CACHE_H

#include "engine/special/clock_series.h"
#include "engine/policy/item_policy.h"
#include "engine/race/class_rank.h"

typedef struct series_columns {
    uint32_t n;
    uint32_t n_exact; /* how many are exact */
    size_t center;    /* (n) doubles */
    size_t term;      /* (SERIES_TERMS, n) doubles */
    /* (n) words: 1 where no series converges.  Its first term is then a bound of the index over the
     * segment, the others are 0, and a reading computes the index unless the bound is below the
     * last of the list. */
    size_t exact;
} series_columns;

typedef struct index_cache {
    series_columns by_item, by_class;
    size_t classes; /* class_index; 0 without one */
    clock_segment segment;
} index_cache;

/* The policy's part: its slow variable, the two numbers that decide the index of an item, and the
 * index as a series and as a number.  `series` returns false where no series converges; then
 * `value` is used. */
typedef struct index_rule {
    double (*slow)(uint64_t t);
    class_key (*key)(const void *state, uint32_t item);
    bool (*series)(class_key key, const clock_segment *segment, clock_series *out);
    double (*value)(class_key key, uint64_t t);
} index_rule;

/* common: items with equal sums have equal indices. */
index_cache index_cache_plan(layout *l, uint32_t n_items, bool common);
void index_cache_init(void *state, index_cache *cache);
size_t index_cache_scratch_bytes(const oltr_settings *settings);

/* Makes the cache right for round t after the sums of the `n` items listed have changed (item NULL:
 * of all). */
void index_cache_update(void *state, index_cache *cache, const index_rule *rule, uint64_t t,
                        const uint32_t *item, uint32_t n);

/* Shows the candidates with the largest index in round t, which must be in the cached segment.
 * Always OLTR_OK. */
oltr_status index_cache_rank(const void *state, const index_cache *cache, const index_rule *rule,
                             uint64_t t, const candidates *from, const oltr_rng *rng, void *scratch,
                             const oltr_ranking *out);

/* Whether two caches say the same. */
bool index_cache_agrees(const void *state, const index_cache *cache, const void *anew,
                        const index_cache *other);

#endif
