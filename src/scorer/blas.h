/* blas.h - the matrix product of OpenBLAS, loaded when a scorer is trained.
 *
 * OpenBLAS is not linked, because a linked one starts a thread for every processor before main(),
 * in programs that train nothing too: memory and threads are spent, and where memory is short the
 * program hangs in OpenBLAS at its exit. */
#ifndef OLTR_SCORER_BLAS_H
#define OLTR_SCORER_BLAS_H

#include <cblas.h>

#include "engine/base/error.h"

/* Loads OpenBLAS with one thread, the caller's: the scorers are the threads, and a product that
 * were split further would have sums that depend on the number of processors.  May be called often
 * and by several threads. */
oltr_status blas_load(oltr_error *error);

/* cblas_sgemm, after blas_load() has returned OLTR_OK. */
extern __typeof__(cblas_sgemm) *blas_sgemm;

#endif
