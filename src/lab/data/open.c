/* open.c - reading of a dataset by its path: a text, a binary dataset file, or a text through its
 * cache PATH.oltr.
 *
 * PATH.oltr is the cache of PATH if the size of the text is the recorded one, and
 *   (a) its time of change is the recorded one too, that time was well before the cache was begun
 *       (file systems have coarse clocks: two changes within one tick have one time), and a sample
 *       of pieces of the text has the recorded digest; or
 *   (b) all of the text has the recorded digest.
 * Way (b) reads the text but does not parse it, so a copied or touched text keeps its cache.  With
 * `check_text` it is the only one.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lab/data/cache.h"
#include "lab/data/digest.h"
#include "lab/data/read.h"

/* ---- what a text is */

enum { PIECES = 32, PIECE = 4096 };

/* Reads exactly n bytes. */
static bool read_at(int fd, unsigned char *to, size_t n, uint64_t at)
{
    while (n > 0) {
        ssize_t got = pread(fd, to, n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        n -= (size_t)got;
        at += (uint64_t)got;
    }
    return true;
}

/* Evenly spread pieces, with the first and the last bytes; false if the text cannot be read. */
static bool sample_digest(int fd, uint64_t size, uint64_t *result)
{
    unsigned char piece[PIECE];
    uint64_t part[PIECES];
    size_t n = size < PIECE ? (size_t)size : PIECE;
    for (uint64_t i = 0; i < PIECES; i++) {
        uint64_t gap = size - n;
        if (!read_at(fd, piece, n, gap / (PIECES - 1) * i + gap % (PIECES - 1) * i / (PIECES - 1)))
            return false;
        part[i] = digest(piece, n);
    }
    *result = digest_of_digests(part, PIECES);
    return true;
}

/* As digest_all(), but through a small buffer: the text may be larger than the memory. */
static bool content_digest(int fd, uint64_t size, const oltr_read_options *options,
                           uint64_t *result)
{
    uint64_t n_chunks = (size + DIGEST_CHUNK - 1) / DIGEST_CHUNK;
    unsigned char *chunk = malloc(DIGEST_CHUNK);
    uint64_t *part = malloc((n_chunks ? (size_t)n_chunks : 1) * sizeof *part);
    bool ok = chunk && part;
    for (uint64_t i = 0; ok && i < n_chunks; i++) {
        uint64_t at = i * DIGEST_CHUNK;
        size_t n = size - at < DIGEST_CHUNK ? (size_t)(size - at) : DIGEST_CHUNK;
        ok = read_at(fd, chunk, n, at) && !(options->stop && options->stop(options->context));
        if (ok)
            part[i] = digest(chunk, n);
    }
    if (ok)
        *result = digest_of_digests(part, (size_t)n_chunks);
    free(part);
    free(chunk);
    return ok;
}

/* Clocks of file systems tick every few milliseconds, or every one or two seconds; the latter have
 * no fractions. */
static bool is_settled(const struct stat *stat)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double age = (double)(now.tv_sec - stat->st_mtim.tv_sec) +
                 1e-9 * (double)(now.tv_nsec - stat->st_mtim.tv_nsec);
    return age > (stat->st_mtim.tv_nsec ? 0.1 : 3.0);
}

/* ---- is it the cache of this text? */

typedef struct question {
    int fd;
    const struct stat *stat;
    const oltr_read_options *options;
} question;

/* Would these options give the same dataset?  A text without bad lines gives the same one for all
 * that allow its features. */
static bool same_options(const cache_origin *o, const oltr_read_options *options)
{
    if (o->report.skipped == 0)
        return true;
    return options->lenient && o->most_features == options->most_features;
}

static bool is_of(const cache_origin *o, void *question_)
{
    const question *q = question_;
    uint64_t found = 0;
    if (!o->known || o->size != (uint64_t)q->stat->st_size || !same_options(o, q->options))
        return false;
    if (!q->options->check_text && o->settled && o->seconds == (uint64_t)q->stat->st_mtim.tv_sec &&
        o->nanoseconds == (uint64_t)q->stat->st_mtim.tv_nsec)
        return sample_digest(q->fd, o->size, &found) && found == o->sample;
    return content_digest(q->fd, o->size, q->options, &found) && found == o->content;
}

/* A binary dataset file, checked against the options. */
static oltr_dataset *take_file(int fd, const char *path, const oltr_read_options *options,
                               question *q, oltr_read_report *report, oltr_error *error)
{
    cache_origin origin;
    oltr_dataset *d =
        cache_map(fd, path, thread_count(options->threads), q ? is_of : NULL, q, &origin, error);
    if (d && d->dim > options->most_features) {
        char name[128];
        short_name(path, name, sizeof name);
        set_error(error, OLTR_EDATA, "%s has %u features, more than the %u allowed (most_features)",
                  name, d->dim, options->most_features);
        oltr_dataset_free(d);
        return NULL;
    }
    if (d && report) {
        *report = origin.report;
        report->from_cache = 1;
    }
    return d;
}

/* ---- making the cache */

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Writes the cache of a text, unless the text has changed meanwhile.  Failure is no error: the
 * folder may be read-only. */
static void write_cache(const oltr_dataset *d, const char *path, const char *cache,
                        const struct stat *before, const oltr_read_options *options,
                        const oltr_read_report *report)
{
    struct stat after;
    cache_origin o = {.known = 1,
                      .settled = (uint32_t)is_settled(before),
                      .size = (uint64_t)before->st_size,
                      .seconds = (uint64_t)before->st_mtim.tv_sec,
                      .nanoseconds = (uint64_t)before->st_mtim.tv_nsec,
                      .lenient = options->lenient != 0,
                      .most_features = options->most_features,
                      .report = *report};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && sample_digest(fd, o.size, &o.sample) &&
        content_digest(fd, o.size, options, &o.content) && fstat(fd, &after) == 0 &&
        same_file(before, &after))
        cache_write(d, &o, cache, before->st_mode & 0666, false, NULL);
    if (fd >= 0)
        close(fd);
}

/* ---- the interface */

/* An open input, with what it is; -1 with the error set. */
static int open_known(const char *path, struct stat *stat, file_kind *kind, oltr_error *error)
{
    const char *foreign = NULL;
    int fd = open_input(path, stat, error);
    if (fd < 0)
        return -1;
    *kind = S_ISREG(stat->st_mode) ? kind_of(fd, &foreign) : FILE_TEXT;
    if (*kind != FILE_FOREIGN)
        return fd;
    char name[128];
    short_name(path, name, sizeof name);
    close(fd);
    set_error(error, OLTR_EDATA, "%s is packed with %s; unpack it, or pack it with gzip", name,
              foreign);
    return -1;
}

/* Reads what was opened, and closes it. */
static oltr_dataset *read_open(const char *path, int fd, const struct stat *stat, file_kind kind,
                               const oltr_read_options *options, oltr_read_report *report,
                               oltr_error *error)
{
    if (kind != FILE_CACHE)
        return read_text(path, fd, stat, kind, options, false, report, error);
    oltr_dataset *d = take_file(fd, path, options, NULL, report, error);
    close(fd);
    return d;
}

static oltr_status check(const char *path, const oltr_read_options *options, oltr_read_options *out,
                         oltr_read_report *report, oltr_error *error)
{
    if (report)
        memset(report, 0, sizeof *report);
    if (!path)
        return set_error(error, OLTR_EINVAL, "a path is needed");
    return check_read_options(options, out, error);
}

/* Through the cache of a text; takes `fd`. */
static oltr_dataset *open_text(const char *path, const char *cache, int fd, const struct stat *stat,
                               file_kind kind, const oltr_read_options *options,
                               oltr_read_report *report, oltr_error *error)
{
    oltr_read_report mine;
    question q = {fd, stat, options};
    oltr_dataset *d = NULL;
    int cached = open(cache, O_RDONLY | O_CLOEXEC);
    if (cached >= 0) {
        d = take_file(cached, cache, options, &q, report, NULL); /* after an error: from the text */
        close(cached);
    }
    if (d) {
        close(fd);
        return d;
    }
    d = read_text(path, fd, stat, kind, options, false, &mine, error);
    if (d)
        write_cache(d, path, cache, stat, options, &mine);
    if (report)
        *report = mine;
    return d;
}

static oltr_dataset *open_path(const char *path, bool cached, const oltr_read_options *options,
                               oltr_read_report *report, oltr_error *error)
{
    struct stat stat;
    oltr_read_options o;
    file_kind kind = FILE_TEXT;
    int fd = check(path, options, &o, report, error) == OLTR_OK
                 ? open_known(path, &stat, &kind, error)
                 : -1;
    if (fd < 0)
        return NULL;
    if (!cached || kind == FILE_CACHE || !S_ISREG(stat.st_mode) || strcmp(path, "-") == 0)
        return read_open(path, fd, &stat, kind, &o, report, error);
    size_t room = strlen(path) + sizeof ".oltr";
    char *cache = malloc(room);
    if (!cache) {
        close(fd);
        set_error(error, OLTR_ENOMEM, "no memory for a path");
        return NULL;
    }
    snprintf(cache, room, "%s.oltr", path);
    oltr_dataset *d = open_text(path, cache, fd, &stat, kind, &o, report, error);
    free(cache);
    return d;
}

oltr_dataset *oltr_dataset_read(const char *path, const oltr_read_options *options,
                                oltr_read_report *report, oltr_error *error)
{
    return open_path(path, false, options, report, error);
}

oltr_dataset *oltr_dataset_open(const char *path, const oltr_read_options *options,
                                oltr_read_report *report, oltr_error *error)
{
    return open_path(path, true, options, report, error);
}
