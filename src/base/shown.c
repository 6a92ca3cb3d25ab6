/* shown.c - see shown.h.  Messages quote what people typed, and what they typed may be long or hostile to a terminal,
 * so quoting goes through one function. */
#include "base/shown.h"

#include <string.h>

/* A message must not end in the middle of a character. */
static size_t whole_characters(const char *text, size_t limit)
{
    while (limit > 0 && ((unsigned char)text[limit] & 0xC0U) == 0x80U) {
        limit--;
    }
    return limit;
}

const char *shown(const char *text, char buffer[SHOWN_SIZE])
{
    static const char dots[] = "...";
    size_t length = strlen(text), room = SHOWN_SIZE - sizeof dots;
    size_t keep = length < SHOWN_SIZE ? length : whole_characters(text, room);
    for (size_t i = 0; i < keep; i++) {
        unsigned char c = (unsigned char)text[i];
        buffer[i] = c < 0x20 || c == 0x7F ? '?' : text[i];
    }
    memcpy(buffer + keep, dots, keep < length ? sizeof dots : 0);
    if (keep == length) {
        buffer[keep] = '\0';
    }
    return buffer;
}
