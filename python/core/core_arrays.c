/* core_arrays.c - arrays in and out: buffers without a copy where they fit; see core.h.
 *
 * In: an object with a buffer (numpy, array.array, memoryview, a Ranking) of the wanted element and
 * with contiguous rows is used in place.  Any other buffer of numbers, and any sequence, is copied
 * number by number; each is read as a double, which holds every item, weight and feature exactly or
 * is rounded once, to float32.
 *
 * Out: numpy where it is installed, else a memoryview: both have shape, indexing and tolist(). */
#include "python/core/core.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static const struct element {
    size_t size;
    const char *format, *numpy; /* of the buffer protocol and of numpy */
    double least, most;         /* whole numbers between these; least > most: any number */
    const char *wanted;         /* for messages */
} elements[] = {
    [CORE_U8] = {1, "B", "uint8", 0, UINT8_MAX, "0 or 1"},
    [CORE_U32] = {4, "I", "uint32", 0, UINT32_MAX, "whole numbers from 0 to 4294967295"},
    [CORE_F32] = {4, "f", "float32", 1, 0, "numbers of at most 3.4e38 (float32)"},
    [CORE_F64] = {8, "d", "float64", 1, 0, "numbers"},
};

/* ---- one number */

/* The number at `at` in a buffer with this format character; false for another format. */
static bool read_number(const char *at, char format, double *out)
{
#define READ(c, type)                                                                              \
    case c: {                                                                                      \
        type value;                                                                                \
        memcpy(&value, at, sizeof value);                                                          \
        *out = (double)value;                                                                      \
        return true;                                                                               \
    }
    switch (format) {
        READ('?', uint8_t)
        READ('b', int8_t)
        READ('B', uint8_t)
        READ('h', short)
        READ('H', unsigned short)
        READ('i', int)
        READ('I', unsigned)
        READ('l', long)
        READ('L', unsigned long)
        READ('q', long long)
        READ('Q', unsigned long long)
        READ('n', Py_ssize_t)
        READ('N', size_t)
        READ('f', float)
        READ('d', double)
    default:
        return false;
    }
#undef READ
}

/* Stores number i; -1 when the element cannot hold it. */
static int write_number(core_element element, void *data, Py_ssize_t i, double value,
                        const char *what)
{
    const struct element *e = &elements[element];
    bool whole = e->least <= e->most;
    bool fits = whole ? value >= e->least && value <= e->most && value == floor(value)
                      : element != CORE_F32 || !isfinite(value) || fabs(value) <= FLT_MAX;
    if (!fits) {
        PyObject *number = PyFloat_FromDouble(value);
        if (number)
            PyErr_Format(PyExc_ValueError, "%s: %R at place %zd; %s must be %s", what, number, i,
                         what, e->wanted);
        Py_XDECREF(number);
        return -1;
    }
    switch (element) {
    case CORE_U8:
        ((uint8_t *)data)[i] = (uint8_t)value;
        break;
    case CORE_U32:
        ((uint32_t *)data)[i] = (uint32_t)value;
        break;
    case CORE_F32:
        ((float *)data)[i] = (float)value;
        break;
    case CORE_F64:
        ((double *)data)[i] = value;
    }
    return 0;
}

/* ---- memory of an array */

static int make_copy(core_element element, Py_ssize_t n, Py_ssize_t columns, core_array *out)
{
    size_t size = elements[element].size;
    if (n > 0 && columns > PY_SSIZE_T_MAX / (Py_ssize_t)size / n) {
        PyErr_NoMemory();
        return -1;
    }
    out->copy = PyMem_Malloc((size_t)n * (size_t)columns * size + 1);
    if (!out->copy) {
        PyErr_NoMemory();
        return -1;
    }
    out->data = out->copy;
    out->n = n;
    out->columns = out->stride = columns;
    return 0;
}

static void release_view(core_array *array)
{
    if (array->view.obj)
        PyBuffer_Release(&array->view);
    array->view.obj = NULL;
}

void core_array_free(core_array *array)
{
    release_view(array);
    PyMem_Free(array->copy);
    *array = (core_array){0};
}

int core_array_own(core_array *array, core_element element)
{
    core_array own = {0};
    size_t size = elements[element].size;
    if (array->copy)
        return 0;
    if (make_copy(element, array->n, array->columns, &own) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < array->n; i++)
        memcpy((char *)own.copy + (size_t)(i * own.columns) * size,
               (const char *)array->data + (size_t)(i * array->stride) * size,
               (size_t)own.columns * size);
    release_view(array);
    *array = own;
    return 0;
}

/* ---- buffers */

/* The format as one character; 0: not a native number. */
static char format_of(const Py_buffer *view)
{
    const char *format = view->format ? view->format : "B";
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    bool prefix = format[0] == '@' || format[0] == '=' || format[0] == '<';
#else
    bool prefix = format[0] == '@' || format[0] == '=' || format[0] == '>';
#endif
    format += prefix;
    return format[0] != '\0' && format[1] == '\0' ? format[0] : 0;
}

/* Can the buffer be used as it is?  'L' and 'I' are the same where they have the same size. */
static bool fits_in_place(const Py_buffer *view, core_element element)
{
    char format = format_of(view), wanted = elements[element].format[0];
    Py_ssize_t size = (Py_ssize_t)elements[element].size;
    bool same = format == wanted || (element == CORE_U32 && format == 'L') ||
                (element == CORE_U8 && format == '?');
    int last = view->ndim - 1;
    return same && view->itemsize == size && (uintptr_t)view->buf % (size_t)size == 0 &&
           (view->shape[last] <= 1 || view->strides[last] == size) &&
           (view->ndim == 1 || view->shape[0] <= 1 ||
            (view->strides[0] % size == 0 && view->strides[0] >= view->shape[1] * size));
}

static void use_in_place(core_element element, core_array *out)
{
    const Py_buffer *view = &out->view;
    out->data = view->buf;
    out->n = view->shape[0];
    out->columns = view->ndim == 2 ? view->shape[1] : 1;
    out->stride = view->ndim == 2 && view->shape[0] > 1
                      ? view->strides[0] / (Py_ssize_t)elements[element].size
                      : out->columns;
}

static int copy_buffer(core_element element, const char *what, core_array *out)
{
    const Py_buffer *view = &out->view;
    Py_ssize_t n = view->shape[0], columns = view->ndim == 2 ? view->shape[1] : 1;
    Py_ssize_t step = view->ndim == 2 ? view->strides[1] : 0;
    char format = format_of(view);
    double value;
    if (make_copy(element, n, columns, out) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < n * columns; i++) {
        const char *at =
            (const char *)view->buf + i / columns * view->strides[0] + i % columns * step;
        if (!read_number(at, format, &value)) {
            PyErr_Format(PyExc_TypeError,
                         "%s has elements of format '%s'; give real numbers (float32, float64 or "
                         "integers)",
                         what, view->format ? view->format : "B");
            return -1;
        }
        if (write_number(element, out->copy, i, value, what) < 0)
            return -1;
    }
    release_view(out);
    return 0;
}

static int get_buffer(core_element element, int dimensions, const char *what, core_array *out)
{
    if (out->view.ndim != dimensions) {
        PyErr_Format(PyExc_ValueError, "%s must have %d dimension%s, not %d", what, dimensions,
                     dimensions == 1 ? "" : "s", out->view.ndim);
        return -1;
    }
    if (!fits_in_place(&out->view, element))
        return copy_buffer(element, what, out);
    use_in_place(element, out);
    return 0;
}

/* ---- sequences */

static PyObject *as_tuple(PyObject *object, const char *what)
{
    bool text = PyUnicode_Check(object) || PyBytes_Check(object);
    PyObject *tuple = text || !PySequence_Check(object) ? NULL : PySequence_Tuple(object);
    if (!tuple && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s must be an array or a list of numbers, not %R", what,
                     object);
    return tuple;
}

static int get_sequence(PyObject *tuple, core_element element, const char *what, core_array *out)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    if (make_copy(element, n, 1, out) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *number = PyTuple_GetItem(tuple, i);
        double value = PyFloat_AsDouble(number);
        if (value == -1 && PyErr_Occurred()) {
            if (PyErr_ExceptionMatches(PyExc_TypeError))
                PyErr_Format(PyExc_TypeError, "%s: %R at place %zd is not a number", what, number,
                             i);
            return -1;
        }
        if (write_number(element, out->copy, i, value, what) < 0)
            return -1;
    }
    return 0;
}

/* Row i of a table whose first row has made the copy. */
static int get_row(PyObject *row, Py_ssize_t i, core_element element, const char *what,
                   core_array *out)
{
    core_array one = {0};
    size_t bytes = (size_t)out->columns * elements[element].size;
    int code = core_array_get(row, element, 1, what, &one);
    if (code == 0 && one.n != out->columns) {
        PyErr_Format(PyExc_ValueError, "row %zd of %s has %zd numbers, the first row %zd", i, what,
                     one.n, out->columns);
        code = -1;
    }
    if (code == 0 && bytes > 0)
        memcpy((char *)out->copy + (size_t)i * bytes, one.data, bytes);
    core_array_free(&one);
    return code;
}

static int get_table(PyObject *rows, core_element element, const char *what, core_array *out)
{
    Py_ssize_t n = PyTuple_Size(rows), columns = 0;
    if (n > 0 && (columns = PyObject_Size(PyTuple_GetItem(rows, 0))) < 0) {
        PyErr_Format(PyExc_TypeError, "%s must be a table: a list of rows, or a 2-d array", what);
        return -1;
    }
    if (make_copy(element, n, columns, out) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < n; i++)
        if (get_row(PyTuple_GetItem(rows, i), i, element, what, out) < 0)
            return -1;
    return 0;
}

int core_array_get(PyObject *object, core_element element, int dimensions, const char *what,
                   core_array *out)
{
    int code = -1;
    *out = (core_array){0};
    if (PyObject_CheckBuffer(object) && !PyBytes_Check(object) && !PyByteArray_Check(object)) {
        if (PyObject_GetBuffer(object, &out->view, PyBUF_RECORDS_RO) == 0)
            code = get_buffer(element, dimensions, what, out);
    } else {
        PyObject *tuple = as_tuple(object, what);
        if (tuple)
            code = dimensions == 1 ? get_sequence(tuple, element, what, out)
                                   : get_table(tuple, element, what, out);
        Py_XDECREF(tuple);
    }
    if (code < 0)
        core_array_free(out);
    return code;
}

/* ---- arrays that are returned */

/* The module numpy, borrowed; NULL without an exception where it is not installed. */
static PyObject *numpy(void)
{
    static PyObject *module;
    static bool tried;
    if (!tried) {
        module = PyImport_ImportModule("numpy");
        if (!module && !PyErr_ExceptionMatches(PyExc_ImportError))
            return NULL;
        PyErr_Clear();
        tried = true;
    }
    return module;
}

static PyObject *new_numpy(PyObject *module, const struct element *e, Py_ssize_t n,
                           Py_ssize_t columns)
{
    return columns > 0 ? PyObject_CallMethod(module, "empty", "(nn)s", n, columns, e->numpy)
                       : PyObject_CallMethod(module, "empty", "ns", n, e->numpy);
}

static PyObject *new_memoryview(const struct element *e, Py_ssize_t n, Py_ssize_t columns)
{
    Py_ssize_t rows = columns > 0 ? columns : 1;
    if (n > 0 && rows > PY_SSIZE_T_MAX / (Py_ssize_t)e->size / n)
        return PyErr_NoMemory();
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, n * rows * (Py_ssize_t)e->size);
    PyObject *view = bytes ? PyMemoryView_FromObject(bytes) : NULL, *cast = NULL;
    if (view)
        cast = columns > 0 && n > 0
                   ? PyObject_CallMethod(view, "cast", "s(nn)", e->format, n, columns)
                   : PyObject_CallMethod(view, "cast", "s", e->format);
    Py_XDECREF(view);
    Py_XDECREF(bytes);
    return cast;
}

PyObject *core_array_new(core_element element, Py_ssize_t n, Py_ssize_t columns, void **data)
{
    Py_buffer view;
    PyObject *module = numpy();
    if (!module && PyErr_Occurred())
        return NULL;
    PyObject *array = module ? new_numpy(module, &elements[element], n, columns)
                             : new_memoryview(&elements[element], n, columns);
    if (array && PyObject_GetBuffer(array, &view, PyBUF_WRITABLE | PyBUF_ND) < 0)
        Py_CLEAR(array);
    if (!array)
        return NULL;
    *data = view.buf;
    PyBuffer_Release(&view);
    return array;
}

PyObject *core_array_of(PyObject *owner)
{
    PyObject *view = PyMemoryView_FromObject(owner), *module = numpy();
    if (!view || (!module && PyErr_Occurred())) {
        Py_XDECREF(view);
        return NULL;
    }
    if (!module)
        return view;
    PyObject *array = PyObject_CallMethod(module, "asarray", "O", view);
    Py_DECREF(view);
    return array;
}
