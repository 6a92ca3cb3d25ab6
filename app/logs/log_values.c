/* log_values.c - see log_values.h. */
#include "app/logs/log_values.h"

#include "engine/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_VALUE = 63 };

/* Copies the text without blanks around it; false if it is empty or too long. */
static bool copy_trimmed(const char *text, size_t size, char out[LONGEST_VALUE + 1])
{
    while (size > 0 && (*text == ' ' || *text == '\t'))
        text++, size--;
    while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t'))
        size--;
    if (size == 0 || size > LONGEST_VALUE || memchr(text, '\0', size))
        return false;
    memcpy(out, text, size);
    out[size] = '\0';
    return true;
}

/* Digits and nothing else: most values of a log. */
static bool is_digits(const char *text, size_t size, uint32_t *out)
{
    uint32_t value = 0;
    if (size < 1 || size > 9)
        return false;
    for (size_t i = 0; i < size; i++) {
        uint32_t digit = (unsigned char)text[i] - (uint32_t)'0';
        if (digit > 9)
            return false;
        value = 10 * value + digit;
    }
    *out = value;
    return true;
}

bool value_number(const char *text, size_t size, double *out)
{
    char word[LONGEST_VALUE + 1];
    uint32_t whole;
    if (is_digits(text, size, &whole)) {
        *out = whole;
        return true;
    }
    if (!copy_trimmed(text, size, word) || !number_is_plain(word))
        return false;
    *out = strtod(word, NULL);
    return isfinite(*out);
}

bool value_whole_number(const char *text, size_t size, uint32_t *out)
{
    double number;
    if (is_digits(text, size, out))
        return true;
    if (!value_number(text, size, &number) || !(number >= 0 && number <= 999999999))
        return false;
    *out = (uint32_t)number;
    return floor(number) >= number;
}

static bool same_word(const char *word, const char *lower)
{
    while (*word != '\0' && (*word | 0x20) == *lower)
        word++, lower++;
    return *word == '\0' && *lower == '\0';
}

bool value_yes_no(const char *text, size_t size, bool *out)
{
    char word[LONGEST_VALUE + 1];
    double number;
    if (value_number(text, size, &number)) {
        *out = number > 0;
        return (number >= 0 && number <= 0) || (number >= 1 && number <= 1);
    }
    if (!copy_trimmed(text, size, word))
        return false;
    *out = same_word(word, "true");
    return *out || same_word(word, "false");
}

/* ---- times */

double time_of_number(double number)
{
    double size = fabs(number);
    return size < 1e11   ? number
           : size < 1e14 ? number / 1e3
           : size < 1e17 ? number / 1e6
                         : number / 1e9;
}

/* Exactly n digits; moves *at behind them. */
static bool take_digits(const char **at, int n, int *out)
{
    *out = 0;
    for (int i = 0; i < n; i++, ++*at) {
        if (**at < '0' || **at > '9')
            return false;
        *out = 10 * *out + (**at - '0');
    }
    return true;
}

static bool take(const char **at, char c)
{
    bool there = **at == c;
    *at += there;
    return there;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Days since 1970-01-01 in the Gregorian calendar.  Years begin in March here, so that the leap day
 * is the last of a year. */
static double days_since_1970(int year, int month, int day)
{
    int y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
    return 365.0 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + (day - 1) - 719468;
}

static bool take_date(const char **at, double *days)
{
    int year, month, day;
    bool good = take_digits(at, 4, &year) && take(at, '-') && take_digits(at, 2, &month) &&
                take(at, '-') && take_digits(at, 2, &day);
    if (!good || year < 1 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
        return false;
    *days = days_since_1970(year, month, day);
    return true;
}

static bool take_clock(const char **at, double *seconds)
{
    int hour, minute, second = 0;
    double scale = 0.1, fraction = 0;
    if (!take_digits(at, 2, &hour) || !take(at, ':') || !take_digits(at, 2, &minute))
        return false;
    if (take(at, ':') && !take_digits(at, 2, &second))
        return false;
    if ((take(at, '.') || take(at, ',')) && (**at < '0' || **at > '9'))
        return false;
    for (; **at >= '0' && **at <= '9'; ++*at, scale /= 10)
        fraction += scale * (**at - '0');
    *seconds = 3600.0 * hour + 60.0 * minute + second + fraction;
    return hour < 24 && minute < 60 && second <= 60; /* a leap second */
}

/* Z, +02:00, +0200, +02, or nothing. */
static bool take_offset(const char **at, double *seconds)
{
    int hours = 0, minutes = 0;
    *seconds = 0;
    if (**at == '\0' || take(at, 'Z') || take(at, 'z'))
        return true;
    bool minus = **at == '-';
    if (!take(at, '+') && !take(at, '-'))
        return false;
    if (!take_digits(at, 2, &hours))
        return false;
    (void)take(at, ':');
    if (**at != '\0' && !take_digits(at, 2, &minutes))
        return false;
    *seconds = (minus ? -60.0 : 60.0) * (60 * hours + minutes);
    return true;
}

bool value_time(const char *text, size_t size, double *out)
{
    char word[LONGEST_VALUE + 1];
    const char *at = word;
    double number, days, clock = 0, offset = 0;
    if (value_number(text, size, &number)) {
        *out = time_of_number(number);
        return true;
    }
    if (!copy_trimmed(text, size, word) || !take_date(&at, &days))
        return false;
    if (*at != '\0') {
        if (!take(&at, 'T') && !take(&at, 't') && !take(&at, ' '))
            return false;
        if (!take_clock(&at, &clock))
            return false;
        at += strspn(at, " ");
        if (!take_offset(&at, &offset))
            return false;
    }
    *out = 86400 * days + clock - offset;
    return *at == '\0';
}

bool value_duration(const char *text, double *out)
{
    static const char units[] = "smhd";
    static const double seconds[] = {1, 60, 3600, 86400};
    size_t size = strlen(text);
    const char *unit = size > 0 ? strchr(units, text[size - 1]) : NULL;
    if (!value_number(text, unit ? size - 1 : size, out) || *out < 0)
        return false;
    *out *= unit ? seconds[unit - units] : 1;
    return isfinite(*out);
}
