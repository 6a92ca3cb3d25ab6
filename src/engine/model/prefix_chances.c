/* prefix_chances.c - the chance of one list, and of each of its beginnings, in this order; and what
 * may follow each beginning.
 *
 * Let s_1, s_2, ... be the items shown, f and F the density and distribution function of a score.
 *     G_0 = 1,   G_j(x) = integral over y > x of f_sj(y) G_(j-1)(y)
 * is the chance that the first j of them have this order and are above x.  The first j slots are
 * s_1..s_j when s_j is at some y, those before it are in order above, and all others are below:
 *     chance of s_1..s_j = integral of f_sj(y) G_(j-1)(y) product over all others of F(y).
 * The walk goes down from the best score, so that the G are integrals from its beginning and all
 * terms are positive: small chances keep eight digits, as long as no item that is not shown has to
 * be below with a chance near rounding error.
 *
 * The first j slots are followed by the candidate a with the chance
 *     integral of f_a(y) G_j(y) product over all others of F(y),
 * where the products without one factor come from products of those before and behind it, without a
 * division.
 *
 * Cost.  O(panels x n), as a panel takes one product over the items; O(panels x n x k) for what
 * follows.
 *
 * The beginnings of lists by Gumbel scores need no walk.  With weights w_i = exp(location) the
 * items come in the order of draws without replacement (Plackett and Luce), so that
 *     chance of s_1..s_j = product over l <= j of w_sl / (sum of w of all but s_1..s_(l-1)).
 * The sums grow from the last slot to the first, in logarithms, so that nothing cancels.  O(n).
 */
#include <math.h>
#include <string.h>

#include "engine/base/layout.h"
#include "engine/base/memory.h"
#include "engine/model/fixed_chances.h"

#define NO_ROW UINT32_MAX

/* Group 0 of the walk are the items that are not shown, group 1 those that are. */
typedef struct prefix {
    const oltr_memory *memory;
    size_t bytes;
    uint32_t n, k;
    uint8_t *is_shown;  /* (n) */
    uint32_t *slot;     /* (n) of the shown items */
    uint32_t *row;      /* (k) of each shown item on this panel, or NO_ROW */
    uint8_t *started;   /* (k) whether it has had a row */
    double *ordered;    /* (k) G_j at the panel's beginning */
    walk_nodes *others; /* (k) for the first j slots, the chance that all others are below */
    /* For what follows; NULL where it is not asked. */
    walk_nodes *before;  /* (k) G_j at the points */
    walk_nodes *behind;  /* (k + 1) the chance that the shown items from slot j on are below */
    walk_nodes *without; /* (n) by row: that all items not shown but this one are below */
} prefix;

static prefix *prefix_new(uint32_t n, uint32_t k, bool follows, const oltr_memory *memory)
{
    layout l = {align_up(sizeof(prefix)), false};
    size_t is_shown = layout_take(&l, n, 1), slot = layout_take(&l, n, sizeof(uint32_t));
    size_t row = layout_take(&l, k, sizeof(uint32_t)), started = layout_take(&l, k, 1);
    size_t ordered = layout_take(&l, k, sizeof(double)),
           others = layout_take(&l, k, sizeof(walk_nodes));
    size_t more = layout_take(&l, follows ? 2 * (size_t)k + 1 + n : 0, sizeof(walk_nodes));
    size_t bytes = layout_bytes(&l);
    prefix *list = bytes ? memory_take(memory, bytes) : NULL;
    if (!list)
        return NULL;
    unsigned char *base = (unsigned char *)list;
    *list = (prefix){memory,
                     bytes,
                     n,
                     k,
                     base + is_shown,
                     words_in(base, slot),
                     words_in(base, row),
                     base + started,
                     doubles_at(base, ordered),
                     (walk_nodes *)(void *)(base + others),
                     NULL,
                     NULL,
                     NULL};
    if (follows) {
        list->before = (walk_nodes *)(void *)(base + more);
        list->behind = list->before + k;
        list->without = list->behind + k + 1;
    }
    return list;
}

static void prefix_free(prefix *list)
{
    if (list)
        memory_give(list->memory, list, list->bytes);
}

/* Whether the items exist and are distinct. */
static bool mark_shown(prefix *list, const uint32_t *shown)
{
    for (uint32_t j = 0; j < list->k; j++) {
        if (shown[j] >= list->n || list->is_shown[shown[j]])
            return false;
        list->is_shown[shown[j]] = 1;
        list->slot[shown[j]] = j;
    }
    return true;
}

static void find_rows(prefix *list, const score_walk *walk)
{
    for (uint32_t j = 0; j < list->k; j++)
        list->row[j] = NO_ROW;
    for (uint32_t i = walk->n_rows[0]; i < walk->n_rows[0] + walk->n_rows[1]; i++) {
        uint32_t j = list->slot[walk->row_item[i]];
        list->row[j] = i;
        list->started[j] = 1;
    }
}

/* `below` of a walk that goes down is the chance to be above. */
static void times_below(walk_nodes *product, const walk_nodes *above)
{
    for (int i = 0; i < WALK_NODES; i++)
        product->at[i] *= 1 - above->at[i];
}

/* An item without a row is below with certainty before it starts, and above after its end. */
static void find_others(prefix *list, const score_walk *walk)
{
    walk_nodes product;
    for (int i = 0; i < WALK_NODES; i++)
        product.at[i] = 1;
    for (uint32_t i = 0; i < walk->n_rows[0]; i++)
        times_below(&product, &walk->below[i]);
    for (uint32_t j = list->k; j-- > 0;) {
        list->others[j] = product;
        if (list->row[j] != NO_ROW)
            times_below(&product, &walk->below[list->row[j]]);
        else if (list->started[j])
            memset(&product, 0, sizeof product);
    }
}

/* One panel: adds to the chances, and carries the G from its beginning to its end. */
static void add_prefixes(prefix *list, const score_walk *walk, double *chance)
{
    walk_nodes before; /* G_(j-1) at the points */
    for (int i = 0; i < WALK_NODES; i++)
        before.at[i] = 1;
    for (uint32_t j = 0; j < list->k; j++) {
        walk_nodes part = {{0}}, mass = {{0}};
        double from = list->ordered[j];
        if (list->row[j] != NO_ROW) {
            for (int i = 0; i < WALK_NODES; i++) {
                mass.at[i] = walk->mass[list->row[j]].at[i] * before.at[i];
                chance[j] += mass.at[i] * list->others[j].at[i];
            }
            list->ordered[j] += walk_integral(walk, &mass, &part);
        }
        if (list->before)
            list->before[j] = before;
        for (int i = 0; i < WALK_NODES; i++)
            before.at[i] = fmax(0, from + part.at[i]);
    }
}

/* ---- what follows */

static const walk_nodes ones = {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};

/* The factor of the item of slot j in a product over items that are below. */
static void times_slot(const prefix *list, const score_walk *walk, uint32_t j, walk_nodes *product)
{
    if (list->row[j] != NO_ROW)
        times_below(product, &walk->below[list->row[j]]);
    else if (list->started[j])
        memset(product, 0, sizeof *product);
}

static void find_behind(prefix *list, const score_walk *walk)
{
    list->behind[list->k] = ones;
    for (uint32_t j = list->k; j-- > 0;) {
        list->behind[j] = list->behind[j + 1];
        times_slot(list, walk, j, &list->behind[j]);
    }
}

static void find_without(prefix *list, const score_walk *walk)
{
    walk_nodes product = ones;
    for (uint32_t i = 0; i < walk->n_rows[0]; i++) {
        list->without[i] = product;
        times_below(&product, &walk->below[i]);
    }
    product = ones;
    for (uint32_t i = walk->n_rows[0]; i-- > 0;) {
        for (int p = 0; p < WALK_NODES; p++)
            list->without[i].at[p] *= product.at[p];
        times_below(&product, &walk->below[i]);
    }
}

static double sum_of_products(const walk_nodes *a, const walk_nodes *b, const walk_nodes *c,
                              const walk_nodes *d)
{
    double sum = 0;
    for (int i = 0; i < WALK_NODES; i++)
        sum += a->at[i] * b->at[i] * c->at[i] * d->at[i];
    return sum;
}

/* Items that are not shown follow the first j slots. */
static void add_others_next(const prefix *list, const score_walk *walk, double *next)
{
    for (uint32_t j = 0; j < list->k; j++)
        for (uint32_t i = 0; i < walk->n_rows[0]; i++)
            next[(size_t)j * list->n + walk->row_item[i]] += sum_of_products(
                &walk->mass[i], &list->before[j], &list->without[i], &list->behind[j]);
}

/* The item of slot m follows the first j <= m slots; those of slots j to m - 1 are below. */
static void add_shown_next(const prefix *list, const score_walk *walk, double *next)
{
    walk_nodes all = ones;
    for (uint32_t i = 0; i < walk->n_rows[0]; i++)
        times_below(&all, &walk->below[i]);
    for (uint32_t m = 0; m < list->k; m++) {
        walk_nodes between = list->behind[m + 1];
        if (list->row[m] == NO_ROW)
            continue;
        for (uint32_t j = m + 1; j-- > 0;) {
            if (j < m)
                times_slot(list, walk, j, &between);
            next[(size_t)j * list->n + walk->row_item[list->row[m]]] +=
                sum_of_products(&walk->mass[list->row[m]], &list->before[j], &all, &between);
        }
    }
}

static void add_next(prefix *list, const score_walk *walk, double *next)
{
    find_behind(list, walk);
    find_without(list, walk);
    add_others_next(list, walk, next);
    add_shown_next(list, walk, next);
}

/* After the end of an item that is not shown, or of all that are, no chance grows. */
static bool is_over(const prefix *list, const score_walk *walk)
{
    return walk->n_rows[0] + walk->above[0] < list->n - list->k ||
           walk->n_rows[1] + walk->above[1] == 0;
}

/* chance: (k); next: (k, n), or NULL. */
static oltr_status random_prefix_chances(const score_laws *laws, prefix *list, double *chance,
                                         double *next)
{
    score_walk *walk = walk_new(laws, list->is_shown, true, list->memory);
    if (!walk)
        return OLTR_ENOMEM;
    while (walk_step(walk) && !is_over(list, walk)) {
        find_rows(list, walk);
        find_others(list, walk);
        add_prefixes(list, walk, chance);
        if (next)
            add_next(list, walk, next);
    }
    walk_free(walk);
    for (uint32_t j = 0; j < list->k; j++)
        chance[j] = fmin(chance[j], 1);
    for (size_t i = 0; next && i < (size_t)list->k * list->n; i++)
        next[i] = fmin(next[i], 1);
    return OLTR_OK;
}

/* log(e^a + e^b) */
static double log_sum(double a, double b)
{
    double high = fmax(a, b);
    return isinf(high) ? high : high + log1p(exp(-fabs(a - b)));
}

static double log_weight_not_shown(const score_laws *laws, const prefix *list)
{
    double high = -INFINITY, sum = 0;
    for (uint32_t i = 0; i < laws->n; i++)
        high = list->is_shown[i] ? high : fmax(high, laws->first[i]);
    for (uint32_t i = 0; i < laws->n; i++)
        sum += list->is_shown[i] ? 0 : exp(laws->first[i] - high);
    return isinf(high) ? high : high + log(sum);
}

static void gumbel_prefix_chances(const score_laws *laws, const prefix *list, const uint32_t *shown,
                                  double *chance)
{
    double rest = log_weight_not_shown(laws, list), log_chance = 0;
    for (uint32_t j = list->k; j-- > 0;) {
        rest = log_sum(rest, laws->first[shown[j]]);
        chance[j] = laws->first[shown[j]] - rest;
    }
    for (uint32_t j = 0; j < list->k; j++) {
        log_chance += chance[j];
        chance[j] = exp(log_chance);
    }
}

static oltr_status prefix_chances_of(const score_laws *laws, prefix *list, const uint32_t *shown,
                                     double *chance)
{
    if (laws->kind == SCORE_FIXED)
        return fixed_prefix_chances(laws, shown, list->k, list->memory, chance);
    if (laws->kind != SCORE_GUMBEL)
        return random_prefix_chances(laws, list, chance, NULL);
    gumbel_prefix_chances(laws, list, shown, chance);
    return OLTR_OK;
}

static oltr_status check_prefix(const score_laws *laws, uint32_t k)
{
    return k == 0 || k > laws->n ? OLTR_ESLOTS : score_laws_are_valid(laws) ? OLTR_OK : OLTR_EINVAL;
}

oltr_status list_prefix_chances(const score_laws *laws, const uint32_t *shown, uint32_t k,
                                const oltr_memory *memory, double *chance)
{
    oltr_status status = check_prefix(laws, k);
    if (status != OLTR_OK)
        return status;
    prefix *list = prefix_new(laws->n, k, false, memory);
    status = !list ? OLTR_ENOMEM : mark_shown(list, shown) ? OLTR_OK : OLTR_EITEM;
    for (uint32_t j = 0; j < k; j++)
        chance[j] = 0;
    if (status == OLTR_OK)
        status = prefix_chances_of(laws, list, shown, chance);
    prefix_free(list);
    return status;
}

static oltr_status random_next_chances(const score_laws *laws, prefix *list, double *next)
{
    size_t bytes = list->k * sizeof(double);
    double *chance = memory_take(list->memory, bytes);
    if (!chance)
        return OLTR_ENOMEM;
    oltr_status status = random_prefix_chances(laws, list, chance, next);
    memory_give(list->memory, chance, bytes);
    return status;
}

oltr_status list_next_chances(const score_laws *laws, const uint32_t *shown, uint32_t k,
                              const oltr_memory *memory, double *next)
{
    oltr_status status = check_prefix(laws, k);
    if (status != OLTR_OK)
        return status;
    prefix *list = prefix_new(laws->n, k, true, memory);
    status = !list ? OLTR_ENOMEM : mark_shown(list, shown) ? OLTR_OK : OLTR_EITEM;
    for (size_t i = 0; i < (size_t)k * laws->n; i++)
        next[i] = 0;
    if (status == OLTR_OK)
        status = laws->kind == SCORE_FIXED ? fixed_next_chances(laws, shown, k, memory, next)
                                           : random_next_chances(laws, list, next);
    prefix_free(list);
    return status;
}
