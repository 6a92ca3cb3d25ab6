/* files.c - a file under its final name is always complete: with several writers at the same time,
 * and after a writer was killed. */
#define _GNU_SOURCE 1
#include "support/texts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/base/file.h"

static size_t count_files(void)
{
    size_t n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *entry; (entry = readdir(d));)
        n += entry->d_name[0] != '.';
    closedir(d);
    return n;
}

static void assert_holds(const char *path, const char *words)
{
    size_t n;
    unsigned char *bytes = read_bytes(path, &n);
    assert_string_equal((char *)bytes, words);
    free(bytes);
}

static void must_write(const char *path, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    if (bytes_write(path, (const unsigned char *)words, strlen(words), &error) != OLTR_OK)
        fail_msg("%s", error.msg);
}

static void a_file_is_kept_or_dropped(void **state)
{
    temp_file b;
    const char *path = path_of("kept");
    assert_true(temp_file_open(&b, path, 0600));
    assert_int_equal(write(b.fd, "whole", 5), 5);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_true(temp_file_keep(&b, path));
    assert_holds(path, "whole");
    assert_true(temp_file_open(&b, path, 0600));
    assert_int_equal(write(b.fd, "half", 4), 4);
    errno = 77;
    temp_file_drop(&b);
    assert_int_equal(errno, 77);
    assert_holds(path, "whole");
    assert_int_equal(count_files(), 1);
    unlink(path);
}

static void a_place_that_cannot_be_written_to_is_named(void **state)
{
    temp_file b;
    errno = 0;
    assert_false(temp_file_open(&b, "/no/such/folder/x", 0600));
    assert_int_equal(errno, ENOENT);
    oltr_error error;
    assert_int_equal(bytes_write("/no/such/folder/x", (const unsigned char *)"x", 1, &error),
                     OLTR_EIO);
    assert_string_equal(error.msg, "cannot write /no/such/folder/x: No such file or directory");
    assert_int_equal(mkdir(path_of("taken"), 0700),
                     0); /* a folder in its place: seen when it is renamed */
    assert_int_equal(bytes_write(path_of("taken"), (const unsigned char *)"x", 1, &error),
                     OLTR_EIO);
    assert_int_equal(count_files(), 1);
    rmdir(path_of("taken"));
}

/* Ends by SIGKILL with a file half written. */
static void be_killed_while_writing_as(const char *path, unsigned mode)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        temp_file b;
        if (temp_file_open(&b, path, mode) && write(b.fd, "ha", 2) == 2)
            raise(SIGKILL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void be_killed_while_writing(const char *path)
{
    be_killed_while_writing_as(path, 0600);
}

static void what_the_killed_leave_is_removed_by_the_next(void **state)
{
    const char *path = path_of("target");
    for (int i = 0; i < 3; i++)
        be_killed_while_writing(path);
    assert_int_equal(count_files(),
                     1); /* each but the first removed what the one before had left */
    write_text("target.123.tmp", "of an older version");
    must_write(path, "whole");
    assert_holds(path, "whole");
    assert_int_equal(count_files(), 1);
    be_killed_while_writing(path);
    assert_int_equal(count_files(), 2);
    temp_file_clean(path);
    assert_int_equal(count_files(), 1);
    unlink(path);
}

/* As the cache of a text in a folder without write permission.  The superuser may write there, so
 * the test runs as another user. */
static void what_nobody_may_write_is_removed_too(void **state)
{
    enum { NOBODY = 65534 };
    const char *path = path_of("target");
    int super = geteuid() == 0;
    if (super && (chmod(folder, 0777) != 0 || seteuid(NOBODY) != 0))
        skip();
    be_killed_while_writing_as(path, 0444);
    assert_int_equal(count_files(), 1);
    temp_file_clean(path);
    assert_int_equal(count_files(), 0);
    if (super)
        assert_true(seteuid(0) == 0 && chmod(folder, 0700) == 0);
}

static void without_a_folder_in_the_path(void **state)
{
    char *back = getcwd(NULL, 0);
    assert_non_null(back);
    assert_int_equal(chdir(folder), 0);
    be_killed_while_writing("bare");
    must_write("bare", "whole");
    assert_int_equal(count_files(), 1);
    unlink("bare");
    assert_int_equal(chdir(back), 0);
    free(back);
    temp_file_clean("/x"); /* looks into the root folder, and finds nothing */
}

/* Files that are being written, and files of other names, are not removed. */
static void nothing_else_is_removed(void **state)
{
    static const char *const other[] = {"target.tmp",         "target.12x.tmp", "target.1-.tmp",
                                        "target.1-2.tmp.txt", "target.1-2",     "xtarget.1.tmp",
                                        "target2.1.tmp",      "target.-1.tmp",  "target..tmp",
                                        "target.1-2-3.tmp"};
    const char *path = path_of("target");
    temp_file b;
    for (size_t i = 0; i < COUNT(other); i++)
        write_text(other[i], "mine");
    assert_int_equal(mkdir(path_of("target.5.tmp"), 0700), 0);
    assert_int_equal(mkfifo(path_of("target.6.tmp"), 0700), 0);
    assert_int_equal(symlink("target.tmp", path_of("target.7.tmp")), 0);
    assert_true(temp_file_open(&b, path, 0600));
    must_write(path, "in between");
    assert_holds(path, "in between");
    assert_true(temp_file_keep(&b, path));
    assert_holds(path, "");
    for (size_t i = 0; i < COUNT(other); i++)
        assert_int_equal(unlink(path_of(other[i])), 0);
    assert_int_equal(rmdir(path_of("target.5.tmp")), 0);
    assert_int_equal(unlink(path_of("target.6.tmp")), 0);
    assert_int_equal(unlink(path_of("target.7.tmp")), 0);
    unlink(path);
    assert_int_equal(count_files(), 0);
}

/* Every writer removes leftovers first; a file that is being written must survive that. */
static void many_may_write_one_file(void **state)
{
    enum { WRITERS = 4, TIMES = 1000, SIZE = 5000 };
    const char *path = path_of("busy");
    pid_t child[WRITERS];
    for (int w = 0; w < WRITERS; w++) {
        child[w] = fork();
        assert_true(child[w] >= 0);
        if (child[w] == 0) {
            unsigned char bytes[SIZE];
            memset(bytes, 'a' + w, sizeof bytes);
            for (int i = 0; i < TIMES; i++)
                if (bytes_write(path, bytes, sizeof bytes, NULL) != OLTR_OK)
                    _exit(1);
            _exit(0);
        }
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        assert_int_equal(waitpid(child[w], &status, 0), child[w]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    size_t n;
    unsigned char *bytes = read_bytes(path, &n);
    assert_int_equal(n, SIZE);
    for (size_t i = 1; i < n; i++)
        assert_int_equal(bytes[i], bytes[0]);
    free(bytes);
    assert_int_equal(count_files(), 1);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_kept_or_dropped),
        cmocka_unit_test(a_place_that_cannot_be_written_to_is_named),
        cmocka_unit_test(what_the_killed_leave_is_removed_by_the_next),
        cmocka_unit_test(what_nobody_may_write_is_removed_too),
        cmocka_unit_test(without_a_folder_in_the_path),
        cmocka_unit_test(nothing_else_is_removed),
        cmocka_unit_test(many_may_write_one_file),
    };
    return cmocka_run_group_tests_name("files", tests, make_folder, remove_folder);
}
