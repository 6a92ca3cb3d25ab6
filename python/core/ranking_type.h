/* ranking_type.h - the Python type Ranking: a list that was shown. */
#ifndef OLTR_PYTHON_RANKING_TYPE_H
#define OLTR_PYTHON_RANKING_TYPE_H

#include "python/core/core.h"

/* Immutable once it was handed out.  The memory behind it is one block: scores, then the features
 * of the shown items, which learning needs, then the items. */
typedef struct ranking_object {
    PyObject_VAR_HEAD /* its size: words of 8 bytes */
        uint64_t seed,
        round;
    uint32_t k, dim;     /* dim 0: without features */
    Py_ssize_t shape[1]; /* k, for the buffer protocol */
    double score[];      /* (k) */
} ranking_object;

extern PyTypeObject *ranking_type;

static inline bool is_ranking(PyObject *object)
{
    return Py_TYPE(object) == ranking_type;
}

static inline float *ranking_x(ranking_object *r)
{
    return (float *)(r->score + r->k);
}

static inline uint32_t *ranking_items(ranking_object *r)
{
    return (uint32_t *)(ranking_x(r) + (size_t)r->k * r->dim);
}

/* Of undefined content; runs no Python code. */
ranking_object *ranking_new(uint32_t k, uint32_t dim, uint64_t seed, uint64_t round);

int add_ranking(PyObject *module);

#endif
