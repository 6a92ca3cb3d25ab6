/* dataset_type.c - oltr._core.read_dataset and what it returns: the arrays of a dataset without a
 * copy.  dataset.py has the class for people.
 *
 * A Column is the buffer behind one array: it keeps the dataset alive and gives its memory, which
 * may be a mapped file, read-only. */
#include "python/core/dataset_type.h"
#include "python/core/background.h"

#include <oltr/sim.h>

#include <string.h>

static PyObject *judged_type, *column_type;

/* ---- columns */

typedef struct column_object {
    PyObject_HEAD PyObject *owner;
    const void *data;
    const char *format;
    Py_ssize_t itemsize, shape[2], strides[2];
    int dimensions;
} column_object;

static int column_buffer(PyObject *self, Py_buffer *view, int flags)
{
    column_object *c = (column_object *)self;
    if (flags & PyBUF_WRITABLE) {
        PyErr_SetString(PyExc_BufferError, "the arrays of a dataset are read-only");
        return -1;
    }
    *view = (Py_buffer){
        .buf = (void *)(uintptr_t)c->data,
        .obj = Py_NewRef(self),
        .len = c->shape[0] * (c->dimensions == 2 ? c->shape[1] : 1) * c->itemsize,
        .itemsize = c->itemsize,
        .readonly = 1,
        .ndim = c->dimensions,
        .format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)c->format : NULL,
        .shape = c->shape,
        .strides = c->strides,
    };
    return 0;
}

static void column_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((column_object *)self)->owner);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* columns 0: one dimension. */
static PyObject *array_of(PyObject *owner, const void *data, const char *format, size_t itemsize,
                          size_t n, size_t columns)
{
    column_object *c = PyObject_New(column_object, (PyTypeObject *)column_type);
    if (!c)
        return NULL;
    c->owner = Py_NewRef(owner);
    c->data = data;
    c->format = format;
    c->itemsize = (Py_ssize_t)itemsize;
    c->dimensions = columns ? 2 : 1;
    c->shape[0] = (Py_ssize_t)n;
    c->shape[1] = (Py_ssize_t)columns;
    c->strides[0] = (Py_ssize_t)(columns ? columns * itemsize : itemsize);
    c->strides[1] = (Py_ssize_t)itemsize;
    PyObject *array = core_array_of((PyObject *)c);
    Py_DECREF((PyObject *)c);
    return array;
}

/* ---- the dataset */

typedef struct judged_object {
    PyObject_HEAD oltr_dataset *data;
    oltr_read_report report;
} judged_object;

static const oltr_dataset *data_of(PyObject *self)
{
    return ((judged_object *)self)->data;
}

static PyObject *judged_query(PyObject *self, void *closure)
{
    const oltr_dataset *d = data_of(self);
    (void)closure;
    return array_of(self, d->query, "Q", sizeof *d->query, d->n_queries, 0);
}

static PyObject *judged_first_row(PyObject *self, void *closure)
{
    const oltr_dataset *d = data_of(self);
    (void)closure;
    return array_of(self, d->first_row, "I", sizeof *d->first_row, (size_t)d->n_queries + 1, 0);
}

static PyObject *judged_grade(PyObject *self, void *closure)
{
    const oltr_dataset *d = data_of(self);
    (void)closure;
    return array_of(self, d->grade, "B", sizeof *d->grade, d->n_rows, 0);
}

static PyObject *judged_x(PyObject *self, void *closure)
{
    const oltr_dataset *d = data_of(self);
    (void)closure;
    return array_of(self, d->x, "f", sizeof *d->x, d->n_rows, d->dim);
}

static PyObject *judged_counts(PyObject *self, void *closure)
{
    const oltr_dataset *d = data_of(self);
    (void)closure;
    return Py_BuildValue("III", (unsigned)d->n_queries, (unsigned)d->n_rows, (unsigned)d->dim);
}

static PyObject *judged_report(PyObject *self, void *closure)
{
    const oltr_read_report *r = &((judged_object *)self)->report;
    PyObject *reason =
        PyUnicode_DecodeUTF8(r->first_reason, (Py_ssize_t)strlen(r->first_reason), "replace");
    (void)closure;
    if (!reason)
        return NULL;
    return Py_BuildValue("{sKsKsKsNsKsKsN}", "lines", (unsigned long long)r->lines, "skipped",
                         (unsigned long long)r->skipped, "first_skipped_line",
                         (unsigned long long)r->first_skipped_line, "first_reason", reason,
                         "clamped", (unsigned long long)r->clamped, "duplicates",
                         (unsigned long long)r->duplicates, "from_cache",
                         PyBool_FromLong(r->from_cache));
}

/* query(i) -> (id, grades, x) of one query. */
static PyObject *judged_one(PyObject *self, PyObject *object)
{
    const oltr_dataset *d = data_of(self);
    uint64_t i;
    if (core_whole(object, "query", d->n_queries - 1, &i) < 0)
        return NULL;
    size_t first = d->first_row[i], n = d->first_row[i + 1] - first;
    return Py_BuildValue("KNN", (unsigned long long)d->query[i],
                         array_of(self, d->grade + first, "B", sizeof *d->grade, n, 0),
                         array_of(self, d->x + first * d->dim, "f", sizeof *d->x, n, d->dim));
}

static PyObject *judged_save(PyObject *self, PyObject *path)
{
    PyObject *bytes;
    oltr_error error = {OLTR_OK, ""};
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    PyThreadState *state = PyEval_SaveThread();
    oltr_status status = oltr_dataset_save(data_of(self), PyBytes_AsString(bytes), &error);
    PyEval_RestoreThread(state);
    Py_DECREF(bytes);
    return status == OLTR_OK ? Py_NewRef(Py_None) : core_raise(status, &error);
}

static void judged_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    oltr_dataset_free(((judged_object *)self)->data);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- reading */

typedef struct read_job {
    const char *path;
    bool cached;
    oltr_read_options options;
    atomic_int stop;
    oltr_dataset *data;
    oltr_read_report report;
    oltr_error error;
} read_job;

static int should_stop(void *context)
{
    return atomic_load_explicit(&((read_job *)context)->stop, memory_order_relaxed);
}

static void read_all(void *context)
{
    read_job *job = context;
    job->data = job->cached
                    ? oltr_dataset_open(job->path, &job->options, &job->report, &job->error)
                    : oltr_dataset_read(job->path, &job->options, &job->report, &job->error);
}

static PyObject *judged_of(const read_job *job)
{
    judged_object *self = PyObject_New(judged_object, (PyTypeObject *)judged_type);
    if (!self) {
        oltr_dataset_free(job->data);
        return NULL;
    }
    self->data = job->data;
    self->report = job->report;
    return (PyObject *)self;
}

static PyObject *read_dataset(PyObject *module, PyObject *arguments)
{
    PyObject *path = NULL;
    unsigned threads, most_features;
    int lenient, cached;
    read_job job = {.error = {OLTR_OK, ""}};
    background call = {.work = read_all, .context = &job, .stop = &job.stop};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O&ppII:read_dataset", PyUnicode_FSConverter, &path, &lenient,
                          &cached, &threads, &most_features))
        return NULL;
    job.path = PyBytes_AsString(path);
    job.cached = cached;
    job.options = (oltr_read_options){.threads = threads,
                                      .lenient = lenient,
                                      .most_features = most_features,
                                      .stop = should_stop,
                                      .context = &job,
                                      .size = sizeof job.options};
    int code = background_run(&call);
    Py_DECREF(path);
    if (code < 0) {
        oltr_dataset_free(job.data);
        return NULL;
    }
    return job.data ? judged_of(&job) : core_raise(job.error.code, &job.error);
}

/* ---- the module */

static PyGetSetDef judged_fields[] = {
    {"query", judged_query, NULL, NULL, NULL},
    {"first_row", judged_first_row, NULL, NULL, NULL},
    {"grade", judged_grade, NULL, NULL, NULL},
    {"x", judged_x, NULL, NULL, NULL},
    {"counts", judged_counts, NULL, NULL, NULL},
    {"report", judged_report, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef judged_methods[] = {
    {"one", judged_one, METH_O,
     "one($self, query, /)\n--\n\nThe id, the grades and the rows of one query."},
    {"save", judged_save, METH_O, "save($self, path, /)\n--\n\nWrites the binary form."},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef read_method = {
    "read_dataset", read_dataset, METH_VARARGS,
    "read_dataset(path, lenient, cache, threads, most_features, /)\n--\n\n"
    "Reads judged documents; oltr.Dataset is the class for people."};

static int add_types(PyObject *module)
{
    static PyType_Slot column_slots[] = {
        {Py_tp_dealloc, CORE_SLOT(column_dealloc)},
        {Py_bf_getbuffer, CORE_SLOT(column_buffer)},
        {0, NULL},
    };
    static PyType_Slot judged_slots[] = {
        {Py_tp_dealloc, CORE_SLOT(judged_dealloc)},
        {Py_tp_getset, judged_fields},
        {Py_tp_methods, judged_methods},
        {0, NULL},
    };
    static const unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
    static PyType_Spec column = {"oltr._core.Column", sizeof(column_object), 0, flags,
                                 column_slots};
    static PyType_Spec judged = {"oltr._core.Judged", sizeof(judged_object), 0, flags,
                                 judged_slots};
    column_type = PyType_FromSpec(&column);
    judged_type = column_type ? core_add_type(module, &judged, "Judged") : NULL;
    return judged_type ? 0 : -1;
}

int add_dataset(PyObject *module)
{
    if (add_types(module) < 0)
        return -1;
    PyObject *function = PyCFunction_NewEx(&read_method, NULL, NULL);
    int code = function ? PyModule_AddObjectRef(module, "read_dataset", function) : -1;
    Py_XDECREF(function);
    return code;
}
