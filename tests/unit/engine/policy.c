/* policy.c - what public calls cannot show of a policy: the stamps of its marks when they run out,
 * which takes 2^32 requests, and the size of its memory. */
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

static void learning_survives_the_end_of_the_stamps(void **state)
{
    oltr_settings s;
    uint32_t some[3] = {4, 1, 2};
    oltr_query named = {.n_items = 3, .item = some}, first = {.n_items = 3};
    assert_int_equal(oltr_settings_init(&s, "ts-beta", 6, NULL), OLTR_OK);
    for (uint32_t before = 0; before < 12; before++) {
        oltr_policy *p = oltr_policy_new(&s, NULL);
        assert_non_null(p);
        for (uint32_t item = 0; item < 6;
             item++) /* marks that the new stamps must not be taken for */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learning_survives_the_end_of_the_stamps),
        cmocka_unit_test(a_matrix_that_is_not_read_takes_no_room),
    };
    return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
