/* cache.c - writing and mapping of dataset files; see cache.h. */
#define _GNU_SOURCE 1
#include "lab/data/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/bytes.h"
#include "engine/base/file.h"
#include "engine/base/layout.h"
#include "lab/data/dataset.h"
#include "lab/data/digest.h"
#include "lab/data/read.h"

enum { SECTIONS = 4 }; /* query, first_row, grade, x */
static const size_t width[SECTIONS] = {sizeof(uint64_t), sizeof(uint32_t), sizeof(uint8_t),
                                       sizeof(float)};

/* Offsets of the sections.  They follow from the counts: a file has no offsets that could be
 * wrong. */
typedef struct plan {
    size_t at[SECTIONS], bytes[SECTIONS], total;
    bool overflow;
} plan;

static plan plan_of(uint32_t n_queries, uint32_t n_rows, uint32_t dim)
{
    const size_t count[SECTIONS] = {n_queries, (size_t)n_queries + 1, n_rows, (size_t)n_rows * dim};
    layout l = {CACHE_HEADER, 0};
    plan p = {.overflow = 0};
    for (int i = 0; i < SECTIONS; i++) {
        p.at[i] = layout_take(&l, count[i], width[i]);
        p.bytes[i] = count[i] * width[i];
    }
    p.total = align_up(l.used);
    p.overflow = l.overflow;
    return p;
}

/* Files are little-endian; little-endian machines use them without a copy. */
static bool big_endian(void)
{
    const uint32_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

/* Reverses the bytes of each number of a section. */
static void swap_section(int section, unsigned char *bytes, const plan *p)
{
    size_t n = width[section];
    for (size_t i = 0; n > 1 && i < p->bytes[section]; i += n)
        for (size_t j = 0; j < n / 2; j++) {
            unsigned char held = bytes[i + j];
            bytes[i + j] = bytes[i + n - 1 - j];
            bytes[i + n - 1 - j] = held;
        }
}

/* ---- the header */

typedef struct header {
    uint64_t total;
    uint32_t n_queries, n_rows, dim;
    uint64_t digest[SECTIONS];
    cache_origin origin;
} header;

/* Writes or reads a number of the header: exactly one of w and r is given. */
static void field_u32(writer *w, reader *r, uint32_t *value)
{
    if (w)
        put_u32(w, *value);
    else
        *value = get_u32(r);
}

static void field_u64(writer *w, reader *r, uint64_t *value)
{
    if (w)
        put_u64(w, *value);
    else
        *value = get_u64(r);
}

/* All fields behind magic and version, in the order of the file. */
static void header_fields(writer *w, reader *r, header *h)
{
    cache_origin *o = &h->origin;
    field_u32(w, r, &o->known);
    field_u64(w, r, &h->total);
    field_u32(w, r, &h->n_queries);
    field_u32(w, r, &h->n_rows);
    field_u32(w, r, &h->dim);
    field_u32(w, r, &o->settled);
    for (int i = 0; i < SECTIONS; i++)
        field_u64(w, r, &h->digest[i]);
    field_u64(w, r, &o->size);
    field_u64(w, r, &o->seconds);
    field_u64(w, r, &o->nanoseconds);
    field_u64(w, r, &o->sample);
    field_u64(w, r, &o->content);
    field_u32(w, r, &o->lenient);
    field_u32(w, r, &o->most_features);
    field_u64(w, r, &o->report.lines);
    field_u64(w, r, &o->report.skipped);
    field_u64(w, r, &o->report.first_skipped_line);
    field_u64(w, r, &o->report.clamped);
    field_u64(w, r, &o->report.duplicates);
    if (w)
        put_bytes(w, o->report.first_reason, sizeof o->report.first_reason);
    else
        get_bytes(r, o->report.first_reason, sizeof o->report.first_reason);
}

static void put_header(header *h, unsigned char *bytes)
{
    writer w = {bytes, CACHE_HEADER, 0};
    memset(bytes, 0, CACHE_HEADER);
    put_bytes(&w, CACHE_MAGIC, 8);
    put_u32(&w, CACHE_VERSION);
    header_fields(&w, NULL, h);
    w.used = CACHE_HEADER - 8;
    put_u64(&w, digest(bytes, CACHE_HEADER - 8));
}

static void get_header(const unsigned char *bytes, header *h)
{
    reader r = {bytes + 12, CACHE_HEADER - 12, 0};
    memset(h, 0, sizeof *h);
    header_fields(NULL, &r, h);
}

/* ---- writing */

static bool write_all(int fd, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    while (n > 0) {
        ssize_t done = write(fd, at, n < (1u << 30) ? n : 1u << 30);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

static bool write_sections(int fd, const unsigned char *head, const void *const section[SECTIONS],
                           const plan *p)
{
    static const unsigned char zero[LAYOUT_ALIGN] = {0};
    bool ok = write_all(fd, head, CACHE_HEADER);
    for (int i = 0; ok && i < SECTIONS; i++)
        ok = write_all(fd, section[i], p->bytes[i]) &&
             write_all(fd, zero, align_up(p->bytes[i]) - p->bytes[i]);
    return ok;
}

static bool write_into(const char *path, const unsigned char *head,
                       const void *const section[SECTIONS], const plan *p)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write_sections(fd, head, section, p);
    int why = errno;
    if (fd >= 0 && close(fd) != 0 && ok)
        return false;
    errno = why;
    return ok;
}

static bool write_beside(const char *path, mode_t mode, bool flush, const unsigned char *head,
                         const void *const section[SECTIONS], const plan *p)
{
    temp_file b;
    if (!temp_file_open(&b, path, mode))
        return false;
    if (write_sections(b.fd, head, section, p) && (!flush || flush_to_disk(b.fd)))
        return temp_file_keep(&b, path);
    temp_file_drop(&b);
    return false;
}

static oltr_status write_file(const char *path, mode_t mode, bool flush, const unsigned char *head,
                              const void *const section[SECTIONS], const plan *p, oltr_error *error)
{
    char name[128];
    char *target = follow_links(path);
    bool ok = target && (is_special(target) ? write_into(target, head, section, p)
                                            : write_beside(target, mode, flush, head, section, p));
    int why = errno;
    free(target);
    short_name(path, name, sizeof name);
    if (!ok && why == ENOMEM)
        return set_error(error, OLTR_ENOMEM, "no memory to write %s", name);
    return ok ? OLTR_OK : set_error(error, OLTR_EIO, "cannot write %s: %s", name, strerror(why));
}

/* Why a dataset cannot be saved or loaded, or NULL. */
static const char *fault_of(const oltr_dataset *d)
{
    if (d->n_queries == 0 || d->n_rows == 0 || d->dim == 0)
        return "it has no rows or no features";
    if (!d->query || !d->first_row || !d->grade || !d->x)
        return "one of its arrays is missing";
    if (d->first_row[0] != 0 || d->first_row[d->n_queries] != d->n_rows)
        return "its queries do not cover its rows";
    for (uint32_t q = 0; q < d->n_queries; q++)
        if (d->first_row[q] >= d->first_row[q + 1])
            return "a query has no rows";
    return NULL;
}

/* On a big-endian machine, copies of the sections in the order of the file, to be freed; NULL
 * without memory. */
static unsigned char *swapped_copy(const plan *p, const void *section[SECTIONS])
{
    unsigned char *copy = malloc(p->total);
    for (int i = 0; copy && i < SECTIONS; i++) {
        memcpy(copy + p->at[i], section[i], p->bytes[i]);
        swap_section(i, copy + p->at[i], p);
        section[i] = copy + p->at[i];
    }
    return copy;
}

static oltr_status write_sealed(header *h, const plan *p, const void *const section[SECTIONS],
                                const char *path, mode_t mode, bool flush, oltr_error *error)
{
    unsigned char bytes[CACHE_HEADER];
    bool finite = true;
    for (int i = 0; i < SECTIONS; i++)
        if (!digest_all(section[i], p->bytes[i], 1, i == 3 ? &finite : NULL, &h->digest[i]))
            return set_error(error, OLTR_ENOMEM, "no memory to save a dataset");
    if (!finite)
        return set_error(error, OLTR_EINVAL,
                         "this dataset cannot be saved: a feature is not a finite number");
    put_header(h, bytes);
    return write_file(path, mode, flush, bytes, section, p, error);
}

oltr_status cache_write(const oltr_dataset *d, const cache_origin *origin, const char *path,
                        mode_t mode, bool flush, oltr_error *error)
{
    const void *section[SECTIONS] = {d->query, d->first_row, d->grade, d->x};
    const char *fault = fault_of(d);
    plan p = plan_of(d->n_queries, d->n_rows, d->dim);
    header h = {.total = p.total,
                .n_queries = d->n_queries,
                .n_rows = d->n_rows,
                .dim = d->dim,
                .origin = *origin};
    if (fault)
        return set_error(error, OLTR_EINVAL, "this dataset cannot be saved: %s", fault);
    unsigned char *copy = big_endian() ? swapped_copy(&p, section) : NULL;
    if (big_endian() && !copy)
        return set_error(error, OLTR_ENOMEM, "no memory to save a dataset");
    oltr_status status = write_sealed(&h, &p, section, path, mode, flush, error);
    free(copy);
    return status;
}

/* ---- mapping */

static bool all_zero(const unsigned char *bytes, size_t n)
{
    unsigned char any = 0;
    for (size_t i = 0; i < n; i++)
        any |= bytes[i];
    return any == 0;
}

/* Magic, version and length first: a file of another kind is reported as that, not as damaged. */
static oltr_status check_header(const unsigned char *bytes, size_t size, const char *name,
                                header *h, oltr_error *error)
{
    reader r = {bytes + 8, 4, 0}, last = {bytes + CACHE_HEADER - 8, 8, 0};
    if (size < 8 || memcmp(bytes, CACHE_MAGIC, 8) != 0)
        return set_error(error, OLTR_EMAGIC, "%s is no dataset file", name);
    if (size < CACHE_HEADER)
        return set_error(error, OLTR_ETRUNCATED, "%s is cut short; make it again from the text",
                         name);
    if (get_u32(&r) > CACHE_VERSION)
        return set_error(error, OLTR_EVERSION,
                         "%s was written by a newer oltr; make it again from the text", name);
    get_header(bytes, h);
    if (h->total != size)
        return set_error(error, OLTR_ETRUNCATED,
                         "%s is cut short or too long; make it again from the text", name);
    if (get_u64(&last) != digest(bytes, CACHE_HEADER - 8))
        return set_error(error, OLTR_ECHECKSUM, "%s is damaged; make it again from the text", name);
    return OLTR_OK;
}

/* A right checksum does not prove that the counts are possible. */
static oltr_status check_counts(const unsigned char *bytes, const header *h, const plan *p,
                                const char *name, oltr_error *error)
{
    enum { FIELDS = 288 }; /* bytes of the header that mean something */
    const cache_origin *o = &h->origin;
    reader r = {bytes + 8, 4, 0};
    bool sound = get_u32(&r) == CACHE_VERSION &&
                 all_zero(bytes + FIELDS, CACHE_HEADER - 8 - FIELDS) && h->n_queries && h->n_rows &&
                 h->dim && !p->overflow && p->total == h->total && o->known <= 1 &&
                 o->settled <= 1 && o->lenient <= 1 &&
                 memchr(o->report.first_reason, 0, sizeof o->report.first_reason);
    for (int i = 0; sound && i < SECTIONS; i++)
        sound = all_zero(bytes + p->at[i] + p->bytes[i], align_up(p->bytes[i]) - p->bytes[i]);
    return sound ? OLTR_OK
                 : set_error(error, OLTR_ECORRUPT,
                             "%s contradicts itself: its counts are impossible", name);
}

static oltr_status check_sections(const unsigned char *bytes, const header *h, const plan *p,
                                  uint32_t threads, const char *name, oltr_error *error)
{
    bool finite = true;
    for (int i = 0; i < SECTIONS; i++) {
        uint64_t found = 0;
        if (!digest_all(bytes + p->at[i], p->bytes[i], threads, i == 3 ? &finite : NULL, &found))
            return set_error(error, OLTR_ENOMEM, "no memory to check %s", name);
        if (found != h->digest[i])
            return set_error(error, OLTR_ECHECKSUM, "%s is damaged; make it again from the text",
                             name);
    }
    return finite ? OLTR_OK
                  : set_error(error, OLTR_ECORRUPT,
                              "%s contradicts itself: a feature is not a finite number", name);
}

/* Takes the map; NULL with the error set leaves it to the caller. */
static oltr_dataset *dataset_in(unsigned char *map, size_t size, const header *h, const plan *p,
                                const char *name, oltr_error *error)
{
    oltr_dataset arrays = {.n_queries = h->n_queries, .n_rows = h->n_rows, .dim = h->dim};
    arrays.query = (const uint64_t *)(const void *)(map + p->at[0]);
    arrays.first_row = (const uint32_t *)(const void *)(map + p->at[1]);
    arrays.grade = map + p->at[2];
    arrays.x = (const float *)(const void *)(map + p->at[3]);
    const char *fault = fault_of(&arrays);
    if (fault)
        set_error(error, OLTR_ECORRUPT, "%s contradicts itself: %s", name, fault);
    return fault ? NULL : dataset_of_map(&arrays, map, size, error);
}

static oltr_dataset *checked(unsigned char *map, size_t size, const char *name, uint32_t threads,
                             cache_wanted *wanted, void *context, cache_origin *origin,
                             oltr_error *error)
{
    header h;
    if (check_header(map, size, name, &h, error) != OLTR_OK)
        return NULL;
    plan p = plan_of(h.n_queries, h.n_rows, h.dim);
    if (check_counts(map, &h, &p, name, error) != OLTR_OK)
        return NULL;
    *origin = h.origin;
    if (wanted && !wanted(origin, context)) {
        if (error)
            *error = (oltr_error){OLTR_OK, ""};
        return NULL;
    }
    if (check_sections(map, &h, &p, threads, name, error) != OLTR_OK)
        return NULL;
    for (int i = 0; big_endian() && i < SECTIONS; i++)
        swap_section(i, map + p.at[i], &p); /* of the private copy */
    return dataset_in(map, size, &h, &p, name, error);
}

oltr_dataset *cache_map(int fd, const char *path, uint32_t threads, cache_wanted *wanted,
                        void *context, cache_origin *origin, oltr_error *error)
{
    struct stat stat;
    char name[128];
    short_name(path, name, sizeof name);
    if (fstat(fd, &stat) != 0 || stat.st_size <= 0 || (uint64_t)stat.st_size > SIZE_MAX / 2) {
        set_error(error, OLTR_ETRUNCATED, "%s is empty or cannot be mapped", name);
        return NULL;
    }
    size_t size =
        (size_t)stat.st_size; /* private: a change of the dataset does not reach the file */
    unsigned char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) {
        set_error(error, OLTR_EIO, "cannot map %s: %s", name, strerror(errno));
        return NULL;
    }
    oltr_dataset *d = checked(map, size, name, threads, wanted, context, origin, error);
    if (!d)
        munmap(map, size);
    return d;
}

oltr_status oltr_dataset_save(const oltr_dataset *dataset, const char *path, oltr_error *error)
{
    cache_origin none;
    memset(&none, 0, sizeof none);
    if (!dataset || !path)
        return set_error(error, OLTR_EINVAL, "a dataset and a path are needed");
    return cache_write(dataset, &none, path, 0666, true, error);
}
