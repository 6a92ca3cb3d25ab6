/* model_updates.c - the changes of a model that are no lessons, and models made from it. */
#include "python/core/model_object.h"

static const oltr_name no_id = {NULL, 0};

int id_get(PyObject *object, oltr_name *out, PyObject **keeps)
{
    *out = no_id;
    *keeps = NULL;
    if (!object)
        return 0;
    if (name_get(object, "id", out, keeps) < 0)
        return -1;
    if (out->size > 0)
        return 0;
    core_refuse(OLTR_ENAME, "an id has 1 to %d bytes, not 0", OLTR_LONGEST_NAME);
    Py_CLEAR(*keeps);
    return -1;
}

/* ---- priors */

MODEL_METHOD(model_prior_call)
{
    static const char *const names[] = {"names", "pairs", NULL};
    model_object *o = (model_object *)self;
    PyObject *value[2];
    name_list list;
    core_array pairs = {0};
    turn t;
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = OLTR_OK;
    if (core_arguments("_prior", names, 2, arguments, n, keywords, value) < 0 ||
        names_get(value[0], "names", &list) < 0)
        return NULL;
    int code = core_array_get(value[1], CORE_F64, 2, "pairs", &pairs);
    if (code == 0 && (pairs.n != list.n || (pairs.n > 0 && pairs.columns != 2))) {
        core_refuse(OLTR_EPRIOR, "%zd names need pairs of the shape (%zd, 2), not (%zd, %zd)",
                    list.n, list.n, pairs.n, pairs.columns);
        code = -1;
    }
    if (code == 0)
        code = core_array_own(&pairs, CORE_F64);
    if (code == 0)
        code = turn_begin(&t, o, TURN_CHANGE, list.n > 256 || store_may_wait(o), NULL);
    if (code == 0) {
        const double *pair = pairs.data;
        status = o->store ? oltr_store_prior(o->store, list.name, pair, (uint32_t)list.n, &error)
                          : oltr_model_prior(o->model, list.name, pair, (uint32_t)list.n, &error);
        turn_end(&t);
        if (status != OLTR_OK)
            core_raise(status, &error);
    }
    names_free(&list);
    core_array_free(&pairs);
    return code == 0 && status == OLTR_OK ? Py_NewRef(Py_None) : NULL;
}

/* A prior as a pair of floats. */
MODEL_METHOD(model_prior_of_call)
{
    static const char *const names[] = {"prior", NULL};
    PyObject *value[1];
    double pair[2];
    if (core_arguments("_pair", names, 1, arguments, n, keywords, value) < 0 ||
        check_made((model_object *)self) < 0 ||
        pair_get(((model_object *)self)->info, value[0], pair) < 0)
        return NULL;
    return Py_BuildValue("(dd)", pair[0], pair[1]);
}

/* ---- removing and resetting */

typedef oltr_status model_names_change(oltr_model *, const oltr_name *, uint32_t, uint32_t *,
                                       oltr_error *);
typedef oltr_status store_names_change(oltr_store *, const oltr_name *, uint32_t, uint32_t *,
                                       oltr_error *);

static PyObject *change_names(PyObject *self, PyObject *object, model_names_change *in_model,
                              store_names_change *in_store)
{
    model_object *o = (model_object *)self;
    name_list list;
    turn t;
    uint32_t count = 0;
    oltr_error error = {OLTR_OK, ""};
    PyObject *result = NULL;
    if (names_get(object, "names", &list) < 0)
        return NULL;
    if (turn_begin(&t, o, TURN_CHANGE, list.n > 256 || store_may_wait(o), NULL) == 0) {
        uint32_t n = (uint32_t)list.n;
        oltr_status status = o->store ? in_store(o->store, list.name, n, &count, &error)
                                      : in_model(o->model, list.name, n, &count, &error);
        turn_end(&t);
        result = status == OLTR_OK ? PyLong_FromUnsignedLong(count) : core_raise(status, &error);
    }
    names_free(&list);
    return result;
}

MODEL_METHOD(model_remove_call)
{
    static const char *const names[] = {"names", NULL};
    PyObject *value[1];
    if (core_arguments("_remove", names, 1, arguments, n, keywords, value) < 0)
        return NULL;
    return change_names(self, value[0], oltr_model_remove, oltr_store_remove);
}

MODEL_METHOD(model_reset_call)
{
    static const char *const names[] = {"names", NULL};
    PyObject *value[1];
    if (core_arguments("_reset", names, 1, arguments, n, keywords, value) < 0)
        return NULL;
    return change_names(self, value[0], oltr_model_reset, oltr_store_reset);
}

MODEL_METHOD(model_trim_call)
{
    static const char *const names[] = {"idle", NULL};
    model_object *o = (model_object *)self;
    PyObject *value[1];
    uint64_t idle;
    uint32_t count = 0;
    oltr_error error = {OLTR_OK, ""};
    turn t;
    if (core_arguments("trim", names, 1, arguments, n, keywords, value) < 0 ||
        core_whole(value[0], "idle", UINT64_MAX, &idle) < 0 ||
        turn_begin(&t, o, TURN_CHANGE, model_is_large(o) || store_may_wait(o), NULL) < 0)
        return NULL;
    oltr_status status = o->store ? oltr_store_trim(o->store, idle, &count, &error)
                                  : oltr_model_trim(o->model, idle, &count, &error);
    turn_end(&t);
    return status == OLTR_OK ? PyLong_FromUnsignedLong(count) : core_raise(status, &error);
}

/* ---- forgetting and merging */

MODEL_METHOD(model_forget_call)
{
    static const char *const names[] = {"keep", "id", NULL};
    enum { SLOW_TO_FORGET = 64 }; /* items of ts-hyper: 11 us each */
    model_object *o = (model_object *)self;
    PyObject *value[2], *keeps, *result = NULL;
    double keep;
    oltr_name id;
    int applied = 0;
    oltr_error error = {OLTR_OK, ""};
    turn t;
    if (core_arguments("forget", names, 1, arguments, n, keywords, value) < 0 ||
        core_real(value[0], "keep", &keep) < 0 || id_get(value[1], &id, &keeps) < 0)
        return NULL;
    if (turn_begin(&t, o, TURN_CHANGE, o->items > SLOW_TO_FORGET || store_may_wait(o), NULL) == 0) {
        oltr_status status = o->store ? oltr_store_forget(o->store, keep, id, &applied, &error)
                                      : oltr_model_forget(o->model, keep, id, &applied, &error);
        turn_end(&t);
        result = status == OLTR_OK ? PyBool_FromLong(applied) : core_raise(status, &error);
    }
    Py_XDECREF(keeps);
    return result;
}

oltr_model *model_copy_of(model_object *o)
{
    turn t;
    oltr_error error = {OLTR_OK, ""};
    if (turn_begin(&t, o, TURN_READ, model_is_large(o), NULL) < 0)
        return NULL;
    oltr_model *copy = oltr_model_copy(t.model, NULL, &error);
    turn_end(&t);
    if (!copy)
        core_raise(error.code, &error);
    return copy;
}

static PyObject *merge(model_object *o, const oltr_model *from, oltr_name id)
{
    enum { SLOW_TO_MERGE = 64 };
    turn t;
    int applied = 0;
    oltr_error error = {OLTR_OK, ""};
    bool is_long = o->items > SLOW_TO_MERGE || oltr_model_items(from) > SLOW_TO_MERGE ||
                   o->info->contextual || store_may_wait(o);
    if (turn_begin(&t, o, TURN_CHANGE, is_long, NULL) < 0)
        return NULL;
    oltr_status status = o->store ? oltr_store_merge(o->store, from, id, &applied, &error)
                                  : oltr_model_merge(o->model, from, id, &applied, &error);
    turn_end(&t);
    return status == OLTR_OK ? PyBool_FromLong(applied) : core_raise(status, &error);
}

MODEL_METHOD(model_merge_call)
{
    static const char *const names[] = {"other", "id", NULL};
    PyObject *value[2], *keeps, *result = NULL;
    oltr_name id;
    if (core_arguments("merge", names, 1, arguments, n, keywords, value) < 0)
        return NULL;
    if (!PyObject_TypeCheck(value[0], model_type)) {
        PyErr_Format(PyExc_TypeError, "other must be a Model, not %.100R", value[0]);
        return NULL;
    }
    if (id_get(value[1], &id, &keeps) < 0)
        return NULL;
    oltr_model *from =
        check_made((model_object *)self) == 0 ? model_copy_of((model_object *)value[0]) : NULL;
    if (from)
        result = merge((model_object *)self, from, id);
    oltr_model_free(from);
    Py_XDECREF(keeps);
    return result;
}

/* ---- models from it */

static int type_get(PyObject *object, PyTypeObject **out)
{
    *out = (PyTypeObject *)object;
    if (PyType_Check(object) && PyType_IsSubtype(*out, model_type))
        return 0;
    PyErr_Format(PyExc_TypeError, "%.100R is no type of models", object);
    return -1;
}

/* The type is that of the new object: a copy of a store is no store. */
MODEL_METHOD(model_copy_call)
{
    static const char *const names[] = {"type", NULL};
    model_object *o = (model_object *)self;
    PyObject *value[1];
    PyTypeObject *type;
    if (core_arguments("_copy", names, 1, arguments, n, keywords, value) < 0 ||
        type_get(value[0], &type) < 0)
        return NULL;
    oltr_model *copy = model_copy_of(o);
    PyObject *made = copy ? model_wrap(type, copy, o->seed) : NULL;
    if (made)
        ((model_object *)made)->ranked = o->ranked;
    return made;
}

MODEL_METHOD(model_like_call)
{
    static const char *const names[] = {"type", "strength", NULL};
    model_object *o = (model_object *)self;
    PyObject *value[2];
    PyTypeObject *type;
    double strength;
    oltr_error error = {OLTR_OK, ""};
    turn t;
    if (core_arguments("_like", names, 2, arguments, n, keywords, value) < 0 ||
        type_get(value[0], &type) < 0 || core_real(value[1], "strength", &strength) < 0 ||
        turn_begin(&t, o, TURN_READ, model_is_large(o), NULL) < 0)
        return NULL;
    oltr_model *child = oltr_model_like(t.model, strength, NULL, &error);
    turn_end(&t);
    return child ? model_wrap(type, child, o->seed) : core_raise(error.code, &error);
}
