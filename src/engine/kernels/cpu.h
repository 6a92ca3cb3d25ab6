/* cpu.h - which vector instructions this build has kernels for, and which of them are in use.
 *
 * Every kernel has a plain C twin that returns the same bits, so the choice changes the speed and
 * nothing else.  The choice is one variable, in cpu.c, set by oltr_cpu_limit() or OLTR_CPU; a call
 * of a kernel reads it once.  OLTR_PLAIN builds the library without vector kernels.
 */
#ifndef OLTR_ENGINE_KERNELS_CPU_H
#define OLTR_ENGINE_KERNELS_CPU_H

#include <float.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <oltr/oltr.h>

/* The twins agree because every float and double operation is rounded to its own type
 * (docs/numerics.md). */
_Static_assert(
    FLT_EVAL_METHOD == 0,
    "float arithmetic must round to float: compile with gcc -fexcess-precision=fast, and "
    "for i386 with -msse2 -mfpmath=sse");
_Static_assert(FLT_RADIX == 2 && FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53,
               "float and double must be those of IEEE 754");

#define OLTR_X86 0
#define OLTR_ARM64 0
#if defined(__GNUC__) && !defined(OLTR_PLAIN)
#if defined(__x86_64__)
#undef OLTR_X86
#define OLTR_X86 1
#elif defined(__aarch64__)
#undef OLTR_ARM64
#define OLTR_ARM64 1
#endif
#endif

#define TARGET_AVX2 __attribute__((target("avx2,fma,bmi,popcnt,lzcnt")))
#define TARGET_AVX512                                                                              \
    __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,bmi,popcnt,lzcnt")))

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define AVX2_INLINE TARGET_AVX2 ALWAYS_INLINE
#define AVX512_INLINE TARGET_AVX512 ALWAYS_INLINE

/* What oltr_cpu() returns, without a call: for the hot path of liboltr.  liboltr-lab holds copies
 * of some kernels but not this variable, and calls oltr_cpu(). */
extern __attribute__((visibility("hidden"))) atomic_uint cpu_used;
static inline uint32_t cpu_in_use(void)
{
    return atomic_load_explicit(&cpu_used, memory_order_relaxed);
}

#endif
