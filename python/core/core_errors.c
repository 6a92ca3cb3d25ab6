/* core_errors.c - the exceptions oltr.Error and oltr.FileError, and a status as an exception. */
#include "python/core/core_errors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

PyObject *core_error;
static PyObject *file_error;

static const char error_doc[] =
    "A call that was refused, with the engine's sentence.\n\n"
    "code is the name of the status, like 'ESLOTS' or 'EREWARD'; None for an\n"
    "error that was not raised by the engine.";
static const char file_error_doc[] =
    "A file could not be read or written.  It is an Error and an OSError.";

int add_errors(PyObject *module)
{
    PyObject *members = Py_BuildValue("{sO}", "code", Py_None);
    if (!members)
        return -1;
    core_error = PyErr_NewExceptionWithDoc("oltr.Error", error_doc, PyExc_ValueError, members);
    Py_DECREF(members);
    if (!core_error)
        return -1;
    PyObject *bases = PyTuple_Pack(2, core_error, PyExc_OSError);
    file_error =
        bases ? PyErr_NewExceptionWithDoc("oltr.FileError", file_error_doc, bases, NULL) : NULL;
    Py_XDECREF(bases);
    if (!file_error)
        return -1;
    return PyModule_AddObjectRef(module, "Error", core_error) < 0 ||
                   PyModule_AddObjectRef(module, "FileError", file_error) < 0
               ? -1
               : 0;
}

PyObject *core_raise(oltr_status status, const oltr_error *error)
{
    if (status == OLTR_ENOMEM)
        return PyErr_NoMemory();
    const char *text = error && error->msg[0] != '\0' ? error->msg : oltr_strerror(status);
    PyObject *type = status == OLTR_EIO ? file_error : core_error;
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *exception = message ? PyObject_CallFunctionObjArgs(type, message, NULL) : NULL;
    PyObject *code = PyUnicode_FromString(oltr_status_name(status) + strlen("OLTR_"));
    if (exception && code && PyObject_SetAttrString(exception, "code", code) == 0)
        PyErr_SetObject(type, exception);
    Py_XDECREF(message);
    Py_XDECREF(exception);
    Py_XDECREF(code);
    return NULL;
}

PyObject *core_refuse(oltr_status status, const char *format, ...)
{
    oltr_error error = {status, ""};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.msg, sizeof error.msg, format, arguments);
    va_end(arguments);
    PyErr_Clear();
    return core_raise(status, &error);
}
