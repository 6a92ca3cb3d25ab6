/* background.c - see background.h. */
#define _POSIX_C_SOURCE 200809L
#include "python/core/background.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

enum { LOOK_NS = 50000000, SECOND_NS = 1000000000, LOOKS_BEFORE_HASTE = 6 };

typedef struct running {
    const background *job;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    bool done; /* under the lock */
} running;

/* Under the GIL. */
static uint32_t n_running; /* calls of background_run() */
static bool ending;        /* the interpreter ends */

/* An exception that is kept while the work comes to its end. */
typedef struct kept_exception {
    PyObject *type, *value, *trace;
} kept_exception;

static void *work_in_thread(void *context)
{
    running *r = context;
    r->job->work(r->job->context);
    pthread_mutex_lock(&r->lock);
    r->done = true;
    pthread_cond_signal(&r->finished);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static struct timespec after(long ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += ns;
    if (t.tv_nsec >= SECOND_NS) {
        t.tv_sec++;
        t.tv_nsec -= SECOND_NS;
    }
    return t;
}

/* Waits for the end, or until it is time to look; true at the end.  Without the GIL. */
static bool wait_for_end(running *r)
{
    struct timespec until = after(LOOK_NS);
    int code = 0;
    pthread_mutex_lock(&r->lock);
    while (!r->done && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&r->finished, &r->lock, &until);
    bool done = r->done;
    pthread_mutex_unlock(&r->lock);
    return done;
}

/* Silent in a thread: the interpreter ends, and the thread with it. */
static int end_thread(void)
{
    PyErr_SetNone(PyExc_SystemExit);
    return -1;
}

/* Signal handlers, and the caller's look; keeps the first exception and stops the work. */
static void look(const background *job, bool done, kept_exception *kept)
{
    int code = PyErr_CheckSignals();
    if (kept->type) { /* a second Ctrl-C while the work ends changes nothing */
        PyErr_Clear();
        return;
    }
    if (code == 0 && ending)
        code = end_thread();
    if (code == 0 && job->look && !(done && atomic_load(job->stop)))
        code = job->look(job->context);
    if (code == 0)
        return;
    PyErr_Fetch(&kept->type, &kept->value, &kept->trace);
    atomic_store(job->stop, 1);
}

static void watch(running *r, kept_exception *kept)
{
    int looks_since_stop = 0;
    for (bool done = false; !done;) {
        PyThreadState *state = PyEval_SaveThread();
        done = wait_for_end(r);
        PyEval_RestoreThread(state);
        look(r->job, done, kept);
        looks_since_stop += kept->type != NULL;
        if (!done && r->job->hasten && looks_since_stop > LOOKS_BEFORE_HASTE)
            r->job->hasten(r->job->context);
    }
}

static void init_running(running *r)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&r->finished, &attributes);
    pthread_condattr_destroy(&attributes);
}

int background_run(const background *job)
{
    running r = {.job = job};
    kept_exception kept = {NULL, NULL, NULL};
    pthread_t thread;
    if (ending)
        return end_thread();
    n_running++;
    init_running(&r);
    if (pthread_create(&thread, NULL, work_in_thread, &r) == 0) {
        watch(&r, &kept);
        pthread_join(thread, NULL);
    } else {
        PyErr_SetString(PyExc_MemoryError, "no thread could be started");
        PyErr_Fetch(&kept.type, &kept.value, &kept.trace);
    }
    pthread_cond_destroy(&r.finished);
    pthread_mutex_destroy(&r.lock);
    n_running--;
    if (!kept.type)
        return 0;
    PyErr_Restore(kept.type, kept.value, kept.trace);
    return -1;
}

/* ---- the end of the interpreter */

/* Called by atexit, while threads can still take the GIL.  Python ends a daemon thread where it
 * next takes the GIL, and its stack with it, on which the work still relies; so all work is stopped
 * before, for at most five seconds: Python code of a policy may be in a call that never returns. */
static PyObject *end_all(PyObject *module, PyObject *nothing)
{
    enum { WAITS = 500, WAIT_NS = 10000000 };
    (void)module;
    (void)nothing;
    ending = true;
    for (int i = 0; n_running > 0 && i < WAITS; i++) {
        PyThreadState *state = PyEval_SaveThread();
        nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
        PyEval_RestoreThread(state);
    }
    return Py_NewRef(Py_None);
}

int add_background(PyObject *module)
{
    static PyMethodDef method = {"end_all", end_all, METH_NOARGS, "Stops all work."};
    PyObject *function = PyCFunction_NewEx(&method, NULL, NULL);
    PyObject *atexit = function ? PyImport_ImportModule("atexit") : NULL;
    PyObject *done = atexit ? PyObject_CallMethod(atexit, "register", "O", function) : NULL;
    (void)module;
    Py_XDECREF(function);
    Py_XDECREF(atexit);
    Py_XDECREF(done);
    return done ? 0 : -1;
}
