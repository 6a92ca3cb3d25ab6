/* cells.c - see cells.h.
 *
 * A moved item costs a removal from one tree and an insertion into another, and the limits of two
 * cells.  All cells get new limits when the threshold is set anew (`retune`): when lists have
 * another length, or when the expected number above tau has left [0.85, 1.4] of what it should be.
 */
#include "engine/race/cells.h"

#include <math.h>
#include <string.h>

#include "engine/race/mutation.h"

#define NO_QUAD UINT32_MAX

static uint32_t nodes_for(uint32_t n_items)
{
    return n_items / 32 + RACE_CELLS + 64;
}

size_t race_index_bytes(uint32_t n_items)
{
    layout l = {sizeof(race_index), false};
    layout_take_close(&l, n_items, sizeof(uint32_t));
    layout_take(&l, tree_pool_bytes(nodes_for(n_items)), 1);
    return layout_bytes(&l);
}

void race_index_init(race_index *index, uint32_t n_items, uint32_t longest)
{
    memset(index, 0, sizeof *index);
    index->n_items = n_items;
    index->n_nodes = nodes_for(n_items);
    index->longest = longest;
    index->k = longest < 10 ? longest : 10; /* until the first list is learned */
    index->aim = 1;
}

/* ---- quads by their keys */

static uint32_t hash_of(uint32_t key)
{
    key ^= key >> 16;
    key *= 0x7FEB352Du;
    key ^= key >> 15;
    key *= 0x846CA68Bu;
    return key ^ key >> 16;
}

static uint16_t *hash_at(race_index *index, uint32_t h)
{
    return &index->hash[h % RACE_HASH];
}

static uint32_t find_quad(const race_index *index, uint32_t quad)
{
    for (uint32_t h = hash_of(quad);; h++) {
        uint32_t found = index->hash[h % RACE_HASH];
        if (!found)
            return NO_QUAD;
        if (index->quad[found - 1] == quad)
            return found - 1;
    }
}

static void hash_put(race_index *index, uint32_t quad, uint32_t at)
{
    uint32_t h = hash_of(quad);
    while (*hash_at(index, h))
        h++;
    *hash_at(index, h) = (uint16_t)(at + 1);
}

/* Linear probing without marks of removal: later entries move up into the hole. */
static void hash_remove(race_index *index, uint32_t quad)
{
    uint32_t hole = hash_of(quad);
    while (index->quad[*hash_at(index, hole) - 1] != quad)
        hole++;
    for (uint32_t at = hole + 1;; at++) {
        uint16_t entry = *hash_at(index, at);
        if (!entry)
            break;
        uint32_t home = hash_of(index->quad[entry - 1]);
        if ((at - home) % RACE_HASH >= (at - hole) % RACE_HASH) {
            *hash_at(index, hole) = entry;
            hole = at;
        }
    }
    *hash_at(index, hole) = 0;
}

/* ---- cells */

/* The largest first word of a cell whose first arrival is not after `hazard`. */
static uint32_t first_word_limit(uint32_t members, double hazard)
{
    double p = -expm1(-hazard * members) * 0x1p32;
    return p >= 4294967294.0 ? UINT32_MAX : (uint32_t)p + 1; /* one more than rounding can need */
}

static void set_limit(race_index *index, uint32_t cell)
{
    uint32_t m = index->members[cell];
    index->limit[cell % 4 * RACE_QUADS + cell / 4] =
        m ? first_word_limit(m, index->hazard[cell]) : 0;
}

/* The chance that the middle of a cell exceeds tau: what a member adds to the load.  Of items far
 * above tau that is 1, however large their hazard is. */
static double chance_above(const race_family *family, const cell_shape *shape, double tau)
{
    return -expm1(-family->middle_hazard(shape, tau));
}

/* The bound's hazard of tau, the load, and the limit. */
static void tune_cell(race_index *index, const race_family *family, uint32_t cell)
{
    race_cell *c = &index->cell[cell];
    index->hazard[cell] = family->bound_hazard(&c->shape, index->tau);
    c->load = chance_above(family, &c->shape, index->tau);
    set_limit(index, cell);
}

/* The cell of a place, new if it has no members; NO_QUAD when there is no room for its quad. */
static uint32_t cell_at(race_index *index, const race_family *family, const cell_place *place)
{
    uint32_t q = find_quad(index, place->key >> 2);
    if (q == NO_QUAD) {
        if (index->n_quads == RACE_QUADS)
            return NO_QUAD;
        q = index->n_quads++;
        index->quad[q] = place->key >> 2;
        hash_put(index, place->key >> 2, q);
        for (uint32_t l = 0; l < 4; l++)
            index->members[4 * q + l] = index->limit[l * RACE_QUADS + q] = 0;
    }
    uint32_t cell = 4 * q + (place->key & 3);
    if (!index->members[cell]) {
        index->cell[cell] = (race_cell){.shape = place->shape, .root = NO_NODE, .tail = NO_NODE};
        tune_cell(index, family, cell);
    }
    return cell;
}

static void copy_cell(race_index *index, uint32_t to, uint32_t from)
{
    index->members[to] = index->members[from];
    index->hazard[to] = index->hazard[from];
    index->cell[to] = index->cell[from];
    index->limit[to % 4 * RACE_QUADS + to / 4] = index->limit[from % 4 * RACE_QUADS + from / 4];
}

/* A quad without members is removed, and the last one takes its place: draws depend on keys, not on
 * places. */
static void drop_if_empty(race_index *index, uint32_t q)
{
    const uint32_t *m = &index->members[4 * q];
    if (m[0] || m[1] || m[2] || m[3])
        return;
    uint32_t last = index->n_quads - 1;
    hash_remove(index, index->quad[q]);
    if (q != last) {
        hash_remove(index, index->quad[last]);
        index->quad[q] = index->quad[last];
        for (uint32_t l = 0; l < 4; l++)
            copy_cell(index, 4 * q + l, 4 * last + l);
        hash_put(index, index->quad[q], q);
    }
    index->n_quads = last;
}

/* ---- the threshold */

double race_want(const race_index *index, uint32_t k)
{
    /* Four standard deviations of the number of arrivals, and two for short lists. */
    return index->aim * (k + 4 * sqrt((double)k) + 2);
}

static double load_at(const race_index *index, const race_family *family, double tau)
{
    double load = 0;
    for (uint32_t c = 0; c < 4 * index->n_quads; c++)
        if (index->members[c])
            load += index->members[c] * chance_above(family, &index->cell[c].shape, tau);
    return load;
}

/* The scale of the cell that has the largest part of the load. */
static double tau_scale(const race_index *index, const race_family *family)
{
    double most = -1, scale = 1;
    for (uint32_t c = 0; c < 4 * index->n_quads; c++) {
        double load = index->members[c] * index->cell[c].load;
        if (index->members[c] && load > most) {
            most = load;
            scale = family->scale(&index->cell[c].shape);
        }
    }
    return scale;
}

/* log(load / want) falls with tau, nearly as a parabola: steps that double until it has changed its
 * sign, then the secant through both ends, and the middle where that is slow. */
double race_threshold(const race_index *index, const race_family *family, double want)
{
    double at = index->tau, f = log(load_at(index, family, at) / want), close = 0.05;
    double step = f > 0 ? tau_scale(index, family) : -tau_scale(index, family);
    if (fabs(f) <= close)
        return at;
    double other = at, g = f;
    for (int i = 0; i < 2000 && (g > 0) == (f > 0); i++, step *= 2) {
        at = other;
        f = g;
        other = at + step;
        g = log(load_at(index, family, other) / want);
    }
    for (int i = 0; i < 60; i++) {
        double next = i % 3 < 2 ? at - f * (other - at) / (g - f) : 0.5 * (at + other);
        if (!(next > fmin(at, other) && next < fmax(at, other)))
            next = 0.5 * (at + other);
        double h = log(load_at(index, family, next) / want);
        if (fabs(h) <= close)
            return next;
        if ((h > 0) == (f > 0)) {
            at = next;
            f = h;
        } else {
            other = next;
            g = h;
        }
    }
    return fmin(at, other);
}

static void retune(race_index *index, const race_family *family, uint32_t k)
{
    index->k = k;
    index->want = fmin(race_want(index, k), 0.45 * index->n_items);
    index->tau = race_threshold(index, family, index->want);
    index->load = 0;
    for (uint32_t c = 0; c < 4 * index->n_quads; c++) {
        if (index->members[c])
            tune_cell(index, family, c);
        index->load += index->members[c] ? index->members[c] * index->cell[c].load : 0;
    }
}

/* ---- members */

/* Every item at the end of the chain of leaves of its cell. */
static bool chain_items(race_index *index, const race_items *items)
{
    uint32_t cell = 0;
    for (uint32_t i = 0; i < index->n_items; i++) {
        cell_place place = items->family->place(items, i);
        if (i == 0 || place.key != index->where[i - 1])
            cell = cell_at(index, items->family, &place);
        if (cell == NO_QUAD ||
            !tree_append(race_pool(index), &index->cell[cell].root, &index->cell[cell].tail, i))
            return false;
        index->members[cell]++;
        index->where[i] = place.key;
    }
    return true;
}

static void clear_cells(race_index *index)
{
    memset(index->hash, 0, sizeof index->hash);
    tree_pool_clear(race_pool(index), index->n_nodes);
    index->n_quads = 0;
}

void race_build(race_index *index, const race_items *items)
{
    clear_cells(index);
    bool done = chain_items(index, items);
    for (uint32_t c = 0; done && c < 4 * index->n_quads; c++)
        if (index->members[c])
            done = tree_finish(race_pool(index), &index->cell[c].root);
    index->overfull = !done;
    if (done)
        retune(index, items->family, index->k);
    else
        clear_cells(index);
}

static void remove_item(race_index *index, uint32_t item, tree_path *path)
{
    uint32_t key = index->where[item], q = find_quad(index, key >> 2), cell = 4 * q + (key & 3);
    tree_remove_along(race_pool(index), &index->cell[cell].root, path);
    index->members[cell]--;
    index->load -= index->cell[cell].load;
    set_limit(index, cell);
    if (!index->members[cell])
        drop_if_empty(index, q);
}

static bool insert_item(race_index *index, const race_family *family, const cell_place *place,
                        uint32_t item, tree_path *path)
{
    uint32_t cell = cell_at(index, family, place);
    if (cell == NO_QUAD || !tree_insert_along(race_pool(index), &index->cell[cell].root, path))
        return false;
    index->members[cell]++;
    index->load += index->cell[cell].load;
    index->where[item] = place->key;
    set_limit(index, cell);
    return true;
}

/* The tree of a cell. */
static uint32_t root_of(const race_index *index, uint32_t key)
{
    uint32_t q = find_quad(index, key >> 2), cell = 4 * q + (key & 3);
    return q != NO_QUAD && index->members[cell] ? index->cell[cell].root : NO_NODE;
}

/* Items whose posteriors may have changed.  Their searches run side by side, so that cache misses
 * overlap. */
enum { FEW_MOVES = 16 };
static void move_few(race_index *index, const race_items *items, const uint32_t *item, uint32_t n)
{
    cell_place place[FEW_MOVES];
    tree_path path[2 * FEW_MOVES];
    for (uint32_t j = 0; j < n; j++) {
        place[j] = items->family->place(items, item[j]);
        bool moves = place[j].key != index->where[item[j]];
        tree_path_begin(race_pool(index), moves ? root_of(index, index->where[item[j]]) : NO_NODE,
                        item[j], &path[2 * j]);
        tree_path_begin(race_pool(index), moves ? root_of(index, place[j].key) : NO_NODE, item[j],
                        &path[2 * j + 1]);
    }
    tree_path_all(race_pool(index), path, 2 * n);
    for (uint32_t j = 0; j < n && !index->overfull; j++) {
        if (place[j].key == index->where[item[j]] || (MUTATED(SOME_NOT_MOVED) && item[j] % 8 == 0))
            continue;
        remove_item(index, item[j], &path[2 * j]);
        if (!insert_item(index, items->family, &place[j], item[j], &path[2 * j + 1]))
            race_build(index, items);
    }
}

static void move_items(race_index *index, const race_items *items, const uint32_t *item, uint32_t n)
{
    if (index->overfull)
        race_build(index, items);
    else
        for (uint32_t j = 0; j < n && !index->overfull; j += FEW_MOVES)
            move_few(index, items, item + j, n - j < FEW_MOVES ? n - j : FEW_MOVES);
}

void race_learned(race_index *index, const race_items *items, const uint32_t *item, uint32_t n,
                  uint32_t k)
{
    bool was_overfull = index->overfull;
    k = k < index->longest ? k : index->longest;
    move_items(index, items, item, n);
    if (was_overfull || index->overfull)
        return;
    if (k != index->k || !(index->load >= 0.85 * index->want && index->load <= 1.4 * index->want))
        retune(index, items->family, k);
}

/* ---- comparison */

static bool same_members(const race_index *a, uint32_t cell, const race_index *b, uint32_t other)
{
    uint32_t m = a->members[cell], root = a->cell[cell].root, root_b = b->cell[other].root;
    if (!m || !b->members[other])
        return m == b->members[other];
    if (m != b->members[other] || m != tree_size(race_pool(a), root) ||
        m != tree_size(race_pool(b), root_b))
        return false;
    for (uint32_t j = 0; j < m; j++)
        if (*tree_select(race_pool(a), root, j) != *tree_select(race_pool(b), root_b, j))
            return false;
    return true;
}

bool race_index_agrees(const race_index *a, const race_index *b)
{
    if (a->n_items != b->n_items || a->overfull != b->overfull || a->n_quads != b->n_quads)
        return false;
    if (a->overfull)
        return true;
    if (memcmp(a->where, b->where, a->n_items * sizeof *a->where) != 0)
        return false;
    for (uint32_t c = 0; c < 4 * a->n_quads; c++) {
        uint32_t q = find_quad(b, a->quad[c / 4]);
        if (q == NO_QUAD || !same_members(a, c, b, 4 * q + c % 4))
            return false;
    }
    return true;
}
