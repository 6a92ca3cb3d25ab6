/* core_arguments.c - arguments by place and by name, without a tuple or a dict; see core.h. */
#include "python/core/core.h"

#include <string.h>

static Py_ssize_t count(const char *const *names)
{
    Py_ssize_t n = 0;
    while (names[n])
        n++;
    return n;
}

static Py_ssize_t find(const char *const *names, PyObject *name)
{
    for (Py_ssize_t i = 0; names[i]; i++)
        if (PyUnicode_CompareWithASCIIString(name, names[i]) == 0)
            return i;
    return -1;
}

static int take_named(const char *function, const char *const *names, Py_ssize_t n_placed,
                      PyObject *const *named, PyObject *keywords, PyObject **value)
{
    Py_ssize_t n = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GetItem(keywords, i);
        Py_ssize_t at = find(names, name);
        if (at < 0 || at < n_placed) {
            PyErr_Format(PyExc_TypeError,
                         at < 0 ? "%s() got an unexpected keyword argument '%U'"
                                : "%s() got two values for '%U'",
                         function, name);
            return -1;
        }
        value[at] = Py_IsNone(named[i]) ? NULL : named[i];
    }
    return 0;
}

int core_arguments(const char *function, const char *const *names, Py_ssize_t least,
                   PyObject *const *arguments, Py_ssize_t n, PyObject *keywords, PyObject **value)
{
    Py_ssize_t most = count(names);
    if (n > most) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %zd arguments, not %zd", function, most,
                     n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < most; i++)
        value[i] = i < n && !Py_IsNone(arguments[i]) ? arguments[i] : NULL;
    if (keywords && take_named(function, names, n, arguments + n, keywords, value) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < least; i++)
        if (!value[i]) {
            PyErr_Format(PyExc_TypeError, "%s() needs the argument '%s'", function, names[i]);
            return -1;
        }
    return 0;
}

/* Objects that are no numbers get a message that shows them; other exceptions stay. */
static int not_a_number(PyObject *object, const char *what, const char *wanted)
{
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s must be a %s, not %.100R", what, wanted, object);
    return -1;
}

/* A long number is not printed: Python refuses to convert more than 4,300 digits. */
static void out_of_range(PyObject *number, const char *what, uint64_t most)
{
    int beyond;
    long long value = PyLong_AsLongLongAndOverflow(number, &beyond);
    if (beyond)
        PyErr_Format(PyExc_ValueError, "%s must be from 0 to %llu, and the number is beyond", what,
                     (unsigned long long)most);
    else
        PyErr_Format(PyExc_ValueError, "%s must be from 0 to %llu, not %lld", what,
                     (unsigned long long)most, value);
}

int core_whole(PyObject *object, const char *what, uint64_t most, uint64_t *out)
{
    PyObject *number = PyLong_CheckExact(object) ? Py_NewRef(object)
                       : PyBool_Check(object)    ? NULL
                                                 : PyNumber_Index(object);
    if (!number)
        return not_a_number(object, what, "whole number");
    unsigned long long value = PyLong_AsUnsignedLongLong(number);
    bool good = value <= most;
    if (value == (unsigned long long)-1 && PyErr_Occurred()) {
        PyErr_Clear();
        good = false;
    }
    if (!good)
        out_of_range(number, what, most);
    Py_DECREF(number);
    *out = value;
    return good ? 0 : -1;
}

int core_real(PyObject *object, const char *what, double *out)
{
    if (PyBool_Check(object))
        return not_a_number(object, what, "number");
    *out = PyFloat_AsDouble(object);
    if (*out != -1 || !PyErr_Occurred())
        return 0;
    if (!PyErr_ExceptionMatches(PyExc_OverflowError))
        return not_a_number(object, what, "number");
    PyErr_Format(PyExc_ValueError, "%s is too large a number", what);
    return -1;
}

const char *core_text(PyObject *object, const char *what)
{
    Py_ssize_t n;
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s must be a text, not %.100R", what, object);
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(object, &n);
    if (text && strlen(text) != (size_t)n) {
        PyErr_Format(PyExc_ValueError, "%s has a zero byte: %.100R", what, object);
        return NULL;
    }
    return text;
}
