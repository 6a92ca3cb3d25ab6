/* lanes.h - vectors of eight floats or words and of four doubles, by the instructions of AVX2 or
 * NEON.
 *
 * The kernels in *_vector.c are written once in these operations.  Each of them is one or two
 * instructions of AVX2 and up to two of NEON, where a vector is a pair of 128 bits.  VERSION(name)
 * is the name of a kernel's version, LANES_TARGET and LANES_INLINE the attributes of functions.
 *
 *   f8, w8, d4, f4   eight floats, eight words of 32 bits, four doubles, four floats
 *   m8, m4           which of eight or four lanes satisfy a comparison
 */
#ifndef OLTR_ENGINE_KERNELS_LANES_H
#define OLTR_ENGINE_KERNELS_LANES_H

#include "engine/kernels/cpu.h"

#define OLTR_LANES (OLTR_X86 || OLTR_ARM64)
#if OLTR_X86
#include "engine/kernels/lanes_avx2.h"
#elif OLTR_ARM64
#include "engine/kernels/lanes_neon.h"
#endif

#endif
