/* format.h - a second reading of the snapshot format, to look into snapshots and to forge them.
 *
 * Written from the description of the format and shares no code with the library, so a change of
 * the bytes on disk cannot go unseen.
 */
#ifndef CONFORM_FORMAT_H
#define CONFORM_FORMAT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { AT_VERSION = 8, AT_RESERVED = 12, AT_LENGTH = 16, AT_KIND = 24, MOST_FIELDS = 16 };

typedef struct field {
    size_t name;  /* where its name's length stands */
    size_t count; /* of a sum: where its count stands */
    size_t value; /* where its first number stands */
    uint64_t n;   /* how many numbers */
    char text[64];
} field;

/* Where everything stands in one snapshot. */
typedef struct anatomy {
    size_t items, rounds, n_params, prior, prior_values, n_sums, n_derived, checksum;
    uint32_t params, sums, derived, form;
    field param[MOST_FIELDS], sum[MOST_FIELDS], derived_array[MOST_FIELDS];
} anatomy;

static inline uint64_t little(const unsigned char *at, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes; i-- > 0;)
        x = x << 8 | at[i];
    return x;
}

static inline void set_little(unsigned char *at, int bytes, uint64_t x)
{
    for (int i = 0; i < bytes; i++, x >>= 8)
        at[i] = (unsigned char)x;
}

static inline double number_at(const unsigned char *at)
{
    uint64_t bits = little(at, 8);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline void set_number(unsigned char *at, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    set_little(at, 8, bits);
}

/* Not an assert: it must not vanish in a release build. */
static inline void must(int holds)
{
    if (!holds)
        abort();
}

/* CRC-64/XZ, bit by bit. */
static inline uint64_t slow_crc64(const unsigned char *at, size_t n)
{
    uint64_t crc = ~(uint64_t)0;
    for (size_t i = 0; i < n; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xC96C5795D7870F42u : crc >> 1;
    }
    return ~crc;
}

/* Makes the length and the checksum right again. */
static inline void seal(unsigned char *byte, size_t size)
{
    set_little(byte + AT_LENGTH, 8, size);
    set_little(byte + size - 8, 8, slow_crc64(byte, size - 8));
}

/* Reads a text at `at` into `out` and returns where it ends. */
static inline size_t read_text(const unsigned char *byte, size_t at, char out[64])
{
    size_t n = (size_t)little(byte + at, 4);
    must(n < 64);
    memcpy(out, byte + at + 4, n);
    out[n] = 0;
    return at + 4 + n;
}

static inline size_t read_params(const unsigned char *byte, size_t at, anatomy *a)
{
    a->n_params = at;
    a->params = (uint32_t)little(byte + at, 4);
    must(a->params <= MOST_FIELDS);
    at += 4;
    for (uint32_t i = 0; i < a->params; i++) {
        field *f = &a->param[i];
        f->name = at;
        f->value = read_text(byte, at, f->text);
        f->n = 1;
        at = f->value + 8;
    }
    return at;
}

/* Arrays with names and counts, from where their number stands. */
static inline size_t read_arrays(const unsigned char *byte, size_t at, uint32_t *n, field *array)
{
    *n = (uint32_t)little(byte + at, 4);
    must(*n <= MOST_FIELDS);
    at += 4;
    for (uint32_t i = 0; i < *n; i++) {
        field *f = &array[i];
        f->name = at;
        f->count = read_text(byte, at, f->text);
        f->n = little(byte + f->count, 8);
        f->value = f->count + 8;
        at = f->value + 8 * (size_t)f->n;
    }
    return at;
}

/* Dissects a snapshot that is known to be good. */
static inline anatomy dissect(const unsigned char *byte, size_t size)
{
    anatomy a;
    char kind[64];
    memset(&a, 0, sizeof a);
    a.items = read_text(byte, AT_KIND, kind);
    a.rounds = a.items + 8; /* the number of features lies between */
    a.prior = read_params(byte, a.rounds + 8, &a);
    a.form = (uint32_t)little(byte + a.prior, 4);
    a.prior_values = a.prior + 4;
    a.n_sums = a.prior_values + (a.form ? 16 * (size_t)little(byte + a.items, 4) : 0);
    a.n_derived = read_arrays(byte, a.n_sums, &a.sums, a.sum);
    a.checksum = a.n_derived;
    if (little(byte + AT_VERSION, 4) > 1)
        a.checksum = read_arrays(byte, a.n_derived, &a.derived, a.derived_array);
    must(a.checksum + 8 == size);
    return a;
}

#endif
