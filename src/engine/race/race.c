/* race.c - see race.h: the arrivals of a cell, waves, and the threshold that is lowered.
 *
 * Which member an arrival hits: in a cell of up to 64 members, the t-th of those left, t uniform,
 * by a mask.  In larger cells, a uniform member, drawn again if it was hit before; the members hit
 * are kept in a hash set, or in a bitmap when a large part of the cell is read.
 *
 * Samples that are equal as doubles are ordered by their exponential, the smaller first, which is
 * the order of the exact quantiles where posteriors are equal; then by item.
 */
#include "engine/race/race.h"

#include <math.h>
#include <string.h>

#include "engine/kernels/philox.h"
#include "engine/kernels/table.h"
#include "engine/race/mutation.h"

enum { WAVE = 256, SMALL_CELL = 64, STREAM_OF_CELL = 0x52414345 /* "RACE" */ };

/* An item found above tau. */
typedef struct found_item {
    double value, u;
    uint32_t item;
} found_item;

typedef struct race_scratch {
    double u[WAVE]; /* a wave: arrivals that are not looked up yet */
    tree_search search[WAVE];
    uint32_t item[WAVE];
    uint32_t hit[RACE_CELLS];
} race_scratch;

/* One call. */
typedef struct race_call {
    const race_index *index;
    const race_items *items;
    oltr_rng rng;
    uint32_t n, k;
    double tau;
    race_scratch *scratch;
    uint32_t n_wave;
    found_item *found; /* (capacity) */
    uint32_t n_found, capacity;
    uint32_t *set; /* (set_words) members hit in the present cell */
    uint32_t set_words;
} race_call;

/* ---- room */

typedef struct race_room {
    size_t found, set, bytes;
    uint32_t capacity, set_words;
} race_room;

static race_room plan_room(uint32_t n_items)
{
    uint32_t most = n_items / RACE_ITEMS_PER_SLOT + RACE_SPARE_SLOTS;
    race_room r = {.capacity = 4 * most + 256, .set_words = 1024};
    while (r.set_words < 8 * most)
        r.set_words *= 2;
    if (r.set_words < n_items / 32 + 1) /* a bitmap of all items must fit */
        r.set_words *= 2;
    layout l = {sizeof(race_scratch), false};
    r.found = layout_take(&l, r.capacity, sizeof(found_item));
    r.set = layout_take(&l, r.set_words, sizeof(uint32_t));
    r.bytes = layout_bytes(&l);
    return r;
}

size_t race_scratch_bytes(uint32_t n_items)
{
    return plan_room(n_items).bytes;
}

/* ---- what was found, best first */

static bool is_before(const found_item *a, const found_item *b)
{
    if (a->value > b->value || a->value < b->value)
        return a->value > b->value;
    if (a->u < b->u || a->u > b->u)
        return a->u < b->u;
    return a->item < b->item;
}

static void sink(found_item *x, uint32_t at, uint32_t n)
{
    found_item moved = x[at];
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_before(&x[child], &x[child + 1]))
            child++;
        if (!is_before(&moved, &x[child]))
            break;
        x[at] = x[child];
    }
    x[at] = moved;
}

/* Heapsort: short lists are the rule, and no input is slow. */
static void sort_found(found_item *x, uint32_t n)
{
    for (uint32_t i = n / 2; i-- > 0;)
        sink(x, i, n);
    for (uint32_t last = n; last-- > 1;) {
        found_item first = x[0];
        x[0] = x[last];
        x[last] = first;
        sink(x, 0, last);
    }
}

/* A full buffer keeps the k best, and only what reaches the last of them is of interest. */
static void keep(race_call *c, double value, double u, uint32_t item)
{
    if (c->n_found == c->capacity) {
        sort_found(c->found, c->n_found);
        c->n_found = c->k;
        c->tau = c->found[c->k - 1].value;
        if (value < c->tau)
            return;
    }
    c->found[c->n_found++] = (found_item){value, u, item};
}

/* ---- arrivals */

/* Looks up the arrivals of a wave: which members they hit, and how large their samples are.  The
 * loops overlap the cache misses of many arrivals. */
static void finish_wave(race_call *c)
{
    race_scratch *s = c->scratch;
    const tree_pool *pool = race_pool(c->index);
    const race_family *family = c->items->family;
    tree_select_all(pool, s->search, c->n_wave);
    for (uint32_t i = 0; i < c->n_wave; i++) {
        s->item[i] = pool->node[s->search[i].node].word[s->search[i].key];
        family->prefetch(c->items, s->item[i]);
    }
    for (uint32_t i = 0; i < c->n_wave; i++) {
        double value = family->value(c->items, s->item[i],
                                     MUTATED(SHORT_TAIL) ? fmax(s->u[i], 0x1p-36) : s->u[i]);
        if (value >= c->tau)
            keep(c, value, s->u[i], s->item[i]);
    }
    c->n_wave = 0;
}

static void add_arrival(race_call *c, double u, uint32_t root, uint32_t place)
{
    c->scratch->u[c->n_wave] = u;
    c->scratch->search[c->n_wave++] = tree_search_of(race_pool(c->index), root, place);
    if (c->n_wave == WAVE)
        finish_wave(c);
}

/* A standard exponential from 64 bits: -log(1 - p), p uniform on (0,1). */
static double exponential_of_words(uint32_t high, uint32_t low)
{
    double p = (((double)high * 0x1p32 + (double)low) + 0.5) * 0x1p-64;
    return p < 1 ? -log1p(-p) : 44.4; /* p was rounded: -log(2^-64) */
}

/* The members of a cell that were hit. */
typedef struct hit_set {
    uint32_t *word;
    uint32_t mask; /* of a hash set; 0: a bitmap */
} hit_set;

/* With 12 deviations more than expected at half its size, a hash set is full with a chance below
 * 1e-60. */
static hit_set new_set(race_call *c, uint32_t members, double hazard)
{
    double expected = fmin(members, members * hazard);
    double needed = 2 * fmin(members, expected + 12 * sqrt(expected) + 24);
    uint32_t words = SMALL_CELL;
    while (words < needed && words <= c->set_words)
        words *= 2;
    if (words > c->set_words) {
        memset(c->set, 0, (members / 32 + 1) * sizeof *c->set);
        return (hit_set){c->set, 0};
    }
    memset(c->set, 0, words * sizeof *c->set);
    return (hit_set){c->set, words - 1};
}

/* False when the member was in the set. */
static bool add_to_set(const hit_set *set, uint32_t member)
{
    if (!set->mask) {
        uint32_t *word = &set->word[member / 32], bit = 1u << member % 32;
        bool is_new = !(*word & bit);
        *word |= bit;
        return is_new;
    }
    for (uint32_t h = member * 0x9E3779B1u >> 7;; h++) {
        uint32_t *entry = &set->word[h & set->mask];
        if (*entry == member + 1)
            return false;
        if (!*entry) {
            *entry = member + 1;
            return true;
        }
    }
}

/* The generator of a cell's arrivals: block after block, from a key of its own. */
typedef struct cell_stream {
    uint32_t key[2], block;
} cell_stream;

static void next_block(cell_stream *s, uint32_t word[4])
{
    uint32_t counter[4] = {s->block++, 0, 0, STREAM_OF_CELL};
    philox4x32(counter, s->key, word);
}

/* Of n that are left, which one. */
static uint32_t one_of(const uint32_t word[4], uint32_t n)
{
    if (MUTATED(LAST_NEVER_DRAWN) && n > 1)
        n--;
    return below_of_words(word[2], word[3], n);
}

static double gap(const uint32_t word[4], uint32_t members, uint32_t hit)
{
    return exponential_of_words(word[0], word[1]) /
           (MUTATED(GAPS_OF_ALL) ? members : members - hit);
}

/* The arrivals up to `hazard`, the first at u. */
static void read_small_cell(race_call *c, uint32_t root, uint32_t members, double u, double hazard,
                            cell_stream *stream)
{
    uint64_t left = ~(uint64_t)0 >> (SMALL_CELL - members);
    for (uint32_t hit = 0; u <= hazard && hit < members;) {
        uint32_t word[4];
        next_block(stream, word);
        uint64_t from = left;
        for (uint32_t t = one_of(word, members - hit); t; t--)
            from &= from - 1;
        if (!MUTATED(REPEATS_ACCEPTED))
            left ^= from & -from;
        add_arrival(c, u, root, (uint32_t)__builtin_ctzll(from));
        if (++hit < members)
            u += gap(word, members, hit);
    }
}

static void read_large_cell(race_call *c, uint32_t root, uint32_t members, double u, double hazard,
                            cell_stream *stream)
{
    hit_set set = new_set(c, members, hazard);
    for (uint32_t hit = 0; u <= hazard && hit < members;) {
        uint32_t word[4];
        next_block(stream, word);
        uint32_t place = one_of(word, members);
        if (!add_to_set(&set, place) && !MUTATED(REPEATS_ACCEPTED))
            continue;
        add_arrival(c, u, root, place);
        if (++hit < members)
            u += gap(word, members, hit);
    }
}

/* How many members of a cell are candidates: all, or those below n. */
static uint32_t members_below(const race_call *c, uint32_t cell)
{
    if (c->n == c->index->n_items)
        return c->index->members[cell];
    return tree_below(race_pool(c->index), c->index->cell[cell].root, c->n);
}

/* Reads the arrivals of a cell that has members, up to `hazard`. */
static void read_cell(race_call *c, uint32_t cell, double hazard)
{
    uint32_t word[4], members = members_below(c, cell), root = c->index->cell[cell].root;
    words_at(&c->rng, c->index->quad[cell / 4], PURPOSE_RACE, word);
    uint32_t first = word[cell % 4];
    if (!members)
        return;
    words_at(&c->rng, cell_key(c->index, cell), PURPOSE_ARRIVALS, word);
    double u = exponential_of_words(first, word[0]) / members;
    if (u > hazard)
        return;
    cell_stream stream = {{word[2], word[3]}, 0};
    if (members <= SMALL_CELL)
        read_small_cell(c, root, members, u, hazard, &stream);
    else
        read_large_cell(c, root, members, u, hazard, &stream);
}

/* ---- the threshold */

static void read_to_index_tau(race_call *c)
{
    const race_index *x = c->index;
    uint32_t n =
        KERNEL(first_arrivals)(&c->rng, x->quad, x->limit, RACE_QUADS, x->n_quads, c->scratch->hit);
    for (uint32_t i = 0; i < n; i++)
        read_cell(c, c->scratch->hit[i], x->hazard[c->scratch->hit[i]]);
    finish_wave(c);
}

static void read_to(race_call *c, double tau)
{
    c->tau = tau;
    for (uint32_t cell = 0; cell < 4 * c->index->n_quads; cell++)
        if (c->index->members[cell])
            read_cell(c, cell, c->items->family->bound_hazard(&c->index->cell[cell].shape, tau));
    finish_wave(c);
}

/* Too few were found: reads the same arrivals again to where three times as many are expected, and
 * in the end all. */
static void read_deeper(race_call *c)
{
    double share = (double)c->n / c->index->n_items;
    double want = fmax(3 * c->index->want, race_want(c->index, c->k) / share);
    for (uint32_t kept = 0; c->n_found < c->k; want *= 3) {
        bool all = want > 0.5 * c->index->n_items;
        if (MUTATED(FRESH_NUMBERS) || MUTATED(REDRAWN_REST))
            c->rng = oltr_rng_fork(c->rng, 1);
        if (MUTATED(REDRAWN_REST))
            kept = c->n_found;
        c->n_found = kept;
        read_to(c, all ? -(double)INFINITY : race_threshold(c->index, c->items->family, want));
    }
}

void race_rank(const race_index *index, const race_items *items, const oltr_rng *rng, uint32_t n,
               uint32_t k, void *scratch, uint32_t *item, double *score)
{
    race_room room = plan_room(index->n_items);
    race_call c = {.index = index,
                   .items = items,
                   .rng = *rng,
                   .n = n,
                   .k = k,
                   .tau = index->tau,
                   .scratch = scratch,
                   .found = (found_item *)(void *)((unsigned char *)scratch + room.found),
                   .capacity = room.capacity,
                   .set = words_in(scratch, room.set),
                   .set_words = room.set_words};
    read_to_index_tau(&c);
    if (c.n_found < k)
        read_deeper(&c);
    sort_found(c.found, c.n_found);
    for (uint32_t slot = 0; slot < k; slot++) {
        item[slot] = c.found[slot].item;
        if (score)
            score[slot] = c.found[slot].value;
    }
}
