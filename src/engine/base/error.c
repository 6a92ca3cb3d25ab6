/* error.c - see error.h. */
#include "engine/base/error.h"

#include <stdarg.h>
#include <stdio.h>

oltr_status set_error(oltr_error *error, oltr_status code, const char *format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        error->code = code;
        vsnprintf(error->msg, sizeof error->msg, format, args);
        va_end(args);
        for (char *c = error->msg; *c != '\0'; c++)
            if ((unsigned char)*c < 0x20 || *c == 0x7F) /* of quoted input; terminals obey them */
                *c = '?';
    }
    return code;
}
