/* layout.h - all memory of an object in one block, sized before it is made.
 *
 * An object plans its arrays once, as offsets from its own beginning.  One plan gives both the size
 * and the places, so they agree; nothing else allocates; and an object holds no pointer into
 * itself, so that it can be copied byte by byte.
 */
#ifndef OLTR_ENGINE_BASE_LAYOUT_H
#define OLTR_ENGINE_BASE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAYOUT_ALIGN = 64 }; /* a cache line, and enough for any vector load */

typedef struct layout {
    size_t used;
    bool overflow; /* the size does not fit in memory: `used` means nothing */
} layout;

static inline size_t align_up(size_t n)
{
    return (n + (LAYOUT_ALIGN - 1)) & ~(size_t)(LAYOUT_ALIGN - 1);
}

/* Plans `count` elements of `size` bytes behind a multiple of `align`; returns their offset. */
static inline size_t layout_take_at(layout *l, size_t align, size_t count, size_t size)
{
    size_t bytes, at = (l->used + (align - 1)) / align * align;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4 ||
        at + bytes > SIZE_MAX / 4) {
        l->overflow = true;
        return 0;
    }
    l->used = at + bytes;
    return at;
}

/* The same, aligned to LAYOUT_ALIGN; and for arrays that are read one element at a time, aligned to
 * an element, which saves up to 60 bytes of each. */
static inline size_t layout_take(layout *l, size_t count, size_t size)
{
    return layout_take_at(l, LAYOUT_ALIGN, count, size);
}

static inline size_t layout_take_close(layout *l, size_t count, size_t size)
{
    return layout_take_at(l, size, count, size);
}

/* The size of the whole block, a multiple of LAYOUT_ALIGN; 0 when it does not fit in memory. */
static inline size_t layout_bytes(const layout *l)
{
    return l->overflow ? 0 : align_up(l->used);
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
