/* dense.h - the fast way through dense rows, whose features are 1:value 2:value 3:value and so on,
 * one blank apart.
 *
 * It takes short plain numbers only, checks all that it takes, and gives up at anything else: then
 * the row is parsed again the ordinary way.  So it can be wrong about nothing, and a machine
 * without it reads the same.
 */
#ifndef OLTR_LAB_DATA_DENSE_H
#define OLTR_LAB_DATA_DENSE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <oltr/oltr.h>

#include "lab/data/line.h"

/* Is this double (zero, or of the size of normal floats) exactly in the middle between two
 * floats? */
static inline int between_floats(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits & 0x1FFFFFFF) == 0x10000000;
}

enum { DENSE_GROUP = 8, DENSE_REACH = 128 + LONGEST_KEY + 32 };

/* Reads the features 1, 2, ... at *at, at most `most`, in groups of DENSE_GROUP, into x and moves
 * *at behind them.  Returns how many. Looks at bytes before `readable` only; a blank is before
 * *at. */
uint32_t dense_avx2(const line_tables *t, const char **at, const char *readable, uint32_t most,
                    float *x);

/* Whether the processor, and the limit set for it, allow the function above. */
static inline bool dense_is_fast(void)
{
    uint32_t cpu = oltr_cpu();
    return cpu == OLTR_CPU_AVX2 || cpu == OLTR_CPU_AVX512;
}

#endif
