/* plain_real.c - see plain_real.h.  A program in a locale with a decimal comma (setlocale) makes
 * strtod() end at the point of 0.5, and printf() write 0,5. */
#define _POSIX_C_SOURCE 200809L
#include "engine/base/plain_real.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

struct locales {
    locale_t plain, before;
};

/* For this thread; without memory the locale stays. */
static struct locales enter(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return (struct locales){plain, uselocale(plain)};
}

static void leave(struct locales locales)
{
    uselocale(locales.before);
    if (locales.plain)
        freelocale(locales.plain);
}

double plain_real(const char *text, char **end)
{
    struct locales locales = enter();
    double value = strtod(text, end);
    leave(locales);
    return value;
}

float plain_real32(const char *text, char **end)
{
    struct locales locales = enter();
    float value = strtof(text, end);
    leave(locales);
    return value;
}

int plain_print_list(char *out, size_t size, const char *format, va_list arguments)
{
    struct locales locales = enter();
    int length = vsnprintf(out, size, format, arguments);
    leave(locales);
    return length;
}

int plain_print(char *out, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = plain_print_list(out, size, format, arguments);
    va_end(arguments);
    return length;
}
