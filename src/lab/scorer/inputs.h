/* inputs.h - the inputs of the network, made from the features of a dataset.
 *
 * A feature x becomes sign(x) log(1 + |x|), and gives two inputs: it is standardised over the
 * training split, and standardised within its query, which compares it with the other documents of
 * the list.  Columns that are constant in the training split (sd < 1e-6) are left out.
 * Standardised values are cut at +-INPUT_LIMIT; infinite values count as the largest float of their
 * sign, a NaN as 0.  So an outlier affects its own document only. */
#ifndef OLTR_LAB_SCORER_INPUTS_H
#define OLTR_LAB_SCORER_INPUTS_H

#include <oltr/sim.h>
#include <stdbool.h>

#include "engine/base/error.h"

#define INPUT_LIMIT 5.0

/* Some queries of a dataset. */
typedef struct part {
    const oltr_dataset *data;
    uint32_t n_queries;
    const uint32_t *query; /* (n_queries), or NULL: all of them */
} part;

static inline uint32_t part_query(const part *p, uint32_t i)
{
    return p->query ? p->query[i] : i;
}

static inline uint32_t documents_of(const oltr_dataset *d, uint32_t q)
{
    return d->first_row[q + 1] - d->first_row[q];
}

typedef struct input_map {
    uint32_t dim;      /* features of the dataset */
    uint32_t kept;     /* how many of them are used */
    uint32_t width;    /* of a row of inputs */
    uint32_t *column;  /* (kept) */
    double *mean, *sd; /* (kept) of the squashed training values */
} input_map;

oltr_status input_map_fit(input_map *map, const part *train, oltr_error *error);
void input_map_free(input_map *map);

/* The inputs of query q, (documents, width); the dataset has the features of the training split. */
void inputs_of(const input_map *map, const oltr_dataset *dataset, uint32_t q, float *out);

#endif
