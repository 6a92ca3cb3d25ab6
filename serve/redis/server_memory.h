/* server_memory.h - memory of the server's allocator for the engine, counted and bounded.
 *
 * So used_memory, maxmemory and MEMORY USAGE see every byte of a model.  A block of the allocator
 * is used as it is where it happens to be aligned as the engine asks, which is nearly always with
 * jemalloc; a header in each block would take 5 % of a small model.  The others are shifted to an
 * aligned address, and listed with the address that the allocator gave.
 */
#ifndef OLTR_SERVE_REDIS_SERVER_MEMORY_H
#define OLTR_SERVE_REDIS_SERVER_MEMORY_H

#include <stdbool.h>
#include <oltr/oltr.h>

/* The memory of one model, or of the scratch. */
typedef struct server_memory {
    size_t used, most;
    bool exceeded;           /* a block was refused because of `most` */
    bool starved;            /* a block was refused by the server */
    bool counted;            /* in the bytes of `INFO oltr` */
    struct shifted *shifted; /* the blocks that begin before their aligned address */
} server_memory;

/* Its hook; the struct must outlive what is made with it. */
oltr_memory server_memory_hook(server_memory *memory);

#endif
