/* items.c - the sums of each item and the check that guards them when they come from outside.
 *
 * A loaded or merged state is trusted once this check has passed, so each way to break it is tried.
 */
#include "support/unit.h"
#include "engine/posterior/beta_items.h"

enum { ITEMS = 5 };

typedef struct sums_state {
    _Alignas(LAYOUT_ALIGN) unsigned char bytes[4096];
    beta_items items;
} sums_state;

static void state_with(sums_state *s, bool own_priors)
{
    layout plan = {0, 0};
    memset(s->bytes, 0, sizeof s->bytes);
    s->items = beta_items_plan(&plan, ITEMS, own_priors);
    assert_true(plan.used <= sizeof s->bytes && !plan.overflow);
}

static void state_new(sums_state *s)
{
    state_with(s, true);
}

static oltr_status check(const sums_state *s, int clicks)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = item_sums_check(s->bytes, &s->items.sums, 1, clicks, &error);
    assert_int_equal(item_sums_check(s->bytes, &s->items.sums, 1, clicks, NULL), status);
    assert_int_equal(error.code, status);
    assert_true(status == OLTR_OK || strlen(error.msg) > 10);
    return status;
}

static void set_sums(sums_state *s, uint32_t item, double examined, double reward)
{
    doubles_at(s->bytes, s->items.sums.examined)[item] = examined;
    doubles_at(s->bytes, s->items.sums.reward)[item] = reward;
}

static void observations_add_up(void **state)
{
    sums_state s;
    state_new(&s);
    for (int i = 0; i < 10; i++)
        item_sums_add(s.bytes, &s.items.sums, 2, i % 2, 1);
    item_sums_add(s.bytes, &s.items.sums, 4, -1.5, 1);
    assert_true(doubles_at(s.bytes, s.items.sums.examined)[2] == 10);
    assert_true(doubles_at(s.bytes, s.items.sums.reward)[2] == 5);
    assert_true(doubles_at(s.bytes, s.items.sums.reward)[4] == -1.5);
    assert_true(doubles_at(s.bytes, s.items.sums.examined)[3] == 0);
}

static void the_posterior_is_the_prior_plus_clicks_and_passes(void **state)
{
    sums_state s;
    state_new(&s);
    doubles_at(s.bytes, s.items.a0)[1] = 0.5;
    doubles_at(s.bytes, s.items.b0)[1] = 7;
    set_sums(&s, 1, 10, 3);
    beta_pair shapes = beta_posterior(s.bytes, &s.items, 1);
    assert_true(shapes.a == 3.5 && shapes.b == 14);
}

static void a_prior_of_all_items_is_kept_once(void **state)
{
    sums_state s;
    state_with(&s, false);
    doubles_at(s.bytes, s.items.a0)[0] = 0.5;
    doubles_at(s.bytes, s.items.b0)[0] = 7;
    set_sums(&s, 4, 10, 3);
    for (uint32_t item = 0; item < ITEMS; item++) {
        beta_pair prior = beta_prior(s.bytes, &s.items, item);
        beta_pair shapes = beta_posterior(s.bytes, &s.items, item);
        assert_true(prior.a == 0.5 && prior.b == 7);
        assert_true(shapes.a == (item == 4 ? 3.5 : 0.5) && shapes.b == (item == 4 ? 14 : 7));
    }
}

static void possible_sums_are_accepted(void **state)
{
    sums_state s;
    state_new(&s);
    assert_int_equal(check(&s, 1), OLTR_OK);
    set_sums(&s, 0, 10, 10);
    set_sums(&s, 1, 10, 0);
    set_sums(&s, 2, 0.25, 0.125); /* faded */
    assert_int_equal(check(&s, 1), OLTR_OK);
    set_sums(&s, 3, 1, -5);
    set_sums(&s, 4, 1, 1e30);
    assert_int_equal(check(&s, 0), OLTR_OK);
}

static void impossible_sums_are_refused_wherever_they_stand(void **state)
{
    static const double wrong[][2] = {{-1, 0},
                                      {-1e-300, 0},
                                      {(double)NAN, 0},
                                      {(double)INFINITY, 0},
                                      {1, (double)NAN},
                                      {1, (double)INFINITY},
                                      {1, -(double)INFINITY},
                                      {0, 1},
                                      {1, 1e300},
                                      {1e300, 0}};
    for (size_t i = 0; i < COUNT(wrong); i++)
        for (uint32_t item = 0; item < ITEMS; item++)
            for (int clicks = 0; clicks < 2; clicks++) {
                sums_state s;
                state_new(&s);
                set_sums(&s, item, wrong[i][0], wrong[i][1]);
                assert_int_equal(check(&s, clicks), OLTR_ESTATE);
            }
}

static void more_clicks_than_views_are_refused_among_clicks_only(void **state)
{
    static const double strange[][2] = {{1, 2}, {5, -1}};
    for (size_t i = 0; i < COUNT(strange); i++) {
        sums_state s;
        state_new(&s);
        set_sums(&s, 3, strange[i][0], strange[i][1]);
        assert_int_equal(check(&s, 1), OLTR_ESTATE);
        assert_int_equal(check(&s, 0), OLTR_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(observations_add_up),
        cmocka_unit_test(the_posterior_is_the_prior_plus_clicks_and_passes),
        cmocka_unit_test(a_prior_of_all_items_is_kept_once),
        cmocka_unit_test(possible_sums_are_accepted),
        cmocka_unit_test(impossible_sums_are_refused_wherever_they_stand),
        cmocka_unit_test(more_clicks_than_views_are_refused_among_clicks_only),
    };
    return cmocka_run_group_tests_name("items", tests, NULL, NULL);
}
