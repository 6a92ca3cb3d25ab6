/* classes.c - policies that keep items with equal sums as classes, at the size where they do: every
 * list is the list of the full computation, to the bit.
 *
 * The other conformance tests have 20 items, where there are no classes.  Here are 6000.  Naming
 * every item makes the policy compute every item (src/engine/race/classes.h serves requests without
 * names), so each list of a life is compared with that of the same policy, items and scores: lives
 * with weights, forgetting, merging, items that are set, reset, added and removed, and states with
 * too many classes.  ensemble with a prior has a short cut of its own and is compared alike; random
 * is compared with the selection among equal scores.
 */
#include "conform/suite.h"

#include <pthread.h>

#include <oltr/policy_ops.h>

enum { MANY = 6000, MORE = 9000, SLOTS = 12, MOST_SLOTS = MORE / 64 };

typedef struct contestant {
    const char *kind, *name, *value; /* and a parameter, or NULL */
    bool own_priors;
} contestant;

static const contestant contestants[] = {
    {"cascade-ucb1", NULL, NULL, false},
    {"cascade-ucb1", "bonus", "released", false},
    {"cascade-ucb1", "alpha", "0", false}, /* classes of equal index */
    {"cascade-ucbv", NULL, NULL, false},
    {"cascade-klucb", NULL, NULL, false},
    {"cascade-klucb", "budget", "released", false},
    {"bayes-ucb", NULL, NULL, false},
    {"bayes-ucb", "b", "0.01", false}, /* shapes without a series */
    {"bayes-ucb", "prior", "full", true},
    {"epsilon-greedy", NULL, NULL, false},
    {"epsilon-greedy", "epsilon", "0", false},
    {"epsilon-greedy", "looks", "0", false}, /* equal rates of different sums */
    {"epsilon-greedy", "start", "0.25", false},
    {"ts-cascade", NULL, NULL, false},
    {"ts-cascade", "clock", "released", false},
    {"ensemble", "prior", "full", true},    /* many distinct scores */
    {"ensemble", "rule", "released", true}, /* few */
};

static double shape[2][MORE];
static uint32_t everything[MORE];

static oltr_policy *policy_of(const contestant *c, uint32_t n)
{
    oltr_settings s;
    oltr_error error;
    for (uint32_t i = 0; i < MORE; i++) {
        shape[0][i] = 1 + i % 7 + i % 13 / 10.0;
        shape[1][i] = 5 + i * 37 % 1009;
        everything[i] = i;
    }
    expect(oltr_settings_init(&s, c->kind, n, &error), OLTR_OK);
    if (c->name)
        expect(oltr_settings_set(&s, c->name, c->value, &error), OLTR_OK);
    if (c->own_priors) {
        s.prior = (oltr_prior){.a = shape[0], .b = shape[1]};
        expect(oltr_settings_set(&s, "prior", "full", &error), OLTR_OK);
    }
    oltr_policy *p = oltr_policy_new(&s, &error);
    assert_non_null(p);
    return p;
}

static void rank(const oltr_policy *p, oltr_scratch *scratch, const oltr_query *query, uint64_t t,
                 oltr_ranking *out)
{
    expect(oltr_rank(p, query, oltr_rng_at(oltr_rng_make(7, 7), 1, t), scratch, out), OLTR_OK);
}

/* The list of the first n items; it must be that of the full computation. */
static void list_checked(const oltr_policy *p, oltr_scratch *scratch, uint32_t n, uint64_t t,
                         uint32_t k, uint32_t *item)
{
    uint32_t full_item[MOST_SLOTS];
    double score[MOST_SLOTS], full_score[MOST_SLOTS];
    oltr_query first = {.n_items = n}, named = {.n_items = n, .item = everything};
    oltr_ranking list = {.k = k, .item = item, .score = score};
    oltr_ranking full = {.k = k, .item = full_item, .score = full_score};
    rank(p, scratch, &first, t, &list);
    rank(p, scratch, &named, t, &full);
    assert_memory_equal(item, full_item, k * sizeof *item);
    assert_memory_equal(score, full_score, k * sizeof *score);
    list.score = NULL;
    rank(p, scratch, &first, t, &list);
    assert_memory_equal(item, full_item, k * sizeof *item);
}

static void assert_sound(const oltr_policy *p)
{
    oltr_error error = {OLTR_OK, ""};
    if (oltr_check(p, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
}

static uint32_t n_items(const oltr_policy *p)
{
    return oltr_policy_settings(p)->n_items;
}

/* Rounds with a user who clicks about every fourth item, and learns from every list; every
 * `weighted`-th is weighted. */
static void live(oltr_policy *p, uint64_t from, uint32_t rounds, uint32_t weighted)
{
    oltr_scratch *scratch = oltr_scratch_new(p);
    assert_non_null(scratch);
    for (uint64_t t = from; t < from + rounds; t++) {
        uint32_t item[MOST_SLOTS], n = n_items(p), k = 1 + (uint32_t)(t * 7 % SLOTS);
        double reward[MOST_SLOTS], weight[MOST_SLOTS];
        if (t % 97 == 0)
            list_checked(p, scratch, n, t, n / 64, item);
        if (t % 89 == 0 && n > 4500)
            list_checked(p, scratch, n - 400, t, k, item);
        list_checked(p, scratch, n, t, k, item);
        for (uint32_t j = 0; j < k; j++) {
            reward[j] = (item[j] * 2654435761u + (uint32_t)t * 40503u) % 1024 < item[j] % 512;
            weight[j] = 0.5 + j % 3;
        }
        oltr_ranking shown = {.k = k, .item = item};
        oltr_feedback seen = {
            .n_examined = k, .reward = reward, .weight = t % weighted ? NULL : weight};
        expect(oltr_learn(p, NULL, &shown, &seen), OLTR_OK);
    }
    oltr_scratch_free(scratch);
    assert_sound(p);
}

/* Sets observations and clicks of items, if the policy has any: `classes` distinct pairs. */
static void set_items(oltr_policy *p, uint32_t step, uint32_t classes)
{
    for (uint32_t i = 0; i < n_items(p); i += step) {
        double number[OLTR_MAX_ITEM_NUMBERS];
        uint32_t n;
        expect(oltr_item_get(p, i, number, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
        if (!oltr_policy_settings(p)->info->can_predict)
            return;
        number[0] = 1 + i % classes;
        number[1] = i % classes / 3;
        expect(oltr_item_put(p, i, number, n, NULL), OLTR_OK);
    }
}

static void every_list_is_the_full_one(void **state)
{
    oltr_policy *p = policy_of(*state, MANY);
    live(p, 1, 400, 5);
    expect(oltr_forget(p, 0.9), OLTR_OK);
    live(p, 401, 100, 5);
    set_items(p, 1, 40); /* nothing is unseen any more */
    live(p, 501, 300, 1000);
    oltr_policy_free(p);
}

static void merged_and_copied(void **state)
{
    oltr_policy *p = policy_of(*state, MANY), *q = policy_of(*state, MANY);
    live(p, 1, 150, 3);
    live(q, 1000, 150, 4);
    expect(oltr_merge(p, q), OLTR_OK);
    oltr_policy_free(q);
    q = oltr_policy_copy(p, NULL, NULL);
    live(p, 1, 50, 3);
    live(q, 1, 50, 3);
    for (uint32_t i = 0; i < MANY; i++) {
        double a[OLTR_MAX_ITEM_NUMBERS] = {0}, b[OLTR_MAX_ITEM_NUMBERS] = {0};
        uint32_t n;
        expect(oltr_item_get(p, i, a, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
        expect(oltr_item_get(q, i, b, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
        assert_memory_equal(a, b, sizeof a);
    }
    oltr_policy_free(p);
    oltr_policy_free(q);
}

static void items_come_and_go(void **state)
{
    const contestant *c = *state;
    oltr_policy *p = policy_of(c, MANY);
    oltr_prior more = {.a = shape[0] + MANY, .b = shape[1] + MANY};
    oltr_error error;
    live(p, 1, 100, 5);
    for (uint32_t i = 0; i < MANY; i += 2) {
        expect(oltr_item_reset(p, i * 7 % MANY, &error), OLTR_OK);
        if (c->own_priors)
            expect(oltr_item_renew(p, i, 2 + i % 50, 7, 1, &error), OLTR_OK);
    }
    live(p, 101, 50, 5);
    expect(oltr_policy_resize(&p, MORE, c->own_priors ? &more : NULL, &error), OLTR_OK);
    live(p, 151, 50, 5);
    expect(oltr_policy_resize(&p, MANY - 1500, NULL, &error), OLTR_OK);
    live(p, 201, 50, 5);
    oltr_policy_free(p);
}

/* More classes than an index has, and fewer again, by single items and at once. */
static void too_many_classes(void **state)
{
    oltr_policy *p = policy_of(*state, MANY);
    set_items(p, 1, 505);
    live(p, 1, 60, 2); /* passes the limit of 512 */
    set_items(p, 1, 3000);
    live(p, 61, 30, 2);
    set_items(p, 1, 300);
    live(p, 91, 30, 1000);
    set_items(p, 3, 5000);
    live(p, 121, 10, 1000);
    expect(oltr_forget(p, 0), OLTR_OK);
    live(p, 131, 30, 1000);
    oltr_policy_free(p);
}

/* ---- copies, threads, instruction sets */

static oltr_policy *reloaded(const oltr_policy *p)
{
    size_t bytes = oltr_save_bound(p), written;
    void *image = malloc(bytes);
    assert_non_null(image);
    expect(oltr_save(p, image, bytes, &written), OLTR_OK);
    oltr_policy *q = oltr_load(image, written, NULL);
    free(image);
    assert_non_null(q);
    return q;
}

/* The lists of a few rounds. */
typedef struct some_lists {
    const oltr_policy *policy;
    uint32_t item[20][SLOTS];
    double score[20][SLOTS];
} some_lists;

static void *rank_some(void *lists_)
{
    some_lists *l = lists_;
    oltr_scratch *scratch = oltr_scratch_new(l->policy);
    for (uint64_t t = 0; scratch && t < 20; t++) {
        oltr_ranking out = {.k = SLOTS, .item = l->item[t], .score = l->score[t]};
        rank(l->policy, scratch, NULL, t, &out);
    }
    oltr_scratch_free(scratch);
    return NULL;
}

static void assert_same_lists(const some_lists *a, const some_lists *b)
{
    assert_memory_equal(a->item, b->item, sizeof a->item);
    assert_memory_equal(a->score, b->score, sizeof a->score);
}

/* A snapshot has the sums alone; its classes are built anew, and go on to the same bits. */
static void a_loaded_policy_goes_on_alike(void **state)
{
    static some_lists a, b;
    oltr_policy *p = policy_of(*state, MANY);
    live(p, 1, 200, 4);
    oltr_policy *q = reloaded(p);
    for (uint32_t part = 0; part < 3; part++) {
        a.policy = p;
        b.policy = q;
        rank_some(&a);
        rank_some(&b);
        assert_same_lists(&a, &b);
        live(p, 300 + 40 * part, 40, 4);
        live(q, 300 + 40 * part, 40, 4);
    }
    oltr_policy_free(p);
    oltr_policy_free(q);
}

static void threads_rank_at_once(void **state)
{
    enum { THREADS = 4 };
    static some_lists l[THREADS];
    pthread_t thread[THREADS];
    oltr_policy *p = policy_of(*state, MANY);
    live(p, 1, 100, 4);
    for (int i = 0; i < THREADS; i++) {
        l[i].policy = p;
        assert_int_equal(pthread_create(&thread[i], NULL, rank_some, &l[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_same_lists(&l[i], &l[0]);
    }
    oltr_policy_free(p);
}

static void instruction_sets_agree(void **state)
{
    static some_lists a, b;
    oltr_policy *p = policy_of(*state, MANY);
    uint32_t best = oltr_cpu();
    live(p, 1, 100, 4);
    a.policy = b.policy = p;
    rank_some(&a);
    for (uint32_t cpu = OLTR_CPU_PLAIN; cpu <= best; cpu++) {
        oltr_cpu_limit(cpu);
        rank_some(&b);
        assert_same_lists(&a, &b);
    }
    oltr_cpu_limit(best);
    oltr_policy_free(p);
}

/* random, and ensemble without a prior: the selection among equal scores, from few and many
 * candidates and for short and complete lists. */
static void any_list_is_the_selection_among_ties(void **state)
{
    const contestant *c = *state;
    static const uint32_t sizes[] = {1, 2, 9, 64, 65, 128, 500, 4097};
    static uint32_t item[4097], full[4097];
    static double score[4097], full_score[4097];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        oltr_policy *p = policy_of(c, sizes[i]);
        oltr_scratch *scratch = oltr_scratch_new(p);
        void *room = aligned_alloc(64, (oltr_scores_bytes(oltr_policy_settings(p)) + 63) / 64 * 64);
        assert_non_null(room);
        for (uint32_t t = 0; t < 20; t++) {
            uint32_t n = sizes[i], k = t % 3 == 0 ? n : t % 3 == 1 ? 1 + t % n : 1 + t * 31 % n;
            for (uint32_t j = 0; j < n; j++)
                oltr_scores(room)[j] = strcmp(c->kind, "random") == 0 ? 0 : 0.5;
            oltr_rng rng = oltr_rng_at(oltr_rng_make(7, 7), 1, t);
            oltr_ranking list = {.k = k, .item = item, .score = score};
            oltr_ranking twin = {.k = k, .item = full, .score = full_score};
            rank(p, scratch, NULL, t, &list);
            expect(oltr_show_best(room, &(oltr_candidates){.n = n}, &rng, &twin), OLTR_OK);
            assert_memory_equal(item, full, k * sizeof *item);
            assert_memory_equal(score, full_score, k * sizeof *score);
        }
        free(room);
        oltr_scratch_free(scratch);
        oltr_policy_free(p);
    }
}

static void on_all(suite *s, const char *check, CMUnitTestFunction run)
{
    for (size_t i = 0; i < sizeof contestants / sizeof *contestants; i++) {
        const contestant *c = &contestants[i];
        char name[64];
        snprintf(name, sizeof name, "%s %s", c->kind, c->value ? c->value : "");
        add_test(s, check, name, run, c);
    }
}

#define ON_ALL(s, f) on_all(s, #f, f)

int main(void)
{
    static suite s;
    static const contestant random = {"random", NULL, NULL, false},
                            flat = {"ensemble", NULL, NULL, false};
    add_test(&s, "any_list_is_the_selection_among_ties", "random",
             any_list_is_the_selection_among_ties, &random);
    add_test(&s, "any_list_is_the_selection_among_ties", "ensemble",
             any_list_is_the_selection_among_ties, &flat);
    ON_ALL(&s, every_list_is_the_full_one);
    ON_ALL(&s, merged_and_copied);
    ON_ALL(&s, items_come_and_go);
    ON_ALL(&s, too_many_classes);
    ON_ALL(&s, a_loaded_policy_goes_on_alike);
    ON_ALL(&s, threads_rank_at_once);
    ON_ALL(&s, instruction_sets_agree);
    return cmocka_run_group_tests_name("classes", s.test, NULL, NULL);
}
