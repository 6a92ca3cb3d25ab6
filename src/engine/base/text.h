/* text.h - a piece of text that grows, and questions about strings.  A file is first composed in
 * memory and then written in one go, so that a failure half way leaves nothing behind.  `failed`
 * records that memory ran out; the writer of the file reports it. */
#ifndef OLTR_ENGINE_BASE_TEXT_H
#define OLTR_ENGINE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* "1 row", "2 rows"; "1 query", "2 queries". */
static inline const char *plural_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}
static inline const char *plural_ies(uint64_t count)
{
    return count == 1 ? "y" : "ies";
}

/* How many columns a UTF-8 string takes on a terminal, one for each character. */
size_t text_width(const char *string);

/* The length of the UTF-8 character that begins the string; 0 if it is none (overlong forms and
 * surrogates are not). */
size_t text_character(const char *string);
/* How many bytes of the string to keep so that they are at most `limit` and no character is cut. */
size_t text_cut(const char *string, size_t limit);

/* Well-formed UTF-8 without control characters: fit for a label, a title, one line of a file or of
 * a terminal. */
bool text_is_line(const char *string);

/* Digits and nothing else, few enough for 64 bits. */
bool count_is_plain(const char *string);

/* The whole string as a number, or false: no blanks, no hexadecimal, no infinity. */
bool number_is_plain(const char *string);

#endif
