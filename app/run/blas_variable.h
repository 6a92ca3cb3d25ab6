/* blas_variable.h - the variable OPENBLAS_NUM_THREADS around a training.
 *
 * OpenBLAS reads it when it is loaded, and starts so many threads: 1 prevents it.  A library must
 * not change the environment of its process, where other threads may read it; so the program does,
 * before it calls what may train scorers. */
#ifndef OLTR_APP_RUN_BLAS_VARIABLE_H
#define OLTR_APP_RUN_BLAS_VARIABLE_H

#include <oltr/oltr.h>

struct blas_variable {
    char *before; /* NULL: it was not set */
};

/* Makes it 1.  Restored for the programs that this one starts. */
oltr_status blas_variable_set(struct blas_variable *variable, oltr_error *error);
void blas_variable_restore(struct blas_variable *variable);

#endif
