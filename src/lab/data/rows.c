/* rows.c - see rows.h. */
#define _GNU_SOURCE 1
#include "lab/data/rows.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab/data/dataset.h"

/* ---- batches */

bool batch_shape(batch *b, uint32_t width)
{
    uint32_t room = BATCH_FLOATS / (width ? width : 1);
    room = room < 1 ? 1 : room > MOST_BATCH_ROWS ? MOST_BATCH_ROWS : room;
    b->n = b->n_runs = 0;
    if (b->x && b->width == width)
        return true;
    if (!b->grade)
        b->grade = malloc(MOST_BATCH_ROWS);
    if (!b->run)
        b->run = malloc(MOST_BATCH_ROWS * sizeof *b->run);
    free(b->x);
    b->x = malloc((size_t)room * (width ? width : 1) * sizeof *b->x);
    b->room = room;
    b->width = width;
    return b->x && b->grade && b->run;
}

void batch_free(batch *b)
{
    free(b->x);
    free(b->grade);
    free(b->run);
    memset(b, 0, sizeof *b);
}

float *batch_row(batch *b)
{
    return b->x + (size_t)b->n * b->width;
}

void batch_keep(batch *b, uint64_t query, uint8_t grade)
{
    b->grade[b->n++] = grade;
    if (b->n_runs && b->run[b->n_runs - 1].query == query)
        b->run[b->n_runs - 1].rows++;
    else
        b->run[b->n_runs++] = (run){query, 1};
}

/* ---- growing */

enum { HUGE_FROM = 8 << 20 };

/* As many pages as hold `bytes`, with the old content in front; false without memory. */
static bool resize(rows *r, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bytes = (bytes + page - 1) / page * page;
    if (bytes == r->bytes)
        return true;
    void *x = r->x ? mremap(r->x, r->bytes, bytes, MREMAP_MAYMOVE)
                   : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (x == MAP_FAILED)
        return false;
    if (bytes >= HUGE_FROM)
        madvise(x, bytes, MADV_HUGEPAGE); /* fewer page faults; may fail */
    r->x = x;
    r->bytes = bytes;
    return true;
}

static bool resize_for(rows *r, uint64_t capacity, uint32_t stride)
{
    uint64_t floats, bytes;
    if (__builtin_mul_overflow(capacity, (uint64_t)stride, &floats) ||
        __builtin_mul_overflow(floats, 4u, &bytes) || bytes > SIZE_MAX / 4)
        return false;
    bytes = bytes ? bytes : 1;
    if (bytes > r->bytes && !resize(r, (size_t)bytes))
        return false;
    r->capacity = capacity;
    return true;
}

/* Widens rows from the last one on, so that none is overwritten before it has moved. */
static void spread_rows(rows *r, uint32_t stride)
{
    for (uint64_t i = r->n; i-- > 0;) {
        float *to = r->x + i * stride;
        memmove(to, r->x + i * r->stride, r->stride * sizeof *to);
        memset(to + r->stride, 0, (stride - r->stride) * sizeof *to);
    }
    r->stride = stride;
}

bool rows_have_room(const rows *r, const batch *b)
{
    return r->x && b->width <= r->stride && r->n + b->n <= r->capacity;
}

bool rows_grow(rows *r, const batch *b, uint64_t expected)
{
    uint64_t need = r->n + b->n, more = r->capacity + r->capacity / 2;
    uint64_t capacity = need <= r->capacity ? r->capacity : need;
    uint32_t stride = r->stride;
    if (b->width > stride) /* at least a quarter more, so that rows move O(log dim) times */
        stride = b->width > stride + stride / 4 ? b->width : stride + stride / 4;
    if (need > r->capacity) {
        more = more > expected ? more : expected;
        capacity = more > need ? more : need;
    }
    if (!resize_for(r, capacity, stride) && !resize_for(r, need, stride))
        return false;
    if (stride > r->stride)
        spread_rows(r, stride);
    return true;
}

static bool make_room(void **array, size_t *room, size_t wanted, size_t size)
{
    if (wanted <= *room)
        return true;
    size_t larger = wanted + wanted / 2 + 64;
    void *moved = realloc(*array, larger * size);
    if (!moved)
        return false;
    *array = moved;
    *room = larger;
    return true;
}

bool rows_claim(rows *r, const batch *b, uint64_t *first)
{
    void *grade = r->grade, *runs = r->run;
    bool ok = make_room(&grade, &r->grade_room, (size_t)r->n + b->n, sizeof *r->grade) &&
              make_room(&runs, &r->run_room, r->n_runs + b->n_runs, sizeof *r->run);
    r->grade = grade;
    r->run = runs;
    if (!ok)
        return false;
    if (b->n)
        memcpy(r->grade + r->n, b->grade, b->n);
    for (uint32_t i = 0; i < b->n_runs; i++)
        if (r->n_runs && r->run[r->n_runs - 1].query == b->run[i].query)
            r->run[r->n_runs - 1].rows += b->run[i].rows;
        else
            r->run[r->n_runs++] = b->run[i];
    *first = r->n;
    r->n += b->n;
    return true;
}

void rows_copy(rows *r, const batch *b, uint64_t first)
{
    float *to = r->x + first * r->stride;
    if (b->width == r->stride) {
        if (b->n)
            memcpy(to, b->x, (size_t)b->n * b->width * sizeof *to);
        return;
    }
    for (uint32_t i = 0; i < b->n; i++, to += r->stride) {
        memcpy(to, b->x + (size_t)i * b->width, b->width * sizeof *to);
        memset(to + b->width, 0, (r->stride - b->width) * sizeof *to);
    }
}

/* ---- the dataset */

static void narrow_rows(rows *r, uint32_t dim)
{
    for (uint64_t i = 1; i < r->n && dim < r->stride; i++)
        memmove(r->x + i * dim, r->x + i * r->stride, dim * sizeof *r->x);
    r->stride = dim;
}

/* A run and its place in the text. */
typedef struct place {
    uint64_t query;
    size_t run;
    size_t first; /* the first run of the same query; a query is numbered by it */
} place;

static int by_query(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->query != y->query)
        return x->query < y->query ? -1 : 1;
    return x->run < y->run ? -1 : x->run > y->run;
}

static int by_first(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->run < y->run ? -1 : x->run > y->run;
}

/* The runs in the order of the dataset: queries by their first line, within a query as in the text.
 * *n_queries of them. */
static place *order_runs(const rows *r, uint32_t *n_queries)
{
    place *p = malloc((r->n_runs ? r->n_runs : 1) * sizeof *p);
    if (!p)
        return NULL;
    for (size_t i = 0; i < r->n_runs; i++)
        p[i] = (place){r->run[i].query, i, i};
    qsort(p, r->n_runs, sizeof *p, by_query);
    *n_queries = 0;
    for (size_t i = 0; i < r->n_runs; i++)
        if (i > 0 && p[i].query == p[i - 1].query)
            p[i].first = p[i - 1].first;
        else
            ++*n_queries;
    qsort(p, r->n_runs, sizeof *p, by_first);
    return p;
}

/* from[i] is the row of the text that becomes row i; NULL without memory. */
static uint32_t *order_rows(const rows *r, const place *order)
{
    uint32_t *from = malloc((size_t)r->n * sizeof *from),
             *begin = malloc(r->n_runs * sizeof *begin), at = 0;
    for (size_t i = 0; from && begin && i < r->n_runs; at += r->run[i++].rows)
        begin[i] = at;
    at = 0;
    for (size_t i = 0; from && begin && i < r->n_runs; i++)
        for (uint32_t j = 0; j < r->run[order[i].run].rows; j++)
            from[at++] = begin[order[i].run] + j;
    if (!begin) {
        free(from);
        from = NULL;
    }
    free(begin);
    return from;
}

/* Moves the rows along the cycles of the permutation; `from` is overwritten. */
static bool permute(rows *r, uint32_t *from)
{
    size_t width = r->stride * sizeof *r->x;
    float *kept = malloc(width ? width : 1);
    for (uint32_t i = 0; kept && i < r->n; i++) {
        if (from[i] == i)
            continue;
        uint32_t at = i;
        uint8_t grade = r->grade[i];
        memcpy(kept, r->x + (size_t)i * r->stride, width);
        while (from[at] != i) {
            uint32_t source = from[at];
            memcpy(r->x + (size_t)at * r->stride, r->x + (size_t)source * r->stride, width);
            r->grade[at] = r->grade[source];
            from[at] = at;
            at = source;
        }
        memcpy(r->x + (size_t)at * r->stride, kept, width);
        r->grade[at] = grade;
        from[at] = at;
    }
    free(kept);
    return kept != NULL;
}

static bool regroup(rows *r, const place *order)
{
    size_t i = 0;
    while (i < r->n_runs && order[i].run == i)
        i++;
    if (i == r->n_runs)
        return true; /* so in nearly every file */
    uint32_t *from = order_rows(r, order);
    bool ok = from && permute(r, from);
    free(from);
    return ok;
}

static void fill_queries(oltr_dataset *d, const rows *r, const place *order)
{
    uint32_t q = 0, row = 0;
    for (size_t i = 0; i < r->n_runs; i++) {
        if (i == 0 || order[i].query != order[i - 1].query) {
            dataset_query(d)[q] = order[i].query;
            dataset_first_row(d)[q++] = row;
        }
        row += r->run[order[i].run].rows;
    }
    dataset_first_row(d)[q] = row;
}

oltr_dataset *rows_finish(rows *r, uint32_t dim, oltr_error *error)
{
    uint32_t n_queries = 0;
    narrow_rows(r, dim);
    place *order = order_runs(r, &n_queries);
    oltr_dataset *d = NULL;
    if (!order || !regroup(r, order) || !resize(r, (size_t)r->n * dim * sizeof *r->x))
        set_error(error, OLTR_ENOMEM, "no memory to put the rows of each query together");
    else
        d = dataset_around(n_queries, (uint32_t)r->n, dim, r->x, r->bytes, error);
    if (d) {
        memcpy(dataset_grade(d), r->grade, (size_t)r->n);
        fill_queries(d, r, order);
        r->x = NULL; /* now owned by the dataset */
    }
    free(order);
    return d;
}

void rows_free(rows *r)
{
    if (r->x)
        munmap(r->x, r->bytes);
    free(r->grade);
    free(r->run);
    memset(r, 0, sizeof *r);
}
