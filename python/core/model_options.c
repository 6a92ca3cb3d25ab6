/* model_options.c - settings of a model from a dictionary and back, and a model in an object. */
#include "python/core/model_object.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>

/* ---- from a dictionary */

static const oltr_param *find_param(const oltr_policy_info *info, const char *name)
{
    for (uint32_t i = 0; i < info->n_params; i++)
        if (strcmp(info->params[i].name, name) == 0)
            return &info->params[i];
    return NULL;
}

static int set_text(oltr_model_settings *settings, const char *name, PyObject *value)
{
    oltr_error error = {OLTR_OK, ""};
    PyObject *text = PyObject_Str(value);
    const char *utf8 = text ? core_text(text, name) : NULL;
    oltr_status status = utf8 ? oltr_model_settings_set(settings, name, utf8, &error) : OLTR_OK;
    if (utf8 && status != OLTR_OK)
        core_raise(status, &error);
    Py_XDECREF(text);
    return utf8 && status == OLTR_OK ? 0 : -1;
}

/* A number of the policy goes there as it is; one of the model, and a choice, by its text. */
static int set_number(oltr_model_settings *settings, const char *name, PyObject *value)
{
    const oltr_param *param = find_param(settings->policy.info, name);
    oltr_error error = {OLTR_OK, ""};
    double number;
    if (!param || param->type == OLTR_CHOICE)
        return set_text(settings, name, value);
    if (core_real(value, name, &number) < 0)
        return -1;
    oltr_status status = oltr_settings_set_number(&settings->policy, name, number, &error);
    if (status != OLTR_OK)
        core_raise(status, &error);
    return status == OLTR_OK ? 0 : -1;
}

/* {"mean": .., "sd": ..} or {"a": .., "b": ..}, as the policy takes it, as a tuple. */
static PyObject *pair_of_dict(const oltr_policy_info *info, PyObject *dict)
{
    const char *first = info->takes_moments ? "mean" : "a",
               *second = info->takes_moments ? "sd" : "b";
    PyObject *pair[2] = {PyMapping_GetItemString(dict, first), NULL};
    if (pair[0])
        pair[1] = PyMapping_GetItemString(dict, second);
    PyObject *tuple = pair[1] && PyDict_Size(dict) == 2 ? PyTuple_Pack(2, pair[0], pair[1]) : NULL;
    if (!tuple && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_KeyError)))
        core_refuse(OLTR_EPRIOR, "%s takes a prior with %s and %s, and nothing else", info->name,
                    first, second);
    Py_XDECREF(pair[0]);
    Py_XDECREF(pair[1]);
    return tuple;
}

int pair_get(const oltr_policy_info *info, PyObject *value, double out[2])
{
    core_array pair = {0};
    PyObject *object = PyDict_Check(value) ? pair_of_dict(info, value) : Py_NewRef(value);
    int code = object ? core_array_get(object, CORE_F64, 1, "prior", &pair) : -1;
    Py_XDECREF(object);
    if (code == 0 && pair.n != 2) {
        core_refuse(OLTR_EPRIOR, "a prior is two numbers, not %zd", pair.n);
        code = -1;
    }
    if (code == 0)
        memcpy(out, pair.data, 2 * sizeof *out);
    core_array_free(&pair);
    return code;
}

static int set_one(oltr_model_settings *settings, PyObject *key, PyObject *value)
{
    const char *name = PyUnicode_Check(key) ? core_text(key, "the name of a setting") : NULL;
    if (!name) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "a setting has a name, not %.100R", key);
        return -1;
    }
    if (PyUnicode_Check(value))
        return set_text(settings, name, value);
    if (strcmp(name, "default_prior") == 0)
        return pair_get(settings->policy.info, value, settings->prior);
    if (PyBool_Check(value) || !PyNumber_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s must be a number or a text, not %.100R", name, value);
        return -1;
    }
    return set_number(settings, name, value);
}

/* Chosen names must not make the hash of names slow. */
static int draw_key(uint64_t key[2])
{
    if (getentropy(key, 2 * sizeof *key) == 0)
        return 0;
    core_refuse(OLTR_EIO, "the system has no random numbers: %s", strerror(errno));
    return -1;
}

static int settings_get(PyObject *kind, PyObject *options, oltr_model_settings *out)
{
    oltr_error error = {OLTR_OK, ""};
    if (!PyUnicode_Check(kind)) {
        PyErr_Format(PyExc_TypeError, "kind must be the name of a policy, not %.100R", kind);
        return -1;
    }
    const char *name = core_text(kind, "kind");
    oltr_status status = name ? oltr_model_settings_init(out, name, &error) : OLTR_OK;
    if (status != OLTR_OK)
        core_raise(status, &error);
    if (!name || status != OLTR_OK || draw_key(out->name_key) < 0)
        return -1;
    if (options && !PyDict_CheckExact(options)) {
        PyErr_Format(PyExc_TypeError, "settings must be a dict, not %.100R", options);
        return -1;
    }
    PyObject *items = options ? PyDict_Items(options) : PyList_New(0);
    Py_ssize_t n = items ? PyList_Size(items) : -1;
    int code = n < 0 ? -1 : 0;
    for (Py_ssize_t i = 0; code == 0 && i < n; i++) {
        PyObject *pair = PyList_GetItem(items, i);
        code = set_one(out, PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1));
    }
    Py_XDECREF(items);
    return code;
}

/* ---- a model in an object */

int model_adopt(model_object *o, oltr_model *model, oltr_store *store, uint64_t seed)
{
    oltr_error error;
    if (o->state != MODEL_NEW) {
        oltr_model_free(model);
        oltr_store_close(store, &error);
        PyErr_SetString(PyExc_TypeError, "this model was made already: __init__ is called once");
        return -1;
    }
    o->model = model;
    o->store = store;
    o->seed = seed;
    const oltr_model *of = model ? model : oltr_store_read(store);
    o->info = oltr_model_settings_of(of)->policy.info;
    o->dim = oltr_model_settings_of(of)->policy.dim;
    o->items = oltr_model_items(of);
    if (store)
        oltr_store_done(store);
    o->state = MODEL_READY;
    return 0;
}

PyObject *model_wrap(PyTypeObject *type, oltr_model *model, uint64_t seed)
{
    allocfunc allocate = (allocfunc)(uintptr_t)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = allocate(type, 0);
    if (self && turn_lock_init((model_object *)self) == 0)
        return model_adopt((model_object *)self, model, NULL, seed) == 0 ? self : NULL;
    oltr_model_free(model);
    Py_XDECREF(self);
    return NULL;
}

static int seed_get(PyObject *object, uint64_t *out)
{
    *out = 0;
    return object ? core_whole(object, "seed", UINT64_MAX, out) : 0;
}

MODEL_METHOD(model_make)
{
    static const char *const names[] = {"kind", "settings", "seed", NULL};
    PyObject *value[3];
    oltr_model_settings settings;
    oltr_error error = {OLTR_OK, ""};
    uint64_t seed;
    if (core_arguments("_make", names, 1, arguments, n, keywords, value) < 0 ||
        seed_get(value[2], &seed) < 0 || settings_get(value[0], value[1], &settings) < 0)
        return NULL;
    oltr_model *model = oltr_model_new(&settings, &error);
    if (!model)
        return core_raise(error.code, &error);
    return model_adopt((model_object *)self, model, NULL, seed) == 0 ? Py_NewRef(Py_None) : NULL;
}

/* ---- images */

MODEL_METHOD(model_read_image)
{
    static const char *const names[] = {"image", "seed", "ranked", NULL};
    PyObject *value[3];
    uint64_t seed, key[2], ranked = 0;
    char *bytes;
    Py_ssize_t size;
    oltr_error error = {OLTR_OK, ""};
    if (core_arguments("_read_image", names, 1, arguments, n, keywords, value) < 0 ||
        seed_get(value[1], &seed) < 0 ||
        (value[2] && core_whole(value[2], "ranked", UINT64_MAX, &ranked) < 0) || draw_key(key) < 0)
        return NULL;
    if (!PyObject_CheckBuffer(value[0])) {
        PyErr_Format(PyExc_TypeError, "an image is bytes, not %.100R", value[0]);
        return NULL;
    }
    PyObject *image = PyBytes_FromObject(value[0]); /* bytes cannot change without the GIL */
    if (!image || PyBytes_AsStringAndSize(image, &bytes, &size) < 0) {
        Py_XDECREF(image);
        return NULL;
    }
    oltr_model *model;
    Py_BEGIN_ALLOW_THREADS;
    model = oltr_model_load(bytes, (size_t)size, NULL, key, &error);
    Py_END_ALLOW_THREADS;
    Py_DECREF(image);
    if (!model)
        return core_raise(error.code, &error);
    if (model_adopt((model_object *)self, model, NULL, seed) < 0)
        return NULL;
    ((model_object *)self)->ranked = ranked;
    return Py_NewRef(Py_None);
}

/* ---- files */

static int path_get(PyObject *object, PyObject **out)
{
    return PyUnicode_FSConverter(object, out) ? 0 : -1;
}

MODEL_METHOD(model_read_store)
{
    static const char *const names[] = {"path", "seed", NULL};
    PyObject *value[2], *path;
    uint64_t seed;
    oltr_error error = {OLTR_OK, ""};
    oltr_store_options options = {.size = sizeof options, .read_only = 1};
    if (core_arguments("_read_store", names, 1, arguments, n, keywords, value) < 0 ||
        seed_get(value[1], &seed) < 0 || path_get(value[0], &path) < 0)
        return NULL;
    const char *text = PyBytes_AsString(path);
    oltr_model *model = NULL;
    Py_BEGIN_ALLOW_THREADS;
    oltr_store *store = oltr_store_open(text, &options, &error);
    if (store) {
        model = oltr_model_copy(oltr_store_read(store), NULL, &error);
        oltr_store_done(store);
        oltr_store_close(store, NULL);
    }
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    if (!model)
        return core_raise(error.code, &error);
    return model_adopt((model_object *)self, model, NULL, seed) == 0 ? Py_NewRef(Py_None) : NULL;
}

static int sync_get(PyObject *object, uint32_t *out)
{
    static const char *const names[] = {"none", "second", "always"};
    *out = OLTR_SYNC_SECOND;
    for (uint32_t i = 0; object && i < 3; i++)
        if (PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, names[i]) == 0) {
            *out = i;
            return 0;
        }
    if (!object)
        return 0;
    PyErr_Format(PyExc_ValueError, "sync must be 'none', 'second' or 'always', not %.100R", object);
    return -1;
}

typedef struct open_data {
    PyObject *path; /* bytes */
    oltr_store_options options;
    oltr_model_settings settings;
    oltr_model *from;
    uint64_t seed;
} open_data;

/* A copy of the model that a store begins with. */
static int from_get(PyObject *object, oltr_model **out)
{
    if (!PyObject_TypeCheck(object, model_type)) {
        PyErr_Format(PyExc_TypeError, "create_from must be a Model, not %.100R", object);
        return -1;
    }
    *out = model_copy_of((model_object *)object);
    return *out ? 0 : -1;
}

static int open_get(PyObject *const value[8], open_data *out)
{
    uint64_t checkpoint = 0;
    int read_only = value[4] ? PyObject_IsTrue(value[4]) : 0;
    out->options = (oltr_store_options){.size = sizeof out->options};
    if (read_only < 0 || sync_get(value[3], &out->options.sync) < 0 ||
        (value[5] && core_whole(value[5], "checkpoint_bytes", UINT64_MAX, &checkpoint) < 0) ||
        seed_get(value[6], &out->seed) < 0 ||
        (value[1] && settings_get(value[1], value[2], &out->settings) < 0) ||
        (value[7] && from_get(value[7], &out->from) < 0))
        return -1;
    out->options.read_only = (uint32_t)read_only;
    out->options.checkpoint_bytes = checkpoint;
    out->options.create = value[1] ? &out->settings : NULL;
    out->options.create_from = out->from;
    return path_get(value[0], &out->path);
}

MODEL_METHOD(model_open_store)
{
    static const char *const names[] = {"path", "kind",        "settings",
                                        "sync", "read_only",   "checkpoint_bytes",
                                        "seed", "create_from", NULL};
    PyObject *value[8];
    oltr_error error = {OLTR_OK, ""};
    open_data o = {.path = NULL};
    oltr_store *store = NULL;
    bool good = core_arguments("_open_store", names, 1, arguments, n, keywords, value) == 0 &&
                open_get(value, &o) == 0;
    if (good) {
        const char *text = PyBytes_AsString(o.path);
        Py_BEGIN_ALLOW_THREADS;
        store = oltr_store_open(text, &o.options, &error);
        Py_END_ALLOW_THREADS;
        if (!store)
            core_raise(error.code, &error);
    }
    oltr_model_free(o.from);
    Py_XDECREF(o.path);
    if (!store || model_adopt((model_object *)self, NULL, store, o.seed) < 0)
        return NULL;
    ((model_object *)self)->sync = o.options.sync;
    ((model_object *)self)->checkpoint_bytes = o.options.checkpoint_bytes;
    return Py_NewRef(Py_None);
}

/* ---- to a dictionary */

static PyObject *param_value(const oltr_param *param, double value)
{
    if (param->type == OLTR_CHOICE)
        return PyUnicode_FromString(param->choices[(size_t)value]);
    return param->type == OLTR_INTEGER ? PyLong_FromDouble(value) : PyFloat_FromDouble(value);
}

/* Steals the value. */
static int put(PyObject *dict, const char *name, PyObject *value)
{
    int code = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return code;
}

static int put_params(PyObject *dict, const oltr_settings *policy)
{
    for (uint32_t i = 0; i < policy->info->n_params; i++)
        if (put(dict, policy->info->params[i].name,
                param_value(&policy->info->params[i], policy->value[i])) < 0)
            return -1;
    return 0;
}

static PyObject *default_prior(const double prior[2])
{
    return isnan(prior[0]) ? Py_NewRef(Py_None) : Py_BuildValue("(dd)", prior[0], prior[1]);
}

static int put_model(PyObject *dict, const oltr_model_settings *s)
{
    static const char *const rules[] = {NULL, "cascade", "last", "all"};
    bool contextual = s->policy.info->contextual;
    if (put(dict, "window", PyLong_FromUnsignedLong(s->window)) < 0 ||
        put(dict, "examine", PyUnicode_FromString(rules[s->examine])) < 0)
        return -1;
    if (contextual)
        return put(dict, "dim", PyLong_FromUnsignedLong(s->policy.dim)) < 0
                   ? -1
                   : put(dict, "candidates", PyLong_FromUnsignedLong(s->policy.n_items));
    return put(dict, "most_items", PyLong_FromUnsignedLong(s->most_items)) < 0
               ? -1
               : put(dict, "default_prior", default_prior(s->prior));
}

/* (settings of the model, parameters of the policy) */
PyObject *model_settings_call(PyObject *self, PyObject *unused)
{
    turn t;
    (void)unused;
    if (turn_begin(&t, (model_object *)self, TURN_READ, false, NULL) < 0)
        return NULL;
    oltr_model_settings settings = *oltr_model_settings_of(t.model);
    turn_end(&t);
    PyObject *model = PyDict_New(), *params = PyDict_New(), *both = NULL;
    if (model && params && put_model(model, &settings) == 0 &&
        put_params(params, &settings.policy) == 0)
        both = PyTuple_Pack(2, model, params);
    Py_XDECREF(model);
    Py_XDECREF(params);
    return both;
}
