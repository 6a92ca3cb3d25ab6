/* order_tree.c - counted B+-trees against an array of flags, and normal_tail.h against GSL. */
#include "support/unit.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "engine/race/order_tree.h"
#include "engine/special/normal_tail.h"

enum { NUMBERS = 60000, NODES = 4000 };

static tree_pool *pool_new(uint32_t n_nodes)
{
    tree_pool *pool = aligned_alloc(64, tree_pool_bytes(n_nodes));
    assert_non_null(pool);
    memset(pool, 0, sizeof *pool);
    tree_pool_clear(pool, n_nodes);
    return pool;
}

/* Everything that can be asked of a tree. */
static void assert_is(const tree_pool *pool, uint32_t root, const unsigned char *in)
{
    uint32_t size = 0;
    for (uint32_t i = 0; i < NUMBERS; i++) {
        if (i % 97 == 0)
            assert_int_equal(tree_below(pool, root, i), size);
        if (in[i])
            assert_int_equal(*tree_select(pool, root, size++), i);
    }
    assert_int_equal(tree_size(pool, root), size);
}

static void change(tree_pool *pool, uint32_t *root, unsigned char *in, uint32_t number)
{
    if (in[number])
        assert_true(tree_remove(pool, root, number));
    else
        assert_true(tree_insert(pool, root, number));
    in[number] ^= 1;
}

/* Two trees in one pool: numbers go in and out at random, mostly in, then mostly out. */
static void random_changes(void **state)
{
    static unsigned char in[2][NUMBERS];
    tree_pool *pool = pool_new(NODES);
    uint32_t root[2] = {NO_NODE, NO_NODE};
    dice d = {11};
    for (uint32_t step = 0; step < 400000; step++) {
        uint32_t tree = below(&d, 2), number = below(&d, NUMBERS);
        bool fills = step < 200000;
        if (in[tree][number] == fills && below(&d, 4))
            continue;
        change(pool, &root[tree], in[tree], number);
        if (step % 50000 == 0)
            assert_is(pool, root[tree], in[tree]);
    }
    for (uint32_t tree = 0; tree < 2; tree++) {
        assert_is(pool, root[tree], in[tree]);
        for (uint32_t i = 0; i < NUMBERS; i++) {
            assert_int_equal(tree_remove(pool, &root[tree], i), in[tree][i]);
            in[tree][i] = 0;
        }
        assert_int_equal(root[tree], NO_NODE);
    }
    assert_int_equal(pool->n_used, pool->n_free); /* all nodes are back */
    free(pool);
}

/* In ascending and descending order, and built at once. */
static void orders_of_insertion(void **state)
{
    static unsigned char all[NUMBERS];
    memset(all, 1, sizeof all);
    for (int way = 0; way < 3; way++) {
        tree_pool *pool = pool_new(NODES);
        uint32_t root = NO_NODE, tail = NO_NODE;
        for (uint32_t i = 0; i < NUMBERS; i++)
            assert_true(way == 0   ? tree_insert(pool, &root, i)
                        : way == 1 ? tree_insert(pool, &root, NUMBERS - 1 - i)
                                   : tree_append(pool, &root, &tail, i));
        if (way == 2)
            assert_true(tree_finish(pool, &root));
        assert_is(pool, root, all);
        assert_false(tree_remove(pool, &root, NUMBERS));
        free(pool);
    }
}

/* What was built can be changed. */
static void changes_of_what_was_built(void **state)
{
    static unsigned char in[NUMBERS];
    tree_pool *pool = pool_new(NODES);
    uint32_t root = NO_NODE, tail = NO_NODE;
    dice d = {12};
    for (uint32_t i = 0; i < NUMBERS; i += 2) {
        assert_true(tree_append(pool, &root, &tail, i));
        in[i] = 1;
    }
    assert_true(tree_finish(pool, &root));
    for (uint32_t step = 0; step < 100000; step++)
        change(pool, &root, in, below(&d, NUMBERS));
    assert_is(pool, root, in);
    free(pool);
}

/* Paths that were found before other changes, which split and join nodes between them. */
static void old_paths(void **state)
{
    enum { PATHS = 40 };
    static unsigned char in[NUMBERS];
    tree_pool *pool = pool_new(NODES);
    uint32_t root = NO_NODE;
    dice d = {13};
    for (uint32_t step = 0; step < 4000; step++) {
        tree_path path[PATHS];
        bool fills = step / 1000 % 2 == 0;
        uint32_t start = below(&d, NUMBERS - 100);
        for (uint32_t j = 0; j < PATHS; j++)
            tree_path_begin(pool, root, start + below(&d, 100), &path[j]);
        tree_path_all(pool, path, PATHS);
        for (uint32_t j = 0; j < PATHS; j++) {
            uint32_t number = path[j].number;
            if (!in[number] && fills)
                assert_true(tree_insert_along(pool, &root, &path[j]));
            else if (!fills)
                assert_int_equal(tree_remove_along(pool, &root, &path[j]), in[number]);
            in[number] = fills;
        }
        if (step % 500 == 499)
            assert_is(pool, root, in);
    }
    free(pool);
}

/* Without nodes nothing is changed. */
static void a_pool_that_is_full(void **state)
{
    tree_pool *pool = pool_new(60);
    uint32_t root = NO_NODE, tail = NO_NODE, n = 0;
    while (tree_insert(pool, &root, n))
        n++;
    assert_true(n > 1000 && n < 60 * TREE_LEAF);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(*tree_select(pool, root, i), i);
    tree_pool_clear(pool, 60);
    root = NO_NODE;
    for (n = 0; tree_append(pool, &root, &tail, n);)
        n++;
    assert_int_equal(n, 60 * TREE_LEAF);
    assert_false(tree_finish(pool, &root));
    free(pool);
}

static void normal_tails(void **state)
{
    for (double z = -36; z < 36; z += 0.01) {
        double wanted = z > 0 ? -log1p(-gsl_cdf_ugaussian_Q(z)) : -log(gsl_cdf_ugaussian_P(z));
        assert_true(fabs(normal_hazard(z) - wanted) <= 1e-11 * wanted);
        if (z > -30 && z < 35)
            assert_true(fabs(normal_at_hazard(normal_hazard(z)) - z) <= 1e-10 * fmax(fabs(z), 1));
    }
    for (double z = -36.9; z > -37.1; z -= 0.01) /* where the series begins */
        assert_true(normal_hazard(z) > normal_hazard(z + 0.01));
    assert_true(fabs(normal_hazard(-100) - 5005.5242086942) < 1e-6);
    assert_true(isinf(normal_hazard(-(double)INFINITY)));
    assert_true(normal_hazard((double)INFINITY) <= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_changes),
        cmocka_unit_test(orders_of_insertion),
        cmocka_unit_test(changes_of_what_was_built),
        cmocka_unit_test(old_paths),
        cmocka_unit_test(a_pool_that_is_full),
        cmocka_unit_test(normal_tails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
