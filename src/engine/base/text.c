/* text.c - see text.h. */
#define _POSIX_C_SOURCE 200809L
#include "engine/base/text.h"

#include "engine/base/plain_real.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool text_reserve(struct text *text, size_t more)
{
    if (text->failed || more >= SIZE_MAX / 2 - text->length) {
        text->failed = true;
        return false;
    }
    size_t need = text->length + more + 1;
    if (need <= text->capacity)
        return true;
    size_t capacity = need + need / 2 + 64;
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    text->bytes[text->length] = '\0';
    return true;
}

void text_bytes(struct text *text, const char *bytes, size_t length)
{
    if (!text_reserve(text, length) || length == 0)
        return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_add(struct text *text, const char *string)
{
    text_bytes(text, string, strlen(string));
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = plain_print_list(NULL, 0, format, arguments);
    if (length < 0) {
        text->failed = true;
    } else if (text_reserve(text, (size_t)length)) {
        (void)plain_print_list(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

void text_free(struct text *text)
{
    free(text->bytes);
    memset(text, 0, sizeof *text);
}

size_t text_width(const char *string)
{
    size_t width = 0;
    for (; *string != '\0'; string++)
        width += ((unsigned char)*string & 0xC0U) != 0x80U;
    return width;
}

size_t text_character(const char *string)
{
    const unsigned char *at = (const unsigned char *)string;
    static const struct {
        unsigned char mask, lead;
        uint32_t smallest;
    } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
    for (size_t more = 0; more < sizeof forms / sizeof forms[0]; more++) {
        if ((at[0] & forms[more].mask) != forms[more].lead)
            continue;
        uint32_t code = at[0] & (unsigned char)~forms[more].mask;
        for (size_t i = 1; i <= more; i++) {
            if ((at[i] & 0xC0U) != 0x80U)
                return 0;
            code = code << 6 | (at[i] & 0x3FU);
        }
        bool good =
            code >= forms[more].smallest && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
        return good ? more + 1 : 0;
    }
    return 0;
}

size_t text_cut(const char *string, size_t limit)
{
    size_t length = strnlen(string, limit + 1);
    if (length <= limit)
        return length;
    while (limit > 0 && ((unsigned char)string[limit] & 0xC0U) == 0x80U)
        limit--;
    return limit;
}

bool text_is_line(const char *string)
{
    const unsigned char *at = (const unsigned char *)string;
    while (*at != '\0') {
        size_t length = text_character((const char *)at);
        bool control =
            *at < 0x20 || *at == 0x7F || (*at == 0xC2 && at[1] < 0xA0); /* C0, delete, C1 */
        if (length == 0 || control)
            return false;
        at += length;
    }
    return true;
}

static const char *skip_digits(const char *at)
{
    return at + strspn(at, "0123456789");
}

bool number_is_plain(const char *string)
{
    const char *start = string + (*string == '-' || *string == '+'), *at = skip_digits(start);
    size_t digits = (size_t)(at - start);
    if (*at == '.') {
        const char *fraction = at + 1;
        at = skip_digits(fraction);
        digits += (size_t)(at - fraction);
    }
    if (digits > 0 && (*at == 'e' || *at == 'E')) {
        const char *exponent = at + 1 + (at[1] == '-' || at[1] == '+');
        at = skip_digits(exponent);
        digits = at > exponent ? digits : 0;
    }
    return digits > 0 && *at == '\0';
}

bool count_is_plain(const char *string)
{
    size_t length = strlen(string);
    return length > 0 && length < 19 && skip_digits(string)[0] == '\0';
}
