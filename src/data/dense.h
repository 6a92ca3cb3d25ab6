/* dense.h - the fast way through dense rows, whose features are 1:value 2:value 3:value and so on.  See dense_avx2.c. */
#ifndef OLTR_DATA_DENSE_H
#define OLTR_DATA_DENSE_H

#include <stdint.h>
#include <string.h>

/* Is this double (zero, or of normal floats' size) exactly in the middle between two floats? */
static inline int between_floats(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits & 0x1FFFFFFF) == 0x10000000;
}

#endif
