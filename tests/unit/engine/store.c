/* store.c - a store keeps what its model was given: every call, every way of closing, and what it
 * says when it cannot.
 *
 * The functions of the C library that write are wrapped by the linker, so that the disk can be
 * full, fail or hang at any moment.
 */
#define _GNU_SOURCE 1
#include "support/calls.h"
#include "conform/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/base/bytes.h"

/* ---- the disk, watched */

static atomic_long flushes;        /* calls to fdatasync() */
static atomic_long room = -1;      /* bytes that can be written to a log; negative: all */
static atomic_int flush_error;     /* errno of fdatasync() and fsync(); 0: none */
static atomic_int rename_error;    /* of rename() */
static atomic_int truncate_error;  /* of ftruncate() */
static atomic_bool gate_is_closed; /* fdatasync() waits */
static atomic_long at_gate;

int __real_fdatasync(int fd);
int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __real_ftruncate(int fd, off_t size);
int __real_ftruncate64(int fd, off_t size);
ssize_t __real_pwrite(int fd, const void *bytes, size_t n, off_t at);
ssize_t __real_pwrite64(int fd, const void *bytes, size_t n, off_t at);
int __wrap_fdatasync(int fd);
int __wrap_fsync(int fd);
int __wrap_rename(const char *from, const char *to);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_ftruncate64(int fd, off_t size);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t n, off_t at);

static bool fails(int error)
{
    errno = error ? error : errno;
    return error;
}

int __wrap_fdatasync(int fd)
{
    flushes++;
    at_gate++;
    while (gate_is_closed)
        usleep(100);
    return fails(flush_error) ? -1 : __real_fdatasync(fd);
}

int __wrap_fsync(int fd)
{
    return fails(flush_error) ? -1 : __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    return fails(rename_error) ? -1 : __real_rename(from, to);
}

int __wrap_ftruncate(int fd, off_t size)
{
    return fails(truncate_error) ? -1 : __real_ftruncate(fd, size);
}

int __wrap_ftruncate64(int fd, off_t size)
{
    return fails(truncate_error) ? -1 : __real_ftruncate64(fd, size);
}

/* As much as there is room for, then ENOSPC. */
static ssize_t granted(size_t n)
{
    if (room < 0)
        return (ssize_t)n;
    long part = room < (long)n ? room : (long)n;
    room -= part;
    return part > 0 || n == 0 ? part : (ssize_t)(errno = ENOSPC, -1);
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    ssize_t part = granted(n);
    return part < 0 ? part : __real_pwrite(fd, bytes, (size_t)part, at);
}

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t n, off_t at)
{
    ssize_t part = granted(n);
    return part < 0 ? part : __real_pwrite64(fd, bytes, (size_t)part, at);
}

/* ---- memory that is counted */

typedef struct purse {
    atomic_size_t held;
} purse;

static void *purse_take(void *with, size_t bytes, size_t align)
{
    ((purse *)with)->held += bytes;
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}

static void purse_give(void *with, void *block, size_t bytes)
{
    ((purse *)with)->held -= bytes;
    free(block);
}

/* ---- stores of these tests */

static const oltr_policy_info *kind_named(const char *name)
{
    return oltr_policy_info_by_name(name, NULL);
}

/* The path of a store; path_of() uses its few places again. */
static const char *store_path(const char *name)
{
    static char place[41][128];
    static unsigned at;
    assert_true(at < COUNT(place));
    snprintf(place[at], sizeof place[0], "%s", path_of(name));
    return place[at++];
}

static char *log_of(const char *path)
{
    static char place[4][160];
    static unsigned at;
    char *log = place[at++ % 4];
    snprintf(log, sizeof place[0], "%s.log", path);
    return log;
}

static void remove_store(const char *path)
{
    unlink(path);
    unlink(log_of(path));
}

/* A store of a kind at a path where there is none. */
static oltr_store *new_of_kind(const char *path, const char *kind, uint32_t sync)
{
    oltr_model_settings settings = settings_of_kind(kind_named(kind));
    remove_store(path);
    return must_open(path, &(oltr_store_options){.create = &settings, .sync = sync});
}

static oltr_store *reopen(oltr_store *s, const char *path)
{
    must_close(s);
    return must_open(path, NULL);
}

static void learn_short(oltr_store *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        oltr_lesson lesson = short_lesson(NULL);
        expect(oltr_store_learn(s, &lesson, NULL, NULL), OLTR_OK);
    }
}

static void load_some(oltr_model *m, uint32_t n)
{
    oltr_lesson lesson = short_lesson(NULL);
    assert_non_null(m);
    for (uint32_t i = 0; i < n; i++)
        expect(oltr_model_learn(m, &lesson, NULL, NULL), OLTR_OK);
}

static uint64_t lessons_of(oltr_store *s)
{
    uint64_t n = oltr_model_lessons(oltr_store_read(s));
    oltr_store_done(s);
    return n;
}

static void expect_refusal(const char *path, const oltr_store_options *options, oltr_status status,
                           const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_store *s = oltr_store_open(path, options, &error);
    assert_null(s);
    expect_error(error.code, &error, status, words);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- round trips */

/* Random calls to a store and to a model, with reopening and checkpoints between them. */
static void live(const oltr_policy_info *info, uint32_t calls, uint64_t seed, uint32_t done[])
{
    static const char *path;
    path = path ? path : store_path("life");
    dice d = {seed};
    oltr_model *twin = model_of_kind(info);
    oltr_store *s = new_of_kind(path, info->name, (uint32_t)(seed % 3));
    uint64_t number = 0;
    for (uint32_t i = 0; i < calls; i++) {
        drawn_call c;
        bool by_model, by_store;
        draw_call(&d, twin, &c);
        oltr_status wanted = call_model(twin, &c, &by_model);
        expect(call_store(s, &c, &by_store, NULL), wanted);
        assert_int_equal(by_store, by_model);
        number += by_model;
        done[c.kind] += by_model;
        end_call(&c);
        if (one_in(&d, 20))
            expect(oltr_store_checkpoint(s, NULL), OLTR_OK);
        if (one_in(&d, 15))
            s = reopen(s, path);
        assert_int_equal(state_of(s).number, number);
    }
    assert_true(same_models(image_of_store(s), image_of_model(twin)));
    s = reopen(s, path);
    assert_true(same_models(image_of_store(s), image_of_model(twin)));
    assert_int_equal(state_of(s).cut_bytes, 0);
    must_close(s);
    oltr_model_free(twin);
}

static void every_call_survives(void **state)
{
    const oltr_policy_info *info = *state;
    uint32_t done[DRAWN_KINDS] = {0};
    if (!can_be_served(info))
        return;
    for (uint64_t seed = 1; seed <= 3; seed++) /* the second waits for the disk in each call */
        live(info, seed == 2 ? 20 : 100 + 25 * EFFORT, seed, done);
    assert_true(done[DRAWN_LEARN] > 0);
    assert_int_equal(done[DRAWN_MERGE] > 0, info->can_merge);
    assert_int_equal(done[DRAWN_FORGET] > 0, info->can_forget);
    assert_int_equal(done[DRAWN_PRIOR] > 0, info->uses_prior && !info->contextual);
    assert_int_equal(done[DRAWN_REMOVE] > 0, !info->contextual);
    assert_int_equal(done[DRAWN_RESET] > 0, !info->contextual);
    assert_int_equal(done[DRAWN_TRIM] > 0, !info->contextual);
}

static void what_changes_nothing_is_not_logged(void **state)
{
    const char *path = store_path("unchanged");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    oltr_lesson lesson = short_lesson("once");
    oltr_name unknown = {"unknown", 7};
    int applied;
    uint32_t n = 9;
    expect(oltr_store_learn(s, &lesson, &applied, NULL), OLTR_OK);
    assert_int_equal(applied, 1);
    uint64_t bytes = state_of(s).log_bytes;
    expect(oltr_store_learn(s, &lesson, &applied, NULL), OLTR_OK);
    assert_int_equal(applied, 0);
    expect(oltr_store_remove(s, &unknown, 1, &n, NULL), OLTR_OK);
    assert_int_equal(n, 0);
    expect(oltr_store_reset(s, &unknown, 1, NULL, NULL), OLTR_OK);
    expect(oltr_store_trim(s, 1000, NULL, NULL), OLTR_OK);
    expect(oltr_store_prior(s, NULL, NULL, 0, NULL), OLTR_OK);
    lesson.id = (oltr_name){NULL, 0};
    lesson.examine = 77;
    expect(oltr_store_learn(s, &lesson, NULL, NULL), OLTR_EINVAL);
    assert_int_equal(state_of(s).log_bytes, bytes);
    assert_int_equal(state_of(s).number, 1);
    struct stat file;
    assert_int_equal(stat(log_of(path), &file), 0);
    assert_int_equal(file.st_size, bytes);
    must_close(s);
}

/* What is refused by a model is refused by the store, with the same words, and leaves no record. */
static void refusals_are_those_of_the_model(void **state)
{
    static const oltr_name two[] = {{"one", 3}, {"two", 3}}, twice[] = {{"x", 1}, {"x", 1}},
                           bare[] = {{NULL, 4}}, long_one[] = {{two, 513}};
    static const double reward[] = {0, 1};
    static const float x[] = {0.1f, 0.2f, 0.3f};
    const oltr_lesson bad[] = {
        {.shown = {.n = 2, .name = two}},
        {.shown = {.n = 0, .name = two}, .reward = reward},
        {.shown = {.n = 2}, .reward = reward},
        {.shown = {.n = OLTR_MOST_SHOWN + 1, .name = two}, .reward = reward},
        {.shown = {.n = 2, .name = twice}, .reward = reward},
        {.shown = {.n = 1, .name = bare}, .reward = reward},
        {.shown = {.n = 1, .name = long_one}, .reward = reward},
        {.shown = {.n = 1, .x = x}, .reward = reward},
        {.shown = {.n = 1, .x = x, .name = two}, .reward = reward},
        {.shown = {.n = 1, .x = x, .stride = 1}, .reward = reward},
        {.shown = {.n = 2, .name = two}, .reward = reward, .examine = OLTR_EXAMINE_MASK},
        {.shown = {.n = 2, .name = two}, .reward = reward, .id = {NULL, 5}},
        {.shown = {.n = 2, .name = two}, .reward = reward, .id = {reward, 700}}};
    static const char *const kinds[] = {"gts", "lints"};
    const char *path = store_path("refusals");
    for (size_t k = 0; k < COUNT(kinds); k++) {
        oltr_model *twin = model_of_kind(kind_named(kinds[k]));
        oltr_store *s = new_of_kind(path, kinds[k], OLTR_SYNC_NONE);
        for (size_t i = 0; i < COUNT(bad); i++) {
            oltr_error by_model = {OLTR_OK, ""}, by_store = {OLTR_OK, ""};
            oltr_status status = oltr_model_learn(twin, &bad[i], NULL, &by_model);
            if (k == 1 && status == OLTR_OK)
                continue; /* rows that lints takes */
            assert_int_not_equal(status, OLTR_OK);
            expect(oltr_store_learn(s, &bad[i], NULL, &by_store), status);
            assert_string_equal(by_store.msg, by_model.msg);
        }
        expect(oltr_store_learn(s, NULL, NULL, NULL), OLTR_EINVAL);
        assert_int_not_equal(oltr_store_prior(s, NULL, reward, 2, NULL), OLTR_OK);
        assert_int_not_equal(oltr_store_prior(s, two, NULL, 2, NULL), OLTR_OK);
        assert_int_not_equal(oltr_store_remove(s, NULL, 2, NULL, NULL), OLTR_OK);
        assert_int_not_equal(oltr_store_reset(s, NULL, 2, NULL, NULL), OLTR_OK);
        expect(oltr_store_merge(s, NULL, (oltr_name){NULL, 0}, NULL, NULL), OLTR_EINVAL);
        expect(oltr_store_forget(s, 2, (oltr_name){NULL, 0}, NULL, NULL), OLTR_EINVAL);
        expect(oltr_store_forget(s, 1, (oltr_name){NULL, 3}, NULL, NULL), OLTR_ENAME);
        assert_int_equal(state_of(s).number, 0);
        assert_int_equal(state_of(s).failed, 0);
        must_close(s);
        oltr_model_free(twin);
    }
}

static void lessons_by_the_thousand(void **state)
{
    enum { LESSONS = 3000 };
    static oltr_lesson lesson[LESSONS];
    static char id[LESSONS][12];
    const char *path = store_path("many");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_ALWAYS);
    size_t done, applied;
    for (uint32_t i = 0; i < LESSONS; i++) {
        snprintf(id[i], sizeof id[i], "%u",
                 i - (i % 10 == 9)); /* every tenth repeats the one before */
        lesson[i] = short_lesson(id[i]);
    }
    flushes = 0;
    expect(oltr_store_learn_many(s, lesson, LESSONS, &done, &applied, NULL), OLTR_OK);
    assert_int_equal(flushes, 1);
    assert_int_equal(done, LESSONS);
    assert_int_equal(applied, LESSONS * 9 / 10);
    assert_int_equal(state_of(s).number, applied);
    lesson[5].examine = 99; /* those before it are kept */
    for (uint32_t i = 0; i < 10; i++)
        lesson[i].id.size = 0;
    oltr_error error;
    oltr_status status = oltr_store_learn_many(s, lesson, 10, &done, &applied, &error);
    expect_error(status, &error, OLTR_EINVAL, "rule");
    assert_int_equal(done, 5);
    assert_int_equal(applied, 5);
    expect(oltr_store_learn_many(s, NULL, 0, NULL, NULL, NULL), OLTR_OK);
    expect(oltr_store_learn_many(s, NULL, 1, &done, &applied, NULL), OLTR_EINVAL);
    assert_int_equal(done + applied, 0);
    model_image before = image_of_store(s);
    s = reopen(s, path);
    assert_int_equal(state_of(s).replayed, LESSONS * 9 / 10 + 5);
    assert_true(same_models(before, image_of_store(s)));
    must_close(s);
}

/* The example of docs/formats.md. */
static void the_log_has_these_bytes(void **state)
{
    static const unsigned char expected[] = "OLTRLOG1"
                                            "\x10\0\0\0\x4f\x86\xc0\xad\0\0\0\0\0\0\0\0"
                                            "\1\0\0\0\xff\0\0\0\0\0\0\0\xc5\x34\x44\x86"
                                            "\x2f\0\0\0\x77\x88\xe9\x6e\1\0\0\0\0\0\0\0"
                                            "\2\0\0\0\6\0\0\0page 1"
                                            "\2\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0"
                                            "\3\0\0\0tea\4\0\0\0milk\0\1";
    static const oltr_name two[] = {{"tea", 3}, {"milk", 4}};
    const char *path = store_path("bytes");
    oltr_model_settings settings;
    oltr_lesson lesson = short_lesson("page 1");
    size_t n;
    expect(oltr_model_settings_init(&settings, "ts-beta", NULL), OLTR_OK);
    oltr_store *s = must_open(path, &(oltr_store_options){.create = &settings});
    lesson.shown.name = two;
    expect(oltr_store_learn(s, &lesson, NULL, NULL), OLTR_OK);
    must_close(s);
    unsigned char *found = read_bytes(log_of(path), &n);
    assert_int_equal(n, sizeof expected - 1);
    assert_memory_equal(found, expected, n);
    free(found);
}

/* ---- opening */

static void a_store_is_made_once(void **state)
{
    const char *path = store_path("made");
    oltr_model_settings settings = settings_of_kind(kind_named("gts"));
    oltr_store_options options = {.size = sizeof options, .create = &settings};
    remove_store(path);
    expect_refusal(path, NULL, OLTR_EIO, "create");
    assert_false(is_there(log_of(path)));
    oltr_store *s = must_open(path, &options);
    assert_int_equal(state_of(s).created, 1);
    assert_true(is_there(path) && is_there(log_of(path)));
    learn_short(s, 3);
    must_close(s);
    settings.examine = 0; /* of an existing model they are not read */
    s = must_open(path, &options);
    assert_int_equal(state_of(s).created, 0);
    assert_int_equal(state_of(s).replayed, 3);
    assert_int_equal(state_of(s).number, 3);
    must_close(s);
    remove_store(path);
    expect_refusal(path, &options, OLTR_EVALUE, "examine");
    assert_false(is_there(path) || is_there(log_of(path)));
    assert_int_equal(oltr_store_close(NULL, NULL), OLTR_OK);
}

/* The image of the model, with its ids and lessons; an existing store is opened as it is. */
static void a_store_is_made_from_a_model(void **state)
{
    const char *path = store_path("from");
    oltr_model_settings settings = settings_of_kind(kind_named("ts-beta"));
    oltr_model *model = oltr_model_new(&settings, NULL);
    assert_non_null(model);
    for (uint32_t i = 0; i < 3; i++) {
        oltr_lesson lesson = short_lesson(NULL);
        lesson.id = (oltr_name){&"abc"[i], 1};
        expect(oltr_model_learn(model, &lesson, NULL, NULL), OLTR_OK);
    }
    remove_store(path);
    const oltr_store_options from = {.size = sizeof from, .create_from = model},
                             both = {.create = &settings, .create_from = model};
    expect_refusal(path, &both, OLTR_EINVAL, "one of `create` and `create_from`");
    oltr_store *s = must_open(path, &from);
    assert_int_equal(state_of(s).created, 1);
    assert_true(same_models(image_of_store(s), image_of_model(model)));
    learn_short(s, 1);
    assert_int_equal(oltr_model_lessons(model), 3); /* a copy learns */
    must_close(s);
    s = must_open(path, &from);
    assert_int_equal(state_of(s).created, 0);
    assert_int_equal(lessons_of(s), 4);
    must_close(s);
    oltr_model_free(model);
    remove_store(path);
}

static void bad_options_are_refused(void **state)
{
    oltr_memory half = {.give = purse_give};
    const oltr_store_options bad[] = {{.size = sizeof bad[0] + 8},
                                      {.size = 4},
                                      {.sync = 3},
                                      {.reserved32 = 1},
                                      {.read_only = 2},
                                      {.reserved = {0, 0, 7}},
                                      {.memory = &half}};
    for (size_t i = 0; i < COUNT(bad); i++)
        expect_refusal(path_of("bad"), &bad[i], OLTR_EINVAL, "");
    expect_refusal(NULL, NULL, OLTR_EINVAL, "path");
    oltr_error error;
    expect(oltr_store_checkpoint(NULL, &error), OLTR_EINVAL);
    expect(oltr_store_sync(NULL, &error), OLTR_EINVAL);
    expect(oltr_store_loaded(NULL, 1, &error), OLTR_EINVAL);
    expect(oltr_store_rank(NULL, NULL, oltr_rng_make(1, 1), NULL, &error), OLTR_EINVAL);
    expect(oltr_store_trim(NULL, 1, NULL, &error), OLTR_EINVAL);
    assert_null(oltr_store_load(NULL, &error));
    assert_null(oltr_store_read(NULL));
    oltr_store_done(NULL);
    oltr_store_stat(NULL, NULL);
    assert_int_equal(state_of(NULL).number, 0);
}

static void one_process_writes(void **state)
{
    const char *path = store_path("busy");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    learn_short(s, 2);
    expect_refusal(path, NULL, OLTR_EBUSY, "is locked");
    pid_t child = fork();
    if (child == 0) {
        oltr_error error = {OLTR_OK, ""};
        oltr_store *other = oltr_store_open(path, NULL, &error);
        _exit(other || error.code != OLTR_EBUSY);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    oltr_store *second = must_open(path, &(oltr_store_options){.read_only = 1});
    assert_int_equal(lessons_of(second), 2);
    must_close(second);
    must_close(s);
    s = must_open(path, NULL);
    must_close(s);
}

/* A forked process that lives on has the file of the lock open. */
static void a_forked_process_keeps_no_lock(void **state)
{
    const char *path = store_path("forked");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    int gate[2];
    char byte;
    assert_int_equal(pipe(gate), 0);
    pid_t child = fork();
    if (child == 0) {
        close(gate[1]);
        _exit(read(gate[0], &byte, 1) != 0);
    }
    must_close(s);
    s = must_open(path, NULL);
    must_close(s);
    close(gate[1]);
    close(gate[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Whether every change is refused in a process that was forked. */
static bool changes_are_refused(oltr_store *s)
{
    oltr_lesson lesson = short_lesson(NULL);
    oltr_error error;
    return oltr_store_learn(s, &lesson, NULL, &error) == OLTR_EBUSY &&
           strstr(error.msg, "forked") && oltr_store_checkpoint(s, NULL) == OLTR_EBUSY &&
           oltr_store_sync(s, NULL) == OLTR_EBUSY && !oltr_store_load(s, NULL) &&
           oltr_store_loaded(s, 0, NULL) == OLTR_EBUSY && oltr_store_close(s, NULL) == OLTR_OK;
}

static void a_forked_process_changes_nothing(void **state)
{
    const char *path = store_path("forked changes");
    for (uint32_t sync = OLTR_SYNC_NONE; sync <= OLTR_SYNC_ALWAYS; sync++) {
        int ended;
        oltr_store *s = new_of_kind(path, "gts", sync);
        learn_short(s, 3);
        pid_t child = fork();
        if (child == 0)
            _exit(changes_are_refused(s) ? 0 : 1);
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_int_equal(ended, 0);
        expect_refusal(path, NULL, OLTR_EBUSY, "locked"); /* the parent still has its lock */
        learn_short(s, 2);
        s = reopen(s, path);
        assert_int_equal(lessons_of(s), 5);
        must_close(s);
        remove_store(path);
    }
}

static void reading_writes_nothing(void **state)
{
    const char *path = store_path("read-only");
    const oltr_store_options reading = {.read_only = 1};
    remove_store(path);
    expect_refusal(path, &reading, OLTR_EIO, "No such file");
    assert_false(is_there(log_of(path)));
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    learn_short(s, 4);
    model_image image = image_of_store(s);
    must_close(s);
    size_t size, after;
    unsigned char *log = read_bytes(log_of(path), &size);
    assert_int_equal(truncate(log_of(path), (off_t)size - 3), 0);
    s = must_open(path, &reading);
    assert_int_equal(lessons_of(s), 3);
    assert_int_equal(state_of(s).replayed, 3);
    assert_true(state_of(s).cut_bytes > 3);
    oltr_lesson lesson = short_lesson(NULL);
    oltr_error error;
    expect_error(oltr_store_learn(s, &lesson, NULL, &error), &error, OLTR_EUNSUPPORTED,
                 "read only");
    expect(oltr_store_checkpoint(s, &error), OLTR_EUNSUPPORTED);
    expect(oltr_store_sync(s, &error), OLTR_OK);
    assert_null(oltr_store_load(s, &error));
    must_close(s);
    free(read_bytes(log_of(path), &after));
    assert_int_equal(after, size - 3);
    write_bytes("read-only.log", log, size);
    s = must_open(path, &reading);
    assert_true(same_models(image, image_of_store(s)));
    must_close(s);
    unlink(log_of(path));
    s = must_open(path, &reading);
    assert_int_equal(lessons_of(s), 0);
    must_close(s);
    assert_false(is_there(log_of(path)));
    free(log);
}

/* The store beside the file that a link leads to is the same store. */
static void links_lead_to_one_store(void **state)
{
    const char *path = store_path("real"), *link = store_path("link");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    unlink(link);
    assert_int_equal(symlink("real", link), 0);
    expect_refusal(link, NULL, OLTR_EBUSY, "real.log");
    learn_short(s, 2);
    must_close(s);
    s = must_open(link, NULL);
    assert_int_equal(lessons_of(s), 2);
    expect(oltr_store_checkpoint(s, NULL), OLTR_OK);
    must_close(s);
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_false(is_there(log_of(link)));
    /* a log on another disk */
    const char *elsewhere = store_path("elsewhere");
    assert_int_equal(rename(log_of(path), elsewhere), 0);
    assert_int_equal(symlink("elsewhere", log_of(path)), 0);
    s = must_open(path, NULL);
    learn_short(s, 1);
    expect_refusal(path, NULL, OLTR_EBUSY, "is locked");
    must_close(s);
    assert_true(is_there(elsewhere));
    unlink(link);
    unlink(elsewhere);
    remove_store(path);
}

static void what_is_no_file_is_named(void **state)
{
    const char *path = store_path("odd");
    oltr_model_settings settings = settings_of_kind(kind_named("gts"));
    const oltr_store_options making = {.create = &settings}, reading = {.read_only = 1};
    assert_int_equal(mkdir(path, 0700), 0);
    expect_refusal(path, &making, OLTR_EIO, "Is a directory");
    expect_refusal(path, &reading, OLTR_EIO, "Is a directory");
    rmdir(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refusal(path, &making, OLTR_EIO, "no ordinary file");
    expect_refusal(path, &reading, OLTR_EIO, "no ordinary file");
    unlink(path);
    assert_int_equal(mkfifo(log_of(path), 0600), 0);
    expect_refusal(path, &making, OLTR_EIO, "no ordinary file");
    unlink(log_of(path));
    assert_int_equal(mkdir(log_of(path), 0700), 0);
    expect_refusal(path, &making, OLTR_EIO, "Is a directory");
    rmdir(log_of(path));
    assert_false(is_there(path));
    expect_refusal("/dev/null", &making, OLTR_EIO, "no ordinary file");
    expect_refusal("/no/such/folder/store", &making, OLTR_EIO, "No such file");
    expect_refusal("/no/such/folder/store", NULL, OLTR_EIO, "does not exist");
    assert_int_equal(symlink("odd", path), 0);
    expect_refusal(path, &making, OLTR_EIO, "Too many levels");
    unlink(path);
}

/* The log is as private as the image. */
static void the_log_has_the_mode_of_the_image(void **state)
{
    const char *path = store_path("private");
    struct stat status;
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    must_close(s);
    assert_int_equal(chmod(path, 0600), 0);
    unlink(log_of(path));
    s = must_open(path, NULL);
    learn_short(s, 1);
    expect(oltr_store_checkpoint(s, NULL), OLTR_OK);
    must_close(s);
    assert_int_equal(stat(log_of(path), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

/* ---- files that do not belong together */

typedef struct pair {
    unsigned char *image, *log;
    size_t image_size, log_size;
} pair;

static pair read_pair(const char *path)
{
    pair p;
    p.image = read_bytes(path, &p.image_size);
    p.log = read_bytes(log_of(path), &p.log_size);
    return p;
}

static void free_pair(pair *p)
{
    free(p->image);
    free(p->log);
}

static void write_pair(const char *path, const char *name, const pair *image, const pair *log)
{
    char log_name[64];
    remove_store(path);
    snprintf(log_name, sizeof log_name, "%s.log", name);
    if (image)
        write_bytes(name, image->image, image->image_size);
    if (log)
        write_bytes(log_name, log->log, log->log_size);
}

static void a_log_continues_its_image(void **state)
{
    const char *path = store_path("mixed");
    oltr_model_settings settings = settings_of_kind(kind_named("gts"));
    const oltr_store_options making = {.create = &settings};
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    learn_short(s, 3);
    pair early = read_pair(path); /* image 0, calls 1..3 */
    expect(oltr_store_checkpoint(s, NULL), OLTR_OK);
    pair emptied = read_pair(path); /* image 3 */
    learn_short(s, 2);
    pair late = read_pair(path); /* image 3, calls 4..5 */
    model_image image = image_of_store(s);
    must_close(s);

    /* a crash between the new image and the emptying of the log */
    write_pair(path, "mixed", &emptied, &early);
    s = must_open(path, NULL);
    assert_int_equal(lessons_of(s), 3);
    assert_int_equal(state_of(s).replayed, 0);
    learn_short(s, 2);
    assert_true(same_models(image, image_of_store(s)));
    s = reopen(s, path);
    assert_int_equal(lessons_of(s), 5);
    must_close(s);
    /* an image without its log, and one that is newer than the log */
    write_pair(path, "mixed", &late, NULL);
    s = must_open(path, NULL);
    assert_int_equal(lessons_of(s), 3);
    must_close(s);

    write_pair(path, "mixed", &early, &late);
    expect_refusal(path, &making, OLTR_EMISMATCH, "begins behind call 3, the image ends at call 0");
    expect_refusal(path, &(oltr_store_options){.read_only = 1}, OLTR_EMISMATCH, "missing");
    write_pair(path, "mixed", &early, &emptied);
    expect_refusal(path, &making, OLTR_EMISMATCH, "missing");
    write_pair(path, "mixed", NULL, &late);
    expect_refusal(path, &making, OLTR_EMISMATCH, "is missing, and");
    assert_false(is_there(path));
    /* another store with as many calls */
    s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    oltr_name other = {"other", 5};
    for (int i = 0; i < 3; i++)
        expect(oltr_store_prior(s, &other, (double[]){0.1, 0.2}, 1, NULL), OLTR_OK);
    expect(oltr_store_checkpoint(s, NULL), OLTR_OK);
    must_close(s);
    pair foreign = read_pair(path);
    write_pair(path, "mixed", &foreign, &late);
    expect_refusal(path, &making, OLTR_EMISMATCH, "belongs to another image");
    size_t n;
    free(read_bytes(log_of(path), &n));
    assert_int_equal(n, late.log_size);

    free_pair(&early);
    free_pair(&emptied);
    free_pair(&late);
    free_pair(&foreign);
}

static void other_files_are_refused(void **state)
{
    const char *path = store_path("other");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    learn_short(s, 1);
    must_close(s);
    pair good = read_pair(path), bad = good;
    bad.image = exactly(good.image_size + 1, 1);
    memcpy(bad.image, good.image, good.image_size);
    struct {
        size_t at;
        unsigned char byte;
        bool sealed;
        oltr_status status;
        const char *words;
    } faults[] = {{0, 'X', false, OLTR_EMAGIC, "does not begin with OLTRSTOR"},
                  {8, 2, true, OLTR_EVERSION, "newer oltr"},
                  {8, 0, true, OLTR_ECORRUPT, "header"},
                  {12, 1, true, OLTR_ECORRUPT, "header"},
                  {16, 1, true, OLTR_ETRUNCATED, "not whole"},
                  {31, 0x7F, true, OLTR_ECORRUPT, "header"},
                  {40, 0xFF, false, OLTR_ECHECKSUM, "damaged"},
                  {34, 'X', true, OLTR_EMAGIC, "OLTRMODL"}};
    for (size_t i = 0; i < COUNT(faults); i++) {
        unsigned char held = bad.image[faults[i].at];
        bad.image[faults[i].at] = faults[i].byte;
        writer end = {bad.image + good.image_size - 8, 8, 0};
        put_u64(&end, faults[i].sealed ? crc64(bad.image, good.image_size - 8)
                                       : crc64(good.image, good.image_size - 8));
        write_pair(path, "other", &bad, &good);
        expect_refusal(path, NULL, faults[i].status, faults[i].words);
        bad.image[faults[i].at] = held;
    }
    bad.image_size = 20;
    write_pair(path, "other", &bad, &good);
    expect_refusal(path, NULL, OLTR_ETRUNCATED, "not even its header");
    bad.image_size = 0;
    write_pair(path, "other", &bad, NULL);
    expect_refusal(path, NULL, OLTR_EMAGIC, "OLTRSTOR");
    assert_false(is_there(log_of(path))); /* a log that opening made is removed */
    write_pair(path, "other", &good, NULL);
    write_text("other.log", "2026-01-01 another program wrote this\n");
    expect_refusal(path, NULL, OLTR_EMAGIC, "OLTRLOG1");
    write_text("other.log", "OLTRLOG2");
    expect_refusal(path, NULL, OLTR_EVERSION, "newer");
    write_text("other.log", "text");
    expect_refusal(path, NULL, OLTR_EMAGIC, "OLTRLOG1");
    free(bad.image);
    free_pair(&good);
}

/* ---- records that only a program can have written */

/* Appends a record with a right checksum. */
static void append_record(pair *p, uint64_t number, const void *body, uint32_t size)
{
    p->log = realloc(p->log, p->log_size + 16 + size + 1);
    assert_non_null(p->log);
    writer w = {p->log + p->log_size, 16 + size, 0};
    put_u32(&w, size);
    put_u32(&w, 0);
    put_u64(&w, number);
    put_bytes(&w, body, size);
    writer crc = {p->log + p->log_size + 4, 4, 0};
    put_u32(&crc, crc32c(p->log + p->log_size + 8, 8 + size));
    p->log_size += w.used;
}

static void calls_that_cannot_be_are_refused(void **state)
{
    static const unsigned char newer[] = {99, 0, 0, 0}, none[4] = {0},
                               base[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                               trim[] = {6, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
                               longer[] = {6, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0},
                               shorter[] = {6, 0, 0, 0, 1, 0, 0, 0},
                               remove[] = {4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 'x'},
                               many[] = {4, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 'x'},
                               forget[] = {7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40},
                               merge[] = {8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 'x'};
    static const struct {
        uint64_t number;
        const unsigned char *body;
        uint32_t size;
        oltr_status status;
        const char *words;
    } bad[] = {{2, newer, sizeof newer, OLTR_EVERSION, "newer oltr"},
               {2, none, sizeof none, OLTR_ECORRUPT, "no call"},
               {2, base, sizeof base, OLTR_ECORRUPT, "no call"},
               {3, trim, sizeof trim, OLTR_ECORRUPT, "has call 3 behind call 1"},
               {1, trim, sizeof trim, OLTR_ECORRUPT, "has call 1 behind call 1"},
               {2, longer, sizeof longer, OLTR_ECORRUPT, "lengths"},
               {2, shorter, sizeof shorter, OLTR_ECORRUPT, "lengths"},
               {2, remove, sizeof remove, OLTR_ECORRUPT, "changes nothing"},
               {2, many, sizeof many, OLTR_ECORRUPT, "lengths"},
               {2, forget, sizeof forget, OLTR_ECORRUPT, "keep is from 0 to 1"},
               {2, merge, sizeof merge, OLTR_ECORRUPT, "OLTRMODL"}};
    const char *path = store_path("records");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    learn_short(s, 1);
    must_close(s);
    for (size_t i = 0; i < COUNT(bad); i++) {
        pair p = read_pair(path);
        size_t held = p.log_size;
        append_record(&p, bad[i].number, bad[i].body, bad[i].size);
        write_pair(path, "records", &p, &p);
        expect_refusal(path, NULL, bad[i].status, bad[i].words);
        p.log_size = held;
        write_pair(path, "records", &p, &p);
        free_pair(&p);
    }
    s = must_open(path, NULL);
    assert_int_equal(lessons_of(s), 1);
    must_close(s);
    /* a log that begins with a call */
    pair p = read_pair(path);
    p.log_size = 8;
    append_record(&p, 1, trim, sizeof trim);
    write_pair(path, "records", &p, &p);
    expect_refusal(path, NULL, OLTR_ECORRUPT, "does not begin with its image");
    free_pair(&p);
}

/* ---- checkpoints and loads */

static void a_long_log_is_followed_by_a_checkpoint(void **state)
{
    const char *path = store_path("long");
    oltr_model_settings settings = settings_of_kind(kind_named("gts"));
    oltr_store_options options = {.create = &settings, .checkpoint_bytes = 1000};
    remove_store(path);
    oltr_store *s = must_open(path, &options);
    for (uint32_t i = 0; i < 200; i++) {
        learn_short(s, 1);
        assert_true(state_of(s).log_bytes <= 1000);
    }
    uint64_t checkpoints = state_of(s).checkpoints;
    assert_true(checkpoints >= 5);
    assert_int_equal(state_of(s).failed_checkpoints, 0);
    rename_error = ENOSPC; /* those that fail leave the log as it is, and are tried again later */
    learn_short(s, 50);
    rename_error = 0;
    assert_int_equal(state_of(s).failed, 0);
    assert_int_equal(state_of(s).checkpoints, checkpoints);
    uint64_t failed = state_of(s).failed_checkpoints;
    assert_true(failed >= 1 && failed < 10);
    assert_true(state_of(s).log_bytes > 1000);
    learn_short(s, 50);
    assert_true(state_of(s).checkpoints > checkpoints);
    assert_int_equal(state_of(s).failed_checkpoints, failed);
    model_image image = image_of_store(s);
    must_close(s);
    s = must_open(path, NULL);
    assert_int_equal(lessons_of(s), 300);
    assert_true(same_models(image, image_of_store(s)));
    must_close(s);
}

static void a_checkpoint_that_fails_changes_nothing(void **state)
{
    const char *path = store_path("failing");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    oltr_error error;
    learn_short(s, 3);
    rename_error = EROFS;
    expect_error(oltr_store_checkpoint(s, &error), &error, OLTR_EIO, "Read-only file system");
    rename_error = 0;
    learn_short(s, 1);
    flush_error = EIO;
    expect_error(oltr_store_checkpoint(s, &error), &error, OLTR_EIO, "Input/output error");
    flush_error = 0;
    assert_int_equal(state_of(s).failed, 0);
    learn_short(s, 1);
    expect(oltr_store_checkpoint(s, NULL), OLTR_OK);
    assert_int_equal(state_of(s).checkpoints, 1);
    learn_short(s, 1);
    truncate_error = EIO; /* the image is in its place, the state of the log is unknown */
    expect_error(oltr_store_checkpoint(s, &error), &error, OLTR_EIO, "cannot empty");
    truncate_error = 0;
    assert_int_equal(state_of(s).failed, 1);
    expect(oltr_store_close(s, &error), OLTR_EIO);
    s = must_open(path, NULL);
    assert_int_equal(lessons_of(s), 6);
    must_close(s);
}

static void a_load_is_kept_or_dropped(void **state)
{
    const char *path = store_path("load");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    oltr_error error;
    learn_short(s, 2);
    uint64_t bytes = state_of(s).log_bytes;
    load_some(oltr_store_load(s, NULL), 1000);
    assert_int_equal(lessons_of(s), 2); /* readers see the model as it was */
    expect(oltr_store_loaded(s, 0, NULL), OLTR_OK);
    assert_int_equal(lessons_of(s), 2);
    assert_int_equal(state_of(s).log_bytes, bytes);
    expect_error(oltr_store_loaded(s, 1, &error), &error, OLTR_EINVAL, "no load was begun");
    load_some(oltr_store_load(s, NULL), 10);
    rename_error = ENOSPC;
    expect(oltr_store_loaded(s, 1, &error), OLTR_EIO); /* and the load goes on */
    rename_error = 0;
    assert_int_equal(lessons_of(s), 2);
    expect(oltr_store_loaded(s, 1, NULL), OLTR_OK);
    assert_int_equal(lessons_of(s), 12);
    assert_int_equal(state_of(s).number, 3);
    learn_short(s, 1);
    model_image image = image_of_store(s);
    s = reopen(s, path);
    assert_int_equal(lessons_of(s), 13);
    assert_true(same_models(image, image_of_store(s)));
    load_some(oltr_store_load(s, NULL), 5); /* dropped by closing */
    must_close(s);
    s = must_open(path, NULL);
    assert_int_equal(lessons_of(s), 13);
    must_close(s);
}

/* A change in another thread waits for the end of a load. */
static void *learn_one(void *store)
{
    learn_short(store, 1);
    return NULL;
}

static void changes_wait_for_a_load(void **state)
{
    const char *path = store_path("waiting");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    pthread_t other;
    load_some(oltr_store_load(s, NULL), 10);
    assert_int_equal(pthread_create(&other, NULL, learn_one, s), 0);
    usleep(20000);
    assert_int_equal(lessons_of(s), 0);
    expect(oltr_store_loaded(s, 1, NULL), OLTR_OK);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(lessons_of(s), 11);
    must_close(s);
}

/* ---- a disk that fails */

/* The log has room for `bytes` more: how many lessons were acknowledged before it was full. */
static uint32_t fill_disk(const char *path, long bytes, uint32_t sync)
{
    oltr_store *s = new_of_kind(path, "gts", sync);
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = OLTR_OK;
    uint32_t learned = 0;
    oltr_lesson lesson = short_lesson(NULL);
    room = bytes;
    for (; status == OLTR_OK; learned += status == OLTR_OK)
        status = oltr_store_learn(s, &lesson, NULL, &error);
    expect_error(status, &error, OLTR_EIO, "No space left on device");
    room = -1; /* there is room again, but the end of the log is unknown */
    expect_error(oltr_store_learn(s, &lesson, NULL, &error), &error, OLTR_EIO,
                 "close the store and open it again");
    expect(oltr_store_trim(s, 0, NULL, NULL), OLTR_EIO);
    expect(oltr_store_checkpoint(s, NULL), OLTR_EIO);
    assert_null(oltr_store_load(s, NULL));
    assert_int_equal(state_of(s).failed, 1);
    assert_int_equal(lessons_of(s), learned + 1); /* reading goes on; the model is ahead */
    expect(oltr_store_close(s, &error), OLTR_EIO);
    return learned;
}

static void a_full_disk_loses_nothing(void **state)
{
    const char *path = store_path("full");
    oltr_store *one = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    long record = -(long)state_of(one).log_bytes;
    learn_short(one, 1);
    record += (long)state_of(one).log_bytes;
    must_close(one);
    for (long bytes = 0; bytes <= 2 * record; bytes += EFFORT > 1 ? 1 : 7) {
        uint32_t learned = fill_disk(path, bytes, (uint32_t)bytes % 3);
        oltr_store *s = must_open(path, NULL);
        assert_int_equal(lessons_of(s), learned);
        assert_int_equal(state_of(s).number, learned);
        assert_int_equal(state_of(s).cut_bytes, bytes % record);
        learn_short(s, 2);
        s = reopen(s, path);
        assert_int_equal(lessons_of(s), learned + 2);
        assert_int_equal(state_of(s).cut_bytes, 0);
        must_close(s);
    }
}

static void a_failed_flush_is_not_forgotten(void **state)
{
    const char *path = store_path("flush");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_ALWAYS);
    oltr_error error;
    oltr_lesson lesson = short_lesson("x");
    learn_short(s, 1);
    flush_error = EIO;
    expect_error(oltr_store_learn(s, &lesson, NULL, &error), &error, OLTR_EIO,
                 "Input/output error");
    flush_error = 0; /* the system may call the lost pages clean: a second fdatasync() succeeds */
    expect(oltr_store_sync(s, &error), OLTR_EIO);
    expect(oltr_store_learn(s, &lesson, NULL, &error), OLTR_EIO);
    expect(oltr_store_close(s, &error), OLTR_EIO);
    s = must_open(path, NULL);
    expect(oltr_store_learn(s, &lesson, NULL, NULL), OLTR_OK);
    assert_int_equal(lessons_of(s), 2);
    must_close(s);
    s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    learn_short(s, 1);
    flush_error = EIO;
    expect(oltr_store_close(s, &error), OLTR_EIO);
    flush_error = ENOTSUP; /* a file system that cannot flush is no failure */
    s = new_of_kind(path, "gts", OLTR_SYNC_ALWAYS);
    learn_short(s, 1);
    must_close(s);
    flush_error = 0;
}

static void opening_reports_a_disk_that_fails(void **state)
{
    const char *path = store_path("opening");
    oltr_model_settings settings = settings_of_kind(kind_named("gts"));
    const oltr_store_options making = {.create = &settings};
    remove_store(path);
    room = 3;
    expect_refusal(path, &making, OLTR_EIO, "No space left on device");
    room = -1;
    assert_false(is_there(log_of(path)));
    oltr_store *s = must_open(path, &making);
    learn_short(s, 2);
    must_close(s);
    truncate_error = EIO;
    assert_int_equal(truncate(log_of(path), 130), 0);
    expect_refusal(path, NULL, OLTR_EIO, "Input/output error");
    truncate_error = 0;
    s = must_open(path, NULL);
    assert_int_equal(lessons_of(s), 1);
    must_close(s);
    remove_store(path);
    rename_error = EROFS;
    expect_refusal(path, &making, OLTR_EIO, "Read-only");
    rename_error = 0;
    assert_false(is_there(path) || is_there(log_of(path)));
}

/* ---- waiting for the disk */

typedef struct learner {
    oltr_store *store;
    const char *id;
    int applied;
    oltr_status status;
    atomic_bool finished;
} learner;

static void *learn_id(void *context)
{
    learner *l = context;
    oltr_lesson lesson = short_lesson(l->id);
    l->status = oltr_store_learn(l->store, &lesson, &l->applied, NULL);
    l->finished = true;
    return NULL;
}

static void wait_until_at_gate(long n)
{
    while (at_gate < n)
        usleep(100);
}

/* While one thread is in fdatasync(), readers read, and others write: the next one serves all of
 * them.  A repeated id waits too, as it vouches for the lesson of another thread. */
static void one_flush_serves_many(void **state)
{
    enum { LEARNERS = 6 };
    const char *path = store_path("group");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_ALWAYS);
    learner l[LEARNERS] = {{s, "0"}, {s, "0"}, {s, "1"}, {s, "2"}, {s, "3"}, {s, "4"}};
    pthread_t id[LEARNERS];
    at_gate = 0;
    gate_is_closed = true;
    assert_int_equal(pthread_create(&id[0], NULL, learn_id, &l[0]), 0);
    wait_until_at_gate(1);
    for (int i = 1; i < LEARNERS; i++)
        assert_int_equal(pthread_create(&id[i], NULL, learn_id, &l[i]), 0);
    while (state_of(s).number < 5)
        usleep(100);
    usleep(20000);
    assert_int_equal(lessons_of(s), 5);
    for (int i = 0; i < LEARNERS; i++)
        assert_false(l[i].finished);
    gate_is_closed = false;
    for (int i = 0; i < LEARNERS; i++) {
        assert_int_equal(pthread_join(id[i], NULL), 0);
        expect(l[i].status, OLTR_OK);
        assert_int_equal(l[i].applied, i != 1);
    }
    assert_int_equal(at_gate, 2);
    must_close(s);
}

static void once_a_second(void **state)
{
    const char *path = store_path("second");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_SECOND);
    flushes = 0;
    learn_short(s, 100);
    for (int i = 0; flushes == 0 && i < 5000; i++)
        usleep(1000);
    assert_int_equal(flushes, 1);
    usleep(1200000); /* nothing is new */
    assert_int_equal(flushes, 1);
    learn_short(s, 1);
    expect(oltr_store_sync(s, NULL), OLTR_OK);
    assert_int_equal(flushes, 2);
    learn_short(s, 1);
    must_close(s); /* does not wait for the second to pass */
    assert_int_equal(flushes, 3);
    s = must_open(path, &(oltr_store_options){.sync = OLTR_SYNC_SECOND});
    flush_error = EIO;
    learn_short(s, 1);
    for (int i = 0; !state_of(s).failed && i < 5000; i++)
        usleep(1000);
    flush_error = 0;
    oltr_lesson lesson = short_lesson(NULL);
    expect(oltr_store_learn(s, &lesson, NULL, NULL), OLTR_EIO);
    expect(oltr_store_close(s, NULL), OLTR_EIO);
}

static void none_waits_for_nothing(void **state)
{
    const char *path = store_path("none");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    flushes = 0;
    learn_short(s, 100);
    assert_int_equal(flushes, 0);
    /* opened without closing the first, as after a kill: what was written is read */
    oltr_store *other = must_open(path, &(oltr_store_options){.read_only = 1});
    assert_int_equal(lessons_of(other), 100);
    must_close(other);
    must_close(s);
    assert_int_equal(flushes, 1);
    s = must_open(path, NULL); /* what was replayed may be in memory of the system only */
    assert_int_equal(flushes, 2);
    must_close(s);
    assert_int_equal(flushes, 2);
}

/* ---- memory */

static void the_model_is_in_the_callers_memory(void **state)
{
    const char *path = store_path("hook");
    purse money = {0};
    oltr_memory hook = {purse_take, purse_give, &money};
    oltr_model_settings settings = settings_of_kind(kind_named("gts"));
    remove_store(path);
    for (int i = 0; i < 2; i++) {
        oltr_store *s =
            must_open(path, &(oltr_store_options){.create = &settings, .memory = &hook});
        assert_true(money.held > 0);
        learn_short(s, 5);
        uint32_t place[2];
        oltr_show show = {.k = 2, .place = place};
        expect(oltr_store_rank(s, &(oltr_list){0}, oltr_rng_make(1, 1), &show, NULL), OLTR_OK);
        size_t before = money.held;
        load_some(oltr_store_load(s, NULL), 3);
        assert_true(money.held > before);
        expect(oltr_store_loaded(s, 1, NULL), OLTR_OK);
        must_close(s);
        assert_int_equal(money.held, 0);
    }
    expect_refusal(path, &(oltr_store_options){.most_bytes = 100}, OLTR_ENOMEM, "most_bytes");
    assert_int_equal(state_of(NULL).number, 0);
}

static void ranking_uses_a_scratch_of_the_store(void **state)
{
    const char *path = store_path("rank");
    oltr_store *s = new_of_kind(path, "gts", OLTR_SYNC_NONE);
    learn_short(s, 20);
    const oltr_model *m = oltr_store_read(s);
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    uint32_t place[2], again[2];
    double score[2], score_again[2];
    oltr_show show = {.k = 2, .place = place, .score = score},
              other = {.k = 2, .place = again, .score = score_again};
    expect(oltr_model_rank(m, &(oltr_list){0}, oltr_rng_make(3, 4), scratch, &show, NULL), OLTR_OK);
    oltr_store_done(s);
    for (int i = 0; i < 3; i++) {
        other.k = 2;
        expect(oltr_store_rank(s, &(oltr_list){0}, oltr_rng_make(3, 4), &other, NULL), OLTR_OK);
        assert_memory_equal(place, again, sizeof place);
        assert_memory_equal(score, score_again, sizeof score);
    }
    oltr_error error;
    other.k = 0;
    oltr_status status = oltr_store_rank(s, &(oltr_list){0}, oltr_rng_make(3, 4), &other, &error);
    expect_error(status, &error, OLTR_ESLOTS, "");
    oltr_model_scratch_free(scratch);
    must_close(s);
}

int main(void)
{
    static suite all;
    ON_KINDS(&all, every_call_survives);
    ONCE(&all, what_changes_nothing_is_not_logged);
    ONCE(&all, refusals_are_those_of_the_model);
    ONCE(&all, lessons_by_the_thousand);
    ONCE(&all, the_log_has_these_bytes);
    ONCE(&all, a_store_is_made_once);
    ONCE(&all, a_store_is_made_from_a_model);
    ONCE(&all, bad_options_are_refused);
    ONCE(&all, one_process_writes);
    ONCE(&all, a_forked_process_keeps_no_lock);
    ONCE(&all, a_forked_process_changes_nothing);
    ONCE(&all, reading_writes_nothing);
    ONCE(&all, links_lead_to_one_store);
    ONCE(&all, what_is_no_file_is_named);
    ONCE(&all, the_log_has_the_mode_of_the_image);
    ONCE(&all, a_log_continues_its_image);
    ONCE(&all, other_files_are_refused);
    ONCE(&all, calls_that_cannot_be_are_refused);
    ONCE(&all, a_long_log_is_followed_by_a_checkpoint);
    ONCE(&all, a_checkpoint_that_fails_changes_nothing);
    ONCE(&all, a_load_is_kept_or_dropped);
    ONCE(&all, changes_wait_for_a_load);
    ONCE(&all, a_full_disk_loses_nothing);
    ONCE(&all, a_failed_flush_is_not_forgotten);
    ONCE(&all, opening_reports_a_disk_that_fails);
    ONCE(&all, one_flush_serves_many);
    ONCE(&all, once_a_second);
    ONCE(&all, none_waits_for_nothing);
    ONCE(&all, the_model_is_in_the_callers_memory);
    ONCE(&all, ranking_uses_a_scratch_of_the_store);
    return cmocka_run_group_tests_name("store", all.test, make_folder, remove_folder);
}
