/* judged.h - small datasets with a planted truth, for the tests of scorers and priors. */
#ifndef OLTR_TESTS_JUDGED_H
#define OLTR_TESTS_JUDGED_H

#include "support/unit.h"

#include "lab/data/dataset.h"

/* A document's worth is a function of two features that no single one tells; the other features are
 * noise, with heavy tails, and the last is constant.  Queries have `documents` of them, more or
 * less. */
static inline oltr_dataset *judged_queries(uint64_t seed, uint32_t n_queries, uint32_t documents,
                                           uint32_t dim)
{
    dice from = {seed};
    uint32_t n_rows = 0, *size = exactly(n_queries, sizeof *size);
    for (uint32_t q = 0; q < n_queries; q++)
        n_rows += size[q] = documents / 2 + below(&from, documents);
    oltr_dataset *d = dataset_new(n_queries, n_rows, dim, NULL);
    assert_non_null(d);
    float *x = dataset_x(d);
    uint32_t row = 0;
    for (uint32_t q = 0; q < n_queries; q++) {
        dataset_query(d)[q] = 1000 + 7 * (uint64_t)q;
        dataset_first_row(d)[q] = row;
        for (uint32_t i = 0; i < size[q]; i++, row++, x += dim) {
            for (uint32_t j = 0; j + 1 < dim; j++)
                x[j] = (float)(log_uniform(&from, 1e-2, 1e4) * (below(&from, 2) ? 1 : -1));
            x[dim - 1] = 3;
            double worth = (x[0] > 0) == (x[1] > 0) ? 0.3 * log1p(fabs((double)x[0])) : 0;
            worth += 0.3 * unit(&from);
            dataset_grade(d)[row] = (uint8_t)(worth > 2.4   ? 4
                                              : worth > 1.8 ? 2
                                              : worth > 1   ? 1
                                                            : 0);
        }
    }
    dataset_first_row(d)[n_queries] = row;
    free(size);
    return d;
}

#endif
