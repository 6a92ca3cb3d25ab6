/* siphash.c - see siphash.h.  Four words are mixed by additions, rotations and xors: two rounds for
 * every eight bytes, four for each half of the result. */
#include "engine/base/siphash.h"

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static void mix(uint64_t v[4], int rounds)
{
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

/* The next `n` bytes, the first lowest. */
static uint64_t word_of(const unsigned char *at, size_t n)
{
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)at[i] << (8 * i);
    return word;
}

static void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v, 2);
    v[0] ^= word;
}

hash128 siphash(const uint64_t key[2], const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du ^ 0xEE,
                     key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    size_t left = size;
    hash128 hash;
    for (; left >= 8; at += 8, left -= 8)
        absorb(v, word_of(at, 8));
    absorb(v, word_of(at, left) | (uint64_t)size << 56);
    v[2] ^= 0xEE;
    mix(v, 4);
    hash.word[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
    v[1] ^= 0xDD;
    mix(v, 4);
    hash.word[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
    return hash;
}
