/* fuzz_model.c - any bytes into oltr_model_load(); what it takes must be a model that ranks,
 * learns, predicts numbers, merges with its own copy, and saves to bytes that load again.
 *
 * Each input is tried as it is; with length and checksum made right; and with those of the snapshot
 * inside made right too, so that the search is not spent on guessing a CRC.
 */
#include "support/kinds.h"
#include "support/model_image.h"
#include "target.h"

#include <math.h>
#include <oltr/model.h>

enum { MOST_LIST = 16, MOST_DIM = 64 };

/* What a list of candidates needs: names, two of them unknown, or rows. */
typedef struct request {
    oltr_list list;
    oltr_name name[MOST_LIST];
    float x[MOST_LIST * MOST_DIM];
} request;

static void make_request(const oltr_model *m, request *r)
{
    static const oltr_name unknown[2] = {{"an unknown name", 15}, {"\0", 1}};
    const oltr_model_settings *s = oltr_model_settings_of(m);
    uint32_t n = 0, items = oltr_model_items(m), dim = s->policy.dim;
    memset(r, 0, sizeof *r);
    for (uint32_t i = 0; i < 2; i++)
        if (oltr_model_find(m, unknown[i]) < 0)
            r->name[n++] = unknown[i];
    for (uint32_t i = 0; i < items && n < MOST_LIST; i++)
        r->name[n++] = oltr_model_name(m, i);
    if (!s->policy.info->contextual) {
        r->list = (oltr_list){.n = n, .name = r->name};
        return;
    }
    n = s->policy.n_items < MOST_LIST ? s->policy.n_items : MOST_LIST;
    for (uint32_t i = 0; i < n * dim; i++)
        r->x[i] = (float)((int)(i * 7 % 11) - 5) / (8.0f * sqrtf((float)dim));
    r->list = (oltr_list){.n = n, .x = r->x};
}

static void try_ranking(const oltr_model *m, const request *r)
{
    uint32_t place[MOST_LIST];
    double score[MOST_LIST];
    bool shown[MOST_LIST] = {false};
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    oltr_show show = {.k = MOST_LIST, .place = place, .score = score};
    oltr_status status =
        scratch ? oltr_model_rank(m, &r->list, oltr_rng_make(1, 2), scratch, &show, NULL)
                : OLTR_ENOMEM;
    must_hold(status == OLTR_OK || status == OLTR_ENOMEM, "a loaded model ranks");
    for (uint32_t i = 0; status == OLTR_OK && i < show.k; i++) {
        must_hold(place[i] < r->list.n && !shown[place[i]], "a list has distinct candidates");
        must_hold(i == 0 ? score[i] >= score[i] : score[i] <= score[i - 1],
                  "scores fall, and are numbers");
        shown[place[i]] = true;
    }
    oltr_model_scratch_free(scratch);
}

static void try_predicting(const oltr_model *m, const request *r)
{
    double mean[MOST_LIST], sd[MOST_LIST];
    oltr_explained why[MOST_LIST];
    oltr_status status = oltr_model_predict(m, &r->list, mean, sd, NULL);
    for (uint32_t i = 0; status == OLTR_OK && i < r->list.n; i++)
        must_hold(isfinite(mean[i]) && isfinite(sd[i]) && sd[i] >= 0, "predictions are numbers");
    status = oltr_model_explain(m, &r->list, why, NULL);
    must_hold(status == OLTR_OK || status == OLTR_ENOMEM, "a loaded model explains");
}

/* A forged estimate of a logistic posterior is taken as it is; the check tells, and a copy may find
 * a better one. */
static bool may_be_wrong(const oltr_model *m)
{
    return has_logistic_posterior(oltr_model_settings_of(m)->policy.info);
}

static void try_saving(const oltr_model *m)
{
    size_t bound = oltr_model_save_bound(m), size = 0, again = 0;
    unsigned char *first = malloc(bound), *second = malloc(bound);
    oltr_error error = {OLTR_OK, ""};
    oltr_model *copy = NULL;
    if (first && second) {
        must_hold(oltr_model_save(m, first, bound, &size) == OLTR_OK, "a loaded model saves");
        copy = oltr_model_load(first, size, NULL, NULL, &error);
        must_hold(copy || error.code == OLTR_ENOMEM, error.msg);
    }
    if (copy && !may_be_wrong(m))
        must_hold(oltr_model_save(copy, second, bound, &again) == OLTR_OK && size == again &&
                      memcmp(first, second, size) == 0,
                  "a copy is a copy");
    oltr_model_free(copy);
    free(first);
    free(second);
}

static void try_reading(const oltr_model *m)
{
    static request r;
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = oltr_model_check(m, &error);
    must_hold(status == OLTR_OK || status == OLTR_ENOMEM || may_be_wrong(m), error.msg);
    make_request(m, &r);
    if (r.list.n) {
        try_ranking(m, &r);
        try_predicting(m, &r);
    }
    try_saving(m);
}

/* Nothing is refused but what a model at its bounds must refuse. */
static void try_learning(oltr_model *m)
{
    static request r;
    double reward[MOST_LIST] = {0, 1, 0, 1};
    make_request(m, &r);
    uint64_t before = oltr_model_lessons(m);
    oltr_lesson lesson = {.shown = r.list, .reward = reward, .id = {"an id of the fuzzer", 19}};
    int applied = -1, seen = oltr_model_seen(m, lesson.id);
    oltr_status status = r.list.n ? oltr_model_learn(m, &lesson, &applied, NULL) : OLTR_ESLOTS;
    must_hold(status == OLTR_OK || status == OLTR_ESTATE || status == OLTR_EFULL ||
                  status == OLTR_ENOMEM || status == OLTR_ESLOTS,
              "a loaded model learns");
    must_hold(status != OLTR_OK || applied == !seen, "an id counts once");
    must_hold(oltr_model_lessons(m) == before + (status == OLTR_OK && !seen),
              "a lesson counts once");
}

static void try_changing(oltr_model *m)
{
    oltr_model *copy = oltr_model_copy(m, NULL, NULL);
    oltr_name first = oltr_model_name(m, 0);
    if (!copy)
        return;
    oltr_status status = oltr_model_merge(m, copy, (oltr_name){NULL, 0}, NULL, NULL);
    must_hold(status == OLTR_OK || status == OLTR_EUNSUPPORTED || status == OLTR_ESTATE ||
                  status == OLTR_ENOMEM || status == OLTR_EFULL,
              "a model merges with its copy, or what it has learned is too much");
    status = oltr_model_forget(m, 0.5, (oltr_name){NULL, 0}, NULL, NULL);
    must_hold(status == OLTR_OK || status == OLTR_EUNSUPPORTED || status == OLTR_ENOMEM,
              "a model forgets");
    if (first.size) {
        first = oltr_model_name(copy, 0); /* the name of m may move */
        must_hold(oltr_model_remove(m, &first, 1, NULL, NULL) == OLTR_OK, "an item can go");
        must_hold(oltr_model_find(m, first) < 0, "and is gone");
    }
    oltr_model_free(copy);
    try_reading(m);
}

static bool is_small(const oltr_model *m)
{
    const oltr_model_settings *s = oltr_model_settings_of(m);
    return oltr_model_items(m) <= 4096 && s->policy.n_items <= 1 << 16 && s->policy.dim <= MOST_DIM;
}

/* Whether it was loaded. */
static bool try_bytes(const uint8_t *data, size_t size)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_model *m = oltr_model_load(data, size, NULL, NULL, &error);
    bool loaded = m;
    must_hold(loaded || (error.code != OLTR_OK && error.msg[0] != 0),
              "a refusal has a code and words");
    if (m && is_small(m)) {
        try_reading(m);
        try_learning(m);
        try_reading(m);
        try_changing(m);
    }
    oltr_model_free(m);
    return loaded;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    if (size < 48)
        return 0;
    uint8_t *sealed = malloc(size);
    if (!sealed)
        return 0;
    memcpy(sealed, data, size);
    set_little(sealed + AT_LENGTH, 8, size);
    set_little(sealed + size - 8, 8, slow_crc64(sealed, size - 8));
    try_bytes(sealed, size);
    seal_model(sealed, size, AT_LENGTH);
    try_bytes(sealed, size);
    free(sealed);
    return 0;
}
