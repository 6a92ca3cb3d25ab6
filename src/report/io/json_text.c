/* json_text.c - see json_text.h. */
#define _POSIX_C_SOURCE 200809L
#include "report/io/json_text.h"

#include <stdlib.h>
#include <string.h>

json_t *json_with(json_t *array, json_t *item)
{
    if (json_array_append_new(array, item) == 0)
        return array;
    json_decref(array);
    return NULL;
}

json_t *json_any_string(const char *string)
{
    json_t *json = json_string(string);
    char *plain = json ? NULL : strdup(string);
    for (char *at = plain; at && *at; at++)
        *at = (unsigned char)*at < 0x80 ? *at : '?';
    json = plain ? json_string(plain) : json;
    free(plain);
    return json;
}

/* jansson does not notice when memory runs out while it writes a key, so the text is read again. */
char *json_text(const json_t *json, size_t flags)
{
    char *text = json ? json_dumps(json, flags) : NULL;
    json_t *again = text ? json_loads(text, 0, NULL) : NULL;
    if (!again) {
        free(text);
        text = NULL;
    }
    json_decref(again);
    return text;
}
