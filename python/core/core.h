/* core.h - what the files of the extension oltr._core share.
 *
 * The extension is C on the public headers of oltr and on the limited API of CPython 3.11, so that
 * one binary serves 3.11 and all later versions.  One file has one Python type or one call; each
 * gives an add_...() that core_module.c calls once when the module is imported.
 *
 * Rules of all files:
 * - A function that fails sets a Python exception and returns NULL, or -1.
 * - Every argument is converted before the first change, so that a refused call changes nothing.
 * - Converting an argument may run Python code (__index__, __float__), which may do anything: what
 *   is read from an object is read after the last conversion.
 * - Types cannot be used in a second interpreter of the process: they are global variables.
 */
#ifndef OLTR_PYTHON_CORE_H
#define OLTR_PYTHON_CORE_H

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <oltr/oltr.h>

#include <stdbool.h>

/* ---- errors (core_errors.c) */

/* oltr.Error, a ValueError with the attribute code: "ESLOTS". */
extern PyObject *core_error;

/* Raises the status with the sentence of `error`, or where it is NULL or empty that of
 * oltr_strerror().  OLTR_ENOMEM becomes MemoryError, OLTR_EIO an oltr.FileError (which is an
 * oltr.Error and an OSError).  Returns NULL. */
PyObject *core_raise(oltr_status status, const oltr_error *error);

/* The same with a sentence of our own, in place of an exception that was raised before. */
PyObject *core_refuse(oltr_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- arguments of METH_FASTCALL | METH_KEYWORDS (core_arguments.c) */

/* Puts the arguments into value[], by place or by name; None and missing ones are NULL.  names ends
 * with NULL; the first `least` are required. */
int core_arguments(const char *function, const char *const *names, Py_ssize_t least,
                   PyObject *const *arguments, Py_ssize_t n, PyObject *keywords, PyObject **value);

/* A whole number, by __index__; `what` is for messages: "k".  A value beyond `most` or below 0 is a
 * ValueError that names both, a truth value a TypeError. */
int core_whole(PyObject *object, const char *what, uint64_t most, uint64_t *out);

/* The text of a str, borrowed from it; one with a zero byte, which C would cut short, is refused.
 */
const char *core_text(PyObject *object, const char *what);

/* A number, by __float__ or __index__, also nan and infinite; a truth value is a TypeError. */
int core_real(PyObject *object, const char *what, double *out);

/* ---- arrays (core_arrays.c) */

typedef enum core_element { CORE_U8, CORE_U32, CORE_F32, CORE_F64 } core_element;

/* An array that was passed in: the memory of the caller where it has this type of element and its
 * rows are contiguous, else a copy. */
typedef struct core_array {
    const void *data;
    Py_ssize_t n, columns; /* its shape; columns is 1 for one dimension */
    Py_ssize_t stride;     /* elements from row to row */
    Py_buffer view;        /* view.obj NULL: no memory of the caller is held */
    void *copy;
} core_array;

/* From an object with a buffer of numbers or truth values, one with __array__ (pandas), or a
 * sequence (of sequences) of numbers.  dimensions is 1 or 2.  Numbers that the element cannot hold
 * are refused: a fraction or -1 as an item, 1e300 as a feature; so are truth values as items.
 * `what` is for messages: "x".  A zeroed core_array may be freed. */
int core_array_get(PyObject *object, core_element element, int dimensions, const char *what,
                   core_array *out);
void core_array_free(core_array *array);

/* An array that was not passed in; without clearing what is only read when it was. */
static inline void core_array_clear(core_array *array)
{
    array->data = array->copy = NULL;
    array->view.obj = NULL;
}

/* Puts a copy in place of the caller's memory.  For what must not change after it was checked, in
 * calls that release the GIL: another thread may write to the caller's memory then. */
int core_array_own(core_array *array, core_element element);

/* The fast way for short lists of clicks: a list of at most `most` ints and floats.  Returns how
 * many, or -1 without an exception for any other object, which core_array_get() may still take.
 * Runs no Python code. */
Py_ssize_t core_few_numbers(PyObject *list, double *number, Py_ssize_t most);

/* A new array of n (columns 0) or n x columns elements, of undefined content: a numpy array where
 * numpy can be imported, else a memoryview.  *data is its memory, which lives as long as it. */
PyObject *core_array_new(core_element element, Py_ssize_t n, Py_ssize_t columns, void **data);

/* A view of memory that `owner` keeps, read-only, without a copy: as core_array_new(). */
PyObject *core_array_of(PyObject *owner);

/* A list of ints. */
PyObject *core_item_list(const uint32_t *item, uint32_t n);

/* ---- types and calls, each in a file of its own */

/* A function or a const text in a PyType_Slot, whose members are plain pointers to data. */
#define CORE_SLOT(what) ((void *)(uintptr_t)(what))

/* Makes a type from its spec and puts it into the module; NULL with an exception. */
PyObject *core_add_type(PyObject *module, PyType_Spec *spec, const char *name);

#endif
