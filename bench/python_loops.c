/* python_loops.c - the loops of python_rounds.py in plain C, on the public header.
 *
 * Each plays whole rounds (rank, then two clicks of which the second is one) by a policy of its own
 * and keeps everything that a careful program keeps between rounds: scratch, arrays, generator. */
#include <oltr/oltr.h>

#include <stdlib.h>

enum { MOST_SLOTS = 16 };

typedef struct loop {
    oltr_policy *policy;
    oltr_scratch *scratch;
    oltr_rng rng;
    uint64_t round;
} loop;

#define EXPORT __attribute__((visibility("default")))
EXPORT loop *loop_new(const char *kind, uint32_t items, uint32_t dim);
EXPORT void loop_free(loop *l);
EXPORT int loop_rounds(loop *l, uint32_t rounds, uint32_t k, const float *x);
EXPORT int loop_many(loop *l, uint32_t n, uint32_t k, uint32_t *item, const double *reward);
EXPORT uint64_t loop_spin(uint64_t steps);

void loop_free(loop *l)
{
    if (l) {
        oltr_scratch_free(l->scratch);
        oltr_policy_free(l->policy);
        free(l);
    }
}

loop *loop_new(const char *kind, uint32_t items, uint32_t dim)
{
    oltr_settings settings;
    loop *l = calloc(1, sizeof *l);
    if (!l || oltr_settings_init(&settings, kind, items, NULL) != OLTR_OK) {
        free(l);
        return NULL;
    }
    settings.dim = dim;
    l->policy = oltr_policy_new(&settings, NULL);
    l->scratch = l->policy ? oltr_scratch_new(l->policy) : NULL;
    l->rng = oltr_rng_make(0, 0);
    if (l->scratch)
        return l;
    loop_free(l);
    return NULL;
}

/* x: the features of all items, or NULL.  0 when all went well. */
int loop_rounds(loop *l, uint32_t rounds, uint32_t k, const float *x)
{
    const oltr_settings *s = oltr_policy_settings(l->policy);
    uint32_t item[MOST_SLOTS];
    double score[MOST_SLOTS];
    static const double click[] = {0, 1};
    oltr_query query = {.n_items = s->n_items, .dim = s->dim, .x = x};
    oltr_ranking list = {.k = k, .item = item, .score = score};
    oltr_feedback seen = {.n_examined = 2, .reward = click};
    for (uint32_t i = 0; i < rounds; i++) {
        oltr_rng rng = oltr_rng_at(l->rng, 0, ++l->round);
        if (oltr_rank(l->policy, x ? &query : NULL, rng, l->scratch, &list) != OLTR_OK ||
            oltr_learn(l->policy, x ? &query : NULL, &list, &seen) != OLTR_OK)
            return 1;
    }
    return 0;
}

/* n lists at once, then their feedback. */
int loop_many(loop *l, uint32_t n, uint32_t k, uint32_t *item, const double *reward)
{
    oltr_lessons lessons = {.n = n, .k = k, .item = item, .reward = reward};
    oltr_status status = oltr_rank_many(l->policy, NULL, l->rng, 0, l->round + 1, l->scratch, n, k,
                                        item, NULL, NULL);
    l->round += n;
    return status != OLTR_OK || oltr_learn_many(l->policy, NULL, &lessons, NULL) != OLTR_OK;
}

/* A spin loop without memory, to see what two threads of this machine can gain. */
uint64_t loop_spin(uint64_t steps)
{
    uint64_t x = steps;
    for (uint64_t i = 0; i < steps; i++)
        x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u + i;
    return x;
}
