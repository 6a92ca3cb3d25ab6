/* request_type.c - oltr.Request.
 *
 * There is one for each policy of a replication; python_policy.c fills it anew in every round.  The
 * features are copied when they are asked for, so that an array outlives the memory of the
 * simulator. */
#include "python/core/request_type.h"

#include <string.h>

static PyObject *request_type;

static PyObject *request_t(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(((request_object *)self)->t);
}

static PyObject *request_k(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLong(((request_object *)self)->k);
}

static PyObject *request_n(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLong(((request_object *)self)->n);
}

static PyObject *request_rng(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef((PyObject *)((request_object *)self)->rng);
}

static void copy_rows(const request_object *r, const uint32_t *row, uint32_t n, void *memory)
{
    for (uint32_t i = 0; i < n; i++)
        memcpy((float *)memory + (size_t)i * r->dim, r->rows + (row ? row[i] : i) * r->stride,
               r->dim * sizeof(float));
}

static int too_late(void)
{
    PyErr_SetString(PyExc_RuntimeError, "the features of a request are there while the policy "
                                        "ranks and learns; keep request.x itself");
    return -1;
}

/* A new array in every round: the policy may have kept a part of the one before, or changed its
 * shape or released its memory.  Making it may run Python code and other threads, during which the
 * round may end. */
static int renew_x(request_object *r)
{
    void *memory;
    uint64_t t = r->t;
    PyObject *array = r->rows ? core_array_new(CORE_F32, r->n, r->dim, &memory) : NULL;
    if (r->rows && !array)
        return -1;
    if (!r->rows || r->t != t) {
        Py_XDECREF(array);
        return too_late();
    }
    copy_rows(r, NULL, r->n, memory);
    PyObject *before = r->x;
    r->x = array;
    r->x_is_old = false;
    Py_XDECREF(before);
    return 0;
}

static PyObject *request_x(PyObject *self, void *closure)
{
    request_object *r = (request_object *)self;
    (void)closure;
    if (r->dim == 0)
        return Py_NewRef(Py_None);
    return r->x_is_old && renew_x(r) < 0 ? NULL : Py_NewRef(r->x);
}

static void request_dealloc(PyObject *self)
{
    request_object *r = (request_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(r->x);
    Py_XDECREF((PyObject *)r->rng);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyGetSetDef request_fields[] = {
    {"t", request_t, NULL, "the number of the round, from 1", NULL},
    {"k", request_k, NULL, "how many items the list has", NULL},
    {"n", request_n, NULL, "how many candidates there are: the items 0 to n - 1", NULL},
    {"x", request_x, NULL,
     "their features, a float32 array of n rows; None where the world has none", NULL},
    {"rng", request_rng, NULL, "an oltr.Rng for this round: the only source of chance to use",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char request_doc[] =
    "What a policy written in Python is asked in one round.\n\n"
    "It is filled anew in every round: keep what it holds, not the request.";

int add_request(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, CORE_SLOT(request_doc)},
        {Py_tp_dealloc, CORE_SLOT(request_dealloc)},
        {Py_tp_getset, request_fields},
        {0, NULL},
    };
    static PyType_Spec spec = {"oltr.Request", sizeof(request_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    request_type = core_add_type(module, &spec, "Request");
    return request_type ? 0 : -1;
}

request_object *request_new(uint32_t k, uint32_t dim)
{
    request_object *r = PyObject_New(request_object, (PyTypeObject *)request_type);
    if (!r)
        return NULL;
    r->t = 0;
    r->k = k;
    r->n = 0;
    r->dim = dim;
    r->rows = NULL;
    r->stride = 0;
    r->x = NULL;
    r->x_is_old = true;
    r->rng = rng_new(oltr_rng_make(0, 0));
    if (!r->rng)
        Py_CLEAR(r);
    return r;
}

PyObject *request_features_of(const request_object *r, const uint32_t *item, uint32_t n)
{
    void *memory;
    if (r->dim == 0)
        return Py_NewRef(Py_None);
    PyObject *array = core_array_new(CORE_F32, n, r->dim, &memory);
    if (array)
        copy_rows(r, item, n, memory);
    return array;
}
