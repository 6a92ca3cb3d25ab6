/* ope_bootstrap.c - see ope_bootstrap.h. */
#include "lab/ope/ope_bootstrap.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/kernels/philox.h"

enum { BLOCK = 512, MOST_SUMS = 1 << 27 /* 1 GiB */ };

/* The words below which a Poisson(1) number is 0, at most 1, ...: its distribution function times
 * 2^32.  What is beyond the last has a chance of 1e-10. */
static const uint32_t poisson_below[] = {1580030169u, 3160060337u, 3950075422u, 4213413783u,
                                         4279248374u, 4292415292u, 4294609778u, 4294923276u,
                                         4294962463u, 4294966817u, 4294967253u, 4294967292u};

/* Without a branch up to 3, which 98 of 100 words give: branches on random words mispredict. */
static double poisson_of(uint32_t word)
{
    uint32_t n = (uint32_t)(word >= poisson_below[0]) + (word >= poisson_below[1]) +
                 (word >= poisson_below[2]) + (word >= poisson_below[3]);
    while (n >= 4 && n < sizeof poisson_below / sizeof *poisson_below && word >= poisson_below[n])
        n++;
    return n;
}

typedef struct bootstrap {
    const ope_rows *rows;
    uint32_t resamples, width; /* width: doubles of a resample */
    uint32_t key[2];
    double *sums;  /* (resamples, width): lists; then num, den and lists of every column */
    double *block; /* (BLOCK, 3 columns) */
} bootstrap;

static void read_block(const bootstrap *b, uint64_t first, uint32_t n)
{
    uint32_t columns = b->rows->columns;
    for (uint32_t i = 0; i < n; i++) {
        double *row = b->block + (size_t)i * 3 * columns;
        uint32_t length = ope_length(b->rows->log, first + i);
        ope_row(b->rows, first + i, row, row + columns);
        for (uint32_t j = 0; j < columns; j++)
            row[2 * columns + j] = ope_has_column(b->rows, length, j);
    }
}

static void add_block(const bootstrap *b, uint32_t r, uint64_t first, uint32_t n)
{
    uint32_t width = b->width - 1;
    double *sums = b->sums + (size_t)r * b->width;
    for (uint32_t i = 0; i < n; i += 4) {
        uint64_t quad = (first + i) / 4;
        uint32_t word[4], counter[4] = {(uint32_t)quad, r, (uint32_t)(quad >> 32), 0x0F0EB007u};
        philox4x32(counter, b->key, word);
        for (uint32_t lane = 0; lane < 4 && i + lane < n; lane++) {
            double times = poisson_of(word[lane]);
            const double *row = b->block + (size_t)(i + lane) * width;
            sums[0] += times;
            for (uint32_t j = 0; j < width; j++)
                sums[1 + j] += times * row[j];
        }
    }
}

/* False at the end; true if the caller has stopped it before. */
static bool add_to_all(const bootstrap *b, uint64_t first, uint32_t n)
{
    for (uint32_t r = 0; r < b->resamples; r++) {
        if (ope_stopped(b->rows))
            return true;
        add_block(b, r, first, n);
    }
    return false;
}

static double value_of(const bootstrap *b, uint32_t r)
{
    uint32_t columns = b->rows->columns;
    const double *sums = b->sums + (size_t)r * b->width, *num = sums + 1;
    double value = 0;
    for (uint32_t j = 0; j < columns; j++)
        value += num[j] / num[columns + j] * (num[2 * columns + j] / sums[0]);
    return value;
}

static int rising(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, uint32_t n, double p)
{
    double at = p * (n - 1);
    uint32_t below = (uint32_t)at;
    double part = at - below;
    return below + 1 < n ? sorted[below] * (1 - part) + sorted[below + 1] * part : sorted[n - 1];
}

static void find_interval(const bootstrap *b, double confidence, double *low, double *high)
{
    double *value = b->sums; /* value r is written behind what is still to be read */
    uint32_t n = 0;
    for (uint32_t r = 0; r < b->resamples; r++) {
        double v = value_of(b, r);
        if (isfinite(v))
            value[n++] = v;
    }
    *low = *high = NAN;
    if (n < b->resamples - b->resamples / 10)
        return;
    qsort(value, n, sizeof *value, rising);
    *low = quantile(value, n, (1 - confidence) / 2);
    *high = quantile(value, n, (1 + confidence) / 2);
}

oltr_status ope_bootstrap(const ope_rows *rows, uint32_t resamples, uint64_t seed,
                          double confidence, double *low, double *high, oltr_error *error)
{
    bootstrap b = {.rows = rows,
                   .resamples = resamples,
                   .width = 1 + 3 * rows->columns,
                   .key = {(uint32_t)seed, (uint32_t)(seed >> 32)}};
    if ((uint64_t)resamples * b.width > MOST_SUMS)
        return set_error(error, OLTR_EVALUE,
                         "%u resamples of %u slots need more than 1 GiB; take fewer, or the normal "
                         "interval",
                         resamples, rows->columns);
    b.sums = calloc((size_t)resamples * b.width, sizeof *b.sums);
    b.block = calloc((rows->log->n < BLOCK ? rows->log->n : BLOCK) * (size_t)(b.width - 1),
                     sizeof *b.block);
    bool stopped = false;
    for (uint64_t first = 0; b.sums && b.block && !stopped && first < rows->log->n;
         first += BLOCK) {
        uint64_t left = rows->log->n - first;
        uint32_t n = left < BLOCK ? (uint32_t)left : BLOCK;
        read_block(&b, first, n);
        stopped = add_to_all(&b, first, n);
    }
    bool done = b.sums && b.block && !stopped;
    if (done)
        find_interval(&b, confidence, low, high);
    free(b.sums);
    free(b.block);
    if (stopped)
        return ope_interrupted(error);
    return done ? OLTR_OK
                : set_error(error, OLTR_ENOMEM, "no memory for %u resamples of %u columns",
                            resamples, rows->columns);
}
