/* fuzz_snapshot.c - any bytes into oltr_load(); what it takes must be a policy that ranks, learns,
 * predicts numbers, merges with its own copy, and saves to bytes that load again.
 *
 * Each input is tried as it is, and once more with length and checksum made right, so that the
 * search is not spent on guessing a CRC: the semantic checks are what is attacked.
 */
#include "support/dice.h"
#include "support/snapshot.h"
#include "target.h"

#include <math.h>
#include <oltr/oltr.h>

static void try_list(const oltr_policy *p, const oltr_query *query, uint32_t n, uint32_t k,
                     uint32_t *item, double *score)
{
    oltr_scratch *scratch = oltr_scratch_new(p);
    unsigned char *shown = calloc(n, 1);
    oltr_ranking list = {k, item, score};
    if (scratch && shown) {
        must_hold(oltr_rank(p, query, oltr_rng_make(1, 2), scratch, &list) == OLTR_OK,
                  "a loaded policy ranks");
        for (uint32_t slot = 0; slot < k; slot++) {
            must_hold(item[slot] < n && !shown[item[slot]],
                      "a list has distinct items of the policy");
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
        must_hold(copy, error.code == OLTR_OK ? "what was saved loads" : error.msg);
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

/* Predictions of the first few candidates: with OLTR_OK they are numbers. */
static void try_predicting(const oltr_policy *p, oltr_query query)
{
    enum { MOST = 16 };
    double mean[MOST] = {0}, sd[MOST] = {0};
    query.n_items = query.n_items < MOST ? query.n_items : MOST;
    oltr_status status = oltr_predict(p, &query, mean, sd);
    for (uint32_t i = 0; status == OLTR_OK && i < query.n_items; i++)
        must_hold(isfinite(mean[i]) && isfinite(sd[i]) && sd[i] >= 0, "predictions are numbers");
}

enum { MOST_LIST = 64 };

/* All that only reads. */
static void try_reading(const oltr_policy *p, const oltr_query *query)
{
    uint32_t n = query->n_items, k = n < MOST_LIST ? n : MOST_LIST, item[MOST_LIST];
    double score[MOST_LIST];
    oltr_error error;
    oltr_check(p, &error); /* a forged factor may be far from its sums: the check says so, and
                              nothing crashes */
    try_list(p, query, n, k, item, score);
    try_predicting(p, *query);
    try_saving(p);
}

static void try_learning(oltr_policy *p, const oltr_query *query)
{
    uint32_t n = query->n_items, k = n < MOST_LIST ? n : MOST_LIST, item[MOST_LIST];
    double reward[MOST_LIST], score[MOST_LIST];
    try_list(p, query, n, k, item, score);
    for (uint32_t slot = 0; slot < k; slot++)
        reward[slot] = slot % 2;
    oltr_ranking list = {k, item, NULL};
    oltr_feedback seen = {k, reward};
    uint64_t before = oltr_policy_rounds(p);
    oltr_status status = oltr_learn(p, query, &list, &seen);
    must_hold(status == OLTR_OK || (status == OLTR_ESTATE && before == (uint64_t)1 << 49),
              "a loaded policy learns");
    must_hold(oltr_policy_rounds(p) == before + (status == OLTR_OK), "a lesson counts once");
}

static void try_merging(oltr_policy *p, const oltr_query *query)
{
    oltr_policy *copy = oltr_policy_copy(p, NULL, NULL);
    if (!copy)
        return;
    oltr_status status = oltr_merge(p, copy);
    must_hold(status == OLTR_OK || status == OLTR_EUNSUPPORTED || status == OLTR_ESTATE ||
                  status == OLTR_ENOMEM,
              "a policy merges with its copy, or what it has learned is too much");
    if (status == OLTR_OK)
        try_reading(p, query);
    oltr_policy_free(copy);
}

static void try_policy(oltr_policy *p)
{
    uint32_t n = oltr_policy_settings(p)->n_items;
    uint32_t dim = oltr_policy_settings(p)->info->contextual ? oltr_policy_settings(p)->dim : 0;
    float *x = short_rows(n, dim);
    oltr_query query = {.n_items = n, .dim = dim, .x = x};
    if (!x)
        return;
    try_reading(p, &query);
    try_learning(p, &query);
    try_reading(p, &query);
    try_merging(p, &query);
    free(x);
}

/* Whether it was loaded. */
static bool try_bytes(const uint8_t *data, size_t size)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = oltr_load(data, size, &error);
    bool loaded = p;
    if (p && oltr_policy_settings(p)->n_items <= 4096 && oltr_policy_settings(p)->dim <= 64)
        try_policy(p);
    must_hold(loaded || (error.code != OLTR_OK && error.msg[0] != 0),
              "a refusal has a code and words");
    oltr_policy_free(p);
    return loaded;
}

/* Where number `i` of all values, prior, sums and derived numbers of a good snapshot stands; 0
 * beyond the last. */
static size_t place_of(const anatomy *a, size_t n_items, size_t i)
{
    if (i < a->params)
        return a->param[i].value;
    i -= a->params;
    size_t prior = a->form ? 2 * n_items : 0;
    if (i < prior)
        return a->prior_values + 8 * i;
    i -= prior;
    for (uint32_t s = 0; s < a->sums + a->derived; s++) {
        const field *f = s < a->sums ? &a->sum[s] : &a->derived_array[s - a->sums];
        if (i < f->n)
            return f->value + 8 * i;
        i -= (size_t)f->n;
    }
    return 0;
}

/* A good snapshot with one or two of its numbers at the ends of what they can be.  Which ones
 * follows from the bytes. */
static void try_extremes(uint8_t *byte, size_t size)
{
    static const double extreme[] = {0,     -0.0, 1,     -1,      0.5,    1e-300, 5e-324, 1e6,
                                     1e12,  1e15, 2e15,  1e26,    1e30,   -1e30,  1e45,   -1e45,
                                     1e57,  1e59, -1e59, 1.5e308, -1e308, 1e-30,  0x1p49, 0x1p53,
                                     -1e-9, 1e9,  -1e9,  3,       1e20,   -1e20};
    enum { TRIES = 6, EXTREMES = sizeof extreme / sizeof *extreme };
    anatomy a = dissect(byte, size);
    size_t n_items = (size_t)little(byte + a.items, 4), numbers = 0;
    dice d = {slow_crc64(byte, size)};
    while (place_of(&a, n_items, numbers))
        numbers++;
    for (int i = 0; i < TRIES && numbers; i++) {
        size_t place[2];
        double held[2];
        for (int j = 0; j < 2; j++) {
            place[j] = place_of(&a, n_items, below(&d, (uint32_t)numbers));
            held[j] = number_at(byte + place[j]);
            if (j == 0 || i % 2)
                set_number(byte + place[j], extreme[below(&d, EXTREMES)]);
        }
        seal(byte, size);
        try_bytes(byte, size);
        set_number(byte + place[1], held[1]);
        set_number(byte + place[0], held[0]);
    }
    set_little(byte + a.rounds, 8, (uint64_t)1 << 49); /* it can learn no more, and says so */
    seal(byte, size);
    try_bytes(byte, size);
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
    if (try_bytes(sealed, size))
        try_extremes(sealed, size);
    free(sealed);
    return 0;
}
