/* model_files.c - images as bytes, and the calls of a store: checkpoint, sync, stat, close. */
#include "python/core/model_object.h"

#include <stdlib.h>

PyObject *model_to_bytes_call(PyObject *self, PyObject *unused)
{
    model_object *o = (model_object *)self;
    turn t;
    size_t size = 0;
    (void)unused;
    if (turn_begin(&t, o, TURN_READ, model_is_large(o), NULL) < 0)
        return NULL;
    size_t bound = oltr_model_save_bound(t.model);
    char *image = malloc(bound + 1);
    oltr_status status = image ? oltr_model_save(t.model, image, bound, &size) : OLTR_ENOMEM;
    turn_end(&t);
    PyObject *bytes = status == OLTR_OK ? PyBytes_FromStringAndSize(image, (Py_ssize_t)size)
                                        : core_raise(status, NULL);
    free(image);
    return bytes;
}

/* A new store with a copy of the model; one that exists is refused. */
MODEL_METHOD(model_write_store)
{
    static const char *const names[] = {"path", NULL};
    model_object *o = (model_object *)self;
    PyObject *value[1], *path;
    oltr_error error = {OLTR_OK, ""};
    oltr_store_options options = {.size = sizeof options, .sync = OLTR_SYNC_NONE};
    oltr_store_state state;
    oltr_status status = OLTR_OK;
    if (core_arguments("_write_store", names, 1, arguments, n, keywords, value) < 0 ||
        !PyUnicode_FSConverter(value[0], &path))
        return NULL;
    oltr_model *copy = model_copy_of(o);
    if (copy) {
        const char *text = PyBytes_AsString(path);
        options.create_from = copy;
        Py_BEGIN_ALLOW_THREADS;
        oltr_store *store = oltr_store_open(text, &options, &error);
        oltr_store_stat(store, &state);
        status = store ? oltr_store_close(store, &error) : error.code;
        Py_END_ALLOW_THREADS;
    }
    oltr_model_free(copy);
    Py_DECREF(path);
    if (!copy || status != OLTR_OK)
        return copy ? core_raise(status, &error) : NULL;
    return state.created ? Py_NewRef(Py_None)
                         : core_refuse(OLTR_EIO, "there is a model at this path already");
}

/* ---- a store */

static int check_store(model_object *o)
{
    if (o->store || o->state != MODEL_READY)
        return 0; /* turn_begin() says what is wrong with a closed one */
    core_refuse(OLTR_EUNSUPPORTED, "this model is not on a store: open one with oltr.open()");
    return -1;
}

static PyObject *call_store(model_object *o, oltr_status (*call)(oltr_store *, oltr_error *))
{
    turn t;
    oltr_error error = {OLTR_OK, ""};
    if (check_store(o) < 0 || turn_begin(&t, o, TURN_CHANGE, true, NULL) < 0)
        return NULL;
    oltr_status status = call(o->store, &error);
    turn_end(&t);
    return status == OLTR_OK ? Py_NewRef(Py_None) : core_raise(status, &error);
}

PyObject *model_checkpoint_call(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call_store((model_object *)self, oltr_store_checkpoint);
}

PyObject *model_sync_call(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call_store((model_object *)self, oltr_store_sync);
}

PyObject *model_stat_call(PyObject *self, PyObject *unused)
{
    model_object *o = (model_object *)self;
    turn t;
    oltr_store_state s;
    (void)unused;
    if (check_store(o) < 0 || turn_begin(&t, o, TURN_READ, false, NULL) < 0)
        return NULL;
    oltr_store_stat(o->store, &s);
    turn_end(&t);
    return Py_BuildValue("(KKKKKKNN)", (unsigned long long)s.number, (unsigned long long)s.replayed,
                         (unsigned long long)s.cut_bytes, (unsigned long long)s.log_bytes,
                         (unsigned long long)s.checkpoints,
                         (unsigned long long)s.failed_checkpoints, PyBool_FromLong((long)s.created),
                         PyBool_FromLong((long)s.failed));
}

/* Waits for the calls of other threads.  The second call does nothing. */
PyObject *model_close_call(PyObject *self, PyObject *unused)
{
    model_object *o = (model_object *)self;
    oltr_error error = {OLTR_OK, ""};
    oltr_status status;
    (void)unused;
    if (check_store(o) < 0)
        return NULL;
    if (o->state != MODEL_READY || turn_is_forked(o))
        return Py_NewRef(Py_None);
    turns_close(o);
    oltr_store *store = o->store;
    o->store = NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = oltr_store_close(store, &error);
    Py_END_ALLOW_THREADS;
    return status == OLTR_OK ? Py_NewRef(Py_None) : core_raise(status, &error);
}
