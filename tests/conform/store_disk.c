/* store_disk.c - a store on a disk that is really full, and under a limit on the size of files.
 *
 * unit/store refuses single bytes; here the system does: a small disk, where there is permission to
 * mount one, and RLIMIT_FSIZE.
 */
#define _GNU_SOURCE 1
#include "support/calls.h"
#include "conform/suite.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Lessons with ids until one is not acknowledged; how many were. */
static uint32_t learn_until_full(oltr_store *s, uint32_t first, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    for (uint32_t i = first;; i++) {
        char id[24];
        snprintf(id, sizeof id, "lesson %u", i);
        oltr_lesson lesson = short_lesson(id);
        oltr_status status = oltr_store_learn(s, &lesson, NULL, &error);
        if (status == OLTR_OK)
            continue;
        expect_error(status, &error, OLTR_EIO, words);
        return i;
    }
}

/* The store has the lessons that were acknowledged, and perhaps the one that was not. */
static uint32_t lessons_known(oltr_store *s, uint32_t acknowledged)
{
    uint64_t n = oltr_model_lessons(oltr_store_read(s));
    oltr_store_done(s);
    assert_true(n == acknowledged || n == acknowledged + 1);
    return (uint32_t)n;
}

static oltr_model_settings many_ids(void)
{
    oltr_model_settings settings = settings_of_kind(oltr_policy_info_by_name("gts", NULL));
    settings.window = 1 << 20;
    return settings;
}

static void a_limit_on_files(void **state)
{
    oltr_model_settings settings = many_ids();
    struct rlimit before, small = {20000, RLIM_INFINITY};
    char path[128];
    snprintf(path, sizeof path, "%s", path_of("limited"));
    signal(SIGXFSZ, SIG_IGN); /* as a server does: else the process ends */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    oltr_store *s = must_open(path, &(oltr_store_options){.create = &settings});
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    uint32_t learned = learn_until_full(s, 0, "File too large");
    assert_true(learned > 100);
    expect(oltr_store_close(s, NULL), OLTR_EIO);
    s = must_open(path, NULL); /* it opens under the same limit, */
    assert_int_equal(lessons_known(s, learned), learned);
    expect(oltr_store_checkpoint(s, NULL), OLTR_OK); /* and goes on with an empty log */
    uint32_t more = learn_until_full(s, learned, "File too large");
    assert_true(more > learned);
    expect(oltr_store_close(s, NULL), OLTR_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    s = must_open(path, NULL);
    lessons_known(s, more);
    must_close(s);
}

static uint32_t count_files(const char *path)
{
    uint32_t n = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    for (const struct dirent *entry; (entry = readdir(d));)
        n += entry->d_name[0] != '.';
    closedir(d);
    return n;
}

/* Checkpoints and then records find no room; what is there opens, and goes on when there is room.
 */
static void use_small_disk(const char *disk)
{
    oltr_model_settings settings = many_ids();
    char path[160];
    snprintf(path, sizeof path, "%s/store", disk);
    oltr_store_options options = {.create = &settings, .checkpoint_bytes = 30000};
    oltr_store *s = must_open(path, &options);
    uint32_t learned = learn_until_full(s, 0, "No space left on device");
    oltr_store_state state = state_of(s);
    assert_true(state.checkpoints > 0 && state.failed_checkpoints > 0 && state.failed == 1);
    assert_int_equal(count_files(disk), 2); /* no image is half there */
    expect(oltr_store_close(s, NULL), OLTR_EIO);
    s = must_open(path, &options); /* the disk is full, and what is there is read */
    assert_int_equal(lessons_known(s, learned), learned);
    oltr_error error = {OLTR_OK, ""};
    expect_error(oltr_store_checkpoint(s, &error), &error, OLTR_EIO, "No space left on device");
    assert_int_equal(state_of(s).failed, 0);
    oltr_store_close(s, NULL);
    s = must_open(path, &(oltr_store_options){.read_only = 1});
    assert_int_equal(lessons_known(s, learned), learned);
    must_close(s);
    assert_int_equal(mount("none", disk, "tmpfs", MS_REMOUNT, "size=2m"), 0); /* there is room */
    s = must_open(path, &options);
    oltr_lesson lesson = short_lesson("one more");
    expect(oltr_store_learn(s, &lesson, NULL, NULL), OLTR_OK);
    expect(oltr_store_checkpoint(s, NULL), OLTR_OK);
    must_close(s);
    s = must_open(path, NULL);
    assert_int_equal(lessons_known(s, learned + 1), learned + 1);
    must_close(s);
}

static void a_small_disk(void **state)
{
    char disk[128];
    snprintf(disk, sizeof disk, "%s", path_of("small"));
    assert_int_equal(mkdir(disk, 0700), 0);
    if (mount("none", disk, "tmpfs", 0, "size=200k") != 0) {
        print_message("no permission to mount a small disk: %s\n", strerror(errno));
        skip();
    }
    use_small_disk(disk);
    assert_int_equal(umount(disk), 0);
}

/* Nothing can be made on a full disk, and nothing is left of it. */
static void nothing_on_a_full_disk(void **state)
{
    oltr_model_settings settings = many_ids();
    oltr_error error = {OLTR_OK, ""};
    char disk[128], path[160], ballast[160];
    snprintf(disk, sizeof disk, "%s", path_of("full"));
    snprintf(path, sizeof path, "%s/store", disk);
    snprintf(ballast, sizeof ballast, "%s/ballast", disk);
    assert_int_equal(mkdir(disk, 0700), 0);
    if (mount("none", disk, "tmpfs", 0, "size=16k") != 0) {
        print_message("no permission to mount a small disk: %s\n", strerror(errno));
        skip();
    }
    FILE *file = fopen(ballast, "wb");
    assert_non_null(file);
    setvbuf(file, NULL, _IONBF, 0);
    while (fputc(0, file) != EOF)
        ;
    fclose(file);
    oltr_store *s = oltr_store_open(path, &(oltr_store_options){.create = &settings}, &error);
    assert_null(s);
    expect_error(error.code, &error, OLTR_EIO, "No space left on device");
    assert_int_equal(count_files(disk), 1);
    unlink(ballast);
    must_close(must_open(path, &(oltr_store_options){.create = &settings}));
    assert_int_equal(umount(disk), 0);
}

/* A test that failed may have left its disk. */
static int remove_disks(void **state)
{
    umount2(path_of("small"), MNT_DETACH);
    umount2(path_of("full"), MNT_DETACH);
    return remove_folder(state);
}

int main(void)
{
    static suite all;
    ONCE(&all, a_limit_on_files);
    ONCE(&all, a_small_disk);
    ONCE(&all, nothing_on_a_full_disk);
    return cmocka_run_group_tests_name("store_disk", all.test, make_folder, remove_disks);
}
