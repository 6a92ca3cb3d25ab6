/* ranking_type.c - the Python type Ranking: a sequence and a read-only buffer of the shown items.
 *
 * A ranking keeps the features of its items (K rows, not those of all candidates): learn() then
 * needs no x, and what the caller does to the array x after rank() changes nothing. */
#include "python/core/ranking_type.h"

#include <stddef.h>
#include <string.h>

PyTypeObject *ranking_type;

ranking_object *ranking_new(uint32_t k, uint32_t dim, uint64_t seed, uint64_t round)
{
    size_t words = k + ((size_t)k * dim + k + 1) / 2;
    ranking_object *r = PyObject_NewVar(ranking_object, ranking_type, (Py_ssize_t)words);
    if (!r)
        return NULL;
    r->k = k;
    r->dim = dim;
    r->seed = seed;
    r->round = round;
    r->shape[0] = (Py_ssize_t)k;
    return r;
}

static void end(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- a sequence */

static Py_ssize_t length(PyObject *self)
{
    return (Py_ssize_t)((ranking_object *)self)->k;
}

static PyObject *item(PyObject *self, Py_ssize_t slot)
{
    ranking_object *r = (ranking_object *)self;
    if (slot < 0 || slot >= (Py_ssize_t)r->k) {
        PyErr_Format(PyExc_IndexError, "the list has %u slots", r->k);
        return NULL;
    }
    return PyLong_FromUnsignedLong(ranking_items(r)[slot]);
}

static PyObject *slice(ranking_object *r, PyObject *range)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(range, &start, &stop, &step) < 0)
        return NULL;
    Py_ssize_t n = PySlice_AdjustIndices((Py_ssize_t)r->k, &start, &stop, step);
    PyObject *list = PyList_New(n);
    for (Py_ssize_t i = 0; list && i < n; i++) {
        PyObject *number = PyLong_FromUnsignedLong(ranking_items(r)[start + i * step]);
        if (!number || PyList_SetItem(list, i, number) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *subscript(PyObject *self, PyObject *key)
{
    if (PySlice_Check(key))
        return slice((ranking_object *)self, key);
    if (!PyIndex_Check(key)) {
        PyErr_Format(PyExc_TypeError, "slots are whole numbers or slices, not %.100R", key);
        return NULL;
    }
    Py_ssize_t slot = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (slot == -1 && PyErr_Occurred())
        return NULL;
    return item(self, slot < 0 ? slot + length(self) : slot);
}

/* As a list, for what lists can do already. */
static PyObject *call_list(PyObject *self, const char *method, PyObject *argument)
{
    PyObject *list = PySequence_List(self);
    PyObject *result = list ? PyObject_CallMethod(list, method, "O", argument) : NULL;
    Py_XDECREF(list);
    return result;
}

static PyObject *count(PyObject *self, PyObject *value)
{
    return call_list(self, "count", value);
}

static PyObject *find_slot(PyObject *self, PyObject *value)
{
    return call_list(self, "index", value);
}

/* ---- a buffer */

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    static char format[] = "I";
    ranking_object *r = (ranking_object *)self;
    Py_ssize_t bytes = (Py_ssize_t)r->k * (Py_ssize_t)sizeof(uint32_t);
    if (PyBuffer_FillInfo(view, self, ranking_items(r), bytes, 1, flags) < 0)
        return -1;
    view->itemsize = sizeof(uint32_t);
    view->format = flags & PyBUF_FORMAT ? format : NULL;
    view->shape = flags & PyBUF_ND ? r->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &view->itemsize : NULL;
    return 0;
}

/* ---- comparison */

static bool same_items(ranking_object *a, ranking_object *b)
{
    return a->k == b->k && memcmp(ranking_items(a), ranking_items(b), a->k * sizeof(uint32_t)) == 0;
}

/* Equal to a ranking, a list or a tuple of the same items in the same order. */
static PyObject *compare(PyObject *self, PyObject *other, int operation)
{
    bool sequence = PyList_Check(other) || PyTuple_Check(other);
    if ((operation != Py_EQ && operation != Py_NE) || (!is_ranking(other) && !sequence))
        Py_RETURN_NOTIMPLEMENTED;
    if (is_ranking(other))
        return PyBool_FromLong(same_items((ranking_object *)self, (ranking_object *)other) ==
                               (operation == Py_EQ));
    PyObject *own = PyList_Check(other) ? PySequence_List(self) : PySequence_Tuple(self);
    PyObject *result = own ? PyObject_RichCompare(own, other, operation) : NULL;
    Py_XDECREF(own);
    return result;
}

/* That of the tuple which it is equal to. */
static Py_hash_t hash(PyObject *self)
{
    PyObject *tuple = PySequence_Tuple(self);
    Py_hash_t value = tuple ? PyObject_Hash(tuple) : -1;
    Py_XDECREF(tuple);
    return value;
}

static PyObject *repr(PyObject *self)
{
    ranking_object *r = (ranking_object *)self;
    PyObject *list = PySequence_List(self), *text = NULL;
    if (list)
        text = PyUnicode_FromFormat("Ranking(%R, round=%llu, seed=%llu)", list,
                                    (unsigned long long)r->round, (unsigned long long)r->seed);
    Py_XDECREF(list);
    return text;
}

/* ---- attributes */

static PyObject *get_items(PyObject *self, void *closure)
{
    (void)closure;
    return core_array_of(self);
}

static PyObject *get_scores(PyObject *self, void *closure)
{
    ranking_object *r = (ranking_object *)self;
    void *data;
    (void)closure;
    PyObject *array = core_array_new(CORE_F64, (Py_ssize_t)r->k, 0, &data);
    if (array)
        memcpy(data, r->score, r->k * sizeof *r->score);
    return array;
}

static PyObject *get_x(PyObject *self, void *closure)
{
    ranking_object *r = (ranking_object *)self;
    void *data;
    (void)closure;
    if (!r->dim)
        Py_RETURN_NONE;
    PyObject *array = core_array_new(CORE_F32, (Py_ssize_t)r->k, (Py_ssize_t)r->dim, &data);
    if (array)
        memcpy(data, ranking_x(r), (size_t)r->k * r->dim * sizeof(float));
    return array;
}

static PyObject *get_round(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(((ranking_object *)self)->round);
}

static PyObject *get_seed(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(((ranking_object *)self)->seed);
}

/* ---- pickle and copy */

/* The function make_ranking below. */
static PyObject *maker;

static PyObject *reduce(PyObject *self, PyObject *nothing)
{
    ranking_object *r = (ranking_object *)self;
    (void)nothing;
    return Py_BuildValue("O(y#y#y#KK)", maker, (const char *)ranking_items(r),
                         (Py_ssize_t)(r->k * sizeof(uint32_t)), (const char *)r->score,
                         (Py_ssize_t)(r->k * sizeof(double)), (const char *)ranking_x(r),
                         (Py_ssize_t)((size_t)r->k * r->dim * sizeof(float)),
                         (unsigned long long)r->seed, (unsigned long long)r->round);
}

static PyObject *same(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return Py_NewRef(self);
}

/* From the bytes of items, scores and features. */
static PyObject *make_ranking(PyObject *module, PyObject *arguments)
{
    const char *items, *scores, *x;
    Py_ssize_t n_items, n_scores, n_x;
    unsigned long long seed, round;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "y#y#y#KK", &items, &n_items, &scores, &n_scores, &x, &n_x,
                          &seed, &round))
        return NULL;
    Py_ssize_t k = n_items / 4, dim = k ? n_x / 4 / k : 0;
    if (k < 1 || k > UINT32_MAX || dim > UINT32_MAX || n_items != 4 * k || n_scores != 8 * k ||
        n_x != 4 * k * dim) {
        PyErr_SetString(PyExc_ValueError, "these are not the parts of a pickled Ranking");
        return NULL;
    }
    ranking_object *r = ranking_new((uint32_t)k, (uint32_t)dim, seed, round);
    if (!r)
        return NULL;
    memcpy(ranking_items(r), items, (size_t)n_items);
    memcpy(r->score, scores, (size_t)n_scores);
    memcpy(ranking_x(r), x, (size_t)n_x);
    return (PyObject *)r;
}

/* ---- the type */

static const char doc[] =
    "A list that was shown, best item first: what Policy.rank() returns and learn() takes.\n\n"
    "It is an immutable sequence of item numbers and a read-only buffer of uint32, so that\n"
    "numpy.asarray(ranking) makes no copy.  It is equal to any ranking, list or tuple of the same\n"
    "items in the same order.";

static PyMethodDef methods[] = {
    {"count", count, METH_O, "count($self, item, /)\n--\n\nHow often the item is in the list."},
    {"index", find_slot, METH_O,
     "index($self, item, /)\n--\n\nThe slot of the item, from 0; ValueError if it was not shown."},
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {"__copy__", same, METH_NOARGS, NULL},
    {"__deepcopy__", same, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"items", get_items, NULL, "The items, best first: an array of uint32, without a copy.", NULL},
    {"scores", get_scores, NULL, "What the policy ranked by: an array of float64.", NULL},
    {"x", get_x, NULL, "The features of the items as (slots, dim) float32; None without.", NULL},
    {"round", get_round, NULL, "The round whose random numbers made it.", NULL},
    {"seed", get_seed, NULL, "The seed of these random numbers.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, CORE_SLOT(doc)},
    {Py_tp_dealloc, CORE_SLOT(end)},
    {Py_tp_repr, CORE_SLOT(repr)},
    {Py_tp_hash, CORE_SLOT(hash)},
    {Py_tp_richcompare, CORE_SLOT(compare)},
    {Py_sq_length, CORE_SLOT(length)},
    {Py_sq_item, CORE_SLOT(item)},
    {Py_mp_length, CORE_SLOT(length)},
    {Py_mp_subscript, CORE_SLOT(subscript)},
    {Py_bf_getbuffer, CORE_SLOT(get_buffer)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "oltr.Ranking",
    .basicsize = offsetof(ranking_object, score),
    .itemsize = sizeof(double),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int add_ranking(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"_make_ranking", make_ranking, METH_VARARGS, "Unpickles a Ranking."},
        {NULL, NULL, 0, NULL},
    };
    ranking_type = (PyTypeObject *)core_add_type(module, &spec, "Ranking");
    if (!ranking_type || PyModule_AddFunctions(module, functions) < 0)
        return -1;
    maker = PyObject_GetAttrString(module, "_make_ranking");
    return maker ? 0 : -1;
}
