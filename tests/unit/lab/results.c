/* results.c - sums over replications against the textbook: means, standard errors, differences in
 * pairs, and results put together from parts. */
#include "lab/sim/results.h"

#include <oltr/world_ops.h>

#include "support/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POLICIES = 3, MARKS = 2, REPLICATIONS = 11, ITEMS = 4 };
static const uint64_t marks[MARKS] = {5, 20};

static oltr_experiment experiment(oltr_contestant *policy)
{
    for (uint32_t i = 0; i < POLICIES; i++) {
        policy[i] = (oltr_contestant){.label = "x"};
        assert_int_equal(oltr_settings_init(&policy[i].settings, "gts", ITEMS, NULL), OLTR_OK);
    }
    return (oltr_experiment){.seed = 1,
                             .rounds = 20,
                             .slots = 2,
                             .replications = REPLICATIONS,
                             .n_checkpoints = MARKS,
                             .checkpoint = marks,
                             .world = {.kind = "beta", .n_items = ITEMS, .clicks = "cascade"},
                             .n_policies = POLICIES,
                             .policy = policy};
}

/* Some curve, a number of a few bits so that rounding to units is exact. */
static double curve(uint32_t replication, uint32_t policy, uint32_t mark)
{
    return (double)((replication * 37 + policy * 11 + mark * 5) % 64) / 8 + mark;
}

/* Every fourth replication has none. */
static double quality(uint32_t replication, uint32_t policy, uint32_t mark)
{
    return replication % 4 == 3 ? NAN : (double)((replication * 13 + policy * 5 + mark) % 32) / 32;
}

static void add(oltr_results *r, uint32_t replication)
{
    double regret[POLICIES * MARKS], reward[POLICIES * MARKS], ndcg[POLICIES * MARKS];
    uint64_t ns[POLICIES] = {20, 40, 60};
    for (uint32_t i = 0; i < POLICIES; i++)
        for (uint32_t m = 0; m < MARKS; m++) {
            regret[i * MARKS + m] = curve(replication, i, m);
            reward[i * MARKS + m] = 1 + curve(replication, i, m);
            ndcg[i * MARKS + m] = quality(replication, i, m);
        }
    results_add(r, 0, replication, &(curves){regret, reward, ns, replication % 3 == 0, ndcg});
}

/* Mean and standard error of n numbers, by the book. */
static void by_the_book(const double *x, uint32_t n, double *mean, double *se)
{
    double squares = 0;
    *mean = 0;
    for (uint32_t i = 0; i < n; i++)
        *mean += x[i] / n;
    for (uint32_t i = 0; i < n; i++)
        squares += (x[i] - *mean) * (x[i] - *mean);
    *se = sqrt(squares / (n - 1) / n);
}

static void means_and_differences(void **state)
{
    oltr_contestant policy[POLICIES];
    oltr_experiment e = experiment(policy);
    oltr_results *r = oltr_results_new(&e, 1, NULL);
    double x[REPLICATIONS], d[REPLICATIONS], mean, se;
    assert_non_null(r);
    for (uint32_t i = 0; i < REPLICATIONS; i++)
        add(r, i);
    for (uint32_t i = 0; i < POLICIES; i++)
        for (uint32_t j = 0; j < POLICIES; j++)
            for (uint32_t m = 0; m < MARKS; m++) {
                for (uint32_t k = 0; k < REPLICATIONS; k++) {
                    x[k] = curve(k, i, m);
                    d[k] = curve(k, i, m) - curve(k, j, m);
                }
                by_the_book(x, REPLICATIONS, &mean, &se);
                oltr_outcome o = oltr_results_at(r, 0, i, m);
                assert_true(fabs(o.regret - mean) < 1e-12 && fabs(o.regret_se - se) < 1e-12);
                assert_true(fabs(o.reward - mean - 1) < 1e-12);
                by_the_book(d, REPLICATIONS, &mean, &se);
                oltr_estimate pair = oltr_results_pair(r, 0, i, j, m);
                assert_true(fabs(pair.mean - mean) < 1e-12 && fabs(pair.se - se) < 1e-12);
                assert_int_equal(pair.replications, REPLICATIONS);
            }
    oltr_results_free(r);
}

/* The reward of a round since the checkpoint before, and NDCG of the replications that have one. */
static void metrics(void **state)
{
    oltr_contestant policy[POLICIES];
    oltr_experiment e = experiment(policy);
    oltr_results *r = oltr_results_new(&e, 1, NULL);
    double rate[REPLICATIONS], ndcg[REPLICATIONS], mean, se;
    assert_true(isnan(oltr_results_metric(r, 0, 0, 0, OLTR_CTR).mean));
    for (uint32_t i = 0; i < REPLICATIONS; i++)
        add(r, i);
    for (uint32_t i = 0; i < POLICIES; i++)
        for (uint32_t m = 0; m < MARKS; m++) {
            uint32_t n = 0;
            for (uint32_t k = 0; k < REPLICATIONS; k++) {
                rate[k] = m ? (curve(k, i, 1) - curve(k, i, 0)) / 15 : (1 + curve(k, i, 0)) / 5;
                if (!isnan(quality(k, i, m)))
                    ndcg[n++] = quality(k, i, m);
            }
            by_the_book(rate, REPLICATIONS, &mean, &se);
            oltr_estimate x = oltr_results_metric(r, 0, i, m, OLTR_CTR);
            assert_true(fabs(x.mean - mean) < 1e-12 && fabs(x.se - se) < 1e-12);
            assert_int_equal(x.replications, REPLICATIONS);
            by_the_book(ndcg, n, &mean, &se);
            x = oltr_results_metric(r, 0, i, m, OLTR_NDCG);
            assert_true(fabs(x.mean - mean) < 1e-12 && fabs(x.se - se) < 1e-12);
            assert_int_equal(x.replications, n);
        }
    oltr_results_free(r);
}

/* The largest regret, of results that were merged. */
static void largest_regret(void **state)
{
    oltr_contestant policy[POLICIES];
    oltr_experiment e = experiment(policy);
    oltr_results *r = oltr_results_new(&e, 1, NULL), *half = oltr_results_new(&e, 1, NULL);
    assert_true(isnan(oltr_results_metric(r, 0, 0, 0, OLTR_WORST).mean));
    for (uint32_t i = 0; i < REPLICATIONS; i++)
        add(i % 2 ? half : r, i);
    assert_int_equal(oltr_results_merge(r, half, NULL), OLTR_OK);
    for (uint32_t i = 0; i < POLICIES; i++)
        for (uint32_t m = 0; m < MARKS; m++) {
            double worst = curve(0, i, m);
            for (uint32_t k = 1; k < REPLICATIONS; k++)
                worst = fmax(worst, curve(k, i, m));
            oltr_estimate x = oltr_results_metric(r, 0, i, m, OLTR_WORST);
            assert_true(fabs(x.mean - worst) < 1e-12 && x.se <= 0);
            assert_int_equal(x.replications, REPLICATIONS);
        }
    oltr_results_free(half);
    oltr_results_free(r);
}

static void pack(const oltr_results *r, unsigned char **bytes, size_t *size)
{
    *size = oltr_results_size(r);
    *bytes = malloc(*size);
    assert_non_null(*bytes);
    oltr_results_pack(r, *bytes);
}

/* Any split into parts, merged in any order, is the whole, to the byte. */
static void parts_make_the_whole(void **state)
{
    oltr_contestant policy[POLICIES];
    oltr_experiment e = experiment(policy);
    unsigned char *expected, *found;
    size_t size, found_size;
    oltr_results *whole = oltr_results_new(&e, 1, NULL);
    for (uint32_t i = 0; i < REPLICATIONS; i++)
        add(whole, i);
    pack(whole, &expected, &size);
    for (uint32_t parts = 1; parts <= REPLICATIONS + 1; parts++) {
        oltr_results *sum = oltr_results_new(&e, 1, NULL);
        for (uint32_t p = parts; p-- > 0;) {
            oltr_results *part = oltr_results_new(&e, 1, NULL);
            uint32_t count = 0;
            for (uint32_t i = p; i < REPLICATIONS; i += parts, count++)
                add(part, i);
            assert_int_equal(count, oltr_shard_replications((oltr_shard){p, parts}, REPLICATIONS));
            assert_int_equal(oltr_results_merge(sum, part, NULL), OLTR_OK);
            oltr_results_free(part);
        }
        pack(sum, &found, &found_size);
        assert_int_equal(found_size, size);
        assert_memory_equal(found, expected, size);
        free(found);
        oltr_results_free(sum);
    }
    free(expected);
    oltr_results_free(whole);
}

static void parts_that_do_not_fit(void **state)
{
    oltr_contestant policy[POLICIES];
    oltr_experiment e = experiment(policy), other = e;
    oltr_error error;
    other.seed = 2;
    oltr_results *a = oltr_results_new(&e, 1, NULL), *b = oltr_results_new(&e, 1, NULL),
                 *c = oltr_results_new(&other, 1, NULL);
    unsigned char *before, *after;
    size_t size;
    add(a, 3);
    add(b, 3);
    pack(a, &before, &size);
    assert_int_equal(oltr_results_merge(a, b, &error), OLTR_EMISMATCH);
    assert_non_null(strstr(error.msg, "replication 3"));
    assert_int_equal(oltr_results_merge(a, c, &error), OLTR_EMISMATCH);
    assert_int_equal(oltr_results_merge(NULL, c, &error), OLTR_EINVAL);
    pack(a, &after, &size);
    assert_memory_equal(before, after, size); /* refused: nothing has changed */
    assert_int_equal(oltr_results_unpack(c, after, size, "there", &error), OLTR_EMISMATCH);
    assert_int_equal(oltr_results_unpack(b, after, size - 1, "there", &error), OLTR_ECHECKSUM);
    assert_int_equal(oltr_results_unpack(b, after, size, "there", &error), OLTR_OK);
    free(before);
    free(after);
    oltr_results_free(a);
    oltr_results_free(b);
    oltr_results_free(c);
}

/* A shard runs its replications and no others; all shards together are the run. */
static void shards_of_a_run(void **state)
{
    oltr_contestant policy[POLICIES];
    oltr_experiment e = experiment(policy);
    unsigned char *expected, *found;
    size_t size;
    oltr_results *whole = oltr_results_new(&e, 1, NULL), *sum = oltr_results_new(&e, 1, NULL);
    assert_int_equal(oltr_run(&e, 1, NULL, whole, NULL), OLTR_OK);
    for (uint32_t i = 0; i < 4; i++) {
        oltr_results *part = oltr_results_new(&e, 1, NULL);
        oltr_run_options options = {.threads = 2, .shard = {i, 4}};
        assert_int_equal(oltr_run(&e, 1, &options, part, NULL), OLTR_OK);
        for (uint32_t k = 0; k < REPLICATIONS; k++)
            assert_int_equal(part->point[0].whole[k], k % 4 == i);
        assert_int_equal(oltr_results_merge(sum, part, NULL), OLTR_OK);
        oltr_results_free(part);
    }
    memcpy(sum->point[0].ns, whole->point[0].ns,
           POLICIES * sizeof(uint64_t)); /* time is what may differ */
    pack(whole, &expected, &size);
    pack(sum, &found, &size);
    assert_memory_equal(found, expected, size);
    oltr_run_options outside = {.shard = {4, 4}};
    assert_int_equal(oltr_run(&e, 1, &outside, sum, NULL), OLTR_EINVAL);
    free(expected);
    free(found);
    oltr_results_free(whole);
    oltr_results_free(sum);
}

/* ---- groups */

enum { QUERIES = 3 };

/* Three queries with three documents each. */
static const oltr_dataset data = {
    .n_queries = QUERIES,
    .n_rows = 9,
    .dim = 1,
    .query = (const uint64_t[]){7, 8, 9},
    .first_row = (const uint32_t[]){0, 3, 6, 9},
    .grade = (const uint8_t[]){0, 1, 2, 0, 0, 1, 4, 0, 0},
    .x = (const float[]){0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.9f},
};
static const double row_attraction[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};

static oltr_experiment grouped(oltr_contestant *policy)
{
    oltr_experiment e = experiment(policy);
    e.replications = 4 * QUERIES;
    e.world = (oltr_world){.kind = "dataset",
                           .n_items = 3,
                           .clicks = "cascade",
                           .dim = 1,
                           .dataset = &data,
                           .attraction = row_attraction};
    for (uint32_t i = 0; i < POLICIES; i++)
        policy[i].settings.n_items = 3;
    return e;
}

/* With groups, the standard error is that of the means of the groups. */
static void errors_between_groups(void **state)
{
    oltr_contestant policy[POLICIES];
    oltr_experiment e = grouped(policy);
    oltr_error error = {OLTR_OK, ""};
    oltr_results *r = oltr_results_new(&e, 1, &error);
    double x[QUERIES] = {0}, d[QUERIES] = {0}, inside[QUERIES][4], mean, se;
    assert_non_null(r);
    assert_int_equal(oltr_results_groups(r, 0), QUERIES);
    for (uint32_t i = 0; i < e.replications; i++) {
        add(r, i);
        x[i % QUERIES] += curve(i, 1, 1) / 4;
        d[i % QUERIES] += (curve(i, 1, 1) - curve(i, 2, 1)) / 4;
        inside[i % QUERIES][i / QUERIES] = curve(i, 1, 1);
    }
    by_the_book(x, QUERIES, &mean, &se);
    oltr_outcome o = oltr_results_at(r, 0, 1, 1);
    assert_true(fabs(o.regret - mean) < 1e-12 && fabs(o.regret_se - se) < 1e-12);
    by_the_book(d, QUERIES, &mean, &se);
    oltr_estimate pair = oltr_results_pair(r, 0, 1, 2, 1);
    assert_true(fabs(pair.mean - mean) < 1e-12 && fabs(pair.se - se) < 1e-12);
    for (uint32_t g = 0; g < QUERIES; g++) {
        by_the_book(inside[g], 4, &mean, &se);
        oltr_estimate own = oltr_results_in_group(r, 0, 1, g);
        assert_true(fabs(own.mean - mean) < 1e-12 && fabs(own.se - se) < 1e-12 &&
                    own.replications == 4);
    }
    oltr_results_free(r);
}

/* The same for other metrics; a group without an NDCG does not count. */
static void metrics_between_groups(void **state)
{
    oltr_contestant policy[POLICIES];
    oltr_experiment e = grouped(policy);
    oltr_results *r = oltr_results_new(&e, 1, NULL);
    double rate[QUERIES] = {0}, total[QUERIES] = {0}, n[QUERIES] = {0}, mean, se, squares = 0;
    for (uint32_t i = 0; i < e.replications; i++) {
        add(r, i);
        rate[i % QUERIES] += (curve(i, 1, 1) - curve(i, 1, 0)) / 15 / 4;
        total[i % QUERIES] += isnan(quality(i, 1, 1)) ? 0 : quality(i, 1, 1);
        n[i % QUERIES] += !isnan(quality(i, 1, 1));
    }
    by_the_book(rate, QUERIES, &mean, &se);
    oltr_estimate x = oltr_results_metric(r, 0, 1, 1, OLTR_CTR);
    assert_true(fabs(x.mean - mean) < 1e-12 && fabs(x.se - se) < 1e-12);
    mean = (total[0] + total[1] + total[2]) / (n[0] + n[1] + n[2]);
    for (uint32_t g = 0; g < QUERIES; g++)
        squares += (total[g] - n[g] * mean) * (total[g] - n[g] * mean);
    se = sqrt(squares * QUERIES / (QUERIES - 1)) / (n[0] + n[1] + n[2]);
    x = oltr_results_metric(r, 0, 1, 1, OLTR_NDCG);
    assert_true(fabs(x.mean - mean) < 1e-12 && fabs(x.se - se) < 1e-12);
    assert_int_equal(x.replications, 9);
    oltr_results_free(r);
}

/* Through bytes and in parts, groups stay what they are; a file whose groups do not add up is
 * refused. */
static void groups_in_parts(void **state)
{
    oltr_contestant policy[POLICIES];
    oltr_experiment e = grouped(policy);
    unsigned char *expected, *found;
    size_t size;
    oltr_results *whole = oltr_results_new(&e, 1, NULL), *sum = oltr_results_new(&e, 1, NULL);
    oltr_error error;
    for (uint32_t i = 0; i < e.replications; i++)
        add(whole, i);
    for (uint32_t part = 0; part < 2; part++) {
        oltr_results *half = oltr_results_new(&e, 1, NULL), *back = oltr_results_new(&e, 1, NULL);
        for (uint32_t i = part; i < e.replications; i += 2)
            add(half, i);
        pack(half, &found, &size);
        assert_int_equal(oltr_results_unpack(back, found, size, "half", &error), OLTR_OK);
        assert_int_equal(oltr_results_merge(sum, back, &error), OLTR_OK);
        free(found);
        oltr_results_free(half);
        oltr_results_free(back);
    }
    pack(whole, &expected, &size);
    pack(sum, &found, &size);
    assert_memory_equal(found, expected, size);
    for (size_t i = 0; i < GROUP_ARRAYS; i++) {
        assert_int_equal(oltr_results_unpack(sum, expected, size, "good", &error), OLTR_OK);
        sum->point[0].group_regret[i * sum->point[0].group_curves]++;
        oltr_results_pack(sum, found);
        assert_int_equal(oltr_results_unpack(sum, found, size, "forged", &error), OLTR_ECORRUPT);
        assert_int_equal(oltr_results_at(sum, 0, 0, 0).replications, 0); /* nothing was kept */
    }
    free(expected);
    free(found);
    oltr_results_free(whole);
    oltr_results_free(sum);
}

/* ---- reading out of range */

static int is_none(oltr_estimate e)
{
    return isnan(e.mean) && isnan(e.se) && e.replications == 0;
}

static int is_no_outcome(oltr_outcome o)
{
    return isnan(o.regret) && isnan(o.regret_se) && isnan(o.reward) && o.replications == 0;
}

static void reading_out_of_range(void **state)
{
    static const uint32_t far[] = {1, 7, UINT32_MAX};
    oltr_contestant policy[POLICIES];
    oltr_experiment e = experiment(policy);
    oltr_results *r = oltr_results_new(&e, 1, NULL);
    add(r, 0);
    for (size_t i = 0; i < 3; i++) {
        uint32_t n = far[i];
        assert_true(is_no_outcome(oltr_results_at(r, n, 0, 0)));
        assert_true(is_none(oltr_results_pair(r, n, 0, 1, 0)));
        assert_true(is_none(oltr_results_metric(r, n, 0, 0, OLTR_CTR)));
        assert_true(is_none(oltr_results_metric(r, 0, 0, 0, n == 1 ? 3 : n)));
        assert_true(is_none(oltr_results_in_group(r, n, 0, 0)));
        assert_true(
            is_none(oltr_results_in_group(r, 0, 0, n))); /* a world without queries has one group */
        assert_int_equal(oltr_results_groups(r, n), 0);
        assert_int_equal(oltr_results_saturated(r, n), 0);
        assert_true(isnan(oltr_results_ns_per_round(r, n, 0)));
        n = n == 1 ? POLICIES : n;
        assert_true(is_no_outcome(oltr_results_at(r, 0, n, 0)));
        assert_true(is_none(oltr_results_pair(r, 0, n, 0, 0)) &&
                    is_none(oltr_results_pair(r, 0, 0, n, 0)));
        assert_true(is_none(oltr_results_pair(r, 0, n, n, 0)));
        assert_true(is_none(oltr_results_in_group(r, 0, n, 0)));
        assert_true(isnan(oltr_results_ns_per_round(r, 0, n)));
        n = n == POLICIES ? MARKS : n;
        assert_true(is_no_outcome(oltr_results_at(r, 0, 0, n)));
        assert_true(is_none(oltr_results_pair(r, 0, 0, 1, n)));
    }
    assert_int_equal(oltr_results_groups(r, 0), 1);
    oltr_results_free(r);
}

static void reading_nothing(void **state)
{
    unsigned char byte = 7;
    assert_true(is_no_outcome(oltr_results_at(NULL, 0, 0, 0)));
    assert_true(is_none(oltr_results_pair(NULL, 0, 0, 1, 0)));
    assert_true(is_none(oltr_results_in_group(NULL, 0, 0, 0)));
    assert_int_equal(oltr_results_groups(NULL, 0), 0);
    assert_int_equal(oltr_results_saturated(NULL, 0), 0);
    assert_true(isnan(oltr_results_ns_per_round(NULL, 0, 0)));
    assert_int_equal(oltr_results_size(NULL), 0);
    oltr_results_pack(NULL, &byte);
    assert_int_equal(byte, 7);
}

/* Of every third replication add() says that its lists are alike; files and merges keep it. */
static void saturated_replications_are_kept(void **state)
{
    oltr_contestant policy[POLICIES];
    oltr_experiment e = experiment(policy);
    oltr_results *r = oltr_results_new(&e, 1, NULL), *back = oltr_results_new(&e, 1, NULL),
                 *sum = oltr_results_new(&e, 1, NULL);
    unsigned char *bytes;
    size_t size;
    for (uint32_t i = 0; i < 5; i++)
        add(r, i);
    assert_int_equal(oltr_results_saturated(r, 0), 2);
    pack(r, &bytes, &size);
    assert_int_equal(oltr_results_unpack(back, bytes, size, "bytes", NULL), OLTR_OK);
    assert_int_equal(oltr_results_saturated(back, 0), 2);
    assert_int_equal(oltr_results_at(back, 0, 0, 0).replications, 5);
    add(sum, 6);
    assert_int_equal(oltr_results_merge(sum, back, NULL), OLTR_OK);
    assert_int_equal(oltr_results_saturated(sum, 0), 3);
    free(bytes);
    oltr_results_free(r);
    oltr_results_free(back);
    oltr_results_free(sum);
}

/* ---- parameters of a custom world */

static oltr_status check_nothing(const oltr_world *world, oltr_error *error)
{
    return OLTR_OK;
}

static const char *const words[] = {"one", "two", NULL};
static const oltr_world_param params[] = {
    {{"level", OLTR_REAL, 0.25, 0, 1, NULL, ""}, 0, 0},
    {{"count", OLTR_INTEGER, 3, 2, 9, NULL, ""}, 0, 0},
    {{"which", OLTR_CHOICE, 1, 0, 1, words, ""}, 0, 0},
};

/* All attractions are `level`. */
static oltr_status draw_level(const oltr_world *world, uint64_t seed, uint64_t replication,
                              oltr_instance *out, oltr_error *error)
{
    for (uint32_t i = 0; i < out->n_items; i++)
        out->attraction[i] = oltr_world_value(params, world->kind_values, 0);
    return OLTR_OK;
}

static const oltr_world_ops level_world = {.info = {"level", ""},
                                           .check = check_nothing,
                                           .draw = draw_level,
                                           .params = params,
                                           .n_params = 3};

/* The mean reward of a round after `values`, for two slots; negative if they are refused. */
static double reward_with(const double *values, uint64_t *digest, oltr_error *error)
{
    oltr_contestant policy[POLICIES];
    oltr_experiment e = experiment(policy);
    e.world = (oltr_world){
        .n_items = ITEMS, .clicks = "cascade", .custom_kind = &level_world, .kind_values = values};
    oltr_results *r = oltr_results_new(&e, 1, error);
    if (!r)
        return -1;
    assert_int_equal(oltr_run(&e, 1, NULL, r, error), OLTR_OK);
    double reward = oltr_results_at(r, 0, 0, MARKS - 1).reward / (double)e.rounds;
    *digest = r->digest;
    oltr_results_free(r);
    return reward;
}

static void custom_parameters_count(void **state)
{
    static const double same[] = {0.25, 3, 1}, other[] = {0.5, 3, 1},
                        bad[][3] = {{1.5, 3, 1},  {NAN, 3, 1},   {0.5, 1, 1},
                                    {0.5, 10, 1}, {0.5, 2.5, 1}, {0.5, 3, 2}};
    uint64_t of_defaults, of_same, of_other;
    oltr_error error = {OLTR_OK, ""};
    assert_true(fabs(reward_with(NULL, &of_defaults, &error) - (1 - 0.75 * 0.75)) < 1e-9);
    assert_true(fabs(reward_with(same, &of_same, &error) - (1 - 0.75 * 0.75)) < 1e-9);
    assert_true(fabs(reward_with(other, &of_other, &error) - 0.75) < 1e-9);
    assert_true(of_defaults == of_same && of_same != of_other);
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_true(reward_with(bad[i], &of_other, &error) < 0);
    assert_string_equal(error.msg, "level: which must be from 0 to 1 and whole, not 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_and_differences),
        cmocka_unit_test(metrics),
        cmocka_unit_test(largest_regret),
        cmocka_unit_test(metrics_between_groups),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(parts_that_do_not_fit),
        cmocka_unit_test(shards_of_a_run),
        cmocka_unit_test(errors_between_groups),
        cmocka_unit_test(groups_in_parts),
        cmocka_unit_test(reading_out_of_range),
        cmocka_unit_test(reading_nothing),
        cmocka_unit_test(saturated_replications_are_kept),
        cmocka_unit_test(custom_parameters_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
