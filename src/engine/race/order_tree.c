/* order_tree.c - see order_tree.h.
 *
 * Insertion and removal go down to the leaf, note the path, and repair along it.
 */
#include "engine/race/order_tree.h"

#include <string.h>

#include "engine/base/layout.h"

enum {
    JOINED_LEAF = TREE_LEAF * 7 / 8, /* neighbours with at most so many together are joined */
    JOINED_FAN = TREE_FAN * 7 / 8,
};

_Static_assert(sizeof(tree_node) == 256, "a node is four cache lines");
_Static_assert(offsetof(tree_node, child) == 64, "each array of an inner node is a cache line");
_Static_assert(sizeof(tree_pool) == 64, "the nodes are aligned as the pool is");

/* A tree of m numbers that is built takes at most 1 + 2 m / 63 nodes: three for 63. */
uint32_t tree_nodes_for(uint32_t n, uint32_t trees)
{
    return n / 63 * 2 + 2 + trees + 64;
}

size_t tree_pool_bytes(size_t n_nodes)
{
    layout l = {sizeof(tree_pool), false};
    layout_take(&l, n_nodes, sizeof(tree_node));
    return layout_bytes(&l);
}

void tree_pool_clear(tree_pool *pool, uint32_t n_nodes)
{
    *pool = (tree_pool){.n_nodes = n_nodes, .free = NO_NODE, .shape = pool->shape + 1};
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
    pool->shape++;
    tree_node *x = &pool->node[at];
    x->n = 0;
    x->level = level;
    x->next = NO_NODE;
    memset(x->word, 0xFF, sizeof x->word);
    if (level)
        x->total = 0;
    return at;
}

static void give_node(tree_pool *pool, uint32_t at)
{
    pool->node[at].next = pool->free;
    pool->free = at;
    pool->n_free++;
    pool->shape++;
}

static uint32_t node_size(const tree_node *x)
{
    return x->level ? x->total : x->n;
}

/* ---- searches in a node: halving without a jump */

/* The last of 16 ascending entries that is at most `key`; the first always is. */
static inline uint32_t last_at_most(const uint32_t entry[TREE_FAN], uint32_t key)
{
    uint32_t k = (uint32_t)(entry[8] <= key) * 8;
    k += (uint32_t)(entry[k + 4] <= key) * 4;
    k += (uint32_t)(entry[k + 2] <= key) * 2;
    return k + (entry[k + 1] <= key);
}

/* The child that has a number, or would have it. */
static inline uint32_t child_of(const tree_node *x, uint32_t number)
{
    return last_at_most(x->first, number);
}

/* The child that has the j-th number. */
static inline uint32_t child_at(const tree_node *x, uint32_t j)
{
    return last_at_most(x->before, j);
}

/* How many of the 62 entries are smaller. */
static inline uint32_t place_in_leaf(const tree_node *x, uint32_t number)
{
    uint32_t k = (uint32_t)(x->word[30] < number) * 31;
    k += (uint32_t)(x->word[k + 14] < number) * 15;
    k += (uint32_t)(x->word[k + 7] < number) * 8;
    k += (uint32_t)(x->word[k + 3] < number) * 4;
    k += (uint32_t)(x->word[k + 1] < number) * 2;
    k += x->word[k] < number;
    return k + (x->word[k] < number);
}

/* ---- arrays of a node */

static void open_gap(uint32_t *word, uint32_t n, uint32_t at)
{
    memmove(word + at + 1, word + at, (n - at) * sizeof *word);
}

static void close_gap(uint32_t *word, uint32_t n, uint32_t at)
{
    memmove(word + at, word + at + 1, (n - at - 1) * sizeof *word);
    word[n - 1] = UINT32_MAX;
}

/* Adds `more` to the numbers of child k. */
static void count_child(tree_node *x, uint32_t k, uint32_t more)
{
    const int32_t after = (int32_t)k, n = x->n;
    for (int32_t i = 0; i < TREE_FAN; i++) /* signed: fewer instructions in vectors */
        x->before[i] += i > after && i < n ? more : 0;
    x->total += more;
}

/* The last child: its numbers are from `first` on. */
static void append_child(tree_pool *pool, tree_node *x, uint32_t child, uint32_t first)
{
    x->child[x->n] = child;
    x->before[x->n] = x->total;
    x->first[x->n] = x->n ? first : 0;
    x->total += node_size(&pool->node[child]);
    x->n++;
}

static void drop_child(tree_pool *pool, tree_node *x, uint32_t k)
{
    give_node(pool, x->child[k]);
    close_gap(x->child, x->n, k);
    close_gap(x->before, x->n, k);
    close_gap(x->first, x->n, k);
    x->n--;
    if (x->n)
        x->first[0] = 0;
}

/* ---- insertion */

/* A node that was split off to the right, or NO_NODE, and where its numbers begin. */
typedef struct split_off {
    uint32_t node, first;
} split_off;
static const split_off no_split = {NO_NODE, 0};

/* Moves the entries of x from `half` on to the empty node y. */
static void move_leaf_tail(tree_node *y, tree_node *x, uint32_t half)
{
    size_t bytes = (x->n - half) * sizeof *x->word;
    memcpy(y->word, x->word + half, bytes);
    memset(x->word + half, 0xFF, bytes);
}

static void move_inner_tail(tree_node *y, tree_node *x, uint32_t half)
{
    uint32_t n = x->n - half, left = x->before[half];
    for (uint32_t i = 0; i < n; i++) {
        y->child[i] = x->child[half + i];
        y->before[i] = x->before[half + i] - left;
        y->first[i] = x->first[half + i];
        x->child[half + i] = x->before[half + i] = x->first[half + i] = UINT32_MAX;
    }
    y->first[0] = 0;
    y->total = x->total - left;
    x->total = left;
}

/* Makes room in a full node for an entry at *k: the upper half goes to a new node, and *x is the
 * one that gets the entry.  Numbers that are appended leave full leaves. */
static split_off split_node(tree_pool *pool, tree_node **x, uint32_t *k)
{
    uint32_t right = take_node(pool, (*x)->level), n = (*x)->n, half = *k == n ? n - 1 : n / 2;
    tree_node *y = &pool->node[right];
    split_off split = {right, (*x)->level ? (*x)->first[half] : (*x)->word[half]};
    if ((*x)->level)
        move_inner_tail(y, *x, half);
    else
        move_leaf_tail(y, *x, half);
    y->n = (uint16_t)(n - half);
    (*x)->n = (uint16_t)half;
    if (*k > half) {
        *x = y;
        *k -= half;
    }
    return split;
}

static split_off insert_in_leaf(tree_pool *pool, tree_node *x, uint32_t k, uint32_t number)
{
    split_off split = no_split;
    if (x->n == TREE_LEAF)
        split = split_node(pool, &x, &k);
    open_gap(x->word, x->n, k);
    x->word[k] = number;
    x->n++;
    return split;
}

/* A node that was split off child k - 1 of x, whose numbers are counted there. */
static split_off insert_child(tree_pool *pool, tree_node *x, uint32_t k, split_off child)
{
    split_off split = no_split;
    if (x->n == TREE_FAN)
        split = split_node(pool, &x, &k);
    uint32_t after = k < x->n ? x->before[k] : x->total;
    open_gap(x->child, x->n, k);
    open_gap(x->before, x->n, k);
    open_gap(x->first, x->n, k);
    x->child[k] = child.node;
    x->before[k] = after - node_size(&pool->node[child.node]);
    x->first[k] = child.first;
    x->n++;
    return split;
}

/* ---- paths */

void tree_path_begin(const tree_pool *pool, uint32_t root, uint32_t number, tree_path *path)
{
    path->number = number;
    path->shape = pool->shape;
    path->place = 0;
    path->top = root == NO_NODE ? 0 : pool->node[root].level;
    path->node[path->top] = root;
}

static inline const tree_node *path_step(const tree_pool *pool, tree_path *path, uint32_t level)
{
    const tree_node *x = &pool->node[path->node[level]];
    uint32_t k = child_of(x, path->number);
    path->child[level] = (uint8_t)k;
    path->node[level - 1] = x->child[k];
    return &pool->node[x->child[k]];
}

void tree_path_all(const tree_pool *pool, tree_path *path, uint32_t n)
{
    uint32_t top = 0;
    for (uint32_t j = 0; j < n; j++)
        top = path[j].top > top ? path[j].top : top;
    for (uint32_t level = top; level; level--)
        for (uint32_t j = 0; j < n; j++)
            if (path[j].top >= level) {
                const tree_node *x = path_step(pool, &path[j], level);
                __builtin_prefetch(x);
                __builtin_prefetch(x->child);
                __builtin_prefetch(x->before);
                __builtin_prefetch(x->first);
            }
    for (uint32_t j = 0; j < n; j++)
        if (path[j].node[0] != NO_NODE)
            path[j].place = place_in_leaf(&pool->node[path[j].node[0]], path[j].number);
}

/* The place of the path's number in its leaf: that of tree_path_all(), unless the leaf has changed.
 * Searches of several paths side by side take less time than one after the other. */
static uint32_t path_place(const tree_node *leaf, const tree_path *path)
{
    uint32_t k = path->place;
    bool after = k == 0 || leaf->word[k - 1] < path->number;
    bool before = k == TREE_LEAF || leaf->word[k] >= path->number;
    return after && before ? k : place_in_leaf(leaf, path->number);
}

static void find_again(const tree_pool *pool, uint32_t root, tree_path *path)
{
    tree_path_begin(pool, root, path->number, path);
    for (uint32_t level = path->top; level; level--)
        path_step(pool, path, level);
}

static void refresh_path(const tree_pool *pool, uint32_t root, tree_path *path)
{
    if (path->shape != pool->shape || path->node[path->top] != root)
        find_again(pool, root, path);
}

static void count_path(tree_pool *pool, const tree_path *path, uint32_t more)
{
    for (uint32_t level = path->top; level; level--)
        count_child(&pool->node[path->node[level]], path->child[level], more);
}

bool tree_insert_along(tree_pool *pool, uint32_t *root, tree_path *p)
{
    if (nodes_left(pool) < TREE_DEEPEST)
        return false;
    if (*root == NO_NODE)
        *root = take_node(pool, 0);
    refresh_path(pool, *root, p);
    count_path(pool, p, 1);
    tree_node *leaf = &pool->node[p->node[0]];
    split_off split = insert_in_leaf(pool, leaf, path_place(leaf, p), p->number);
    for (uint32_t level = 1; split.node != NO_NODE && level <= p->top; level++)
        split = insert_child(pool, &pool->node[p->node[level]], p->child[level] + 1u, split);
    if (split.node != NO_NODE) {
        uint32_t top = take_node(pool, (uint16_t)(p->top + 1));
        append_child(pool, &pool->node[top], *root, 0);
        append_child(pool, &pool->node[top], split.node, split.first);
        *root = top;
    }
    return true;
}

bool tree_insert(tree_pool *pool, uint32_t *root, uint32_t number)
{
    tree_path path;
    tree_path_begin(pool, NO_NODE, number, &path);
    return tree_insert_along(pool, root, &path);
}

/* ---- removal */

static void join_leaves(tree_node *left, const tree_node *right)
{
    memcpy(left->word + left->n, right->word, right->n * sizeof *left->word);
}

static void join_inner(tree_node *left, const tree_node *right, uint32_t first)
{
    for (uint32_t i = 0; i < right->n; i++) {
        left->child[left->n + i] = right->child[i];
        left->before[left->n + i] = right->before[i] + left->total;
        left->first[left->n + i] = i ? right->first[i] : first;
    }
    left->total += right->total;
}

/* Joins the children k and k + 1 of x if they fit; true if they did. */
static bool join_children(tree_pool *pool, tree_node *x, uint32_t k)
{
    if (k + 1 >= x->n)
        return false;
    tree_node *left = &pool->node[x->child[k]], *right = &pool->node[x->child[k + 1]];
    if (left->n + right->n > (left->level == 0 ? JOINED_LEAF : JOINED_FAN))
        return false;
    if (left->level)
        join_inner(left, right, x->first[k + 1]);
    else
        join_leaves(left, right);
    left->n = (uint16_t)(left->n + right->n);
    drop_child(pool, x, k + 1);
    return true;
}

/* Child k of x has lost an entry.  Whether x loses one: the child is empty, or joined with a
 * neighbour.  A leaf that is more than half of what is joined does not look at its neighbours. */
static bool repair_child(tree_pool *pool, tree_node *x, uint32_t k)
{
    const tree_node *child = &pool->node[x->child[k]];
    if (!child->n) {
        drop_child(pool, x, k);
        return true;
    }
    if (!child->level && child->n > JOINED_LEAF / 2)
        return false;
    return join_children(pool, x, k) || (k > 0 && join_children(pool, x, k - 1));
}

/* A root with one child is none; a tree without numbers has no root. */
static void lower_root(tree_pool *pool, uint32_t *root)
{
    tree_node *top = &pool->node[*root];
    while (top->level && top->n == 1) {
        give_node(pool, *root);
        *root = top->child[0];
        top = &pool->node[*root];
    }
    if (top->n == 0) {
        give_node(pool, *root);
        *root = NO_NODE;
    }
}

bool tree_remove_along(tree_pool *pool, uint32_t *root, tree_path *p)
{
    if (*root == NO_NODE)
        return false;
    refresh_path(pool, *root, p);
    tree_node *leaf = &pool->node[p->node[0]];
    uint32_t k = path_place(leaf, p);
    if (k == leaf->n || leaf->word[k] != p->number)
        return false;
    count_path(pool, p, UINT32_MAX); /* one less */
    close_gap(leaf->word, leaf->n, k);
    leaf->n--;
    for (uint32_t level = 1;
         level <= p->top && repair_child(pool, &pool->node[p->node[level]], p->child[level]);)
        level++;
    lower_root(pool, root);
    return true;
}

bool tree_remove(tree_pool *pool, uint32_t *root, uint32_t number)
{
    tree_path path;
    tree_path_begin(pool, NO_NODE, number, &path);
    return tree_remove_along(pool, root, &path);
}

/* ---- questions */

const uint32_t *tree_select(const tree_pool *pool, uint32_t root, uint32_t j)
{
    const tree_node *x = &pool->node[root];
    while (x->level) {
        uint32_t k = child_at(x, j);
        j -= x->before[k];
        x = &pool->node[x->child[k]];
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
        below += x->before[k];
        x = &pool->node[x->child[k]];
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

/* Goes down one level, and asks for what the next step reads. */
static void select_step(const tree_pool *pool, tree_search *s)
{
    const tree_node *x = &pool->node[s->node];
    uint32_t k = child_at(x, s->key);
    s->key -= x->before[k];
    s->node = x->child[k];
    x = &pool->node[s->node];
    __builtin_prefetch(--s->level ? &x->before[0] : &x->word[s->key]);
    __builtin_prefetch(&x->child[0]);
}

void tree_select_all(const tree_pool *pool, tree_search *s, uint32_t n)
{
    uint32_t top = 0;
    for (uint32_t j = 0; j < n; j++)
        top = s[j].level > top ? s[j].level : top;
    for (uint32_t level = top; level; level--)
        for (uint32_t j = 0; j < n; j++)
            if (s[j].level == level)
                select_step(pool, &s[j]);
}

/* ---- building */

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

static uint32_t smallest_below(const tree_pool *pool, uint32_t at)
{
    while (pool->node[at].level)
        at = pool->node[at].child[0];
    return pool->node[at].word[0];
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
        append_child(pool, &pool->node[at], first, smallest_below(pool, first));
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
