/* python_world.h - a world, and users, written in Python. */
#ifndef OLTR_PYTHON_PYTHON_WORLD_H
#define OLTR_PYTHON_PYTHON_WORLD_H

#include "python/core/bridge.h"
#include "python/core/python_policy.h"

/* What oltr_world.custom points to; the digest is custom_bytes long.  Methods are borrowed; NULL:
 * the object has none. */
typedef struct python_world {
    unsigned char digest[DIGEST_BYTES]; /* must be first */
    bridge *bridge;
    uint32_t n_items, dim;
    bool reals; /* rewards and means of any sign, not clicks and probabilities */
    PyObject *draw, *advance, *scan, *value, *best, *worst;
} python_world;

/* Puts the world in the place of the one that the text of the experiment has. */
void python_world_place(const python_world *own, oltr_world *world);

#endif
