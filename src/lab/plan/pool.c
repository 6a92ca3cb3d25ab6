/* pool.c - see pool.h. */
#include "lab/plan/pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_limits.h"

struct pool_block {
    struct pool_block *next;
    max_align_t memory[];
};

void *pool_get(struct pool *pool, size_t count, size_t size)
{
    if (size != 0 && count > (LARGEST_PLAN - pool->used) / size)
        return NULL;
    struct pool_block *block = calloc(1, sizeof *block + count * size);
    if (!block)
        return NULL;
    block->next = pool->blocks;
    pool->blocks = block;
    pool->used += count * size;
    return block->memory;
}

char *pool_text(struct pool *pool, const char *text, size_t length)
{
    char *copy = pool_get(pool, length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *pool_printf(struct pool *pool, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length >= 0 ? pool_get(pool, (size_t)length + 1, 1) : NULL;
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

void pool_rewind(struct pool *pool, const struct pool *before)
{
    while (pool->blocks != before->blocks) {
        struct pool_block *next = pool->blocks->next;
        free(pool->blocks);
        pool->blocks = next;
    }
    pool->used = before->used;
}

void pool_free(struct pool *pool)
{
    pool_rewind(pool, &(struct pool){NULL, 0});
}
