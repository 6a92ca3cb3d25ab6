/* target.h - what all fuzz targets share: the entry point, and a bound on memory.
 *
 * Input that claims a billion items must be refused with a status.  Single allocations are bounded
 * (by the sanitizers where there are some, else by the driver), and the library must handle a
 * refusal.
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);
const char *__tsan_default_options(void);

/* Aborts with a message; a fuzzer then keeps the input. */
static inline void must_hold(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz: %s\n", what);
        abort();
    }
}

#endif
