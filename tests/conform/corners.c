/* corners.c - states that only odd histories lead to: rewards that cancel, everything forgotten,
 * very long lists, a check after every round, rows that never repeat, one prior of all items.
 *
 * All through the public interface, as a program would get there.
 */
#include "conform/fixtures.h"

enum { MOST = 40 };

/* `key` is a parameter to set, or NULL. */
static oltr_policy *make(const char *kind, uint32_t items, uint32_t dim, const char *key,
                         const char *value)
{
    variant v = variant_of(kind);
    oltr_settings s = settings_for(&v, items);
    s.dim = dim;
    if (key)
        expect(oltr_settings_set(&s, key, value, NULL), OLTR_OK);
    return policy_from(&s);
}

/* One item is shown and examined. */
static void learn_one(oltr_policy *policy, uint32_t item, const float *x, uint32_t dim,
                      double reward)
{
    oltr_query query = {.n_items = 2, .dim = dim, .x = x};
    oltr_ranking list = {1, &item, NULL};
    oltr_feedback seen = {1, &reward};
    expect(oltr_learn(policy, &query, &list, &seen), OLTR_OK);
}

/* The check passes, and what it saves it can load. */
static void assert_healthy(const oltr_policy *policy)
{
    assert_sound(policy);
    oltr_policy_free(copy_of(policy));
}

static void test_rewards_that_cancel(void **unused)
{
    static const char *const kinds[] = {"lints", "cascade-lints", "lints-cascade"};
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (uint32_t dim = 1; dim <= 8; dim++) {
            float x[2 * 8];
            dice d = {10 * k + dim};
            for (uint32_t j = 0; j < 2 * dim; j++)
                x[j] = (float)normal(&d) / 4;
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
    oltr_policy *items = make("gts", 2, 0, NULL, NULL), *idle = make("lints", 2, 3, NULL, NULL),
                *features = make("lints", 2, 3, NULL, NULL),
                *rows = make("logts", 2, 3, "rows", "2");
    learn_one(items, 0, NULL, 0, 5);
    learn_one(idle, 0, x, 3, 1);
    learn_one(features, 0, x, 3, 1);
    learn_one(rows, 0, x, 3, 1);
    for (int t = 0; t < 7500; t++) {
        if (t % 7 == 0)
            expect(oltr_forget(items, 0.5), OLTR_OK);
        learn_one(items, 1, NULL, 0, 1);
        expect(oltr_forget(idle, 0.9), OLTR_OK);
        learn_one(features, 1, x, 3, 1);
        expect(oltr_forget(features, 0.9), OLTR_OK);
        if (t % 50 == 0 || t > 6700) {
            assert_healthy(items);
            assert_healthy(idle);
            assert_healthy(features);
        }
    }
    expect(oltr_forget(rows, 1e-300), OLTR_OK);
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
        expect(oltr_learn(policy, &query, &list, &seen), OLTR_OK);
        expect(oltr_predict(policy, &query, mean, sd), OLTR_OK);
        double precision = pow(mean[0] * (1 - mean[0]) / sd[0], 2);
        assert_true(fabs(precision - (1e-4 + k / 4.0)) < 1e-6 * precision);
        oltr_policy_free(policy);
    }
}

/* Looking at a policy leaves it as it is, and all that it will do. */
static void test_check_changes_nothing(void **unused)
{
    enum { SLOTS = 3 };
    float x[ITEMS * DIM];
    dice d = {3};
    for (uint32_t j = 0; j < ITEMS * DIM; j++)
        x[j] = (float)normal(&d) / 2;
    oltr_policy *watched = make("logts", ITEMS, DIM, "rows", "8"),
                *alone = make("logts", ITEMS, DIM, "rows", "8");
    oltr_scratch *scratch = oltr_scratch_new(alone);
    oltr_query query = {.n_items = ITEMS, .dim = DIM, .x = x};
    assert_non_null(scratch);
    for (uint64_t t = 1; t <= 2000; t++) {
        uint32_t item[SLOTS], other[SLOTS];
        double score[SLOTS], same[SLOTS], click[SLOTS];
        oltr_ranking list = {SLOTS, item, score}, again = {SLOTS, other, same};
        expect(oltr_rank(alone, &query, rng_of(t), scratch, &list), OLTR_OK);
        expect(oltr_rank(watched, &query, rng_of(t), scratch, &again), OLTR_OK);
        assert_memory_equal(score, same, sizeof score);
        for (uint32_t k = 0; k < SLOTS; k++)
            click[k] = unit(&d) < 0.2 + 0.3 * (x[item[k] * DIM] > 0);
        oltr_feedback seen = {SLOTS, click};
        expect(oltr_learn(alone, &query, &list, &seen), OLTR_OK);
        expect(oltr_learn(watched, &query, &list, &seen), OLTR_OK);
        assert_healthy(watched);
    }
    assert_true(same_state(alone, watched));
    oltr_scratch_free(scratch);
    oltr_policy_free(alone);
    oltr_policy_free(watched);
}

/* Forgetting makes single rows of all that are kept, more than a round of unbounded work may have;
 * weights above 1 then bring rows that are not single while single ones are absorbed, and their
 * number falls within a round. */
static void lose_single_rows(uint64_t seed)
{
    enum { L = 5, D = 5, ROUNDS = 200 };
    oltr_policy *policy = make("logts", L, D, "lambda", "0.0001");
    dice d = {seed};
    for (int round = 1; round <= ROUNDS; round++) {
        float x[L * D];
        uint32_t item[L];
        double reward[L], weight[L];
        for (int i = 0; i < L * D; i++)
            x[i] = (float)(0.9 * unit(&d) - 0.45);
        for (uint32_t i = 0; i < L; i++) {
            item[i] = i;
            reward[i] = one_in(&d, 3);
            weight[i] = 0.5 + unit(&d);
        }
        oltr_query query = {.n_items = L, .dim = D, .x = x};
        oltr_ranking list = {.k = L, .item = item};
        oltr_feedback seen = {.n_examined = L, .reward = reward, .weight = weight};
        expect(oltr_learn(policy, &query, &list, &seen), OLTR_OK);
        if (round % 10 == 0)
            expect(oltr_forget(policy, unit(&d)), OLTR_OK);
        assert_healthy(policy);
    }
    oltr_policy_free(policy);
}

static void test_fewer_single_rows_within_a_round(void **unused)
{
    for (uint64_t seed = 1; seed <= 8; seed++)
        lose_single_rows(seed);
}

static size_t saved_size(const oltr_policy *p)
{
    image m = image_of(p);
    free(m.byte);
    return m.size;
}

/* rows: N keeps N rows, also where N is 1: one more row makes the snapshot longer by one row. */
static void test_rows_are_counted(void **unused)
{
    static const char *const rows[] = {"1", "2", "3"};
    size_t size[3];
    for (int i = 0; i < 3; i++) {
        oltr_policy *p = make("logts", ITEMS, DIM, "rows", rows[i]);
        learn_rows(p, 1, 20, NEVER_AGAIN);
        size[i] = saved_size(p);
        oltr_policy_free(p);
    }
    assert_true(size[1] > size[0]);
    assert_int_equal(size[2] - size[1], size[1] - size[0]);
}

enum { WIDE = 100, WINDOW = 300, SHOWN = 3 }; /* features, three single rows for each */

/* Rows that were never seen; the same ones for the same rounds. */
static void learn_fresh_rows(oltr_policy *p, uint64_t first, uint64_t rounds)
{
    static float x[SHOWN * WIDE];
    uint32_t item[SHOWN] = {0, 1, 2};
    double click[SHOWN];
    oltr_query query = {.n_items = SHOWN, .dim = WIDE, .x = x};
    for (uint64_t t = first; t < first + rounds; t++) {
        dice d = {t};
        for (uint32_t j = 0; j < SHOWN * WIDE; j++)
            x[j] = (float)normal(&d) / 10;
        for (uint32_t k = 0; k < SHOWN; k++)
            click[k] = unit(&d) < 1 / (1 + exp(-3.0 * (double)x[k * WIDE]));
        expect(oltr_learn(p, &query, &(oltr_ranking){SHOWN, item, NULL},
                          &(oltr_feedback){SHOWN, click}),
               OLTR_OK);
    }
}

/* Rows that never repeat fill a window, and its size does not depend on the number of rounds.  The
 * rounds after that do bounded work: sound, and followed by a copy to the bit. */
static void test_window_of_fresh_rows(void **unused)
{
    oltr_policy *p = make("logts", SHOWN, WIDE, NULL, NULL);
    learn_fresh_rows(p, 1, WINDOW / SHOWN - 1);
    size_t early = saved_size(p);
    learn_fresh_rows(p, WINDOW / SHOWN, 1);
    size_t late = saved_size(p);
    assert_true((late - early) / SHOWN >= WIDE * sizeof(double));
    oltr_policy *copy = copy_of(p);
    for (uint64_t t = 1; t <= 5; t++) {
        learn_fresh_rows(p, t * 1000, 40);
        learn_fresh_rows(copy, t * 1000, 40);
        assert_sound(p);
        assert_int_equal(saved_size(p), late);
        assert_true(same_state(p, copy));
    }
    oltr_policy_free(p);
    oltr_policy_free(copy);
}

/* ---- one prior of all items */

enum { ALIKE = 37 };

/* A policy with the parameters first and second, and one whose items all have that prior. */
static void make_alike(const char *kind, const char *const name[2], const double pair[2],
                       oltr_policy *made[2])
{
    double number[2][ALIKE];
    for (uint32_t i = 0; i < 2 * ALIKE; i++)
        number[i / ALIKE][i % ALIKE] = pair[i / ALIKE];
    for (int v = 0; v < 2; v++) {
        oltr_settings s;
        expect(oltr_settings_init(&s, kind, ALIKE, NULL), OLTR_OK);
        for (int i = 0; i < 2; i++)
            expect(oltr_settings_set_number(&s, name[i], pair[i], NULL), OLTR_OK);
        if (strcmp(kind, "ts-hyper") == 0) /* without a prior it has no slopes */
            expect(oltr_settings_set(&s, "slope", "fixed", NULL), OLTR_OK);
        if (v) {
            expect(oltr_settings_set(&s, "prior", "full", NULL), OLTR_OK);
            s.prior = s.info->takes_moments ? (oltr_prior){.mean = number[0], .sd = number[1]}
                                            : (oltr_prior){.a = number[0], .b = number[1]};
        }
        made[v] = policy_from(&s);
    }
}

/* The same lessons leave the same beliefs and lists. */
static void check_alike(oltr_policy *const made[2])
{
    double mean[2][ALIKE], sd[2][ALIKE];
    for (int v = 0; v < 2; v++) {
        learn_many(made[v], 5, 60);
        assert_sound(made[v]);
        expect(oltr_predict(made[v], NULL, mean[v], sd[v]), OLTR_OK);
    }
    assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
    assert_memory_equal(sd[0], sd[1], sizeof sd[0]);
    assert_same_lists(made[0], made[1]);
}

/* Where no item has a prior of its own, it is kept once; that changes no bit.  Shapes below 1 are
 * drawn in another way than others. */
static void test_a_prior_of_all_is_that_of_each(void **unused)
{
    static const char *const kinds[] = {"gts", "ts-beta", "bayes-ucb", "ts-hyper"};
    static const char *const moments[] = {"mean", "sd"}, *const shapes[] = {"a", "b"};
    static const double pairs[][2] = {{0.5, 0.3}, {0.5, 7}, {3, 0.4}, {1, 1}, {2, 60}};
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (size_t i = 0; i < COUNT(pairs); i++) {
            oltr_policy *made[2];
            make_alike(kinds[k], k ? shapes : moments, pairs[i], made);
            check_alike(made);
            oltr_policy_free(made[0]);
            oltr_policy_free(made[1]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rewards_that_cancel),
        cmocka_unit_test(test_forgotten_for_good),
        cmocka_unit_test(test_stale_weights_of_a_long_list),
        cmocka_unit_test(test_check_changes_nothing),
        cmocka_unit_test(test_fewer_single_rows_within_a_round),
        cmocka_unit_test(test_rows_are_counted),
        cmocka_unit_test(test_window_of_fresh_rows),
        cmocka_unit_test(test_a_prior_of_all_is_that_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
