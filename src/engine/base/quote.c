/* quote.c - see quote.h. */
#include "engine/base/quote.h"

#include "engine/base/text.h"

#include <string.h>

const char *quote_input(const char *text, char buffer[QUOTE_SIZE])
{
    static const char dots[] = "...";
    size_t length = strlen(text), room = QUOTE_SIZE - sizeof dots;
    size_t keep = length < QUOTE_SIZE ? length : text_cut(text, room);
    for (size_t i = 0; i < keep; i++) {
        unsigned char c = (unsigned char)text[i];
        buffer[i] = c < 0x20 || c == 0x7F ? '?' : text[i];
    }
    memcpy(buffer + keep, dots, keep < length ? sizeof dots : 0);
    if (keep == length)
        buffer[keep] = '\0';
    return buffer;
}
