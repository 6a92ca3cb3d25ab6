/* background.c - see background.h. */
#define _POSIX_C_SOURCE 200809L
#include "python/core/background.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

enum { LOOK_NS = 50000000, SECOND_NS = 1000000000, LOOKS_BEFORE_HASTE = 6 };

typedef struct errand {
    const background *job;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    bool done; /* under the lock */
} errand;

/* Under the GIL. */
static uint32_t running; /* calls of background_run() */
static bool ending;      /* the interpreter ends */

/* An exception that is kept while the work comes to its end. */
typedef struct kept_exception {
    PyObject *type, *value, *trace;
} kept_exception;

static void *run_errand(void *context)
{
    errand *e = context;
    e->job->work(e->job->context);
    pthread_mutex_lock(&e->lock);
    e->done = true;
    pthread_cond_signal(&e->finished);
    pthread_mutex_unlock(&e->lock);
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
static bool wait_for_end(errand *e)
{
    struct timespec until = after(LOOK_NS);
    int code = 0;
    pthread_mutex_lock(&e->lock);
    while (!e->done && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&e->finished, &e->lock, &until);
    bool done = e->done;
    pthread_mutex_unlock(&e->lock);
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

static void watch(errand *e, kept_exception *kept)
{
    int looks_since_stop = 0;
    for (bool done = false; !done;) {
        PyThreadState *state = PyEval_SaveThread();
        done = wait_for_end(e);
        PyEval_RestoreThread(state);
        look(e->job, done, kept);
        looks_since_stop += kept->type != NULL;
        if (!done && e->job->hasten && looks_since_stop > LOOKS_BEFORE_HASTE)
            e->job->hasten(e->job->context);
    }
}

static void init_errand(errand *e)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&e->finished, &attributes);
    pthread_condattr_destroy(&attributes);
}

int background_run(const background *job)
{
    errand e = {.job = job};
    kept_exception kept = {NULL, NULL, NULL};
    pthread_t thread;
    if (ending)
        return end_thread();
    running++;
    init_errand(&e);
    if (pthread_create(&thread, NULL, run_errand, &e) == 0) {
        watch(&e, &kept);
        pthread_join(thread, NULL);
    } else {
        PyErr_SetString(PyExc_MemoryError, "no thread could be started");
        PyErr_Fetch(&kept.type, &kept.value, &kept.trace);
    }
    pthread_cond_destroy(&e.finished);
    pthread_mutex_destroy(&e.lock);
    running--;
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
    for (int i = 0; running > 0 && i < WAITS; i++) {
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
