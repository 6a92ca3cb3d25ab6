/* short_bytes.h - comparing and copying names, most of which have fewer than 17 bytes: two loads
 * that overlap, where a call of memcmp() or memcpy() takes longer than its work. */
#ifndef OLTR_ENGINE_BASE_SHORT_BYTES_H
#define OLTR_ENGINE_BASE_SHORT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t load8(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint32_t load4(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline bool same_bytes(const void *one, const void *other, size_t n)
{
    const unsigned char *a = one, *b = other;
    if (n > 16)
        return memcmp(a, b, n) == 0;
    if (n >= 8)
        return ((load8(a) ^ load8(b)) | (load8(a + n - 8) ^ load8(b + n - 8))) == 0;
    if (n >= 4)
        return ((load4(a) ^ load4(b)) | (load4(a + n - 4) ^ load4(b + n - 4))) == 0;
    return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}

/* The two do not overlap. */
static inline void copy_bytes(void *to, const void *from, size_t n)
{
    const unsigned char *b = from;
    unsigned char *a = to;
    if (n >= 8 && n <= 16) {
        uint64_t first = load8(b), last = load8(b + n - 8);
        memcpy(a, &first, 8);
        memcpy(a + n - 8, &last, 8);
    } else if (n >= 4 && n < 8) {
        uint32_t first = load4(b), last = load4(b + n - 4);
        memcpy(a, &first, 4);
        memcpy(a + n - 4, &last, 4);
    } else if (n > 0)
        memcpy(a, b, n);
}

#endif
