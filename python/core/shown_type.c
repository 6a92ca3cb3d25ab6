/* shown_type.c - oltr.Shown: the list that Model.rank() made, a sequence of the caller's names.
 *
 * It also has the scores, the places among the candidates, the seed, and of a model with features
 * the rows of the slots, so that learn() needs no second copy of them. */
#include "python/core/model_object.h"

#include <stdlib.h>
#include <string.h>

typedef struct shown_object {
    PyObject_HEAD PyObject *names; /* tuple */
    PyObject *seed;
    uint32_t k, dim;
    uint32_t *place; /* (k) */
    double *score;   /* (k) */
    float *x;        /* (k, dim) or NULL */
} shown_object;

static PyTypeObject *shown_type;

static PyObject *numbers_of(const uint32_t *place, uint32_t k)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)k);
    for (uint32_t i = 0; tuple && i < k; i++) {
        PyObject *number = PyLong_FromUnsignedLong(place[i]);
        if (!number || PyTuple_SetItem(tuple, (Py_ssize_t)i, number) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

PyObject *shown_new(PyObject *names, uint32_t k, uint32_t *place, double *score, PyObject *seed,
                    float *x, uint32_t dim)
{
    PyObject *list = names ? Py_NewRef(names) : numbers_of(place, k);
    shown_object *o = list ? PyObject_GC_New(shown_object, shown_type) : NULL;
    if (!o) {
        Py_XDECREF(list);
        free(place);
        free(score);
        free(x);
        return NULL;
    }
    o->names = list;
    o->seed = Py_NewRef(seed);
    o->k = k;
    o->dim = dim;
    o->place = place;
    o->score = score;
    o->x = x;
    PyObject_GC_Track(o);
    return (PyObject *)o;
}

static shown_object *as_shown(PyObject *object)
{
    return PyObject_TypeCheck(object, shown_type) ? (shown_object *)object : NULL;
}

PyObject *shown_names(PyObject *object)
{
    shown_object *o = as_shown(object);
    return o ? o->names : NULL;
}

static PyObject *copy_out(core_element element, size_t size, const void *from, uint32_t n,
                          uint32_t columns)
{
    void *data;
    PyObject *array = core_array_new(element, (Py_ssize_t)n, (Py_ssize_t)columns, &data);
    if (array && n > 0)
        memcpy(data, from, (size_t)n * (columns ? columns : 1) * size);
    return array;
}

PyObject *shown_rows(PyObject *object)
{
    shown_object *o = as_shown(object);
    return o && o->x ? copy_out(CORE_F32, sizeof *o->x, o->x, o->k, o->dim) : NULL;
}

/* ---- attributes */

static PyObject *get_scores(PyObject *self, void *unused)
{
    shown_object *o = (shown_object *)self;
    (void)unused;
    return copy_out(CORE_F64, sizeof *o->score, o->score, o->k, 0);
}

static PyObject *get_places(PyObject *self, void *unused)
{
    shown_object *o = (shown_object *)self;
    (void)unused;
    return copy_out(CORE_U32, sizeof *o->place, o->place, o->k, 0);
}

static PyObject *get_seed(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((shown_object *)self)->seed);
}

static PyObject *get_x(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *rows = shown_rows(self);
    return rows || PyErr_Occurred() ? rows : Py_NewRef(Py_None);
}

/* ---- a sequence */

static Py_ssize_t get_length(PyObject *self)
{
    return PyTuple_Size(((shown_object *)self)->names);
}

static PyObject *get_item(PyObject *self, PyObject *key)
{
    return PyObject_GetItem(((shown_object *)self)->names, key);
}

static PyObject *get_slot(PyObject *self, Py_ssize_t slot)
{
    return PySequence_GetItem(((shown_object *)self)->names, slot);
}

static PyObject *iterate(PyObject *self)
{
    return PyObject_GetIter(((shown_object *)self)->names);
}

static int contains(PyObject *self, PyObject *name)
{
    return PySequence_Contains(((shown_object *)self)->names, name);
}

/* Equal to a list, a tuple or another Shown with the same names. */
static PyObject *compare(PyObject *self, PyObject *other, int operation)
{
    PyObject *names = as_shown(other) ? Py_NewRef(shown_names(other)) : NULL;
    if (!names && (PyList_Check(other) || PyTuple_Check(other))) {
        names = PySequence_Tuple(other);
        if (!names)
            return NULL;
    }
    if (!names || (operation != Py_EQ && operation != Py_NE)) {
        Py_XDECREF(names);
        return Py_NewRef(Py_NotImplemented);
    }
    PyObject *result = PyObject_RichCompare(((shown_object *)self)->names, names, operation);
    Py_DECREF(names);
    return result;
}

static PyObject *represent(PyObject *self)
{
    PyObject *list = PySequence_List(((shown_object *)self)->names);
    PyObject *text = list ? PyUnicode_FromFormat("Shown(%R)", list) : NULL;
    Py_XDECREF(list);
    return text;
}

/* ---- life */

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    shown_object *o = (shown_object *)self;
    Py_VISIT(o->names);
    Py_VISIT(o->seed);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static void destroy(PyObject *self)
{
    shown_object *o = (shown_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(o->names);
    Py_XDECREF(o->seed);
    free(o->place);
    free(o->score);
    free(o->x);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *index_of(PyObject *self, PyObject *name)
{
    return PyObject_CallMethod(((shown_object *)self)->names, "index", "O", name);
}

static PyObject *count_of(PyObject *self, PyObject *name)
{
    return PyObject_CallMethod(((shown_object *)self)->names, "count", "O", name);
}

static const char shown_doc[] =
    "The list that Model.rank() made: a sequence of names, best first.\n\n"
    "The names are the objects that the caller gave; when all items were ranked, str; of a model "
    "with\nfeatures and without items, numbers of rows.";

static PyGetSetDef attributes[] = {
    {"scores", get_scores, NULL, "What the items were ranked by, float64.", NULL},
    {"places", get_places, NULL,
     "The places of the shown among the candidates, uint32; of all items, their numbers.", NULL},
    {"seed", get_seed, NULL, "rank(seed=...) with it draws the same noise again.", NULL},
    {"x", get_x, NULL, "The rows of features of the slots, float32; None without features.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"index", index_of, METH_O, "index($self, name, /)\n--\n\nThe slot of a name, from 0."},
    {"count", count_of, METH_O, "count($self, name, /)\n--\n\nHow often a name is shown."},
    {NULL, NULL, 0, NULL},
};

int add_shown(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, CORE_SLOT(shown_doc)},
        {Py_tp_dealloc, CORE_SLOT(destroy)},
        {Py_tp_traverse, CORE_SLOT(traverse)},
        {Py_tp_getset, attributes},
        {Py_tp_methods, methods},
        {Py_tp_repr, CORE_SLOT(represent)},
        {Py_tp_richcompare, CORE_SLOT(compare)},
        {Py_tp_hash, CORE_SLOT(PyObject_HashNotImplemented)},
        {Py_tp_iter, CORE_SLOT(iterate)},
        {Py_sq_length, CORE_SLOT(get_length)},
        {Py_sq_item, CORE_SLOT(get_slot)},
        {Py_sq_contains, CORE_SLOT(contains)},
        {Py_mp_length, CORE_SLOT(get_length)},
        {Py_mp_subscript, CORE_SLOT(get_item)},
        {0, NULL},
    };
    static PyType_Spec spec = {
        "oltr.Shown", sizeof(shown_object), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    shown_type = (PyTypeObject *)core_add_type(module, &spec, "Shown");
    return shown_type ? 0 : -1;
}
