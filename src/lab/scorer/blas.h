/* blas.h - the matrix product of OpenBLAS, loaded when a scorer is trained.
 *
 * OpenBLAS is not linked: a linked one starts a thread for every processor before main(), also in
 * programs that train nothing, and hangs at exit where memory is short. */
#ifndef OLTR_LAB_SCORER_BLAS_H
#define OLTR_LAB_SCORER_BLAS_H

#include <cblas.h>

#include "engine/base/error.h"

typedef struct blas {
    __typeof__(cblas_sgemm) *sgemm; /* NULL: not begun */
} blas;

/* Loads OpenBLAS, if it is not loaded yet, and gives it one thread until the last blas_end(): the
 * scorers run in parallel instead, and sums of a product that is split over threads would depend on
 * the number of processors.  Any thread may call both.  The library stays loaded.  It starts its
 * own threads when it is loaded; app/run/blas_variable.h prevents that in the program. */
oltr_status blas_begin(blas *b, oltr_error *error);
void blas_end(blas *b); /* not begun is fine */

#endif
