/* plain_real.h - numbers with a decimal point, whatever the locale of the program. */
#ifndef OLTR_ENGINE_BASE_PLAIN_REAL_H
#define OLTR_ENGINE_BASE_PLAIN_REAL_H

#include <stdarg.h>
#include <stddef.h>

/* As strtod(), strtof(), snprintf() and vsnprintf() in the C locale. */
double plain_real(const char *text, char **end);
float plain_real32(const char *text, char **end);
int plain_print(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int plain_print_list(char *out, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

#endif
