/* error.c - formatting of error messages, and the "did you mean" that goes into them. */
#include "engine/base/error.h"

#include "engine/base/nearest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

oltr_status set_error(oltr_error *error, oltr_status code, const char *format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        error->code = code;
        vsnprintf(error->msg, sizeof error->msg, format, args);
        va_end(args);
    }
    return code;
}

const char *nearest_name(const char *word, const void *names, size_t n, size_t stride)
{
    struct nearest nearest = nearest_to(word);
    for (size_t i = 0; i < n; i++) {
        const char *name;
        memcpy(&name, (const char *)names + i * stride, sizeof name);
        nearest_offer(&nearest, name);
    }
    return nearest.best;
}
