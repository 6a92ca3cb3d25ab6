/* effort.h - how much a test does: what fits the build, and what the environment asks for. */
#ifndef OLTR_TESTS_EFFORT_H
#define OLTR_TESTS_EFFORT_H

#include <stdint.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SLOW_BUILD 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW_BUILD 1
#endif

/* Sample sizes are multiples of EFFORT: a build with sanitizers does a quarter of the work.  With
 * -DCMAKE_C_FLAGS=-DOLTR_EFFORT=8, or more, a build does more. */
#ifdef SLOW_BUILD
enum { EFFORT = 1 };
#elif defined(OLTR_EFFORT)
enum { EFFORT = OLTR_EFFORT };
#else
enum { EFFORT = 4 };
#endif

/* The number in an environment variable. */
static inline uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value && *value ? strtoull(value, NULL, 10) : otherwise;
}

#endif
