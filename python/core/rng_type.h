/* rng_type.h - oltr.Rng: the engine's generator in Python, for policies and worlds written in it.
 */
#ifndef OLTR_PYTHON_RNG_TYPE_H
#define OLTR_PYTHON_RNG_TYPE_H

#include "python/core/core.h"

typedef struct rng_object {
    PyObject_HEAD oltr_rng rng; /* the next draw */
} rng_object;

int add_rng(PyObject *module);
rng_object *rng_new(oltr_rng rng);

#endif
