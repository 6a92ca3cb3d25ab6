/* order_tree.h - sets of item numbers in ascending order, many in one pool of nodes: insert,
 * remove, select the j-th smallest, count those below a number.
 *
 * Counted B+-trees.  A node has 512 bytes: a leaf holds up to 126 numbers, an inner node up to 42
 * children with their counts and first numbers.  Ten million numbers are five levels.  The pool is
 * one block of fixed size without pointers: a tree is the index of its root, NO_NODE when it is
 * empty.  Neighbours are joined when they fill at most 7/8 of a node, so that trees which shrink
 * give their nodes back.
 */
#ifndef OLTR_ENGINE_RACE_ORDER_TREE_H
#define OLTR_ENGINE_RACE_ORDER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TREE_LEAF = 126, TREE_FAN = 42 };
#define NO_NODE UINT32_MAX

typedef struct tree_node {
    uint16_t n;               /* numbers of a leaf, children of an inner node */
    uint16_t level;           /* 0: a leaf */
    uint32_t next;            /* free nodes, and nodes of a level while a tree is built */
    uint32_t word[TREE_LEAF]; /* leaf: numbers; inner: children, counts, first numbers */
} tree_node;

typedef struct tree_pool {
    uint32_t n_nodes, n_used; /* nodes from n_used on were never taken */
    uint32_t free, n_free;    /* the list of those given back, and its length */
    uint32_t reserved[12];
    tree_node node[];
} tree_pool;

/* Nodes for n numbers in at most `trees` trees: enough to build them, and to change them for a
 * while before they have to be built anew. */
uint32_t tree_nodes_for(uint32_t n, uint32_t trees);
/* 0 when the size does not fit in memory. */
size_t tree_pool_bytes(size_t n_nodes);
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

/* Many searches side by side: a step goes down one level in one tree and asks the processor for
 * what the next step reads, so that the cache misses of different searches overlap. */
typedef struct tree_search {
    uint32_t node, level;
    uint32_t key; /* the number that is searched; or which of the numbers below the node */
} tree_search;
tree_search tree_search_of(const tree_pool *pool, uint32_t root, uint32_t key);
/* For the key-th smallest number: at level 0, node has it at place `key`. */
void tree_select_step(const tree_pool *pool, tree_search *s);
/* For a number: at level 0, the leaf of the number is on its way. */
void tree_find_step(const tree_pool *pool, tree_search *s);

/* Building: append numbers in ascending order, then finish, in O(1) a number.  Until then the root
 * is the first leaf.  False when the pool has no node. */
bool tree_append(tree_pool *pool, uint32_t *root, uint32_t *tail, uint32_t number);
bool tree_finish(tree_pool *pool, uint32_t *root);

#endif
