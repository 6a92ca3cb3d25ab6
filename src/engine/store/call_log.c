/* call_log.c - see call_log.h. */
#define _DEFAULT_SOURCE 1 /* flock */
#include "engine/store/call_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/store/record.h"
#include "engine/store/replay.h"

static oltr_status cannot_open(const char *path, const char *why, oltr_error *error)
{
    return set_error(error, OLTR_EIO, "cannot open %s: %s", path, why);
}

/* Whether the path still leads to this open file: it may have been removed before it was locked. */
static bool is_still(int fd, const char *path)
{
    struct stat file, name;
    return fstat(fd, &file) == 0 && stat(path, &name) == 0 && file.st_dev == name.st_dev &&
           file.st_ino == name.st_ino;
}

/* An ordinary file, made where there is none; -1 with the error. */
static int open_ordinary(const char *path, unsigned mode, bool *created, oltr_error *error)
{
    const int how = O_RDWR | O_CLOEXEC | O_NONBLOCK;
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) { /* opening a device may do things */
        cannot_open(path, S_ISDIR(status.st_mode) ? strerror(EISDIR) : "it is no ordinary file",
                    error);
        return -1;
    }
    int fd = -1;
    for (errno = ENOENT; fd < 0 && (errno == ENOENT || errno == EEXIST);) {
        fd = open(path, how);
        *created = fd < 0 && errno == ENOENT;
        if (*created)
            fd = open(path, how | O_CREAT | O_EXCL, (mode_t)mode);
        if (fd < 0 && *created && errno == ENOENT)
            break; /* there is no such folder */
    }
    if (fd < 0)
        cannot_open(path, strerror(errno), error);
    return fd;
}

static oltr_status lock(int fd, const char *path, oltr_error *error)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return OLTR_OK;
    if (errno == EWOULDBLOCK)
        return set_error(error, OLTR_EBUSY,
                         "%s is locked: another process, or this one, has the store open; close it "
                         "there, or open it read only",
                         path);
    return set_error(error, OLTR_EIO, "cannot lock %s: %s; a store needs a file system with locks",
                     path, strerror(errno));
}

oltr_status call_log_open(call_log *log, const char *path, unsigned mode, oltr_error *error)
{
    enum { TRIES = 100 };
    *log = (call_log){.fd = -1, .path = follow_links(path)};
    oltr_status status = OLTR_OK;
    if (!log->path)
        status = set_error(error, errno == ENOMEM ? OLTR_ENOMEM : OLTR_EIO, "cannot open %s: %s",
                           path, strerror(errno));
    for (int i = 0; status == OLTR_OK && i < TRIES; i++) {
        log->fd = open_ordinary(log->path, mode, &log->created, error);
        status = log->fd >= 0 ? lock(log->fd, path, error) : OLTR_EIO;
        if (status == OLTR_OK && is_still(log->fd, log->path))
            return OLTR_OK;
        if (log->fd >= 0)
            close(log->fd);
    }
    if (status == OLTR_OK)
        status = cannot_open(path, "it is removed again and again", error);
    free(log->path);
    *log = (call_log){.fd = -1};
    return status;
}

void call_log_close(call_log *log)
{
    if (!log->path)
        return;
    flock(log->fd, LOCK_UN); /* a forked process may have the file open and would keep the lock */
    close(log->fd);
    free(log->path);
    *log = (call_log){.fd = -1};
}

void call_log_leave(const call_log *log)
{
    close(log->fd);
}

void call_log_drop(call_log *log)
{
    if (log->path && log->created)
        unlink(log->path);
    call_log_close(log);
}

bool call_log_append(call_log *log, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    while (size > 0) {
        ssize_t n = pwrite(log->fd, at, size, (off_t)log->end);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n < 0 ? errno : ENOSPC;
            return false;
        }
        at += n;
        size -= (size_t)n;
        log->end += (uint64_t)n;
    }
    return true;
}

bool call_log_flush(const call_log *log)
{
    return fdatasync(log->fd) == 0 || errno == EINVAL || errno == ENOTSUP;
}

static bool truncate_log(call_log *log, uint64_t end)
{
    int cut;
    do
        cut = ftruncate(log->fd, (off_t)end);
    while (cut != 0 && errno == EINTR);
    log->end = end;
    return cut == 0;
}

bool call_log_cut(call_log *log, uint64_t end)
{
    return truncate_log(log, end) && flush_to_disk(log->fd);
}

/* The first bytes are written once, when the log is made: a crash then leaves fewer than eight
 * bytes, or zeros. */
static bool write_start(call_log *log)
{
    log->end = 0;
    return call_log_append(log, LOG_MAGIC, LOG_START) && flush_to_disk(log->fd) &&
           flush_folder_of(log->path);
}

static bool has_start(const call_log *log)
{
    char found[LOG_START];
    return pread(log->fd, found, sizeof found, 0) == LOG_START &&
           memcmp(found, LOG_MAGIC, LOG_START) == 0;
}

bool call_log_restart(call_log *log, const store_image *image)
{
    unsigned char bytes[64];
    writer w = {bytes, sizeof bytes, 0};
    put_record(&w, image->number,
               &(call){.kind = CALL_BASE, .image_size = image->size, .image_crc = image->crc});
    if (!has_start(log) && !write_start(log))
        return false;
    return truncate_log(log, LOG_START) && call_log_append(log, bytes, w.used) &&
           flush_to_disk(log->fd);
}
