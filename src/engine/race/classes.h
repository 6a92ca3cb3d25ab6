/* classes.h - items with equal sums, or whatever else decides their index, as classes: an index
 * that is a function of two numbers is computed once for each class, not for each item.
 *
 * Of each class the members are in ascending order (order_tree.h), so that "the j-th tied item" is
 * found without looking at the others: class_rank.h makes the very list that computing every index
 * and selecting the best makes, ties included.  So the index decides how long a ranking takes and
 * nothing else.
 *
 * One block without pointers, in the state of a policy, derived from the sums.  Which items a class
 * has is a function of the keys; at which place it lies, and how full the nodes of its tree are,
 * depend on the past.
 *
 * Too many classes.  With more than `most` distinct keys there are no trees: `overfull`, and the
 * policy computes every item.  Then `most` + 1 classes that have members are known, their
 * witnesses, and a key that changes costs O(1).  When witnesses have become three quarters of
 * `most`, the index is built, which finds either enough other witnesses or that the classes fit: at
 * least `most` / 4 changes for one pass over the items.
 *
 * Memory: 4 bytes an item for its class, 8 for nodes, and 48 and a small leaf for each of n / 32
 * classes, of which there are at least 512 and at most 16384.
 */
#ifndef OLTR_ENGINE_RACE_CLASSES_H
#define OLTR_ENGINE_RACE_CLASSES_H

#include "engine/base/layout.h"
#include "engine/race/order_tree.h"

/* What the index of an item is a function of.  Keys are equal when their bits are. */
typedef struct class_key {
    double a, b;
} class_key;

/* The policy's part: the key of an item, and what it derives for a class that is new at a place. */
typedef struct class_owner {
    void *state;
    class_key (*key)(const void *state, uint32_t item);
    void (*derive)(void *state, uint32_t place, class_key key);
} class_owner;

typedef struct class_entry {
    class_key key;
    uint32_t root, tail; /* of the tree; of a free place the next free one; the tail while it is
                            built */
    uint32_t members;    /* 0: the place is free */
    uint32_t padding;
} class_entry;

typedef struct class_index {
    uint32_t n_items, n_nodes;
    uint32_t most;     /* classes */
    uint32_t n_hash;   /* a power of 2 */
    uint32_t n_places; /* places from here on were never taken */
    uint32_t n_alive;  /* classes with members */
    uint32_t free;     /* the first free place below n_places, or NO_CLASS */
    uint32_t overfull;
    size_t entry, hash, where, pool; /* offsets */
} class_index;
#define NO_CLASS UINT32_MAX

/* With fewer items an index takes more time than it saves. */
enum { CLASSES_LEAST_ITEMS = 4096 };

/* Places that a policy needs for what it derives: one more than there may be classes. */
uint32_t class_places(uint32_t n_items);
/* 0 when the size does not fit in memory. */
size_t class_index_bytes(uint32_t n_items);

/* In memory that is aligned to 64 bytes and zero; then build it. */
void class_index_init(class_index *index, uint32_t n_items);
/* From the keys alone, in O(n_items). */
void class_index_build(class_index *index, const class_owner *owner);
/* The keys of some items may have changed. */
void class_index_moved(class_index *index, const class_owner *owner, const uint32_t *item,
                       uint32_t n);
/* All members of the class at a place have the key of another by now. */
void class_index_dissolve(class_index *index, const class_owner *owner, uint32_t place);

/* Whether both have the same members in every class, unless one has none. */
bool class_index_agrees(const class_index *a, const class_index *b);
/* The place of the class with a key, or NO_CLASS. */
uint32_t class_at_key(const class_index *index, class_key key);

static inline class_entry *class_entries(const class_index *index)
{
    return (class_entry *)(void *)((unsigned char *)index + index->entry);
}

static inline tree_pool *class_pool(const class_index *index)
{
    return (tree_pool *)(void *)((unsigned char *)index + index->pool);
}

/* The place of an item's class; NO_CLASS only while the index is overfull. */
static inline uint32_t class_of_item(const class_index *index, uint32_t item)
{
    return words_in(index, index->where)[item];
}

#endif
