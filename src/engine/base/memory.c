/* memory.c - see memory.h. */
#include "engine/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/layout.h"

enum { SMALL_ALIGN = 16 }; /* what calloc() gives */

/* calloc() aligns to 16 bytes only.  The address that free() needs is kept in front of the aligned
 * block. */
static void *take_zeros(size_t bytes)
{
    size_t more = LAYOUT_ALIGN + sizeof(void *);
    unsigned char *raw = bytes <= SIZE_MAX - more ? calloc(1, bytes + more) : NULL;
    if (!raw)
        return NULL;
    uintptr_t first = (uintptr_t)raw + sizeof(void *);
    unsigned char *block = raw + sizeof(void *) + (align_up(first) - first);
    memcpy(block - sizeof raw, &raw, sizeof raw);
    return block;
}

static void give_zeros(void *block)
{
    unsigned char *raw;
    memcpy(&raw, (unsigned char *)block - sizeof raw, sizeof raw);
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
        give_zeros(block);
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

bool memory_is_whole(const oltr_memory *memory)
{
    return !memory || !memory->take == !memory->give;
}
