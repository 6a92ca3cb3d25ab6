/* blas.c - loads OpenBLAS at run time; see blas.h.
 *
 * The number of threads of OpenBLAS belongs to the whole process: numpy, for one, may use the same
 * library.  So the users are counted, and the number is restored after the last one. */
#define _POSIX_C_SOURCE 200809L
#include "lab/scorer/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef struct functions {
    __typeof__(cblas_sgemm) *sgemm;
    __typeof__(openblas_get_num_threads) *get_threads;
    __typeof__(openblas_set_num_threads) *set_threads;
} functions;

static struct {
    pthread_mutex_t lock; /* of all below */
    uint32_t users;
    int threads_before;
    functions of;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static oltr_status cannot_load(const char *why, oltr_error *error)
{
    return set_error(error, OLTR_EUNSUPPORTED,
                     "training scorers needs OpenBLAS, which cannot be loaded (Debian: "
                     "libopenblas0): %.160s",
                     why);
}

/* ISO C has no cast from the pointers of dlsym() to functions: `to` points to a function pointer.
 */
static oltr_status find(void *library, const char *name, void *to, oltr_error *error)
{
    char why[64] = "it has no ";
    void *found = dlsym(library, name);
    if (!found)
        return cannot_load(strcat(why, name), error);
    memcpy(to, &found, sizeof found);
    return OLTR_OK;
}

/* With RTLD_NODELETE it stays loaded, so that a second training finds it, and needs no handle. */
static oltr_status load(functions *of, oltr_error *error)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return cannot_load(dlerror(), error);
    oltr_status status = find(library, "cblas_sgemm", &of->sgemm, error);
    if (status == OLTR_OK)
        status = find(library, "openblas_get_num_threads", &of->get_threads, error);
    if (status == OLTR_OK)
        status = find(library, "openblas_set_num_threads", &of->set_threads, error);
    dlclose(library);
    return status;
}

oltr_status blas_begin(blas *b, oltr_error *error)
{
    pthread_mutex_lock(&shared.lock);
    oltr_status status = shared.users > 0 ? OLTR_OK : load(&shared.of, error);
    if (status == OLTR_OK && shared.users++ == 0) {
        shared.threads_before = shared.of.get_threads();
        shared.of.set_threads(1);
    }
    b->sgemm = status == OLTR_OK ? shared.of.sgemm : NULL;
    pthread_mutex_unlock(&shared.lock);
    return status;
}

void blas_end(blas *b)
{
    if (!b->sgemm)
        return;
    pthread_mutex_lock(&shared.lock);
    if (--shared.users == 0)
        shared.of.set_threads(shared.threads_before);
    pthread_mutex_unlock(&shared.lock);
    b->sgemm = NULL;
}
