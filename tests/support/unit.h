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
#include "support/effort.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Memory of exactly that size, so that a sanitizer sees the first byte beyond it. */
static inline void *exactly(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    assert_non_null(memory);
    return memory;
}

#endif
