/* blas_variable.c - see blas_variable.h. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/blas_variable.h"

#include "engine/base/error.h"

#include <stdlib.h>
#include <string.h>

static const char name[] = "OPENBLAS_NUM_THREADS";

oltr_status blas_variable_set(struct blas_variable *variable, oltr_error *error)
{
    const char *set = getenv(name);
    variable->before = set ? strdup(set) : NULL;
    if ((!set || variable->before) && setenv(name, "1", 1) == 0)
        return OLTR_OK;
    free(variable->before);
    return set_error(error, OLTR_ENOMEM, "out of memory");
}

/* Without memory for the old value it stays 1, which changes no result. */
void blas_variable_restore(struct blas_variable *variable)
{
    if (variable->before)
        setenv(name, variable->before, 1);
    else
        unsetenv(name);
    free(variable->before);
    variable->before = NULL;
}
