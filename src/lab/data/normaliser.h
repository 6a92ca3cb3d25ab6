/* normaliser.h - scales features; fitted on the training split, applied to all.
 *
 * standard: sign(x) log(1 + |x|), then (value - mean) / sd of the training split; columns with sd
 * below 1e-6 are dropped, and all rows are divided by the largest norm of a training row, so that
 * no row is longer than 1.
 * minmax: to [0,1] within each query; columns that are constant within every training query are
 * dropped.
 * none: no change.
 *
 * Real files hold values such as 1.8e308 for "no value", which are read as the largest float.  One
 * of them would set the scale of its column, and of all rows through the norm.  So the largest
 * float is a marker: it does not count for a mean, deviation or range, and is replaced by the edge,
 * the largest (or smallest) other value of the column: of the training split for `standard`, of the
 * query for `minmax`.  Another split can have values beyond the edges of a column: they are moved
 * to the edge too, and a row that is still longer than 1 is shortened to 1.
 */
#ifndef OLTR_LAB_DATA_NORMALISER_H
#define OLTR_LAB_DATA_NORMALISER_H

#include <oltr/sim.h>

#include "engine/base/error.h"

typedef enum normaliser_kind {
    NORMALISE_STANDARD,
    NORMALISE_MINMAX,
    NORMALISE_NONE
} normaliser_kind;
enum { NORMALISER_KINDS = NORMALISE_NONE + 1 };
#define NORMALISER_LEAST_SD 1e-6

typedef struct normaliser {
    normaliser_kind kind;
    uint32_t dim_in, dim; /* features before and after */
    uint32_t *column;     /* (dim) which ones are kept, ascending; the rest were dropped */
    double *mean, *sd;    /* (dim) of the squashed values; standard only */
    double *low, *high;   /* (dim) their edges; standard only */
    double longest;       /* the norm that becomes 1; standard only */
} normaliser;

/* "standard", "minmax", "none". */
const char *normaliser_kind_name(normaliser_kind kind);
oltr_status normaliser_kind_by_name(const char *name, normaliser_kind *kind, oltr_error *error);

/* Room for one, all zero, in one block. */
normaliser *normaliser_new(normaliser_kind kind, uint32_t dim_in, uint32_t dim, oltr_error *error);
void normaliser_free(normaliser *n);

normaliser *normaliser_fit(const oltr_dataset *train, normaliser_kind kind, oltr_error *error);
/* A new dataset with the same queries and grades; refuses one of another dim. */
oltr_dataset *normaliser_apply(const normaliser *n, const oltr_dataset *from, oltr_error *error);
/* To a file and back (docs/formats.md): checksummed, and checked for what no fit could have
 * given. */
oltr_status normaliser_save(const normaliser *n, const char *path, oltr_error *error);
normaliser *normaliser_load(const char *path, oltr_error *error);

#endif
