/* dataset_type.h - judged documents: what oltr.Dataset is made of. */
#ifndef OLTR_PYTHON_DATASET_TYPE_H
#define OLTR_PYTHON_DATASET_TYPE_H

#include "python/core/core.h"

int add_dataset(PyObject *module);

#endif
