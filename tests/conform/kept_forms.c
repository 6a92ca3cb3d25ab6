/* kept_forms.c - the policies that keep quadratic forms of rows that stay (cascade-linucb,
 * cascade-woful): copies, loaded snapshots and policies that were made larger go on to the same
 * bits, threads get what one thread gets, the instruction set does not matter, and the bounds are
 * those of fresh forms.
 */
#define _POSIX_C_SOURCE 200809L
#include <oltr/oltr.h>

#include <pthread.h>
#include <stdlib.h>

#include "support/dice.h"
#include "support/unit.h"

enum { ITEMS = 40, DIM = 35, SLOTS = 6, ROUNDS = 400, SETS = 2 };

typedef struct shop {
    float x[SETS][ITEMS * DIM];
    dice rng;
} shop;

static shop shop_of(uint64_t seed)
{
    shop s = {.rng = {seed}};
    for (uint32_t k = 0; k < SETS; k++)
        for (uint32_t i = 0; i < ITEMS * DIM; i++)
            s.x[k][i] = (float)((2 * unit(&s.rng) - 1) / 6);
    return s;
}

static oltr_policy *new_policy(const char *kind, uint32_t items)
{
    oltr_settings settings;
    oltr_error error = {0};
    assert_int_equal(oltr_settings_init(&settings, kind, items, NULL), OLTR_OK);
    settings.dim = DIM;
    if (strcmp(kind, "cascade-linucb") == 0) {
        assert_int_equal(oltr_settings_set(&settings, "width", "given", NULL), OLTR_OK);
        assert_int_equal(oltr_settings_set(&settings, "c", "0.05", NULL), OLTR_OK);
    }
    oltr_policy *p = oltr_policy_new(&settings, &error);
    assert_non_null(p);
    return p;
}

/* The candidates of round t: mostly one set, for a while the other, now and then fewer, and in some
 * rounds with a changed feature. */
static oltr_query query_of(shop *s, uint32_t t)
{
    uint32_t set = t / 50 % 3 == 2;
    if (t % 23 == 0)
        s->x[set][below(&s->rng, ITEMS * DIM)] += 0.01F;
    return (oltr_query){.n_items = t % 31 < 3 ? ITEMS - 7 : ITEMS, .dim = DIM, .x = s->x[set]};
}

static void rank_with(const oltr_policy *p, oltr_scratch *scratch, const oltr_query *q, uint32_t t,
                      uint32_t *item, double *score)
{
    oltr_ranking list = {.k = SLOTS, .item = item, .score = score};
    assert_int_equal(oltr_rank(p, q, oltr_rng_at(oltr_rng_make(2, 0), 0, t), scratch, &list),
                     OLTR_OK);
}

static void learn_round(oltr_policy *p, const oltr_query *q, uint32_t *item, uint32_t t)
{
    double reward[SLOTS] = {0};
    uint32_t n = 1 + t * 7 % SLOTS;
    reward[n - 1] = t % 3 == 0;
    oltr_ranking list = {.k = SLOTS, .item = item};
    oltr_feedback seen = {.n_examined = n, .reward = reward};
    assert_int_equal(oltr_learn(p, q, &list, &seen), OLTR_OK);
}

/* Ranks with both, compares by bits, and lets both learn. */
static void play_both(oltr_policy *a, oltr_policy *b, shop *s, uint32_t from, uint32_t to)
{
    oltr_scratch *one = oltr_scratch_new(a), *two = oltr_scratch_new(b);
    for (uint32_t t = from; t < to; t++) {
        uint32_t item[2][SLOTS];
        double score[2][SLOTS];
        oltr_query q = query_of(s, t);
        rank_with(a, one, &q, t, item[0], score[0]);
        rank_with(b, two, &q, t, item[1], score[1]);
        assert_memory_equal(item[0], item[1], sizeof item[0]);
        assert_memory_equal(score[0], score[1], sizeof score[0]);
        learn_round(a, &q, item[0], t);
        learn_round(b, &q, item[0], t);
    }
    oltr_scratch_free(one);
    oltr_scratch_free(two);
}

static oltr_policy *reloaded(const oltr_policy *p)
{
    size_t size = oltr_save_bound(p), used = 0;
    void *buffer = malloc(size);
    oltr_error error = {0};
    assert_non_null(buffer);
    assert_int_equal(oltr_save(p, buffer, size, &used), OLTR_OK);
    oltr_policy *made = oltr_load(buffer, used, &error);
    assert_non_null(made);
    free(buffer);
    return made;
}

static void assert_same_snapshot(const oltr_policy *a, const oltr_policy *b)
{
    const oltr_policy *of[2] = {a, b};
    unsigned char *bytes[2];
    size_t size[2];
    for (int i = 0; i < 2; i++) {
        bytes[i] = malloc(oltr_save_bound(of[i]));
        assert_non_null(bytes[i]);
        assert_int_equal(oltr_save(of[i], bytes[i], oltr_save_bound(of[i]), &size[i]), OLTR_OK);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static const char *const kinds[] = {"cascade-linucb", "cascade-woful"};

static void copies_go_on(void **unused)
{
    (void)unused;
    for (uint32_t k = 0; k < 2; k++) {
        shop s = shop_of(3);
        oltr_policy *p = new_policy(kinds[k], ITEMS), *twin = new_policy(kinds[k], ITEMS);
        for (uint32_t t = 1; t < ROUNDS; t += 17) {
            play_both(p, twin, &s, t, t + 17);
            assert_int_equal(oltr_check(p, NULL), OLTR_OK);
            oltr_policy *next = t % 2 ? reloaded(twin) : oltr_policy_copy(twin, NULL, NULL);
            assert_non_null(next);
            oltr_policy_free(twin);
            twin = next;
        }
        oltr_policy_free(p);
        oltr_policy_free(twin);
    }
}

/* Forgetting drops all forms.  If the next candidates are the last items, a snapshot lists rows
 * before them that were no candidates since. */
static void dropped_rows_are_not_saved(void **unused)
{
    static const uint32_t last[SLOTS] = {ITEMS - 6, ITEMS - 5, ITEMS - 4,
                                         ITEMS - 3, ITEMS - 2, ITEMS - 1};
    (void)unused;
    shop s = shop_of(5);
    oltr_policy *p = new_policy("cascade-linucb", ITEMS), *other = oltr_policy_copy(p, NULL, NULL);
    play_both(p, other, &s, 1, 30);
    assert_int_equal(oltr_forget(p, 0.5), OLTR_OK);
    oltr_policy *twin = reloaded(p);
    oltr_query q = {.n_items = SLOTS, .item = last, .dim = DIM, .x = s.x[0]};
    uint32_t item[SLOTS];
    memcpy(item, last, sizeof item);
    learn_round(p, &q, item, 31);
    learn_round(twin, &q, item, 31);
    assert_same_snapshot(p, twin);
    oltr_policy_free(p);
    oltr_policy_free(other);
    oltr_policy_free(twin);
}

static void larger_policies_go_on(void **unused)
{
    (void)unused;
    for (uint32_t k = 0; k < 2; k++) {
        shop s = shop_of(4);
        oltr_error error = {0};
        oltr_policy *p = new_policy(kinds[k], ITEMS), *twin = new_policy(kinds[k], ITEMS);
        play_both(p, twin, &s, 1, 30);
        assert_int_equal(oltr_policy_resize(&twin, ITEMS + 9, NULL, &error), OLTR_OK);
        play_both(p, twin, &s, 30, 90);
        oltr_policy_free(twin);
        oltr_policy_free(p);
    }
}

/* The bound of cascade-linucb, mean + c sd, with the fresh forms of oltr_predict(). */
static void bounds_are_those_of_fresh_forms(void **unused)
{
    (void)unused;
    shop s = shop_of(5);
    oltr_policy *p = new_policy("cascade-linucb", ITEMS);
    oltr_scratch *scratch = oltr_scratch_new(p);
    for (uint32_t t = 1; t < ROUNDS; t++) {
        uint32_t item[SLOTS];
        double score[SLOTS], mean[ITEMS], sd[ITEMS];
        oltr_query q = query_of(&s, t);
        rank_with(p, scratch, &q, t, item, score);
        assert_int_equal(oltr_predict(p, &q, mean, sd), OLTR_OK);
        for (uint32_t i = 0; i < SLOTS; i++)
            assert_true(fabs(score[i] - fmin(mean[item[i]] + 0.05 * sd[item[i]], 1)) < 1e-12);
        learn_round(p, &q, item, t);
    }
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
}

/* ---- threads, and instruction sets */

enum { THREADS = 3, LISTS = 50 };

typedef struct reader {
    const oltr_policy *policy;
    shop *shop;
    uint32_t first; /* the number of lists ranked with the scratch before those that count */
    uint32_t item[LISTS][SLOTS];
    double score[LISTS][SLOTS];
    int failures;
} reader;

static void *read_on(void *context)
{
    reader *r = context;
    oltr_scratch *scratch = oltr_scratch_new(r->policy);
    for (uint32_t n = 0; n < r->first + LISTS; n++) {
        uint32_t at = n < r->first ? 0 : n - r->first;
        oltr_query q = {.n_items = ITEMS - at % 3, .dim = DIM, .x = r->shop->x[at % 5 == 4]};
        oltr_ranking list = {.k = SLOTS, .item = r->item[at], .score = r->score[at]};
        oltr_rng rng = oltr_rng_at(oltr_rng_make(9, 0), 0, at);
        r->failures += oltr_rank(r->policy, &q, rng, scratch, &list) != OLTR_OK;
    }
    oltr_scratch_free(scratch);
    return NULL;
}

static void threads_rank_alike(void **unused)
{
    static reader r[THREADS];
    (void)unused;
    for (uint32_t k = 0; k < 2; k++) {
        shop s = shop_of(6);
        pthread_t id[THREADS];
        oltr_policy *p = new_policy(kinds[k], ITEMS), *twin = new_policy(kinds[k], ITEMS);
        play_both(p, twin, &s, 1, 40);
        for (uint32_t i = 0; i < THREADS; i++) {
            r[i] = (reader){.policy = p, .shop = &s, .first = 5 * i};
            assert_int_equal(pthread_create(&id[i], NULL, read_on, &r[i]), 0);
        }
        for (uint32_t i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(id[i], NULL), 0);
        for (uint32_t i = 0; i < THREADS; i++) {
            assert_int_equal(r[i].failures, 0);
            assert_memory_equal(r[i].item, r[0].item, sizeof r[0].item);
            assert_memory_equal(r[i].score, r[0].score, sizeof r[0].score);
        }
        oltr_policy_free(twin);
        oltr_policy_free(p);
    }
}

static void instruction_sets_agree(void **unused)
{
    (void)unused;
    for (uint32_t k = 0; k < 2; k++) {
        static double score[3][200][SLOTS];
        for (uint32_t cpu = 0; cpu < 3; cpu++) {
            shop s = shop_of(7);
            oltr_cpu_limit(cpu);
            oltr_policy *p = new_policy(kinds[k], ITEMS);
            oltr_scratch *scratch = oltr_scratch_new(p);
            for (uint32_t t = 0; t < 200; t++) {
                uint32_t item[SLOTS];
                oltr_query q = query_of(&s, t + 1);
                rank_with(p, scratch, &q, t, item, score[cpu][t]);
                learn_round(p, &q, item, t);
            }
            oltr_scratch_free(scratch);
            oltr_policy_free(p);
            assert_memory_equal(score[cpu], score[0], sizeof score[0]);
        }
        oltr_cpu_limit(oltr_cpu_found());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_go_on),          cmocka_unit_test(dropped_rows_are_not_saved),
        cmocka_unit_test(larger_policies_go_on), cmocka_unit_test(bounds_are_those_of_fresh_forms),
        cmocka_unit_test(threads_rank_alike),    cmocka_unit_test(instruction_sets_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
