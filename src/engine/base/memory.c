/* memory.c - see memory.h. */
#include "engine/base/memory.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/layout.h"

enum { SMALL_ALIGN = 16 }; /* what calloc() gives */

/* calloc() does not align to LAYOUT_ALIGN.  The block begins at the first multiple of it, and the
 * address that free() needs is kept behind the block. */
static void *take_zeros(size_t bytes)
{
    const size_t more = LAYOUT_ALIGN - _Alignof(max_align_t) + sizeof(void *);
    unsigned char *raw = bytes <= PTRDIFF_MAX - more ? calloc(1, bytes + more) : NULL;
    if (!raw)
        return NULL;
    unsigned char *block = raw + (align_up((uintptr_t)raw) - (uintptr_t)raw);
    memcpy(block + bytes, &raw, sizeof raw);
    return block;
}

static void give_zeros(void *block, size_t bytes)
{
    unsigned char *raw;
    memcpy(&raw, (unsigned char *)block + bytes, sizeof raw);
    free(raw);
}

void *memory_take(const oltr_memory *memory, size_t bytes)
{
    if (!memory || !memory->take)
        return take_zeros(bytes);
    void *block = memory->take(memory->with, bytes, LAYOUT_ALIGN);
    if (block)
        memset(block, 0, bytes);
    return block;
}

void memory_give(const oltr_memory *memory, void *block, size_t bytes)
{
    if (!block)
        return;
    if (memory && memory->take)
        memory->give(memory->with, block, bytes);
    else
        give_zeros(block, bytes);
}

void *memory_take_small(const oltr_memory *memory, size_t bytes)
{
    if (!memory || !memory->take)
        return calloc(1, bytes);
    void *block = memory->take(memory->with, bytes, SMALL_ALIGN);
    if (block)
        memset(block, 0, bytes);
    return block;
}

void memory_give_small(const oltr_memory *memory, void *block, size_t bytes)
{
    if (!block)
        return;
    if (memory && memory->take)
        memory->give(memory->with, block, bytes);
    else
        free(block);
}

uint32_t room_for(uint32_t n)
{
    uint32_t power = 4;
    while (power < n)
        power *= 2;
    bool between = power >= 16 && power <= 1024 && power / 4 * 3 >= n;
    return between ? power / 4 * 3 : power;
}

bool memory_is_whole(const oltr_memory *memory)
{
    return !memory || !memory->take == !memory->give;
}
