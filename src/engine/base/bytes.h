/* bytes.h - writing and reading of little-endian bytes with bounds, and the checksums over them.
 *
 * Both ends of every file format of the engine: a writer that counts when it has no room, and a
 * reader that turns every wrong length into a sticky error instead of a read beyond the end.
 */
#ifndef OLTR_ENGINE_BASE_BYTES_H
#define OLTR_ENGINE_BASE_BYTES_H

#include "engine/base/short_bytes.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { BYTES_ARE_LITTLE = 1 }; /* on this machine */
#else
enum { BYTES_ARE_LITTLE = 0 };
#endif

typedef struct writer {
    unsigned char *at; /* NULL: only count */
    size_t capacity;
    size_t used; /* what was written, or would have been */
} writer;

typedef struct reader {
    const unsigned char *at;
    size_t left;
    bool failed; /* sticky: something did not fit */
} reader;

/* Where the next n bytes are to be written; NULL when they are only counted or do not fit. */
static inline unsigned char *put_place(writer *w, size_t n)
{
    size_t at = w->used;
    w->used += n;
    return w->at && at <= w->capacity && n <= w->capacity - at ? w->at + at : NULL;
}

static inline void put_bytes(writer *w, const void *bytes, size_t n)
{
    unsigned char *place = put_place(w, n);
    if (place)
        copy_bytes(place, bytes, n);
}

static inline void put_u32(writer *w, uint32_t value)
{
    value = BYTES_ARE_LITTLE ? value : __builtin_bswap32(value);
    put_bytes(w, &value, sizeof value);
}

static inline void put_u64(writer *w, uint64_t value)
{
    value = BYTES_ARE_LITTLE ? value : __builtin_bswap64(value);
    put_bytes(w, &value, sizeof value);
}

void put_f64s(writer *w, const double *value, size_t n);
void put_f32s(writer *w, const float *value, size_t n);

void get_bytes(reader *r, void *bytes, size_t n);
uint32_t get_u32(reader *r);
uint64_t get_u64(reader *r);
void get_f64s(reader *r, double *value, size_t n);
void get_f32s(reader *r, float *value, size_t n);
/* Where n bytes are, which the reader passes over; NULL when there are not so many. */
const unsigned char *get_place(reader *r, size_t n);

/* CRC-64/XZ: finds every burst of up to 64 flipped bits. */
uint64_t crc64(const void *bytes, size_t n);

/* CRC-32C (Castagnoli): finds every burst of up to 32 flipped bits.  The CRC-64 of bytes that end
 * in a CRC-64 of their own depends on their length alone, so crc64() cannot tell two such images
 * apart; this one, of another polynomial, can. */
uint32_t crc32c(const void *bytes, size_t n);

#endif
