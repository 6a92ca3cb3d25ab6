/* gnuplot_text.c - see gnuplot_text.h.
 *
 * Strings are in double quotes, because single quotes cannot hold every string: '''a' is read as
 * the empty string '' and more text.  Three characters are special in double quotes: the quote, the
 * backslash and the backquote, which runs a command; the backquote is written in octal.  The
 * terminals are `noenhanced` (gnuplot_formats), so braces, ^, _, & and @ are plain characters. */
#include "report/figures/gnuplot_text.h"

#include <oltr/oltr.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One character of `length` bytes, 0 if it is no character. */
static void add_character(struct text *out, const char *at, size_t length)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    bool is_noncharacter = length == 3 && memcmp(at, "\xEF\xBF", 2) == 0 &&
                           (unsigned char)at[2] >= 0xBE; /* U+FFFE, F */
    unsigned char c = (unsigned char)*at;
    if (length == 0 || is_noncharacter)
        text_add(out, replacement); /* XML does not allow it */
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
    while (*string) {
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

/* ---- tics */

/* 10000 as "10,000"; numbers that are not whole, or small, as they are. */
void gnuplot_grouped(double value, char *out, size_t size)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%.12g", value);
    int whole = (int)strspn(digits, "0123456789");
    if (whole < 4 || whole != length) {
        (void)snprintf(out, size, "%s", digits);
        return;
    }
    size_t at = 0;
    for (int i = 0; i < length && at + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

void gnuplot_tic_at(struct text *out, double value, bool first)
{
    char label[40];
    gnuplot_grouped(value, label, sizeof label);
    text_printf(out, "%s'%s' %.12g", first ? "" : ", ", label, value);
}

/* 1, 2 or 5 times a power of ten: four to eight steps over the range. */
static double nice_step(double range)
{
    double raw = range / 6, power = pow(10, floor(log10(raw))), lead = raw / power;
    return power * (lead <= 1.5 ? 1 : lead <= 3.5 ? 2 : lead <= 7.5 ? 5 : 10);
}

void gnuplot_tics(struct text *out, char axis, double low, double high)
{
    double step = nice_step(high > low ? high - low : 1);
    text_printf(out, "set %ctics (", axis);
    double first = ceil(low / step - 1e-9);
    for (int i = 0; i < 20 && (first + i) * step <= high * (1 + 1e-9); i++)
        gnuplot_tic_at(out, (first + i) * step, i == 0);
    text_add(out, ")\n");
}

/* ---- what all scripts have */

void gnuplot_head(struct text *out, const char *file, const char *title)
{
    text_printf(out,
                "# %s.gp - drawn by oltr %s from %s.csv beside it.\n"
                "# To restyle: edit, then run `gnuplot %s.gp` in this folder.\n\n"
                "set encoding utf8\nset datafile separator comma\nset title ",
                file, oltr_version(), file, file);
    gnuplot_string(out, title);
    text_add(out, " font ',16'\n");
}

void gnuplot_look(struct text *out)
{
    text_add(out, "set border 3 linecolor rgb '#555555' linewidth 1\n"
                  "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
                  "set grid xtics ytics back linetype 1 linecolor rgb '#E4E4E4' linewidth 0.8\n");
}

/* PNG has twice the dots of the SVG, for sharp text on any screen.  The size of a point differs
 * between the formats; the scales make them look alike. */
void gnuplot_formats(struct text *out, const char *file, int width, int height)
{
    text_printf(out,
                "\ndo for [format in 'svg png pdf'] {\n"
                "    if (format eq 'svg') {\n"
                "        set terminal svg size %d,%d background 'white' noenhanced font 'DejaVu "
                "Sans,Verdana,Helvetica,sans-serif,13'\n    }\n"
                "    if (format eq 'png') {\n"
                "        set terminal pngcairo size %d,%d noenhanced font 'DejaVu Sans,12' "
                "fontscale 1.75 linewidth 2 pointscale 2\n    }\n"
                "    if (format eq 'pdf') {\n"
                "        set terminal pdfcairo size %.2fin,%.2fin noenhanced font 'DejaVu Sans,12' "
                "fontscale 0.6 linewidth 1 pointscale 0.6 dashlength 1.7\n    }\n"
                "    set output '%s.'.format\n",
                width, height, 2 * width, 2 * height, width / 120.0, height / 120.0, file);
}
