/* chances.c - the chance of each candidate to be in a list, and to be its first.
 *
 * Definition.  Let f be the number of fresh items among the k best.  The list has the
 * clamp(f, lo, hi) best fresh items and for the rest the best others.  A fresh item with a fresh
 * items and b others above it is in the list iff
 *     a < lo,  or  a < hi and a + b < k;
 * and another item iff b < k - hi, or b < k - lo and a + b < k: the same with the roles exchanged.
 * Without a rule all items are one group, of which the list has exactly k: lo = hi = k.
 * The first of the list is the best of all, as that is in the list, with two exceptions: with hi =
 * 0 it is the best of the others, and with lo = k the best fresh item.
 *
 * Integral.  Given the score of an item, a and b are independent sums of independent indicators.
 * So its chance is the integral of its density times
 *     E w(a),   w(a) = 1 for a < lo,  P(b < k - a) for lo <= a < hi,  0 beyond.
 * The expectation leaves the item itself out.  Let p_i be the law of the number above among the
 * first i items of the group, and w_i(c) = E w(c + number above among the items behind i).  Both
 * follow from item to item by one multiplication and one addition of positive numbers, and
 *     E w(a) = sum over c of p_i(c) w_i(c)
 * loses no digits.  The w_i come in the opposite order of the p_i; they are kept for every
 * sqrt(n)-th item and computed again from there.
 *
 * Left out: items and panels where E w(a) is below 1e-17, by counting the items that are above with
 * certainty and by Chernoff's bound.
 *
 * Cost.  O(panels x n x k) time, O(n + sqrt(n) k) memory.  k = 10: 2 to 7 ms for n = 120, 20 to 60
 * ms for n = 1,000.
 */
#include "engine/model/chances.h"

#include <math.h>
#include <string.h>

#include "engine/base/layout.h"
#include "engine/base/memory.h"
#include "engine/model/fixed_chances.h"

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t largest_of(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

fresh_range fresh_range_of(uint32_t k, uint32_t n_fresh, uint32_t n_others, uint32_t least_fresh,
                           uint32_t most_fresh)
{
    uint32_t needed = k > n_others ? k - n_others : 0, room = least_of(k, n_fresh);
    uint32_t most = largest_of(least_of(most_fresh, room), needed);
    return (fresh_range){largest_of(least_of(least_fresh, most), needed), most};
}

/* ---- the rule */

/* Group 0 are the items that are not fresh, group 1 the fresh ones.  Without an effective rule all
 * are in group 0. */
typedef struct groups {
    uint32_t k, size[2];
    uint32_t lo[2], hi[2]; /* at least and at most so many of each group in the list */
    bool can_lead[2];      /* the first of the list may be of this group */
} groups;

static groups groups_of(const list_rule *rule, uint32_t n)
{
    uint32_t n_fresh = 0, k = rule->k;
    for (uint32_t i = 0; rule->fresh && i < n; i++)
        n_fresh += rule->fresh[i] != 0;
    uint32_t others = n - n_fresh;
    fresh_range range = fresh_range_of(k, n_fresh, others, rule->least_fresh, rule->most_fresh);
    fresh_range any = fresh_range_of(k, n_fresh, others, 0, k);
    if (range.least == any.least && range.most == any.most)
        return (groups){k, {n, 0}, {k, 0}, {k, 0}, {true, false}};
    bool others_lead = range.least < k;
    bool fresh_lead = range.most > 0;
    return (groups){k,
                    {others, n_fresh},
                    {k - range.most, range.least},
                    {k - range.least, range.most},
                    {others_lead, fresh_lead}};
}

static bool has_rule(const groups *g)
{
    return g->size[1] > 0;
}

/* ---- where chances are negligible */

/* Whether no item of a group can be in the list with so many of each group above it. */
static bool is_full(const groups *g, int own, const uint32_t above[2])
{
    return above[own] >= g->hi[own] || (above[own] >= g->lo[own] && above[0] + above[1] >= g->k);
}

/* Whether a sum of independent indicators with this mean, without any one of them, is below `bound`
 * with a chance below 1e-18: at most exp(-(mean - bound)^2 / (2 mean)) by Chernoff. */
static bool is_rarely_below(double mean, uint32_t bound)
{
    double gap = mean - bound;
    return bound == 0 || (gap > 0 && gap * gap > 83 * mean);
}

static bool is_hopeless(const groups *g, int own, const score_walk *walk)
{
    const double *mean = walk->expected;
    return g->size[own] == 0 || is_full(g, own, walk->above) ||
           is_rarely_below(mean[own], g->hi[own]) ||
           (is_rarely_below(mean[own], g->lo[own]) && is_rarely_below(mean[0] + mean[1], g->k));
}

/* Items whose score is below the start of enough others are not walked over. */
static void leave_out_hopeless(const groups *g, score_walk *walk)
{
    uint32_t above[2] = {0, 0};
    for (uint32_t i = walk->n_order; i-- > 0;) {
        const walk_item *item = &walk->item[walk->order[i]];
        above[item->group]++;
        if (is_full(g, 0, above) && (!has_rule(g) || is_full(g, 1, above))) {
            walk_leave_out(walk, item->start);
            return;
        }
    }
}

/* ---- counts above */

/* The working memory; `most` is the largest number that is counted to. */
typedef struct counts {
    const oltr_memory *memory;
    size_t bytes;
    uint32_t segment;   /* items between two kept w */
    walk_nodes *law;    /* (most) p of the head of this file */
    walk_nodes *worth;  /* (most) w */
    walk_nodes *others; /* (most) P(b <= c) */
    walk_nodes *kept;   /* (segments, most) w behind the last item of each segment */
    walk_nodes *again;  /* (segment, most) w behind each item of one segment */
} counts;

/* At least the root of n, so that the segments are not more than their items; short lists are one
 * segment, in which nothing is computed twice. */
static uint32_t segment_of(uint32_t n)
{
    uint32_t segment = least_of(n, 64);
    while ((uint64_t)segment * segment < n)
        segment++;
    return segment;
}

static counts *counts_new(uint32_t n, uint32_t most, const oltr_memory *memory)
{
    uint32_t segment = segment_of(n), segments = (n + segment - 1) / segment;
    layout l = {align_up(sizeof(counts)), false};
    size_t law = layout_take(&l, most, sizeof(walk_nodes)),
           worth = layout_take(&l, most, sizeof(walk_nodes));
    size_t others = layout_take(&l, most, sizeof(walk_nodes));
    size_t kept = layout_take(&l, most, segments * sizeof(walk_nodes));
    size_t again = layout_take(&l, most, segment * sizeof(walk_nodes)), bytes = layout_bytes(&l);
    counts *work = bytes ? memory_take(memory, bytes) : NULL;
    if (!work)
        return NULL;
    unsigned char *base = (unsigned char *)work;
    *work = (counts){.memory = memory,
                     .bytes = bytes,
                     .segment = segment,
                     .law = (walk_nodes *)(void *)(base + law),
                     .worth = (walk_nodes *)(void *)(base + worth),
                     .others = (walk_nodes *)(void *)(base + others),
                     .kept = (walk_nodes *)(void *)(base + kept),
                     .again = (walk_nodes *)(void *)(base + again)};
    return work;
}

static void counts_free(counts *work)
{
    if (work)
        memory_give(work->memory, work, work->bytes);
}

/* w before an item from w behind it. */
static void step_back(const walk_nodes *restrict below, const walk_nodes *restrict from,
                      walk_nodes *restrict to, uint32_t most)
{
    for (uint32_t c = 0; c + 1 < most; c++)
        for (int i = 0; i < WALK_NODES; i++)
            to[c].at[i] = below->at[i] * from[c].at[i] + (1 - below->at[i]) * from[c + 1].at[i];
    for (int i = 0; i < WALK_NODES; i++)
        to[most - 1].at[i] = below->at[i] * from[most - 1].at[i];
}

/* The law of the number above, with one item more. */
static void step_forward(const walk_nodes *restrict below, walk_nodes *restrict law, uint32_t most)
{
    for (uint32_t c = most - 1; c > 0; c--)
        for (int i = 0; i < WALK_NODES; i++)
            law[c].at[i] = below->at[i] * law[c].at[i] + (1 - below->at[i]) * law[c - 1].at[i];
    for (int i = 0; i < WALK_NODES; i++)
        law[0].at[i] *= below->at[i];
}

static void law_of_none(walk_nodes *law, uint32_t most)
{
    memset(law, 0, most * sizeof *law);
    for (int i = 0; i < WALK_NODES; i++)
        law[0].at[i] = 1;
}

/* The integral over the panel of the density times sum law(c) w(c). */
static double integrate(const walk_nodes *restrict mass, const walk_nodes *restrict law,
                        const walk_nodes *restrict w, uint32_t most)
{
    walk_nodes sum = {{0}};
    for (uint32_t c = 0; c < most; c++)
        for (int i = 0; i < WALK_NODES; i++)
            sum.at[i] += law[c].at[i] * w[c].at[i];
    double all = 0;
    for (int i = 0; i < WALK_NODES; i++)
        all += sum.at[i] * mass->at[i];
    return all;
}

typedef struct row_range {
    uint32_t from, to;
} row_range;

/* w behind each item of one segment of the rows, from w behind the last. */
static row_range fill_segment(const score_walk *walk, counts *work, row_range rows, uint32_t which,
                              uint32_t most)
{
    uint32_t from = rows.from + which * work->segment, to = least_of(from + work->segment, rows.to);
    memcpy(work->again + (size_t)(to - from - 1) * most, work->kept + (size_t)which * most,
           most * sizeof(walk_nodes));
    for (uint32_t i = to - 1; i > from; i--) {
        walk_nodes *behind = work->again + (size_t)(i - from) * most;
        step_back(&walk->below[i], behind, behind - most, most);
    }
    return (row_range){from, to};
}

/* Adds E w(number above among the other rows), integrated over the panel, to the chance of each
 * row's item.  w is work->worth, for counts below `most`; it is 0 for larger ones. */
static void add_chances(const score_walk *walk, counts *work, row_range rows, uint32_t most,
                        double *chance)
{
    if (rows.from == rows.to)
        return;
    uint32_t segments = (rows.to - rows.from + work->segment - 1) / work->segment;
    memcpy(work->kept + (size_t)(segments - 1) * most, work->worth, most * sizeof(walk_nodes));
    for (uint32_t s = segments - 1; s > 0; s--) {
        row_range part = fill_segment(walk, work, rows, s, most);
        step_back(&walk->below[part.from], work->again, work->kept + (size_t)(s - 1) * most, most);
    }
    law_of_none(work->law, most);
    for (uint32_t s = 0; s < segments; s++) {
        row_range part = fill_segment(walk, work, rows, s, most);
        for (uint32_t i = part.from; i < part.to; i++) {
            const walk_nodes *w = work->again + (size_t)(i - part.from) * most;
            chance[walk->row_item[i]] += integrate(&walk->mass[i], work->law, w, most);
            step_forward(&walk->below[i], work->law, most);
        }
    }
}

/* ---- one panel */

static row_range rows_of(const score_walk *walk, bool first_group, bool second_group)
{
    uint32_t middle = walk->n_rows[0], end = middle + walk->n_rows[1];
    return (row_range){first_group ? 0 : middle, second_group ? end : middle};
}

/* P(at most c of the rows are above), c below `most`. */
static void find_others(const score_walk *walk, counts *work, row_range rows, uint32_t most)
{
    law_of_none(work->others, most);
    for (uint32_t i = rows.from; i < rows.to; i++)
        step_forward(&walk->below[i], work->others, most);
    for (uint32_t c = 1; c < most; c++)
        for (int i = 0; i < WALK_NODES; i++)
            work->others[c].at[i] += work->others[c - 1].at[i];
}

static void set_worth(walk_nodes *worth, double value)
{
    for (int i = 0; i < WALK_NODES; i++)
        worth->at[i] = value;
}

/* w of the head of this file, for counts of rows: `above` of the walk is added to them.  Returns
 * for how many counts. */
static uint32_t find_worth(const groups *g, int own, const score_walk *walk, counts *work)
{
    uint32_t sure = walk->above[own], other_sure = walk->above[1 - own];
    uint32_t most = least_of(g->hi[own] - sure, walk->n_rows[own]);
    uint32_t others = least_of(g->k, walk->n_rows[1 - own] + 1);
    if (g->lo[own] < g->hi[own])
        find_others(walk, work, rows_of(walk, own == 1, own == 0), others);
    for (uint32_t c = 0; c < most; c++) {
        uint32_t a = sure + c;
        if (a < g->lo[own])
            set_worth(&work->worth[c], 1);
        else if (a + other_sure < g->k)
            work->worth[c] = work->others[least_of(g->k - 1 - a - other_sure, others - 1)];
        else
            set_worth(&work->worth[c], 0);
    }
    return most;
}

static void add_in_list(const groups *g, int own, const score_walk *walk, counts *work,
                        double *in_list)
{
    if (g->lo[own] >= g->size[own] || is_hopeless(g, own, walk))
        return;
    uint32_t most = find_worth(g, own, walk, work);
    add_chances(walk, work, rows_of(walk, own == 0, own == 1), most, in_list);
}

/* The best of those that can be first has none of them above it. */
static void add_first(const groups *g, const score_walk *walk, counts *work, double *first)
{
    double mean = 0;
    uint32_t sure = 0;
    for (int own = 0; own < 2; own++)
        if (g->can_lead[own]) {
            mean += walk->expected[own];
            sure += walk->above[own];
        }
    if (sure > 0 || is_rarely_below(mean, 1))
        return;
    set_worth(&work->worth[0], 1);
    add_chances(walk, work, rows_of(walk, g->can_lead[0], g->can_lead[1]), 1, first);
}

/* ---- all panels */

static void clamp_chances(double *chance, uint32_t n)
{
    for (uint32_t i = 0; chance && i < n; i++)
        chance[i] = fmin(chance[i], 1);
}

static void walk_chances(const groups *g, score_walk *walk, counts *work, double *in_list,
                         double *first)
{
    leave_out_hopeless(g, walk);
    while (walk_step(walk)) {
        for (int own = 0; in_list && own < 2; own++)
            add_in_list(g, own, walk, work, in_list);
        if (first)
            add_first(g, walk, work, first);
    }
    for (uint32_t i = 0; in_list && i < walk->n; i++)
        if (g->lo[walk->item[i].group] >= g->size[walk->item[i].group])
            in_list[i] = 1;
    clamp_chances(in_list, walk->n);
    clamp_chances(first, walk->n);
}

static oltr_status random_list_chances(const score_laws *laws, const list_rule *rule,
                                       const oltr_memory *memory, double *in_list, double *first)
{
    groups g = groups_of(rule, laws->n);
    score_walk *walk = walk_new(laws, has_rule(&g) ? rule->fresh : NULL, false, memory);
    counts *work = walk ? counts_new(laws->n, rule->k, memory) : NULL;
    if (work)
        walk_chances(&g, walk, work, in_list, first);
    counts_free(work);
    walk_free(walk);
    return work ? OLTR_OK : OLTR_ENOMEM;
}

oltr_status list_chances(const score_laws *laws, const list_rule *rule, const oltr_memory *memory,
                         double *in_list, double *first)
{
    if (rule->k == 0 || rule->k > laws->n)
        return OLTR_ESLOTS;
    if (!score_laws_are_valid(laws))
        return OLTR_EINVAL;
    for (uint32_t i = 0; i < laws->n; i++) {
        if (in_list)
            in_list[i] = 0;
        if (first)
            first[i] = 0;
    }
    return laws->kind == SCORE_FIXED ? fixed_list_chances(laws, rule, memory, in_list, first)
                                     : random_list_chances(laws, rule, memory, in_list, first);
}
