/* philox.h - Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (SC 2011).
 *
 * A block of four 32-bit words is a pure function of a 128-bit counter and a 64-bit key: ten rounds
 * of two multiplications.  The words are those of Random123 (the tests compare).  The engine lays
 * the counter out as
 *
 *   counter[0]  position: an item, a slot, or a running number
 *   counter[1]  round, low 32 bits
 *   counter[2]  round, next 16 bits (high half) and purpose (low half)
 *   counter[3]  stream
 */
#ifndef OLTR_ENGINE_KERNELS_PHILOX_H
#define OLTR_ENGINE_KERNELS_PHILOX_H

#include <oltr/oltr.h>

enum {
    PHILOX_ROUNDS = 10,
    PURPOSE_TIES = 0xFFFF, /* position = slot */
    PURPOSE_POWERS =
        0x8000, /* position = item; all smaller purposes number the attempts at an item's draw */
    PURPOSE_RECALIBRATION = 0x8001, /* position = 0 */
    PURPOSE_RACE = 0x8002,          /* position = quad of cells: the first arrival of each */
    PURPOSE_ARRIVALS = 0x8003,      /* position = key of a cell: the generator of the others */
};
#define PHILOX_M0 0xD2511F53u
#define PHILOX_M1 0xCD9E8D57u
#define PHILOX_W0 0x9E3779B9u
#define PHILOX_W1 0xBB67AE85u

static inline void philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int i = 0; i < PHILOX_ROUNDS; i++) {
        uint64_t p0 = (uint64_t)PHILOX_M0 * c0, p1 = (uint64_t)PHILOX_M1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* The four words of one position of the generator's round, for one purpose. */
static inline void words_at(const oltr_rng *rng, uint32_t position, uint32_t purpose,
                            uint32_t out[4])
{
    uint32_t counter[4] = {position, rng->counter[1], (rng->counter[2] & 0xFFFF0000u) | purpose,
                           rng->counter[3]};
    philox4x32(counter, rng->key, out);
}

/* Uniform on the open interval (0,1), all 2^32 words kept apart down to the smallest. */
static inline double uniform_of_word(uint32_t word)
{
    return ((double)word + 0.5) * 0x1p-32;
}

/* Uniform on 0..n-1 from 64 random bits: the bias is below n / 2^64, far under anything a run could
 * see. */
static inline uint32_t below_of_words(uint32_t high, uint32_t low, uint32_t n)
{
    uint64_t carry = ((uint64_t)low * n) >> 32;
    return (uint32_t)(((uint64_t)high * n + carry) >> 32);
}

/* Which of n tied items takes the slot. */
static inline uint32_t tie_at(const oltr_rng *rng, uint32_t slot, uint32_t n)
{
    uint32_t word[4];
    words_at(rng, slot, PURPOSE_TIES, word);
    return below_of_words(word[0], word[1], n);
}

#endif
