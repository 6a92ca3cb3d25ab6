/* cpu.c - the CPU mask: what the processor has, what OLTR_CPU or the program allows, what is used.
 *
 * The mask is the only variable of the libraries.  It is set when the library is loaded; before
 * that it is 0, plain C, so that a constructor of another library that calls this one is right too.
 * An OLTR_CPU that is no name counts as not set: a library does not print, and `oltr version` says
 * so.
 */
#include "engine/kernels/cpu.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"plain", "avx2", "avx512", "neon"};
enum { NAMES = sizeof names / sizeof *names };

atomic_uint cpu_used;

const char *oltr_cpu_name(uint32_t cpu)
{
    return cpu < NAMES ? names[cpu] : NULL;
}

uint32_t oltr_cpu(void)
{
    return cpu_in_use();
}

uint32_t oltr_cpu_found(void)
{
#if OLTR_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vl")) /* every such processor has F, BW, DQ and AVX2 */
        return OLTR_CPU_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) /* and BMI */
        return OLTR_CPU_AVX2;
#elif OLTR_ARM64
    return OLTR_CPU_NEON;
#endif
    return OLTR_CPU_PLAIN;
}

uint32_t oltr_cpu_limit(uint32_t most)
{
    uint32_t found = oltr_cpu_found(), used = found;
    if (most == OLTR_CPU_PLAIN || (most < found && found != OLTR_CPU_NEON))
        used = most;
    atomic_store_explicit(&cpu_used, used, memory_order_relaxed);
    return used;
}

/* Before main(), so before the program has threads that could change the environment. */
__attribute__((constructor)) static void set_from_environment(void)
{
    const char *name = getenv("OLTR_CPU");
    uint32_t most = 0;
    while (name && most < NAMES && strcmp(name, names[most]) != 0)
        most++;
    oltr_cpu_limit(name ? most : NAMES);
}
