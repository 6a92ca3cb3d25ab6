/* normaliser.c - see normaliser.h.
 *
 * Means and deviations by Welford's recurrence: one pass over the data, and a constant column has a
 * deviation of exactly 0.
 */
#include "lab/data/normaliser.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/layout.h"
#include "lab/data/dataset.h"

static const char *const kind_name[NORMALISER_KINDS] = {"standard", "minmax", "none"};

const char *normaliser_kind_name(normaliser_kind kind)
{
    return kind_name[kind];
}

oltr_status normaliser_kind_by_name(const char *name, normaliser_kind *kind, oltr_error *error)
{
    for (int i = 0; i < NORMALISER_KINDS; i++)
        if (strcmp(kind_name[i], name) == 0) {
            *kind = (normaliser_kind)i;
            return OLTR_OK;
        }
    return set_error(error, OLTR_EVALUE,
                     "no normaliser is called `%.40s`; there are standard, minmax and none", name);
}

/* As large as the largest float: no value, see normaliser.h. */
static bool is_marker(float x)
{
    return fabsf(x) >= FLT_MAX;
}

static double squash(float x)
{
    return copysign(log1p(fabs((double)x)), (double)x);
}

static const float *row_of(const oltr_dataset *d, uint32_t row)
{
    return d->x + (size_t)row * d->dim;
}

/* ---- memory */

normaliser *normaliser_new(normaliser_kind kind, uint32_t dim_in, uint32_t dim, oltr_error *error)
{
    size_t moments = kind == NORMALISE_STANDARD ? dim : 0;
    layout l = {align_up(sizeof(normaliser)), 0};
    size_t column = layout_take(&l, dim, sizeof(uint32_t)),
           mean = layout_take(&l, moments, sizeof(double));
    size_t sd = layout_take(&l, moments, sizeof(double)),
           low = layout_take(&l, moments, sizeof(double));
    size_t high = layout_take(&l, moments, sizeof(double));
    unsigned char *block = l.overflow ? NULL : calloc(1, layout_bytes(&l));
    if (!block) {
        set_error(error, OLTR_ENOMEM, "no memory for a normaliser of %u features", dim);
        return NULL;
    }
    normaliser *n = (normaliser *)(void *)block;
    *n = (normaliser){.kind = kind, .dim_in = dim_in, .dim = dim, .longest = 1};
    n->column = words_in(block, column);
    if (moments) {
        n->mean = doubles_at(block, mean);
        n->sd = doubles_at(block, sd);
        n->low = doubles_at(block, low);
        n->high = doubles_at(block, high);
    }
    return n;
}

void normaliser_free(normaliser *n)
{
    free(n);
}

/* ---- standard */

typedef struct moments {
    uint64_t count;
    double mean, squares; /* squares: the sum of the squared distances from the mean */
    double low, high;
} moments;

static void add_measurement(moments *m, double value)
{
    m->low = m->count == 0 || value < m->low ? value : m->low;
    m->high = m->count == 0 || value > m->high ? value : m->high;
    m->count++;
    double away = value - m->mean;
    m->mean += away / (double)m->count;
    m->squares += away * (value - m->mean);
}

static double deviation(const moments *m)
{
    return m->count ? sqrt(m->squares / (double)m->count) : 0;
}

static void add_rows(moments *m, const oltr_dataset *d)
{
    for (uint32_t row = 0; row < d->n_rows; row++) {
        const float *x = row_of(d, row);
        for (uint32_t j = 0; j < d->dim; j++)
            if (!is_marker(x[j]))
                add_measurement(&m[j], squash(x[j]));
    }
}

/* (value - mean) / sd of kept column i, the value first moved to the edges. */
static double standardised(const normaliser *n, uint32_t i, float x)
{
    double value = squash(x);
    value = value < n->low[i] ? n->low[i] : value > n->high[i] ? n->high[i] : value;
    return (value - n->mean[i]) / n->sd[i];
}

static double longest_row(const normaliser *n, const oltr_dataset *d)
{
    double longest = 0;
    for (uint32_t row = 0; row < d->n_rows; row++) {
        double squares = 0;
        for (uint32_t i = 0; i < n->dim; i++) {
            double z = standardised(n, i, row_of(d, row)[n->column[i]]);
            squares += z * z;
        }
        longest = fmax(longest, sqrt(squares));
    }
    return longest;
}

static normaliser *keep_varying(const moments *m, uint32_t dim, oltr_error *error)
{
    uint32_t kept = 0;
    for (uint32_t j = 0; j < dim; j++)
        kept += deviation(&m[j]) >= NORMALISER_LEAST_SD;
    normaliser *n = normaliser_new(NORMALISE_STANDARD, dim, kept, error);
    for (uint32_t j = 0, i = 0; n && j < dim; j++) {
        if (deviation(&m[j]) < NORMALISER_LEAST_SD)
            continue;
        n->column[i] = j;
        n->mean[i] = m[j].mean;
        n->sd[i] = deviation(&m[j]);
        n->low[i] = m[j].low;
        n->high[i] = m[j].high;
        i++;
    }
    return n;
}

static normaliser *fit_standard(const oltr_dataset *train, oltr_error *error)
{
    moments *m = calloc((size_t)train->dim + 1, sizeof *m);
    if (!m) {
        set_error(error, OLTR_ENOMEM, "no memory to fit a normaliser of %u features", train->dim);
        return NULL;
    }
    add_rows(m, train);
    normaliser *n = keep_varying(m, train->dim, error);
    if (n)
        n->longest = longest_row(n, train);
    free(m);
    return n;
}

/* Shortens a row until its length, computed from its floats, is at most 1. */
static void shorten(float *row, uint32_t dim)
{
    for (;;) {
        double squares = 0;
        for (uint32_t i = 0; i < dim; i++)
            squares += (double)row[i] * row[i];
        if (squares <= 1)
            return;
        double by = (1 - 0x1p-24) / sqrt(squares);
        for (uint32_t i = 0; i < dim; i++)
            row[i] = (float)(row[i] * by);
    }
}

static void apply_standard(const normaliser *n, const oltr_dataset *from, float *to)
{
    for (uint32_t row = 0; row < from->n_rows; row++, to += n->dim) {
        for (uint32_t i = 0; i < n->dim; i++)
            to[i] = (float)(standardised(n, i, row_of(from, row)[n->column[i]]) / n->longest);
        shorten(to, n->dim);
    }
}

/* ---- minmax */

typedef struct range {
    double low, high; /* of the measurements of a query; low > high: there are none */
} range;

static range range_of(const oltr_dataset *d, uint32_t q, uint32_t j)
{
    range r = {INFINITY, -INFINITY};
    for (uint32_t row = d->first_row[q]; row < d->first_row[q + 1]; row++) {
        double x = (double)row_of(d, row)[j];
        if (!is_marker((float)x)) {
            r.low = fmin(r.low, x);
            r.high = fmax(r.high, x);
        }
    }
    return r;
}

/* The place of x in the range, from 0 to 1; in a range without width 0, but 1 for a positive
 * marker. */
static double placed(range r, float x)
{
    if (r.low > r.high)
        return 0;
    if (is_marker(x))
        return x > 0;
    return r.high > r.low ? ((double)x - r.low) / (r.high - r.low) : 0;
}

static bool varies_in(const oltr_dataset *d, uint32_t q, uint32_t j)
{
    range r = range_of(d, q, j);
    for (uint32_t row = d->first_row[q]; row < d->first_row[q + 1]; row++)
        if (placed(r, row_of(d, row)[j]) > 0)
            return true;
    return false;
}

static bool varies(const oltr_dataset *d, uint32_t j)
{
    for (uint32_t q = 0; q < d->n_queries; q++)
        if (varies_in(d, q, j))
            return true;
    return false;
}

static normaliser *fit_minmax(const oltr_dataset *train, oltr_error *error)
{
    normaliser *n = normaliser_new(NORMALISE_MINMAX, train->dim, train->dim, error);
    if (!n)
        return NULL;
    n->dim = 0;
    for (uint32_t j = 0; j < train->dim; j++)
        if (varies(train, j))
            n->column[n->dim++] = j;
    return n;
}

static void apply_minmax(const normaliser *n, const oltr_dataset *from, float *to)
{
    for (uint32_t q = 0; q < from->n_queries; q++)
        for (uint32_t i = 0; i < n->dim; i++) {
            range r = range_of(from, q, n->column[i]);
            for (uint32_t row = from->first_row[q]; row < from->first_row[q + 1]; row++)
                to[(size_t)row * n->dim + i] = (float)placed(r, row_of(from, row)[n->column[i]]);
        }
}

/* ---- all kinds */

static normaliser *fit_none(const oltr_dataset *train, oltr_error *error)
{
    normaliser *n = normaliser_new(NORMALISE_NONE, train->dim, train->dim, error);
    for (uint32_t j = 0; n && j < train->dim; j++)
        n->column[j] = j;
    return n;
}

static oltr_status check_numbers(const oltr_dataset *d, oltr_error *error)
{
    for (size_t i = 0; i < (size_t)d->n_rows * d->dim; i++)
        if (isnan(d->x[i]))
            return set_error(error, OLTR_EFEATURE, "row %zu: feature %zu is not a number",
                             i / d->dim + 1, i % d->dim + 1);
    return OLTR_OK;
}

normaliser *normaliser_fit(const oltr_dataset *train, normaliser_kind kind, oltr_error *error)
{
    if (train->n_rows == 0 || train->dim == 0) {
        set_error(error, OLTR_EINVAL,
                  "there is nothing to fit a normaliser on: %u rows of %u features", train->n_rows,
                  train->dim);
        return NULL;
    }
    if (check_numbers(train, error) != OLTR_OK)
        return NULL;
    normaliser *n = kind == NORMALISE_STANDARD ? fit_standard(train, error)
                    : kind == NORMALISE_MINMAX ? fit_minmax(train, error)
                                               : fit_none(train, error);
    if (n && n->dim == 0) {
        set_error(error, OLTR_EFEATURE,
                  "every feature is constant%s, so none is left to learn from",
                  kind == NORMALISE_MINMAX ? " within every query" : "");
        normaliser_free(n);
        return NULL;
    }
    return n;
}

static void apply_none(const normaliser *n, const oltr_dataset *from, float *to)
{
    memcpy(to, from->x, (size_t)from->n_rows * n->dim * sizeof *to);
}

oltr_dataset *normaliser_apply(const normaliser *n, const oltr_dataset *from, oltr_error *error)
{
    if (from->dim != n->dim_in) {
        set_error(error, OLTR_EMISMATCH,
                  "the normaliser was fitted on %u features, and these rows have %u", n->dim_in,
                  from->dim);
        return NULL;
    }
    if (check_numbers(from, error) != OLTR_OK)
        return NULL;
    oltr_dataset *to = dataset_like(from, n->dim, error);
    if (to)
        (n->kind == NORMALISE_STANDARD ? apply_standard
         : n->kind == NORMALISE_MINMAX ? apply_minmax
                                       : apply_none)(n, from, dataset_x(to));
    return to;
}
