/* error.h - how calls outside the hot path report: a code to return and a sentence to read. */
#ifndef OLTR_ENGINE_BASE_ERROR_H
#define OLTR_ENGINE_BASE_ERROR_H

#include <oltr/oltr.h>

/* Fills *error (which may be NULL) and returns the code, so that a check is one line: return
 * set_error(...). */
oltr_status set_error(oltr_error *error, oltr_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
