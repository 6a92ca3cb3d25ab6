/* catalogue.h - the catalogue of policies as Python objects. */
#ifndef OLTR_PYTHON_CATALOGUE_H
#define OLTR_PYTHON_CATALOGUE_H

#include "python/core/core.h"

/* The value of a parameter: a text, an int or a float. */
PyObject *catalogue_value(const oltr_param *param, double value);

int add_catalogue(PyObject *module);

#endif
