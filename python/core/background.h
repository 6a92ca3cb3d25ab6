/* background.h - a long call of the engine, in a thread of its own, while the calling Python thread
 * looks for Ctrl-C.
 *
 * Python's signal handlers run in its main thread, between two instructions of Python.  A call of
 * minutes has none, so the engine works in another thread, without the GIL, and the calling thread
 * takes the GIL about 20 times a second to let the handlers run and to report progress.
 */
#ifndef OLTR_PYTHON_BACKGROUND_H
#define OLTR_PYTHON_BACKGROUND_H

#include "python/core/core.h"

#include <stdatomic.h>

typedef struct background {
    void (*work)(void *context); /* the long call; has no thread state and no GIL */
    /* NULL, or called with the GIL while work() runs, and once after it: -1 with an exception
     * stops the work. */
    int (*look)(void *context);
    /* NULL, or called with the GIL, 20 times a second, from 0.3 s after the stop until work() has
     * returned. */
    void (*hasten)(void *context);
    void *context;
    atomic_int *stop; /* becomes 1 after an exception; work() must return soon then */
} background;

/* Returns when work() has: 0, or -1 with the exception of a signal handler or of look(). */
int background_run(const background *job);

/* Registers what stops all work when the interpreter ends: background_run() then raises SystemExit.
 */
int add_background(PyObject *module);

#endif
