/* target.h - what all fuzz targets share: the entry point, and a bound on memory.
 *
 * A claim of a billion items must be answered with a status.  That the machine survives the
 * question is asked here: single allocations are bounded (by the sanitizers where there are some,
 * else by the driver), and the library must live with a refusal.
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);
const char *__tsan_default_options(void);

/* Aborts with words: what a fuzzer keeps the input for. */
static inline void must_hold(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz: %s\n", what);
        abort();
    }
}

#endif
