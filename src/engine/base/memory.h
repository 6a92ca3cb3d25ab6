/* memory.h - memory from the caller's hook, or from the C library. */
#ifndef OLTR_ENGINE_BASE_MEMORY_H
#define OLTR_ENGINE_BASE_MEMORY_H

#include <stdbool.h>
#include <oltr/oltr.h>

/* `bytes` zeros aligned to LAYOUT_ALIGN, or NULL.  memory NULL, or one without `take`: from
 * calloc(), which for large blocks gives pages that the system fills in only when they are first
 * written. */
void *memory_take(const oltr_memory *memory, size_t bytes);
void memory_give(const oltr_memory *memory, void *block, size_t bytes); /* block may be NULL */

/* The same for small tables, aligned to 16 bytes: 56 bytes less of every block. */
void *memory_take_small(const oltr_memory *memory, size_t bytes);
void memory_give_small(const oltr_memory *memory, void *block, size_t bytes);

/* The room of a table that must hold n entries: the least power of 2 from 4 on or, from 12 to 768,
 * three quarters of one, for there may be many small tables. */
uint32_t room_for(uint32_t n);

/* Whether a hook has both functions, or none; NULL is whole. */
bool memory_is_whole(const oltr_memory *memory);

#endif
