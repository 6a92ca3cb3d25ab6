/* unit.h - what every test file needs: cmocka, random input that does not come from the engine
 * under test, and an effort that fits the build.
 */
#ifndef OLTR_TESTS_UNIT_H
#define OLTR_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

/* Prints like printf, then fails the test. */
#define FAIL_WITH(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SLOW_BUILD 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW_BUILD 1
#endif

/* Sample sizes are multiples of EFFORT: a build with sanitizers does an eighth of the work. */
#ifdef SLOW_BUILD
enum { EFFORT = 1 };
#else
enum { EFFORT = 8 };
#endif

/* SplitMix64 (Steele, Lea and Flood 2014). */
typedef struct source {
    uint64_t state;
} source;

static inline uint64_t next_bits(source *from)
{
    uint64_t z = (from->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline uint32_t next_word(source *from)
{
    return (uint32_t)(next_bits(from) >> 32);
}

/* On 0..n-1; n is small, the bias of the remainder does not matter here. */
static inline uint32_t next_below(source *from, uint32_t n)
{
    return (uint32_t)(next_bits(from) % n);
}

static inline double next_unit(source *from)
{
    return (double)(next_bits(from) >> 11) * 0x1p-53;
}

static inline double log_uniform(source *from, double low, double high)
{
    return low * exp(next_unit(from) * log(high / low));
}

/* Memory of exactly that size, so that a sanitizer sees the first byte beyond it. */
static inline void *exactly(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    assert_non_null(memory);
    return memory;
}

#endif
