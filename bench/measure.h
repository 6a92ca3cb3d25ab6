/* measure.h - how the benches measure: thread CPU time, the variants of a comparison in turn,
 * medians of ratios.
 *
 * Other programs run on the machine and its clock rate changes, so a single time says little.  A
 * comparison runs each variant for a few milliseconds, then all of them again, and takes the ratio
 * of two variants within each repetition: both were disturbed alike.  Every second repetition runs
 * in reverse order, so that no variant always comes first.
 */
#ifndef OLTR_BENCH_MEASURE_H
#define OLTR_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

/* CPU time of this thread in nanoseconds. */
uint64_t thread_ns(void);

enum { MAX_REPETITIONS = 1000 };

typedef struct variant {
    void (*play)(void *context, uint32_t rounds);
    void *context;
    uint32_t rounds;            /* in one repetition */
    double ns[MAX_REPETITIONS]; /* per round, for each repetition */
} variant;

/* Runs all variants once to warm up, then `repetitions` times. */
void measure(variant *v, uint32_t n, uint32_t repetitions);

typedef struct spread {
    double low, median, high; /* the median and the two quartiles */
} spread;
spread spread_of(const double *x, uint32_t n);

/* above / below and (above - minus) / below, computed in each repetition. */
spread ratio(const variant *above, const variant *below, uint32_t repetitions);
spread ratio_without(const variant *above, const variant *minus, const variant *below,
                     uint32_t repetitions);
double median_ns(const variant *v, uint32_t repetitions);

/* n zeroed elements, aligned to 64 bytes, for free(); ends the program when there is no memory. */
void *array_of(size_t n, size_t size);

/* Prints a message and ends the program with exit code 1. */
#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 1, 2)))
#endif
void die(const char *format, ...);

#endif
