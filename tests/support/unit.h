/* unit.h - what every test file needs: cmocka, random input, and an effort that fits the build. */
#ifndef OLTR_TESTS_UNIT_H
#define OLTR_TESTS_UNIT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/dice.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

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

/* Memory of exactly that size, so that a sanitizer sees the first byte beyond it. */
static inline void *exactly(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    assert_non_null(memory);
    return memory;
}

#endif
