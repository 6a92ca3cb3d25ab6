/* gnuplot.c - see gnuplot.h.
 *
 * gnuplot writes its output piece by piece, and does not notice when the disk is full.  So it works
 * in a folder of its own, inside the folder of the results, and the pictures are renamed into place
 * when each of them has its end and is on the disk.  No shell is involved.  The folder is locked
 * while it is needed; one that is not locked was left by a process that was killed, and is
 * removed. */
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
enum { N_ENDINGS = sizeof endings / sizeof endings[0], NOT_FOUND = 127 };
static const char log_name[] = "gnuplot.log";

/* "folder/name.ending" in new memory, or NULL. */
static char *part_path(const char *folder, const char *name, const char *ending)
{
    size_t size = strlen(folder) + strlen(name) + strlen(ending) + 3;
    char *path = malloc(size);
    if (path != NULL)
        (void)snprintf(path, size, "%s/%s.%s", folder, name, ending);
    return path;
}

/* ---- the workshop */

static const char workshop_name[] = ".drawing-XXXXXX";

/* Removes a folder with the files in it. */
static void remove_workshop(const char *workshop)
{
    DIR *open_folder = opendir(workshop);
    for (const struct dirent *entry; open_folder != NULL && (entry = readdir(open_folder)) != NULL;)
        (void)unlinkat(dirfd(open_folder), entry->d_name, 0); /* refused of `.` and `..` */
    if (open_folder != NULL)
        (void)closedir(open_folder);
    (void)rmdir(workshop);
}

/* The folder, locked by this process; -1 if it is not there, or cannot be locked: with `how`
 * LOCK_NB, because another has it. */
static int lock_workshop(const char *workshop, int how)
{
    struct stat status;
    int locked, fd = open(workshop, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
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

static void remove_left_workshops(const char *folder)
{
    const size_t stem = strlen(workshop_name) - 6;
    DIR *open_folder = opendir(folder);
    for (const struct dirent *entry;
         open_folder != NULL && (entry = readdir(open_folder)) != NULL;) {
        bool is_one = strncmp(entry->d_name, workshop_name, stem) == 0 &&
                      strlen(entry->d_name) == strlen(workshop_name);
        char *workshop = is_one ? file_join(folder, entry->d_name) : NULL;
        int lock = workshop != NULL ? lock_workshop(workshop, LOCK_NB) : -1;
        if (lock >= 0) {
            remove_workshop(workshop);
            (void)close(lock);
        }
        free(workshop);
    }
    if (open_folder != NULL)
        (void)closedir(open_folder);
}

/* ---- the child */

/* Only calls that are safe after fork.  Does not return. */
static void become_gnuplot(const char *workshop, char *const *command)
{
    int in = open("/dev/null", O_RDONLY);
    bool ready = in >= 0 && dup2(in, STDIN_FILENO) >= 0 && chdir(workshop) == 0;
    int log = ready ? open(log_name, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    (void)signal(
        SIGXFSZ,
        SIG_DFL); /* ignored in this program (cli_main); gnuplot would not notice a failed write */
    if (log >= 0 && dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0) {
        (void)execvp(command[0], command);
        _exit(errno == ENOENT || errno == EACCES ? NOT_FOUND : 126);
    }
    _exit(126);
}

/* 0 and the status of waitpid(), or the reason why it could not be started. */
static int run_gnuplot(const char *workshop, const char *name, int *status)
{
    char script[128], program[] = "gnuplot", plain[] = "-d";
    if (snprintf(script, sizeof script, "%s.gp", name) >= (int)sizeof script)
        return ENAMETOOLONG;
    char *const command[] = {program, plain, script,
                             NULL}; /* -d: this picture, not the taste of a ~/.gnuplot */
    pid_t child = fork();
    if (child == 0)
        become_gnuplot(workshop, command);
    while (child > 0 && waitpid(child, status, 0) < 0) {
        if (errno != EINTR)
            return errno;
        (void)kill(child, SIGTERM); /* we were asked to stop: so is gnuplot */
    }
    return child > 0 ? 0 : errno;
}

/* ---- why there is no figure */

/* Can more be written there?  0, or the reason why not: gnuplot does not tell it. */
static int write_trouble(const char *workshop)
{
    enum { ENOUGH = 1 << 16 }; /* more than is left where a picture was cut short */
    static const char zeros[ENOUGH];
    char *path = file_join(workshop, "room");
    int fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    size_t done = 0;
    ssize_t wrote = 1;
    while (fd >= 0 && wrote > 0 && done < ENOUGH) {
        wrote = write(fd, zeros + done, ENOUGH - done);
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    int why = fd >= 0 && done == ENOUGH && fsync(fd) == 0 ? 0 : errno;
    if (fd >= 0) {
        (void)unlink(path);
        (void)close(fd);
    }
    free(path);
    return why;
}

static oltr_status cannot_write(const char *folder, const char *name, const char *ending, int why,
                                oltr_error *error)
{
    return set_error(error, why == ENOMEM ? OLTR_ENOMEM : OLTR_EIO, "%s/%s.%s: cannot write it: %s",
                     folder, name, ending, strerror(why));
}

/* What gnuplot said last, on one line. */
static void last_words(const char *workshop, char line[2 * QUOTE_SIZE])
{
    struct text log = {0};
    (void)snprintf(line, 2 * QUOTE_SIZE, "it said nothing");
    if (file_read_in(workshop, log_name, &log, NULL) == OLTR_OK && log.length > 0) {
        const char *last = strstr(log.bytes, "line ");
        (void)snprintf(line, 2 * QUOTE_SIZE, "%.100s", last != NULL ? last : log.bytes);
        line[strcspn(line, "\r\n")] = '\0';
    }
    text_free(&log);
}

static oltr_status explain(const char *workshop, const char *folder, const char *name, int status,
                           oltr_error *error)
{
    char line[2 * QUOTE_SIZE];
    int why = write_trouble(workshop);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND) {
        return set_error(error, OLTR_EIO,
                         "%s: no figure, because gnuplot is not on the PATH; install it (Debian: "
                         "gnuplot-nox) and run "
                         "`oltr plot` on the folder",
                         name);
    }
    if (why == 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
        why = EFBIG;
    if (why != 0) {
        return set_error(error, OLTR_EIO, "%s/%s: cannot write this figure: %s", folder, name,
                         strerror(why));
    }
    if (WIFSIGNALED(status)) {
        return set_error(error, OLTR_EIO, "%s: gnuplot was ended by signal %d (%s)", name,
                         WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    last_words(workshop, line);
    return set_error(error, OLTR_EIO, "%s: gnuplot failed: %s", name, line);
}

/* ---- the parent */

/* The last bytes of a whole file of each format; what follows them is blank. */
static const char *end_of(const char *ending)
{
    return strcmp(ending, "svg") == 0   ? "</svg>"
           : strcmp(ending, "png") == 0 ? "IEND\xAE\x42\x60\x82"
           : strcmp(ending, "pdf") == 0 ? "%%EOF"
                                        : "";
}

static bool has_end(int fd, const char *end)
{
    char tail[64];
    size_t wanted = strlen(end);
    off_t size = lseek(fd, 0, SEEK_END),
          from = size > (off_t)sizeof tail ? size - (off_t)sizeof tail : 0;
    ssize_t got = pread(fd, tail, sizeof tail, from);
    size_t length = got > 0 ? (size_t)got : 0;
    while (length > 0 && strchr(" \r\n", tail[length - 1]) != NULL)
        length--;
    return length >= wanted && length > 0 && memcmp(tail + length - wanted, end, wanted) == 0;
}

/* Is the file whole, and on the disk?  0, or a reason; ENODATA: it is not there, or without its
 * end. */
static int settle(const char *workshop, const char *name, const char *ending)
{
    char *path = part_path(workshop, name, ending);
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    int why = path == NULL ? ENOMEM : fd >= 0 ? 0 : errno == ENOENT ? ENODATA : errno;
    if (fd >= 0) {
        why = !has_end(fd, end_of(ending)) ? ENODATA : flush_to_disk(fd) ? 0 : errno;
        (void)close(fd);
    }
    free(path);
    return why;
}

static oltr_status settle_all(const char *workshop, const char *folder, const char *name,
                              oltr_error *error)
{
    for (size_t i = 0; i < N_ENDINGS; i++) {
        int why = settle(workshop, name, endings[i]);
        int trouble = why == ENODATA ? write_trouble(workshop) : why;
        if (trouble != 0)
            return cannot_write(folder, name, endings[i], trouble, error);
        if (why != 0) {
            return set_error(error, OLTR_EIO,
                             "%s.%s: gnuplot did not draw it; is this gnuplot built with cairo?",
                             name, endings[i]);
        }
    }
    return OLTR_OK;
}

/* Moves one finished file to its place. */
static oltr_status move_out(const char *workshop, const char *folder, const char *name,
                            const char *ending, oltr_error *error)
{
    char *from = part_path(workshop, name, ending), *to = part_path(folder, name, ending);
    int why = from == NULL || to == NULL ? ENOMEM : rename(from, to) == 0 ? 0 : errno;
    free(from);
    free(to);
    return why == 0 ? OLTR_OK : cannot_write(folder, name, ending, why, error);
}

static oltr_status put_in(const char *workshop, const char *folder, const char *name,
                          const char *ending, const struct text *content, oltr_error *error)
{
    char *path = part_path(workshop, name, ending);
    if (path == NULL)
        return set_error(error, OLTR_ENOMEM, "%s: out of memory", name);
    errno = 0;
    oltr_status status = file_write(path, content, error);
    int why = errno;
    free(path);
    return status == OLTR_EIO ? cannot_write(folder, name, ending, why, error) : status;
}

static oltr_status draw_in(const char *workshop, const char *folder, const char *name,
                           const struct text *script, const struct text *data, oltr_error *error)
{
    int status = 0;
    oltr_status made = put_in(workshop, folder, name, "gp", script, error);
    if (made == OLTR_OK)
        made = put_in(workshop, folder, name, "csv", data, error);
    if (made != OLTR_OK)
        return made;
    int why = run_gnuplot(workshop, name, &status);
    if (why != 0)
        return set_error(error, OLTR_EIO, "%s: cannot start gnuplot: %s", name, strerror(why));
    made = status == 0 ? settle_all(workshop, folder, name, error)
                       : explain(workshop, folder, name, status, error);
    for (size_t i = 0; made == OLTR_OK && i < N_ENDINGS; i++)
        made = move_out(workshop, folder, name, endings[i], error);
    return made;
}

/* A new one, in new memory, and its lock: -1 where there are no locks, but then nobody takes it for
 * left either.  NULL with the error set. */
static char *open_workshop(const char *folder, const char *name, int *lock, oltr_error *error)
{
    char *workshop = NULL;
    do { /* again if it was taken for left before it was locked; who took it has the lock until it
            is gone */
        free(workshop);
        workshop = file_join(folder, workshop_name);
        if (workshop == NULL || mkdtemp(workshop) == NULL) {
            (void)(workshop == NULL ? set_error(error, OLTR_ENOMEM, "%s: out of memory", name)
                                    : set_error(error, OLTR_EIO, "%s: cannot draw there: %s",
                                                folder, strerror(errno)));
            free(workshop);
            return NULL;
        }
        *lock = lock_workshop(workshop, 0);
    } while (*lock < 0 && access(workshop, F_OK) != 0);
    return workshop;
}

oltr_status gnuplot_draw(const char *folder, const char *name, const struct text *script,
                         const struct text *data, oltr_error *error)
{
    int lock = -1;
    oltr_error own = {OLTR_OK, ""};
    error = error != NULL ? error : &own;
    remove_left_workshops(folder);
    char *workshop = open_workshop(folder, name, &lock, error);
    if (workshop == NULL)
        return error->code;
    oltr_status status = draw_in(workshop, folder, name, script, data, error);
    remove_workshop(workshop);
    if (lock >= 0)
        (void)close(lock);
    free(workshop);
    return status;
}
