/* fixed_chances.c - see fixed_chances.h.
 *
 * Items of equal score form a level.  The k best are the levels above the one of the k-th item, and
 * s items drawn from that one.  So the number f of fresh items among them is known but for how many
 * of the s are fresh, which is a hypergeometric number.  The list has clamp(f, least, most) fresh
 * items (chances.h): level by level from the top, and the fresh items of a level have equal
 * chances. The same for the others.
 *
 * Cost.  O(n log n + n k).
 */
#include "engine/model/fixed_chances.h"

#include "engine/base/layout.h"
#include "engine/base/memory.h"

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool is_better(const void *with, uint32_t i, uint32_t j)
{
    const double *score = with;
    return score[i] > score[j];
}

/* The items of one level: order[from..to-1], so many of them fresh. */
typedef struct level {
    uint32_t from, to, fresh;
} level;

typedef struct fixed_list {
    const oltr_memory *memory;
    size_t bytes;
    const double *score;
    const uint8_t *fresh; /* or NULL */
    uint32_t n, k;
    uint32_t *order;   /* (n) best first */
    double *chance;    /* (k + 1) of each number of fresh items in the list */
    fresh_range range; /* numbers outside have no chance */
} fixed_list;

static fixed_list *fixed_list_new(const score_laws *laws, const uint8_t *fresh, uint32_t k,
                                  const oltr_memory *memory)
{
    layout l = {align_up(sizeof(fixed_list)), false};
    size_t order = layout_take(&l, laws->n, sizeof(uint32_t));
    size_t chance = layout_take(&l, (size_t)k + 1, sizeof(double)), bytes = layout_bytes(&l);
    fixed_list *list = bytes ? memory_take(memory, bytes) : NULL;
    if (!list)
        return NULL;
    *list = (fixed_list){memory, bytes, laws->first, fresh, laws->n, k};
    list->order = words_in(list, order);
    list->chance = doubles_at(list, chance);
    for (uint32_t i = 0; i < laws->n; i++)
        list->order[i] = i;
    sort_indices(list->order, laws->n, is_better, laws->first);
    return list;
}

static void fixed_list_free(fixed_list *list)
{
    memory_give(list->memory, list, list->bytes);
}

static bool is_fresh(const fixed_list *list, uint32_t at)
{
    return list->fresh && list->fresh[list->order[at]];
}

static level level_from(const fixed_list *list, uint32_t from)
{
    level l = {from, from, 0};
    double score = list->score[list->order[from]];
    for (; l.to < list->n && list->score[list->order[l.to]] == score; l.to++)
        l.fresh += is_fresh(list, l.to);
    return l;
}

/* p[h], h = 0..slots: the chance that h of `slots` items drawn from a level are fresh.  Neighbours
 * have the ratio
 *     p[h+1] / p[h] = (fresh - h) (slots - h) / ((h + 1) (others - slots + h + 1)),
 * from the most likely one outwards. */
static void hypergeometric(const level *l, uint32_t slots, double *p)
{
    double fresh = l->fresh, others = (double)(l->to - l->from) - fresh, sum = 0;
    uint32_t lo = slots > others ? slots - (uint32_t)others : 0, hi = least_of(slots, l->fresh);
    uint32_t middle = (uint32_t)((slots + 1.0) * (fresh + 1) / (fresh + others + 2));
    middle = middle < lo ? lo : least_of(middle, hi);
    p[middle] = 1;
    for (uint32_t h = middle; h < hi; h++)
        p[h + 1] = p[h] * ((fresh - h) * (slots - h) / ((h + 1.0) * (others - slots + h + 1)));
    for (uint32_t h = middle; h > lo; h--)
        p[h - 1] = p[h] * (h * (others - slots + h) / ((fresh - h + 1) * (slots - h + 1.0)));
    for (uint32_t h = lo; h <= hi; h++)
        sum += p[h];
    for (uint32_t h = lo; h <= hi; h++)
        p[h] /= sum;
}

/* The law of the number of fresh items in the list. */
static void find_fresh(fixed_list *list)
{
    uint32_t fresh_above = 0, from = 0;
    level last = level_from(list, 0);
    for (; last.to < list->k; last = level_from(list, from)) {
        fresh_above += last.fresh;
        from = last.to;
    }
    hypergeometric(&last, list->k - from, list->chance + fresh_above);
    for (uint32_t f = 0; f <= list->k; f++) {
        uint32_t in = f < list->range.least ? list->range.least : least_of(f, list->range.most);
        if (in != f) {
            list->chance[in] += list->chance[f];
            list->chance[f] = 0;
        }
    }
}

/* The chance of each of n tied items of a group to be in the list, below `above` of their group. */
static double share(const fixed_list *list, bool fresh, uint32_t above, uint32_t n)
{
    double items = 0;
    for (uint32_t f = list->range.least; f <= list->range.most; f++) {
        uint32_t room = fresh ? f : list->k - f;
        items += list->chance[f] * (room > above ? least_of(room - above, n) : 0);
    }
    return items < n ? items / n : 1;
}

static void find_in_list(fixed_list *list, double *in_list)
{
    uint32_t above[2] = {0, 0}; /* others, fresh */
    find_fresh(list);
    for (uint32_t from = 0; from < list->n;) {
        level l = level_from(list, from);
        uint32_t size[2] = {l.to - l.from - l.fresh, l.fresh};
        double chance[2] = {0, 0};
        for (int g = 0; g < 2; g++)
            if (size[g] > 0)
                chance[g] = share(list, g == 1, above[g], size[g]);
        for (uint32_t i = l.from; i < l.to; i++)
            in_list[list->order[i]] = chance[is_fresh(list, i)];
        above[0] += size[0];
        above[1] += size[1];
        from = l.to;
    }
}

/* The best level of the items that can be first: see chances.c. */
static void find_first(const fixed_list *list, double *first)
{
    bool may[2] = {list->range.least < list->k};
    may[1] = list->range.most > 0;
    for (uint32_t from = 0; from < list->n;) {
        level l = level_from(list, from);
        uint32_t tied = (may[0] ? l.to - l.from - l.fresh : 0) + (may[1] ? l.fresh : 0);
        for (uint32_t i = l.from; tied > 0 && i < l.to; i++)
            if (may[is_fresh(list, i)])
                first[list->order[i]] = 1.0 / tied;
        if (tied > 0)
            return;
        from = l.to;
    }
}

oltr_status fixed_list_chances(const score_laws *laws, const list_rule *rule,
                               const oltr_memory *memory, double *in_list, double *first)
{
    fixed_list *list = fixed_list_new(laws, rule->fresh, rule->k, memory);
    if (!list)
        return OLTR_ENOMEM;
    uint32_t n_fresh = 0;
    for (uint32_t i = 0; i < laws->n; i++)
        n_fresh += is_fresh(list, i);
    list->range =
        fresh_range_of(rule->k, n_fresh, laws->n - n_fresh, rule->least_fresh, rule->most_fresh);
    if (in_list)
        find_in_list(list, in_list);
    if (first)
        find_first(list, first);
    fixed_list_free(list);
    return OLTR_OK;
}

/* Slot j shows an item of the best level that is left, and each of them with the same chance. */
oltr_status fixed_prefix_chances(const score_laws *laws, const uint32_t *shown, uint32_t k,
                                 const oltr_memory *memory, double *chance)
{
    fixed_list *list = fixed_list_new(laws, NULL, k, memory);
    if (!list)
        return OLTR_ENOMEM;
    double product = 1;
    for (uint32_t j = 0; j < k; j++) {
        double best = laws->first[list->order[j]];
        if (laws->first[shown[j]] != best)
            break;
        chance[j] = product /= level_from(list, j).to - j;
    }
    fixed_list_free(list);
    return OLTR_OK;
}

oltr_status fixed_next_chances(const score_laws *laws, const uint32_t *shown, uint32_t k,
                               const oltr_memory *memory, double *next)
{
    fixed_list *list = fixed_list_new(laws, NULL, k, memory);
    if (!list)
        return OLTR_ENOMEM;
    double product = 1;
    for (uint32_t j = 0; j < k; j++) {
        uint32_t to = level_from(list, j).to, from = j;
        while (from > 0 && laws->first[list->order[from - 1]] == laws->first[list->order[j]])
            from--; /* the whole level, of which slots above have taken some */
        double share = product / (to - j);
        for (uint32_t i = from; i < to; i++)
            next[(size_t)j * laws->n + list->order[i]] = share;
        for (uint32_t above = 0; above < j; above++)
            next[(size_t)j * laws->n + shown[above]] = 0;
        if (laws->first[shown[j]] != laws->first[list->order[j]])
            break;
        product = share;
    }
    fixed_list_free(list);
    return OLTR_OK;
}
