/* decisions.c - see decisions.h.  A line is written by one call to a file that is opened for
 * appending, so several processes may share a log. */
#define _POSIX_C_SOURCE 200809L
#include "app/verbs/decisions.h"

#include "engine/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <oltr/ope.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct decisions {
    const char *path;
    int fd;
    oltr_ope_evaluator
        *chances[2]; /* drawn and greedy, of the model as it is; NULL: not made yet */
    bool warned;
    double *prefix, *slot; /* (room) */
    uint32_t room;
    char *line; /* (line_room) */
    size_t line_room;
};

/* A file that has something must have lines of JSON: a model that is given by mistake would be
 * destroyed.  A last line without an end, as of a process that was killed or a full disk, gets one,
 * so that it does not spoil the next. */
static int check_file(struct decisions *log)
{
    struct stat about;
    char first = '{', last = '\n';
    if (fstat(log->fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0)
        return EXIT_OK;
    int fd = open(log->path, O_RDONLY | O_CLOEXEC);
    bool good =
        fd >= 0 && pread(fd, &first, 1, 0) == 1 && pread(fd, &last, 1, about.st_size - 1) == 1;
    int why = errno;
    if (fd >= 0)
        close(fd);
    if (!good)
        return complain(EXIT_FAILED, "--log %s: cannot read it: %s", log->path, strerror(why));
    if (first != '{')
        return complain(
            EXIT_USAGE,
            "--log %s: it is there and is no decision log; lines are appended only to a "
            "file that begins with `{`",
            log->path);
    if (last != '\n' && write(log->fd, "\n", 1) != 1)
        return complain(EXIT_FAILED, "--log %s: cannot write: %s", log->path, strerror(errno));
    return EXIT_OK;
}

int decisions_open(const struct arguments *arguments, struct decisions **out)
{
    const char *path = arguments_value(arguments, "log");
    *out = NULL;
    if (!path)
        return EXIT_OK;
    struct decisions *log = calloc(1, sizeof *log);
    if (!log)
        return complain_no_memory();
    log->path = path;
    log->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (log->fd < 0) {
        free(log);
        return complain(EXIT_FAILED, "--log %s: cannot open it: %s", path, strerror(errno));
    }
    int code = check_file(log);
    if (code == EXIT_OK)
        *out = log;
    else
        (void)decisions_close(log, code);
    return code;
}

static void drop_chances(struct decisions *log)
{
    for (int greedy = 0; greedy < 2; greedy++) {
        oltr_ope_evaluator_free(log->chances[greedy]);
        log->chances[greedy] = NULL;
    }
}

int decisions_close(struct decisions *log, int code)
{
    if (!log)
        return code;
    if (close(log->fd) != 0 && code == EXIT_OK)
        code = complain(EXIT_FAILED, "--log %s: %s", log->path, strerror(errno));
    drop_chances(log);
    free(log->prefix);
    free(log->slot);
    free(log->line);
    free(log);
    return code;
}

static oltr_status no_memory(oltr_error *error)
{
    return set_error(error, OLTR_ENOMEM, "out of memory");
}

/* ---- chances */

static bool reserve(struct decisions *log, uint32_t k)
{
    if (k <= log->room)
        return true;
    double *prefix = realloc(log->prefix, k * sizeof *prefix);
    log->prefix = prefix ? prefix : log->prefix;
    double *slot = realloc(log->slot, k * sizeof *slot);
    log->slot = slot ? slot : log->slot;
    log->room = prefix && slot ? k : log->room;
    return prefix && slot;
}

static void warn_once(struct decisions *log, const char *why)
{
    if (!log->warned)
        complain(0,
                 "%s: without prefix_propensities and slot_propensities, so importance weights "
                 "cannot be computed from it: %s",
                 log->path, why);
    log->warned = true;
}

/* Exact chances, or none. */
static oltr_status find_chances(struct decisions *log, oltr_decision *d, bool fresh_bounds,
                                oltr_error *error)
{
    oltr_error why = {OLTR_OK, ""};
    oltr_ope_policy policy = {.size = sizeof policy, .greedy = d->greedy};
    if (fresh_bounds) {
        warn_once(log, "the chance of an order is not known for lists with bounds on fresh items");
        return OLTR_OK;
    }
    oltr_ope_evaluator **chances = &log->chances[d->greedy];
    if (!*chances)
        *chances = oltr_ope_evaluator_new(d->model, &policy, &why);
    if (!*chances && why.code == OLTR_EUNSUPPORTED) {
        warn_once(log, why.msg);
        return OLTR_OK;
    }
    if (!*chances || !reserve(log, d->k))
        return no_memory(error);
    oltr_ope_shown shown = {.candidates = *d->list, .place = d->place, .k = d->k};
    oltr_ope_chances out = {.prefix = log->prefix, .slot = log->slot};
    oltr_status status = oltr_ope_evaluate(*chances, &shown, &out, error);
    d->prefix = log->prefix;
    d->slot = log->slot;
    return status;
}

/* ---- lines */

static oltr_status write_line(const struct decisions *log, size_t size, oltr_error *error)
{
    for (size_t done = 0; done < size;) {
        ssize_t wrote = write(log->fd, log->line + done, size - done);
        if (wrote < 0 && errno != EINTR)
            return set_error(error, OLTR_EIO, "--log %s: cannot write: %s", log->path,
                             strerror(errno));
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return OLTR_OK;
}

static bool line_room(struct decisions *log, size_t size)
{
    if (size < log->line_room)
        return true;
    char *line = realloc(log->line, size + 1);
    log->line = line ? line : log->line;
    log->line_room = line ? size + 1 : log->line_room;
    return line;
}

oltr_status decisions_add(struct decisions *log, oltr_decision *decision, bool fresh_bounds,
                          oltr_error *error)
{
    oltr_status status = find_chances(log, decision, fresh_bounds, error);
    if (status != OLTR_OK)
        return status;
    size_t size = oltr_decision_write(decision, log->line, log->line_room);
    if (!line_room(log, size))
        return no_memory(error);
    return write_line(log, oltr_decision_write(decision, log->line, log->line_room), error);
}

oltr_status decisions_add_outcome(struct decisions *log, const oltr_lesson *lesson,
                                  oltr_error *error)
{
    uint32_t n = lesson->shown.n;
    drop_chances(log);
    if (lesson->id.size == 0)
        return OLTR_OK; /* of no list in the log */
    size_t size =
        oltr_decision_write_rewards(lesson->id, lesson->reward, n, log->line, log->line_room);
    if (!line_room(log, size))
        return no_memory(error);
    size = oltr_decision_write_rewards(lesson->id, lesson->reward, n, log->line, log->line_room);
    return write_line(log, size, error);
}
