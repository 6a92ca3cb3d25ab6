/* gnuplot.c - see gnuplot.h.
 *
 * gnuplot writes its output piece by piece and does not notice a full disk.  So it works in a
 * scratch folder inside the folder of the results, and the pictures are renamed into place when
 * each has its last bytes and is on the disk.  No shell is used.  The scratch folder is locked
 * while it is in use; an unlocked one was left by a killed process and is removed. */
#define _DEFAULT_SOURCE 1 /* flock */
#include "report/figures/gnuplot.h"

#include "engine/base/file.h"
#include "report/io/whole_file.h"
#include "engine/base/quote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const endings[] = {"gp", "csv", "svg", "png", "pdf"};
static const char *const last_bytes[] = {"", "", "</svg>", "IEND\xAE\x42\x60\x82", "%%EOF"};
enum { N_ENDINGS = sizeof endings / sizeof endings[0], NOT_FOUND = 124 };
static const char log_name[] = "gnuplot.log";

/* One figure to be drawn. */
struct job {
    const char *folder, *name, *scratch;
    oltr_error *error;
};

/* "folder/name.ending" in new memory, or NULL. */
static char *part_path(const char *folder, const char *name, const char *ending)
{
    size_t size = strlen(folder) + strlen(name) + strlen(ending) + 3;
    char *path = malloc(size);
    if (path)
        (void)snprintf(path, size, "%s/%s.%s", folder, name, ending);
    return path;
}

/* ---- the scratch folder */

static const char scratch_name[] = ".drawing-XXXXXX";

/* Removes a folder with the files in it. */
static void remove_scratch(const char *scratch)
{
    DIR *files = opendir(scratch);
    for (const struct dirent *entry; files && (entry = readdir(files));)
        (void)unlinkat(dirfd(files), entry->d_name, 0); /* fails for `.` and `..` */
    if (files)
        (void)closedir(files);
    (void)rmdir(scratch);
}

/* Opens and locks the folder; -1 if it does not exist or cannot be locked.  how: LOCK_NB does not
 * wait for another process that has the lock. */
static int lock_scratch(const char *scratch, int how)
{
    struct stat status;
    int locked, fd = open(scratch, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    do {
        locked = flock(fd, LOCK_EX | how);
    } while (locked != 0 && errno == EINTR);
    if (locked != 0 || fstat(fd, &status) != 0 || status.st_nlink == 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static void remove_stale_scratch(const char *folder)
{
    const size_t stem = strlen(scratch_name) - 6;
    DIR *files = opendir(folder);
    for (const struct dirent *entry; files && (entry = readdir(files));) {
        bool is_one = strncmp(entry->d_name, scratch_name, stem) == 0 &&
                      strlen(entry->d_name) == strlen(scratch_name);
        char *scratch = is_one ? file_join(folder, entry->d_name) : NULL;
        int lock = scratch ? lock_scratch(scratch, LOCK_NB) : -1;
        if (lock >= 0) {
            remove_scratch(scratch);
            (void)close(lock);
        }
        free(scratch);
    }
    if (files)
        (void)closedir(files);
}

/* ---- the child */

/* Only calls that are safe after fork.  Does not return. */
static void exec_gnuplot(const char *scratch, char *const *command)
{
    int in = open("/dev/null", O_RDONLY);
    bool ready = in >= 0 && dup2(in, STDIN_FILENO) >= 0 && chdir(scratch) == 0;
    int log = ready ? open(log_name, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    (void)signal(SIGXFSZ, SIG_DFL); /* this program ignores it; gnuplot misses a failed write */
    if (log >= 0 && dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0) {
        (void)execvp(command[0], command);
        _exit(errno == ENOENT || errno == EACCES ? NOT_FOUND : 126);
    }
    _exit(126);
}

/* 0 and the status of waitpid(), or the reason why it could not be started. */
static int run_gnuplot(const char *scratch, const char *name, int *status)
{
    char script[128], program[] = "gnuplot", plain[] = "-d";
    if (snprintf(script, sizeof script, "%s.gp", name) >= (int)sizeof script)
        return ENAMETOOLONG;
    char *const command[] = {program, plain, script, NULL}; /* -d: without ~/.gnuplot */
    pid_t child = fork();
    if (child == 0)
        exec_gnuplot(scratch, command);
    while (child > 0 && waitpid(child, status, 0) < 0) {
        if (errno != EINTR)
            return errno;
        (void)kill(child, SIGTERM); /* we were asked to stop: so is gnuplot */
    }
    return child > 0 ? 0 : errno;
}

/* ---- why there is no figure */

/* Can more be written there?  0, or the reason: gnuplot does not report it. */
static int write_trouble(const char *scratch)
{
    enum { ENOUGH = 1 << 16 }; /* more than is left where a picture was cut short */
    char *path = file_join(scratch, "room");
    int why = path ? file_trouble(path, ENOUGH) : ENOMEM;
    free(path);
    return why;
}

static oltr_status cannot_write(const struct job *job, const char *ending, int why)
{
    return set_error(job->error, why == ENOMEM ? OLTR_ENOMEM : OLTR_EIO,
                     "%s/%s.%s: cannot write it: %s", job->folder, job->name, ending,
                     strerror(why));
}

/* The first error that gnuplot printed, on one line. */
static void first_message(const char *scratch, char line[2 * QUOTE_SIZE])
{
    struct text log = {0};
    (void)snprintf(line, 2 * QUOTE_SIZE, "it said nothing");
    if (file_read_in(scratch, log_name, &log, NULL) == OLTR_OK && log.length > 0) {
        const char *first = strstr(log.bytes, "line ");
        (void)snprintf(line, 2 * QUOTE_SIZE, "%.100s", first ? first : log.bytes);
        line[strcspn(line, "\r\n")] = '\0';
    }
    text_free(&log);
}

static oltr_status explain(const struct job *job, int status)
{
    char line[2 * QUOTE_SIZE];
    int why = write_trouble(job->scratch), signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
        return set_error(job->error, OLTR_EIO,
                         "%s: no figure, because gnuplot is not on the PATH; install it (Debian: "
                         "gnuplot-nox) and run `oltr plot` on the folder",
                         job->name);
    if (why == 0 && signal == SIGXFSZ)
        why = EFBIG;
    if (why != 0)
        return set_error(job->error, OLTR_EIO, "%s/%s: cannot write this figure: %s", job->folder,
                         job->name, strerror(why));
    if (signal != 0)
        return set_error(job->error, OLTR_EIO, "%s: gnuplot was ended by signal %d (%s)", job->name,
                         signal, strsignal(signal));
    first_message(job->scratch, line);
    return set_error(job->error, OLTR_EIO, "%s: gnuplot failed: %s", job->name, line);
}

/* ---- the parent */

/* Does the file end with the last bytes of its format?  Blanks may follow them. */
static bool has_end(int fd, const char *end)
{
    char tail[64];
    size_t wanted = strlen(end);
    off_t size = lseek(fd, 0, SEEK_END),
          from = size > (off_t)sizeof tail ? size - (off_t)sizeof tail : 0;
    ssize_t got = pread(fd, tail, sizeof tail, from);
    size_t length = got > 0 ? (size_t)got : 0;
    while (length > 0 && strchr(" \r\n", tail[length - 1]))
        length--;
    return length >= wanted && length > 0 && memcmp(tail + length - wanted, end, wanted) == 0;
}

/* Is the file complete, and on the disk?  0, or a reason; ENODATA: it is missing or cut short. */
static int check_file(const struct job *job, size_t i)
{
    char *path = part_path(job->scratch, job->name, endings[i]);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    int why = !path ? ENOMEM : fd >= 0 ? 0 : errno == ENOENT ? ENODATA : errno;
    if (fd >= 0) {
        why = !has_end(fd, last_bytes[i]) ? ENODATA : flush_to_disk(fd) ? 0 : errno;
        (void)close(fd);
    }
    free(path);
    return why;
}

static oltr_status check_files(const struct job *job)
{
    for (size_t i = 0; i < N_ENDINGS; i++) {
        int why = check_file(job, i), trouble = why == ENODATA ? write_trouble(job->scratch) : why;
        if (trouble != 0)
            return cannot_write(job, endings[i], trouble);
        if (why != 0)
            return set_error(job->error, OLTR_EIO,
                             "%s.%s: gnuplot did not draw it; is this gnuplot built with cairo?",
                             job->name, endings[i]);
    }
    return OLTR_OK;
}

/* Moves one finished file to its place. */
static oltr_status move_out(const struct job *job, const char *ending)
{
    char *from = part_path(job->scratch, job->name, ending),
         *to = part_path(job->folder, job->name, ending);
    int why = !from || !to ? ENOMEM : rename(from, to) == 0 ? 0 : errno;
    free(from);
    free(to);
    return why == 0 ? OLTR_OK : cannot_write(job, ending, why);
}

static oltr_status put_in(const struct job *job, const char *ending, const struct text *content)
{
    char *path = part_path(job->scratch, job->name, ending);
    errno = 0;
    oltr_status status = path ? file_write(path, content, job->error) : OLTR_EIO;
    int why = path ? errno : ENOMEM;
    free(path);
    return status == OLTR_EIO ? cannot_write(job, ending, why) : status;
}

static oltr_status draw_in(const struct job *job, const struct text *script,
                           const struct text *data)
{
    int status = 0;
    oltr_status made = put_in(job, "gp", script);
    if (made == OLTR_OK)
        made = put_in(job, "csv", data);
    if (made != OLTR_OK)
        return made;
    int why = run_gnuplot(job->scratch, job->name, &status);
    if (why != 0)
        return set_error(job->error, OLTR_EIO, "%s: cannot start gnuplot: %s", job->name,
                         strerror(why));
    made = status == 0 ? check_files(job) : explain(job, status);
    for (size_t i = 0; made == OLTR_OK && i < N_ENDINGS; i++)
        made = move_out(job, endings[i]);
    return made;
}

/* A new scratch folder, in new memory, and its lock; NULL with errno set.  *lock is -1 on a file
 * system without locks, where nothing is taken for stale. */
static char *open_scratch(const char *folder, int *lock)
{
    char *scratch = NULL;
    do { /* again if another process removed it as stale before it was locked */
        free(scratch);
        scratch = file_join(folder, scratch_name);
        if (!scratch || !mkdtemp(scratch)) {
            free(scratch);
            return NULL;
        }
        *lock = lock_scratch(scratch, 0);
    } while (*lock < 0 && access(scratch, F_OK) != 0);
    return scratch;
}

oltr_status gnuplot_draw(const char *folder, const char *name, const struct text *script,
                         const struct text *data, oltr_error *error)
{
    int lock = -1;
    remove_stale_scratch(folder);
    char *scratch = open_scratch(folder, &lock);
    if (!scratch)
        return set_error(error, errno == ENOMEM ? OLTR_ENOMEM : OLTR_EIO,
                         "%s: cannot draw there: %s", folder, strerror(errno));
    struct job job = {folder, name, scratch, error};
    oltr_status status = draw_in(&job, script, data);
    remove_scratch(scratch);
    if (lock >= 0)
        (void)close(lock);
    free(scratch);
    return status;
}
