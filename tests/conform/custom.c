/* custom.c - a policy and a world from outside the library play as those of the catalogue do.
 *
 * The sharpest test there is: operations of the catalogue under another name must give the very same results.
 */
#include "world/world.h" /* first: its fail() is another than cmocka's */

#include "conform/suite.h"
#include "policy/policy.h"

#include <oltr/world_ops.h>

enum { ITEMS = 12, ROUNDS = 300 };
static const uint64_t marks[] = {10, ROUNDS};
extern const policy_ops cascade_ucb1_ops, gts_ops;

/* `self` is where it will live: not read, and not const, or gcc takes it for one that is. */
static policy_ops renamed(const policy_ops *from, policy_ops *self)
{
    policy_ops own = *from;
    own.info.name = "mine";
    own.info.ops = self;
    return own;
}

static oltr_experiment experiment(oltr_contestant *policy, uint32_t n)
{
    return (oltr_experiment){.seed = 5,
                             .rounds = ROUNDS,
                             .slots = 3,
                             .replications = 6,
                             .n_checkpoints = 2,
                             .checkpoint = marks,
                             .world = {.kind = "beta", .n_items = ITEMS, .clicks = "cascade"},
                             .n_policies = n,
                             .policy = policy};
}

static oltr_results *run(const oltr_experiment *e)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_results *r = oltr_results_new(e, 1, &error);
    if (!r || oltr_run(e, 1, NULL, r, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    return r;
}

static void same_outcomes(const oltr_results *a, const oltr_results *b, uint32_t policy, uint32_t other)
{
    for (uint32_t m = 0; m < 2; m++) {
        oltr_outcome x = oltr_results_at(a, 0, policy, m), y = oltr_results_at(b, 0, other, m);
        assert_memory_equal(&x, &y, offsetof(oltr_outcome, replications)); /* what follows has padding */
        assert_int_equal(x.replications, y.replications);
    }
}

static void a_policy_from_outside_plays_as_its_twin(void **state)
{
    policy_ops own = renamed(&cascade_ucb1_ops, &own);
    oltr_contestant policy[2] = {{.label = "theirs"}, {.label = "mine"}};
    (void)state;
    assert_int_equal(oltr_settings_init(&policy[0].settings, "cascade-ucb1", ITEMS, NULL), OLTR_OK);
    assert_int_equal(oltr_settings_init_custom(&policy[1].settings, &own, ITEMS, NULL), OLTR_OK);
    assert_int_equal(oltr_settings_set(&policy[1].settings, "alpha", "1.5", NULL), OLTR_OK);
    oltr_experiment e = experiment(policy, 2);
    oltr_results *r = run(&e);
    same_outcomes(r, r, 0, 1);
    oltr_results_free(r);
}

static void its_snapshot_is_loaded_by_its_own_operations(void **state)
{
    policy_ops own = renamed(&cascade_ucb1_ops, &own);
    unsigned char bytes[4096];
    size_t size = 0;
    uint32_t item[3] = {4, 0, 7};
    double click[3] = {0, 1, 0};
    oltr_ranking shown = {3, item, NULL};
    oltr_feedback seen = {2, click};
    oltr_settings settings;
    oltr_error error;
    (void)state;
    assert_int_equal(oltr_settings_init_custom(&settings, &own, ITEMS, NULL), OLTR_OK);
    oltr_policy *p = oltr_policy_new(&settings, NULL);
    assert_int_equal(oltr_learn(p, NULL, &shown, &seen), OLTR_OK);
    assert_int_equal(oltr_save(p, bytes, sizeof bytes, &size), OLTR_OK);
    assert_null(oltr_load(bytes, size, &error)); /* the catalogue does not know it */
    assert_null(oltr_load_custom(&gts_ops, bytes, size, &error));
    assert_null(oltr_load_custom(NULL, bytes, size, &error));
    assert_int_equal(error.code, OLTR_EINVAL);
    oltr_policy *again = oltr_load_custom(&own, bytes, size, &error);
    assert_non_null(again);
    assert_int_equal(oltr_policy_rounds(again), 1);
    assert_int_equal(oltr_merge(again, p), OLTR_OK);
    assert_int_equal(oltr_check(again, &error), OLTR_OK);
    oltr_policy_free(again);
    oltr_policy_free(p);
}

static void refuse(const policy_ops *ops, const char *word)
{
    oltr_settings settings;
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(oltr_settings_init_custom(&settings, ops, ITEMS, &error), OLTR_EINVAL);
    if (!strstr(error.msg, word))
        fail_msg("'%s' does not say '%s'", error.msg, word);
}

static void incomplete_policies_are_refused(void **state)
{
    policy_ops own = renamed(&cascade_ucb1_ops, &own), stray = renamed(&cascade_ucb1_ops, &own);
    oltr_settings settings = {.info = &stray.info, .n_items = ITEMS};
    (void)state;
    refuse(NULL, "operations of a policy are needed");
    refuse(&stray, "info.ops");
    assert_null(oltr_policy_new(&settings, NULL)); /* an info that points to other operations */
    own.rank = NULL;
    refuse(&own, "required operations");
    own = renamed(&cascade_ucb1_ops, &own);
    own.predict = NULL;
    refuse(&own, "predict");
    own = renamed(&cascade_ucb1_ops, &own);
    own.info.name = "";
    refuse(&own, "name");
    own = renamed(&cascade_ucb1_ops, &own);
    own.info.n_params = OLTR_MAX_PARAMS + 1;
    refuse(&own, "parameters");
}

static void a_world_from_outside_plays_as_its_twin(void **state)
{
    oltr_contestant policy = {.label = "gts"};
    oltr_error error;
    (void)state;
    assert_int_equal(oltr_settings_init(&policy.settings, "gts", ITEMS, NULL), OLTR_OK);
    oltr_experiment theirs = experiment(&policy, 1), mine = theirs;
    oltr_world_ops world = *world_ops_of("beta", NULL);
    oltr_click_ops clicks = *click_ops_of("cascade", NULL);
    world.info.name = "my world";
    clicks.info.name = "my users";
    mine.world = (oltr_world){.n_items = ITEMS, .custom_kind = &world, .custom_clicks = &clicks};
    oltr_results *a = run(&theirs), *b = run(&mine);
    same_outcomes(a, b, 0, 0);
    assert_int_equal(oltr_results_merge(a, b, &error), OLTR_EMISMATCH); /* another name is another experiment */
    oltr_results *c = oltr_results_new(&mine, 1, NULL);
    mine.world.custom = "x";
    mine.world.custom_bytes = 1;
    assert_int_equal(oltr_run(&mine, 1, NULL, c, &error), OLTR_EMISMATCH); /* and so is another setting */
    mine.world.custom_bytes = 0;
    world.draw = NULL;
    assert_int_equal(oltr_experiment_check(&mine, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "check and draw"));
    world.draw = world_ops_of("beta", NULL)->draw;
    clicks.best = NULL;
    assert_int_equal(oltr_experiment_check(&mine, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "best"));
    oltr_results_free(a);
    oltr_results_free(b);
    oltr_results_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_from_outside_plays_as_its_twin),
        cmocka_unit_test(its_snapshot_is_loaded_by_its_own_operations),
        cmocka_unit_test(incomplete_policies_are_refused),
        cmocka_unit_test(a_world_from_outside_plays_as_its_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
