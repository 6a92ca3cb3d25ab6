/* layout.h - the arena: all memory of an object in one block, sized before it is made.
 *
 * An object plans its arrays once, as offsets from its own beginning.  The same plan gives the size
 * and the places, so the two can never disagree, nothing else ever allocates, and an object holds
 * no pointer into itself.
 */
#ifndef OLTR_ENGINE_BASE_LAYOUT_H
#define OLTR_ENGINE_BASE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

enum { LAYOUT_ALIGN = 64 }; /* a cache line, and enough for any vector load */

typedef struct layout {
    size_t used;
    int overflow; /* the size does not fit: `used` means nothing */
} layout;

static inline size_t align_up(size_t n)
{
    return (n + (LAYOUT_ALIGN - 1)) & ~(size_t)(LAYOUT_ALIGN - 1);
}

/* Plans `count` elements of `size` bytes; returns their offset. */
static inline size_t layout_take(layout *l, size_t count, size_t size)
{
    size_t bytes, end, at = l->used;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4 ||
        __builtin_add_overflow(at, align_up(bytes), &end) || end > SIZE_MAX / 4) {
        l->overflow = 1;
        return 0;
    }
    l->used = end;
    return at;
}

static inline double *doubles_at(const void *base, size_t offset)
{
    return (double *)(void *)((unsigned char *)base + offset);
}

static inline float *floats_at(const void *base, size_t offset)
{
    return (float *)(void *)((unsigned char *)base + offset);
}

static inline uint32_t *words_in(const void *base, size_t offset)
{
    return (uint32_t *)(void *)((unsigned char *)base + offset);
}

#endif
