/* write_text.c - see write_text.h. */
#include "lab/data/write_text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"

/* ---- numbers */

enum { MOST_DECIMALS = 6 };

static size_t write_whole(uint64_t n, char *to)
{
    char digit[24];
    size_t length = 0;
    do
        digit[length++] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    for (size_t i = 0; i < length; i++)
        to[i] = digit[length - 1 - i];
    return length;
}

/* n / 10^decimals; the last decimal is not 0. */
static size_t write_decimal(uint64_t n, int decimals, uint64_t unit, char *to)
{
    size_t length = write_whole(n / unit, to);
    if (decimals == 0)
        return length;
    to[length++] = '.';
    uint64_t rest = n % unit;
    for (int i = decimals; i > 0; i--) {
        unit /= 10;
        to[length++] = (char)('0' + rest / unit % 10);
    }
    return length;
}

/* Half the distance to the nearest other float, of 0 < x < 2^24. */
static double half_step(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits--;
    float below;
    memcpy(&below, &bits, sizeof below);
    return ((double)x - (double)below) * 0.5;
}

/* With up to six decimals, if those give the float back; else 0.  All products are exact: 24 bits
 * times 14 bits times a power of two. */
static size_t write_short(float x, char *to)
{
    double step = half_step(x);
    uint64_t unit = 1;
    for (int decimals = 0; decimals <= MOST_DECIMALS; decimals++, unit *= 10) {
        double scaled = (double)x * (double)unit;
        uint64_t n = (uint64_t)(scaled + 0.5);
        if (n > 0 && fabs((double)n - scaled) < step * (double)unit)
            return write_decimal(n, decimals, unit, to);
    }
    return 0;
}

/* Nine digits always give the float back. */
static size_t write_exponent(float x, char *to)
{
    char buffer[NUMBER_ROOM];
    int length = snprintf(buffer, sizeof buffer, "%.8e", (double)x);
    buffer[1] = '.'; /* whatever the locale has there */
    memcpy(to, buffer, (size_t)length);
    return (size_t)length;
}

static size_t write_positive(float x, char *to)
{
    static const char beyond[] = "1.79769313486e+308";
    size_t length = 0;
    if (x >= FLT_MAX) {
        memcpy(to, beyond, sizeof beyond - 1);
        return sizeof beyond - 1;
    }
    if (x >= 0x1p24f)
        length = x < 0x1p63f ? write_whole((uint64_t)x, to) : 0;
    else
        length = write_short(x, to);
    return length ? length : write_exponent(x, to);
}

size_t write_number(float x, char *to)
{
    if (x > 0)
        return write_positive(x, to);
    to[0] = signbit(x) ? '-' : '0';
    if (x < 0)
        return 1 + write_positive(-x, to + 1);
    to[1] = '0';
    return signbit(x) ? 2 : 1;
}

/* ---- the file */

struct dataset_text {
    new_file file;
    char *line; /* room for one row */
    size_t room;
};

dataset_text *dataset_text_open(const char *path, oltr_error *error)
{
    dataset_text *text = calloc(1, sizeof *text);
    if (!text) {
        set_error(error, OLTR_ENOMEM, "no memory to write %s", path);
        return NULL;
    }
    if (new_file_open(&text->file, path, error) != OLTR_OK) {
        free(text);
        return NULL;
    }
    return text;
}

static oltr_status room_for(dataset_text *text, uint32_t dim, oltr_error *error)
{
    size_t room = 64 + (size_t)dim * (12 + NUMBER_ROOM); /* " id:" and a number each */
    char *line = room > text->room ? realloc(text->line, room) : text->line;
    if (!line)
        return set_error(error, OLTR_ENOMEM, "no memory to write a row of %u features", dim);
    text->line = line;
    text->room = room > text->room ? room : text->room;
    return OLTR_OK;
}

static size_t write_row(const oltr_dataset *d, uint32_t q, uint32_t row, char *to)
{
    const float *x = d->x + (size_t)row * d->dim;
    char *at = to;
    at += write_whole(d->grade[row], at);
    memcpy(at, " qid:", 5);
    at += 5;
    at += write_whole(d->query[q], at);
    for (uint32_t j = 0; j < d->dim; j++) {
        *at++ = ' ';
        at += write_whole((uint64_t)j + 1, at);
        *at++ = ':';
        at += write_number(x[j], at);
    }
    *at++ = '\n';
    return (size_t)(at - to);
}

static oltr_status check_finite(const oltr_dataset *d, uint32_t row, oltr_error *error)
{
    for (uint32_t j = 0; j < d->dim; j++)
        if (!isfinite(d->x[(size_t)row * d->dim + j]))
            return set_error(error, OLTR_EFEATURE,
                             "row %u: feature %u is not finite and cannot be written", row + 1,
                             j + 1);
    return OLTR_OK;
}

oltr_status dataset_text_add(dataset_text *text, const oltr_dataset *d, oltr_error *error)
{
    oltr_status status = room_for(text, d->dim, error);
    for (uint32_t q = 0; status == OLTR_OK && q < d->n_queries; q++)
        for (uint32_t row = d->first_row[q]; status == OLTR_OK && row < d->first_row[q + 1];
             row++) {
            status = check_finite(d, row, error);
            if (status == OLTR_OK)
                status =
                    new_file_add(&text->file, text->line, write_row(d, q, row, text->line), error);
        }
    return status;
}

oltr_status dataset_text_close(dataset_text *text, bool keep, oltr_error *error)
{
    oltr_status status = new_file_close(&text->file, keep, error);
    free(text->line);
    free(text);
    return status;
}
