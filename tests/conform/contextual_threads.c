/* contextual_threads.c - two threads read one policy with context, in all its settings, and get
 * what one thread gets.
 *
 * A program of its own, so that the thread sanitizer need not run the suite of contextual.c, which
 * starts no thread.
 */
#include "conform/context_fixtures.h"

#include <pthread.h>

typedef struct reader {
    const oltr_policy *policy;
    oltr_status status;
    uint32_t item[40][ITEMS]; /* the lists, round by round */
} reader;

static void *read_rounds(void *context)
{
    reader *r = context;
    oltr_scratch *scratch = oltr_scratch_new(r->policy);
    dice d = {15};
    request q;
    double mean[ITEMS], sd[ITEMS];
    for (uint64_t round = 0; round < 40 && r->status == OLTR_OK; round++) {
        draw_request(&d, OLTR_CLICKS, NEVER_AGAIN, &q);
        oltr_ranking out = {q.query.n_items, r->item[round], NULL};
        r->status = oltr_rank(r->policy, &q.query, rng_of(round), scratch, &out);
        if (r->status == OLTR_OK && oltr_policy_settings(r->policy)->info->can_predict)
            r->status = oltr_predict(r->policy, &q.query, mean, sd);
    }
    oltr_scratch_free(scratch);
    return NULL;
}

static void two_threads_read_one_policy(void **state)
{
    enum { READERS = 2 };
    static reader r[READERS + 1];
    pthread_t thread[READERS];
    oltr_policy *p = new_policy(*state);
    learn_many(p, 15, 60, FROM_POOL);
    memset(r, 0, sizeof r);
    for (int i = 0; i <= READERS; i++)
        r[i].policy = p;
    read_rounds(&r[READERS]);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_rounds, &r[i]), 0);
    for (int i = 0; i < READERS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(r[i].status, OLTR_OK);
        assert_memory_equal(r[i].item, r[READERS].item, sizeof r[i].item);
    }
    oltr_policy_free(p);
}

int main(void)
{
    static suite all;
    static variant_list variants;
    list_variants(&variants);
    pool_row(0); /* drawn before there are threads */
    ON_VARIANTS(&all, &variants, two_threads_read_one_policy);
    return cmocka_run_group_tests_name("threads read one policy with context", all.test, NULL,
                                       NULL);
}
