/* normaliser.h - features as learners want them: squashed, centred, scaled; fitted on the training split, applied to all.
 *
 *   standard  sign(x) log(1 + |x|), then (value - mean) / sd of the training split, columns with sd < 1e-6 dropped, and all rows
 *             divided by the largest norm of a training row, so that no training row is longer than 1
 *   minmax    to [0,1] within each query; columns that are constant within every training query are dropped
 *   none      as they are
 */
#ifndef OLTR_DATA_NORMALISER_H
#define OLTR_DATA_NORMALISER_H

#include <oltr/sim.h>

#include "base/error.h"

typedef enum normaliser_kind { NORMALISE_STANDARD, NORMALISE_MINMAX, NORMALISE_NONE } normaliser_kind;

typedef struct normaliser {
    normaliser_kind kind;
    uint32_t dim_in, dim; /* features before and after */
    uint32_t *column;     /* (dim) which ones are kept, ascending; the rest were dropped */
    double *mean, *sd;    /* (dim) of the squashed values; standard only */
    double longest;       /* the norm that becomes 1; standard only */
} normaliser;

normaliser *normaliser_fit(const oltr_dataset *train, normaliser_kind kind, oltr_error *error);
void normaliser_free(normaliser *n);
/* A new dataset with the same queries and grades; refuses one of another dim. */
oltr_dataset *normaliser_apply(const normaliser *n, const oltr_dataset *from, oltr_error *error);
oltr_status normaliser_save(const normaliser *n, const char *path, oltr_error *error);
normaliser *normaliser_load(const char *path, oltr_error *error);

#endif
