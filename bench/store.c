/* store.c - what a store costs, compared with its model in memory: a lesson that is written to the
 * log, many at once, replayed from it, and a list that is ranked under the lock.
 *
 *   bench_store [--quick | --strict]
 *
 * Times are CPU time of the thread, the system's part of it included: with OLTR_SYNC_NONE no call
 * waits for the disk.  How long a flush takes is a property of the disk and is printed for
 * information.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <oltr/store.h>

#include "measure.h"
#include "table.h"

enum { ITEMS = 1000, SLOTS = 10, NAME = 24, MANY = 100, REPLAYED = 50000, REPETITIONS = 25 };

typedef struct scene {
    oltr_model *model;
    oltr_model_scratch *scratch;
    oltr_store *store;
    char path[64], replayed[64];
    char text[ITEMS][NAME];
    oltr_name name[ITEMS];
    uint64_t id; /* of the last lesson */
    int bare;    /* a file that write_bare() writes */
    uint64_t bare_end;
    size_t record; /* bytes of one lesson in the log */
} scene;

static void check(oltr_status status, const char *what)
{
    if (status != OLTR_OK)
        die("%s: %s", what, oltr_strerror(status));
}

/* The next lesson; its id is in *id. */
static oltr_lesson next_lesson(scene *s, uint64_t *id)
{
    static const double reward[SLOTS] = {[4] = 1};
    *id = ++s->id;
    return (oltr_lesson){.shown = {.n = SLOTS, .name = s->name + *id * 13 % (ITEMS - SLOTS)},
                         .reward = reward,
                         .id = {id, sizeof *id}};
}

/* ---- variants */

static void learn_model(void *scene_, uint32_t rounds)
{
    uint64_t id;
    for (; rounds; rounds--) {
        oltr_lesson lesson = next_lesson(scene_, &id);
        check(oltr_model_learn(((scene *)scene_)->model, &lesson, NULL, NULL), "learn");
    }
}

static void learn_store(void *scene_, uint32_t rounds)
{
    uint64_t id;
    for (; rounds; rounds--) {
        oltr_lesson lesson = next_lesson(scene_, &id);
        check(oltr_store_learn(((scene *)scene_)->store, &lesson, NULL, NULL), "learn");
    }
}

static void learn_many(void *scene_, uint32_t rounds)
{
    uint64_t id[MANY];
    oltr_lesson lesson[MANY];
    for (uint32_t left = rounds; left; left -= MANY) {
        for (uint32_t i = 0; i < MANY; i++)
            lesson[i] = next_lesson(scene_, &id[i]);
        check(oltr_store_learn_many(((scene *)scene_)->store, lesson, MANY, NULL, NULL, NULL),
              "learn");
    }
}

/* As many lessons as the log has. */
static void replay_log(void *scene_, uint32_t rounds)
{
    oltr_error error;
    oltr_store *s =
        oltr_store_open(((scene *)scene_)->replayed, &(oltr_store_options){.read_only = 1}, &error);
    oltr_store_state state;
    if (!s)
        die("%s", error.msg);
    oltr_store_stat(s, &state);
    if (state.replayed != rounds)
        die("the log has other lessons than it should");
    check(oltr_store_close(s, NULL), "close");
}

static void rank_model(void *scene_, uint32_t rounds)
{
    scene *s = scene_;
    uint32_t place[SLOTS];
    for (; rounds; rounds--) {
        oltr_show show = {.k = SLOTS, .place = place};
        check(oltr_model_rank(s->model, &(oltr_list){0}, oltr_rng_make(rounds, 1), s->scratch,
                              &show, NULL),
              "rank");
    }
}

static void rank_store(void *scene_, uint32_t rounds)
{
    scene *s = scene_;
    uint32_t place[SLOTS];
    for (; rounds; rounds--) {
        oltr_show show = {.k = SLOTS, .place = place};
        check(oltr_store_rank(s->store, &(oltr_list){0}, oltr_rng_make(rounds, 1), &show, NULL),
              "rank");
    }
}

/* As many bytes as the record of a lesson, to a file of its own. */
static void write_bare(void *scene_, uint32_t rounds)
{
    static const char record[256];
    scene *s = scene_;
    for (; rounds; rounds--, s->bare_end += s->record)
        if (pwrite(s->bare, record, s->record, (off_t)s->bare_end) != (ssize_t)s->record)
            die("cannot write");
}

/* ---- rows */

static void compare(table *t, scene *s, uint32_t repetitions)
{
    static variant v[7];
    void (*const play[])(void *, uint32_t) = {learn_model, learn_store, learn_many, replay_log,
                                              rank_model,  rank_store,  write_bare};
    const uint32_t rounds[] = {4000, 4000, 4000, REPLAYED, 1000, 1000, 4000};
    for (int i = 0; i < 7; i++)
        v[i] = (variant){.play = play[i], .context = s, .rounds = rounds[i]};
    measure(v, 7, repetitions);
    row *r = table_add(t, "", ratio(&v[1], &v[0], repetitions), AT_MOST, 3.5,
                       "gts, K=10, with an id: store learns / model");
    row_note(r, "%.0f ns / %.0f ns, no flush", median_ns(&v[1], repetitions),
             median_ns(&v[0], repetitions));
    r = table_add(t, "", ratio_without(&v[1], &v[6], &v[0], repetitions), AT_MOST, 2.3,
                  "the same without a bare pwrite() of %zu bytes", s->record);
    row_note(r, "which takes %.0f ns", median_ns(&v[6], repetitions));
    r = table_add(t, "", ratio(&v[2], &v[0], repetitions), AT_MOST, 2.3,
                  "gts, K=10, %d at once: store learns / model", MANY);
    row_note(r, "%.0f ns each", median_ns(&v[2], repetitions));
    r = table_add(t, "", ratio(&v[3], &v[0], repetitions), AT_MOST, 2,
                  "gts, K=10: replay of a lesson / model learns");
    row_note(r, "%.0f ns each, %.1f million lessons a second", median_ns(&v[3], repetitions),
             1e3 / median_ns(&v[3], repetitions));
    r = table_add(t, "", ratio(&v[5], &v[4], repetitions), AT_MOST, 1.2,
                  "gts, all of %d items: store ranks / model", ITEMS);
    row_note(r, "%.0f ns / %.0f ns", median_ns(&v[5], repetitions), median_ns(&v[4], repetitions));
}

/* One thread, each lesson flushed. */
static void flush_row(table *t, scene *s, uint32_t repetitions)
{
    double ms[MAX_REPETITIONS];
    struct timespec begin, end;
    check(oltr_store_close(s->store, NULL), "close");
    s->store = oltr_store_open(s->path, &(oltr_store_options){.sync = OLTR_SYNC_ALWAYS}, NULL);
    if (!s->store)
        die("cannot open the store again");
    for (uint32_t i = 0; i < repetitions; i++) {
        clock_gettime(CLOCK_MONOTONIC, &begin);
        learn_store(s, 1);
        clock_gettime(CLOCK_MONOTONIC, &end);
        ms[i] = 1e3 * (double)(end.tv_sec - begin.tv_sec) +
                1e-6 * (double)(end.tv_nsec - begin.tv_nsec);
    }
    row_note(table_add(t, "ms", spread_of(ms, repetitions), NO_TARGET, 0,
                       "a lesson that is flushed (OLTR_SYNC_ALWAYS)"),
             "wall time, of this disk");
}

/* ---- the scene */

static oltr_store *new_store(const char *path)
{
    oltr_model_settings settings;
    oltr_error error;
    check(oltr_model_settings_init(&settings, "gts", NULL), "gts");
    oltr_store *s = oltr_store_open(path, &(oltr_store_options){.create = &settings}, &error);
    if (!s)
        die("%s", error.msg);
    return s;
}

static void make_scene(scene *s, const char *folder)
{
    oltr_model_settings settings;
    char bare[64];
    snprintf(s->path, sizeof s->path, "%s/store", folder);
    snprintf(s->replayed, sizeof s->replayed, "%s/replayed", folder);
    for (uint32_t i = 0; i < ITEMS; i++)
        s->name[i] =
            (oltr_name){s->text[i], (uint32_t)snprintf(s->text[i], NAME, "product:%u", i * 1009)};
    check(oltr_model_settings_init(&settings, "gts", NULL), "gts");
    settings.name_key[0] = 0x123456789abcdef1u; /* a store draws its own */
    s->model = oltr_model_new(&settings, NULL);
    s->scratch = oltr_model_scratch_new(NULL);
    if (!s->model || !s->scratch)
        die("no memory");
    s->store = new_store(s->replayed);
    learn_store(s, REPLAYED);
    check(oltr_store_close(s->store, NULL), "close");
    s->store = new_store(s->path);
    learn_store(s, ITEMS);
    learn_model(s, ITEMS);
    oltr_store_state before, after;
    oltr_store_stat(s->store, &before);
    learn_store(s, 1);
    oltr_store_stat(s->store, &after);
    s->record = (size_t)(after.log_bytes - before.log_bytes);
    snprintf(bare, sizeof bare, "%s/bare", folder);
    s->bare = open(bare, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (s->bare < 0 || s->record > 256)
        die("cannot make %s", bare);
}

int main(int argc, char **argv)
{
    static table t;
    static scene s;
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    bool strict = argc > 1 && strcmp(argv[1], "--strict") == 0;
    uint32_t repetitions = quick ? 1 : REPETITIONS;
    char folder[] = "/tmp/oltr-bench-XXXXXX", file[80];
    if (argc > 1 + (quick || strict))
        die("usage: bench_store [--quick | --strict]");
    if (!mkdtemp(folder))
        die("cannot make a folder in /tmp");
    make_scene(&s, folder);
    compare(&t, &s, repetitions);
    flush_row(&t, &s, repetitions);
    check(oltr_store_close(s.store, NULL), "close");
    oltr_model_scratch_free(s.scratch);
    oltr_model_free(s.model);
    table_print(&t);
    const char *const left[] = {"store", "store.log", "replayed", "replayed.log", "bare"};
    for (int i = 0; i < 5; i++) {
        snprintf(file, sizeof file, "%s/%s", folder, left[i]);
        unlink(file);
    }
    rmdir(folder);
    return strict && !table_passes(&t);
}
