/* index_cache.c - see index_cache.h. */
#include "engine/policy/index_cache.h"

enum { MOST_COMPARED = 64 }; /* slots of a list for which bounds are compared */

/* An index grows with the clock, but for the rounding of quantiles and bounds: at most 1.1e-11 for
 * shapes from 1e-3 on (docs/numerics.md).  Of 82,766 random quantiles without a series, shapes from
 * 1e-8 on, none was above its bound even without the margin. */
static const double BOUND_MARGIN = 1e-9;

static series_columns plan_columns(layout *l, uint32_t n)
{
    series_columns c = {.n = n};
    c.center = layout_take(l, n, sizeof(double));
    c.term = layout_take(l, (size_t)n * SERIES_TERMS, sizeof(double));
    c.exact = layout_take(l, n, sizeof(uint32_t));
    return c;
}

index_cache index_cache_plan(layout *l, uint32_t n_items, bool common)
{
    index_cache cache = {.by_item = plan_columns(l, n_items)};
    if (common && n_items >= CLASSES_LEAST_ITEMS) {
        cache.by_class = plan_columns(l, class_places(n_items));
        cache.classes = layout_take(l, class_index_bytes(n_items), 1);
    }
    return cache;
}

static class_index *classes_of(const void *state, const index_cache *cache)
{
    return (class_index *)(void *)((unsigned char *)state + cache->classes);
}

void index_cache_init(void *state, index_cache *cache)
{
    if (cache->classes)
        class_index_init(classes_of(state, cache), cache->by_item.n);
}

/* Whether the series of the classes are in use. */
static bool by_class(const void *state, const index_cache *cache)
{
    return cache->classes && !classes_of(state, cache)->overfull;
}

/* ---- updates */

static void renew(void *state, series_columns *columns, const index_rule *rule,
                  const clock_segment *segment, uint32_t i, class_key key)
{
    uint32_t *exact = &words_in(state, columns->exact)[i];
    double *term = doubles_at(state, columns->term);
    clock_series series;
    columns->n_exact -= *exact;
    *exact = !rule->series(key, segment, &series);
    columns->n_exact += *exact;
    if (*exact) /* a constant: what no round of the segment exceeds */
        series = (clock_series){.c = {rule->value(key, segment->last) * (1 + BOUND_MARGIN)}};
    doubles_at(state, columns->center)[i] = series.center;
    for (size_t k = 0; k < SERIES_TERMS; k++)
        term[k * columns->n + i] = series.c[k];
}

static void renew_item(void *state, index_cache *cache, const index_rule *rule, uint32_t i)
{
    renew(state, &cache->by_item, rule, &cache->segment, i, rule->key(state, i));
}

static void renew_all_items(void *state, index_cache *cache, const index_rule *rule)
{
    for (uint32_t i = 0; i < cache->by_item.n; i++)
        renew_item(state, cache, rule, i);
}

/* What the classes need to know of the policy. */
typedef struct cache_owner {
    void *state;
    index_cache *cache;
    const index_rule *rule;
} cache_owner;

static class_key key_of(const void *owner, uint32_t item)
{
    const cache_owner *o = owner;
    return o->rule->key(o->state, item);
}

static void derive_class(void *owner, uint32_t place, class_key key)
{
    const cache_owner *o = owner;
    renew(o->state, &o->cache->by_class, o->rule, &o->cache->segment, place, key);
}

static void renew_classes(const cache_owner *o)
{
    const class_index *x = classes_of(o->state, o->cache);
    for (uint32_t place = 0; place < x->n_places; place++)
        if (class_entries(x)[place].members)
            renew(o->state, &o->cache->by_class, o->rule, &o->cache->segment, place,
                  class_entries(x)[place].key);
}

/* fresh: the segment has just begun. */
static void update_classes(void *state, index_cache *cache, const index_rule *rule, bool fresh,
                           const uint32_t *item, uint32_t n)
{
    cache_owner own = {state, cache, rule};
    class_owner owner = {&own, key_of, derive_class};
    class_index *x = classes_of(state, cache);
    bool was_overfull = x->overfull;
    if (fresh && item && !was_overfull)
        renew_classes(&own);
    if (item)
        class_index_moved(x, &owner, item, n);
    else
        class_index_build(x, &owner);
    if (!x->overfull)
        return;
    if (fresh || !item || !was_overfull)
        renew_all_items(state, cache, rule);
    for (uint32_t j = 0; item && j < n; j++)
        renew_item(state, cache, rule, item[j]);
}

void index_cache_update(void *state, index_cache *cache, const index_rule *rule, uint64_t t,
                        const uint32_t *item, uint32_t n)
{
    bool inside = cache->segment.first <= t && t <= cache->segment.last;
    if (!inside)
        cache->segment = clock_segment_of(t, rule->slow);
    if (cache->classes)
        update_classes(state, cache, rule, !inside, item, n);
    else if (!inside || !item)
        renew_all_items(state, cache, rule);
    for (uint32_t j = 0; !cache->classes && inside && item && j < n; j++)
        renew_item(state, cache, rule, item[j]);
}

/* ---- reading */

/* Horner's rule; inlined, so that a loop over all items runs down the columns in vectors. */
static inline double read_one(const double *center, const double *term, size_t n, double slow,
                              size_t i)
{
    double x = slow - center[i], value = term[(SERIES_TERMS - 1) * n + i];
    for (size_t k = SERIES_TERMS - 1; k-- > 0;)
        value = value * x + term[k * n + i];
    return value;
}

/* The first m of n. */
static void read_first(const double *center, const double *term, size_t n, size_t m, double slow,
                       double *restrict out)
{
    for (size_t i = 0; i < m; i++)
        out[i] = read_one(center, term, n, slow, i);
}

/* The place of a candidate in the columns that are in use. */
static uint32_t place_of(const class_index *x, const candidates *from, uint32_t j)
{
    return x ? class_of_item(x, candidate(from, j)) : candidate(from, j);
}

/* The k-th largest index of the candidates that have a series, or -INFINITY where there are fewer
 * or k is large. */
static double kth_of_series(const class_index *x, const uint32_t *exact, const candidates *from,
                            uint32_t k, const double *index)
{
    double best[MOST_COMPARED]; /* in falling order */
    uint32_t n = 0;
    if (k > MOST_COMPARED)
        return -INFINITY;
    for (uint32_t j = 0; j < from->n; j++) {
        if (exact[place_of(x, from, j)] || (n == k && !(index[j] > best[k - 1])))
            continue;
        uint32_t i = n < k ? n++ : k - 1;
        for (; i > 0 && best[i - 1] < index[j]; i--)
            best[i] = best[i - 1];
        best[i] = index[j];
    }
    return n == k ? best[k - 1] : -INFINITY;
}

/* The index of every candidate that can be among the k best, and less than the k-th for others.
 * Where most items have no series (shapes near 0 in a prior), computing all of them would take most
 * of the time of a round. */
static void read_candidates(const void *state, const index_cache *cache, const index_rule *rule,
                            uint64_t t, const candidates *from, uint32_t k, double *out)
{
    const class_index *x = by_class(state, cache) ? classes_of(state, cache) : NULL;
    const series_columns *columns = x ? &cache->by_class : &cache->by_item;
    const double *center = doubles_at(state, columns->center),
                 *term = doubles_at(state, columns->term);
    double slow = rule->slow(t);
    if (!x && !from->item && from->n == columns->n)
        read_first(center, term, columns->n, columns->n, slow, out);
    else
        for (uint32_t j = 0; j < from->n; j++)
            out[j] = read_one(center, term, columns->n, slow, place_of(x, from, j));
    if (!columns->n_exact)
        return;
    const uint32_t *exact = words_in(state, columns->exact);
    double least = kth_of_series(x, exact, from, k, out);
    for (uint32_t j = 0; j < from->n; j++)
        if (exact[place_of(x, from, j)] && !(out[j] < least))
            out[j] = rule->value(rule->key(state, candidate(from, j)), t);
}

static void read_classes(const void *state, const index_cache *cache, const index_rule *rule,
                         uint64_t t, double *out)
{
    const class_index *x = classes_of(state, cache);
    const series_columns *columns = &cache->by_class;
    read_first(doubles_at(state, columns->center), doubles_at(state, columns->term), columns->n,
               x->n_places, rule->slow(t), out);
    for (uint32_t place = 0; columns->n_exact && place < x->n_places; place++)
        if (words_in(state, columns->exact)[place] && class_entries(x)[place].members)
            out[place] = rule->value(class_entries(x)[place].key, t);
}

/* With classes, their room is from the beginning on. */
size_t index_cache_scratch_bytes(const oltr_settings *settings)
{
    size_t scores = scores_bytes(settings), room = class_scratch_bytes(settings->n_items);
    return settings->n_items >= CLASSES_LEAST_ITEMS && room > scores ? room : scores;
}

oltr_status index_cache_rank(const void *state, const index_cache *cache, const index_rule *rule,
                             uint64_t t, const candidates *from, const oltr_rng *rng, void *scratch,
                             const oltr_ranking *out)
{
    double_scores s = scores_in(scratch, cache->by_item.n);
    if (cache->classes && !from->item && classes_serve(classes_of(state, cache), from->n, out->k)) {
        read_classes(state, cache, rule, t, scratch);
        if (class_rank(classes_of(state, cache), rng, from->n, out->k, scratch, out->item,
                       out->score)) {
            prefetch_sums(state, out);
            return OLTR_OK;
        }
    }
    read_candidates(state, cache, rule, t, from, out->k, s.score);
    return show_best(s, from, rng, out);
}

/* ---- comparison */

static bool same_series(const void *p, const series_columns *a, uint32_t i, const void *q,
                        const series_columns *b, uint32_t j)
{
    bool same =
        words_in(p, a->exact)[i] == words_in(q, b->exact)[j] &&
        memcmp(&doubles_at(p, a->center)[i], &doubles_at(q, b->center)[j], sizeof(double)) == 0;
    for (size_t k = 0; same && k < SERIES_TERMS; k++)
        same = memcmp(&doubles_at(p, a->term)[k * a->n + i], &doubles_at(q, b->term)[k * b->n + j],
                      sizeof(double)) == 0;
    return same;
}

/* An item's series, wherever it is kept. */
static bool same_item(const void *p, const index_cache *a, const void *q, const index_cache *b,
                      uint32_t item)
{
    bool class_a = by_class(p, a), class_b = by_class(q, b);
    return same_series(p, class_a ? &a->by_class : &a->by_item,
                       class_a ? class_of_item(classes_of(p, a), item) : item, q,
                       class_b ? &b->by_class : &b->by_item,
                       class_b ? class_of_item(classes_of(q, b), item) : item);
}

bool index_cache_agrees(const void *state, const index_cache *cache, const void *anew,
                        const index_cache *other)
{
    bool same =
        cache->segment.first == other->segment.first &&
        (!cache->classes || class_index_agrees(classes_of(state, cache), classes_of(anew, other)));
    for (uint32_t i = 0; same && i < cache->by_item.n; i++)
        same = same_item(state, cache, anew, other, i);
    return same;
}
