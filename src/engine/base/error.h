/* error.h - how cold calls report: a code to return and a sentence to read. */
#ifndef OLTR_ENGINE_BASE_ERROR_H
#define OLTR_ENGINE_BASE_ERROR_H

#include <oltr/oltr.h>

/* Fills *error (which may be NULL) and returns the code, so that a check is one line: return
 * set_error(...). */
oltr_status set_error(oltr_error *error, oltr_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The name in `names` (n of them, `stride` bytes apart, each a const char *) nearest to `word`, or
 * NULL when none is near enough to be what was meant. */
const char *nearest_name(const char *word, const void *names, size_t n, size_t stride);

#endif
