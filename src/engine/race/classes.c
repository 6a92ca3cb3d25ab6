/* classes.c - see classes.h. */
#include "engine/race/classes.h"

#include <string.h>

#include "engine/race/mutation.h"

enum { MOST_CLASSES = 16384, LEAST_CLASSES = 512, ITEMS_PER_CLASS = 32 };

static uint32_t most_classes(uint32_t n_items)
{
    uint32_t most = n_items / ITEMS_PER_CLASS;
    return most < LEAST_CLASSES ? LEAST_CLASSES : most > MOST_CLASSES ? MOST_CLASSES : most;
}

uint32_t class_places(uint32_t n_items)
{
    return most_classes(n_items) + 1;
}

/* Where everything is. */
static class_index plan(uint32_t n_items, layout *l)
{
    class_index x = {.n_items = n_items, .most = most_classes(n_items), .n_hash = 1};
    while (x.n_hash < 2 * (x.most + 1))
        x.n_hash *= 2;
    x.n_nodes = tree_nodes_for(n_items, x.most);
    *l = (layout){sizeof x, false};
    x.entry = layout_take(l, x.most + 1, sizeof(class_entry));
    x.hash = layout_take(l, x.n_hash, sizeof(uint32_t));
    x.where = layout_take(l, n_items, sizeof(uint32_t));
    x.pool = layout_take(l, tree_pool_bytes(x.n_nodes), 1);
    return x;
}

size_t class_index_bytes(uint32_t n_items)
{
    layout l;
    plan(n_items, &l);
    return layout_bytes(&l);
}

void class_index_init(class_index *index, uint32_t n_items)
{
    layout l;
    *index = plan(n_items, &l);
}

/* ---- places by their keys */

static bool same_key(class_key a, class_key b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static uint32_t hash_of(class_key key)
{
    uint64_t word[2], h;
    memcpy(word, &key, sizeof word);
    h = word[0] * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32 ^ word[1]) * 0xD6E8FEB86659FD93u;
    return (uint32_t)(h >> 32);
}

static uint32_t *hash_at(const class_index *x, uint32_t h)
{
    return &words_in(x, x->hash)[h & (x->n_hash - 1)];
}

uint32_t class_at_key(const class_index *x, class_key key)
{
    for (uint32_t h = hash_of(key);; h++) {
        uint32_t found = *hash_at(x, h);
        if (!found)
            return NO_CLASS;
        if (same_key(class_entries(x)[found - 1].key, key))
            return found - 1;
    }
}

static void hash_put(class_index *x, class_key key, uint32_t place)
{
    uint32_t h = hash_of(key);
    while (*hash_at(x, h))
        h++;
    *hash_at(x, h) = place + 1;
}

/* Linear probing without marks of removal: later entries move up into the hole. */
static void hash_remove(class_index *x, uint32_t place)
{
    uint32_t hole = hash_of(class_entries(x)[place].key), mask = x->n_hash - 1;
    while (*hash_at(x, hole) != place + 1)
        hole++;
    for (uint32_t at = hole + 1;; at++) {
        uint32_t found = *hash_at(x, at);
        if (!found)
            break;
        uint32_t home = hash_of(class_entries(x)[found - 1].key);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            *hash_at(x, hole) = found;
            hole = at;
        }
    }
    *hash_at(x, hole) = 0;
}

/* ---- classes */

/* A new class without members; there is a place. */
static uint32_t add_class(class_index *x, const class_owner *owner, class_key key)
{
    uint32_t place = x->free;
    class_entry *entry = class_entries(x);
    if (place != NO_CLASS)
        x->free = entry[place].root;
    else
        place = x->n_places++;
    entry[place] = (class_entry){.key = key, .root = NO_NODE, .tail = NO_NODE};
    hash_put(x, key, place);
    x->n_alive++;
    owner->derive(owner->state, place, key);
    return place;
}

static void lose_member(class_index *x, uint32_t place)
{
    class_entry *entry = &class_entries(x)[place];
    if (--entry->members)
        return;
    hash_remove(x, place);
    entry->root = x->free;
    x->free = place;
    x->n_alive--;
}

static void clear(class_index *x)
{
    memset(hash_at(x, 0), 0, x->n_hash * sizeof(uint32_t));
    tree_pool_clear(class_pool(x), x->n_nodes);
    x->n_places = x->n_alive = x->overfull = 0;
    x->free = NO_CLASS;
}

/* Every item at the end of the chain of leaves of its class, until there are too many classes.  The
 * other items then belong to no witness. */
static void chain_items(class_index *x, const class_owner *owner)
{
    uint32_t *where = words_in(x, x->where), place = NO_CLASS, i = 0;
    class_key last = {0, 0};
    for (; i < x->n_items && x->n_alive <= x->most; i++) {
        class_key key = owner->key(owner->state, i);
        if (place == NO_CLASS || !same_key(key, last))
            place = class_at_key(x, key);
        if (place == NO_CLASS)
            place = add_class(x, owner, key);
        last = key;
        class_entry *entry = &class_entries(x)[place];
        tree_append(class_pool(x), &entry->root, &entry->tail, i);
        entry->members++;
        where[i] = place;
    }
    for (; i < x->n_items; i++)
        where[i] = NO_CLASS;
}

/* Without trees. */
static void set_overfull(class_index *x)
{
    x->overfull = 1;
    tree_pool_clear(class_pool(x), x->n_nodes);
}

void class_index_build(class_index *x, const class_owner *owner)
{
    clear(x);
    chain_items(x, owner);
    if (x->n_alive > x->most) {
        set_overfull(x);
        return;
    }
    for (uint32_t place = 0; place < x->n_places; place++)
        tree_finish(class_pool(x), &class_entries(x)[place].root);
}

/* ---- changes */

/* An item among the witnesses: it leaves one, and joins or becomes another. */
static void move_witness(class_index *x, const class_owner *owner, uint32_t item, class_key key)
{
    uint32_t *where = &words_in(x, x->where)[item], place = class_at_key(x, key);
    if (*where != NO_CLASS && *where == place)
        return;
    if (*where != NO_CLASS)
        lose_member(x, *where);
    if (place == NO_CLASS && x->n_alive <= x->most)
        place = add_class(x, owner, key);
    *where = place;
    if (place != NO_CLASS)
        class_entries(x)[place].members++;
    if (x->n_alive <= x->most - x->most / 4)
        class_index_build(x, owner);
}

/* A move to come: the item's new key, the place of that class or NO_CLASS, and the ways in the
 * trees.  Moves of other items may change all of it but the key. */
typedef struct class_move {
    class_key key;
    uint32_t item, to;
    tree_path *out, *in;
} class_move;

static bool is_class(const class_index *x, uint32_t place, class_key key)
{
    const class_entry *entry = class_entries(x);
    return place != NO_CLASS && entry[place].members && same_key(entry[place].key, key);
}

static void move_item(class_index *x, const class_owner *owner, const class_move *m)
{
    uint32_t *where = &words_in(x, x->where)[m->item], place = m->to;
    class_entry *entry = class_entries(x);
    if (x->overfull) {
        move_witness(x, owner, m->item, m->key);
        return;
    }
    if (same_key(entry[*where].key, m->key))
        return;
    tree_remove_along(class_pool(x), &entry[*where].root, m->out);
    lose_member(x, *where);
    if (!is_class(x, place, m->key))
        place = class_at_key(x, m->key);
    if (place == NO_CLASS)
        place = add_class(x, owner, m->key);
    *where = place;
    entry[place].members++;
    if (x->n_alive > x->most)
        set_overfull(x);
    else if (!tree_insert_along(class_pool(x), &entry[place].root, m->in))
        class_index_build(x, owner); /* the nodes are used up: full ones */
}

/* Plans the moves of a few items: their searches run side by side, so that cache misses overlap. */
enum { FEW_MOVES = 16 };
static void move_few(class_index *x, const class_owner *owner, const uint32_t *item, uint32_t n)
{
    class_move move[FEW_MOVES];
    tree_path path[2 * FEW_MOVES];
    for (uint32_t j = 0; j < n; j++) {
        class_key key = owner->key(owner->state, item[j]);
        uint32_t from = class_of_item(x, item[j]);
        uint32_t to = j && same_key(key, move[j - 1].key) ? move[j - 1].to : class_at_key(x, key);
        move[j] = (class_move){key, item[j], to, &path[2 * j], &path[2 * j + 1]};
        uint32_t root = x->overfull ? NO_NODE : class_entries(x)[from].root;
        uint32_t new_root = x->overfull || to == NO_CLASS ? NO_NODE : class_entries(x)[to].root;
        tree_path_begin(class_pool(x), root, item[j], move[j].out);
        tree_path_begin(class_pool(x), new_root, item[j], move[j].in);
    }
    tree_path_all(class_pool(x), path, 2 * n);
    for (uint32_t j = 0; j < n; j++)
        if (!(MUTATED(SOME_NOT_MOVED) && item[j] % 8 == 0))
            move_item(x, owner, &move[j]);
}

void class_index_moved(class_index *x, const class_owner *owner, const uint32_t *item, uint32_t n)
{
    for (uint32_t j = 0; j < n; j += FEW_MOVES)
        move_few(x, owner, item + j, n - j < FEW_MOVES ? n - j : FEW_MOVES);
}

void class_index_dissolve(class_index *x, const class_owner *owner, uint32_t place)
{
    class_key key = class_entries(x)[place].key;
    while (!x->overfull && class_at_key(x, key) == place) {
        const class_entry *entry = &class_entries(x)[place];
        move_few(x, owner, tree_select(class_pool(x), entry->root, entry->members - 1), 1);
    }
}

/* ---- comparison */

static bool same_members(const class_index *a, const class_entry *p, const class_index *b,
                         const class_entry *q)
{
    if (p->members != q->members || p->members != tree_size(class_pool(a), p->root) ||
        q->members != tree_size(class_pool(b), q->root))
        return false;
    for (uint32_t j = 0; j < p->members; j++)
        if (*tree_select(class_pool(a), p->root, j) != *tree_select(class_pool(b), q->root, j))
            return false;
    return true;
}

bool class_index_agrees(const class_index *a, const class_index *b)
{
    if (a->overfull || b->overfull)
        return a->n_items == b->n_items;
    if (a->n_items != b->n_items || a->n_alive != b->n_alive)
        return false;
    for (uint32_t i = 0; i < a->n_items; i++)
        if (!same_key(class_entries(a)[class_of_item(a, i)].key,
                      class_entries(b)[class_of_item(b, i)].key))
            return false;
    for (uint32_t place = 0; place < a->n_places; place++) {
        const class_entry *p = &class_entries(a)[place];
        uint32_t other = p->members ? class_at_key(b, p->key) : NO_CLASS;
        if (p->members && (other == NO_CLASS || !same_members(a, p, b, &class_entries(b)[other])))
            return false;
    }
    return true;
}
