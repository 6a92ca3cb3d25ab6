/* json_text.h - JSON values made by parts that may fail for lack of memory: one missing part makes
 * the whole missing, because a file with holes in it would be wrong. */
#ifndef OLTR_REPORT_IO_JSON_TEXT_H
#define OLTR_REPORT_IO_JSON_TEXT_H

#include <jansson.h>

/* The array with the item at its end; NULL, and the array is freed, if that fails.  Takes both. */
json_t *json_with(json_t *array, json_t *item);

/* A string that need not be UTF-8 (the name of a file): bytes above 127 become '?' if it is not. */
json_t *json_any_string(const char *string);

/* The text of a value, to be freed; NULL if the value is NULL or memory ran out. */
char *json_text(const json_t *json, size_t flags);

#endif
