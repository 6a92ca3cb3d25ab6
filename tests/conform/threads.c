/* threads.c - one policy may be ranked with by many threads at once, and policies do not know of
 * each other.
 *
 * The header promises it; here threads do it, and must get what one thread gets.  Equal lists can
 * hide a race that did no harm today, so the test earns its keep under the thread sanitizer, which
 * reports the race itself.
 */
#define _POSIX_C_SOURCE 200809L
#include "conform/suite.h"

#include <pthread.h>

enum { ITEMS = 30, SLOTS = 10, LISTS = 200, MOST_THREADS = 4 };

static variant_list variants;

/* ---- readers of one policy */

typedef struct shift {
    const oltr_policy *policy;
    pthread_barrier_t *together; /* NULL: alone */
    uint32_t list[LISTS][SLOTS];
    double mean[ITEMS], sd[ITEMS];
    size_t written;
    unsigned char image[1 << 14];
    int failures;
} shift;

static oltr_rng generator(uint32_t n)
{
    return oltr_rng_at(oltr_rng_make(3, 4), 0, n);
}

/* Ranks all and some, predicts, saves: everything a const policy can do. */
static void read_on(shift *s)
{
    oltr_scratch *scratch = oltr_scratch_new(s->policy);
    const uint32_t some[SLOTS + 2] = {3, 29, 7, 11, 0, 25, 14, 1, 8, 20, 5, 17};
    oltr_query few = {SLOTS + 2, some};
    for (uint32_t n = 0; n < LISTS; n++) {
        oltr_ranking out = {SLOTS, s->list[n], NULL};
        s->failures +=
            oltr_rank(s->policy, n % 2 ? &few : NULL, generator(n), scratch, &out) != OLTR_OK;
    }
    oltr_predict(s->policy, NULL, s->mean, s->sd);
    oltr_save(s->policy, s->image, sizeof s->image, &s->written);
    s->failures += oltr_check(s->policy, NULL) != OLTR_OK;
    oltr_policy *copy = oltr_policy_copy(s->policy, NULL, NULL);
    s->failures += !copy;
    oltr_policy_free(copy);
    oltr_scratch_free(scratch);
}

static void *reader(void *context)
{
    shift *s = context;
    if (s->together)
        pthread_barrier_wait(s->together);
    read_on(s);
    return NULL;
}

static void assert_same_shift(const shift *x, const shift *y)
{
    assert_int_equal(y->failures, 0);
    assert_memory_equal(x->list, y->list, sizeof x->list);
    assert_memory_equal(x->mean, y->mean, sizeof x->mean);
    assert_memory_equal(x->sd, y->sd, sizeof x->sd);
    assert_true(x->written > 0);
    assert_int_equal(x->written, y->written);
    assert_memory_equal(x->image, y->image, x->written);
}

static void read_with(const oltr_policy *p, uint32_t threads, const shift *alone)
{
    static shift shifts[MOST_THREADS];
    pthread_t id[MOST_THREADS];
    pthread_barrier_t together;
    pthread_barrier_init(&together, NULL, threads);
    memset(shifts, 0, sizeof shifts);
    for (uint32_t i = 0; i < threads; i++) {
        shifts[i].policy = p;
        shifts[i].together = &together;
        assert_int_equal(pthread_create(&id[i], NULL, reader, &shifts[i]), 0);
    }
    for (uint32_t i = 0; i < threads; i++)
        assert_int_equal(pthread_join(id[i], NULL), 0);
    for (uint32_t i = 0; i < threads; i++)
        assert_same_shift(alone, &shifts[i]);
    pthread_barrier_destroy(&together);
}

static void many_readers(void **state)
{
    static shift alone;
    oltr_policy *p = new_policy(*state, ITEMS);
    for (uint64_t part = 0; part < 2; part++) {
        memset(&alone, 0, sizeof alone);
        alone.policy = p;
        reader(&alone);
        read_with(p, 2, &alone);
        read_with(p, 4, &alone);
        learn_many(p, part, 100);
    }
    oltr_policy_free(p);
}

/* ---- learners of their own policies */

typedef struct career {
    const variant *v;
    uint64_t seed;
    image end;
} career;

/* A whole life from new to saved, ranking and learning; asserts must stay out of threads, so it
 * counts on its image. */
static void *live(void *context)
{
    career *c = context;
    prior_arrays priors;
    fill_prior(&priors);
    oltr_settings s;
    if (oltr_settings_init(&s, c->v->info->name, ITEMS, NULL) != OLTR_OK)
        return NULL;
    memcpy(s.value, c->v->value, sizeof s.value);
    s.prior = prior_of(&priors, c->v->form);
    oltr_policy *p = oltr_policy_new(&s, NULL);
    oltr_scratch *scratch = oltr_scratch_new(p);
    dice d = {c->seed};
    for (uint32_t round = 0; round < LISTS; round++) {
        event e = {.k = SLOTS};
        oltr_ranking shown = {SLOTS, e.item, NULL};
        oltr_feedback seen = {0, e.reward};
        oltr_rank(p, NULL, generator(round), scratch, &shown);
        draw_feedback(&d, c->v->info->rewards, &e);
        seen.n_examined = e.n_examined;
        oltr_learn(p, NULL, &shown, &seen);
    }
    c->end.byte = malloc(oltr_save_bound(p));
    oltr_save(p, c->end.byte, oltr_save_bound(p), &c->end.size);
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
    return NULL;
}

static void independent_learners(void **state)
{
    career alone[MOST_THREADS], at_once[MOST_THREADS];
    pthread_t id[MOST_THREADS];
    for (uint32_t i = 0; i < MOST_THREADS; i++) {
        alone[i] = at_once[i] = (career){*state, 100 + i, {0, NULL}};
        live(&alone[i]);
    }
    for (uint32_t i = 0; i < MOST_THREADS; i++)
        assert_int_equal(pthread_create(&id[i], NULL, live, &at_once[i]), 0);
    for (uint32_t i = 0; i < MOST_THREADS; i++)
        assert_int_equal(pthread_join(id[i], NULL), 0);
    for (uint32_t i = 0; i < MOST_THREADS; i++) {
        assert_true(same_image(alone[i].end, at_once[i].end));
        free(alone[i].end.byte);
        free(at_once[i].end.byte);
    }
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ON_VARIANTS(&all, &variants, many_readers);
    ON_VARIANTS(&all, &variants, independent_learners);
    return cmocka_run_group_tests_name("threads", all.test, NULL, NULL);
}
