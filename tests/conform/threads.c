/* threads.c - many threads may rank with one policy at once, and policies share nothing.
 *
 * Threads must get what one thread gets.  Equal results can hide a race that did no harm this time:
 * the thread sanitizer reports the race itself.
 */
#define _POSIX_C_SOURCE 200809L
#include "conform/fixtures.h"

#include <pthread.h>

enum { LISTS = EFFORT > 1 ? 60 : 25, MOST_THREADS = 4 };

static variant_list variants;

/* ---- readers of one policy */

typedef struct reader {
    const oltr_policy *policy;
    pthread_barrier_t *together; /* NULL: alone */
    uint32_t list[LISTS][ITEMS];
    double mean[LISTS][ITEMS], sd[LISTS][ITEMS];
    image saved;
    int failures;
} reader;

/* Everything that a const policy can do.  Failures are counted: asserts belong to the main thread.
 */
static void *read_on(void *context)
{
    reader *r = context;
    oltr_scratch *scratch = oltr_scratch_new(r->policy);
    dice d = {15};
    if (r->together)
        pthread_barrier_wait(r->together);
    for (uint32_t n = 0; n < LISTS; n++) {
        request q;
        draw_request(&d, r->policy, NEVER_AGAIN, &q);
        oltr_ranking out = {q.query.n_items, r->list[n], NULL};
        r->failures += oltr_rank(r->policy, q.asked, rng_of(n), scratch, &out) != OLTR_OK;
        oltr_predict(r->policy, q.asked, r->mean[n], r->sd[n]);
    }
    r->failures += oltr_check(r->policy, NULL) != OLTR_OK;
    oltr_policy *copy = oltr_policy_copy(r->policy, NULL, NULL);
    r->failures += !copy;
    r->saved = image_of(r->policy);
    oltr_policy_free(copy);
    oltr_scratch_free(scratch);
    return NULL;
}

static void read_with(const oltr_policy *p, uint32_t threads, const reader *alone)
{
    static reader r[MOST_THREADS];
    pthread_t id[MOST_THREADS];
    pthread_barrier_t together;
    pthread_barrier_init(&together, NULL, threads);
    memset(r, 0, sizeof r);
    for (uint32_t i = 0; i < threads; i++) {
        r[i].policy = p;
        r[i].together = &together;
        assert_int_equal(pthread_create(&id[i], NULL, read_on, &r[i]), 0);
    }
    for (uint32_t i = 0; i < threads; i++)
        assert_int_equal(pthread_join(id[i], NULL), 0);
    for (uint32_t i = 0; i < threads; i++) {
        assert_int_equal(r[i].failures, 0);
        assert_memory_equal(r[i].list, alone->list, sizeof alone->list);
        assert_memory_equal(r[i].mean, alone->mean, sizeof alone->mean);
        assert_memory_equal(r[i].sd, alone->sd, sizeof alone->sd);
        assert_true(same_images(r[i].saved, copy_image(&alone->saved)));
    }
    pthread_barrier_destroy(&together);
}

static void many_readers(void **state)
{
    static reader alone;
    oltr_policy *p = new_policy(*state);
    for (uint64_t part = 0; part < 2; part++) {
        memset(&alone, 0, sizeof alone);
        alone.policy = p;
        read_on(&alone);
        assert_int_equal(alone.failures, 0);
        read_with(p, part ? 4 : 2, &alone);
        free(alone.saved.byte);
        learn_many(p, part, 100);
    }
    oltr_policy_free(p);
}

/* ---- learners of their own policies */

typedef struct learner {
    const variant *v;
    uint64_t seed;
    image end;
} learner;

/* A whole life: made, ranking and learning, saved. */
static void *live(void *context)
{
    learner *l = context;
    oltr_policy *p = new_policy(l->v);
    oltr_scratch *scratch = oltr_scratch_new(p);
    dice d = {l->seed};
    for (uint32_t round = 0; round < LISTS; round++) {
        request r;
        draw_request(&d, p, FROM_POOL, &r);
        oltr_rank(p, r.asked, rng_of(round), scratch, &(oltr_ranking){r.k, r.shown, NULL});
        draw_feedback(&d, l->v->info->rewards, &r);
        learn_request(p, &r);
    }
    l->end = image_of(p);
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
    return NULL;
}

static void independent_learners(void **state)
{
    learner alone[MOST_THREADS], at_once[MOST_THREADS];
    pthread_t id[MOST_THREADS];
    for (uint32_t i = 0; i < MOST_THREADS; i++) {
        alone[i] = at_once[i] = (learner){*state, 100 + i, {0, NULL}};
        live(&alone[i]);
    }
    for (uint32_t i = 0; i < MOST_THREADS; i++)
        assert_int_equal(pthread_create(&id[i], NULL, live, &at_once[i]), 0);
    for (uint32_t i = 0; i < MOST_THREADS; i++)
        assert_int_equal(pthread_join(id[i], NULL), 0);
    for (uint32_t i = 0; i < MOST_THREADS; i++)
        assert_true(same_images(alone[i].end, at_once[i].end));
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    known_prior(); /* both are filled before there are threads */
    pool_row(0);
    ON_VARIANTS(&all, &variants, many_readers);
    ON_VARIANTS(&all, &variants, independent_learners);
    return cmocka_run_group_tests_name("threads", all.test, NULL, NULL);
}
