/* error.h - how calls outside the hot path report: a code to return and a sentence to read. */
#ifndef OLTR_ENGINE_BASE_ERROR_H
#define OLTR_ENGINE_BASE_ERROR_H

#include <oltr/oltr.h>

/* Fills *error (which may be NULL) and returns the code, so that a check is one line: return
 * set_error(...). */
oltr_status set_error(oltr_error *error, oltr_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The status of an operation from outside: in *error with its sentence or, where it gave none, with
 * that of the status.  Such an operation is called with an error that is not NULL and empty. */
oltr_status pass_error(oltr_status status, const oltr_error *said, oltr_error *error);

#endif
