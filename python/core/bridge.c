/* bridge.c - thread states, the GIL, and the first exception; see bridge.h. */
#define _POSIX_C_SOURCE 200809L
#include "python/core/bridge.h"

#include <string.h>

/* Of the thread that runs. */
static _Thread_local struct {
    PyThreadState *state; /* not current: its thread is outside Python */
    uint32_t depth;       /* bridge_begin() without bridge_end() */
    PyObject *truth;
} own;

void bridge_init(bridge *b)
{
    memset(b, 0, sizeof *b);
    b->interpreter = PyInterpreterState_Get();
    pthread_mutex_init(&b->lock, NULL);
}

void bridge_free(bridge *b)
{
    Py_CLEAR(b->type);
    Py_CLEAR(b->value);
    Py_CLEAR(b->trace);
    pthread_mutex_destroy(&b->lock);
}

/* ---- threads */

static void add_thread(bridge *b)
{
    pthread_mutex_lock(&b->lock);
    if (b->n_threads < BRIDGE_MOST_THREADS)
        b->thread[b->n_threads++] = PyThread_get_thread_ident();
    pthread_mutex_unlock(&b->lock);
}

static void remove_thread(bridge *b)
{
    unsigned long ident = PyThread_get_thread_ident();
    pthread_mutex_lock(&b->lock);
    for (uint32_t i = 0; i < b->n_threads; i++)
        if (b->thread[i] == ident) {
            b->thread[i] = b->thread[--b->n_threads];
            break;
        }
    pthread_mutex_unlock(&b->lock);
}

oltr_status bridge_begin(bridge *b)
{
    if (own.depth == 0) {
        own.state = PyThreadState_New(b->interpreter);
        if (!own.state)
            return OLTR_ENOMEM;
        add_thread(b);
    }
    own.depth++;
    return OLTR_OK;
}

/* A state is cleared while it is current and deleted when it is not: the limited API has no call
 * that deletes the current one. */
void bridge_end(bridge *b)
{
    if (--own.depth > 0)
        return;
    remove_thread(b);
    PyEval_RestoreThread(own.state);
    Py_CLEAR(own.truth);
    PyThreadState_Clear(own.state);
    PyThreadState_Delete(PyEval_SaveThread());
    own.state = NULL;
}

void bridge_enter(void)
{
    PyEval_RestoreThread(own.state);
}

void bridge_leave(void)
{
    own.state = PyEval_SaveThread();
}

/* ---- what a world has drawn */

PyObject *bridge_truth(void)
{
    return own.truth;
}

void bridge_set_truth(PyObject *truth)
{
    PyObject *before = own.truth;
    own.truth = truth;
    Py_XDECREF(before);
}

/* ---- exceptions */

/* The replication that has this generator: the operations of a policy do not get its number.  -1:
 * not found. */
static int64_t replication_of(const bridge *b, const oltr_rng *generator)
{
    for (uint32_t p = 0; p < b->n_points; p++) {
        const oltr_experiment *e = &b->points[p];
        if (p > 0 && e->seed == e[-1].seed && e->replications <= e[-1].replications)
            continue;
        for (uint32_t r = 0; r < e->replications; r++) {
            oltr_rng rng = oltr_rng_make(e->seed, r);
            if (memcmp(rng.key, generator->key, sizeof rng.key) == 0)
                return r;
        }
    }
    return -1;
}

/* "in policy mine, replication 3, round 17"; a note that cannot be added is left out. */
static void add_note(const bridge *b, const char *who, const oltr_rng *generator, uint64_t round)
{
    char where[80] = "";
    int64_t replication = generator ? replication_of(b, generator) : -1;
    size_t used = 0;
    if (replication >= 0)
        used = (size_t)PyOS_snprintf(where, sizeof where, ", replication %lld",
                                     (long long)replication);
    if (round > 0)
        PyOS_snprintf(where + used, sizeof where - used, ", round %llu", (unsigned long long)round);
    PyObject *note = PyUnicode_FromFormat("in %s%s", who, where);
    PyObject *done = note ? PyObject_CallMethod(b->value, "add_note", "O", note) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(note);
    PyErr_Clear();
}

oltr_status bridge_failed(bridge *b, const char *who, const oltr_rng *generator, uint64_t round)
{
    if (b->type || atomic_load(&b->stop)) {
        PyErr_Clear();
    } else {
        PyErr_Fetch(&b->type, &b->value, &b->trace);
        PyErr_NormalizeException(&b->type, &b->value, &b->trace);
        if (b->trace)
            PyException_SetTraceback(b->value, b->trace);
        add_note(b, who, generator, round);
    }
    atomic_store(&b->stop, 1);
    return OLTR_EINTERRUPTED;
}

int bridge_raise(bridge *b)
{
    if (!b->type)
        return 0;
    PyErr_Restore(b->type, b->value, b->trace);
    b->type = b->value = b->trace = NULL;
    return -1;
}

void bridge_interrupt(bridge *b)
{
    pthread_mutex_lock(&b->lock);
    for (uint32_t i = 0; i < b->n_threads; i++)
        PyThreadState_SetAsyncExc(b->thread[i], PyExc_KeyboardInterrupt);
    pthread_mutex_unlock(&b->lock);
}
