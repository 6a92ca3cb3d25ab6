/* capacity.c - what a model takes: bytes, and time per call, by its number of items; and what a
 * store adds.  The tables "Capacity" of docs/serving.md.
 *
 *   bench_capacity [--quick] [FILE]     FILE: where the store is made and removed (capacity.oltr)
 *
 * Times are medians of thread CPU time, those of stores wall time: they are the disk's.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <oltr/store.h>

#include "measure.h"

enum { SLOTS = 10, CANDIDATES = 120, NAME = 24 };

static void check(oltr_status status, const oltr_error *error)
{
    if (status != OLTR_OK)
        die("%s: %s", oltr_status_name(status), error->msg);
}

/* ---- a model with n items */

typedef struct subject {
    oltr_model *model, *delta; /* delta: another one that learned SLOTS items */
    oltr_model_scratch *scratch;
    uint32_t n_items;
    char (*text)[NAME];
    oltr_name *name;
    uint64_t calls, longest_ns; /* longest_ns: of the lessons that added items */
    void *image;
    size_t room, size;
} subject;

static oltr_lesson lesson_at(const subject *s, uint32_t first, const uint64_t *id)
{
    static const double reward[SLOTS] = {[4] = 1};
    return (oltr_lesson){.shown = {.n = SLOTS, .name = s->name + first},
                         .reward = reward,
                         .id = {id, id ? sizeof *id : 0}};
}

static void learn_at(subject *s, oltr_model *model, uint32_t first, const uint64_t *id)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_lesson lesson = lesson_at(s, first, id);
    check(oltr_model_learn(model, &lesson, NULL, &error), &error);
}

static void name_items(subject *s, uint32_t n)
{
    s->n_items = n;
    s->text = array_of(n, sizeof *s->text);
    s->name = array_of(n, sizeof *s->name);
    for (uint32_t i = 0; i < n; i++) {
        int size = snprintf(s->text[i], NAME, "product:%u", 1000003 * (i % 97) + i);
        s->name[i] = (oltr_name){s->text[i], (uint32_t)size};
    }
}

static void meet_items(subject *s)
{
    for (uint32_t i = 0; i + SLOTS <= s->n_items; i += SLOTS) {
        uint64_t begin = thread_ns();
        learn_at(s, s->model, i, NULL);
        uint64_t ns = thread_ns() - begin;
        s->longest_ns = ns > s->longest_ns ? ns : s->longest_ns;
    }
}

static oltr_model_settings settings_of(const char *kind, bool priors)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_model_settings settings;
    check(oltr_model_settings_init(&settings, kind, &error), &error);
    settings.most_items = OLTR_MOST_MODEL_ITEMS;
    if (priors) {
        check(oltr_model_settings_set(&settings, "default_prior", "1,20", &error), &error);
        check(oltr_model_settings_set(&settings, "prior", "full", &error), &error);
    }
    return settings;
}

static subject subject_new(const char *kind, bool priors, uint32_t n_items)
{
    subject s = {.scratch = oltr_model_scratch_new(NULL)};
    oltr_error error = {OLTR_OK, ""};
    oltr_model_settings settings = settings_of(kind, priors);
    s.model = oltr_model_new(&settings, &error);
    s.delta = s.model ? oltr_model_new(&settings, &error) : NULL;
    if (!s.delta || !s.scratch)
        die("%s: %s", kind, error.msg);
    name_items(&s, n_items);
    meet_items(&s);
    learn_at(&s, s.delta, n_items / 2 - SLOTS, NULL);
    s.room = oltr_model_save_bound(s.model);
    s.image = array_of(s.room, 1);
    return s;
}

static void subject_free(subject *s)
{
    oltr_model_free(s->model);
    oltr_model_free(s->delta);
    oltr_model_scratch_free(s->scratch);
    free(s->text);
    free(s->name);
    free(s->image);
}

/* ---- the calls */

static void call_learn(void *subject_, uint32_t rounds)
{
    subject *s = subject_;
    for (; rounds; rounds--) {
        uint64_t id = ++s->calls;
        learn_at(s, s->model, (uint32_t)(id * 7919 % (s->n_items - SLOTS)), &id);
    }
}

static void rank_list(subject *s, const oltr_list *list)
{
    oltr_error error = {OLTR_OK, ""};
    uint32_t place[SLOTS];
    oltr_show show = {.k = SLOTS, .place = place};
    oltr_rng rng = oltr_rng_at(oltr_rng_make(1, 2), 0, ++s->calls);
    check(oltr_model_rank(s->model, list, rng, s->scratch, &show, &error), &error);
}

static void call_rank_names(void *subject_, uint32_t rounds)
{
    subject *s = subject_;
    oltr_name candidate[CANDIDATES];
    uint32_t n = s->n_items < CANDIDATES ? s->n_items : CANDIDATES;
    for (; rounds; rounds--) {
        for (uint32_t j = 0; j < n; j++)
            candidate[j] = s->name[(uint64_t)j * s->n_items / n];
        rank_list(s, &(oltr_list){.n = n, .name = candidate});
    }
}

static void call_rank_all(void *subject_, uint32_t rounds)
{
    for (; rounds; rounds--)
        rank_list(subject_, &(oltr_list){0});
}

static void call_copy(void *subject_, uint32_t rounds)
{
    subject *s = subject_;
    for (; rounds; rounds--)
        oltr_model_free(oltr_model_copy(s->model, NULL, NULL));
}

static void call_save(void *subject_, uint32_t rounds)
{
    subject *s = subject_;
    for (; rounds; rounds--)
        if (oltr_model_save(s->model, s->image, s->room, &s->size) != OLTR_OK)
            die("cannot save");
}

static void call_load(void *subject_, uint32_t rounds)
{
    subject *s = subject_;
    for (; rounds; rounds--) {
        oltr_model *model = oltr_model_load(s->image, s->size, NULL, NULL, NULL);
        if (!model)
            die("cannot load");
        oltr_model_free(model);
    }
}

static void call_forget(void *subject_, uint32_t rounds)
{
    subject *s = subject_;
    oltr_error error = {OLTR_OK, ""};
    for (; rounds; rounds--)
        check(oltr_model_forget(s->model, 0.999, (oltr_name){NULL, 0}, NULL, &error), &error);
}

static void call_merge(void *subject_, uint32_t rounds)
{
    subject *s = subject_;
    oltr_error error = {OLTR_OK, ""};
    for (; rounds; rounds--)
        check(oltr_model_merge(s->model, s->delta, (oltr_name){NULL, 0}, NULL, &error), &error);
}

/* Two or three digits; units are a thousand apart. */
static void print_amount(double amount, const char *unit, const char *larger, const char *largest)
{
    bool is_large = amount >= 100, is_largest = amount >= 1e5;
    double shown = is_largest ? 1e-6 * amount : is_large ? 1e-3 * amount : amount;
    printf(" %.*f %s",
           shown < 1    ? 2
           : shown < 10 ? 1
                        : 0,
           shown,
           is_largest ? largest
           : is_large ? larger
                      : unit);
}

static void print_bytes(size_t bytes)
{
    print_amount(1e-3 * (double)bytes, "kB", "MB", "GB");
    printf(" |");
}

static void print_time(void (*play)(void *, uint32_t), void *context, uint32_t rounds)
{
    static variant v;
    uint32_t repetitions = rounds > 1 ? 9 : 3; /* single calls are long */
    v = (variant){.play = play, .context = context, .rounds = rounds};
    measure(&v, 1, repetitions);
    double us = 1e-3 * median_ns(&v, repetitions);
    print_amount(us, "us", "ms", "s");
    printf(" |");
}

/* work: how many items a call that goes through all of them handles in one repetition */
static void item_row(const char *kind, bool priors, uint32_t n_items, uint32_t work)
{
    subject s = subject_new(kind, priors, n_items);
    size_t bytes = oltr_model_bytes(s.model);
    call_save(&s, 1);
    printf("| %s%s | %u |", kind, priors ? ", priors" : "", n_items);
    print_bytes(bytes);
    print_bytes(s.size);
    uint32_t few = 1 + work / n_items;
    print_time(call_rank_names, &s, 200);
    print_time(call_rank_all, &s, few);
    print_time(call_copy, &s, few);
    print_time(call_save, &s, few);
    print_time(call_load, &s, few);
    print_time(call_merge, &s, 1 + few / 100);
    print_time(call_forget, &s, 1 + few / 100);
    print_time(call_learn, &s, 200); /* last: ids are part of the image */
    printf(" %.2g ms |\n", 1e-6 * (double)s.longest_ns);
    fflush(stdout);
    subject_free(&s);
}

static void measure_items(bool quick)
{
    const uint32_t sizes[] = {30, 1000, 10000, 100000, 1000000}, work = quick ? 100 : 200000;
    printf("| kind | items | memory | image | rank %d names | rank all | copy | save | load | "
           "merge %d items | forget | learn %d, with an id | longest lesson that grew it |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
           CANDIDATES, SLOTS, SLOTS);
    for (int i = 0; i < (quick ? 1 : 5); i++) {
        item_row("ts-hyper", false, sizes[i], work);
        if (i < 4) /* a million would take minutes to forget */
            item_row("ts-hyper", true, sizes[i], work);
        item_row("ts-beta", false, sizes[i], work);
        item_row("gts", false, sizes[i], work);
    }
}

static void measure_ids(void)
{
    subject s = subject_new("ts-beta", false, 100);
    size_t before = oltr_model_bytes(s.model);
    call_learn(&s, 65536);
    size_t after = oltr_model_bytes(s.model);
    call_learn(&s, 65536);
    printf("\nids: a full window of 65,536 takes %.2f MB, %.1f bytes an id; after as many more "
           "%.2f MB\n",
           1e-6 * (double)(after - before), (double)(after - before) / 65536,
           1e-6 * (double)(oltr_model_bytes(s.model) - before));
    subject_free(&s);
}

/* ---- rows of features */

typedef struct rows {
    oltr_model *model;
    oltr_model_scratch *scratch;
    uint32_t dim;
    uint64_t calls;
    float *x; /* (CANDIDATES, dim) */
} rows;

static void new_rows(rows *r)
{
    oltr_rng rng = oltr_rng_at(oltr_rng_make(3, 4), 0, ++r->calls);
    for (uint32_t i = 0; i < CANDIDATES * r->dim; i++)
        r->x[i] = (float)(oltr_rng_normal(&rng) / sqrt(r->dim));
}

static void call_rank_rows(void *rows_, uint32_t rounds)
{
    rows *r = rows_;
    uint32_t place[SLOTS];
    for (; rounds; rounds--) {
        oltr_list list = {.n = CANDIDATES, .x = r->x};
        oltr_show show = {.k = SLOTS, .place = place};
        oltr_rng rng = oltr_rng_at(oltr_rng_make(1, 2), 0, ++r->calls);
        if (oltr_model_rank(r->model, &list, rng, r->scratch, &show, NULL) != OLTR_OK)
            die("cannot rank");
    }
}

static void call_learn_rows(void *rows_, uint32_t rounds)
{
    rows *r = rows_;
    double reward[SLOTS] = {[4] = 1};
    for (; rounds; rounds--) {
        uint64_t id = ++r->calls;
        oltr_lesson lesson = {
            .shown = {.n = SLOTS, .x = r->x + (id % (CANDIDATES - SLOTS)) * r->dim},
            .reward = reward,
            .id = {&id, sizeof id}};
        if (oltr_model_learn(r->model, &lesson, NULL, NULL) != OLTR_OK)
            die("cannot learn");
    }
}

static void rows_row(const char *kind, uint32_t dim, uint32_t lessons)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_model_settings settings = settings_of(kind, false);
    settings.policy.dim = dim;
    rows r = {.dim = dim, .scratch = oltr_model_scratch_new(NULL)};
    r.model = oltr_model_new(&settings, &error);
    r.x = array_of((size_t)CANDIDATES * dim, sizeof *r.x);
    if (!r.model || !r.scratch)
        die("%s: %s", kind, error.msg);
    for (uint32_t i = 0; i < lessons; i++) {
        new_rows(&r);
        call_learn_rows(&r, 1);
    }
    printf("| %s, %u features |", kind, dim);
    print_bytes(oltr_model_bytes(r.model));
    print_bytes(oltr_model_save_bound(r.model));
    print_time(call_rank_rows, &r, 50);
    print_time(call_learn_rows, &r, 50);
    printf("\n");
    fflush(stdout);
    oltr_model_free(r.model);
    oltr_model_scratch_free(r.scratch);
    free(r.x);
}

static void measure_rows(bool quick)
{
    uint32_t lessons = quick ? 100 : 2000;
    printf(
        "\nAfter %u lessons, new rows in each:\n\n"
        "| kind | memory | image | rank %d rows | learn %d, with an id |\n|---|---|---|---|---|\n",
        lessons, CANDIDATES, SLOTS);
    for (int i = 0; i < (quick ? 1 : 2); i++) {
        rows_row("lints", i ? 136 : 10, lessons);
        rows_row("logts", i ? 136 : 10, lessons);
    }
}

/* ---- stores */

static double wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static oltr_store *open_at(const char *path, uint32_t sync, const oltr_model_settings *settings)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_store_options options = {.sync = sync, .create = settings};
    oltr_store *store = oltr_store_open(path, &options, &error);
    if (!store)
        die("%s", error.msg);
    return store;
}

static void close_at(oltr_store *store)
{
    oltr_error error = {OLTR_OK, ""};
    check(oltr_store_close(store, &error), &error);
}

static void remove_store(const char *path)
{
    char log[4096];
    snprintf(log, sizeof log, "%s.log", path);
    unlink(path);
    unlink(log);
}

/* Microseconds per lesson, one call each. */
static double learn_into(oltr_store *store, subject *s, uint32_t n)
{
    oltr_error error = {OLTR_OK, ""};
    double begin = wall_us();
    for (uint32_t i = 0; i < n; i++) {
        uint64_t id = ++s->calls;
        oltr_lesson lesson = lesson_at(s, (uint32_t)(id * 7919 % (s->n_items - SLOTS)), &id);
        check(oltr_store_learn(store, &lesson, NULL, &error), &error);
    }
    return (wall_us() - begin) / n;
}

static double learn_many_into(oltr_store *store, subject *s)
{
    enum { MANY = 1000 };
    static oltr_lesson lesson[MANY];
    static uint64_t id[MANY];
    oltr_error error = {OLTR_OK, ""};
    for (uint32_t i = 0; i < MANY; i++) {
        id[i] = ++s->calls;
        lesson[i] = lesson_at(s, (uint32_t)(id[i] * 7919 % (s->n_items - SLOTS)), &id[i]);
    }
    double begin = wall_us();
    check(oltr_store_learn_many(store, lesson, MANY, NULL, NULL, &error), &error);
    return (wall_us() - begin) / MANY;
}

static void measure_store(bool quick, const char *path)
{
    static const char *const name[] = {"none", "second", "always"};
    subject s = {.calls = 0};
    oltr_error error = {OLTR_OK, ""};
    oltr_model_settings settings = settings_of("ts-beta", false);
    uint32_t n = quick ? 100 : 50000;
    name_items(&s, 1000);
    printf("\nA store of ts-beta with 1,000 items, lessons of %d items with ids:\n\n", SLOTS);
    for (uint32_t sync = 0; sync < 3; sync++) {
        remove_store(path);
        oltr_store *store = open_at(path, sync, &settings);
        learn_into(store, &s, 100); /* adds the items */
        printf("- sync %s: a lesson %.3g us", name[sync],
               learn_into(store, &s, sync == OLTR_SYNC_ALWAYS ? 100 : n));
        printf("; in learn_many of 1,000, %.3g us each\n", learn_many_into(store, &s));
        close_at(store);
    }
    remove_store(path);
    oltr_store *store = open_at(path, OLTR_SYNC_NONE, &settings);
    learn_into(store, &s, n);
    oltr_store_state state;
    oltr_store_stat(store, &state);
    printf("- log: %.0f bytes a lesson\n", (double)state.log_bytes / n);
    close_at(store);
    double begin = wall_us();
    store = open_at(path, OLTR_SYNC_NONE, &settings);
    printf("- opening, %u lessons in the log: %.3g us a lesson\n", n, (wall_us() - begin) / n);
    begin = wall_us();
    check(oltr_store_checkpoint(store, &error), &error);
    printf("- checkpoint: %.3g ms\n", 1e-3 * (wall_us() - begin));
    close_at(store);
    remove_store(path);
    free(s.text);
    free(s.name);
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const char *path = argc > 1 + quick ? argv[1 + quick] : "capacity.oltr";
    measure_items(quick);
    measure_ids();
    measure_rows(quick);
    measure_store(quick, path);
    return 0;
}
