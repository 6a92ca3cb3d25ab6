/* generate.h - data sets made up from a seed, in the shape of the two that the paper uses and that
 * cannot be passed on.
 *
 *   web30k    136 features, about 120 documents a query, the label shares of MSLR-WEB30K; every
 * column has the share of zeros and the spread that was measured in real rows istella   220
 * features, about 316 documents a query, 96.3 % of the labels 0; constant columns, and values
 * of 1.8e308
 *
 * docs/data.md says what is known of the real ones, and how near these come.  Query q of a split is
 * a function of (shape, split, seed, q) alone: a smaller set is the beginning of a larger one, and
 * every machine and compiler makes the same bytes, because nothing but counters, +, -, *, / and
 * sqrt decides them.
 */
#ifndef OLTR_LAB_DATA_GENERATE_H
#define OLTR_LAB_DATA_GENERATE_H

#include <oltr/sim.h>

#include "engine/base/error.h"

/* "web30k", "istella"; NULL behind the last. */
const char *dataset_shape_name(uint32_t index);

/* split: "train", "vali" or "test". */
oltr_dataset *dataset_generate(const char *shape, const char *split, uint32_t n_queries,
                               uint64_t seed, oltr_error *error);

/* Its queries first .. first + n_queries - 1: for sets that are larger than the memory. */
oltr_dataset *dataset_generate_part(const char *shape, const char *split, uint32_t first,
                                    uint32_t n_queries, uint64_t seed, oltr_error *error);

#endif
