/* read.c - judged documents from LETOR / SVMlight text, by any number of threads, always with the
 * same bytes and the same first error.
 *
 * Workers take blocks of whole lines and parse them, each into a batch that fits in its cache.
 * Batches are added to the matrix in the order of the text: a worker blocks until all blocks before
 * its own are in.  So rows, line numbers and the first bad line do not depend on the threads. Pages
 * of the text are released as soon as they are parsed, and batches are small, so memory holds the
 * matrix and little else.
 */
#define _POSIX_C_SOURCE 200809L
#include "engine/base/struct_check.h"
#include "lab/data/read.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/data/dense.h"
#include "lab/data/cache.h"
#include "lab/data/line.h"
#include "lab/data/rows.h"
#include "lab/data/source.h"

enum { MOST_THREADS = 256 };

typedef struct reading {
    uint32_t most_features;
    bool lenient, plain;
    int (*stop)(void *context); /* NULL, or non-zero: stop */
    void *context;
    line_tables *tables;
    void *c; /* the C locale */

    pthread_mutex_t taking; /* of the next three: held to take a block of the text */
    text_source source;
    uint64_t tickets; /* blocks taken */
    bool ended;

    pthread_mutex_t lock; /* of all below; rows_copy() needs `memory` only */
    pthread_cond_t turned;
    uint64_t turn; /* the block that may go into the matrix */
    bool stopped;  /* `error` has the reason */
    oltr_error error;
    uint64_t bytes; /* text that is in the matrix */
    uint32_t dim;
    rows rows;
    oltr_read_report report;
    pthread_rwlock_t
        memory; /* held for reading while a batch is copied, for writing when the matrix moves */
} reading;

typedef struct worker {
    reading *r;
    line_parser parser;
    block block;
    batch batch;
    uint64_t ticket;
    uint32_t dim;
    oltr_read_report found; /* in this block; lines count from its beginning */
} worker;

/* ---- into the matrix, in turn */

/* Returns with the lock held, when all blocks before are in; false when the reading has stopped. */
static bool wait_for_turn(worker *w)
{
    reading *r = w->r;
    pthread_mutex_lock(&r->lock);
    while (!r->stopped && r->turn != w->ticket)
        pthread_cond_wait(&r->turned, &r->lock);
    return !r->stopped;
}

static void stop(reading *r, const oltr_error *error)
{
    r->stopped = true;
    r->error = *error;
    pthread_cond_broadcast(&r->turned);
}

static void stop_without_memory(reading *r)
{
    oltr_error error;
    set_error(&error, OLTR_ENOMEM, "no memory for the rows of %s: %llu so far, of %u features",
              r->source.name, (unsigned long long)r->rows.n, r->dim);
    stop(r, &error);
}

/* How many rows the whole text will have, by what is read of it. */
static uint64_t expected_rows(const reading *r, const worker *w)
{
    uint64_t n = r->rows.n + w->batch.n;
    double bytes = (double)r->bytes + (double)(w->block.end - w->block.text);
    return r->source.map ? (uint64_t)(1.03 * (double)n * ((double)r->source.size / bytes)) : 2 * n;
}

/* With the lock held and in turn: a place for the batch.  Returns with `memory` held for reading,
 * or false when stopped. */
static bool claim(worker *w, uint64_t *first)
{
    reading *r = w->r;
    if (r->rows.n + w->batch.n > UINT32_MAX) {
        oltr_error error;
        set_error(&error, OLTR_EDATA, "%s has more rows than the %u a dataset can hold",
                  r->source.name, UINT32_MAX);
        stop(r, &error);
        return false;
    }
    bool ok = true;
    if (!rows_have_room(&r->rows, &w->batch)) {
        pthread_rwlock_wrlock(&r->memory);
        ok = rows_grow(&r->rows, &w->batch, expected_rows(r, w));
        pthread_rwlock_unlock(&r->memory);
    }
    if (!ok || !rows_claim(&r->rows, &w->batch, first)) {
        stop_without_memory(r);
        return false;
    }
    pthread_rwlock_rdlock(&r->memory);
    return true;
}

/* Adds the counts of a block to those of the text before it. */
static void add_report(oltr_read_report *all, const oltr_read_report *more)
{
    if (all->skipped == 0 && more->skipped > 0) {
        all->first_skipped_line = all->lines + more->first_skipped_line;
        memcpy(all->first_reason, more->first_reason, sizeof all->first_reason);
    }
    all->lines += more->lines;
    all->skipped += more->skipped;
    all->clamped += more->clamped;
    all->duplicates += more->duplicates;
}

/* Puts the batch into the matrix; with `last` the block is done and the next one has its turn.
 * False when stopped. */
static bool put_batch(worker *w, bool last)
{
    reading *r = w->r;
    uint64_t first = 0;
    bool ok = wait_for_turn(w) && claim(w, &first);
    if (ok && last) {
        add_report(&r->report, &w->found);
        r->dim = w->dim > r->dim ? w->dim : r->dim;
        r->bytes += (uint64_t)(w->block.end - w->block.text);
        r->turn++;
        pthread_cond_broadcast(&r->turned);
    }
    pthread_mutex_unlock(&r->lock);
    if (!ok)
        return false;
    rows_copy(&r->rows, &w->batch, first);
    pthread_rwlock_unlock(&r->memory);
    w->batch.n = w->batch.n_runs = 0;
    return true;
}

/* Stops with the error of this block, unless an earlier block has one.  Returns false. */
static bool stop_with(worker *w, const oltr_error *error)
{
    if (wait_for_turn(w))
        stop(w->r, error);
    pthread_mutex_unlock(&w->r->lock);
    return false;
}

static bool stop_for_memory(worker *w)
{
    if (wait_for_turn(w))
        stop_without_memory(w->r);
    pthread_mutex_unlock(&w->r->lock);
    return false;
}

/* ---- lines */

/* Stops at the line that was begun last, unless a block before has stopped. */
static bool stop_at_line(worker *w, unsigned long long column, const char *words)
{
    reading *r = w->r;
    if (wait_for_turn(w)) {
        oltr_error error;
        set_error(&error, OLTR_EDATA, "%s, line %llu, column %llu: %s", r->source.name,
                  (unsigned long long)(r->report.lines + w->found.lines), column, words);
        stop(r, &error);
    }
    pthread_mutex_unlock(&r->lock);
    return false;
}

/* A bad line: an error with its place, or counted. */
static bool handle_bad_line(worker *w, const char *begin, const line *bad)
{
    char words[96];
    unsigned long long column = (unsigned long long)(bad->fault - begin) + 1;
    describe_fault(bad, w->block.end, w->r->most_features, words, sizeof words);
    if (!w->r->lenient)
        return stop_at_line(w, column, words);
    if (w->found.skipped++ == 0) {
        w->found.first_skipped_line = w->found.lines;
        snprintf(w->found.first_reason, sizeof w->found.first_reason, "column %llu: %s", column,
                 words);
    }
    return true;
}

static bool is_endless(const char *at, const char *end)
{
    return end - at > LONGEST_TEXT_LINE && !memchr(at, '\n', LONGEST_TEXT_LINE);
}

/* Room for a row of `width` features; rows that are in the batch go first. */
static bool widen(worker *w, uint32_t width)
{
    if (w->batch.n > 0 && !put_batch(w, false))
        return false;
    return (parser_widen(&w->parser, width) && batch_shape(&w->batch, width)) || stop_for_memory(w);
}

static void keep_row(worker *w, const line *l)
{
    batch_keep(&w->batch, l->query, l->grade);
    w->dim = l->widest > w->dim ? l->widest : w->dim;
    w->found.clamped += l->clamped;
    w->found.duplicates += l->duplicates;
}

/* Parses the line at *at and moves *at behind it; false when stopped. */
static bool take_line(worker *w, const char **at)
{
    const char *end = w->block.end;
    line l;
    if (w->batch.n == w->batch.room && !put_batch(w, false))
        return false;
    w->found.lines++;
    if (is_endless(*at, end))
        return stop_at_line(w, 1, "expected a line of at most 16 MiB; is this file a text?");
    line_kind kind = parse_line(&w->parser, *at, end, w->block.readable, batch_row(&w->batch), &l);
    if (kind == LINE_TOO_WIDE) {
        if (!widen(w, l.widest))
            return false;
        kind = parse_line(&w->parser, *at, end, w->block.readable, batch_row(&w->batch), &l);
    }
    if (kind == LINE_NO_MEMORY)
        return stop_for_memory(w);
    if (kind == LINE_BAD && !handle_bad_line(w, *at, &l))
        return false;
    if (kind == LINE_ROW)
        keep_row(w, &l);
    const char *newline = l.next == end ? NULL : memchr(l.next, '\n', (size_t)(end - l.next));
    *at = newline ? newline + 1 : end;
    return true;
}

static bool parse_block(worker *w)
{
    const char *at = w->block.text;
    memset(&w->found, 0, sizeof w->found);
    if (w->ticket == 0 && w->block.end - at >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3; /* a byte order mark */
    while (at < w->block.end)
        if (!take_line(w, &at))
            return false;
    source_done(&w->r->source, &w->block);
    return put_batch(w, true);
}

/* ---- workers */

/* The next block; false at the end or when stopped. */
static bool take_block(worker *w)
{
    reading *r = w->r;
    oltr_error error = {OLTR_OK, ""};
    pthread_mutex_lock(&r->taking);
    int got = r->ended ? 0 : source_next(&r->source, &w->block, &error);
    r->ended = got <= 0;
    w->ticket = r->tickets;
    r->tickets += got != 0;
    pthread_mutex_unlock(&r->taking);
    if (got < 0)
        return stop_with(w, &error);
    if (got > 0 && r->stop && r->stop(r->context)) {
        set_error(&error, OLTR_EINTERRUPTED, "stopped while reading %s", r->source.name);
        return stop_with(w, &error);
    }
    if (got > 0 && w->ticket == 0 && w->block.end - w->block.text >= 8 &&
        memcmp(w->block.text, CACHE_MAGIC, 8) == 0) { /* a stream; files are checked when opened */
        set_error(&error, OLTR_EIO,
                  "%s is a dataset cache, which is mapped and not read; give its path",
                  r->source.name);
        return stop_with(w, &error);
    }
    return got;
}

static void *work(void *reading_)
{
    reading *r = reading_;
    worker w = {.r = r,
                .parser = {.most_features = r->most_features,
                           .plain = r->plain || !dense_is_fast(),
                           .tables = r->tables,
                           .c = r->c}};
    bool going = take_block(&w);
    if (going) {
        pthread_mutex_lock(&r->lock);
        uint32_t width = r->rows.stride;
        pthread_mutex_unlock(&r->lock);
        going = widen(&w, width ? width : 1);
    }
    while (going && parse_block(&w))
        going = take_block(&w);
    free(w.parser.seen);
    free(w.block.buffer);
    batch_free(&w.batch);
    return NULL;
}

uint32_t thread_count(uint32_t asked)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t n = asked ? asked : cores > 0 ? (uint32_t)cores : 1;
    return n < MOST_THREADS ? n : MOST_THREADS;
}

/* No more threads than there is work for. */
static uint32_t useful_threads(const reading *r, uint32_t asked)
{
    uint32_t n = thread_count(asked);
    uint64_t blocks = r->source.map ? r->source.size / BLOCK_BYTES + 1 : n;
    return blocks < n ? (uint32_t)blocks : n;
}

/* The calling thread works too; fewer threads do if not all can be started. */
static void work_together(reading *r, uint32_t threads)
{
    pthread_t thread[MOST_THREADS];
    uint32_t n = 0;
    while (n + 1 < threads && pthread_create(&thread[n], NULL, work, r) == 0)
        n++;
    work(r);
    while (n > 0)
        pthread_join(thread[--n], NULL);
}

static oltr_dataset *result(reading *r, oltr_error *error)
{
    if (r->stopped) {
        if (error)
            *error = r->error;
        return NULL;
    }
    if (r->rows.n == 0 || r->dim == 0) {
        const oltr_read_report *all = &r->report;
        if (all->skipped)
            set_error(error, OLTR_EDATA,
                      "%s has no good row; %llu were skipped, the first in line %llu, %.*s",
                      r->source.name, (unsigned long long)all->skipped,
                      (unsigned long long)all->first_skipped_line, 60, all->first_reason);
        else
            set_error(error, OLTR_EDATA, "%s has no row%s", r->source.name,
                      r->rows.n ? " with a feature" : "");
        return NULL;
    }
    return rows_finish(&r->rows, r->dim, error);
}

static oltr_dataset *read_source(reading *r, uint32_t threads, oltr_read_report *report,
                                 oltr_error *error)
{
    oltr_dataset *d = NULL;
    pthread_mutex_init(&r->taking, NULL);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->turned, NULL);
    pthread_rwlock_init(&r->memory, NULL);
    r->tables = malloc(sizeof *r->tables);
    r->c = make_c_locale();
    if (r->tables && r->c) {
        make_tables(r->tables, r->most_features);
        work_together(r, useful_threads(r, threads));
        d = result(r, error);
    } else {
        set_error(error, OLTR_ENOMEM, "no memory to read %s", r->source.name);
    }
    if (report)
        *report = r->report;
    free(r->tables);
    free_c_locale(r->c);
    rows_free(&r->rows);
    pthread_rwlock_destroy(&r->memory);
    pthread_cond_destroy(&r->turned);
    pthread_mutex_destroy(&r->lock);
    pthread_mutex_destroy(&r->taking);
    return d;
}

/* ---- the interface */

enum { DEFAULT_FEATURES = 4096, MOST_FEATURES = 1 << 20 };

oltr_status check_read_options(const oltr_read_options *options, oltr_read_options *out,
                               oltr_error *error)
{
    *out = options ? *options : (oltr_read_options){0};
    if (size_check("read options", out->size, sizeof *out, error) != OLTR_OK ||
        reserved_check("read options", 0, out->reserved, sizeof out->reserved, error) != OLTR_OK)
        return OLTR_EINVAL;
    out->most_features = out->most_features ? out->most_features : DEFAULT_FEATURES;
    if (out->most_features > MOST_FEATURES)
        return set_error(error, OLTR_EINVAL, "most_features can be at most %d", MOST_FEATURES);
    return OLTR_OK;
}

oltr_dataset *read_text(const char *path, int fd, const struct stat *stat, file_kind kind,
                        const oltr_read_options *options, bool plain, oltr_read_report *report,
                        oltr_error *error)
{
    reading r = {.most_features = options->most_features,
                 .lenient = options->lenient != 0,
                 .plain = plain,
                 .stop = options->stop,
                 .context = options->context};
    if (source_open(&r.source, path, fd, stat, kind, error) != OLTR_OK)
        return NULL;
    oltr_dataset *d = read_source(&r, options->threads, report, error);
    source_close(&r.source);
    return d;
}
