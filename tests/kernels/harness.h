/* harness.h - what the checks of the kernels share: guarded memory, comparison by bits, and strange
 * numbers.
 *
 * check_NAME(cpu) compares the version of row NAME for a processor with its plain twin.  Both get
 * the same input and outputs with the same content; `same` compares the outputs, release() the
 * bytes behind them.  Arrays have the length that the headers ask for and begin one element behind
 * an aligned address.
 */
#ifndef OLTR_TESTS_KERNELS_HARNESS_H
#define OLTR_TESTS_KERNELS_HARNESS_H

#include "support/unit.h"
#include "engine/kernels/table.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

#define DECLARE_CHECK(name, ...) void check_##name(uint32_t cpu);
KERNEL_TABLE(DECLARE_CHECK)
#undef DECLARE_CHECK

/* Describes the input of what follows, for the message of a failure. */
void describe(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory of count elements, zero, until release(): alone, or two copies of `from` (NULL: of an
 * arbitrary pattern) as outputs of the twin and of the version. */
void *guarded(size_t count, size_t size);
void *guarded_aligned(size_t count, size_t size); /* to 64 bytes */
void guarded_pair(void *pair[2], size_t count, size_t size, const void *from);
void release(void);

/* Counts a failure unless the elements are equal bit by bit; two NaN count as equal. */
void same_words(const char *what, const uint32_t *twin, const uint32_t *version, size_t n);
void same_floats(const char *what, const float *twin, const float *version, size_t n);
void same_doubles(const char *what, const double *twin, const double *version, size_t n);
void same_bool(const char *what, bool twin, bool version);

oltr_rng generator(dice *from);
float strange_float(dice *from); /* zeros, denormals, the largest; no NaN or infinity */

/* A random subset of 0..n-1 in random order; returns its size, at least 1. */
size_t random_subset(dice *from, uint32_t *item, size_t n);

#endif
