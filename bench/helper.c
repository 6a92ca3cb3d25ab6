/* helper.c - two functions of a shared library, so that a numpy program can time the engine and
 * numpy in one process.
 *
 * With features (oltr_bench_context): a fixed row of features for each item, and three slots
 * examined in every round, so that the work does not depend on what is shown.  The users take their
 * random words from a table and decide without a branch, as those of players.h do.
 */
#include <math.h>
#include <stdlib.h>

#include "measure.h"
#include "players.h"

enum { OBSERVED = 3 };

OLTR_API int64_t oltr_bench_rounds(const char *kind, uint32_t n_items, uint32_t k, uint32_t rounds,
                                   uint32_t warmup);
OLTR_API int64_t oltr_bench_context(const char *kind, uint32_t dim, uint32_t n_items, uint32_t k,
                                    uint32_t rounds, uint32_t warmup);

/* Thread CPU nanoseconds of `rounds` rounds of a policy that has learned for `warmup` rounds.  Each
 * call has another world. */
int64_t oltr_bench_rounds(const char *kind, uint32_t n_items, uint32_t k, uint32_t rounds,
                          uint32_t warmup)
{
    static uint64_t calls;
    player *p = player_new(kind, n_items, k, ++calls);
    group g = {1, &p};
    play_rounds(&g, warmup);
    uint64_t start = thread_ns();
    play_rounds(&g, rounds);
    uint64_t spent = thread_ns() - start;
    player_free(p);
    return (int64_t)spent;
}

typedef struct feature_world {
    float *x;            /* (n_items, dim) rows of length 1 */
    uint32_t *threshold; /* (n_items) a random word below it is a click */
    uint32_t *word;      /* (WORDS + OBSERVED) */
} feature_world;

static feature_world feature_world_new(uint32_t n, uint32_t dim)
{
    feature_world w = {array_of((size_t)n * dim, sizeof *w.x), array_of(n, sizeof *w.threshold),
                       array_of(WORDS + OBSERVED, sizeof *w.word)};
    oltr_rng rng = oltr_rng_make(5, n), words = oltr_rng_make(6, 0);
    for (uint32_t i = 0; i < n; i++) {
        float *x = w.x + (size_t)i * dim;
        double square = 0, dot = 0;
        for (uint32_t j = 0; j < dim; j++) {
            x[j] = (float)oltr_rng_normal(&rng);
            square += (double)x[j] * (double)x[j];
        }
        for (uint32_t j = 0; j < dim; j++) {
            x[j] = (float)((double)x[j] / sqrt(square));
            dot += (double)x[j] * (j % 2 ? 1 : -1);
        }
        w.threshold[i] = (uint32_t)(0x1p32 / (1 + exp(-dot)));
    }
    for (uint32_t i = 0; i < WORDS + OBSERVED; i++)
        w.word[i] = oltr_rng_u32(&words);
    return w;
}

static void play(oltr_policy *policy, oltr_scratch *scratch, const oltr_query *query,
                 const feature_world *w, uint32_t k, uint64_t t)
{
    static const double as_reward[] = {0, 1}; /* a load: a conversion may compile to a jump */
    uint32_t item[MAX_SLOTS];
    double reward[OBSERVED];
    oltr_ranking shown = {.k = k, .item = item};
    const uint32_t *word = w->word + t * OBSERVED % WORDS;
    oltr_rank(policy, query, oltr_rng_at(oltr_rng_make(9, 0), 0, t), scratch, &shown);
    for (uint32_t slot = 0; slot < OBSERVED; slot++)
        reward[slot] = as_reward[word[slot] < w->threshold[item[slot]]];
    oltr_feedback seen = {OBSERVED, reward};
    oltr_learn(policy, query, &shown, &seen);
}

/* Thread CPU nanoseconds of `rounds` rounds after `warmup`; -1 when the policy cannot be made. */
int64_t oltr_bench_context(const char *kind, uint32_t dim, uint32_t n_items, uint32_t k,
                           uint32_t rounds, uint32_t warmup)
{
    oltr_settings settings;
    if (oltr_settings_init(&settings, kind, n_items, NULL) != OLTR_OK || k > MAX_SLOTS)
        return -1;
    settings.dim = dim;
    oltr_policy *policy = oltr_policy_new(&settings, NULL);
    oltr_scratch *scratch = oltr_scratch_new(policy);
    feature_world w = feature_world_new(n_items, dim);
    oltr_query query = {.n_items = n_items, .dim = dim, .x = w.x};
    int64_t spent = -1;
    if (policy && scratch) {
        for (uint32_t t = 1; t <= warmup; t++)
            play(policy, scratch, &query, &w, k, t);
        uint64_t start = thread_ns();
        for (uint32_t t = 1; t <= rounds; t++)
            play(policy, scratch, &query, &w, k, warmup + t);
        spent = (int64_t)(thread_ns() - start);
    }
    free(w.x);
    free(w.threshold);
    free(w.word);
    oltr_scratch_free(scratch);
    oltr_policy_free(policy);
    return spent;
}
