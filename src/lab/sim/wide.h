/* wide.h - integers of 128 bits in two's complement, for the sums of results.h.
 *
 * gcc and clang have __int128 on 64-bit processors only.  These are the few operations that the
 * sums need, on two words of 64 bits, the same on every processor; the tests compare them with
 * __int128 where there is one.  Sums wrap at 2^128.
 */
#ifndef OLTR_LAB_SIM_WIDE_H
#define OLTR_LAB_SIM_WIDE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct wide {
    uint64_t low, high;
} wide;

static inline wide wide_of(int64_t value)
{
    return (wide){(uint64_t)value, value < 0 ? UINT64_MAX : 0};
}

static inline bool wide_negative(wide a)
{
    return a.high >> 63 != 0;
}

static inline wide wide_add(wide a, wide b)
{
    uint64_t low = a.low + b.low;
    return (wide){low, a.high + b.high + (low < a.low)};
}

static inline wide wide_negate(wide a)
{
    return wide_add((wide){~a.low, ~a.high}, (wide){1, 0});
}

static inline wide wide_subtract(wide a, wide b)
{
    return wide_add(a, wide_negate(b));
}

/* The whole product of two words, by halves. */
static inline wide wide_product(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32); /* at most 2^64 - 2^32 */
    uint64_t other = a0 * b1 + (uint32_t)middle;
    return (wide){other << 32 | (uint32_t)(a0 * b0), a1 * b1 + (middle >> 32) + (other >> 32)};
}

static inline wide wide_multiply(wide a, wide b)
{
    wide product = wide_product(a.low, b.low);
    product.high += a.low * b.high + a.high * b.low;
    return product;
}

/* value 2^bits, bits < 128 */
static inline wide wide_shifted(uint64_t value, unsigned bits)
{
    if (bits >= 64)
        return (wide){0, value << (bits - 64)};
    return (wide){value << bits, bits ? value >> (64 - bits) : 0};
}

static inline bool wide_less(wide a, wide b)
{
    int64_t high_a = (int64_t)a.high, high_b = (int64_t)b.high;
    return high_a < high_b || (high_a == high_b && a.low < b.low);
}

static inline bool wide_equal(wide a, wide b)
{
    return a.low == b.low && a.high == b.high;
}

/* a / n towards zero, by long division in digits of 32 bits; n > 0 */
static inline wide wide_divide(wide a, uint32_t n)
{
    wide m = wide_negative(a) ? wide_negate(a) : a;
    uint64_t high = m.high / n, rest = m.high % n;
    uint64_t upper = (rest << 32) | (m.low >> 32), lower = (upper % n) << 32 | (uint32_t)m.low;
    wide quotient = {(upper / n) << 32 | lower / n, high};
    return wide_negative(a) ? wide_negate(quotient) : quotient;
}

/* The nearest double, ties to even: the upper 64 bits of the magnitude, with a last bit that says
 * whether any below is set. */
static inline double wide_double(wide a)
{
    wide m = wide_negative(a) ? wide_negate(a) : a;
    int shift = m.high ? 64 - __builtin_clzll(m.high) : 0;
    uint64_t upper = m.low;
    if (shift == 64)
        upper = m.high | (m.low != 0);
    else if (shift)
        upper = m.high << (64 - shift) | m.low >> shift | (m.low << (64 - shift) != 0);
    double magnitude = ldexp((double)upper, shift);
    return wide_negative(a) ? -magnitude : magnitude;
}

#endif
