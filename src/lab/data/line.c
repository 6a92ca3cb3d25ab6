/* line.c - the parser of a line, character by character; see line.h.
 *
 * A number of at most 15 digits and a small exponent is an integer below 2^53 and a power of ten
 * that a double holds exactly: one division rounds it once.  Rounding the double to a float is a
 * second rounding, which is wrong only if the first one gave the middle between two floats; such
 * numbers, and all longer ones, are left to strtof.
 */
#define _GNU_SOURCE 1
#include "lab/data/line.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "lab/data/dense.h"

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Does a word of the line end here? */
static bool ends_word(const char *at, const char *end)
{
    return at == end || is_blank(*at) || *at == '\n' || *at == '#';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* ---- numbers */

enum { MOST_DIGITS = 15, MOST_POWER = 22 };

static const double power_of_ten[MOST_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

typedef struct decimal {
    uint64_t digits; /* the significant digits, as an integer */
    uint32_t n;      /* how many */
    int64_t power;   /* of ten */
    bool negative;
} decimal;

/* Digits, of which at least one of the number must be there: *any. */
static const char *scan_digits(const char *at, const char *end, decimal *d, bool *any)
{
    const char *from = at;
    for (; at < end && is_digit(*at); at++) {
        if (d->n <= MOST_DIGITS) {
            d->digits = 10 * d->digits + (uint64_t)(*at - '0');
            d->n += d->digits != 0;
        }
    }
    *any |= at != from;
    return at;
}

static const char *scan_exponent(const char *at, const char *end, decimal *d)
{
    bool negative = at < end && *at == '-', any = false;
    int64_t power = 0;
    at += at < end && (*at == '-' || *at == '+');
    for (; at < end && is_digit(*at); at++, any = true)
        power = power < 1000000000 ? 10 * power + (*at - '0') : power; /* no text is longer */
    d->power += negative ? -power : power;
    return any ? at : NULL;
}

/* The grammar of numbers: [+-] digits [. digits] [e [+-] digits], with a digit somewhere before the
 * e. */
static const char *scan_decimal(const char *at, const char *end, decimal *d)
{
    bool any = false;
    *d = (decimal){.negative = at < end && *at == '-'};
    at += at < end && (*at == '-' || *at == '+');
    at = scan_digits(at, end, d, &any);
    if (at < end && *at == '.') {
        const char *point = ++at;
        at = scan_digits(at, end, d, &any);
        d->power = point - at;
    }
    if (any && at < end && (*at == 'e' || *at == 'E'))
        at = scan_exponent(at + 1, end, d);
    return any ? at : NULL;
}

/* The float of a short decimal; false if only strtof can give it. */
static bool float_of(const decimal *d, float *value)
{
    if (d->n > MOST_DIGITS || d->power < -MOST_POWER || d->power > MOST_POWER)
        return false;
    double exact = (double)d->digits; /* below 2^53 */
    double x = d->power < 0 ? exact / power_of_ten[-d->power] : exact * power_of_ten[d->power];
    if (between_floats(x))
        return false;
    *value = (float)(d->negative ? -x : x);
    return true;
}

/* Any number, the exact way.  strtof needs something behind the number; at the end of the text
 * there may be nothing. */
static bool float_by_library(const char *at, const char *behind, const char *end, void *c,
                             float *value)
{
    if (behind < end) {
        *value = strtof_l(at, NULL, c);
        return true;
    }
    size_t n = (size_t)(behind - at);
    char *copy = malloc(n + 1);
    if (!copy)
        return false;
    memcpy(copy, at, n);
    copy[n] = 0;
    *value = strtof_l(copy, NULL, c);
    free(copy);
    return true;
}

const char *parse_value(const char *at, const char *end, void *c, float *value, bool *no_memory)
{
    decimal d;
    const char *behind = scan_decimal(at, end, &d);
    if (!behind || !ends_word(behind, end))
        return NULL;
    if (!float_of(&d, value) && !float_by_library(at, behind, end, c, value))
        *no_memory = true;
    return behind;
}

/* "nan", "-inf", ...: numbers of strtof that are not allowed here. */
static bool is_not_finite(const char *at, const char *end)
{
    at += at < end && (*at == '-' || *at == '+');
    if (end - at < 3)
        return false;
    char word[3];
    for (int i = 0; i < 3; i++)
        word[i] = (char)(at[i] | 0x20);
    return memcmp(word, "nan", 3) == 0 || memcmp(word, "inf", 3) == 0;
}

/* ---- the parts of a line */

static line_kind bad(line *out, const char *at, line_fault what)
{
    out->fault = out->next = at;
    out->what = what;
    return LINE_BAD;
}

/* An integer from 0 to 255, which may be written 2.0 or 2e0. */
static const char *parse_grade(const char *at, const char *end, uint8_t *grade)
{
    if (end - at >= 2 && is_digit(at[0]) && is_blank(at[1])) {
        *grade = (uint8_t)(at[0] - '0');
        return at + 1;
    }
    decimal d;
    const char *behind = scan_decimal(at, end, &d);
    if (!behind || !ends_word(behind, end) || d.n > MOST_DIGITS || d.power < -MOST_POWER ||
        d.power > MOST_POWER)
        return NULL;
    double value = (double)d.digits;
    value = d.power < 0 ? value / power_of_ten[-d.power] : value * power_of_ten[d.power];
    if (!(value <= 255) || value > floor(value) || (d.negative && value > 0))
        return NULL;
    *grade = (uint8_t)value;
    return behind;
}

static const char *parse_integer(const char *at, const char *end, uint64_t most, uint64_t *value)
{
    const char *from = at;
    uint64_t n = 0;
    for (; at < end && is_digit(*at); at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (digit > most || n > (most - digit) / 10)
            return NULL;
        n = 10 * n + digit;
    }
    *value = n;
    return at == from ? NULL : at;
}

/* The grade and the query; leaves out->next behind them. */
static line_kind parse_head(const char *at, const char *end, line *out)
{
    const char *behind = parse_grade(at, end, &out->grade);
    if (!behind)
        return bad(out, at, FAULT_GRADE);
    at = skip_blanks(behind, end);
    if (end - at < 4 || memcmp(at, "qid:", 4) != 0)
        return bad(out, at, FAULT_QUERY);
    behind = parse_integer(at + 4, end, UINT64_MAX, &out->query);
    if (!behind || !ends_word(behind, end))
        return bad(out, at + 4, FAULT_QUERY_NUMBER);
    out->next = behind;
    return LINE_ROW;
}

/* Digits and a colon: then an id is too large, else there is none. */
static bool is_integer_key(const char *at, const char *end)
{
    const char *from = at;
    while (at < end && is_digit(*at))
        at++;
    return at != from && at < end && *at == ':';
}

static void store(line_parser *p, uint32_t id, float value, float *x, line *out)
{
    if (isinf(value)) {
        value = value > 0 ? FLT_MAX : -FLT_MAX;
        out->clamped++;
    }
    out->widest = id > out->widest ? id : out->widest;
    if (id > p->width)
        return; /* the row will be parsed again */
    out->duplicates += id <= p->dense || p->seen[id - 1] == p->now;
    p->seen[id - 1] = p->now;
    x[id - 1] = value;
}

static line_kind parse_feature(line_parser *p, const char *at, const char *end, float *x, line *out)
{
    uint64_t id = 0;
    float value = 0;
    bool no_memory = false;
    const char *colon = parse_integer(at, end, p->most_features, &id);
    if (!colon || id == 0 || colon == end || *colon != ':')
        return bad(out, at, is_integer_key(at, end) ? FAULT_ID : FAULT_FEATURE);
    const char *behind = parse_value(colon + 1, end, p->c, &value, &no_memory);
    if (no_memory)
        return LINE_NO_MEMORY;
    if (!behind)
        return bad(out, colon + 1, is_not_finite(colon + 1, end) ? FAULT_NOT_FINITE : FAULT_VALUE);
    store(p, (uint32_t)id, value, x, out);
    out->next = behind;
    return LINE_ROW;
}

static const char *end_of_line(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline ? newline : end;
}

/* The features that dense.h can read.  After a row that is not dense, dense.h is not tried for some
 * rows, and for up to 64 of them after several. */
static uint32_t take_dense(line_parser *p, const char *readable, float *x, line *out)
{
    enum { MOST_PATIENCE = 64 };
    uint32_t most = p->width < p->tables->n_keys ? p->width : p->tables->n_keys;
    if (p->plain || p->wait > 0) {
        p->wait -= p->wait > 0;
        return 0;
    }
    const char *at = out->next + 1;
    uint32_t n = *out->next == ' ' ? dense_avx2(p->tables, &at, readable, most, x) : 0;
    p->patience = n ? 0 : p->patience < MOST_PATIENCE ? 2 * p->patience + 1 : MOST_PATIENCE;
    p->wait = p->patience;
    out->next = n ? at - 1 : out->next; /* the blank before the next one */
    return n;
}

/* The beginning of a row: what can be read fast, zeros for the rest, and a new number in `seen`. */
static void begin_row(line_parser *p, const char *end, const char *readable, float *x, line *out)
{
    p->dense = out->next < end ? take_dense(p, readable, x, out) : 0;
    out->widest = p->dense;
    memset(x + p->dense, 0, (p->width - p->dense) * sizeof *x);
    if (++p->now == 0) {
        memset(p->seen, 0, p->width * sizeof *p->seen);
        p->now = 1;
    }
}

line_kind parse_line(line_parser *p, const char *at, const char *end, const char *readable,
                     float *x, line *out)
{
    *out = (line){.next = at};
    at = skip_blanks(at, end);
    if (at == end || *at == '\n' || *at == '#') {
        out->next = end_of_line(at, end);
        return LINE_EMPTY;
    }
    line_kind kind = parse_head(at, end, out);
    if (kind != LINE_ROW)
        return kind;
    begin_row(p, end, readable, x, out);
    for (;;) {
        at = skip_blanks(out->next, end);
        if (at == end || *at == '\n' || *at == '#')
            break;
        kind = parse_feature(p, at, end, x, out);
        if (kind != LINE_ROW)
            return kind;
    }
    out->next = end_of_line(at, end);
    return out->widest > p->width ? LINE_TOO_WIDE : LINE_ROW;
}

bool parser_widen(line_parser *p, uint32_t width)
{
    uint32_t *seen = calloc(width, sizeof *seen);
    if (!seen)
        return false;
    free(p->seen);
    p->seen = seen;
    p->width = width;
    p->now = 0;
    return true;
}

void *make_c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

void free_c_locale(void *c)
{
    if (c)
        freelocale(c);
}

static key key_of(uint32_t id)
{
    char digits[LONGEST_KEY], text[LONGEST_KEY] = {0}, mask[LONGEST_KEY] = {0};
    uint32_t n = 0;
    key k = {0, 0, 0};
    for (; id > 0; id /= 10)
        digits[n++] = (char)('0' + id % 10);
    for (uint32_t i = 0; i < n; i++)
        text[i] = digits[n - 1 - i];
    text[n] = ':';
    memset(mask, 0xFF, n + 1);
    memcpy(&k.text, text, sizeof k.text);
    memcpy(&k.mask, mask, sizeof k.mask);
    k.length = n + 1;
    return k;
}

/* The digits of a value of `length` bytes with `sign` bytes before them and a point at `point`,
 * moved to the right end. */
static void make_form(line_tables *t, uint32_t sign, uint32_t length, uint32_t point)
{
    uint32_t form = (sign * DENSE_LANES + length) * DENSE_LANES + point,
             skipped = sign + (point < length);
    uint32_t n = point <= length && skipped <= length ? length - skipped : 0;
    memset(t->digit[form], 0x80, DENSE_LANES);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = sign + i;
        t->digit[form][DENSE_LANES - n + i] = (unsigned char)(from < point ? from : from + 1);
    }
    const uint64_t refused =
        0x7FF8000010000000; /* a quotient has the low bits of a NaN that it was divided by */
    double divisor = power_of_ten[point < length ? length - point - 1 : 0];
    divisor = sign ? -divisor : divisor;
    if (n == 0 || length == DENSE_LANES - 1)
        memcpy(&divisor, &refused, sizeof divisor);
    t->divisor[form] = divisor;
}

void make_tables(line_tables *t, uint32_t most_features)
{
    t->n_keys = most_features < KEYS ? most_features : KEYS;
    for (uint32_t id = 1; id <= t->n_keys; id++)
        t->keys[id - 1] = key_of(id);
    for (uint32_t form = 0; form < DENSE_FORMS; form++)
        make_form(t, form / (DENSE_LANES * DENSE_LANES), form / DENSE_LANES % DENSE_LANES,
                  form % DENSE_LANES);
}

/* ---- messages */

/* The text at the fault, shortened, and without control characters. */
static void quote(const char *at, const char *end, char *text, size_t size)
{
    size_t n = 0;
    if (ends_word(at, end)) {
        snprintf(text, size, "%s",
                 at == end    ? "the end of the text"
                 : *at == '#' ? "a comment"
                              : "the end of the line or a blank");
        return;
    }
    text[n++] = '"';
    for (; !ends_word(at, end) && n + 5 < size; at++)
        text[n++] = *at > ' ' && *at < 0x7F ? *at : '?';
    snprintf(text + n, size - n, ends_word(at, end) ? "\"" : "...\"");
}

void describe_fault(const line *b, const char *end, uint32_t most_features, char *text, size_t size)
{
    char found[36], limit[48];
    static const char *const expected[] = {
        [FAULT_GRADE] = "a grade, a whole number from 0 to 255",
        [FAULT_QUERY] = "qid:NUMBER behind the grade",
        [FAULT_QUERY_NUMBER] = "a query number of 64 bits",
        [FAULT_FEATURE] = "a feature like 7:0.25",
        [FAULT_VALUE] = "a number like 0.25 after the colon",
        [FAULT_NOT_FINITE] = "a finite number after the colon",
    };
    quote(b->fault, end, found, sizeof found);
    snprintf(limit, sizeof limit, "a feature id from 1 to %u", most_features);
    snprintf(text, size, "expected %s, found %s", b->what == FAULT_ID ? limit : expected[b->what],
             found);
}
