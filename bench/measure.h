/* measure.h - how the benches measure: thread CPU time, all variants of a comparison in turn,
 * medians of ratios.
 *
 * The machine is shared and its clock wanders, so a time by itself means little.  A comparison
 * plays each variant for a few milliseconds, then again from the start, and takes the ratio within
 * each repetition: what disturbs one variant disturbs its neighbour too.  Every other repetition
 * goes backwards, so that no variant always comes first.
 */
#ifndef OLTR_BENCH_MEASURE_H
#define OLTR_BENCH_MEASURE_H

#include <stdint.h>

/* Nanoseconds this thread has computed. */
uint64_t thread_ns(void);

enum { MAX_REPETITIONS = 1000 };

typedef struct variant {
    void (*play)(void *context, uint32_t rounds);
    void *context;
    uint32_t rounds;            /* in one repetition */
    double ns[MAX_REPETITIONS]; /* of one round, repetition by repetition */
} variant;

void measure(variant *v, uint32_t n, uint32_t repetitions);

/* The middle of a sample, and its quartiles. */
typedef struct spread {
    double low, median, high;
} spread;
spread spread_of(const double *x, uint32_t n);

/* above / below and (above - minus) / below, repetition by repetition. */
spread ratio(const variant *above, const variant *below, uint32_t repetitions);
spread ratio_without(const variant *above, const variant *minus, const variant *below,
                     uint32_t repetitions);
double median_ns(const variant *v, uint32_t repetitions);

/* Ends the program with a message: a bench that cannot run has nothing to report. */
#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 1, 2)))
#endif
void die(const char *format, ...);

#endif
