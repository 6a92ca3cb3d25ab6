/* bytes.c - little-endian bytes whatever the machine, and CRC-64. */
#include "base/bytes.h"

#include <string.h>

void put_bytes(writer *w, const void *bytes, size_t n)
{
    if (w->at && n && w->used <= w->capacity && n <= w->capacity - w->used)
        memcpy(w->at + w->used, bytes, n);
    w->used += n;
}

static void put_little(writer *w, uint64_t value, size_t n)
{
    unsigned char byte[8];
    for (size_t i = 0; i < n; i++)
        byte[i] = (unsigned char)(value >> (8 * i));
    put_bytes(w, byte, n);
}

void put_u32(writer *w, uint32_t value)
{
    put_little(w, value, 4);
}

void put_u64(writer *w, uint64_t value)
{
    put_little(w, value, 8);
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { LITTLE = 1 };
#else
enum { LITTLE = 0 };
#endif

void put_f64s(writer *w, const double *value, size_t n)
{
    if (LITTLE || !w->at) {
        put_bytes(w, value, n * sizeof *value);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        put_u64(w, bits);
    }
}

void get_bytes(reader *r, void *bytes, size_t n)
{
    if (r->failed || n > r->left) {
        r->failed = 1;
        if (n)
            memset(bytes, 0, n);
        return;
    }
    if (n)
        memcpy(bytes, r->at, n);
    r->at += n;
    r->left -= n;
}

static uint64_t get_little(reader *r, size_t n)
{
    unsigned char byte[8];
    uint64_t value = 0;
    get_bytes(r, byte, n);
    for (size_t i = 0; i < n; i++)
        value |= (uint64_t)byte[i] << (8 * i);
    return value;
}

uint32_t get_u32(reader *r)
{
    return (uint32_t)get_little(r, 4);
}

uint64_t get_u64(reader *r)
{
    return get_little(r, 8);
}

void get_f64s(reader *r, double *value, size_t n)
{
    if (LITTLE && n <= SIZE_MAX / sizeof *value) {
        get_bytes(r, value, n * sizeof *value);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = get_u64(r);
        memcpy(&value[i], &bits, sizeof bits);
    }
}

uint64_t crc64(const void *bytes, size_t n)
{
    static const uint64_t polynomial = 0xC96C5795D7870F42u;
    const unsigned char *at = bytes;
    uint64_t table[256], crc = ~(uint64_t)0;
    for (unsigned i = 0; i < 256; i++) {
        uint64_t entry = i;
        for (int bit = 0; bit < 8; bit++)
            entry = entry >> 1 ^ (entry & 1 ? polynomial : 0);
        table[i] = entry;
    }
    for (size_t i = 0; i < n; i++)
        crc = table[(crc ^ at[i]) & 0xFF] ^ crc >> 8;
    return ~crc;
}
