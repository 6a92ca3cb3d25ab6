/* context.c - whole rounds of the policies with context through the public interface, for
 * bench/numpy_context.py.
 *
 * Thirty, 120 or 316 fixed rows of features; three slots are examined in every round, so that the
 * work is the same whatever is shown.  Users draw from a table of random words and decide without a
 * branch, as those of players.h do: a round is the engine's work and little else.
 */
#include <math.h>
#include <stdlib.h>

#include "measure.h"
#include "players.h"

enum { OBSERVED = 3 };

OLTR_API int64_t oltr_bench_context(const char *kind, uint32_t dim, uint32_t n_items, uint32_t k,
                                    uint32_t rounds, uint32_t warmup);

/* What the users look at and draw from. */
typedef struct shop {
    float *x;            /* (n_items, dim) */
    uint32_t *threshold; /* (n_items) a word below it is a click */
    uint32_t *word;      /* (WORDS + OBSERVED) */
} shop;

static void draw_rows(float *x, uint32_t *threshold, uint32_t n, uint32_t dim)
{
    oltr_rng rng = oltr_rng_make(5, n);
    for (uint32_t i = 0; i < n; i++) {
        double square = 0, dot = 0;
        for (uint32_t j = 0; j < dim; j++) {
            x[i * dim + j] = (float)oltr_rng_normal(&rng);
            square += (double)x[i * dim + j] * (double)x[i * dim + j];
        }
        for (uint32_t j = 0; j < dim; j++) {
            x[i * dim + j] = (float)((double)x[i * dim + j] / sqrt(square));
            dot += (double)x[i * dim + j] * (j % 2 ? 1 : -1);
        }
        threshold[i] = (uint32_t)(0x1p32 / (1 + exp(-dot)));
    }
}

static void draw_words(uint32_t *word)
{
    oltr_rng rng = oltr_rng_make(6, 0);
    for (uint32_t i = 0; i < WORDS + OBSERVED; i++)
        word[i] = oltr_rng_u32(&rng);
}

static void play(oltr_policy *policy, oltr_scratch *scratch, const oltr_query *query, const shop *s,
                 uint32_t k, oltr_rng rng, uint64_t t)
{
    static const double as_reward[] = {0, 1}; /* a load, where a conversion might become a jump */
    uint32_t item[MAX_SLOTS];
    double reward[OBSERVED];
    oltr_ranking shown = {k, item, NULL};
    const uint32_t *word = s->word + t * OBSERVED % WORDS;
    oltr_rank(policy, query, oltr_rng_at(rng, 0, t), scratch, &shown);
    for (uint32_t slot = 0; slot < OBSERVED; slot++)
        reward[slot] = as_reward[word[slot] < s->threshold[item[slot]]];
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
    shop s = {malloc((size_t)n_items * dim * sizeof *s.x), malloc(n_items * sizeof *s.threshold),
              malloc((WORDS + OBSERVED) * sizeof *s.word)};
    oltr_policy *policy = oltr_policy_new(&settings, NULL);
    oltr_scratch *scratch = oltr_scratch_new(policy);
    int64_t spent = -1;
    if (s.x && s.threshold && s.word && policy && scratch) {
        oltr_query query = {.n_items = n_items, .dim = dim, .x = s.x};
        oltr_rng rng = oltr_rng_make(9, 0);
        draw_rows(s.x, s.threshold, n_items, dim);
        draw_words(s.word);
        for (uint32_t t = 1; t <= warmup; t++)
            play(policy, scratch, &query, &s, k, rng, t);
        uint64_t start = thread_ns();
        for (uint32_t t = 1; t <= rounds; t++)
            play(policy, scratch, &query, &s, k, rng, warmup + t);
        spent = (int64_t)(thread_ns() - start);
    }
    free(s.x);
    free(s.threshold);
    free(s.word);
    oltr_scratch_free(scratch);
    oltr_policy_free(policy);
    return spent;
}
