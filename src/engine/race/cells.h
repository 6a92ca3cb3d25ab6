/* cells.h - the index of a race: every item in the cell of its posterior, and of each cell the
 * members in ascending order and the limits by which it is passed over.
 *
 * One block without pointers, in the state of a policy, derived from the sums.  Which items a cell
 * has is a function of the posteriors.  Where a cell lies in the arrays, how full the nodes of its
 * tree are, and the threshold tau depend on the past, and change the time of a ranking, never its
 * result.
 *
 * Memory: 4 bytes an item for the key of its cell, 8 for nodes, and 2 MB for the cells.  When the
 * nodes are used up, the index is built anew, which fills them; that happens after at least n / 72
 * splits.  More than RACE_QUADS quads of cells, a function of the posteriors as well, have no
 * index: `overfull`, and the policy samples every item until there are fewer.
 */
#ifndef OLTR_ENGINE_RACE_CELLS_H
#define OLTR_ENGINE_RACE_CELLS_H

#include <stddef.h>

#include "engine/base/layout.h"
#include "engine/race/family.h"
#include "engine/race/order_tree.h"

/* Cells are kept in quads, four whose keys differ in the last two bits, so that one block of the
 * generator serves four.  Cell 4q + l is lane l of quad q. */
enum { RACE_QUADS = 1536, RACE_CELLS = 4 * RACE_QUADS, RACE_HASH = 4096 };

typedef struct race_cell {
    cell_shape shape;
    double load;         /* of one member: the chance of the middle to exceed tau */
    uint32_t root, tail; /* of the tree; the tail only while it is built */
} race_cell;

typedef struct race_index {
    uint32_t n_items, n_nodes;
    uint32_t n_quads;
    uint32_t overfull; /* 1: there are no cells */
    /* The threshold: about `want` items are expected to exceed tau, `load` by the middles of the
     * cells. */
    double tau, want, load;
    uint32_t k; /* for lists of so many */
    uint32_t longest;
    double aim;                     /* multiplies `want`; 1 but in tests */
    uint32_t quad[RACE_QUADS];      /* key of each quad: the keys of its cells / 4 */
    uint32_t limit[4 * RACE_QUADS]; /* (4, RACE_QUADS) for first_arrivals */
    uint32_t members[RACE_CELLS];   /* how many */
    double hazard[RACE_CELLS];      /* of the bound at tau */
    race_cell cell[RACE_CELLS];
    uint16_t hash[RACE_HASH]; /* quad + 1 by its key, 0 for none; linear probing */
    uint32_t where[];         /* (n_items) key of each item's cell; then the pool */
} race_index;

/* 0 when the size does not fit in memory. */
size_t race_index_bytes(uint32_t n_items);

/* In memory that is aligned to 64 bytes, for lists of at most `longest`; then build it. */
void race_index_init(race_index *index, uint32_t n_items, uint32_t longest);
/* From the posteriors alone, in O(n_items). */
void race_build(race_index *index, const race_items *items);
/* The posteriors of some items may have changed; and the threshold follows, for lists of k. */
void race_learned(race_index *index, const race_items *items, const uint32_t *item, uint32_t n,
                  uint32_t k);

/* Whether both have the same members in every cell. */
bool race_index_agrees(const race_index *a, const race_index *b);

/* ---- for race.c */

static inline tree_pool *race_pool(const race_index *index)
{
    size_t at = align_up(sizeof *index + index->n_items * sizeof(uint32_t));
    return (tree_pool *)(void *)((unsigned char *)index + at);
}

static inline uint32_t cell_key(const race_index *index, uint32_t cell)
{
    return index->quad[cell / 4] << 2 | cell % 4;
}

/* How many should be expected above tau for a list of k. */
double race_want(const race_index *index, uint32_t k);
/* A tau above which the middles expect about `want`. */
double race_threshold(const race_index *index, const race_family *family, double want);

#endif
