/* fail.h - how the program's own code reports an error: a code for the caller, words for the person. */
#ifndef REPORT_FAIL_H
#define REPORT_FAIL_H

#include <oltr/oltr.h>

/* Fills `error` (which may be NULL) and returns `code`, so that a caller can write `return fail_with(...)`. */
oltr_status fail_with(oltr_error *error, oltr_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* `text` made fit to be quoted in a message: one line, no control characters, never longer than the buffer. */
enum { SHOWN_SIZE = 56 };
const char *shown(const char *text, char buffer[SHOWN_SIZE]);

#endif
