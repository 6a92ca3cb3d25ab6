/* dice.h - the random numbers of all tests: SplitMix64 (Steele, Lea and Flood 2014).
 *
 * Each test has a generator of its own with a fixed seed, so that no test depends on another or on
 * the generator of the engine.
 */
#ifndef OLTR_TESTS_DICE_H
#define OLTR_TESTS_DICE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct dice {
    uint64_t state;
} dice;

static inline uint64_t roll(dice *d)
{
    uint64_t z = d->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline uint32_t roll32(dice *d)
{
    return (uint32_t)(roll(d) >> 32);
}

/* On 0..n-1. */
static inline uint32_t below(dice *d, uint32_t n)
{
    return (uint32_t)((roll(d) >> 32) * n >> 32);
}

static inline bool one_in(dice *d, uint32_t n)
{
    return below(d, n) == 0;
}

/* On [0, 1). */
static inline double unit(dice *d)
{
    return (double)(roll(d) >> 11) * 0x1p-53;
}

static inline double log_uniform(dice *d, double low, double high)
{
    return low * exp(unit(d) * log(high / low));
}

static inline double normal(dice *d)
{
    double r = sqrt(-2 * log(1 - unit(d)));
    return r * cos(6.283185307179586 * unit(d));
}

static inline void shuffle(dice *d, uint32_t *x, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = below(d, i), held = x[i - 1];
        x[i - 1] = x[j];
        x[j] = held;
    }
}

#endif
