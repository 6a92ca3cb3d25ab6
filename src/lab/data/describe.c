/* describe.c - see describe.h. */
#include "lab/data/describe.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static bool is_beyond(float x)
{
    return !(fabsf(x) < FLT_MAX);
}

static bool differ(float a, float b)
{
    return a < b || a > b;
}

/* ---- queries and labels */

static int by_size(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void measure_sizes(const oltr_dataset *d, uint32_t *size, struct description *out)
{
    for (uint32_t q = 0; q < d->n_queries; q++)
        size[q] = d->first_row[q + 1] - d->first_row[q];
    qsort(size, d->n_queries, sizeof *size, by_size);
    uint32_t n = d->n_queries;
    out->fewest = n > 0 ? size[0] : 0;
    out->most = n > 0 ? size[n - 1] : 0;
    out->median = n > 0 ? 0.5 * ((double)size[(n - 1) / 2] + (double)size[n / 2]) : 0;
    out->mean = n > 0 ? (double)d->n_rows / n : 0;
}

static void count_grades(const oltr_dataset *d, struct description *out)
{
    for (uint32_t q = 0; q < d->n_queries; q++) {
        uint8_t largest = 0;
        for (uint32_t row = d->first_row[q]; row < d->first_row[q + 1]; row++) {
            out->grade[d->grade[row]]++;
            largest = d->grade[row] > largest ? d->grade[row] : largest;
        }
        out->queries_without += largest == 0;
        out->largest_grade = largest > out->largest_grade ? largest : out->largest_grade;
    }
}

/* ---- columns */

static void add_value(struct described_column *c, float x, bool *seen)
{
    c->zeros += !differ(x, 0);
    c->negative += x < 0;
    if (is_beyond(x)) {
        c->beyond++;
        return;
    }
    c->low = !*seen || x < c->low ? x : c->low;
    c->high = !*seen || x > c->high ? x : c->high;
    *seen = true;
}

static void add_rows(const oltr_dataset *d, struct description *out, bool *seen)
{
    for (uint32_t q = 0; q < d->n_queries; q++) {
        const float *first = d->x + (size_t)d->first_row[q] * d->dim;
        for (uint32_t row = d->first_row[q]; row < d->first_row[q + 1]; row++) {
            const float *x = d->x + (size_t)row * d->dim;
            for (uint32_t j = 0; j < d->dim; j++) {
                struct described_column *c = &out->column[j];
                add_value(c, x[j], &seen[j]);
                c->constant = c->constant && !differ(x[j], d->x[j]);
                c->constant_within = c->constant_within && !differ(x[j], first[j]);
            }
        }
    }
}

static int by_value(const void *a, const void *b)
{
    const float *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Of evenly spaced rows, so that millions of rows need no sorting. */
static void measure_quantiles(const oltr_dataset *d, uint32_t j, float *room,
                              struct described_column *c)
{
    uint32_t rows = d->n_rows < QUANTILE_ROWS ? d->n_rows : QUANTILE_ROWS, n = 0;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t row = (uint32_t)((uint64_t)i * d->n_rows / rows);
        float x = d->x[(size_t)row * d->dim + j];
        if (!is_beyond(x))
            room[n++] = x;
    }
    qsort(room, n, sizeof *room, by_value);
    if (n > 0) {
        c->p05 = room[(n - 1) * (uint64_t)5 / 100];
        c->median = room[(n - 1) / 2];
        c->p95 = room[(n - 1) * (uint64_t)95 / 100];
    }
}

static void sum_columns(struct description *out)
{
    double zeros = 0, values = (double)out->rows * out->dim;
    for (uint32_t j = 0; j < out->dim; j++) {
        const struct described_column *c = &out->column[j];
        out->constants += c->constant;
        out->constants_within += c->constant_within;
        out->negative += c->negative > 0;
        out->beyond += c->beyond;
        out->low = j ? fminf(out->low, c->low) : c->low;
        out->high = j ? fmaxf(out->high, c->high) : c->high;
        zeros += (double)c->zeros;
    }
    out->zeros = values > 0 ? zeros / values : 0;
}

static void describe_columns(const oltr_dataset *d, float *room, bool *seen,
                             struct description *out)
{
    for (uint32_t j = 0; j < d->dim; j++)
        out->column[j].constant = out->column[j].constant_within = true;
    add_rows(d, out, seen);
    for (uint32_t j = 0; j < d->dim; j++)
        measure_quantiles(d, j, room, &out->column[j]);
    sum_columns(out);
}

oltr_status describe(const oltr_dataset *d, struct description *out, oltr_error *error)
{
    *out = (struct description){.queries = d->n_queries, .rows = d->n_rows, .dim = d->dim};
    uint32_t *size = calloc((size_t)d->n_queries + 1, sizeof *size);
    float *room = calloc(QUANTILE_ROWS, sizeof *room);
    bool *seen = calloc((size_t)d->dim + 1, sizeof *seen);
    out->column = calloc((size_t)d->dim + 1, sizeof *out->column);
    oltr_status status = OLTR_OK;
    if (!size || !room || !seen || !out->column) {
        status = set_error(error, OLTR_ENOMEM, "out of memory");
        description_free(out);
    } else {
        measure_sizes(d, size, out);
        count_grades(d, out);
        describe_columns(d, room, seen, out);
    }
    free(size);
    free(room);
    free(seen);
    return status;
}

void description_free(struct description *description)
{
    free(description->column);
    description->column = NULL;
}
