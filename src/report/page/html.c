/* html.c - see html.h. */
#include "report/page/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void html_text(struct text *out, const char *words)
{
    static const struct {
        char c;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (; *words != '\0'; words++) {
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
            entity = entities[i].c == *words ? entities[i].entity : entity;
        text_bytes(out, entity != NULL ? entity : words, entity != NULL ? strlen(entity) : 1);
    }
}

void html_json(struct text *out, const char *words)
{
    text_add(out, "\"");
    for (; *words != '\0'; words++) {
        unsigned char c = (unsigned char)*words;
        if (c < 0x20 || strchr("\"\\<>&", *words) != NULL)
            text_printf(out, "\\u%04x", (unsigned)c);
        else
            text_bytes(out, words, 1);
    }
    text_add(out, "\"");
}

/* Line ends and double quotes have equals in XML; %, # and & would mean something to the URL. */
void html_svg(struct text *out, const char *svg)
{
    text_add(out, "data:image/svg+xml,");
    for (; *svg != '\0'; svg++) {
        bool blank = *svg == '\n' || *svg == '\t' || *svg == '\r' || *svg == ' ';
        if (blank && (svg[1] == ' ' || svg[1] == '\n' || svg[1] == '\t'))
            continue;
        if (blank)
            text_add(out, " ");
        else if (*svg == '"')
            text_add(out, "'");
        else if (strchr("%#&<>", *svg) != NULL)
            text_printf(out, "%%%02X", (unsigned)*svg);
        else
            text_bytes(out, svg, 1);
    }
}

static int decimals(double se)
{
    int digits = se > 0 ? (int)-floor(log10(se)) : 1;
    return digits < 1 ? 1 : digits > 6 ? 6 : digits;
}

/* A minus that is as wide as a plus. */
static void add_number(struct text *out, double value, int digits, bool with_sign)
{
    char number[64];
    (void)snprintf(number, sizeof number, "%.*f", digits, fabs(value));
    bool zero = number[strspn(number, "0.")] == '\0';
    text_printf(out, "%s%s", zero ? "" : value < 0 ? "−" : with_sign ? "+" : "", number);
}

static void add_exact(struct text *out, double value, bool with_sign)
{
    text_printf(out, "%s%.4g", value < 0 ? "−" : with_sign ? "+" : "", fabs(value));
}

static void add_estimate(struct text *out, double value, double se, bool with_sign)
{
    if (!(se > 0)) {
        add_exact(out, value, with_sign);
        return;
    }
    int digits = decimals(se);
    add_number(out, value, digits, with_sign);
    text_printf(out, " ± %.*f", digits, se);
}

void html_estimate(struct text *out, double value, double se)
{
    add_estimate(out, value, se, false);
}

void html_difference(struct text *out, double value, double se)
{
    add_estimate(out, value, se, true);
}

void html_count(struct text *out, uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    for (int i = 0; i < length; i++)
        text_printf(out, "%s%c", i > 0 && (length - i) % 3 == 0 ? "," : "", digits[i]);
}

void html_seconds(struct text *out, double seconds)
{
    if (seconds < 9.95) {
        text_printf(out, "%.1f s", seconds);
    } else if (seconds < 59.5) {
        text_printf(out, "%.0f s", seconds);
    } else {
        unsigned long whole = (unsigned long)(seconds + 0.5);
        text_printf(out, "%lu min %lu s", whole / 60, whole % 60);
    }
}
