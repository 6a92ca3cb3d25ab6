/* source.c - see source.h. */
#define _GNU_SOURCE 1
#include "lab/data/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab/data/cache.h"

/* ---- files */

void short_name(const char *path, char *name, size_t size)
{
    size_t n = strlen(path);
    if (strcmp(path, "-") == 0)
        snprintf(name, size, "standard input");
    else if (n < size)
        snprintf(name, size, "%s", path);
    else
        snprintf(name, size, "...%s", path + (n + 4 - size));
}

int open_input(const char *path, struct stat *stat, oltr_error *error)
{
    char name[128];
    int fd =
        strcmp(path, "-") == 0 ? fcntl(0, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    short_name(path, name, sizeof name);
    if (fd < 0 || fstat(fd, stat) != 0)
        set_error(error, OLTR_EIO, "cannot read %s: %s", name, strerror(errno));
    else if (S_ISDIR(stat->st_mode))
        set_error(error, OLTR_EIO, "%s is a folder; give a file in it", name);
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

file_kind kind_of(int fd, const char **foreign)
{
    static const struct {
        const char *magic;
        size_t n;
        const char *name;
    } others[] = {{"BZh", 3, "bzip2"},
                  {"\xFD"
                   "7zXZ",
                   5, "xz"},
                  {"\x28\xB5\x2F\xFD", 4, "zstd"},
                  {"PK\3\4", 4, "zip"}};
    char first[8] = {0};
    ssize_t n = pread(fd, first, sizeof first, 0);
    if (n < 2)
        return FILE_TEXT;
    if (memcmp(first, "\x1F\x8B", 2) == 0)
        return FILE_GZIP;
    if (memcmp(first, CACHE_MAGIC, sizeof first) == 0)
        return FILE_CACHE;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (memcmp(first, others[i].magic, others[i].n) == 0) {
            *foreign = others[i].name;
            return FILE_FOREIGN;
        }
    return FILE_TEXT;
}

/* ---- opening */

static oltr_status map_file(text_source *s, int fd, const struct stat *stat, oltr_error *error)
{
    s->size = (uint64_t)stat->st_size;
    if (s->size > SIZE_MAX / 2) {
        close(fd);
        return set_error(error, OLTR_ENOMEM, "%s is too large for this machine", s->name);
    }
    void *map = mmap(NULL, (size_t)s->size, PROT_READ, MAP_PRIVATE, fd, 0);
    int why = errno;
    close(fd);
    if (map == MAP_FAILED)
        return set_error(error, OLTR_EIO, "cannot map %s: %s", s->name, strerror(why));
    madvise(map, (size_t)s->size, MADV_SEQUENTIAL);
    s->map = map;
    return OLTR_OK;
}

oltr_status source_open(text_source *s, const char *path, int fd, const struct stat *stat,
                        file_kind kind, oltr_error *error)
{
    memset(s, 0, sizeof *s);
    short_name(path, s->name, sizeof s->name);
    if (kind == FILE_TEXT && S_ISREG(stat->st_mode) && stat->st_size > 0 &&
        lseek(fd, 0, SEEK_CUR) == 0)
        return map_file(s, fd, stat, error);
    s->stream = unpack_open(fd);
    return s->stream ? OLTR_OK : set_error(error, OLTR_ENOMEM, "no memory to read %s", s->name);
}

void source_close(text_source *s)
{
    if (s->map)
        munmap((void *)(uintptr_t)s->map, (size_t)s->size);
    unpack_close(s->stream);
    free(s->rest);
    memset(s, 0, sizeof *s);
}

/* ---- blocks */

static int next_of_map(text_source *s, block *b)
{
    if (s->at == s->size)
        return 0;
    const char *end = s->map + s->size;
    b->text = s->map + s->at;
    b->end = b->readable = end;
    if ((uint64_t)(end - b->text) > BLOCK_BYTES) {
        const char *from = b->text + BLOCK_BYTES - 1,
                   *newline = memchr(from, '\n', (size_t)(end - from));
        b->end = newline ? newline + 1 : end;
    }
    s->at += (uint64_t)(b->end - b->text);
    return 1;
}

static bool make_room(char **buffer, size_t *room, size_t wanted)
{
    if (*room >= wanted)
        return true;
    char *larger = realloc(*buffer, wanted);
    if (!larger)
        return false;
    *buffer = larger;
    *room = wanted;
    return true;
}

/* Reads until the buffer has `wanted` bytes or the stream ends; *n is how many it has.  False with
 * the error set. */
static bool fill(text_source *s, char *buffer, size_t *n, size_t wanted, oltr_error *error)
{
    while (*n < wanted && !s->ended) {
        const char *why;
        ptrdiff_t got = unpack_read(s->stream, buffer + *n, wanted - *n, &why);
        if (got < 0) {
            set_error(error, unpack_lacks_memory(s->stream) ? OLTR_ENOMEM : OLTR_EIO,
                      "cannot read %s: %s", s->name, why);
            return false;
        }
        s->ended = got == 0;
        *n += (size_t)got;
    }
    return true;
}

/* Keeps the bytes behind the last newline for the next block. */
static bool keep_rest(text_source *s, block *b, size_t n, oltr_error *error)
{
    const char *newline = s->ended ? NULL : memrchr(b->buffer, '\n', n);
    size_t whole = newline ? (size_t)(newline + 1 - b->buffer) : n;
    s->rest_size = n - whole;
    if (!make_room(&s->rest, &s->rest_room, s->rest_size)) {
        set_error(error, OLTR_ENOMEM, "no memory to read %s", s->name);
        return false;
    }
    if (s->rest_size)
        memcpy(s->rest, b->buffer + whole, s->rest_size);
    memset(b->buffer + n, 0, BLOCK_PAD);
    b->text = b->buffer;
    b->end = b->buffer + whole;
    b->readable = b->buffer + n + BLOCK_PAD;
    s->at += whole;
    return true;
}

static int next_of_stream(text_source *s, block *b, oltr_error *error)
{
    size_t n = s->rest_size, wanted = n > BLOCK_BYTES ? 2 * n : BLOCK_BYTES;
    for (;; wanted *= 2) {
        if (!make_room(&b->buffer, &b->room, wanted + BLOCK_PAD)) {
            set_error(error, OLTR_ENOMEM, "no memory to read %s", s->name);
            return -1;
        }
        if (s->rest_size)
            memcpy(b->buffer, s->rest, s->rest_size);
        s->rest_size = 0;
        if (!fill(s, b->buffer, &n, wanted, error))
            return -1;
        if (s->ended || n > LONGEST_TEXT_LINE || memrchr(b->buffer, '\n', n))
            break;
    }
    return n == 0 ? 0 : keep_rest(s, b, n, error) ? 1 : -1;
}

int source_next(text_source *s, block *b, oltr_error *error)
{
    return s->map ? next_of_map(s, b) : next_of_stream(s, b, error);
}

void source_done(const text_source *s, const block *b)
{
    if (!s->map)
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    uintptr_t from = (uintptr_t)b->text & ~page, to = (uintptr_t)b->end & ~page;
    if (to > from)
        madvise((void *)from, to - from,
                MADV_DONTNEED); /* a page that is needed again is read from the file again */
}
