/* gnuplot.c - see gnuplot.h.
 *
 * gnuplot writes its output piece by piece, so it works in a folder of its own, inside the folder of the results, and
 * the pictures are renamed into place when all of them are there.  No shell is involved.  The folder is locked while
 * it is needed; one that is not was left by somebody who was killed, and goes. */
#define _DEFAULT_SOURCE 1 /* flock */
#include "report/gnuplot.h"

#include "report/shown.h"
#include "report/files.h"

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
    if (path != NULL) {
        (void)snprintf(path, size, "%s/%s.%s", folder, name, ending);
    }
    return path;
}

/* ---- the workshop --------------------------------------------------------------------------------------- */

static const char workshop_name[] = ".drawing-XXXXXX";

/* Removes a folder with the files in it. */
static void remove_workshop(const char *workshop)
{
    DIR *open_folder = opendir(workshop);
    for (const struct dirent *entry; open_folder != NULL && (entry = readdir(open_folder)) != NULL;) {
        (void)unlinkat(dirfd(open_folder), entry->d_name, 0); /* refused of `.` and `..` */
    }
    if (open_folder != NULL) {
        (void)closedir(open_folder);
    }
    (void)rmdir(workshop);
}

/* The folder, locked by this process; -1 if it is not there, or cannot be locked: with `how` LOCK_NB, because another has it. */
static int lock_workshop(const char *workshop, int how)
{
    struct stat status;
    int locked, fd = open(workshop, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
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
    for (const struct dirent *entry; open_folder != NULL && (entry = readdir(open_folder)) != NULL;) {
        bool is_one =
            strncmp(entry->d_name, workshop_name, stem) == 0 && strlen(entry->d_name) == strlen(workshop_name);
        char *workshop = is_one ? file_join(folder, entry->d_name) : NULL;
        int lock = workshop != NULL ? lock_workshop(workshop, LOCK_NB) : -1;
        if (lock >= 0) {
            remove_workshop(workshop);
            (void)close(lock);
        }
        free(workshop);
    }
    if (open_folder != NULL) {
        (void)closedir(open_folder);
    }
}

/* ---- the child ------------------------------------------------------------------------------------------ */

/* Only calls that are safe after fork.  Does not return. */
static void become_gnuplot(const char *workshop, char *const *command)
{
    int in = open("/dev/null", O_RDONLY);
    bool ready = in >= 0 && dup2(in, STDIN_FILENO) >= 0 && chdir(workshop) == 0;
    int log = ready ? open(log_name, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (log >= 0 && dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0) {
        (void)execvp(command[0], command);
        _exit(errno == ENOENT || errno == EACCES ? NOT_FOUND : 126);
    }
    _exit(126);
}

/* The exit status of gnuplot; -1 if it could not be started or was ended by a signal. */
static int run_gnuplot(const char *workshop, const char *name)
{
    char script[128], program[] = "gnuplot", plain[] = "-d";
    if (snprintf(script, sizeof script, "%s.gp", name) >= (int)sizeof script) {
        return -1;
    }
    char *const command[] = {program, plain, script, NULL}; /* -d: this picture, not the taste of a ~/.gnuplot */
    pid_t child = fork();
    if (child == 0) {
        become_gnuplot(workshop, command);
    }
    int status;
    while (child > 0 && waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
        (void)kill(child, SIGTERM); /* we were asked to stop: so is gnuplot */
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- the parent ----------------------------------------------------------------------------------------- */

static bool is_complete(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size > 0;
}

static oltr_status explain(const char *workshop, const char *name, int exit_status, oltr_error *error)
{
    if (exit_status == NOT_FOUND) {
        return fail(error, OLTR_EIO,
                    "%s: no figure, because gnuplot is not on the PATH; install it (Debian: gnuplot-nox) and run "
                    "`oltr plot` on the folder",
                    name);
    }
    struct text log = {0};
    char line[SHOWN_SIZE * 2] = "it said nothing";
    if (file_read_in(workshop, log_name, &log, NULL) == OLTR_OK && log.length > 0) {
        const char *last = strstr(log.bytes, "line ");
        (void)snprintf(line, sizeof line, "%.100s", last != NULL ? last : log.bytes);
        line[strcspn(line, "\r\n")] = '\0';
    }
    text_free(&log);
    return fail(error, OLTR_EIO, "%s: gnuplot failed: %s", name, line);
}

/* Moves one finished file to its place. */
static bool move_out(const char *workshop, const char *folder, const char *name, const char *ending)
{
    char *from = part_path(workshop, name, ending), *to = part_path(folder, name, ending);
    bool moved = from != NULL && to != NULL && is_complete(from) && rename(from, to) == 0;
    free(from);
    free(to);
    return moved;
}

static oltr_status put_in(const char *workshop, const char *name, const char *ending, const struct text *content,
                          oltr_error *error)
{
    char *path = part_path(workshop, name, ending);
    if (path == NULL) {
        return fail(error, OLTR_ENOMEM, "%s: out of memory", name);
    }
    oltr_status status = file_write(path, content, error);
    free(path);
    return status;
}

static oltr_status draw_in(const char *workshop, const char *folder, const char *name, const struct text *script,
                           const struct text *data, oltr_error *error)
{
    oltr_status status = put_in(workshop, name, "gp", script, error);
    if (status == OLTR_OK) {
        status = put_in(workshop, name, "csv", data, error);
    }
    if (status != OLTR_OK) {
        return status;
    }
    int exit_status = run_gnuplot(workshop, name);
    if (exit_status != 0) {
        return explain(workshop, name, exit_status, error);
    }
    for (size_t i = 0; i < N_ENDINGS; i++) {
        if (!move_out(workshop, folder, name, endings[i])) {
            return fail(error, OLTR_EIO, "%s.%s: gnuplot did not draw it; is this gnuplot built with cairo?", name,
                        endings[i]);
        }
    }
    return OLTR_OK;
}

/* A new one, in new memory, and its lock: -1 where there are no locks, but then nobody takes it for left either.  NULL with the error set. */
static char *open_workshop(const char *folder, const char *name, int *lock, oltr_error *error)
{
    char *workshop = NULL;
    do { /* again if it was taken for left before it was locked; who took it has the lock until it is gone */
        free(workshop);
        workshop = file_join(folder, workshop_name);
        if (workshop == NULL || mkdtemp(workshop) == NULL) {
            (void)(workshop == NULL ? fail(error, OLTR_ENOMEM, "%s: out of memory", name)
                                    : fail(error, OLTR_EIO, "%s: cannot draw there: %s", folder, strerror(errno)));
            free(workshop);
            return NULL;
        }
        *lock = lock_workshop(workshop, 0);
    } while (*lock < 0 && access(workshop, F_OK) != 0);
    return workshop;
}

oltr_status gnuplot_draw(const char *folder, const char *name, const struct text *script, const struct text *data,
                         oltr_error *error)
{
    int lock = -1;
    oltr_error own = {OLTR_OK, ""};
    error = error != NULL ? error : &own;
    remove_left_workshops(folder);
    char *workshop = open_workshop(folder, name, &lock, error);
    if (workshop == NULL) {
        return error->code;
    }
    oltr_status status = draw_in(workshop, folder, name, script, data, error);
    remove_workshop(workshop);
    if (lock >= 0) {
        (void)close(lock);
    }
    free(workshop);
    return status;
}
