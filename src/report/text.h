/* text.h - a piece of text that grows.  Every file is first made whole in memory and then written in one go, so a
 * failure half way leaves nothing behind.  Running out of memory is remembered and reported when it is written. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *bytes; /* (length) and a final '\0'; NULL while empty */
    size_t length, capacity;
    bool failed; /* memory ran out; what was added since is lost */
};

void text_bytes(struct text *text, const char *bytes, size_t length);
void text_add(struct text *text, const char *string);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);

/* Makes room for `more` bytes after the present end; false when memory ran out. */
bool text_reserve(struct text *text, size_t more);

/* How many columns a UTF-8 string takes on a terminal, one for each character. */
size_t text_width(const char *string);

/* The length of the UTF-8 character that begins the string; 0 if it is none (overlong forms and surrogates are not). */
size_t text_character(const char *string);
/* How many bytes of the string to keep so that they are at most `limit` and no character is cut. */
size_t text_cut(const char *string, size_t limit);

/* Well-formed UTF-8 without control characters: fit for a label, a title, one line of a file or of a terminal. */
bool text_is_line(const char *string);

#endif
