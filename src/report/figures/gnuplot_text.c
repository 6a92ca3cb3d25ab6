/* gnuplot_text.c - see gnuplot_text.h.
 *
 * Double quotes, because single quotes cannot hold every string: '''a' is read as the empty string
 * '' and something behind it.  Three characters mean something between double quotes: the quote,
 * the backslash and the backquote, which runs a command; the backquote has no escape of its own and
 * is written in octal.  The terminals are set to `noenhanced` (figure_formats), so braces, ^, _, &
 * and @ mean nothing. */
#include "report/figures/gnuplot_text.h"

#include <string.h>

/* One character of `length` bytes, 0 if it is no character. */
static void add_character(struct text *out, const char *at, size_t length)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    bool is_noncharacter = length == 3 && memcmp(at, "\xEF\xBF", 2) == 0 &&
                           (unsigned char)at[2] >= 0xBE; /* U+FFFE, F */
    unsigned char c = (unsigned char)*at;
    if (length == 0 || is_noncharacter)
        text_add(out, replacement); /* XML has no place for it */
    else if (c < 0x20 || c == 0x7F)
        text_add(out, " ");
    else if (c == '"' || c == '\\')
        text_printf(out, "\\%c", c);
    else if (c == '`')
        text_add(out, "\\140");
    else
        text_bytes(out, at, length);
}

static void add_quoted(struct text *out, const char *string, bool double_percent)
{
    text_add(out, "\"");
    while (*string != '\0') {
        size_t length = text_character(string);
        add_character(out, string, length);
        if (double_percent && *string == '%')
            text_add(out, "%");
        string += length > 0 ? length : 1;
    }
    text_add(out, "\"");
}

void gnuplot_string(struct text *out, const char *string)
{
    add_quoted(out, string, false);
}

void gnuplot_tic(struct text *out, const char *label)
{
    add_quoted(out, label, true);
}
