/* fuzz_snapshot.c - any bytes into oltr_load(); what it takes must be a policy that ranks, learns, and saves to the same bytes again.
 *
 * Each input is tried as it is, and once more with length and checksum made right, so that the search is not spent on guessing a CRC.
 */
#include "conform/format.h"
#include "target.h"

#include <math.h>
#include <oltr/oltr.h>

static void try_list(const oltr_policy *p, const oltr_query *query, uint32_t n, uint32_t k, uint32_t *item,
                     double *score)
{
    oltr_scratch *scratch = oltr_scratch_new(p);
    unsigned char *shown = calloc(n, 1);
    oltr_ranking list = {k, item, score};
    if (scratch && shown) {
        must_hold(oltr_rank(p, query, oltr_rng_make(1, 2), scratch, &list) == OLTR_OK, "a loaded policy ranks");
        for (uint32_t slot = 0; slot < k; slot++) {
            must_hold(item[slot] < n && !shown[item[slot]], "a list has distinct items of the policy");
            must_hold(slot == 0 ? score[slot] >= score[slot] : score[slot] <= score[slot - 1],
                      "scores fall, and are numbers");
            shown[item[slot]] = 1;
        }
    }
    free(shown);
    oltr_scratch_free(scratch);
}

static void try_saving(const oltr_policy *p)
{
    size_t bound = oltr_save_bound(p), size = 0, again = 0;
    unsigned char *first = malloc(bound), *second = malloc(bound);
    if (first && second) {
        must_hold(oltr_save(p, first, bound, &size) == OLTR_OK, "a loaded policy saves");
        oltr_error error = {OLTR_OK, ""};
        oltr_policy *copy = oltr_load(first, size, &error);
        must_hold(copy != NULL, error.code == OLTR_OK ? "what was saved loads" : error.msg);
        must_hold(oltr_save(copy, second, bound, &again) == OLTR_OK && size == again &&
                      memcmp(first, second, size) == 0,
                  "a copy is a copy");
        oltr_policy_free(copy);
    }
    free(first);
    free(second);
}

/* Rows shorter than 1 for every item, so that no setting refuses them. */
static float *short_rows(uint32_t n, uint32_t dim)
{
    float *x = calloc((size_t)n * dim + 1, sizeof *x);
    for (uint32_t i = 0; x && i < n * dim; i++)
        x[i] = (float)((int)(i * 7 % 11) - 5) / (8.0f * sqrtf((float)dim));
    return x;
}

/* Predictions of the first few candidates. */
static void try_predicting(const oltr_policy *p, oltr_query query)
{
    enum { MOST = 16 };
    double mean[MOST] = {0}, sd[MOST] = {0};
    query.n_items = query.n_items < MOST ? query.n_items : MOST;
    oltr_predict(p, &query, mean, sd);
    for (uint32_t i = 0; i < query.n_items; i++)
        must_hold(isfinite(mean[i]) && isfinite(sd[i]) && sd[i] >= 0, "predictions are numbers");
}

static void try_policy(oltr_policy *p)
{
    enum { MOST = 64 };
    uint32_t n = oltr_policy_settings(p)->n_items, k = n < MOST ? n : MOST, item[MOST];
    double score[MOST], reward[MOST];
    uint32_t dim = oltr_policy_settings(p)->info->contextual ? oltr_policy_settings(p)->dim : 0;
    float *x = short_rows(n, dim);
    oltr_query query = {.n_items = n, .dim = dim, .x = x};
    if (!x)
        return;
    must_hold(oltr_check(p, NULL) == OLTR_OK, "a loaded policy is sound");
    try_list(p, &query, n, k, item, score);
    for (uint32_t slot = 0; slot < k; slot++)
        reward[slot] = slot % 2;
    oltr_ranking list = {k, item, NULL};
    oltr_feedback seen = {k, reward};
    must_hold(oltr_learn(p, &query, &list, &seen) == OLTR_OK, "a loaded policy learns");
    try_list(p, &query, n, k, item, score);
    try_predicting(p, query);
    try_saving(p);
    free(x);
}

static void try_bytes(const uint8_t *data, size_t size)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = oltr_load(data, size, &error);
    if (p && oltr_policy_settings(p)->n_items <= 4096 && oltr_policy_settings(p)->dim <= 64) {
        try_policy(p);
    } else if (!p) {
        must_hold(error.code != OLTR_OK && error.msg[0] != 0, "a refusal has a code and words");
    }
    oltr_policy_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    if (size < 32)
        return 0;
    uint8_t *sealed = malloc(size);
    if (!sealed)
        return 0;
    memcpy(sealed, data, size);
    seal(sealed, size);
    try_bytes(sealed, size);
    free(sealed);
    return 0;
}
