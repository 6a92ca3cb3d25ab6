/* cpu.h - which kernels this machine can run.
 *
 * Every vector kernel has a plain C twin that returns the same bits, so the answer changes the speed and nothing
 * else.  OLTR_PLAIN builds the library without vector kernels (the tests compare the two builds).
 */
#ifndef OLTR_BASE_CPU_H
#define OLTR_BASE_CPU_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(OLTR_PLAIN)
#define OLTR_HAVE_AVX2 1
#define OLTR_TARGET_AVX2 __attribute__((target("avx2,fma,bmi,popcnt,lzcnt")))
static inline int cpu_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); /* every such machine has BMI too */
}
#else
#define OLTR_HAVE_AVX2 0
static inline int cpu_has_avx2(void)
{
    return 0;
}
#endif

#endif
