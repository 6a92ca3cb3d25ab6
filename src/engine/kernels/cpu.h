/* cpu.h - which kernels this machine can run.
 *
 * Every vector kernel has a plain C twin that returns the same bits, so the answer changes the
 * speed and nothing else.  OLTR_PLAIN builds the library without vector kernels (the tests compare
 * the two builds).  AVX-512 is for the few kernels that gain by it; a machine that has it has AVX2
 * too.
 */
#ifndef OLTR_ENGINE_KERNELS_CPU_H
#define OLTR_ENGINE_KERNELS_CPU_H

#include <float.h>

/* The twins agree because every float and double operation is rounded to its own type
 * (docs/numerics.md). */
_Static_assert(
    FLT_EVAL_METHOD == 0,
    "float arithmetic must round to float: compile with gcc -fexcess-precision=fast, and "
    "for i386 with -msse2 -mfpmath=sse");
_Static_assert(FLT_RADIX == 2 && FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53,
               "float and double must be those of IEEE 754");

#if defined(__x86_64__) && defined(__GNUC__) && !defined(OLTR_PLAIN)
#define OLTR_HAVE_AVX2 1
#define OLTR_TARGET_AVX2 __attribute__((target("avx2,fma,bmi,popcnt,lzcnt")))
static inline int cpu_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("fma"); /* every such machine has BMI too */
}
#define OLTR_HAVE_AVX512 1
#define OLTR_TARGET_AVX512                                                                         \
    __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,bmi,popcnt,lzcnt")))
static inline int cpu_has_avx512(void)
{
    return __builtin_cpu_supports("avx512vl") !=
           0; /* every such machine has F, BW and DQ too, and AVX2 */
}
#else
#define OLTR_HAVE_AVX2 0
#define OLTR_HAVE_AVX512 0
static inline int cpu_has_avx2(void)
{
    return 0;
}

static inline int cpu_has_avx512(void)
{
    return 0;
}
#endif

#endif
