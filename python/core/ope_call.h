/* ope_call.h - puts ope_estimate() into the module. */
#ifndef OLTR_PYTHON_OPE_CALL_H
#define OLTR_PYTHON_OPE_CALL_H

#include "python/core/core.h"

int add_ope(PyObject *module);

#endif
