/* error.c - see error.h. */
#include "engine/base/error.h"

#include "engine/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 4608 }; /* a path of PATH_MAX bytes and a sentence */

/* A sentence that is too long has a long path in it: its middle is left out, because the reason is
 * at the end. */
static void copy_ends(oltr_error *error, const char *all, size_t length)
{
    static const char dots[] = "...";
    size_t head = text_cut(all, sizeof error->msg / 3);
    size_t tail = length - (sizeof error->msg - sizeof dots - head);
    while (((unsigned char)all[tail] & 0xC0U) == 0x80U)
        tail++;
    snprintf(error->msg, sizeof error->msg, "%.*s%s%s", (int)head, all, dots, all + tail);
}

oltr_status set_error(oltr_error *error, oltr_status code, const char *format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        error->code = code;
        char all[LONGEST];
        vsnprintf(all, sizeof all, format, args);
        va_end(args);
        size_t length = strlen(all);
        if (length < sizeof error->msg)
            memcpy(error->msg, all, length + 1);
        else
            copy_ends(error, all, length);
        for (char *c = error->msg; *c != '\0'; c++)
            if ((unsigned char)*c < 0x20 || *c == 0x7F) /* of quoted input; terminals obey them */
                *c = '?';
    }
    return code;
}

oltr_status pass_error(oltr_status status, const oltr_error *said, oltr_error *error)
{
    if (status == OLTR_OK)
        return OLTR_OK;
    return set_error(error, status, "%s", said->msg[0] ? said->msg : oltr_strerror(status));
}
