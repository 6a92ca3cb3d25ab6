/* class_rank.c - see class_rank.h.
 *
 * The best classes are found a few at a time, by the kernel that selects the best of all scores: a
 * class of many members fills the list alone, so that four are enough at first.  Of up to
 * FEW_PLACES classes the best are found one score at a time.
 */
#include "engine/race/class_rank.h"

#include <math.h>
#include <string.h>

#include "engine/kernels/philox.h"
#include "engine/kernels/table.h"
#include "engine/race/mutation.h"

enum { FIRST_CLASSES = 4, FEW_PLACES = 32 };

typedef struct class_call {
    const class_index *index;
    const oltr_rng *rng;
    uint32_t n, k;
    double *score; /* (padded(n_places)) */
    double *best;  /* of topk_f64 */
    uint32_t *place;
    double *value;       /* (places) the best classes, best first */
    uint32_t *tied;      /* (tied_room) */
    tree_search *search; /* (k) */
    uint32_t *item;      /* (k) the list */
    double *shown;       /* (k) its scores, or NULL */
    uint32_t filled;     /* slots */
    uint32_t n_searches; /* of them */
    uint32_t *slot;      /* (k) of each search */
} class_call;

/* ---- room */

typedef struct class_room {
    size_t best, place, value, tied, search, slot, bytes;
} class_room;

static class_room plan_room(uint32_t n_items)
{
    uint32_t places = class_places(n_items), k = n_items / CLASSES_ITEMS_PER_SLOT + 1;
    class_room r;
    layout l = {padded(places) * sizeof(double), false};
    r.best = layout_take(&l, topk_room(places), sizeof(double));
    r.value = layout_take(&l, places, sizeof(double));
    r.place = layout_take(&l, places, sizeof(uint32_t));
    r.tied = layout_take(&l, tied_room(n_items), sizeof(uint32_t));
    r.slot = layout_take(&l, k, sizeof(uint32_t));
    r.search = layout_take(&l, k, sizeof(tree_search));
    r.bytes = layout_bytes(&l);
    return r;
}

size_t class_scratch_bytes(uint32_t n_items)
{
    return plan_room(n_items).bytes;
}

/* ---- ties */

/* The t-th rank that is not among the m sorted ones, and its place there.  sorted[i] - i, the ranks
 * left below it, does not fall with i. */
static uint32_t rank_left(const uint32_t *sorted, uint32_t m, uint32_t t, uint32_t *at)
{
    uint32_t low = 0, high = m;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sorted[middle] - middle <= t)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    return t + low;
}

/* The ranks in the list are kept in ascending order. */
static void short_list(const oltr_rng *rng, uint32_t first_slot, uint32_t n, uint32_t k,
                       uint32_t *sorted, uint32_t *rank)
{
    for (uint32_t j = 0; j < k; j++) {
        uint32_t at, t = tie_at(rng, first_slot + j, n - j);
        rank[j] = rank_left(sorted, MUTATED(REPEATS_ACCEPTED) ? 0 : j, t, &at);
        memmove(sorted + at + 1, sorted + at, (j - at) * sizeof *sorted);
        sorted[at] = rank[j];
    }
}

/* The ranks that are not in the list, as bits, 64 to a word; and a Fenwick tree of how many bits
 * the words have: left[w] counts those of the words from w - (w & -w) to w - 1. */
typedef struct ranks_left {
    uint64_t *bit;       /* (words) */
    uint32_t *left;      /* (words + 1) */
    uint32_t words, top; /* top: the largest power of 2 that is at most words */
} ranks_left;

static ranks_left all_ranks(uint32_t n, uint32_t *room)
{
    ranks_left r = {.words = n / 64 + 1, .top = 1};
    r.bit = (uint64_t *)(void *)room;
    r.left = room + 2 * (size_t)r.words;
    while (r.top <= r.words / 2)
        r.top *= 2;
    memset(r.bit, 0xFF, (r.words - 1) * sizeof *r.bit);
    r.bit[r.words - 1] = ((uint64_t)1 << n % 64) - 1;
    for (uint32_t w = 1; w <= r.words; w++) {
        uint32_t from = w - (w & -w);
        r.left[w] = (w < r.words ? w * 64 : n) - from * 64;
    }
    return r;
}

/* Removes the t-th rank that is left, and returns it. */
static uint32_t take_rank(ranks_left *r, uint32_t t)
{
    uint32_t word = 0, taken = MUTATED(REPEATS_ACCEPTED) ? 0 : 1;
    for (uint32_t step = r->top; step; step /= 2)
        if (word + step <= r->words && r->left[word + step] <= t) {
            word += step;
            t -= r->left[word];
        } else if (word + step <= r->words)
            r->left[word + step] -= taken;
    uint64_t from = r->bit[word];
    for (; t; t--)
        from &= from - 1;
    if (taken)
        r->bit[word] ^= from & -from;
    return word * 64 + (uint32_t)__builtin_ctzll(from);
}

void tied_ranks(const oltr_rng *rng, uint32_t first_slot, uint32_t n, uint32_t k, uint32_t *room,
                uint32_t *rank)
{
    if (k <= FEW_TIES && !MUTATED(REPEATS_ACCEPTED)) {
        KERNEL(few_ties)(rng, first_slot, n, k, rank);
        return;
    }
    if (k <= TIED_SHORT || k <= n / 4096) {
        short_list(rng, first_slot, n, k, room, rank);
        return;
    }
    ranks_left left = all_ranks(n, room);
    for (uint32_t j = 0; j < k; j++)
        rank[j] = take_rank(&left, tie_at(rng, first_slot + j, n - j));
}

/* ---- groups of classes with one score */

/* Members of a class that are candidates: all, or those below n. */
static uint32_t members_below(const class_call *c, uint32_t place)
{
    const class_entry *entry = &class_entries(c->index)[place];
    return c->n == c->index->n_items ? entry->members
                                     : tree_below(class_pool(c->index), entry->root, c->n);
}

/* The item with `rank` smaller ones in the group: the largest below which there are no more. */
static uint32_t item_of_rank(const class_call *c, const uint32_t *place, uint32_t n_classes,
                             uint32_t rank)
{
    uint32_t low = 0, high = c->index->n_items;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2, below = 0;
        for (uint32_t g = 0; g < n_classes; g++)
            below +=
                tree_below(class_pool(c->index), class_entries(c->index)[place[g]].root, middle);
        if (below <= rank)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Scores of places whose class differs by the sign of a zero are told apart. */
static double score_of_item(const class_call *c, uint32_t item, const uint32_t *place,
                            const double *value, uint32_t n_classes)
{
    uint32_t own = class_of_item(c->index, item), g = 0;
    while (g + 1 < n_classes && place[g] != own)
        g++;
    return value[g];
}

/* The items of one class that are to be looked up: `item` has their ranks. */
static void search_class(class_call *c, uint32_t place, double value, uint32_t take)
{
    tree_search s = tree_search_of(class_pool(c->index), class_entries(c->index)[place].root, 0);
    for (uint32_t slot = c->filled; slot < c->filled + take; slot++) {
        s.key = c->item[slot];
        c->slot[c->n_searches] = slot;
        c->search[c->n_searches++] = s;
        if (c->shown)
            c->shown[slot] = value;
    }
}

static void find_in_group(class_call *c, const uint32_t *place, const double *value,
                          uint32_t n_classes, uint32_t take)
{
    for (uint32_t slot = c->filled; slot < c->filled + take; slot++) {
        c->item[slot] = item_of_rank(c, place, n_classes, c->item[slot]);
        if (c->shown)
            c->shown[slot] = score_of_item(c, c->item[slot], place, value, n_classes);
    }
}

/* Fills slots from a group, as far as it goes. */
static void fill_from(class_call *c, const uint32_t *place, const double *value, uint32_t n_classes)
{
    uint32_t members = 0, left = c->k - c->filled;
    for (uint32_t g = 0; g < n_classes; g++)
        members += members_below(c, place[g]);
    uint32_t take = members < left ? members : left;
    tied_ranks(c->rng, c->filled, members, take, c->tied, c->item + c->filled);
    if (n_classes > 1)
        find_in_group(c, place, value, n_classes, take);
    else
        search_class(c, place[0], value[0], take);
    c->filled += take;
}

static void look_up(class_call *c)
{
    const tree_pool *pool = class_pool(c->index);
    tree_select_all(pool, c->search, c->n_searches);
    for (uint32_t j = 0; j < c->n_searches; j++)
        c->item[c->slot[j]] = pool->node[c->search[j].node].word[c->search[j].key];
}

/* Asks for the classes of the first items, because a lesson will need them. */
static void prefetch_classes(const class_call *c)
{
    enum { MOST_SLOTS = 16 };
    for (uint32_t slot = 0; slot < c->k && slot < MOST_SLOTS; slot++)
        __builtin_prefetch(&words_in(c->index, c->index->where)[c->item[slot]]);
}

/* ---- the best classes */

/* Takes the classes that are best of few; returns how many. */
static uint32_t best_of_few(class_call *c)
{
    double best = -(double)INFINITY;
    uint32_t m = 0;
    for (uint32_t place = 0; place < c->index->n_places; place++)
        best = c->score[place] > best ? c->score[place] : best;
    for (uint32_t place = 0; place < c->index->n_places; place++)
        if (c->score[place] >= best) {
            c->place[m] = place;
            c->value[m++] = c->score[place];
            c->score[place] = -(double)INFINITY;
            if (MUTATED(TIES_LEFT_OUT))
                break;
        }
    return m;
}

/* Takes the next m best classes, and all that tie with the last of them; returns how many. */
static uint32_t next_classes(class_call *c, uint32_t m)
{
    const uint32_t n = c->index->n_places;
    KERNEL(topk_f64)(c->score, n, m, c->rng, c->best, c->place, c->value);
    double last = c->value[m - 1];
    for (uint32_t j = 0; j < m; j++) /* some kernels do, some do not */
        c->score[c->place[j]] = -(double)INFINITY;
    for (uint32_t place = 0; place < n; place++)
        if (c->score[place] >= last && !MUTATED(TIES_LEFT_OUT)) {
            c->place[m] = place;
            c->value[m++] = c->score[place];
            c->score[place] = -(double)INFINITY;
        }
    return m;
}

/* False where too many classes have one score. */
static bool fill(class_call *c, uint32_t m)
{
    for (uint32_t from = 0, to; from < m && c->filled < c->k; from = to) {
        for (to = from + 1; to < m && c->value[to] >= c->value[from];)
            to++;
        if (to - from > CLASSES_TOGETHER)
            return false;
        fill_from(c, c->place + from, c->value + from, to - from);
    }
    return true;
}

/* Places without a class are never taken. */
static void pad_scores(class_call *c)
{
    const class_entry *entry = class_entries(c->index);
    for (uint32_t place = 0; place < c->index->n_places; place++)
        if (!entry[place].members)
            c->score[place] = -(double)INFINITY;
    for (size_t place = c->index->n_places; place < padded(c->index->n_places); place++)
        c->score[place] = -(double)INFINITY;
}

bool class_rank(const class_index *index, const oltr_rng *rng, uint32_t n, uint32_t k,
                void *scratch, uint32_t *item, double *score)
{
    class_room room = plan_room(index->n_items);
    class_call c = {.index = index,
                    .rng = rng,
                    .n = n,
                    .k = k,
                    .score = scratch,
                    .best = doubles_at(scratch, room.best),
                    .place = words_in(scratch, room.place),
                    .value = doubles_at(scratch, room.value),
                    .tied = words_in(scratch, room.tied),
                    .slot = words_in(scratch, room.slot),
                    .search = (tree_search *)(void *)((unsigned char *)scratch + room.search),
                    .item = item,
                    .shown = score};
    pad_scores(&c);
    uint32_t left = index->n_alive, some = FIRST_CLASSES;
    for (; c.filled < k; some *= 4) {
        uint32_t m = index->n_places <= FEW_PLACES ? best_of_few(&c)
                                                   : next_classes(&c, some < left ? some : left);
        if (!fill(&c, m))
            return false;
        left -= m;
    }
    look_up(&c);
    prefetch_classes(&c);
    return true;
}
