/* inputs.c - fits the standardisation and applies it to the documents of a query; see inputs.h. */
#include "lab/scorer/inputs.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define LEAST_SD 1e-6

static float squash(float x)
{
    float size = isfinite(x) ? fabsf(x) : isnan(x) ? 0 : FLT_MAX;
    return copysignf(log1pf(size), x);
}

static double limited(double z)
{
    return fmin(fmax(z, -INPUT_LIMIT), INPUT_LIMIT);
}

/* ---- fitting */

/* Welford's mean and sum of squares of each column, one row after the other. */
static uint64_t add_rows(const part *train, double *mean, double *squares)
{
    const oltr_dataset *d = train->data;
    uint64_t n = 0;
    for (uint32_t i = 0; i < train->n_queries; i++) {
        uint32_t q = part_query(train, i);
        for (uint32_t row = d->first_row[q]; row < d->first_row[q + 1]; row++) {
            n++;
            for (uint32_t j = 0; j < d->dim; j++) {
                double value = (double)squash(d->x[(size_t)row * d->dim + j]),
                       before = value - mean[j];
                mean[j] += before / (double)n;
                squares[j] += before * (value - mean[j]);
            }
        }
    }
    return n;
}

/* Keeps the columns that vary; their numbers move to the front. */
static void keep_columns(input_map *map, uint64_t n_rows)
{
    for (uint32_t j = 0; j < map->dim; j++) {
        double sd = n_rows > 0 ? sqrt(map->sd[j] / (double)n_rows) : 0;
        if (sd < LEAST_SD)
            continue;
        map->column[map->kept] = j;
        map->mean[map->kept] = map->mean[j];
        map->sd[map->kept++] = sd;
    }
    map->width = 2 * map->kept;
}

oltr_status input_map_fit(input_map *map, const part *train, oltr_error *error)
{
    size_t dim = train->data->dim;
    *map = (input_map){.dim = train->data->dim};
    map->column = calloc(dim + 1, sizeof *map->column);
    map->mean = calloc(dim + 1, sizeof *map->mean);
    map->sd = calloc(dim + 1, sizeof *map->sd);
    if (!map->column || !map->mean || !map->sd)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    keep_columns(map, add_rows(train, map->mean, map->sd));
    if (map->kept == 0)
        return set_error(
            error, OLTR_EVALUE,
            "no feature varies among the training documents; there is nothing to learn from");
    return OLTR_OK;
}

void input_map_free(input_map *map)
{
    free(map->column);
    free(map->mean);
    free(map->sd);
    *map = (input_map){0};
}

/* ---- applying */

/* One column of a query.  Takes squashed values at out[row * width]; standardises them in place,
 * and within the query at out[row * width + kept]. */
static void fill_column(const input_map *map, uint32_t k, uint32_t n, float *out)
{
    double sum = 0, squares = 0;
    size_t width = map->width;
    for (uint32_t i = 0; i < n; i++)
        sum += (double)out[i * width];
    double mean = sum / n;
    for (uint32_t i = 0; i < n; i++)
        squares += ((double)out[i * width] - mean) * ((double)out[i * width] - mean);
    double sd = sqrt(squares / n);
    for (uint32_t i = 0; i < n; i++) {
        double value = (double)out[i * width];
        out[i * width] = (float)limited((value - map->mean[k]) / map->sd[k]);
        out[i * width + map->kept] = sd < LEAST_SD ? 0 : (float)limited((value - mean) / sd);
    }
}

void inputs_of(const input_map *map, const oltr_dataset *d, uint32_t q, float *out)
{
    uint32_t n = documents_of(d, q);
    const float *x = d->x + (size_t)d->first_row[q] * d->dim;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < map->kept; k++)
            out[(size_t)i * map->width + k] = squash(x[(size_t)i * d->dim + map->column[k]]);
    for (uint32_t k = 0; k < map->kept; k++)
        fill_column(map, k, n, out + k);
}
