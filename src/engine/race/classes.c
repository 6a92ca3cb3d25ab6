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

static void move_item(class_index *x, const class_owner *owner, uint32_t item)
{
    uint32_t *where = &words_in(x, x->where)[item];
    class_key key = owner->key(owner->state, item);
    class_entry *entry = class_entries(x);
    if (x->overfull) {
        move_witness(x, owner, item, key);
        return;
    }
    if (same_key(entry[*where].key, key))
        return;
    tree_remove(class_pool(x), &entry[*where].root, item);
    lose_member(x, *where);
    uint32_t place = class_at_key(x, key);
    if (place == NO_CLASS)
        place = add_class(x, owner, key);
    *where = place;
    entry[place].members++;
    if (x->n_alive > x->most)
        set_overfull(x);
    else if (!tree_insert(class_pool(x), &entry[place].root, item))
        class_index_build(x, owner); /* the nodes are used up: full ones */
}

/* Asks the processor for the leaves that the moves of a few items will read and write. */
enum { FEW_MOVES = 32 };
static void prefetch_moves(const class_index *x, const class_owner *owner, const uint32_t *item,
                           uint32_t n)
{
    tree_search s[2 * FEW_MOVES];
    uint32_t many = 0;
    for (uint32_t j = 0; j < n; j++) {
        const class_entry *from = &class_entries(x)[class_of_item(x, item[j])];
        class_key key = owner->key(owner->state, item[j]);
        if (same_key(from->key, key))
            continue;
        uint32_t to = class_at_key(x, key);
        s[many++] = tree_search_of(class_pool(x), from->root, item[j]);
        if (to != NO_CLASS)
            s[many++] = tree_search_of(class_pool(x), class_entries(x)[to].root, item[j]);
    }
    for (bool deeper = true; deeper;) {
        deeper = false;
        for (uint32_t j = 0; j < many; j++)
            if (s[j].level) {
                tree_find_step(class_pool(x), &s[j]);
                deeper = true;
            }
    }
}

void class_index_moved(class_index *x, const class_owner *owner, const uint32_t *item, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++) {
        if (n > 1 && j % FEW_MOVES == 0 && !x->overfull)
            prefetch_moves(x, owner, item + j, n - j < FEW_MOVES ? n - j : FEW_MOVES);
        if (!(MUTATED(SOME_NOT_MOVED) && item[j] % 8 == 0))
            move_item(x, owner, item[j]);
    }
}

void class_index_dissolve(class_index *x, const class_owner *owner, uint32_t place)
{
    class_key key = class_entries(x)[place].key;
    while (!x->overfull && class_at_key(x, key) == place) {
        const class_entry *entry = &class_entries(x)[place];
        move_item(x, owner, *tree_select(class_pool(x), entry->root, entry->members - 1));
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
