/* rng.c - the generator as people use it: make, fork, place in a round, and draw one number after
 * the other.
 *
 * Sequential draws walk counter[0] and hand out the four words of a block one by one.  They are in
 * double precision and serve the worlds and the rare slow paths; the draws of a ranking are in
 * sample.c, many items at a time.
 */
#include "engine/kernels/philox.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FORK_STREAM                                                                                \
    0x6F6C7472u /* "oltr": keeps the words that make keys apart from the words that are drawn */

static oltr_rng keyed(const uint32_t key[2], uint64_t id)
{
    uint32_t counter[4] = {(uint32_t)id, (uint32_t)(id >> 32), 0, FORK_STREAM}, word[4];
    philox4x32(counter, key, word);
    return (oltr_rng){.key = {word[0], word[1]}};
}

oltr_rng oltr_rng_make(uint64_t seed, uint64_t replication)
{
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    return keyed(key, replication);
}

oltr_rng oltr_rng_at(oltr_rng rng, uint32_t stream, uint64_t round)
{
    /* Written as whole vectors: a caller passes the value on at once, and a 16-byte load right
     * behind 4-byte stores waits for them. */
    typedef uint32_t four __attribute__((vector_size(16)));
    oltr_rng at;
    four first = {rng.key[0], rng.key[1], 0, (uint32_t)round};
    four second = {(uint32_t)(round >> 32) << 16, stream, 0, 0};
    memcpy(&at, &first, sizeof first);
    memcpy((unsigned char *)&at + sizeof first, &second, sizeof second);
    memset((unsigned char *)&at + 2 * sizeof first, 0, sizeof at - 2 * sizeof first);
    return at;
}

oltr_rng oltr_rng_fork(oltr_rng rng, uint64_t id)
{
    uint32_t word[4];
    words_at(&rng, rng.counter[0], PURPOSE_TIES - 1, word);
    return keyed(word, id);
}

uint32_t oltr_rng_u32(oltr_rng *rng)
{
    if (rng->word[3] == 0) {
        uint32_t block[4];
        philox4x32(rng->counter, rng->key, block);
        rng->counter[0]++;
        for (int i = 0; i < 3; i++)
            rng->word[i] = block[i + 1];
        rng->word[3] = 3;
        return block[0];
    }
    return rng->word[3 - rng->word[3]--];
}

uint32_t oltr_rng_below(oltr_rng *rng, uint32_t n)
{
    uint32_t limit = -n % n,
             word; /* 2^32 mod n: words below it would favour the small numbers (Lemire 2019) */
    uint64_t product;
    do {
        word = oltr_rng_u32(rng);
        product = (uint64_t)word * n;
    } while ((uint32_t)product < limit);
    return (uint32_t)(product >> 32);
}

double oltr_rng_uniform(oltr_rng *rng)
{
    uint64_t high = oltr_rng_u32(rng) >> 6, low = oltr_rng_u32(rng) >> 6;
    return ((double)(high << 26 | low) + 0.5) *
           0x1p-52; /* 52 bits: the half is exact, so 0 and 1 never come */
}

double oltr_rng_normal(oltr_rng *rng)
{
    double radius = sqrt(-2 * log(oltr_rng_uniform(rng)));
    return radius * cos(6.283185307179586477 * oltr_rng_uniform(rng));
}

/* Marsaglia and Tsang (2000), for shape >= 1. */
static double gamma_large(oltr_rng *rng, double shape)
{
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = oltr_rng_normal(rng), v = 1 + c * x, u = oltr_rng_uniform(rng);
        if (v <= 0)
            continue;
        v = v * v * v;
        if (log(u) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

/* The logarithm of a Gamma(shape) draw: shapes near 0 underflow otherwise. */
static double log_gamma_draw(oltr_rng *rng, double shape)
{
    if (shape >= 1)
        return log(gamma_large(rng, shape));
    double log_large = log(gamma_large(rng, shape + 1));
    return log_large + log(oltr_rng_uniform(rng)) / shape;
}

/* No draw ends for a shape that is not positive and finite. */
static int is_shape(double shape)
{
    return shape > 0 && shape <= DBL_MAX;
}

double oltr_rng_gamma(oltr_rng *rng, double shape)
{
    if (!is_shape(shape))
        return (double)NAN;
    return shape >= 1 ? gamma_large(rng, shape) : exp(log_gamma_draw(rng, shape));
}

double oltr_rng_beta(oltr_rng *rng, double a, double b)
{
    if (!is_shape(a) || !is_shape(b))
        return (double)NAN;
    if (a >= 1 && b >= 1) {
        double x = gamma_large(rng, a), y = gamma_large(rng, b);
        return isinf(x + y) ? 0.5 * x / (0.5 * x + 0.5 * y) : x / (x + y);
    }
    double log_x = log_gamma_draw(rng, a), log_y = log_gamma_draw(rng, b);
    if (isinf(log_x) && isinf(log_y)) /* shapes below 1e-306: 1 with chance a / (a + b), else 0 */
        return oltr_rng_uniform(rng) < a / (a + b);
    return 1 / (1 + exp(log_y - log_x));
}
