/* order_tree.h - sets of item numbers in ascending order, many in one pool of nodes: insert,
 * remove, select the j-th smallest, count those below a number.
 *
 * Counted B+-trees.  A node has 256 bytes: a leaf holds up to 62 numbers, an inner node up to 16
 * children, one cache line each for their places, for how many numbers are before them, and for the
 * numbers that separate them.  Ten million numbers are six levels.  The pool is one block of fixed
 * size without pointers: a tree is the index of its root, NO_NODE when it is empty.  Neighbours are
 * joined when they fill at most 7/8 of a node, so that trees which shrink give their nodes back.
 */
#ifndef OLTR_ENGINE_RACE_ORDER_TREE_H
#define OLTR_ENGINE_RACE_ORDER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two neighbours below an inner node have at least nine children together: no tree is deeper. */
enum { TREE_LEAF = 62, TREE_FAN = 16, TREE_DEEPEST = 16 };
#define NO_NODE UINT32_MAX

/* Entries from n on are UINT32_MAX, so that a search needs not read n. */
typedef struct tree_node {
    uint16_t n;     /* numbers of a leaf, children of an inner node */
    uint16_t level; /* 0: a leaf */
    uint32_t next;  /* free nodes, and nodes of a level while a tree is built */
    union {
        uint32_t word[TREE_LEAF]; /* leaf: the numbers */
        struct {
            uint32_t total; /* numbers below the node */
            uint32_t reserved[13];
            uint32_t child[TREE_FAN];
            uint32_t before[TREE_FAN]; /* numbers in the children before this one */
            uint32_t first[TREE_FAN];  /* 0 of the first child; else at most the child's smallest
                                          number, and above all numbers before it */
        };
    };
} tree_node;

typedef struct tree_pool {
    uint32_t n_nodes, n_used; /* nodes from n_used on were never taken */
    uint32_t free, n_free;    /* the list of those given back, and its length */
    uint32_t shape;           /* another number after each node that was taken or given back */
    uint32_t reserved[11];
    tree_node node[];
} tree_pool;

/* Nodes for n numbers in at most `trees` trees: enough to build them, and to change them for a
 * while before they have to be built anew. */
uint32_t tree_nodes_for(uint32_t n, uint32_t trees);
/* 0 when the size does not fit in memory. */
size_t tree_pool_bytes(size_t n_nodes);
/* The memory must have been written, with any value. */
void tree_pool_clear(tree_pool *pool, uint32_t n_nodes);

/* Adds a number that is not in the tree.  False, and nothing changed, when the pool may not have
 * the nodes for it. */
bool tree_insert(tree_pool *pool, uint32_t *root, uint32_t number);
/* Removes a number; false when it is not in the tree. */
bool tree_remove(tree_pool *pool, uint32_t *root, uint32_t number);

/* The j-th smallest number, j from 0 and below the size; and where it is. */
const uint32_t *tree_select(const tree_pool *pool, uint32_t root, uint32_t j);
/* How many numbers are below a number; and how many there are. */
uint32_t tree_below(const tree_pool *pool, uint32_t root, uint32_t number);
uint32_t tree_size(const tree_pool *pool, uint32_t root);

/* Many searches side by side, level by level, so that their cache misses overlap. */
typedef struct tree_search {
    uint32_t node, level;
    uint32_t key; /* the number that is searched; or which of the numbers below the node */
} tree_search;
tree_search tree_search_of(const tree_pool *pool, uint32_t root, uint32_t key);
/* For the key-th smallest numbers: afterwards the leaf `node` has it at place `key`. */
void tree_select_all(const tree_pool *pool, tree_search *s, uint32_t n);

/* The same before several changes: the way to the leaf that has a number or would have it.  A path
 * whose tree has another shape by now is found again; so any path may be given for the number. */
typedef struct tree_path {
    uint32_t number, shape;
    uint32_t place;                  /* in the leaf, unless that has changed by now */
    uint32_t top;                    /* level of the root */
    uint32_t node[TREE_DEEPEST + 1]; /* by level */
    uint8_t child[TREE_DEEPEST + 1]; /* which child of that node */
} tree_path;
/* A path without its way: at the root. */
void tree_path_begin(const tree_pool *pool, uint32_t root, uint32_t number, tree_path *path);
void tree_path_all(const tree_pool *pool, tree_path *path, uint32_t n);
bool tree_insert_along(tree_pool *pool, uint32_t *root, tree_path *path);
bool tree_remove_along(tree_pool *pool, uint32_t *root, tree_path *path);

/* Building: append numbers in ascending order, then finish, in O(1) a number.  Until then the root
 * is the first leaf.  False when the pool has no node. */
bool tree_append(tree_pool *pool, uint32_t *root, uint32_t *tail, uint32_t number);
bool tree_finish(tree_pool *pool, uint32_t *root);

#endif
