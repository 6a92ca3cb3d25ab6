/* corners.c - states that only odd histories lead to: rewards that cancel, everything forgotten,
 * very long lists, a check after every round.
 *
 * All through the public interface, as a program would get there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <oltr/oltr.h>

enum { MOST = 40 };

static oltr_policy *make(const char *kind, uint32_t items, uint32_t dim, const char *key,
                         const char *value)
{
    oltr_settings settings;
    oltr_error error = {0};
    assert_int_equal(oltr_settings_init(&settings, kind, items, &error), OLTR_OK);
    settings.dim = dim;
    if (key)
        assert_int_equal(oltr_settings_set(&settings, key, value, &error), OLTR_OK);
    oltr_policy *policy = oltr_policy_new(&settings, &error);
    if (!policy)
        fail_msg("%s: %s", kind, error.msg);
    return policy;
}

/* One item is shown and examined. */
static void learn_one(oltr_policy *policy, uint32_t item, const float *x, uint32_t dim,
                      double reward)
{
    oltr_query query = {.n_items = 2, .dim = dim, .x = x};
    oltr_ranking list = {1, &item, NULL};
    oltr_feedback seen = {1, &reward};
    assert_int_equal(oltr_learn(policy, &query, &list, &seen), OLTR_OK);
}

static void *saved(const oltr_policy *policy, size_t *size)
{
    void *bytes = malloc(oltr_save_bound(policy));
    assert_non_null(bytes);
    assert_int_equal(oltr_save(policy, bytes, oltr_save_bound(policy), size), OLTR_OK);
    return bytes;
}

/* The check passes, and what it saves it can load. */
static void assert_healthy(const oltr_policy *policy)
{
    oltr_error error = {0};
    size_t size;
    if (oltr_check(policy, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    void *bytes = saved(policy, &size);
    oltr_policy *again = oltr_load(bytes, size, &error);
    if (!again)
        fail_msg("%s", error.msg);
    oltr_policy_free(again);
    free(bytes);
}

static void test_rewards_that_cancel(void **unused)
{
    static const char *const kinds[] = {"lints", "cascade-lints", "lints-cascade"};
    (void)unused;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (uint32_t dim = 1; dim <= 8; dim++) {
            float x[2 * 8];
            oltr_rng rng = oltr_rng_make(k, dim);
            for (uint32_t j = 0; j < 2 * dim; j++)
                x[j] = (float)oltr_rng_normal(&rng) / 4;
            oltr_policy *policy = make(kinds[k], 2, dim, NULL, NULL);
            if (oltr_policy_info_by_name(kinds[k], NULL)->rewards == OLTR_REALS) {
                learn_one(policy, 0, x, dim, 1);
                learn_one(policy, 0, x, dim, -1);
            } else {
                for (uint32_t j = 0; j < dim; j++)
                    x[dim + j] = -x[j];
                learn_one(policy, 0, x, dim, 1);
                learn_one(policy, 1, x, dim, 1);
            }
            assert_healthy(policy);
            oltr_policy_free(policy);
        }
}

/* An item, or a feature, out of use for so long that nothing is left of it. */
static void test_forgotten_for_good(void **unused)
{
    const float x[2 * 3] = {1, 0.5f, 0, 0, 0, 1};
    (void)unused;
    oltr_policy *items = make("gts", 2, 0, NULL, NULL), *idle = make("lints", 2, 3, NULL, NULL),
                *features = make("lints", 2, 3, NULL, NULL),
                *rows = make("logts", 2, 3, "rows", "2");
    learn_one(items, 0, NULL, 0, 5);
    learn_one(idle, 0, x, 3, 1);
    learn_one(features, 0, x, 3, 1);
    learn_one(rows, 0, x, 3, 1);
    for (int t = 0; t < 7500; t++) {
        if (t % 7 == 0)
            assert_int_equal(oltr_forget(items, 0.5), OLTR_OK);
        learn_one(items, 1, NULL, 0, 1);
        assert_int_equal(oltr_forget(idle, 0.9), OLTR_OK);
        learn_one(features, 1, x, 3, 1);
        assert_int_equal(oltr_forget(features, 0.9), OLTR_OK);
        if (t % 50 == 0 || t > 6700) {
            assert_healthy(items);
            assert_healthy(idle);
            assert_healthy(features);
        }
    }
    assert_int_equal(oltr_forget(rows, 1e-300), OLTR_OK);
    assert_healthy(rows);
    oltr_policy_free(items);
    oltr_policy_free(idle);
    oltr_policy_free(features);
    oltr_policy_free(rows);
}

/* Every weight of a list is that at the estimate with which it was shown: at first 1/4, however
 * long the list. */
static void test_stale_weights_of_a_long_list(void **unused)
{
    (void)unused;
    for (uint32_t k = 1; k <= MOST; k += 13) {
        float x[MOST];
        uint32_t item[MOST];
        double click[MOST], mean[MOST], sd[MOST];
        oltr_query query = {.n_items = MOST, .dim = 1, .x = x};
        oltr_ranking list = {k, item, NULL};
        oltr_feedback seen = {k, click};
        for (uint32_t i = 0; i < MOST; i++) {
            x[i] = 1;
            item[i] = i;
            click[i] = 1;
        }
        oltr_policy *policy = make("logts", MOST, 1, "weights", "stale");
        assert_int_equal(oltr_learn(policy, &query, &list, &seen), OLTR_OK);
        assert_int_equal(oltr_predict(policy, &query, mean, sd), OLTR_OK);
        double precision = pow(mean[0] * (1 - mean[0]) / sd[0], 2);
        assert_true(fabs(precision - (1e-4 + k / 4.0)) < 1e-6 * precision);
        oltr_policy_free(policy);
    }
}

/* Looking at a policy leaves it as it is, and all that it will do. */
static void test_check_changes_nothing(void **unused)
{
    enum { ITEMS = 20, DIM = 4, SLOTS = 3 };
    float x[ITEMS * DIM];
    (void)unused;
    oltr_rng rng = oltr_rng_make(3, 0);
    for (uint32_t j = 0; j < ITEMS * DIM; j++)
        x[j] = (float)oltr_rng_normal(&rng) / 2;
    oltr_policy *watched = make("logts", ITEMS, DIM, "rows", "8"),
                *alone = make("logts", ITEMS, DIM, "rows", "8");
    oltr_scratch *scratch = oltr_scratch_new(alone);
    oltr_query query = {.n_items = ITEMS, .dim = DIM, .x = x};
    assert_non_null(scratch);
    for (uint64_t t = 1; t <= 2000; t++) {
        uint32_t item[SLOTS], other[SLOTS];
        double score[SLOTS], same[SLOTS], click[SLOTS];
        oltr_ranking list = {SLOTS, item, score}, again = {SLOTS, other, same};
        oltr_rng user = oltr_rng_at(oltr_rng_make(4, 0), 1, t);
        assert_int_equal(oltr_rank(alone, &query, oltr_rng_at(rng, 0, t), scratch, &list), OLTR_OK);
        assert_int_equal(oltr_rank(watched, &query, oltr_rng_at(rng, 0, t), scratch, &again),
                         OLTR_OK);
        assert_memory_equal(score, same, sizeof score);
        for (uint32_t k = 0; k < SLOTS; k++)
            click[k] = oltr_rng_uniform(&user) < 0.2 + 0.3 * (x[item[k] * DIM] > 0);
        oltr_feedback seen = {SLOTS, click};
        assert_int_equal(oltr_learn(alone, &query, &list, &seen), OLTR_OK);
        assert_int_equal(oltr_learn(watched, &query, &list, &seen), OLTR_OK);
        assert_healthy(watched);
    }
    size_t size[2];
    void *bytes[2] = {saved(alone, &size[0]), saved(watched, &size[1])};
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
    oltr_scratch_free(scratch);
    oltr_policy_free(alone);
    oltr_policy_free(watched);
}

/* Forgetting makes single rows of all that are kept, more than a round of unbounded work may have;
 * weights above 1 then bring rows that are not single while single ones are absorbed, and their
 * number falls within a round. */
static void lose_single_rows(uint64_t seed)
{
    enum { ITEMS = 5, DIM = 5, ROUNDS = 200 };
    oltr_policy *policy = make("logts", ITEMS, DIM, "lambda", "0.0001");
    oltr_rng rng = oltr_rng_make(seed, 0);
    for (int round = 1; round <= ROUNDS; round++) {
        float x[ITEMS * DIM];
        uint32_t item[ITEMS];
        double reward[ITEMS], weight[ITEMS];
        for (int i = 0; i < ITEMS * DIM; i++)
            x[i] = (float)(0.9 * oltr_rng_uniform(&rng) - 0.45);
        for (uint32_t i = 0; i < ITEMS; i++) {
            item[i] = i;
            reward[i] = oltr_rng_below(&rng, 3) == 0;
            weight[i] = 0.5 + oltr_rng_uniform(&rng);
        }
        oltr_query query = {.n_items = ITEMS, .dim = DIM, .x = x};
        oltr_ranking list = {.k = ITEMS, .item = item};
        oltr_feedback seen = {.n_examined = ITEMS, .reward = reward, .weight = weight};
        assert_int_equal(oltr_learn(policy, &query, &list, &seen), OLTR_OK);
        if (round % 10 == 0)
            assert_int_equal(oltr_forget(policy, oltr_rng_uniform(&rng)), OLTR_OK);
        assert_healthy(policy);
    }
    oltr_policy_free(policy);
}

static void test_fewer_single_rows_within_a_round(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 8; seed++)
        lose_single_rows(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rewards_that_cancel),
        cmocka_unit_test(test_forgotten_for_good),
        cmocka_unit_test(test_stale_weights_of_a_long_list),
        cmocka_unit_test(test_check_changes_nothing),
        cmocka_unit_test(test_fewer_single_rows_within_a_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
