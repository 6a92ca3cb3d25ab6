/* generate.h - data sets generated from a seed, in the shape of the two that the paper uses and
 * that may not be redistributed.
 *
 * web30k: 136 features, about 120 documents a query, the label shares of MSLR-WEB30K; every column
 * has the share of zeros and the spread that was measured in real rows.
 * istella: 220 features, about 316 documents a query, 96.3 % of the labels 0; constant columns, and
 * values of 1.8e308.
 *
 * docs/data.md compares them with the real ones.  Query q of a split is a function of (shape,
 * split, seed, q) alone: a smaller set is the beginning of a larger one.  Every machine and
 * compiler makes the same bytes, because only counters, +, -, *, / and sqrt are used.
 */
#ifndef OLTR_LAB_DATA_GENERATE_H
#define OLTR_LAB_DATA_GENERATE_H

#include <oltr/sim.h>

#include "engine/base/error.h"

/* split: "train", "vali" or "test". */
oltr_dataset *dataset_generate(const char *shape, const char *split, uint32_t n_queries,
                               uint64_t seed, oltr_error *error);

/* The same; options->stop is asked before each query, and when it returns non-zero there is no
 * dataset, and the error is OLTR_EINTERRUPTED.  The other options have no meaning here. */
oltr_dataset *dataset_generate_watched(const char *shape, const char *split, uint32_t n_queries,
                                       uint64_t seed, const oltr_read_options *options,
                                       oltr_error *error);

/* Its queries first .. first + n_queries - 1: for sets that are larger than the memory. */
oltr_dataset *dataset_generate_part(const char *shape, const char *split, uint32_t first,
                                    uint32_t n_queries, uint64_t seed, oltr_error *error);

#endif
