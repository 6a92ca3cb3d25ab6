/* race.c - sampler: race at the size where it races: what a policy promises holds for it, too.
 *
 * The other conformance tests have 20 items, where sampler: race samples every item.  Here are
 * 6000: snapshots, copies, merging, forgetting, other numbers of items, single items, models' room,
 * and threads go on to the same bits, and oltr_check() finds the index that follows from the sums.
 * tests/race has the law of the lists.
 */
#include "conform/suite.h"

#include <pthread.h>

enum { MANY = 6000, MORE = 9000, SLOTS = 10 };

typedef struct racer {
    const char *kind, *other; /* and its default sampler */
    bool own_priors;
} racer;

static const racer racers[] = {{"gts", "posterior", false},
                               {"gts", "posterior", true},
                               {"ts-beta", "gammas", false},
                               {"ts-beta", "gammas", true}};

static double shape[2][MORE];

static oltr_policy *policy_of(const racer *r, const char *sampler, uint32_t n)
{
    oltr_settings s;
    oltr_error error;
    for (uint32_t i = 0; i < MORE; i++) {
        shape[0][i] = 1 + i % 7 + i % 13 / 10.0;
        shape[1][i] = 5 + i % 11;
    }
    expect(oltr_settings_init(&s, r->kind, n, &error), OLTR_OK);
    expect(oltr_settings_set(&s, "sampler", sampler, &error), OLTR_OK);
    if (r->own_priors) {
        s.prior = (oltr_prior){.a = shape[0], .b = shape[1]};
        expect(oltr_settings_set(&s, "prior", "full", &error), OLTR_OK);
    }
    oltr_policy *p = oltr_policy_new(&s, &error);
    assert_non_null(p);
    return p;
}

typedef struct shown_list {
    uint32_t item[256];
    double score[256];
} shown_list;

static shown_list list_of(const oltr_policy *p, uint64_t t, uint32_t k, const oltr_query *query)
{
    shown_list l = {.item = {0}};
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_ranking out = {.k = k, .item = l.item, .score = l.score};
    assert_non_null(scratch);
    expect(oltr_rank(p, query, oltr_rng_at(oltr_rng_make(7, 7), 1, t), scratch, &out), OLTR_OK);
    oltr_scratch_free(scratch);
    return l;
}

static void assert_same_lists(const oltr_policy *p, const oltr_policy *q, const oltr_query *query)
{
    for (uint64_t t = 0; t < 30; t++) {
        shown_list a = list_of(p, t, SLOTS, query), b = list_of(q, t, SLOTS, query);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

static void assert_sound(const oltr_policy *p)
{
    oltr_error error = {OLTR_OK, ""};
    if (oltr_check(p, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
}

/* Rounds with a user who clicks about every fourth item; every fifth list is weighted. */
static void learn(oltr_policy *p, uint64_t from, uint32_t rounds)
{
    oltr_scratch *scratch = oltr_scratch_new(p);
    assert_non_null(scratch);
    for (uint64_t t = from; t < from + rounds; t++) {
        uint32_t item[SLOTS], k = 1 + (uint32_t)(t / 100) % SLOTS;
        double reward[SLOTS], weight[SLOTS];
        oltr_ranking shown = {.k = k, .item = item};
        expect(oltr_rank(p, NULL, oltr_rng_at(oltr_rng_make(7, 7), 1, t), scratch, &shown),
               OLTR_OK);
        for (uint32_t j = 0; j < k; j++) {
            reward[j] = (item[j] * 2654435761u + (uint32_t)t * 40503u) % 1024 < item[j] % 512;
            weight[j] = 0.5 + j;
        }
        oltr_feedback seen = {.n_examined = k, .reward = reward, .weight = t % 5 ? NULL : weight};
        expect(oltr_learn(p, NULL, &shown, &seen), OLTR_OK);
    }
    oltr_scratch_free(scratch);
}

static oltr_policy *reloaded(const oltr_policy *p)
{
    size_t bytes = oltr_save_bound(p), written;
    oltr_error error;
    void *image = malloc(bytes);
    assert_non_null(image);
    expect(oltr_save(p, image, bytes, &written), OLTR_OK);
    oltr_policy *q = oltr_load(image, written, &error);
    free(image);
    assert_non_null(q);
    return q;
}

static void assert_goes_on_alike(oltr_policy *p)
{
    oltr_policy *q = reloaded(p);
    assert_sound(p);
    assert_sound(q);
    assert_same_lists(p, q, NULL);
    learn(p, 5000, 100);
    learn(q, 5000, 100);
    assert_same_lists(p, q, NULL);
    oltr_policy_free(q);
}

static void a_loaded_policy_goes_on_alike(void **state)
{
    oltr_policy *p = policy_of(*state, "race", MANY);
    for (uint32_t part = 0; part < 4; part++) {
        learn(p, part * 500, 500);
        assert_goes_on_alike(p);
    }
    oltr_policy_free(p);
}

static void a_copy_goes_on_alike(void **state)
{
    oltr_policy *p = policy_of(*state, "race", MANY);
    learn(p, 0, 500);
    oltr_policy *q = oltr_policy_copy(p, NULL, NULL);
    assert_non_null(q);
    learn(p, 500, 200);
    learn(q, 500, 200);
    assert_same_lists(p, q, NULL);
    oltr_policy_free(q);
    oltr_policy_free(p);
}

static void merging_and_forgetting_build_the_index(void **state)
{
    oltr_policy *p = policy_of(*state, "race", MANY), *q = policy_of(*state, "race", MANY);
    learn(p, 0, 300);
    learn(q, 300, 300);
    expect(oltr_merge(p, q), OLTR_OK);
    assert_goes_on_alike(p);
    expect(oltr_forget(p, 0.7), OLTR_OK);
    assert_goes_on_alike(p);
    oltr_policy_free(q);
    oltr_policy_free(p);
}

static void items_change_one_by_one(void **state)
{
    const racer *r = *state;
    oltr_policy *p = policy_of(r, "race", MANY);
    oltr_error error;
    learn(p, 0, 300);
    for (uint32_t i = 0; i < MANY; i += 3) {
        double number[OLTR_MAX_ITEM_NUMBERS];
        uint32_t n;
        expect(oltr_item_get(p, i, number, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
        number[0] += i % 50;
        number[1] += i % 50 / 2;
        expect(oltr_item_put(p, i, number, n, &error), OLTR_OK);
        expect(oltr_item_reset(p, i / 2, &error), OLTR_OK);
        if (r->own_priors)
            expect(oltr_item_renew(p, i, 2 + i % 5, 7, 1, &error), OLTR_OK);
    }
    assert_goes_on_alike(p);
    oltr_policy_free(p);
}

static void another_number_of_items(void **state)
{
    const racer *r = *state;
    oltr_policy *p = policy_of(r, "race", MANY);
    oltr_prior more = {.a = shape[0] + MANY, .b = shape[1] + MANY};
    oltr_error error;
    learn(p, 0, 300);
    expect(oltr_policy_resize(&p, MORE, r->own_priors ? &more : NULL, &error), OLTR_OK);
    assert_goes_on_alike(p);
    expect(oltr_policy_resize(&p, MANY - 1500, NULL, &error), OLTR_OK);
    assert_goes_on_alike(p);
    expect(oltr_policy_resize(&p, 100, NULL, &error), OLTR_OK); /* too few for a race */
    assert_goes_on_alike(p);
    oltr_policy_free(p);
}

/* The items behind the candidates, as a model has them for names to come, have no influence. */
static void room_has_no_influence(void **state)
{
    const racer *r = *state;
    oltr_policy *p = policy_of(r, "race", MANY);
    oltr_prior more = {.a = shape[0] + MANY, .b = shape[1] + MANY};
    oltr_query first = {.n_items = MANY};
    oltr_error error;
    learn(p, 0, 300);
    oltr_policy *q = oltr_policy_copy(p, NULL, &error);
    expect(oltr_policy_resize(&q, MORE, r->own_priors ? &more : NULL, &error), OLTR_OK);
    assert_same_lists(p, q, &first);
    oltr_policy_free(q);
    oltr_policy_free(p);
}

/* Gives q the sums of p. */
static void put_sums(oltr_policy *q, const oltr_policy *p)
{
    for (uint32_t i = 0, n; i < oltr_policy_settings(p)->n_items; i++) {
        double number[OLTR_MAX_ITEM_NUMBERS];
        expect(oltr_item_get(p, i, number, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
        expect(oltr_item_put(q, i, number, n, NULL), OLTR_OK);
    }
}

/* Named candidates, long lists and few candidates are sampled as by the default sampler. */
static void other_requests_sample_every_candidate(void **state)
{
    const racer *r = *state;
    oltr_policy *p = policy_of(r, "race", MANY), *q = policy_of(r, r->other, MANY);
    uint32_t named[5000];
    learn(p, 0, 300);
    put_sums(q, p);
    for (uint32_t i = 0; i < 5000; i++)
        named[i] = i;
    oltr_query names = {.n_items = 5000, .item = named}, few = {.n_items = 4095};
    assert_same_lists(p, q, &names);
    assert_same_lists(p, q, &few);
    shown_list a = list_of(p, 1, MANY / 64 + 1, NULL), b = list_of(q, 1, MANY / 64 + 1, NULL);
    assert_memory_equal(&a, &b, sizeof a);
    a = list_of(p, 1, MANY / 64, NULL);
    b = list_of(q, 1, MANY / 64, NULL);
    assert_memory_not_equal(a.item, b.item, MANY / 64 * sizeof *a.item);
    oltr_policy_free(q);
    oltr_policy_free(p);
}

/* Whether lists of k are those of the default sampler. */
static bool samples_every_item(const oltr_policy *p, const oltr_policy *full, uint32_t k)
{
    uint32_t same = 0;
    for (uint64_t t = 0; t < 10; t++) {
        shown_list a = list_of(p, t, k, NULL), b = list_of(full, t, k, NULL);
        same += !memcmp(&a, &b, sizeof a);
    }
    assert_true(same == 0 || same == 10);
    return same == 10;
}

/* The smallest number of items that is raced over, and the numbers beside it; the longest list that
 * is raced for, and one more.  A list of fewer is its beginning. */
static void around_the_smallest_race(void **state)
{
    const racer *r = *state;
    for (uint32_t n = 4095; n <= 4097; n++) {
        oltr_policy *p = policy_of(r, "race", n), *q = policy_of(r, r->other, n);
        learn(p, 0, 1000);
        put_sums(q, p);
        assert_int_equal(samples_every_item(p, q, 1), n < 4096);
        assert_int_equal(samples_every_item(p, q, n / 64), n < 4096);
        assert_true(samples_every_item(p, q, n / 64 + 1));
        shown_list all = list_of(p, 5, n / 64, NULL), one = list_of(p, 5, 1, NULL);
        assert_int_equal(one.item[0], all.item[0]);
        assert_goes_on_alike(p);
        oltr_prior more = {.a = shape[0] + n, .b = shape[1] + n};
        expect(oltr_policy_resize(&p, 8192 - n, r->own_priors && n < 4096 ? &more : NULL, NULL),
               OLTR_OK);
        assert_goes_on_alike(p);
        oltr_policy_free(q);
        oltr_policy_free(p);
    }
}

/* A prior with tiny shapes is beyond the quantiles of ts-beta.  Meanwhile there is no index; it is
 * built when the last of them is replaced, from what was learned by then. */
static void tiny_shapes_are_sampled_fully(void **state)
{
    (void)state;
    const racer r = {"ts-beta", "gammas", true};
    oltr_policy *p = policy_of(&r, "race", MANY), *q = policy_of(&r, "gammas", MANY);
    oltr_error error;
    shown_list a = list_of(p, 1, SLOTS, NULL), b = list_of(q, 1, SLOTS, NULL);
    assert_memory_not_equal(a.item, b.item, SLOTS * sizeof *a.item);
    expect(oltr_item_renew(p, 17, 0.05, 3, 0, &error), OLTR_OK);
    expect(oltr_item_renew(q, 17, 0.05, 3, 0, &error), OLTR_OK);
    assert_same_lists(p, q, NULL);
    assert_sound(p);
    expect(oltr_item_renew(p, 17, 0.5, 3, 0, &error), OLTR_OK);
    assert_sound(p);
    a = list_of(p, 1, SLOTS, NULL);
    assert_memory_not_equal(a.item, b.item, SLOTS * sizeof *a.item);
    expect(oltr_item_renew(p, 17, 0.05, 3, 0, &error), OLTR_OK);
    expect(oltr_item_renew(p, 18, 3, 0.05, 0, &error), OLTR_OK);
    assert_goes_on_alike(p);
    expect(oltr_item_renew(p, 17, 0.5, 3, 0, &error), OLTR_OK);
    assert_sound(p);
    expect(oltr_item_renew(p, 18, 3, 0.5, 0, &error), OLTR_OK);
    assert_goes_on_alike(p);
    oltr_policy_free(q);
    oltr_policy_free(p);
}

/* Means far apart make more cells than the index has: every item is sampled, until there are
 * fewer. */
static void too_many_cells_are_sampled_fully(void **state)
{
    (void)state;
    const racer r = {"gts", "posterior", false};
    oltr_policy *p = policy_of(&r, "race", MANY), *q = policy_of(&r, "posterior", MANY);
    oltr_error error;
    for (uint32_t i = 0; i < MANY; i++) {
        const double number[2] = {100, 100.0 * i};
        expect(oltr_item_put(p, i, number, 2, &error), OLTR_OK);
        expect(oltr_item_put(q, i, number, 2, &error), OLTR_OK);
    }
    assert_same_lists(p, q, NULL);
    assert_goes_on_alike(p);
    expect(oltr_forget(p, 0), OLTR_OK);
    expect(oltr_forget(q, 0), OLTR_OK);
    shown_list a = list_of(p, 1, SLOTS, NULL), b = list_of(q, 1, SLOTS, NULL);
    assert_memory_not_equal(a.item, b.item, SLOTS * sizeof *a.item);
    assert_goes_on_alike(p);
    oltr_policy_free(q);
    oltr_policy_free(p);
}

/* Means beyond the grid are in cells without a bound: they are all looked at. */
static void means_beyond_the_grid(void **state)
{
    (void)state;
    const racer r = {"gts", "posterior", false};
    oltr_policy *p = policy_of(&r, "race", MANY);
    oltr_error error;
    for (uint32_t i = 0; i < MANY; i++) {
        const double number[2] = {100, (i < 3000 ? -1e9 : 1e9) + (i % 3000) * 1000.0};
        expect(oltr_item_put(p, i, number, 2, &error), OLTR_OK);
    }
    shown_list l = list_of(p, 1, SLOTS, NULL);
    for (uint32_t j = 0; j < SLOTS; j++)
        assert_int_equal(l.item[j], MANY - 1 - j);
    assert_goes_on_alike(p);
    oltr_policy_free(p);
}

/* ---- threads */

typedef struct ranker {
    const oltr_policy *policy;
    shown_list list[50];
} ranker;

static void *rank_rounds(void *ranker_)
{
    ranker *r = ranker_;
    for (uint64_t t = 0; t < 50; t++)
        r->list[t] = list_of(r->policy, t, SLOTS, NULL);
    return NULL;
}

static void threads_rank_at_once(void **state)
{
    enum { THREADS = 4 };
    static ranker r[THREADS];
    oltr_policy *p = policy_of(*state, "race", MANY);
    pthread_t thread[THREADS];
    learn(p, 0, 300);
    for (int i = 0; i < THREADS; i++) {
        r[i].policy = p;
        assert_int_equal(pthread_create(&thread[i], NULL, rank_rounds, &r[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_memory_equal(r[i].list, r[0].list, sizeof r[0].list);
    }
    oltr_policy_free(p);
}

static void on_racers(suite *s, const char *check, CMUnitTestFunction run)
{
    for (size_t i = 0; i < sizeof racers / sizeof *racers; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", racers[i].kind,
                 racers[i].own_priors ? " <shapes>" : "");
        add_test(s, check, name, run, &racers[i]);
    }
}

#define ON_RACERS(s, f) on_racers(s, #f, f)

int main(void)
{
    static suite s;
    ON_RACERS(&s, a_loaded_policy_goes_on_alike);
    ON_RACERS(&s, a_copy_goes_on_alike);
    ON_RACERS(&s, merging_and_forgetting_build_the_index);
    ON_RACERS(&s, items_change_one_by_one);
    ON_RACERS(&s, another_number_of_items);
    ON_RACERS(&s, room_has_no_influence);
    ON_RACERS(&s, other_requests_sample_every_candidate);
    ON_RACERS(&s, around_the_smallest_race);
    ON_RACERS(&s, threads_rank_at_once);
    ONCE(&s, tiny_shapes_are_sampled_fully);
    ONCE(&s, too_many_cells_are_sampled_fully);
    ONCE(&s, means_beyond_the_grid);
    return cmocka_run_group_tests_name("race", s.test, NULL, NULL);
}
