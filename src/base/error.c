/* error.c - formatting of error messages, and the "did you mean" that goes into them. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

oltr_status fail(oltr_error *error, oltr_status code, const char *format, ...)
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

enum { LONGEST = 32 };

/* Edits (insert, delete, replace) that turn a into b; names longer than LONGEST are never near. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);
    size_t row[LONGEST + 1];
    if (la > LONGEST || lb > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t replace = diagonal + (a[i - 1] != b[j - 1]);
            size_t shorter = row[j] < row[j - 1] ? row[j] : row[j - 1];
            diagonal = row[j];
            row[j] = replace < shorter + 1 ? replace : shorter + 1;
        }
    }
    return row[lb];
}

const char *nearest_name(const char *word, const void *names, size_t n, size_t stride)
{
    const char *best = NULL;
    size_t least = strlen(word) / 2 + 1; /* more edits than that, and it is another word */
    for (size_t i = 0; i < n; i++) {
        const char *name;
        memcpy(&name, (const char *)names + i * stride, sizeof name);
        size_t distance = edit_distance(word, name);
        if (distance < least) {
            least = distance;
            best = name;
        }
    }
    return best;
}
