/* custom.c - a policy and a world from outside the library work as those of the catalogue do.
 *
 * Operations of the catalogue under another name must give the very same results.
 */
#include "conform/fixtures.h"
#include "engine/policy/ops.h"
#include "lab/world/world.h"

#include <stdatomic.h>

#include <oltr/world_ops.h>

enum { ROUNDS = 300 };
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

static void same_outcomes(const oltr_results *a, const oltr_results *b, uint32_t policy,
                          uint32_t other)
{
    for (uint32_t m = 0; m < 2; m++) {
        oltr_outcome x = oltr_results_at(a, 0, policy, m), y = oltr_results_at(b, 0, other, m);
        assert_memory_equal(&x, &y,
                            offsetof(oltr_outcome, replications)); /* what follows has padding */
        assert_int_equal(x.replications, y.replications);
    }
}

static void a_policy_from_outside_plays_as_its_twin(void **state)
{
    policy_ops own = renamed(&cascade_ucb1_ops, &own);
    oltr_contestant policy[2] = {{.label = "theirs"}, {.label = "mine"}};
    expect(oltr_settings_init(&policy[0].settings, "cascade-ucb1", ITEMS, NULL), OLTR_OK);
    expect(oltr_settings_init_custom(&policy[1].settings, &own, ITEMS, NULL), OLTR_OK);
    expect(oltr_settings_set(&policy[1].settings, "alpha", "1.5", NULL), OLTR_OK);
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
    expect(oltr_settings_init_custom(&settings, &own, ITEMS, NULL), OLTR_OK);
    oltr_policy *p = oltr_policy_new(&settings, NULL);
    expect(oltr_learn(p, NULL, &shown, &seen), OLTR_OK);
    expect(oltr_save(p, bytes, sizeof bytes, &size), OLTR_OK);
    assert_null(oltr_load(bytes, size, &error)); /* the catalogue does not know it */
    assert_null(oltr_load_custom(&gts_ops, bytes, size, &error));
    assert_null(oltr_load_custom(NULL, bytes, size, &error));
    expect(error.code, OLTR_EINVAL);
    oltr_policy *again = oltr_load_custom(&own, bytes, size, &error);
    assert_non_null(again);
    assert_int_equal(oltr_policy_rounds(again), 1);
    expect(oltr_merge(again, p), OLTR_OK);
    assert_int_equal(oltr_check(again, &error), OLTR_OK);
    oltr_policy_free(again);
    oltr_policy_free(p);
}

/* Ranks by scores of which that of candidate 3 is a NaN. */
static oltr_status rank_by_nan(const void *state, uint64_t t, const oltr_candidates *from,
                               const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    (void)state, (void)t;
    for (uint32_t j = 0; j < from->n; j++)
        oltr_scores(scratch)[j] = j == 3 ? NAN : INFINITY;
    return oltr_show_best(scratch, from, rng, out);
}

static void scores_that_are_nan_give_no_list(void **state)
{
    policy_ops own = renamed(&cascade_ucb1_ops, &own);
    uint32_t named[4] = {7, 2, 9, 4}, item[4];
    double score[4];
    oltr_query all = {4, named}, without = {3, named};
    oltr_settings settings;
    own.rank = rank_by_nan;
    own.scratch_bytes = oltr_scores_bytes;
    expect(oltr_settings_init_custom(&settings, &own, ITEMS, NULL), OLTR_OK);
    oltr_policy *p = oltr_policy_new(&settings, NULL);
    expect(rank_with(p, &all, 1, 4, item, NULL), OLTR_ESTATE);
    expect(rank_with(p, &without, 1, 3, item, score), OLTR_OK);
    assert_valid_list(p, &without, 3, item, score);
    oltr_policy_free(p);
}

static void refuse(const policy_ops *ops, const char *word)
{
    oltr_settings settings;
    oltr_error error = {OLTR_OK, ""};
    expect_error(oltr_settings_init_custom(&settings, ops, ITEMS, &error), &error, OLTR_EINVAL,
                 word);
}

static void incomplete_policies_are_refused(void **state)
{
    policy_ops own = renamed(&cascade_ucb1_ops, &own), stray = renamed(&cascade_ucb1_ops, &own);
    oltr_settings settings = {.info = &stray.info, .n_items = ITEMS};
    refuse(NULL, "operations of a policy are needed");
    refuse(&stray, "info.ops");
    assert_null(oltr_policy_new(&settings, NULL)); /* an info that points to other operations */
    own.rank = NULL;
    refuse(&own, "required operations");
    own = renamed(&cascade_ucb1_ops, &own);
    own.predict = NULL;
    refuse(&own, "predict");
    own = renamed(&cascade_ucb1_ops, &own);
    own.renew_item = NULL;
    refuse(&own, "renew_item");
    own = renamed(&cascade_ucb1_ops, &own);
    own.info.by_item = 0;
    refuse(&own, "can_resize");
    own = renamed(&cascade_ucb1_ops, &own);
    own.least_sums = 1;
    refuse(&own, "merge");
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
    expect(oltr_settings_init(&policy.settings, "gts", ITEMS, NULL), OLTR_OK);
    oltr_experiment theirs = experiment(&policy, 1), mine = theirs;
    oltr_world_ops world = *world_ops_of("beta", NULL);
    oltr_click_ops clicks = *click_ops_of("cascade", NULL);
    world.info.name = "my world";
    clicks.info.name = "my users";
    mine.world = (oltr_world){.n_items = ITEMS, .custom_kind = &world, .custom_clicks = &clicks};
    oltr_results *a = run(&theirs), *b = run(&mine);
    same_outcomes(a, b, 0, 0);
    expect(oltr_results_merge(a, b, &error),
           OLTR_EMISMATCH); /* another name is another experiment */
    oltr_results *c = oltr_results_new(&mine, 1, NULL);
    mine.world.custom = "x";
    mine.world.custom_bytes = 1;
    expect(oltr_run(&mine, 1, NULL, c, &error), OLTR_EMISMATCH); /* and so is another setting */
    mine.world.custom_bytes = 0;
    world.draw = NULL;
    expect(oltr_experiment_check(&mine, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "a name and draw"));
    world.draw = world_ops_of("beta", NULL)->draw;
    clicks.best = NULL;
    expect(oltr_experiment_check(&mine, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "best"));
    oltr_results_free(a);
    oltr_results_free(b);
    oltr_results_free(c);
}

/* ---- what a policy from outside shares with its program */

/* Shows the items from `first` on, and learns how many lists were shown. */
typedef struct plan {
    uint32_t first;
    atomic_int *made, *copied, *ended, *begun, *finished;
    int refuse;     /* 1: learn fails; 2: rank too */
    bool no_thread; /* thread_begin fails */
} plan;

typedef struct counter {
    const plan *plan;
    double lists;
} counter;

static _Thread_local int hooked;

static size_t counter_bytes(const oltr_settings *settings)
{
    return sizeof(counter);
}

static oltr_status counter_init(void *state, const oltr_settings *settings, oltr_error *error)
{
    counter *c = state;
    c->plan = settings->custom;
    ++*c->plan->made;
    return hooked ? OLTR_OK : OLTR_EINVAL;
}

static oltr_status counter_init_anywhere(void *state, const oltr_settings *settings,
                                         oltr_error *error)
{
    ((counter *)state)->plan = settings->custom;
    return OLTR_OK;
}

static oltr_status counter_rank(const void *state, uint64_t t, const oltr_candidates *from,
                                const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    const counter *c = state;
    for (uint32_t j = 0; j < from->n; j++)
        oltr_scores(scratch)[j] = -(double)((j + from->n - c->plan->first) % from->n);
    return c->plan->refuse > 1 ? OLTR_EBUFFER : oltr_show_best(scratch, from, rng, out);
}

static oltr_status counter_learn(void *state, uint64_t t, const oltr_candidates *from,
                                 const oltr_ranking *shown, const oltr_feedback *seen)
{
    counter *c = state;
    if (c->plan->refuse)
        return OLTR_EIO;
    c->lists += 1;
    return OLTR_OK;
}

static uint32_t counter_sums(const void *state, oltr_sum_array out[OLTR_MAX_SUMS])
{
    counter *c = (counter *)(uintptr_t)state;
    out[0] = (oltr_sum_array){.name = "lists", .value = &c->lists, .n = 1};
    return 1;
}

static void counter_refresh(void *state, uint64_t t)
{
}

static oltr_status counter_check(const void *state, uint64_t t, oltr_error *error)
{
    return ((const counter *)state)->lists >= 0 ? OLTR_OK : OLTR_ESTATE;
}

static void counter_end(void *state)
{
    ++*((counter *)state)->plan->ended;
}

static void counter_copied(void *state)
{
    ++*((counter *)state)->plan->copied;
}

static oltr_status counter_thread_begin(const void *custom)
{
    const plan *p = custom;
    if (p->no_thread)
        return OLTR_ENOMEM;
    hooked++;
    ++*p->begun;
    return OLTR_OK;
}

static void counter_thread_end(const void *custom)
{
    hooked--;
    ++*((const plan *)custom)->finished;
}

static const oltr_policy_ops counter_ops = {
    .info = {.name = "counter",
             .title = "Counter",
             .source = "this test",
             .summary = "Shows the items from a given one on.",
             .rewards = OLTR_CLICKS,
             .can_merge = 1,
             .ops = &counter_ops},
    .state_bytes = counter_bytes,
    .scratch_bytes = oltr_scores_bytes,
    .init = counter_init,
    .rank = counter_rank,
    .learn = counter_learn,
    .sums = counter_sums,
    .refresh = counter_refresh,
    .check = counter_check,
    .end = counter_end,
    .copied = counter_copied,
    .thread_begin = counter_thread_begin,
    .thread_end = counter_thread_end,
};

typedef struct tally {
    atomic_int made, copied, ended, begun, finished;
} tally;

static plan plan_from(uint32_t first, tally *t)
{
    return (plan){first, &t->made, &t->copied, &t->ended, &t->begun, &t->finished, 0, 0};
}

static oltr_settings counter_settings(const plan *p)
{
    oltr_settings s;
    expect(oltr_settings_init_custom(&s, &counter_ops, ITEMS, NULL), OLTR_OK);
    s.custom = p;
    s.custom_bytes = sizeof p->first;
    hooked = 1;
    return s;
}

static uint32_t first_shown(const oltr_policy *p)
{
    uint32_t item[3];
    assert_int_equal(rank_with(p, NULL, 1, 3, item, NULL), OLTR_OK);
    return item[0];
}

static oltr_status learn_something(oltr_policy *p)
{
    uint32_t item[2] = {1, 2};
    double click[2] = {0, 1};
    return oltr_learn(p, NULL, &(oltr_ranking){.k = 2, .item = item},
                      &(oltr_feedback){.n_examined = 2, .reward = click});
}

/* Arrays that a policy must not list; `n` of them, all like `array`. */
static struct {
    oltr_sum_array array;
    uint32_t n;
} listed;

static uint32_t list_wrongly(const void *state, oltr_sum_array out[OLTR_MAX_SUMS])
{
    for (uint32_t a = 0; a < listed.n; a++)
        out[a] = listed.array;
    return listed.n;
}

static oltr_status renew_nothing(void *state, uint64_t t, const oltr_settings *settings,
                                 uint32_t item, const double *before, oltr_error *error)
{
    return OLTR_OK;
}

static void refuse_arrays(int by_item, oltr_sum_array array, uint32_t n, const char *word)
{
    tally t = {0};
    plan a = plan_from(0, &t);
    oltr_policy_ops ops = counter_ops;
    ops.info.ops = &ops;
    ops.info.by_item = by_item;
    ops.renew_item = renew_nothing;
    ops.sums = list_wrongly;
    listed.array = array;
    listed.n = n;
    oltr_settings s = counter_settings(&a);
    s.info = &ops.info;
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_policy_new(&s, &error));
    expect_error(error.code, &error, OLTR_EINVAL, word);
    assert_int_equal(t.made, t.ended);
}

static void impossible_arrays_are_refused(void **state)
{
    static double numbers[ITEMS + 1];
    static float floats[ITEMS];
    static const char long_name[] =
        "a name of sixty-four bytes, one more than any snapshot can hold.";
    oltr_sum_array good = {.name = "good", .value = numbers, .n = ITEMS}, bad = good;
    refuse_arrays(1, good, OLTR_MAX_ITEM_NUMBERS - 1, "9 arrays of sums, at most 8");
    bad.n = ITEMS + 1;
    refuse_arrays(1, bad, 1, "one number for each item");
    bad = (oltr_sum_array){.name = "rows", .single = floats, .n = ITEMS};
    refuse_arrays(1, bad, 1, "one number for each item");
    refuse_arrays(0, bad, 1, "operations merge and forget");
    bad.name = NULL;
    refuse_arrays(0, bad, 1, "without a name");
    bad.name = long_name;
    refuse_arrays(0, bad, 1, "more than 63 bytes");
}

static void two_policies_of_one_kind_have_contexts_of_their_own(void **state)
{
    tally t = {0};
    plan a = plan_from(4, &t), b = plan_from(9, &t), same = plan_from(4, &t);
    oltr_settings for_a = counter_settings(&a), for_b = counter_settings(&b),
                  for_same = counter_settings(&same);
    unsigned char bytes[1024];
    size_t size = 0;
    oltr_policy *p = oltr_policy_new(&for_a, NULL), *q = oltr_policy_new(&for_b, NULL);
    oltr_policy *r = oltr_policy_new(&for_same, NULL);
    assert_int_equal(first_shown(p), 4);
    assert_int_equal(first_shown(q), 9);
    expect(oltr_merge(p, q), OLTR_EMISMATCH); /* the first bytes of the context differ */
    expect(oltr_merge(p, r), OLTR_OK);
    expect(oltr_save(p, bytes, sizeof bytes, &size), OLTR_OK);
    oltr_load_options options = {.ops = &counter_ops, .custom = &b};
    oltr_policy *loaded = oltr_load_with(bytes, size, &options, NULL);
    assert_non_null(loaded);
    assert_int_equal(first_shown(loaded), 9);
    for_a.custom = NULL;
    assert_null(oltr_policy_new(&for_a, NULL)); /* custom_bytes of nothing */
    oltr_policy_free(p);
    oltr_policy_free(q);
    oltr_policy_free(r);
    oltr_policy_free(loaded);
}

static void every_policy_ends_once(void **state)
{
    tally t = {0};
    plan a = plan_from(4, &t);
    oltr_settings s = counter_settings(&a);
    size_t bytes = oltr_policy_bytes(&s, NULL);
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    oltr_policy *p = oltr_policy_new(&s, NULL),
                *placed = oltr_policy_place(memory, bytes, &s, NULL);
    oltr_policy *copy = oltr_policy_copy(p, NULL, NULL);
    assert_int_equal(t.made, 2);
    assert_int_equal(t.copied, 1);
    expect(oltr_merge(p, copy), OLTR_OK);
    assert_sound(p);
    assert_int_equal(t.made + t.copied - t.ended, 3);
    oltr_policy_free(p);
    oltr_policy_free(placed);
    oltr_policy_free(copy);
    assert_int_equal(t.made + t.copied - t.ended, 0);
    free(memory);
}

static void a_failed_operation_is_passed_on_and_not_counted(void **state)
{
    tally t = {0};
    plan a = plan_from(4, &t);
    oltr_settings s = counter_settings(&a);
    uint32_t item[2];
    oltr_error error;
    oltr_policy *p = oltr_policy_new(&s, NULL);
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_ranking list = {.k = 2, .item = item};
    expect(learn_something(p), OLTR_OK);
    a.refuse = 2;
    image before = image_of(p);
    expect(learn_something(p), OLTR_EIO);
    assert_int_equal(oltr_policy_rounds(p), 1);
    assert_unchanged(p, before);
    expect(oltr_rank(p, NULL, oltr_rng_make(1, 1), scratch, &list), OLTR_EBUFFER);
    expect(oltr_explain_rank(p, NULL, oltr_rng_make(1, 1), scratch, &list, &error), OLTR_EBUFFER);
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
}

static void an_operation_without_words_has_those_of_its_status(void **state)
{
    tally t = {0};
    plan a = plan_from(0, &t);
    oltr_settings settings = counter_settings(&a);
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = oltr_policy_new(&settings, &error);
    oltr_policy_free(p);
    hooked = 0; /* counter_init() fails */
    assert_null(oltr_policy_new(&settings, &error));
    expect_error(error.code, &error, OLTR_EINVAL, oltr_strerror(OLTR_EINVAL));
}

/* Items that the world does not have. */
static oltr_status rank_beyond(const void *state, uint64_t t, const oltr_candidates *from,
                               const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    for (uint32_t slot = 0; slot < out->k; slot++)
        out->item[slot] = UINT32_MAX - slot;
    return OLTR_OK;
}

static void a_list_of_items_that_are_not_there_ends_the_run(void **state)
{
    static const char *const users[] = {"cascade", "dcm"};
    tally t = {0};
    plan a = plan_from(0, &t);
    oltr_policy_ops ops = counter_ops;
    ops.info.ops = &ops;
    ops.rank = rank_beyond;
    ops.thread_begin = NULL;
    ops.thread_end = NULL;
    ops.init = counter_init_anywhere;
    oltr_contestant one = {.label = "mine", .settings = counter_settings(&a)};
    one.settings.info = &ops.info;
    for (size_t i = 0; i < COUNT(users); i++) {
        oltr_error error = {OLTR_OK, ""};
        oltr_experiment e = experiment(&one, 1);
        e.world.clicks = users[i];
        oltr_results *r = oltr_results_new(&e, 1, &error);
        assert_non_null(r);
        expect_error(oltr_run(&e, 1, NULL, r, &error), &error, OLTR_EITEM, "out of range");
        oltr_results_free(r);
    }
}

static void threads_of_a_run_begin_and_end(void **state)
{
    tally t = {0};
    plan a = plan_from(4, &t), b = plan_from(5, &t);
    oltr_contestant policy[3] = {{.label = "a"}, {.label = "b"}, {.label = "a again"}};
    oltr_run_options options = {.threads = 3};
    oltr_error error = {OLTR_OK, ""};
    policy[0].settings = policy[2].settings = counter_settings(&a);
    policy[1].settings = counter_settings(&b);
    oltr_experiment e = experiment(policy, 3), points[2] = {e, e};
    oltr_results *r = oltr_results_new(points, 2, &error);
    expect(oltr_run(points, 2, &options, r, &error), OLTR_OK);
    assert_int_equal(t.begun, 6); /* two contexts in three threads */
    assert_int_equal(t.finished, 6);
    assert_int_equal(t.made + t.copied, t.ended);
    oltr_results_free(r);
    b.no_thread = 1; /* a was begun and must be ended */
    r = oltr_results_new(points, 2, &error);
    expect(oltr_run(points, 2, &options, r, &error), OLTR_ENOMEM);
    assert_non_null(strstr(error.msg, "thread_begin"));
    assert_int_equal(t.begun, 9);
    assert_int_equal(t.finished, 9);
    oltr_results_free(r);
}

/* A policy whose context has changed is another experiment; what lies behind custom_bytes may
 * change. */
static void results_know_the_bytes_of_the_context(void **state)
{
    tally t = {0};
    plan a = plan_from(4, &t);
    oltr_contestant policy = {.label = "a", .settings = counter_settings(&a)};
    oltr_experiment e = experiment(&policy, 1);
    oltr_error error = {OLTR_OK, ""};
    oltr_results *r = oltr_results_new(&e, 1, &error);
    a.first = 5;
    expect(oltr_run(&e, 1, NULL, r, &error), OLTR_EMISMATCH);
    a.first = 4;
    expect(oltr_run(&e, 1, NULL, r, &error), OLTR_OK);
    oltr_results_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_from_outside_plays_as_its_twin),
        cmocka_unit_test(its_snapshot_is_loaded_by_its_own_operations),
        cmocka_unit_test(scores_that_are_nan_give_no_list),
        cmocka_unit_test(incomplete_policies_are_refused),
        cmocka_unit_test(a_world_from_outside_plays_as_its_twin),
        cmocka_unit_test(two_policies_of_one_kind_have_contexts_of_their_own),
        cmocka_unit_test(every_policy_ends_once),
        cmocka_unit_test(a_failed_operation_is_passed_on_and_not_counted),
        cmocka_unit_test(impossible_arrays_are_refused),
        cmocka_unit_test(an_operation_without_words_has_those_of_its_status),
        cmocka_unit_test(a_list_of_items_that_are_not_there_ends_the_run),
        cmocka_unit_test(threads_of_a_run_begin_and_end),
        cmocka_unit_test(results_know_the_bytes_of_the_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
