/* log_values.h - the values of a log: numbers, yes and no, times. */
#ifndef OLTR_APP_LOGS_LOG_VALUES_H
#define OLTR_APP_LOGS_LOG_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole text as a finite number; blanks around it are allowed, hexadecimal is not. */
bool value_number(const char *text, size_t size, double *out);
/* The whole text as a whole number from 0 to 999,999,999; also like 3.0. */
bool value_whole_number(const char *text, size_t size, uint32_t *out);
/* 1, 0, true or false in any case, 1.0 or 0.0. */
bool value_yes_no(const char *text, size_t size, bool *out);

/* Seconds since 1970.  A date like 2024-11-01, 2024-11-01T12:30:00.5Z, 2024-11-01 12:30:00+02:00;
 * UTC where no offset is given.  Or a number of seconds; from 1e11 on of milliseconds, from 1e14 on
 * of microseconds, from 1e17 on of nanoseconds. */
bool value_time(const char *text, size_t size, double *out);
double time_of_number(double number);

/* A length of time: 90, 90s, 30m, 2h, 7d. */
bool value_duration(const char *text, double *out);

#endif
