/* blas.h - the matrix product of OpenBLAS, loaded when a scorer is trained.
 *
 * OpenBLAS is not linked: a linked one starts a thread for every processor before main(), also in
 * commands that train nothing, and hangs at exit where memory is short. */
#ifndef OLTR_SCORER_BLAS_H
#define OLTR_SCORER_BLAS_H

#include <cblas.h>

#include "engine/base/error.h"

/* Loads OpenBLAS with one thread.  The scorers run in parallel instead; sums of a product that is
 * split over threads would depend on the number of processors.  Safe to call often and from several
 * threads. */
oltr_status blas_load(oltr_error *error);

/* cblas_sgemm, after blas_load() has returned OLTR_OK. */
extern __typeof__(cblas_sgemm) *blas_sgemm;

#endif
