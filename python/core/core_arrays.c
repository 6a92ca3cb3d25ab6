/* core_arrays.c - arrays in and out: buffers without a copy where they fit; see core.h.
 *
 * In: an object with a buffer (numpy, array.array, memoryview, a Ranking) of the wanted element and
 * with contiguous rows is used in place.  Any other buffer of numbers, and any sequence, is copied
 * number by number; each is read as a double, which holds every item, weight and feature exactly or
 * is rounded once, to float32.  Objects with __array__ and no buffer (Series and DataFrame of
 * pandas) become numpy arrays first.
 *
 * Out: numpy where it is installed, else a memoryview: both have shape, indexing and tolist(). */
#include "python/core/core.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* What the elements of a buffer are.  The size of an element is that of the buffer, not of the C
 * type behind the format character: 'l' has 4 or 8 bytes, by the prefix and the system. */
typedef enum number_kind { NOT_A_NUMBER, TRUTH, SIGNED, UNSIGNED, REAL } number_kind;

static const struct element {
    size_t size;
    number_kind kind;
    const char *format, *numpy; /* of the buffer protocol and of numpy */
    double least, most;         /* whole numbers between these; least > most: any number */
    const char *wanted;         /* for messages */
} elements[] = {
    [CORE_U8] = {1, UNSIGNED, "B", "uint8", 0, UINT8_MAX, "0 or 1"},
    [CORE_U32] = {4, UNSIGNED, "I", "uint32", 0, UINT32_MAX, "whole numbers from 0 to 4294967295"},
    [CORE_F32] = {4, REAL, "f", "float32", 1, 0, "numbers of at most 3.4e38 (float32)"},
    [CORE_F64] = {8, REAL, "d", "float64", 1, 0, "numbers"},
};

/* ---- one number */

static number_kind kind_of(const Py_buffer *view)
{
    const char *format = view->format ? view->format : "B";
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    bool prefix = format[0] == '@' || format[0] == '=' || format[0] == '<';
#else
    bool prefix = format[0] == '@' || format[0] == '=' || format[0] == '>' || format[0] == '!';
#endif
    format += prefix;
    if (format[0] == '\0' || format[1] != '\0')
        return NOT_A_NUMBER;
    if (format[0] == '?')
        return TRUTH;
    if (strchr("bhilqn", format[0]))
        return SIGNED;
    if (strchr("BHILQN", format[0]))
        return UNSIGNED;
    return strchr("fd", format[0]) ? REAL : NOT_A_NUMBER;
}

/* Reads n numbers, `step` bytes apart; false for elements that are no numbers. */
static bool read_numbers(const char *at, Py_ssize_t step, Py_ssize_t n, number_kind kind,
                         Py_ssize_t size, double *out)
{
#define READ(of_kind, type)                                                                        \
    if (kind == (of_kind) && size == (Py_ssize_t)sizeof(type)) {                                   \
        for (Py_ssize_t i = 0; i < n; i++) {                                                       \
            type value;                                                                            \
            memcpy(&value, at + i * step, sizeof value);                                           \
            out[i] = (double)value;                                                                \
        }                                                                                          \
        return true;                                                                               \
    }
    READ(REAL, double)
    READ(REAL, float)
    READ(SIGNED, int64_t)
    READ(SIGNED, int32_t)
    READ(SIGNED, int16_t)
    READ(SIGNED, int8_t)
    READ(UNSIGNED, uint64_t)
    READ(UNSIGNED, uint32_t)
    READ(UNSIGNED, uint16_t)
    READ(UNSIGNED, uint8_t)
    READ(TRUTH, uint8_t)
#undef READ
    return false;
}

/* A mask in place of items would be taken for the items 0 and 1. */
static int refuse_truth(const char *what)
{
    PyErr_Format(PyExc_TypeError,
                 "%s must be whole numbers, not truth values; numpy.flatnonzero(mask) gives the "
                 "items of a mask",
                 what);
    return -1;
}

static bool fits(core_element element, double value)
{
    const struct element *e = &elements[element];
    if (e->least <= e->most)
        return value >= e->least && value <= e->most && value == floor(value);
    return element != CORE_F32 || !isfinite(value) || fabs(value) <= FLT_MAX;
}

static int refuse_number(core_element element, double value, Py_ssize_t place, const char *what)
{
    bool whole = fabs(value) < 1e15 && value == floor(value);
    PyObject *number = whole ? PyLong_FromDouble(value) : PyFloat_FromDouble(value);
    if (number)
        PyErr_Format(PyExc_ValueError, "%s: %R at place %zd; %s must be %s", what, number, place,
                     what, elements[element].wanted);
    Py_XDECREF(number);
    return -1;
}

/* Stores n numbers from place `first` on; -1 when the element cannot hold one of them. */
static int write_numbers(core_element element, void *data, Py_ssize_t first, const double *value,
                         Py_ssize_t n, const char *what)
{
    for (Py_ssize_t i = 0; i < n && element != CORE_F64; i++)
        if (!fits(element, value[i]))
            return refuse_number(element, value[i], first + i, what);
    for (Py_ssize_t i = 0; i < n && element == CORE_U8; i++)
        ((uint8_t *)data)[first + i] = (uint8_t)value[i];
    for (Py_ssize_t i = 0; i < n && element == CORE_U32; i++)
        ((uint32_t *)data)[first + i] = (uint32_t)value[i];
    for (Py_ssize_t i = 0; i < n && element == CORE_F32; i++)
        ((float *)data)[first + i] = (float)value[i];
    if (element == CORE_F64)
        memcpy((double *)data + first, value, (size_t)n * sizeof *value);
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
    if (!array->view.obj && !array->copy)
        return;
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

/* Bytes from one entry of a dimension to the next.  ctypes leaves out the strides, though they were
 * asked for; its arrays have no gaps. */
static Py_ssize_t step_of(const Py_buffer *view, int dimension)
{
    Py_ssize_t step = view->itemsize;
    if (view->strides)
        return view->strides[dimension];
    for (int d = view->ndim - 1; d > dimension; d--)
        step *= view->shape[d];
    return step;
}

/* Can the buffer be used as it is? */
static bool fits_in_place(const Py_buffer *view, core_element element)
{
    number_kind kind = kind_of(view);
    Py_ssize_t size = (Py_ssize_t)elements[element].size;
    bool same = kind == elements[element].kind || (element == CORE_U8 && kind == TRUTH);
    int last = view->ndim - 1;
    return same && view->itemsize == size && (uintptr_t)view->buf % (size_t)size == 0 &&
           (view->shape[last] <= 1 || step_of(view, last) == size) &&
           (view->ndim == 1 || view->shape[0] <= 1 ||
            (step_of(view, 0) % size == 0 && step_of(view, 0) >= view->shape[1] * size));
}

static void use_in_place(core_element element, core_array *out)
{
    const Py_buffer *view = &out->view;
    out->data = view->buf;
    out->n = view->shape[0];
    out->columns = view->ndim == 2 ? view->shape[1] : 1;
    out->stride = view->ndim == 2 && view->shape[0] > 1
                      ? step_of(view, 0) / (Py_ssize_t)elements[element].size
                      : out->columns;
}

/* Numbers of one row to the places from `first` on, a block at a time. */
static int copy_row(core_element element, const char *what, const char *row, Py_ssize_t n,
                    Py_ssize_t first, core_array *out)
{
    enum { BLOCK = 128 };
    double block[BLOCK];
    const Py_buffer *view = &out->view;
    number_kind kind = kind_of(view);
    Py_ssize_t step = step_of(view, view->ndim - 1);
    for (Py_ssize_t i = 0; i < n; i += BLOCK) {
        Py_ssize_t some = n - i < BLOCK ? n - i : BLOCK;
        if (!read_numbers(row + i * step, step, some, kind, view->itemsize, block)) {
            PyErr_Format(PyExc_TypeError,
                         "%s has elements of format '%s'; give real numbers (float32, float64 or "
                         "integers)",
                         what, view->format ? view->format : "B");
            return -1;
        }
        if (write_numbers(element, out->copy, first + i, block, some, what) < 0)
            return -1;
    }
    return 0;
}

/* A table whose rows follow each other without a gap is copied as one long row. */
static int copy_buffer(core_element element, const char *what, core_array *out)
{
    const Py_buffer *view = &out->view;
    Py_ssize_t n = view->shape[0], columns = view->ndim == 2 ? view->shape[1] : 1;
    Py_ssize_t rows = n, in_row = columns, step = step_of(view, 0);
    if (element == CORE_U32 && kind_of(view) == TRUTH)
        return refuse_truth(what);
    if (make_copy(element, n, columns, out) < 0)
        return -1;
    if (view->ndim == 1 || step == columns * step_of(view, 1)) {
        rows = 1;
        in_row = n * columns;
    }
    for (Py_ssize_t i = 0; i < rows; i++)
        if (copy_row(element, what, (const char *)view->buf + i * step, in_row, i * columns, out) <
            0)
            return -1;
    release_view(out);
    return 0;
}

static int get_buffer(core_element element, int dimensions, const char *what, core_array *out)
{
    if (out->view.ndim != dimensions || !out->view.shape) {
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
        PyErr_Format(PyExc_TypeError, "%s must be an array or a list of numbers, not %.100R", what,
                     object);
    return tuple;
}

/* The number as a double; -1 with an exception that names its place. */
static int number_at(PyObject *number, Py_ssize_t i, core_element element, const char *what,
                     double *out)
{
    if (element == CORE_U32 && PyBool_Check(number))
        return refuse_truth(what);
    *out = PyFloat_AsDouble(number);
    if (*out != -1 || !PyErr_Occurred())
        return 0;
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s: %.100R at place %zd is not a number", what, number, i);
    else if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "%s: the number at place %zd is too large", what, i);
    return -1;
}

static int get_sequence(PyObject *tuple, core_element element, const char *what, core_array *out)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    double value;
    if (make_copy(element, n, 1, out) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < n; i++)
        if (number_at(PyTuple_GetItem(tuple, i), i, element, what, &value) < 0 ||
            write_numbers(element, out->copy, i, &value, 1, what) < 0)
            return -1;
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
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s must be a table: a list of rows, or a 2-d array",
                         what);
        return -1;
    }
    if (make_copy(element, n, columns, out) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < n; i++)
        if (get_row(PyTuple_GetItem(rows, i), i, element, what, out) < 0)
            return -1;
    return 0;
}

/* ---- arrays that are passed in */

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

static int from_buffer(PyObject *object, core_element element, int dimensions, const char *what,
                       core_array *out)
{
    if (PyObject_GetBuffer(object, &out->view, PyBUF_RECORDS_RO) < 0)
        return -1;
    return get_buffer(element, dimensions, what, out);
}

static int from_sequence(PyObject *object, core_element element, int dimensions, const char *what,
                         core_array *out)
{
    PyObject *tuple = as_tuple(object, what);
    if (!tuple)
        return -1;
    int code = dimensions == 1 ? get_sequence(tuple, element, what, out)
                               : get_table(tuple, element, what, out);
    Py_DECREF(tuple);
    return code;
}

/* Objects with __array__, where numpy is installed. */
static int from_array_like(PyObject *module, PyObject *object, core_element element, int dimensions,
                           const char *what, core_array *out)
{
    PyObject *array = PyObject_CallMethod(module, "asarray", "O", object);
    if (!array)
        return -1;
    int code = from_buffer(array, element, dimensions, what, out);
    Py_DECREF(array);
    return code;
}

static int get_any(PyObject *object, core_element element, int dimensions, const char *what,
                   core_array *out)
{
    if (PyList_CheckExact(object) || PyTuple_CheckExact(object) || PyBytes_Check(object) ||
        PyByteArray_Check(object))
        return from_sequence(object, element, dimensions, what, out);
    if (PyObject_CheckBuffer(object))
        return from_buffer(object, element, dimensions, what, out);
    PyObject *module = PyObject_HasAttrString(object, "__array__") ? numpy() : NULL;
    if (module)
        return from_array_like(module, object, element, dimensions, what, out);
    return PyErr_Occurred() ? -1 : from_sequence(object, element, dimensions, what, out);
}

int core_array_get(PyObject *object, core_element element, int dimensions, const char *what,
                   core_array *out)
{
    *out = (core_array){0};
    int code = get_any(object, element, dimensions, what, out);
    if (code < 0)
        core_array_free(out);
    return code;
}

Py_ssize_t core_few_numbers(PyObject *list, double *number, Py_ssize_t most)
{
    Py_ssize_t n = PyList_CheckExact(list) ? PyList_Size(list) : most + 1;
    if (n > most)
        return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *object = PyList_GetItem(list, i);
        if (PyLong_CheckExact(object))
            number[i] = (double)PyLong_AsLong(object);
        else if (PyFloat_CheckExact(object))
            number[i] = PyFloat_AsDouble(object);
        else
            return -1;
        if (number[i] == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return -1;
        }
    }
    return n;
}

/* ---- arrays that are returned */

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
    Py_ssize_t bytes = n * (columns > 0 ? columns : 1) * (Py_ssize_t)elements[element].size;
    *data = view.buf;
    if (view.len != bytes) {
        PyErr_SetString(PyExc_RuntimeError, "numpy.empty() gave an array of another size");
        Py_CLEAR(array);
    }
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

PyObject *core_item_list(const uint32_t *item, uint32_t n)
{
    PyObject *list = PyList_New(n);
    for (uint32_t i = 0; list && i < n; i++) {
        PyObject *number = PyLong_FromUnsignedLong(item[i]);
        if (!number || PyList_SetItem(list, i, number) < 0)
            Py_CLEAR(list);
    }
    return list;
}
