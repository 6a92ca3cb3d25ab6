/* store_kills.c - processes that learn in four threads are killed at random moments.
 *
 * After each kill the store must open, have every lesson that was acknowledged and none that was
 * never sent.  What was not acknowledged is sent again with the same id.  At the end every lesson
 * was counted exactly once: the sums of each item are those of the lessons.
 *
 * OLTR_KILLS is how many; 20 by default.
 */
#define _GNU_SOURCE 1
#include "support/calls.h"
#include "conform/suite.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { THREADS = 4, ITEMS = 50, SHOWN = 4 };

/* ---- lessons */

typedef struct sent {
    char text[SHOWN][16], id[24];
    uint32_t item[SHOWN];
    oltr_name name[SHOWN];
    double reward[SHOWN];
    oltr_lesson lesson;
} sent;

/* Lesson i of a thread.  It points into itself. */
static void make_lesson(uint32_t thread, uint32_t i, sent *out)
{
    dice d = {(uint64_t)thread << 32 | i};
    uint32_t place[ITEMS];
    for (uint32_t j = 0; j < ITEMS; j++)
        place[j] = j;
    shuffle(&d, place, ITEMS);
    for (uint32_t slot = 0; slot < SHOWN; slot++) {
        out->item[slot] = place[slot];
        int n = snprintf(out->text[slot], sizeof out->text[0], "item %u", place[slot]);
        out->name[slot] = (oltr_name){out->text[slot], (uint32_t)n};
        out->reward[slot] = one_in(&d, 3);
    }
    int n = snprintf(out->id, sizeof out->id, "%u-%u", thread, i);
    out->lesson = (oltr_lesson){.shown = {.n = SHOWN, .name = out->name},
                                .reward = out->reward,
                                .examine = OLTR_EXAMINE_ALL,
                                .id = {out->id, (uint32_t)n}};
}

/* ---- the process that is killed */

typedef struct work {
    oltr_store *store;
    uint32_t thread, first;
    int pipe;
} work;

/* Lessons from `first` on, for ever; each that is acknowledged is reported. */
static void *learn_on(void *context)
{
    work *w = context;
    for (uint32_t i = w->first;; i++) {
        sent s;
        make_lesson(w->thread, i, &s);
        uint32_t report[2] = {w->thread, i};
        if (oltr_store_learn(w->store, &s.lesson, NULL, NULL) != OLTR_OK ||
            write(w->pipe, report, sizeof report) != sizeof report)
            _exit(3);
    }
}

static _Noreturn void work_until_killed(const char *path, uint32_t sync, const uint32_t *first,
                                        int pipe)
{
    oltr_store_options options = {.sync = sync, .checkpoint_bytes = 20000};
    work w[THREADS];
    pthread_t id[THREADS];
    oltr_store *s = oltr_store_open(path, &options, NULL);
    if (!s)
        _exit(2);
    for (uint32_t t = 0; t < THREADS; t++) {
        w[t] = (work){s, t, first[t], pipe};
        if (pthread_create(&id[t], NULL, learn_on, &w[t]) != 0)
            _exit(4);
    }
    for (;;)
        pause();
}

/* ---- the process that kills */

/* Starts the other, kills it after a while, and reads what it reported. */
static void kill_one(const char *path, uint32_t sync, uint32_t after_us, uint32_t *acknowledged)
{
    int pipes[2], status;
    uint32_t report[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(pipes[0]);
        work_until_killed(path, sync, acknowledged, pipes[1]);
    }
    close(pipes[1]);
    struct timespec pause_ = {0, 1000 * (long)after_us};
    nanosleep(&pause_, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    while (read(pipes[0], report, sizeof report) == sizeof report) {
        assert_true(report[0] < THREADS);
        assert_int_equal(report[1], acknowledged[report[0]]);
        acknowledged[report[0]]++;
    }
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("the process ended by itself with %d", WEXITSTATUS(status));
}

static bool is_known(const oltr_model *m, uint32_t thread, uint32_t i)
{
    char id[24];
    int n = snprintf(id, sizeof id, "%u-%u", thread, i);
    return oltr_model_seen(m, (oltr_name){id, (uint32_t)n});
}

/* Everything that was acknowledged, and at most one lesson of each thread beyond. */
static uint64_t check_lessons(const char *path, const uint32_t *acknowledged, uint32_t *torn)
{
    oltr_store *s = must_open(path, NULL);
    const oltr_model *m = oltr_store_read(s);
    uint64_t known = 0;
    for (uint32_t t = 0; t < THREADS; t++) {
        for (uint32_t i = 0; i < acknowledged[t]; i++)
            if (!is_known(m, t, i))
                fail_msg("lesson %u-%u was acknowledged and is lost", t, i);
        known += acknowledged[t] + is_known(m, t, acknowledged[t]);
        assert_false(is_known(m, t, acknowledged[t] + 1));
    }
    assert_int_equal(oltr_model_lessons(m), known);
    oltr_store_done(s);
    *torn += state_of(s).cut_bytes > 0;
    must_close(s);
    return known;
}

/* All lessons once more, and the sums are those of each lesson once. */
static void check_sums(const char *path, const uint32_t *acknowledged)
{
    double examined[ITEMS] = {0}, reward[ITEMS] = {0};
    oltr_store *s = must_open(path, NULL);
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i <= acknowledged[t]; i++) {
            sent one;
            make_lesson(t, i, &one);
            expect(oltr_store_learn(s, &one.lesson, NULL, NULL), OLTR_OK);
            for (uint32_t slot = 0; slot < SHOWN; slot++) {
                examined[one.item[slot]]++;
                reward[one.item[slot]] += one.reward[slot];
            }
        }
    const oltr_model *m = oltr_store_read(s);
    for (uint32_t j = 0; j < ITEMS; j++) {
        char text[16];
        oltr_name name = {text, (uint32_t)snprintf(text, sizeof text, "item %u", j)};
        oltr_explained found;
        expect(oltr_model_explain(m, &(oltr_list){.n = 1, .name = &name}, &found, NULL), OLTR_OK);
        assert_true(found.examined == examined[j] && found.reward == reward[j]);
    }
    oltr_store_done(s);
    must_close(s);
}

static void killed_at_random(void **state)
{
    const char *asked = getenv("OLTR_KILLS");
    uint32_t kills = asked ? (uint32_t)strtoul(asked, NULL, 10) : 20, torn = 0;
    uint32_t acknowledged[THREADS] = {0};
    oltr_model_settings settings = settings_of_kind(oltr_policy_info_by_name("gts", NULL));
    char path[128];
    dice d = {1};
    uint64_t known = 0;
    snprintf(path, sizeof path, "%s", path_of("killed"));
    settings.window = 1 << 20;
    must_close(must_open(path, &(oltr_store_options){.create = &settings}));
    for (uint32_t i = 0; i < kills; i++) { /* a kill loses nothing, whatever was flushed */
        uint32_t sync = one_in(&d, 4) ? OLTR_SYNC_NONE : OLTR_SYNC_ALWAYS;
        kill_one(path, sync, 3000 + below(&d, 60000), acknowledged);
        known = check_lessons(path, acknowledged, &torn);
    }
    assert_true(known > 0);
    check_sums(path, acknowledged);
    print_message("%u kills, %u lessons, %u torn records\n", kills, (uint32_t)known, torn);
}

int main(void)
{
    static suite all;
    ONCE(&all, killed_at_random);
    return cmocka_run_group_tests_name("store_kills", all.test, make_folder, remove_folder);
}
