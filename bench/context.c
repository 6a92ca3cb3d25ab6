/* context.c - whole rounds of the policies with context through the public interface, for bench/numpy_context.py.
 *
 * Thirty, 120 or 316 fixed rows of features; three slots are examined in every round, so that the work is the same whatever is shown.
 */
#include <math.h>
#include <stdlib.h>

#include "measure.h"
#include "oltr/oltr.h"

enum { OBSERVED = 3, MOST_SLOTS = 64 };

OLTR_API int64_t oltr_bench_context(const char *kind, uint32_t dim, uint32_t n_items, uint32_t k, uint32_t rounds,
                                    uint32_t warmup);

static void draw_rows(float *x, double *chance, uint32_t n, uint32_t dim)
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
        chance[i] = 1 / (1 + exp(-dot));
    }
}

static void play(oltr_policy *policy, oltr_scratch *scratch, const oltr_query *query, const double *chance, uint32_t k,
                 oltr_rng rng, uint64_t t)
{
    uint32_t item[MOST_SLOTS];
    double reward[OBSERVED];
    oltr_ranking shown = {k, item, NULL};
    oltr_rng user = oltr_rng_at(rng, 1, t);
    oltr_rank(policy, query, oltr_rng_at(rng, 0, t), scratch, &shown);
    for (uint32_t slot = 0; slot < OBSERVED; slot++)
        reward[slot] = oltr_rng_uniform(&user) < chance[item[slot]];
    oltr_feedback seen = {OBSERVED, reward};
    oltr_learn(policy, query, &shown, &seen);
}

/* Thread CPU nanoseconds of `rounds` rounds after `warmup`; -1 when the policy cannot be made. */
int64_t oltr_bench_context(const char *kind, uint32_t dim, uint32_t n_items, uint32_t k, uint32_t rounds,
                           uint32_t warmup)
{
    oltr_settings settings;
    if (oltr_settings_init(&settings, kind, n_items, NULL) != OLTR_OK || k > MOST_SLOTS)
        return -1;
    settings.dim = dim;
    float *x = malloc((size_t)n_items * dim * sizeof *x);
    double *chance = malloc(n_items * sizeof *chance);
    oltr_policy *policy = oltr_policy_new(&settings, NULL);
    oltr_scratch *scratch = oltr_scratch_new(policy);
    int64_t spent = -1;
    if (x && chance && policy && scratch) {
        oltr_query query = {.n_items = n_items, .dim = dim, .x = x};
        oltr_rng rng = oltr_rng_make(9, 0);
        draw_rows(x, chance, n_items, dim);
        for (uint32_t t = 1; t <= warmup; t++)
            play(policy, scratch, &query, chance, k, rng, t);
        uint64_t start = thread_ns();
        for (uint32_t t = 1; t <= rounds; t++)
            play(policy, scratch, &query, chance, k, rng, warmup + t);
        spent = (int64_t)(thread_ns() - start);
    }
    free(x);
    free(chance);
    oltr_scratch_free(scratch);
    oltr_policy_free(policy);
    return spent;
}
