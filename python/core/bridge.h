/* bridge.h - calls from the threads of a run into Python: policies and worlds written in Python.
 *
 * A worker thread of oltr_run() is unknown to Python.  bridge_begin() makes it a thread state,
 * which it keeps until bridge_end(); every call into Python is between bridge_enter(), which takes
 * the GIL, and bridge_leave(), which gives it back.  No lock of the engine is held then, so the two
 * cannot wait for each other.
 *
 * The first exception is kept and stops the run; experiment_run.c raises it in the calling thread,
 * with its traceback and a note that says where it happened.
 */
#ifndef OLTR_PYTHON_BRIDGE_H
#define OLTR_PYTHON_BRIDGE_H

#include "python/core/core.h"

#include <oltr/sim.h>

#include <pthread.h>
#include <stdatomic.h>

enum { BRIDGE_MOST_THREADS = 1032 }; /* oltr_run() has at most 1024, and there is one more */

typedef struct bridge {
    PyInterpreterState *interpreter;
    atomic_int stop;               /* 1: the run ends */
    const oltr_experiment *points; /* (n_points) what is run, once it is known; for notes */
    uint32_t n_points;
    PyObject *type, *value, *trace;            /* the first exception, or NULL; under the GIL */
    pthread_mutex_t lock;                      /* of the two below */
    uint32_t n_threads;                        /* that have a thread state now */
    unsigned long thread[BRIDGE_MOST_THREADS]; /* their Python idents */
} bridge;

void bridge_init(bridge *b); /* with the GIL, and so is bridge_free() */
void bridge_free(bridge *b);

/* Nested calls of one thread count; the last bridge_end() deletes the thread state. */
oltr_status bridge_begin(bridge *b);
void bridge_end(bridge *b);
void bridge_enter(void);
void bridge_leave(void);

/* With the GIL and an exception set: keeps it if it is the first, with a note, and stops the run.
 * round 0 and generator NULL: not known.  Returns the status that ends the run. */
oltr_status bridge_failed(bridge *b, const char *who, const oltr_rng *generator, uint64_t round);

/* Raises the kept exception in the calling thread: -1, or 0 where there is none. */
int bridge_raise(bridge *b);

/* Raises KeyboardInterrupt in the Python code of the workers, which may be an endless loop. */
void bridge_interrupt(bridge *b);

/* What draw() of a world has returned for the instance that this thread plays; borrowed, or NULL.
 * bridge_set_truth() takes the reference. */
PyObject *bridge_truth(void);
void bridge_set_truth(PyObject *truth);

#endif
