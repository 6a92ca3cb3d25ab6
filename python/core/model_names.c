/* model_names.c - names and lists from Python objects, and names of items back to them.
 *
 * A name is bytes; a str stands for its UTF-8.  Bytes that are no UTF-8 become a str by the error
 * handler surrogateescape, and that str becomes the same bytes again. */
#include "python/core/model_object.h"

#include <stdlib.h>
#include <string.h>

/* ---- errors and small arguments */

PyObject *raise_at(oltr_status status, const char *what, size_t at, const oltr_error *error)
{
    return core_refuse(status, "%s %zu: %.200s", what, at, error->msg);
}

int placed_at_most(const char *function, Py_ssize_t n, Py_ssize_t most)
{
    if (n <= most)
        return 0;
    PyErr_Format(PyExc_TypeError,
                 "%s() takes at most %zd arguments by place, not %zd: give the others by name",
                 function, most, n);
    return -1;
}

/* ---- one name */

static oltr_name as_name(const char *bytes, Py_ssize_t size)
{
    return (oltr_name){bytes, size > UINT32_MAX ? UINT32_MAX : (uint32_t)size};
}

/* A str that is not UTF-8: it has surrogates. */
static int encode_name(PyObject *text, const char *what, oltr_name *out, PyObject **keeps)
{
    char *bytes;
    Py_ssize_t size;
    if (!PyErr_ExceptionMatches(PyExc_UnicodeError))
        return -1;
    PyErr_Clear();
    PyObject *encoded = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
    if (!encoded) {
        if (PyErr_ExceptionMatches(PyExc_UnicodeError))
            core_refuse(OLTR_ENAME,
                        "%s has a lone surrogate, which has no UTF-8: give the name as bytes",
                        what);
        return -1;
    }
    if (PyBytes_AsStringAndSize(encoded, &bytes, &size) < 0) {
        Py_DECREF(encoded);
        return -1;
    }
    *out = as_name(bytes, size);
    *keeps = encoded;
    return 0;
}

int name_get(PyObject *object, const char *what, oltr_name *out, PyObject **keeps)
{
    char *bytes;
    Py_ssize_t size;
    *keeps = NULL;
    if (PyUnicode_Check(object)) {
        const char *text = PyUnicode_AsUTF8AndSize(object, &size);
        if (!text)
            return encode_name(object, what, out, keeps);
        *out = as_name(text, size);
    } else if (PyBytes_Check(object)) {
        if (PyBytes_AsStringAndSize(object, &bytes, &size) < 0)
            return -1;
        *out = as_name(bytes, size);
    } else {
        PyErr_Format(PyExc_TypeError, "%s must be str or bytes, not %.100R", what, object);
        return -1;
    }
    *keeps = Py_NewRef(object);
    return 0;
}

/* ---- names of a list */

static PyObject *as_objects(PyObject *object, const char *what)
{
    PyObject *names = shown_names(object);
    if (names)
        return Py_NewRef(names);
    if (PyUnicode_Check(object) || PyBytes_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s must be a list of names, not one name: give [%.100R]",
                     what, object);
        return NULL;
    }
    PyObject *tuple = PySequence_Tuple(object);
    if (!tuple && PyErr_ExceptionMatches(PyExc_TypeError) &&
        !PyObject_HasAttrString(object, "__iter__"))
        PyErr_Format(PyExc_TypeError, "%s must be a list of names, not %.100R", what, object);
    return tuple;
}

static int keep_encoded(name_list *names, PyObject *encoded)
{
    if (!names->keeps)
        names->keeps = PyList_New(0);
    return names->keeps ? PyList_Append(names->keeps, encoded) : -1;
}

static int add_name(name_list *names, Py_ssize_t i, const char *what)
{
    PyObject *object = PyTuple_GetItem(names->objects, i), *keeps;
    Py_ssize_t size;
    const char *text = PyUnicode_CheckExact(object) ? PyUnicode_AsUTF8AndSize(object, &size) : NULL;
    if (text) { /* the usual case, which the tuple keeps */
        names->name[i] = as_name(text, size);
        return 0;
    }
    PyErr_Clear(); /* name_get() meets it again, and says it */
    if (name_get(object, what, &names->name[i], &keeps) < 0)
        return -1;
    int code = keeps == object ? 0 : keep_encoded(names, keeps);
    Py_DECREF(keeps);
    return code;
}

int names_get(PyObject *object, const char *what, name_list *out)
{
    *out = (name_list){.objects = as_objects(object, what)};
    if (!out->objects)
        return -1;
    out->n = PyTuple_Size(out->objects);
    if (out->n > OLTR_MOST_MODEL_ITEMS) {
        core_refuse(OLTR_EFULL, "%s has %zd names; a model has at most %d items", what, out->n,
                    OLTR_MOST_MODEL_ITEMS);
        names_free(out);
        return -1;
    }
    out->name = PyMem_Malloc(((size_t)out->n + 1) * sizeof *out->name);
    if (!out->name)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; out->name && i < out->n; i++)
        if (add_name(out, i, what) < 0) {
            names_free(out);
            return -1;
        }
    if (!out->name)
        names_free(out);
    return out->name ? 0 : -1;
}

void names_free(name_list *names)
{
    Py_CLEAR(names->objects);
    Py_CLEAR(names->keeps);
    PyMem_Free(names->name);
    names->name = NULL;
}

/* ---- lists */

static void point_to_rows(list_data *out)
{
    static const float none[1];
    out->list.x = out->x.data ? out->x.data : none;
    out->list.stride = (uint32_t)out->x.stride;
    out->list.n = (uint32_t)out->x.n;
}

static int get_rows(const model_object *o, PyObject *x, list_data *out)
{
    if (core_array_get(x, CORE_F32, 2, "x", &out->x) < 0)
        return -1;
    if (o->info->contextual && out->x.n > 0 && out->x.columns != (Py_ssize_t)o->dim) {
        core_refuse(OLTR_EFEATURE, "x has rows of %zd features, the model has %u", out->x.columns,
                    o->dim);
        return -1;
    }
    if (out->x.n > OLTR_MOST_MODEL_ITEMS) {
        core_refuse(OLTR_ESLOTS, "x has %zd rows, more than %d", out->x.n, OLTR_MOST_MODEL_ITEMS);
        return -1;
    }
    if (out->x.stride > UINT32_MAX && core_array_own(&out->x, CORE_F32) < 0)
        return -1;
    point_to_rows(out);
    return 0;
}

/* Labels of rows: any objects. */
static int get_labels(PyObject *items, const char *what, list_data *out)
{
    out->objects = as_objects(items, what);
    if (!out->objects)
        return -1;
    Py_ssize_t n = PyTuple_Size(out->objects);
    if (n == out->x.n)
        return 0;
    core_refuse(OLTR_EINVAL, "%s has %zd entries, and x %zd rows", what, n, out->x.n);
    return -1;
}

static int get_list(const model_object *o, PyObject *items, PyObject *x, const char *what,
                    list_data *out)
{
    if (x && get_rows(o, x, out) < 0)
        return -1;
    if (x)
        return items ? get_labels(items, what, out) : 0;
    if (!items || o->info->contextual)
        return 0;
    if (names_get(items, what, &out->names) < 0)
        return -1;
    out->objects = Py_NewRef(out->names.objects);
    out->list.name = out->names.name;
    out->list.n = (uint32_t)out->names.n;
    return 0;
}

int list_get(const model_object *o, PyObject *items, PyObject *x, const char *what, list_data *out)
{
    *out = (list_data){.objects = NULL};
    if (check_made(o) == 0 && get_list(o, items, x, what, out) == 0)
        return 0;
    list_free(out);
    return -1;
}

int list_own(list_data *list)
{
    if (!list->list.x)
        return 0;
    if (core_array_own(&list->x, CORE_F32) < 0)
        return -1;
    point_to_rows(list);
    return 0;
}

void list_free(list_data *list)
{
    Py_CLEAR(list->objects);
    names_free(&list->names);
    core_array_free(&list->x);
    list->list = (oltr_list){0};
}

/* ---- names of items */

bool name_copy_take(const oltr_model *model, const uint32_t *item, uint32_t n, name_copy *out)
{
    size_t bytes = 0;
    *out = (name_copy){.n = n};
    for (uint32_t i = 0; i < n; i++)
        bytes += oltr_model_name(model, item ? item[i] : i).size;
    out->size = malloc((n + (size_t)1) * sizeof *out->size);
    out->bytes = malloc(bytes + 1);
    if (!out->size || !out->bytes)
        return false;
    bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        oltr_name name = oltr_model_name(model, item ? item[i] : i);
        out->size[i] = name.size;
        memcpy(out->bytes + bytes, name.bytes, name.size);
        bytes += name.size;
    }
    return true;
}

void name_copy_free(name_copy *copy)
{
    free(copy->size);
    free(copy->bytes);
    *copy = (name_copy){.n = 0};
}

PyObject *name_copy_tuple(const name_copy *copy)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)copy->n);
    const char *at = copy->bytes;
    for (uint32_t i = 0; tuple && i < copy->n; at += copy->size[i++]) {
        PyObject *name = PyUnicode_DecodeUTF8(at, (Py_ssize_t)copy->size[i], "surrogateescape");
        if (!name || PyTuple_SetItem(tuple, (Py_ssize_t)i, name) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}
