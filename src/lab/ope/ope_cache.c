/* ope_cache.c - see ope_cache.h. */
#include "lab/ope/ope_cache.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/siphash.h"

enum { CHAINS = 1 << 14 };

static uint64_t hash_of(const void *key, size_t size)
{
    static const uint64_t secret[2] = {0x6f6c74722d6f7065, 0x6361636865206b79};
    return siphash(secret, key, size).word[0];
}

static const void *key_of(const cache_entry *entry)
{
    return entry->number + entry->n;
}

const double *ope_cache_find(const ope_cache *cache, const void *key, size_t size)
{
    uint64_t hash = cache->chain ? hash_of(key, size) : 0;
    const cache_entry *entry = cache->chain ? cache->chain[hash & cache->mask] : NULL;
    for (; entry; entry = entry->next)
        if (entry->hash == hash && entry->key_size == size && !memcmp(key_of(entry), key, size))
            return entry->number;
    return NULL;
}

static void drop_all(ope_cache *cache)
{
    for (uint32_t i = 0; cache->chain && i <= cache->mask; i++)
        while (cache->chain[i]) {
            cache_entry *entry = cache->chain[i];
            cache->chain[i] = entry->next;
            free(entry);
        }
    cache->used = cache->count = 0;
}

void ope_cache_free(ope_cache *cache)
{
    drop_all(cache);
    free(cache->chain);
    cache->chain = NULL;
}

void ope_cache_keep(ope_cache *cache, const void *key, size_t size, const double *number, size_t n)
{
    size_t bytes = sizeof(cache_entry) + n * sizeof(double) + size;
    if (bytes > cache->most)
        return;
    if (cache->used + bytes > cache->most)
        drop_all(cache);
    if (!cache->chain) {
        cache->chain = calloc(CHAINS, sizeof(cache_entry *));
        cache->mask = CHAINS - 1;
    }
    cache_entry *entry = cache->chain ? malloc(bytes) : NULL;
    if (!entry)
        return;
    uint64_t hash = hash_of(key, size);
    cache_entry **chain = &cache->chain[hash & cache->mask];
    *entry = (cache_entry){.next = *chain, .hash = hash, .key_size = size, .n = n};
    memcpy(entry->number, number, n * sizeof *number);
    memcpy(entry->number + n, key, size);
    *chain = entry;
    cache->used += bytes;
    cache->count++;
}
