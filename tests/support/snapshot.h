/* snapshot.h - a second reader of the snapshot format, to look into snapshots and to forge them.
 *
 * Written from the description of the format; it shares no code with the library, so that a test
 * notices any change of the bytes on disk.
 */
#ifndef OLTR_TESTS_SNAPSHOT_H
#define OLTR_TESTS_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { AT_VERSION = 8, AT_RESERVED = 12, AT_LENGTH = 16, AT_KIND = 24, MOST_FIELDS = 16 };

/* One parameter or array: offsets of the length of its name, of its count (arrays only) and of its
 * first number; and how many numbers there are. */
typedef struct field {
    size_t name, count, value;
    uint64_t n;
    char text[64];
} field;

/* The offset of each part of one snapshot. */
typedef struct anatomy {
    size_t items, dim, rounds, n_params, prior, prior_values, n_sums, n_derived, checksum;
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
static inline void must(bool holds)
{
    if (!holds)
        abort();
}

/* CRC-64/XZ, four bits at a time. */
static inline uint64_t slow_crc64(const unsigned char *at, size_t n)
{
    uint64_t crc = ~(uint64_t)0, table[16];
    for (uint32_t i = 0; i < 16; i++) {
        table[i] = i;
        for (int bit = 0; bit < 4; bit++)
            table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xC96C5795D7870F42u : table[i] >> 1;
    }
    for (size_t i = 0; i < n; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* Sets the length and the checksum to what they must be. */
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

/* Arrays with names and counts; `at` is the offset of their number.  Returns where they end. */
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

/* Dissects a snapshot that is known to be good, of format 1 or 2. */
static inline anatomy dissect(const unsigned char *byte, size_t size)
{
    anatomy a;
    char kind[64];
    memset(&a, 0, sizeof a);
    a.items = read_text(byte, AT_KIND, kind);
    a.dim = a.items + 4;
    a.rounds = a.dim + 4;
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

/* The sum of that name, or NULL. */
static inline const field *sum_named(const anatomy *a, const char *name)
{
    for (uint32_t s = 0; s < a->sums; s++)
        if (strcmp(a->sum[s].text, name) == 0)
            return &a->sum[s];
    return NULL;
}

#endif
