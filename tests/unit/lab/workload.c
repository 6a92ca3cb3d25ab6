/* workload.c - how much of a run is done: rounds that cost differently count differently. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "lab/sim/workload.h"

enum { POINTS = 3, POLICIES = 2, ROUNDS = 100, REPLICATIONS = 4 };

static const uint64_t end[] = {ROUNDS};

typedef struct stage {
    oltr_contestant policy[POINTS][POLICIES];
    oltr_experiment point[POINTS];
    oltr_results *results;
    workload *work;
} stage;

/* A sweep of the number of items: 10, 1,000 and 100,000. */
static void begin(stage *s, oltr_shard shard)
{
    uint32_t items = 10;
    for (uint32_t p = 0; p < POINTS; p++, items *= 100) {
        for (uint32_t i = 0; i < POLICIES; i++) {
            s->policy[p][i] = (oltr_contestant){.label = i ? "b" : "a"};
            assert_int_equal(
                oltr_settings_init(&s->policy[p][i].settings, i ? "ts-beta" : "gts", items, NULL),
                OLTR_OK);
        }
        s->point[p] =
            (oltr_experiment){.seed = 1,
                              .rounds = ROUNDS,
                              .slots = 3,
                              .replications = REPLICATIONS,
                              .n_checkpoints = 1,
                              .checkpoint = end,
                              .world = {.kind = "beta", .n_items = items, .clicks = "cascade"},
                              .n_policies = POLICIES,
                              .policy = s->policy[p]};
    }
    s->results = oltr_results_new(s->point, POINTS, NULL);
    assert_non_null(s->results);
    s->work = workload_new(s->point, POINTS, s->results, shard);
    assert_non_null(s->work);
}

static void finish(stage *s)
{
    workload_free(s->work);
    oltr_results_free(s->results);
}

static oltr_progress report(const stage *s, double seconds)
{
    oltr_progress p = {.seconds = seconds};
    workload_report(s->work, &p);
    return p;
}

static void nothing_is_known_at_first(void **state)
{
    stage s;
    begin(&s, (oltr_shard){0, 0});
    oltr_progress p = report(&s, 0.5);
    assert_true(p.share == 0 && p.seconds_left < 0);
    assert_int_equal(p.rounds, 0);
    assert_int_equal(p.rounds_total, POINTS * POLICIES * REPLICATIONS * ROUNDS);
    finish(&s);
}

/* Once the first point is done, a third of the rounds, the share is far below a third: the other
 * points have more items. */
static void large_points_weigh_more(void **state)
{
    stage s;
    begin(&s, (oltr_shard){0, 0});
    for (uint32_t i = 0; i < POLICIES; i++)
        workload_add(s.work, 0, i, REPLICATIONS * ROUNDS, REPLICATIONS * ROUNDS * 100);
    oltr_progress p = report(&s, 1);
    assert_int_equal(p.rounds, p.rounds_total / 3);
    assert_int_equal(p.rounds_done, p.rounds);
    assert_true(p.share > 0 && p.share < 0.01);
    double ratio =
        (guess_round(&s.point[1], 0) + guess_round(&s.point[2], 0)) / guess_round(&s.point[0], 0);
    assert_true(fabs(p.seconds_left - ratio) < 0.01 * ratio); /* one second for the first point */

    /* the second turns out to cost ten times the first */
    for (uint32_t i = 0; i < POLICIES; i++)
        workload_add(s.work, 1, i, ROUNDS, ROUNDS * 1000);
    p = report(&s, 3.5);
    double third = guess_round(&s.point[2], 0) / guess_round(&s.point[1], 0);
    double left =
        3.5 * (REPLICATIONS - 1 + REPLICATIONS * third) * 1000 / (REPLICATIONS * 100 + 1000);
    assert_true(fabs(p.seconds_left - left) < 0.01 * left);
    finish(&s);
}

/* A cheap and a dear policy of one replication: what was played of the cheap one is little. */
static void policies_weigh_by_their_cost(void **state)
{
    stage s;
    begin(&s, (oltr_shard){0, 0});
    for (uint32_t p = 0; p < POINTS; p++) {
        workload_add(s.work, p, 0, REPLICATIONS * ROUNDS, REPLICATIONS * ROUNDS * 10);
        workload_add(s.work, p, 1, ROUNDS, ROUNDS * 990);
    }
    oltr_progress p = report(&s, 1);
    assert_true(fabs(p.share - (REPLICATIONS * 10 + 990) / (REPLICATIONS * 1000.0)) < 1e-9);
    finish(&s);
}

static void the_share_never_falls_and_ends_at_one(void **state)
{
    stage s;
    double share = 0;
    begin(&s, (oltr_shard){0, 0});
    for (uint32_t r = 0; r < REPLICATIONS; r++)
        for (uint32_t p = 0; p < POINTS; p++)
            for (uint32_t i = 0; i < POLICIES; i++)
                for (uint64_t t = 0; t < ROUNDS; t += 10) {
                    workload_add(s.work, p, i, 10, 1000 + 977 * ((t * 7 + r + i) % 13));
                    oltr_progress now = report(&s, 1);
                    assert_true(now.share >= share && now.share <= 1);
                    assert_int_equal(now.share >= 1, now.rounds == now.rounds_total);
                    share = now.share;
                }
    assert_true(share == 1);
    assert_true(report(&s, 1).seconds_left == 0);
    finish(&s);
}

/* Replications of an earlier call count as done, those of other shards not at all. */
static void earlier_replications_and_shards(void **state)
{
    stage s;
    double regret[POLICIES] = {1, 1};
    uint64_t ns[POLICIES] = {1, 1};
    begin(&s, (oltr_shard){0, 0});
    const curves of = {.regret = regret, .reward = regret, .ns = ns};
    results_add(s.results, 0, 0, &of);
    results_add(s.results, 0, 1, &of);
    workload_free(s.work);
    s.work = workload_new(s.point, POINTS, s.results, (oltr_shard){1, 2});
    oltr_progress p = report(&s, 1);
    assert_int_equal(p.rounds_total, POINTS * POLICIES * (REPLICATIONS / 2) * ROUNDS);
    assert_int_equal(p.rounds, POLICIES * ROUNDS); /* replication 1; 0 is of the other shard */
    assert_int_equal(p.rounds_done, 0);
    assert_true(p.share > 0);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_at_first),
        cmocka_unit_test(large_points_weigh_more),
        cmocka_unit_test(policies_weigh_by_their_cost),
        cmocka_unit_test(the_share_never_falls_and_ends_at_one),
        cmocka_unit_test(earlier_replications_and_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
