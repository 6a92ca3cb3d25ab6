/* index_cache.c - see index_cache.h. */
#include "engine/policy/index_cache.h"

index_cache index_cache_plan(layout *l, uint32_t n_items)
{
    index_cache cache = {.n_items = n_items};
    cache.center = layout_take(l, n_items, sizeof(double));
    cache.term = layout_take(l, (size_t)n_items * SERIES_TERMS, sizeof(double));
    cache.exact = layout_take(l, n_items, sizeof(uint32_t));
    return cache;
}

static void renew(void *state, index_cache *cache, const index_rule *rule, uint32_t i)
{
    uint32_t *exact = &words_in(state, cache->exact)[i];
    double *term = doubles_at(state, cache->term);
    clock_series series;
    cache->n_exact -= *exact;
    *exact = !rule->series(state, i, &cache->segment, &series);
    cache->n_exact += *exact;
    if (*exact)
        series = (clock_series){.center = 0};
    doubles_at(state, cache->center)[i] = series.center;
    for (size_t k = 0; k < SERIES_TERMS; k++)
        term[k * cache->n_items + i] = series.c[k];
}

void index_cache_update(void *state, index_cache *cache, const index_rule *rule, uint64_t t,
                        const uint32_t *item, uint32_t n)
{
    bool inside = cache->segment.first <= t && t <= cache->segment.last;
    if (inside && item) {
        for (uint32_t j = 0; j < n; j++)
            renew(state, cache, rule, item[j]);
        return;
    }
    if (!inside)
        cache->segment = clock_segment_of(t, rule->slow);
    for (uint32_t i = 0; i < cache->n_items; i++)
        renew(state, cache, rule, i);
}

/* Horner's rule; inlined, so that a loop over all items runs down the columns in vectors. */
static inline double read_one(const double *center, const double *term, size_t n_items, double slow,
                              size_t i)
{
    double x = slow - center[i], value = term[(SERIES_TERMS - 1) * n_items + i];
    for (size_t k = SERIES_TERMS - 1; k-- > 0;)
        value = value * x + term[k * n_items + i];
    return value;
}

static void read_all(const double *center, const double *term, size_t n_items, double slow,
                     double *restrict out)
{
    for (size_t i = 0; i < n_items; i++)
        out[i] = read_one(center, term, n_items, slow, i);
}

void index_cache_read(const void *state, const index_cache *cache, const index_rule *rule,
                      uint64_t t, const candidates *from, double *out)
{
    const double *center = doubles_at(state, cache->center), *term = doubles_at(state, cache->term);
    double slow = rule->slow(t);
    if (!from->item && from->n == cache->n_items)
        read_all(center, term, cache->n_items, slow, out);
    else
        for (uint32_t j = 0; j < from->n; j++)
            out[j] = read_one(center, term, cache->n_items, slow, candidate(from, j));
    for (uint32_t j = 0; cache->n_exact && j < from->n; j++)
        if (words_in(state, cache->exact)[candidate(from, j)])
            out[j] = rule->value(state, candidate(from, j), t);
}
