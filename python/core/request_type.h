/* request_type.h - oltr.Request: what a policy written in Python is asked in one round. */
#ifndef OLTR_PYTHON_REQUEST_TYPE_H
#define OLTR_PYTHON_REQUEST_TYPE_H

#include "python/core/rng_type.h"

typedef struct request_object {
    PyObject_HEAD uint64_t t;
    uint32_t k, n, dim;
    const float *rows; /* (n, stride) the features during a call, else NULL */
    size_t stride;
    PyObject *x;   /* a copy of them, or NULL */
    bool x_is_old; /* of an earlier round */
    rng_object *rng;
} request_object;

int add_request(PyObject *module);
request_object *request_new(uint32_t k, uint32_t dim);
/* The features of these items as a new array, or None where there are none. */
PyObject *request_features_of(const request_object *r, const uint32_t *item, uint32_t n);

#endif
