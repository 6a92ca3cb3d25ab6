/* core_module.c - oltr._core: the module and what it holds. */
#include "python/core/background.h"
#include "python/core/catalogue.h"
#include "python/core/core_errors.h"
#include "python/core/policy_object.h"
#include "python/core/ranking_type.h"
#include "python/core/model_object.h"
#include "python/core/dataset_type.h"
#include "python/core/experiment_run.h"
#include "python/core/ope_call.h"
#include "python/core/request_type.h"
#include "python/core/rng_type.h"

#include <stddef.h>

/* What each file adds to the module when it is imported. */
static int (*const parts[])(PyObject *module) = {
    add_errors, add_catalogue, add_ranking, add_policy,  add_shown,      add_model,
    add_rng,    add_request,   add_run,     add_dataset, add_background, add_ope,
};

/* The one that has imported the module first. */
static int64_t interpreter;

/* Python gives the module to a second interpreter without running fill() again, so oltr/__init__.py
 * calls this. */
static PyObject *check_interpreter(PyObject *module, PyObject *nothing)
{
    (void)module;
    (void)nothing;
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == interpreter)
        return Py_NewRef(Py_None);
    PyErr_SetString(PyExc_ImportError,
                    "oltr was imported by another interpreter of this process, and works in one of "
                    "them only: run the other in a process of its own");
    return NULL;
}

PyObject *core_add_type(PyObject *module, PyType_Spec *spec, const char *name)
{
    PyObject *type = PyType_FromSpec(spec);
    if (type && PyModule_AddObjectRef(module, name, type) < 0)
        Py_CLEAR(type);
    return type;
}

static int fill(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"check_interpreter", check_interpreter, METH_NOARGS,
         "check_interpreter()\n--\n\nRaises ImportError in a second interpreter."},
        {NULL, NULL, 0, NULL},
    };
    interpreter = PyInterpreterState_GetID(PyInterpreterState_Get());
    if (PyModule_AddFunctions(module, functions) < 0)
        return -1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i](module) < 0)
            return -1;
    return PyModule_AddStringConstant(module, "version", oltr_version());
}

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    static struct PyModuleDef definition = {
        PyModuleDef_HEAD_INIT, .m_name = "oltr._core",
        .m_doc = "The extension behind oltr; import oltr instead.",
        .m_size = -1, /* global variables: one interpreter of a process */
    };
    PyObject *module = PyModule_Create(&definition);
    if (module && fill(module) < 0)
        Py_CLEAR(module);
    return module;
}
