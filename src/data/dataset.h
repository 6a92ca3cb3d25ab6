/* dataset.h - a dataset in memory: how one is made, and given back.
 *
 * The struct itself is public (sim.h): plain arrays.  Whoever makes one allocates it here and fills the arrays.
 */
#ifndef OLTR_DATA_DATASET_H
#define OLTR_DATA_DATASET_H

#include <oltr/sim.h>

#include "base/error.h"

/* Room for the arrays of a dataset, all zero, in one block; NULL with the error set without memory. */
oltr_dataset *dataset_new(uint32_t n_queries, uint32_t n_rows, uint32_t dim, oltr_error *error);

/* The arrays of a dataset from dataset_new(), to be filled. */
uint64_t *dataset_query(oltr_dataset *dataset);
uint32_t *dataset_first_row(oltr_dataset *dataset);
uint8_t *dataset_grade(oltr_dataset *dataset);
float *dataset_x(oltr_dataset *dataset);

/* Some of the queries, in the given order, as a dataset of its own (a copy). */
oltr_dataset *dataset_pick(const oltr_dataset *from, const uint32_t *query, uint32_t n_queries, oltr_error *error);

#endif
