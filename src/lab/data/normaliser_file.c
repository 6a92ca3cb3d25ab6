/* normaliser_file.c - a normaliser as bytes (docs/formats.md), so that what was fitted on one split
 * is applied to others later.
 *
 * A wrong normaliser would make results wrong without an error, so besides the checksum everything
 * is refused that no fit can give.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "engine/base/file.h"
#include "lab/data/normaliser.h"

static const char magic[8] = "OLTRNORM";
enum { VERSION = 1, HEAD = 8 + 4 * 4 + 8, TAIL = 8 };
#define LARGEST_FILE ((size_t)1 << 28)
#define LARGEST_SQUASHED 89.0 /* log(1 + FLT_MAX) is 88.72 */

static size_t bytes_a_column(normaliser_kind kind)
{
    return 4 + (kind == NORMALISE_STANDARD ? 4 * 8 : 0);
}

static void put_normaliser(writer *w, const normaliser *n)
{
    put_bytes(w, magic, sizeof magic);
    put_u32(w, VERSION);
    put_u32(w, n->kind);
    put_u32(w, n->dim_in);
    put_u32(w, n->dim);
    put_f64s(w, &n->longest, 1);
    for (uint32_t i = 0; i < n->dim; i++)
        put_u32(w, n->column[i]);
    if (n->kind != NORMALISE_STANDARD)
        return;
    put_f64s(w, n->mean, n->dim);
    put_f64s(w, n->sd, n->dim);
    put_f64s(w, n->low, n->dim);
    put_f64s(w, n->high, n->dim);
}

oltr_status normaliser_save(const normaliser *n, const char *path, oltr_error *error)
{
    size_t size = HEAD + n->dim * bytes_a_column(n->kind) + TAIL;
    unsigned char *bytes = malloc(size);
    if (!bytes)
        return set_error(error, OLTR_ENOMEM, "no memory to save a normaliser");
    writer w = {bytes, size, 0};
    put_normaliser(&w, n);
    put_u64(&w, crc64(bytes, w.used));
    oltr_status status = bytes_write(path, bytes, size, error);
    free(bytes);
    return status;
}

static bool good_columns(const normaliser *n)
{
    for (uint32_t i = 0; i < n->dim; i++)
        if (n->column[i] >= n->dim_in || (i > 0 && n->column[i] <= n->column[i - 1]))
            return false;
    return n->kind != NORMALISE_NONE || n->dim == n->dim_in;
}

/* Comparisons with NaN are false, so each is written to be true for good numbers. */
static bool good_moments(const normaliser *n)
{
    if (!(n->longest > 0 && isfinite(n->longest)))
        return false;
    for (uint32_t i = 0; n->kind == NORMALISE_STANDARD && i < n->dim; i++) {
        bool ordered = n->low[i] <= n->mean[i] && n->mean[i] <= n->high[i];
        bool bounded = n->low[i] >= -LARGEST_SQUASHED && n->high[i] <= LARGEST_SQUASHED;
        bool wide = n->sd[i] >= NORMALISER_LEAST_SD && n->sd[i] <= n->high[i] - n->low[i];
        if (!ordered || !bounded || !wide)
            return false;
    }
    return true;
}

static void get_normaliser(reader *r, normaliser *n)
{
    get_f64s(r, &n->longest, 1);
    for (uint32_t i = 0; i < n->dim; i++)
        n->column[i] = get_u32(r);
    if (n->kind != NORMALISE_STANDARD)
        return;
    get_f64s(r, n->mean, n->dim);
    get_f64s(r, n->sd, n->dim);
    get_f64s(r, n->low, n->dim);
    get_f64s(r, n->high, n->dim);
}

static oltr_status check_frame(const char *path, const unsigned char *bytes, size_t size,
                               oltr_error *error)
{
    reader head = {bytes, size, 0},
           tail = {bytes + (size >= TAIL ? size - TAIL : 0), size >= TAIL ? TAIL : 0, 0};
    char found[sizeof magic];
    get_bytes(&head, found, sizeof found);
    if (head.failed || memcmp(found, magic, sizeof magic) != 0)
        return set_error(error, OLTR_EMAGIC,
                         "%s is not a normaliser; make one with `oltr data convert --fit`", path);
    if (get_u32(&head) > VERSION)
        return set_error(error, OLTR_EVERSION, "%s was written by a newer oltr", path);
    if (size < HEAD + TAIL || get_u64(&tail) != crc64(bytes, size - TAIL))
        return set_error(error, OLTR_ECHECKSUM,
                         "%s is damaged or cut short; fit the normaliser again", path);
    return OLTR_OK;
}

static normaliser *parse(const char *path, const unsigned char *bytes, size_t size,
                         oltr_error *error)
{
    if (check_frame(path, bytes, size, error) != OLTR_OK)
        return NULL;
    reader r = {bytes + sizeof magic, size - sizeof magic - TAIL, 0};
    uint32_t version = get_u32(&r), kind = get_u32(&r), dim_in = get_u32(&r), dim = get_u32(&r);
    bool fits = version == VERSION && kind < NORMALISER_KINDS && dim > 0 && dim <= dim_in &&
                size - HEAD - TAIL == (size_t)dim * bytes_a_column((normaliser_kind)kind);
    normaliser *n = NULL;
    if (fits && !(n = normaliser_new((normaliser_kind)kind, dim_in, dim, error)))
        return NULL;
    if (n)
        get_normaliser(&r, n);
    if (!n || !good_columns(n) || !good_moments(n)) {
        set_error(error, OLTR_ECORRUPT, "%s contradicts itself; fit the normaliser again", path);
        normaliser_free(n);
        return NULL;
    }
    return n;
}

normaliser *normaliser_load(const char *path, oltr_error *error)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    if (bytes_read(path, LARGEST_FILE, &bytes, &size, error) != OLTR_OK)
        return NULL;
    normaliser *n = parse(path, bytes, size, error);
    free(bytes);
    return n;
}
