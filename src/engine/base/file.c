/* file.c - see file.h.  New files go to disk before they are renamed, so that after a crash a name
 * never leads to a file that is not there yet. */
#define _DEFAULT_SOURCE 1 /* flock */
#include "engine/base/file.h"

#include "engine/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

char *file_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        (void)snprintf(path, size, "%s/%s", folder, name);
    return path;
}

bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool flush_to_disk(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
}

/* The folder of a path in new memory, and its last part; NULL with errno set. */
static char *folder_of(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash && slash > path ? (size_t)(slash - path) : 1;
    char *folder = malloc(length + 1);
    *name = slash ? slash + 1 : path;
    errno = ENOMEM;
    if (folder) {
        memcpy(folder, slash ? path : ".", length);
        folder[length] = 0;
    }
    return folder;
}

/* Takes no memory: a new file in its place can only be kept. */
bool flush_folder_of(const char *path)
{
    char folder[PATH_MAX] = "."; /* the system opens no longer ones */
    const char *slash = strrchr(path, '/');
    size_t length = slash && slash > path ? (size_t)(slash - path) : 1;
    if (length >= sizeof folder) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (slash)
        memcpy(folder, path, length);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 ? flush_to_disk(fd)
                        : errno == EACCES; /* a folder may allow new files and no reading */
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return good;
}

/* Where the link at `path` leads, in new memory; NULL with errno set.  A relative link counts from
 * the link's folder. */
static char *link_target(const char *path, size_t length)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0,
           room = length < 4096 ? 4097 : length + 1;
    char *target = malloc(folder + room);
    if (!target) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(target, path, folder);
    ssize_t n = readlink(path, target + folder, room);
    if (n < 0 || (size_t)n >= room) {
        int why = n < 0 ? errno : ENAMETOOLONG;
        free(target);
        errno = why;
        return NULL;
    }
    target[folder + (size_t)n] = 0;
    if (target[folder] == '/')
        memmove(target, target + folder, (size_t)n + 1);
    return target;
}

char *follow_links(const char *path)
{
    enum { MOST_LINKS = 40 }; /* as many as the kernel follows */
    struct stat status;
    char *at = malloc(strlen(path) + 1);
    if (!at) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(at, path, strlen(path) + 1);
    if (is_special(path)) /* a pipe behind /dev/stdout has no other name */
        return at;
    for (int i = 0; lstat(at, &status) == 0 && S_ISLNK(status.st_mode); i++) {
        char *next = i < MOST_LINKS ? link_target(at, (size_t)status.st_size) : NULL;
        int why = i < MOST_LINKS ? errno : ELOOP;
        free(at);
        errno = why;
        if (!next)
            return NULL;
        at = next;
    }
    return at;
}

/* ---- temporary files */

/* Whether this is NAME.123-4.tmp, or NAME.123.tmp. */
static bool is_temp_file(const char *entry, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(entry, name, n) != 0 || entry[n] != '.')
        return false;
    const char *at = entry + n + 1;
    size_t digits = strspn(at, "0123456789");
    at += digits;
    if (*at == '-' && strspn(at + 1, "0123456789") > 0)
        at += 1 + strspn(at + 1, "0123456789");
    return digits > 0 && strcmp(at, ".tmp") == 0;
}

/* Whether the entry is still that of this open file.  Its writer may have renamed it and begun
 * another under the same name. */
static bool is_still(int fd, int folder, const char *entry)
{
    struct stat file, name;
    return fstat(fd, &file) == 0 && fstatat(folder, entry, &name, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(file.st_mode) && file.st_dev == name.st_dev && file.st_ino == name.st_ino;
}

/* Opened to be locked: for writing, which network file systems require; where its mode forbids
 * that, for reading. */
static int open_to_lock(int folder, const char *entry)
{
    const int how = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int fd = openat(folder, entry, O_RDWR | how);
    return fd < 0 && errno == EACCES ? openat(folder, entry, O_RDONLY | how) : fd;
}

/* Removes a file that is not locked.  Once we have its lock no writer renames it and no other
 * process removes it, so the answer of is_still() stays true. */
static void remove_if_left(int folder, const char *entry)
{
    int fd = open_to_lock(folder, entry);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_still(fd, folder, entry))
        unlinkat(folder, entry, 0);
    close(fd);
}

void temp_file_clean(const char *path)
{
    int why = errno;
    const char *name;
    char *path_of_folder = folder_of(path, &name);
    DIR *folder = path_of_folder ? opendir(path_of_folder) : NULL;
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_temp_file(entry->d_name, name))
            remove_if_left(dirfd(folder), entry->d_name);
    if (folder)
        closedir(folder);
    free(path_of_folder);
    errno = why;
}

/* Locks a new file, where the file system can; -1 if another process removed it before that. */
static int lock_new(int fd)
{
    struct stat status;
    int locked;
    do
        locked = flock(fd, LOCK_EX);
    while (locked != 0 && errno == EINTR);
    if (fstat(fd, &status) != 0 || status.st_nlink > 0)
        return fd;
    close(fd);
    return -1;
}

bool temp_file_open(temp_file *b, const char *path, unsigned mode)
{
    enum { TRIES = 100 };
    size_t room = strlen(path) + 64;
    *b = (temp_file){-1, malloc(room)};
    temp_file_clean(path);
    errno = b->name ? EEXIST : ENOMEM;
    for (int i = 0; b->name && b->fd < 0 && errno == EEXIST && i < TRIES; i++) {
        snprintf(b->name, room, "%s.%ld-%d.tmp", path, (long)getpid(), i);
        b->fd = open(b->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
        if (b->fd >= 0) {
            b->fd = lock_new(b->fd);
            errno = EEXIST;
        }
    }
    if (b->fd >= 0)
        return true;
    int why = errno;
    free(b->name);
    b->name = NULL;
    errno = why;
    return false;
}

FILE *temp_file_stream(const temp_file *b)
{
    int fd = fcntl(b->fd, F_DUPFD_CLOEXEC, 0); /* b->fd keeps the lock */
    FILE *stream = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (fd >= 0 && !stream) {
        int why = errno;
        close(fd);
        errno = why;
    }
    return stream;
}

/* A full disk may report its error when a file is closed: a duplicate is closed before the rename.
 * The lock stays until after. */
bool temp_file_keep(temp_file *b, const char *path)
{
    int fd = fcntl(b->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0 || close(fd) != 0 || rename(b->name, path) != 0) {
        temp_file_drop(b);
        return false;
    }
    close(b->fd);
    free(b->name);
    *b = (temp_file){-1, NULL};
    return true;
}

void temp_file_drop(temp_file *b)
{
    int why = errno;
    unlink(b->name);
    close(b->fd);
    free(b->name);
    *b = (temp_file){-1, NULL};
    errno = why;
}

/* ---- new files */

static oltr_status cannot_write(const char *path, oltr_error *error)
{
    return set_error(error, errno == ENOMEM ? OLTR_ENOMEM : OLTR_EIO, "cannot write %s: %s", path,
                     strerror(errno));
}

/* Two processes that write one file write it one after the other, each whole. */
static FILE *open_stream(new_file *file)
{
    struct stat old;
    if (is_special(file->path))
        return fopen(file->path, "wb");
    unsigned mode = stat(file->path, &old) == 0 ? old.st_mode & 0666
                                                : 0666; /* no more open than the file it replaces */
    if (!temp_file_open(&file->temp, file->path, mode))
        return NULL;
    FILE *stream = temp_file_stream(&file->temp);
    if (!stream)
        temp_file_drop(&file->temp);
    return stream;
}

oltr_status new_file_open(new_file *file, const char *path, oltr_error *error)
{
    *file = (new_file){.path = follow_links(path)};
    if (!file->path)
        return cannot_write(path, error);
    file->stream = open_stream(file);
    if (file->stream)
        return OLTR_OK;
    oltr_status status = cannot_write(path, error);
    free(file->path);
    return status;
}

oltr_status new_file_add(new_file *file, const void *bytes, size_t size, oltr_error *error)
{
    return fwrite(bytes, 1, size, file->stream) == size ? OLTR_OK : cannot_write(file->path, error);
}

/* Closes the stream; false with errno set.  What is kept goes to the disk first. */
static bool finish_stream(const new_file *file, bool keep)
{
    bool flushed = !keep || !file->temp.name ||
                   (fflush(file->stream) == 0 && flush_to_disk(fileno(file->stream)));
    int why = errno;
    bool closed = fclose(file->stream) == 0;
    if (!flushed)
        errno = why;
    return flushed && closed;
}

oltr_status new_file_close(new_file *file, bool keep, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    bool good = finish_stream(file, keep);
    if (keep && (!good || (file->temp.name && !temp_file_keep(&file->temp, file->path))))
        status = cannot_write(file->path, error);
    if (file->temp.name)
        temp_file_drop(&file->temp);
    free(file->path);
    *file = (new_file){0};
    return status;
}

oltr_status bytes_write(const char *path, const unsigned char *bytes, size_t size,
                        oltr_error *error)
{
    new_file file;
    oltr_status status = new_file_open(&file, path, error);
    if (status != OLTR_OK)
        return status;
    status = new_file_add(&file, bytes, size, error);
    oltr_status closed = new_file_close(&file, status == OLTR_OK, status == OLTR_OK ? error : NULL);
    return status != OLTR_OK ? status : closed;
}

oltr_status bytes_write_durably(const char *path, const unsigned char *bytes, size_t size,
                                oltr_error *error)
{
    char *target = follow_links(path);
    if (!target)
        return cannot_write(path, error);
    oltr_status status = bytes_write(target, bytes, size, error);
    if (status == OLTR_OK && !is_special(target) && !flush_folder_of(target))
        status = cannot_write(path, error);
    free(target);
    return status;
}

static oltr_status cannot_read(const char *path, const char *why, oltr_error *error)
{
    return set_error(error, OLTR_EIO, "cannot read %s: %s", path, why);
}

/* Opens an ordinary file and finds its length. */
static oltr_status open_to_read(const char *path, size_t most, FILE **file, size_t *size,
                                oltr_error *error)
{
    struct stat status;
    int fd = open(path,
                  O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer would never open */
    *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (!*file) {
        cannot_read(path, strerror(errno), error);
        if (fd >= 0)
            close(fd);
        return OLTR_EIO;
    }
    const char *why = NULL;
    if (fstat(fileno(*file), &status) != 0)
        why = strerror(errno);
    else if (!S_ISREG(status.st_mode))
        why = S_ISDIR(status.st_mode) ? strerror(EISDIR) : "it is no ordinary file";
    else {
        *size = (uintmax_t)status.st_size < SIZE_MAX ? (size_t)status.st_size : SIZE_MAX;
        if (*size > most)
            why = "it is longer than a file of this kind can be";
    }
    if (!why)
        return OLTR_OK;
    cannot_read(path, why, error);
    fclose(*file);
    return OLTR_EIO;
}

oltr_status bytes_read_into(const char *path, size_t most, const oltr_memory *memory,
                            unsigned char **bytes, size_t *size, size_t *taken, oltr_error *error)
{
    FILE *file;
    oltr_status status = open_to_read(path, most, &file, size, error);
    if (status != OLTR_OK)
        return status;
    *taken = *size + 1;
    *bytes = memory_take(memory, *taken);
    if (!*bytes)
        status = set_error(error, OLTR_ENOMEM, "no memory to read %s", path);
    else {
        errno = 0;
        *size = fread(*bytes, 1, *size, file);
        if (ferror(file))
            status = cannot_read(path, strerror(errno), error);
    }
    fclose(file);
    if (status != OLTR_OK)
        memory_give(memory, *bytes, *taken);
    return status;
}

static void *take_plain(void *with, size_t bytes, size_t alignment)
{
    (void)with, (void)alignment; /* bytes need none */
    return malloc(bytes);
}

static void give_plain(void *with, void *block, size_t bytes)
{
    (void)with, (void)bytes;
    free(block);
}

oltr_status bytes_read(const char *path, size_t most, unsigned char **bytes, size_t *size,
                       oltr_error *error)
{
    const oltr_memory plain = {.take = take_plain, .give = give_plain};
    size_t taken;
    return bytes_read_into(path, most, &plain, bytes, size, &taken, error);
}
