/* ope_cache.h - numbers that were computed for a key of bytes, to be found again.
 *
 * The same candidates and the same lists come again in most logs, and their chances take far longer
 * to compute than to find.  Keys are kept whole and compared, so nothing is found by accident. When
 * the bytes are used up everything is dropped; what is computed does not depend on it. */
#ifndef OLTR_LAB_OPE_OPE_CACHE_H
#define OLTR_LAB_OPE_OPE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cache_entry {
    struct cache_entry *next; /* in its chain */
    uint64_t hash;
    size_t key_size;
    size_t n;        /* numbers, which precede the key */
    double number[]; /* (n), and then the bytes of the key */
} cache_entry;

typedef struct ope_cache {
    size_t most, used; /* bytes */
    uint32_t mask, count;
    cache_entry **chain; /* (mask + 1), or NULL: empty */
} ope_cache;

/* The numbers of a key, or NULL. */
const double *ope_cache_find(const ope_cache *cache, const void *key, size_t size);
/* Keeps a copy; nothing happens where it does not fit. */
void ope_cache_keep(ope_cache *cache, const void *key, size_t size, const double *number, size_t n);
void ope_cache_free(ope_cache *cache);

#endif
