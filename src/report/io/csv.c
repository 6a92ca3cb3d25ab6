/* csv.c - see csv.h. */
#include "report/io/csv.h"

#include <string.h>

void csv_field(struct text *out, const char *field)
{
    if (strpbrk(field, ",\"\r\n") == NULL) {
        text_add(out, field);
        return;
    }
    text_add(out, "\"");
    for (; *field != '\0'; field++) {
        text_bytes(out, field, 1);
        if (*field == '"')
            text_add(out, "\"");
    }
    text_add(out, "\"");
}

/* Unquotes the field that begins after the quote at `from`; returns where the field ends, NULL if
 * it never does. */
static char *unquote(char *from)
{
    char *to = from;
    for (;; from++) {
        if (*from == '\0')
            return NULL;
        if (*from == '"' && *++from != '"')
            break;
        *to++ = *from;
    }
    if (*from != '\0' && strchr(",\r\n", *from) == NULL)
        return NULL; /* something stands between the closing quote and the comma */
    if (to < from)
        *to = '\0';
    return from;
}

/* Ends the field at `end`, steps over the separator; *more says whether the record goes on. */
static char *step(char *end, int *more)
{
    *more = *end == ',';
    if (*end == '\r' && end[1] == '\n')
        *end++ = '\0';
    if (*end != '\0')
        *end++ = '\0';
    return end;
}

int csv_record(char **at, char **field, int capacity)
{
    int count = 0, more = **at != '\0';
    while (more) {
        if (count == capacity)
            return -1;
        bool quoted = **at == '"';
        field[count++] = *at + quoted;
        char *end = quoted ? unquote(*at + 1) : *at + strcspn(*at, ",\r\n");
        if (end == NULL)
            return -1;
        *at = step(end, &more);
    }
    return count;
}

size_t csv_lines(const struct text *text)
{
    size_t lines = 1;
    for (size_t i = 0; i < text->length; i++)
        lines += text->bytes[i] == '\n' || text->bytes[i] == '\r'; /* either alone ends a record */
    return lines;
}
