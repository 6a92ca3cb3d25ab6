/* policy_bytes.c - a policy as bytes and as a file, its copies, pickle.
 *
 * A snapshot is that of the engine, so that C programs and the program oltr read it.  Pickle adds
 * the seed and the number of the last list: a copy goes on to the same bits. */
#include "python/core/policy_object.h"

/* ---- out */

PyObject *policy_to_bytes(PyObject *self, PyObject *nothing)
{
    policy_object *p = as_policy(self);
    size_t written = 0;
    (void)nothing;
    if (policy_lock_wait(&p->lock, TO_PEEK) < 0)
        return NULL;
    size_t bound = oltr_save_bound(p->policy);
    char *buffer = PyMem_Malloc(bound + 1);
    if (!buffer)
        return PyErr_NoMemory();
    oltr_status status = oltr_save(p->policy, buffer, bound, &written);
    PyObject *bytes = status == OLTR_OK ? PyBytes_FromStringAndSize(buffer, (Py_ssize_t)written)
                                        : core_raise(status, NULL);
    PyMem_Free(buffer);
    return bytes;
}

PyObject *policy_save(PyObject *self, PyObject *path)
{
    policy_object *p = as_policy(self);
    PyObject *name;
    oltr_error error;
    if (!PyUnicode_FSConverter(path, &name))
        return NULL;
    if (policy_lock_wait(&p->lock, TO_READ) < 0) {
        Py_DECREF(name);
        return NULL;
    }
    const char *text = PyBytes_AsString(name);
    p->lock.readers++;
    PyThreadState *state = PyEval_SaveThread();
    oltr_status status = oltr_save_file(p->policy, text, &error);
    PyEval_RestoreThread(state);
    p->lock.readers--;
    policy_lock_wake();
    Py_DECREF(name);
    return status == OLTR_OK ? Py_NewRef(Py_None) : core_raise(status, &error);
}

/* ---- in */

typedef struct load_call {
    PyObject *source;
    uint64_t seed, round;
    bool round_given;
} load_call;

static int get_call(const char *function, const char *source, PyObject *const *arguments,
                    Py_ssize_t n, PyObject *keywords, load_call *call)
{
    const char *const names[] = {source, "seed", "round", NULL};
    PyObject *value[3];
    *call = (load_call){0};
    if (core_arguments(function, names, 1, arguments, n, keywords, value) < 0 ||
        (value[1] && core_whole(value[1], "seed", UINT64_MAX, &call->seed) < 0) ||
        (value[2] && core_whole(value[2], "round", MOST_ROUND, &call->round) < 0))
        return -1;
    call->source = value[0];
    call->round_given = value[2] != NULL;
    return 0;
}

static PyObject *wrap_loaded(PyObject *type, oltr_policy *policy, const oltr_error *error,
                             const load_call *call)
{
    if (!policy)
        return core_raise(error->code, error);
    uint64_t learned = oltr_policy_rounds(policy);
    uint64_t counted = learned < MOST_ROUND ? learned : MOST_ROUND;
    return policy_wrap((PyTypeObject *)type, policy, call->seed,
                       call->round_given ? call->round : counted);
}

PyObject *policy_from_bytes(PyObject *type, PyObject *const *arguments, Py_ssize_t n,
                            PyObject *keywords)
{
    load_call call;
    Py_buffer view;
    oltr_error error;
    if (get_call("from_bytes", "data", arguments, n, keywords, &call) < 0 ||
        PyObject_GetBuffer(call.source, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    oltr_policy *policy = oltr_load(view.buf, (size_t)view.len, &error);
    PyBuffer_Release(&view);
    return wrap_loaded(type, policy, &error, &call);
}

PyObject *policy_load(PyObject *type, PyObject *const *arguments, Py_ssize_t n, PyObject *keywords)
{
    load_call call;
    PyObject *name;
    oltr_error error;
    if (get_call("load", "path", arguments, n, keywords, &call) < 0 ||
        !PyUnicode_FSConverter(call.source, &name))
        return NULL;
    const char *text = PyBytes_AsString(name);
    PyThreadState *state = PyEval_SaveThread();
    oltr_policy *policy = oltr_load_file(text, NULL, &error);
    PyEval_RestoreThread(state);
    PyObject *loaded =
        policy || error.code != OLTR_EMAGIC
            ? wrap_loaded(type, policy, &error, &call)
            : core_refuse(error.code,
                          "%.120s is not a snapshot of a policy: it does not begin with OLTRSNAP; "
                          "files of models are read by oltr.Model.load()",
                          text);
    Py_DECREF(name);
    return loaded;
}

/* ---- copies */

/* The attributes of an instance of a subclass; NULL without an exception where it has none. */
static PyObject *attributes_of(PyObject *self)
{
    PyObject *dict = PyObject_GenericGetDict(self, NULL);
    if (!dict)
        PyErr_Clear();
    return dict;
}

/* Gives a copy the attributes of the original. */
static PyObject *with_attributes(PyObject *copy, PyObject *self)
{
    PyObject *from = attributes_of(self), *to = from ? attributes_of(copy) : NULL;
    if (to && PyDict_Update(to, from) < 0)
        Py_CLEAR(copy);
    Py_XDECREF(from);
    Py_XDECREF(to);
    return copy;
}

PyObject *policy_copy(PyObject *self, PyObject *nothing)
{
    policy_object *p = as_policy(self);
    oltr_error error;
    (void)nothing;
    if (policy_lock_wait(&p->lock, TO_PEEK) < 0)
        return NULL;
    oltr_policy *policy = oltr_policy_copy(p->policy, NULL, &error);
    if (!policy)
        return core_raise(error.code, &error);
    PyObject *copy = policy_wrap(Py_TYPE(self), policy, p->seed, p->round);
    return copy ? with_attributes(copy, self) : NULL;
}

PyObject *policy_reduce(PyObject *self, PyObject *nothing)
{
    policy_object *p = as_policy(self);
    PyObject *bytes = policy_to_bytes(self, nothing);
    PyObject *load = bytes ? PyObject_GetAttrString((PyObject *)Py_TYPE(self), "from_bytes") : NULL;
    if (!load) {
        Py_XDECREF(bytes);
        return NULL;
    }
    unsigned long long seed = p->seed, round = p->round;
    PyObject *attributes = attributes_of(self);
    if (attributes)
        return Py_BuildValue("N(NKK)N", load, bytes, seed, round, attributes);
    return Py_BuildValue("N(NKK)", load, bytes, seed, round);
}
