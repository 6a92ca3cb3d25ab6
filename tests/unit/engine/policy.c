/* policy.c - what public calls cannot show of a policy: the stamps of its marks when they run out,
 * which takes 2^32 requests, and the size of its memory. */
#include <oltr/model.h>

#include "engine/policy/block.h"

#include "support/unit.h"

static void learn_one(oltr_policy *p, const oltr_query *query, uint32_t first, uint32_t second,
                      oltr_status wanted)
{
    uint32_t item[2] = {first, second};
    double reward[2] = {0, 1};
    oltr_ranking shown = {2, item, NULL};
    oltr_feedback seen = {2, reward};
    assert_int_equal(oltr_learn(p, query, &shown, &seen), wanted);
}

/* More than are marked on the stack. */
enum { MANY = FEW_ITEMS + 1 };

static void learning_survives_the_end_of_the_stamps(void **state)
{
    oltr_settings s;
    uint32_t some[3] = {4, 1, 2};
    oltr_query named = {.n_items = 3, .item = some}, first = {.n_items = 3};
    assert_int_equal(oltr_settings_init(&s, "ts-beta", MANY, NULL), OLTR_OK);
    for (uint32_t before = 0; before < 12; before++) {
        oltr_policy *p = oltr_policy_new(&s, NULL);
        assert_non_null(p);
        for (uint32_t item = 0; item < MANY; item++) /* that new stamps must not be taken for */
            words_in(p, p->marks)[item] = UINT32_MAX - before;
        learn_one(p, NULL, 0, 5, OLTR_OK);
        p->stamp = UINT32_MAX - before;
        for (int round = 0; round < 8; round++) {
            learn_one(p, &named, 2, 4, OLTR_OK);
            learn_one(p, &named, 2, 2, OLTR_EITEM);
            learn_one(p, &named, 2, 5, OLTR_EITEM);
            learn_one(p, &first, 0, 2, OLTR_OK);
            learn_one(p, &first, 0, 4, OLTR_EITEM);
        }
        assert_int_equal(oltr_policy_rounds(p), 17);
        oltr_policy_free(p);
    }
}

static uint32_t logts_bytes(const char *weights)
{
    oltr_settings s;
    assert_int_equal(oltr_settings_init(&s, "logts", 10, NULL), OLTR_OK);
    assert_int_equal(oltr_settings_set(&s, "weights", weights, NULL), OLTR_OK);
    assert_int_equal(oltr_settings_set(&s, "rows", "2", NULL), OLTR_OK);
    s.dim = 200;
    return (uint32_t)oltr_policy_bytes(&s, NULL);
}

/* The second matrix of logts, its sum and its factor, are there only where weights are kept
 * apart. */
static void a_matrix_that_is_not_read_takes_no_room(void **state)
{
    uint32_t fresh = logts_bytes("fresh"), stale = logts_bytes("stale");
    assert_true(fresh > 0 && fresh + 200 * 200 * sizeof(double) <= stale);
}

/* 30 items with names of 15 bytes, and 10 lessons with ids. */
static size_t small_model_bytes(const char *kind)
{
    oltr_model_settings s;
    char text[30][16];
    oltr_name name[30];
    double reward[10] = {[4] = 1};
    assert_int_equal(oltr_model_settings_init(&s, kind, NULL), OLTR_OK);
    oltr_model *m = oltr_model_new(&s, NULL);
    assert_non_null(m);
    for (uint32_t i = 0; i < 30; i++)
        name[i] = (oltr_name){text[i], (uint32_t)snprintf(text[i], 16, "product:%07u", i)};
    for (uint32_t id = 0; id < 10; id++) {
        oltr_lesson lesson = {.shown = {.n = 10, .name = name + id % 3 * 10},
                              .reward = reward,
                              .id = {&id, sizeof id}};
        assert_int_equal(oltr_model_learn(m, &lesson, NULL, NULL), OLTR_OK);
    }
    size_t bytes = oltr_model_bytes(m);
    oltr_model_free(m);
    return bytes;
}

/* There may be a million of them.  What the C library adds, 5 to 10 %, is not in these numbers. */
static void a_small_model_takes_little(void **state)
{
    assert_in_range(small_model_bytes("gts"), 1, 3100);
    assert_in_range(small_model_bytes("ts-beta"), 1, 3100);
    assert_in_range(small_model_bytes("ts-hyper"), 1, 5500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learning_survives_the_end_of_the_stamps),
        cmocka_unit_test(a_matrix_that_is_not_read_takes_no_room),
        cmocka_unit_test(a_small_model_takes_little),
    };
    return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
