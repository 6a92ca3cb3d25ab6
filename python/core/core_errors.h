/* core_errors.h - puts the exceptions into the module; core.h has what raises them. */
#ifndef OLTR_PYTHON_CORE_ERRORS_H
#define OLTR_PYTHON_CORE_ERRORS_H

#include "python/core/core.h"

int add_errors(PyObject *module);

#endif
