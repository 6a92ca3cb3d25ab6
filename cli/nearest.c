/* nearest.c - see nearest.h. */
#include "nearest.h"

#include "report/shown.h"

#include <stdio.h>

const char *nearest_hint(const struct nearest *nearest, char hint[HINT_SIZE])
{
    char name[SHOWN_SIZE];
    hint[0] = '\0';
    if (nearest->best != NULL) {
        (void)snprintf(hint, HINT_SIZE, "; did you mean `%s`?", shown(nearest->best, name));
    }
    return hint;
}
