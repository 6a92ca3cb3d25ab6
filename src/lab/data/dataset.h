/* dataset.h - a dataset in memory: how one is made and freed.
 *
 * The struct itself is public (sim.h): plain arrays.  It is allocated here, and the caller fills
 * the arrays.
 */
#ifndef OLTR_LAB_DATA_DATASET_H
#define OLTR_LAB_DATA_DATASET_H

#include <oltr/sim.h>

#include "engine/base/error.h"

/* Room for the arrays of a dataset, all zero, in one block; NULL with the error set without
 * memory. */
oltr_dataset *dataset_new(uint32_t n_queries, uint32_t n_rows, uint32_t dim, oltr_error *error);

/* The same with features in mapped pages, which are unmapped when the dataset is freed. */
oltr_dataset *dataset_around(uint32_t n_queries, uint32_t n_rows, uint32_t dim, float *x,
                             size_t map_size, oltr_error *error);
/* A dataset whose arrays are all in mapped pages, unmapped when it is freed. */
oltr_dataset *dataset_of_map(const oltr_dataset *arrays, void *map, size_t map_size,
                             oltr_error *error);

/* The arrays of a dataset that was made here, to be filled. */
uint64_t *dataset_query(oltr_dataset *dataset);
uint32_t *dataset_first_row(oltr_dataset *dataset);
uint8_t *dataset_grade(oltr_dataset *dataset);
float *dataset_x(oltr_dataset *dataset);

/* With the queries and grades of `from`, and room for `dim` features a row; NULL with the error set
 * without memory. */
oltr_dataset *dataset_like(const oltr_dataset *from, uint32_t dim, oltr_error *error);

/* Some of the queries, in the given order, as a dataset of its own (a copy). */
oltr_dataset *dataset_pick(const oltr_dataset *from, const uint32_t *query, uint32_t n_queries,
                           oltr_error *error);

/* Replaces it by one with more features, which are zero: sparse texts may have another largest
 * feature in each split. */
oltr_status dataset_widen(oltr_dataset **data, uint32_t dim, oltr_error *error);

#endif
