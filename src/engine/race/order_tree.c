/* order_tree.c - see order_tree.h.
 *
 * Insertion and removal go down to the leaf recursively and repair on the way back: at most
 * DEEPEST levels, because every inner node but the root keeps more than TREE_FAN / 3 children
 * together with a neighbour.
 */
#include "engine/race/order_tree.h"

#include <string.h>

#include "engine/base/layout.h"

enum {
    DEEPEST = 10,                    /* nodes that one insertion can need: one a level */
    JOINED_LEAF = TREE_LEAF * 7 / 8, /* neighbours with at most so many together are joined */
    JOINED_FAN = TREE_FAN * 7 / 8,
    CHILD = 0, /* the three arrays of an inner node */
    COUNT = TREE_FAN,
    FIRST = 2 * TREE_FAN,
};

_Static_assert(sizeof(tree_node) == 512, "a node is eight cache lines");
_Static_assert(sizeof(tree_pool) == 64, "the nodes are aligned as the pool is");

/* A tree of m numbers that is built takes at most 1 + 2 m / 127 nodes: three for 127. */
uint32_t tree_nodes_for(uint32_t n, uint32_t trees)
{
    return n / 63 + trees + 64;
}

size_t tree_pool_bytes(size_t n_nodes)
{
    layout l = {sizeof(tree_pool), false};
    layout_take(&l, n_nodes, sizeof(tree_node));
    return layout_bytes(&l);
}

void tree_pool_clear(tree_pool *pool, uint32_t n_nodes)
{
    *pool = (tree_pool){.n_nodes = n_nodes, .free = NO_NODE};
}

static uint32_t nodes_left(const tree_pool *pool)
{
    return pool->n_nodes - pool->n_used + pool->n_free;
}

/* There is one. */
static uint32_t take_node(tree_pool *pool, uint16_t level)
{
    uint32_t at = pool->free;
    if (at != NO_NODE) {
        pool->free = pool->node[at].next;
        pool->n_free--;
    } else
        at = pool->n_used++;
    pool->node[at].n = 0;
    pool->node[at].level = level;
    pool->node[at].next = NO_NODE;
    return at;
}

static void give_node(tree_pool *pool, uint32_t at)
{
    pool->node[at].next = pool->free;
    pool->free = at;
    pool->n_free++;
}

static uint32_t node_size(const tree_node *x)
{
    uint32_t total = 0;
    if (x->level == 0)
        return x->n;
    for (uint32_t i = 0; i < x->n; i++)
        total += x->word[COUNT + i];
    return total;
}

static uint32_t node_first(const tree_node *x)
{
    return x->level == 0 ? x->word[0] : x->word[FIRST];
}

/* The child that has a number, or would have it.  Counting all compares without a jump. */
static uint32_t child_of(const tree_node *x, uint32_t number)
{
    uint32_t k = 0;
    for (uint32_t i = 1; i < x->n; i++)
        k += x->word[FIRST + i] <= number;
    return k;
}

static uint32_t place_in_leaf(const tree_node *x, uint32_t number)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < x->n; i++)
        k += x->word[i] < number;
    return k;
}

static void open_gap(uint32_t *word, uint32_t n, uint32_t at)
{
    memmove(word + at + 1, word + at, (n - at) * sizeof *word);
}

static void close_gap(uint32_t *word, uint32_t n, uint32_t at)
{
    memmove(word + at, word + at + 1, (n - at - 1) * sizeof *word);
}

/* Moves the entries of x from `half` on to the empty node y; from_array: of one array of it. */
static void move_tail(tree_node *y, tree_node *x, uint32_t half)
{
    uint32_t arrays = x->level == 0 ? 1 : 3, stride = x->level == 0 ? 0 : TREE_FAN, n = x->n - half;
    for (uint32_t a = 0; a < arrays; a++)
        memcpy(y->word + a * stride, x->word + a * stride + half, n * sizeof *y->word);
    y->n = (uint16_t)n;
    x->n = (uint16_t)half;
}

/* Makes room in a full node for an entry at *k: the upper half goes to a new node, which is
 * returned, and *x is the one that gets the entry.  Numbers that are appended leave full leaves. */
static uint32_t split_node(tree_pool *pool, tree_node **x, uint32_t *k)
{
    uint32_t right = take_node(pool, (*x)->level), n = (*x)->n, half = *k == n ? n - 1 : n / 2;
    tree_node *y = &pool->node[right];
    move_tail(y, *x, half);
    if (*k > half) {
        *x = y;
        *k -= half;
    }
    return right;
}

static uint32_t insert_in_leaf(tree_pool *pool, tree_node *x, uint32_t number)
{
    uint32_t k = place_in_leaf(x, number), right = NO_NODE;
    if (x->n == TREE_LEAF)
        right = split_node(pool, &x, &k);
    open_gap(x->word, x->n, k);
    x->word[k] = number;
    x->n++;
    return right;
}

/* A child at place k, which may split the node. */
static uint32_t insert_child(tree_pool *pool, tree_node *x, uint32_t k, uint32_t child)
{
    uint32_t right = NO_NODE;
    if (x->n == TREE_FAN)
        right = split_node(pool, &x, &k);
    for (uint32_t a = 0; a < 3; a++)
        open_gap(x->word + a * TREE_FAN, x->n, k);
    x->word[CHILD + k] = child;
    x->word[COUNT + k] = node_size(&pool->node[child]);
    x->word[FIRST + k] = node_first(&pool->node[child]);
    x->n++;
    return right;
}

/* Returns the node that was split off to the right, or NO_NODE. */
static uint32_t insert_below(tree_pool *pool, uint32_t at, uint32_t number)
{
    tree_node *x = &pool->node[at];
    if (x->level == 0)
        return insert_in_leaf(pool, x, number);
    uint32_t k = child_of(x, number);
    uint32_t more = insert_below(pool, x->word[CHILD + k], number);
    x->word[COUNT + k]++;
    if (number < x->word[FIRST + k])
        x->word[FIRST + k] = number;
    if (more == NO_NODE)
        return NO_NODE;
    x->word[COUNT + k] -= node_size(&pool->node[more]);
    return insert_child(pool, x, k + 1, more);
}

bool tree_insert(tree_pool *pool, uint32_t *root, uint32_t number)
{
    if (nodes_left(pool) < DEEPEST)
        return false;
    if (*root == NO_NODE)
        *root = take_node(pool, 0);
    uint32_t more = insert_below(pool, *root, number);
    if (more != NO_NODE) {
        uint32_t top = take_node(pool, (uint16_t)(pool->node[*root].level + 1));
        insert_child(pool, &pool->node[top], 0, *root);
        insert_child(pool, &pool->node[top], 1, more);
        *root = top;
    }
    return true;
}

static void drop_child(tree_pool *pool, tree_node *x, uint32_t k)
{
    give_node(pool, x->word[CHILD + k]);
    for (uint32_t a = 0; a < 3; a++)
        close_gap(x->word + a * TREE_FAN, x->n, k);
    x->n--;
}

/* Joins the children k and k + 1 of x if they fit; true if they did. */
static bool join_children(tree_pool *pool, tree_node *x, uint32_t k)
{
    if (k + 1 >= x->n)
        return false;
    tree_node *left = &pool->node[x->word[CHILD + k]], *right = &pool->node[x->word[CHILD + k + 1]];
    if (left->n + right->n > (left->level == 0 ? JOINED_LEAF : JOINED_FAN))
        return false;
    uint32_t arrays = left->level == 0 ? 1 : 3;
    for (uint32_t a = 0; a < arrays; a++)
        memcpy(left->word + a * TREE_FAN + left->n, right->word + a * TREE_FAN,
               right->n * sizeof *left->word);
    left->n = (uint16_t)(left->n + right->n);
    x->word[COUNT + k] += x->word[COUNT + k + 1];
    drop_child(pool, x, k + 1);
    return true;
}

static bool remove_below(tree_pool *pool, uint32_t at, uint32_t number)
{
    tree_node *x = &pool->node[at];
    if (x->level == 0) {
        uint32_t k = place_in_leaf(x, number);
        if (k == x->n || x->word[k] != number)
            return false;
        close_gap(x->word, x->n, k);
        x->n--;
        return true;
    }
    uint32_t k = child_of(x, number);
    if (!remove_below(pool, x->word[CHILD + k], number))
        return false;
    if (--x->word[COUNT + k] == 0)
        drop_child(pool, x, k);
    else {
        x->word[FIRST + k] = node_first(&pool->node[x->word[CHILD + k]]);
        if (!join_children(pool, x, k) && k > 0)
            join_children(pool, x, k - 1);
    }
    return true;
}

bool tree_remove(tree_pool *pool, uint32_t *root, uint32_t number)
{
    if (*root == NO_NODE || !remove_below(pool, *root, number))
        return false;
    tree_node *top = &pool->node[*root];
    while (top->level && top->n == 1) {
        give_node(pool, *root);
        *root = top->word[CHILD];
        top = &pool->node[*root];
    }
    if (top->n == 0) {
        give_node(pool, *root);
        *root = NO_NODE;
    }
    return true;
}

const uint32_t *tree_select(const tree_pool *pool, uint32_t root, uint32_t j)
{
    const tree_node *x = &pool->node[root];
    while (x->level) {
        uint32_t k = 0;
        while (j >= x->word[COUNT + k])
            j -= x->word[COUNT + k++];
        x = &pool->node[x->word[CHILD + k]];
    }
    return &x->word[j];
}

uint32_t tree_below(const tree_pool *pool, uint32_t root, uint32_t number)
{
    uint32_t below = 0;
    if (root == NO_NODE)
        return 0;
    const tree_node *x = &pool->node[root];
    while (x->level) {
        uint32_t k = child_of(x, number);
        for (uint32_t i = 0; i < k; i++)
            below += x->word[COUNT + i];
        x = &pool->node[x->word[CHILD + k]];
    }
    return below + place_in_leaf(x, number);
}

uint32_t tree_size(const tree_pool *pool, uint32_t root)
{
    return root == NO_NODE ? 0 : node_size(&pool->node[root]);
}

tree_search tree_search_of(const tree_pool *pool, uint32_t root, uint32_t key)
{
    return (tree_search){root, root == NO_NODE ? 0 : pool->node[root].level, key};
}

/* Asks for the words from..to-1 of a node. */
static void prefetch_words(const tree_node *x, uint32_t from, uint32_t to)
{
    enum { LINE = LAYOUT_ALIGN / sizeof(uint32_t) };
    for (uint32_t word = from; word < to + LINE - 1; word += LINE)
        __builtin_prefetch(&x->word[word < to ? word : to - 1]);
}

void tree_select_step(const tree_pool *pool, tree_search *s)
{
    const tree_node *x = &pool->node[s->node];
    uint32_t k = 0;
    while (s->key >= x->word[COUNT + k])
        s->key -= x->word[COUNT + k++];
    s->node = x->word[CHILD + k];
    x = &pool->node[s->node];
    if (--s->level)
        prefetch_words(x, COUNT, COUNT + TREE_FAN);
    else
        __builtin_prefetch(&x->word[s->key]);
}

void tree_find_step(const tree_pool *pool, tree_search *s)
{
    const tree_node *x = &pool->node[s->node];
    s->node = x->word[CHILD + child_of(x, s->key)];
    x = &pool->node[s->node];
    __builtin_prefetch(x);
    if (--s->level)
        prefetch_words(x, FIRST, FIRST + TREE_FAN);
    else
        prefetch_words(x, 0, TREE_LEAF);
}

bool tree_append(tree_pool *pool, uint32_t *root, uint32_t *tail, uint32_t number)
{
    if (*root == NO_NODE || pool->node[*tail].n == TREE_LEAF) {
        if (!nodes_left(pool))
            return false;
        uint32_t leaf = take_node(pool, 0);
        if (*root == NO_NODE)
            *root = leaf;
        else
            pool->node[*tail].next = leaf;
        *tail = leaf;
    }
    tree_node *x = &pool->node[*tail];
    x->word[x->n++] = number;
    return true;
}

/* The level above the nodes that are linked from `first` on; NO_NODE without nodes for it. */
static uint32_t next_level(tree_pool *pool, uint32_t first)
{
    uint32_t above = NO_NODE, at = NO_NODE;
    while (first != NO_NODE) {
        if (at == NO_NODE || pool->node[at].n == TREE_FAN) {
            if (!nodes_left(pool))
                return NO_NODE;
            uint32_t inner = take_node(pool, (uint16_t)(pool->node[first].level + 1));
            if (at == NO_NODE)
                above = inner;
            else
                pool->node[at].next = inner;
            at = inner;
        }
        insert_child(pool, &pool->node[at], pool->node[at].n, first);
        uint32_t next = pool->node[first].next;
        pool->node[first].next = NO_NODE;
        first = next;
    }
    return above;
}

bool tree_finish(tree_pool *pool, uint32_t *root)
{
    while (*root != NO_NODE && pool->node[*root].next != NO_NODE)
        *root = next_level(pool, *root);
    return *root != NO_NODE;
}
