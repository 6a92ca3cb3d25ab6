/* siphash.h - SipHash-2-4 with 128 bits (Aumasson and Bernstein 2012): names of any length as a
 * fixed number of bytes, the same on every machine. */
#ifndef OLTR_ENGINE_BASE_SIPHASH_H
#define OLTR_ENGINE_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct hash128 {
    uint64_t word[2];
} hash128;

hash128 siphash(const uint64_t key[2], const void *bytes, size_t size);

#endif
