/* model_threads.c - many threads may read one model at once, each with its own scratch.
 *
 * Each must get what one thread gets.  The thread sanitizer reports a race even when it did no
 * harm.
 */
#define _POSIX_C_SOURCE 200809L
#include "conform/model_fixtures.h"

#include <pthread.h>

enum { LISTS = 40, MOST_THREADS = 4, SLOTS = 10 };

static variant_list variants;

typedef struct reader {
    const oltr_model *model;
    pthread_barrier_t *together; /* NULL: alone */
    uint32_t k[LISTS], place[LISTS][SLOTS];
    double score[LISTS][SLOTS], mean[LISTS][CANDIDATES], chance[LISTS][CANDIDATES];
    image saved;
    uint64_t failures;
} reader;

/* Known and unknown names, or rows. */
static oltr_list draw_list(dice *d, const oltr_model *m, oltr_name *name, float *x)
{
    uint32_t n = 1 + below(d, CANDIDATES), which[NAMES];
    bool rows = oltr_model_settings_of(m)->policy.info->contextual;
    draw_items(d, NAMES, n, which);
    for (uint32_t i = 0; i < n; i++) {
        name[i] = name_at(which[i]);
        memcpy(x + i * DIM, pool_row(which[i] % POOL), DIM * sizeof *x);
    }
    if (rows)
        return (oltr_list){.n = n, .x = x};
    return one_in(d, 5) ? (oltr_list){0} : list_of(name, n);
}

/* Statuses are added up, not asserted: asserts belong to the main thread. */
static void read_once(reader *r, dice *d, uint32_t n, oltr_model_scratch *scratch)
{
    oltr_name name[CANDIDATES];
    float x[CANDIDATES * DIM];
    double sd[NAMES], mean[NAMES] = {0}, chance[NAMES] = {0};
    oltr_explained why[NAMES];
    oltr_list list = draw_list(d, r->model, name, x);
    bool all = list.n == 0;
    oltr_show show = {.k = SLOTS, .place = r->place[n], .score = r->score[n]};
    const oltr_policy_info *info = oltr_model_settings_of(r->model)->policy.info;
    if (info->by_item && info->can_predict && one_in(d, 2)) {
        show.fresh_below = 5;
        show.most_fresh = 2;
    }
    r->failures += oltr_model_rank(r->model, &list, rng_of(n), scratch, &show, NULL) != OLTR_OK;
    r->k[n] = show.k;
    oltr_model_predict(r->model, &list, mean, sd, NULL);
    show.k = SLOTS;
    oltr_model_propensity(r->model, &list, &show, 3, rng_of(n), scratch, chance, NULL, NULL);
    oltr_status explained = oltr_model_explain(r->model, &list, why, NULL);
    r->failures += explained != OLTR_OK && info->can_predict;
    memcpy(r->mean[n], mean, all ? 0 : list.n * sizeof *mean);
    memcpy(r->chance[n], chance, all ? 0 : list.n * sizeof *chance);
}

static void *read_on(void *context)
{
    reader *r = context;
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    dice d = {15};
    if (r->together)
        pthread_barrier_wait(r->together);
    for (uint32_t n = 0; n < LISTS; n++)
        read_once(r, &d, n, scratch);
    r->failures += oltr_model_check(r->model, NULL) != OLTR_OK;
    oltr_model *copy = oltr_model_copy(r->model, NULL, NULL);
    r->failures += !copy;
    r->failures += oltr_model_find(r->model, name_at(0)) != oltr_model_find(copy, name_at(0));
    oltr_model_free(copy);
    r->saved = model_image(r->model);
    oltr_model_scratch_free(scratch);
    return NULL;
}

static void compare_readers(reader *r, const reader *alone)
{
    assert_int_equal(r->failures, 0);
    assert_memory_equal(r->k, alone->k, sizeof alone->k);
    assert_memory_equal(r->place, alone->place, sizeof alone->place);
    assert_memory_equal(r->score, alone->score, sizeof alone->score);
    assert_memory_equal(r->mean, alone->mean, sizeof alone->mean);
    assert_memory_equal(r->chance, alone->chance, sizeof alone->chance);
    assert_true(same_images(r->saved, copy_image(&alone->saved)));
}

static void read_with(const oltr_model *m, uint32_t threads, const reader *alone)
{
    static reader r[MOST_THREADS];
    pthread_t id[MOST_THREADS];
    pthread_barrier_t together;
    pthread_barrier_init(&together, NULL, threads);
    memset(r, 0, sizeof r);
    for (uint32_t i = 0; i < threads; i++) {
        r[i].model = m;
        r[i].together = &together;
        assert_int_equal(pthread_create(&id[i], NULL, read_on, &r[i]), 0);
    }
    for (uint32_t i = 0; i < threads; i++)
        assert_int_equal(pthread_join(id[i], NULL), 0);
    for (uint32_t i = 0; i < threads; i++)
        compare_readers(&r[i], alone);
    pthread_barrier_destroy(&together);
}

static void many_readers_of_a_model(void **state)
{
    static reader alone;
    oltr_model *m = model_of(*state);
    for (uint64_t part = 0; part < 2; part++) {
        teach_many(m, part, 60, 0, 30);
        memset(&alone, 0, sizeof alone);
        alone.model = m;
        read_on(&alone);
        assert_int_equal(alone.failures, 0);
        read_with(m, part ? MOST_THREADS : 2, &alone);
        free(alone.saved.byte);
    }
    oltr_model_free(m);
}

/* One scratch serves any model, of any kind and size, in any order. */
static void a_scratch_serves_all_models(void **state)
{
    oltr_model_scratch *shared = oltr_model_scratch_new(NULL);
    for (uint32_t i = 0; i < 3 * variants.n; i++) {
        const variant *v = &variants.at[i * 7 % variants.n];
        if (!is_model_variant(v))
            continue;
        oltr_model *m = model_of(v);
        oltr_model_scratch *own = oltr_model_scratch_new(NULL);
        teach_many(m, i, 20, 0, 1 + i % NAMES);
        oltr_name name[CANDIDATES];
        float x[CANDIDATES * DIM];
        uint32_t place[2][SLOTS] = {{0}};
        dice d = {i};
        oltr_list list = draw_list(&d, m, name, x);
        for (int which = 0; which < 2; which++) {
            oltr_show show = {.k = SLOTS, .place = place[which]};
            expect(oltr_model_rank(m, &list, rng_of(i), which ? own : shared, &show, NULL),
                   OLTR_OK);
        }
        assert_memory_equal(place[0], place[1], sizeof place[0]);
        oltr_model_scratch_free(own);
        oltr_model_free(m);
    }
    oltr_model_scratch_free(shared);
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    known_prior(); /* all are filled before there are threads */
    pool_row(0);
    name_at(0);
    ON_SOME_VARIANTS(&all, &variants, many_readers_of_a_model, is_common_variant);
    ONCE(&all, a_scratch_serves_all_models);
    return cmocka_run_group_tests_name("threads that read a model", all.test, NULL, NULL);
}
