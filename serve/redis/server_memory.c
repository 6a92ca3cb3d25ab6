/* server_memory.c - see server_memory.h. */
#include "serve/redis/server_memory.h"

#include "serve/redis/module_api.h"
#include "serve/redis/module_stats.h"

/* At the beginning of a shifted block. */
typedef struct shifted {
    struct shifted *next;
    void *at; /* the aligned address */
} shifted;

static void count_block(server_memory *m, void *block)
{
    size_t size = rm.MallocSize(block);
    m->used += size;
    if (m->counted)
        stats.bytes += size;
}

static void free_block(server_memory *m, void *block)
{
    size_t size = rm.MallocSize(block);
    m->used -= size;
    if (m->counted)
        stats.bytes -= size;
    rm.Free(block);
}

static void *take_shifted(server_memory *m, size_t bytes, size_t align)
{
    size_t more = sizeof(shifted) + align;
    shifted *block = bytes <= SIZE_MAX - more ? rm.TryAlloc(bytes + more) : NULL;
    if (!block)
        return NULL;
    unsigned char *at = (unsigned char *)(block + 1);
    *block = (shifted){m->shifted, at + (align - (uintptr_t)at % align)};
    m->shifted = block;
    count_block(m, block);
    return block->at;
}

static void *take(void *with, size_t bytes, size_t align)
{
    server_memory *m = with;
    if (m->used >= m->most || bytes > m->most - m->used) {
        m->exceeded = true;
        return NULL;
    }
    void *block = rm.TryAlloc(bytes), *at = block;
    if (block && (uintptr_t)block % align) {
        rm.Free(block);
        at = take_shifted(m, bytes, align);
    } else if (block) {
        count_block(m, block);
    }
    m->starved |= !at;
    return at;
}

static void give(void *with, void *at, size_t bytes)
{
    (void)bytes;
    server_memory *m = with;
    shifted **link = &m->shifted;
    while (*link && (*link)->at != at)
        link = &(*link)->next;
    shifted *found = *link;
    if (found)
        *link = found->next;
    free_block(m, found ? found : at);
}

oltr_memory server_memory_hook(server_memory *memory)
{
    return (oltr_memory){take, give, memory};
}
