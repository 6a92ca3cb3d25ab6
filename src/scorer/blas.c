/* blas.c - loads OpenBLAS at run time; see blas.h. */
#define _POSIX_C_SOURCE 200809L
#include "scorer/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__typeof__(cblas_sgemm) *blas_sgemm;
static char reason[160]; /* why it is not loaded */

static void *find(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        snprintf(reason, sizeof reason, "it has no %s", name);
    return found;
}

static void resolve(void *library)
{
    __typeof__(openblas_set_num_threads) *set_num_threads;
    void *gemm = find(library, "cblas_sgemm");
    void *set_threads = gemm ? find(library, "openblas_set_num_threads") : NULL;
    if (!set_threads)
        return;
    memcpy(&set_num_threads, &set_threads, sizeof set_threads); /* ISO C has no cast for this */
    memcpy(&blas_sgemm, &gemm, sizeof gemm);
    set_num_threads(1);
}

/* OpenBLAS reads OPENBLAS_NUM_THREADS when it is loaded, and starts so many threads: 1 prevents it.
 * The variable is restored for the programs that this one starts. */
static void load(void)
{
    static const char variable[] = "OPENBLAS_NUM_THREADS";
    const char *set = getenv(variable);
    char *before = set ? strdup(set) : NULL;
    if ((set && !before) || setenv(variable, "1", 1) != 0) {
        snprintf(reason, sizeof reason, "out of memory");
        free(before);
        return;
    }
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library)
        resolve(library);
    else
        snprintf(reason, sizeof reason, "%s", dlerror());
    if (before)
        setenv(variable, before, 1);
    else
        unsetenv(variable);
    free(before);
}

oltr_status blas_load(oltr_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return blas_sgemm
               ? OLTR_OK
               : set_error(error, OLTR_EUNSUPPORTED,
                           "training scorers needs OpenBLAS, which cannot be loaded (Debian: "
                           "libopenblas0): %s",
                           reason);
}
