/* describe.h - statistics of a dataset: sizes, label shares, and the distribution of each column.
 */
#ifndef OLTR_LAB_DATA_DESCRIBE_H
#define OLTR_LAB_DATA_DESCRIBE_H

#include "engine/base/error.h"

#include <oltr/sim.h>
#include <stdbool.h>

enum { DESCRIBED_GRADES = 256, QUANTILE_ROWS = 20000 };

struct described_column {
    uint64_t zeros, negative;
    uint64_t beyond; /* values as large as the largest float: clamped by the reader, or infinite */
    float low, high; /* of the others; both 0 when there are none */
    float p05, median, p95; /* ... of up to QUANTILE_ROWS rows, evenly spaced */
    bool constant;          /* one value in all rows */
    bool constant_within;   /* one value in every query */
};

struct description {
    uint32_t queries, rows, dim;
    uint32_t fewest, most; /* documents of a query */
    double median, mean;
    uint32_t queries_without; /* queries whose labels are all 0 */
    uint8_t largest_grade;
    uint64_t grade[DESCRIBED_GRADES];               /* rows of each label */
    struct described_column *column;                /* (dim) */
    uint32_t constants, constants_within, negative; /* columns; negative: with a negative value */
    uint64_t beyond;                                /* values, over all columns */
    double zeros;                                   /* the share of values that are 0 */
    float low, high;                                /* of all columns */
};

oltr_status describe(const oltr_dataset *dataset, struct description *out, oltr_error *error);
void description_free(struct description *description);

#endif
