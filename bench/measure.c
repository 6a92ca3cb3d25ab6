/* measure.c - see measure.h. */
#define _POSIX_C_SOURCE 200809L
#include "measure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void play_once(variant *v, uint32_t repetition)
{
    uint64_t start = thread_ns();
    v->play(v->context, v->rounds);
    v->ns[repetition] = (double)(thread_ns() - start) / (double)v->rounds;
}

void measure(variant *v, uint32_t n, uint32_t repetitions)
{
    for (uint32_t i = 0; i < n; i++) /* warm up caches and branch predictors */
        play_once(&v[i], 0);
    for (uint32_t r = 0; r < repetitions; r++)
        for (uint32_t i = 0; i < n; i++)
            play_once(&v[r % 2 ? n - 1 - i : i], r);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

spread spread_of(const double *x, uint32_t n)
{
    double sorted[MAX_REPETITIONS];
    memcpy(sorted, x, n * sizeof *x);
    qsort(sorted, n, sizeof *sorted, by_value);
    return (spread){sorted[n / 4],
                    n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]),
                    sorted[(n - 1) - n / 4]};
}

spread ratio(const variant *above, const variant *below, uint32_t repetitions)
{
    static const variant zero;
    return ratio_without(above, &zero, below, repetitions);
}

spread ratio_without(const variant *above, const variant *minus, const variant *below,
                     uint32_t repetitions)
{
    double x[MAX_REPETITIONS];
    for (uint32_t r = 0; r < repetitions; r++)
        x[r] = (above->ns[r] - minus->ns[r]) / below->ns[r];
    return spread_of(x, repetitions);
}

double median_ns(const variant *v, uint32_t repetitions)
{
    return spread_of(v->ns, repetitions).median;
}

void *array_of(size_t n, size_t size)
{
    size_t bytes = (n * size + 127) / 64 * 64; /* never 0 */
    void *memory = aligned_alloc(64, bytes);
    if (!memory)
        die("out of memory");
    return memset(memory, 0, bytes);
}

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}
