/* experiment_run.h - runs an experiment and keeps what came out: oltr._core.run and its Outcome. */
#ifndef OLTR_PYTHON_EXPERIMENT_RUN_H
#define OLTR_PYTHON_EXPERIMENT_RUN_H

#include "python/core/core.h"

#include <oltr/plan.h>

typedef struct outcome_object {
    PyObject_HEAD oltr_plan *plan;
    oltr_results *results;
    oltr_experiment *points; /* (n_points) those of the plan, with policies and worlds of Python */
    oltr_contestant *policies; /* of all points, or NULL: those of the plan */
    uint32_t n_points;
    bool replaced; /* the policies of the plan did not play */
} outcome_object;

int add_run(PyObject *module);

/* ---- experiment_tables.c */

/* The rows of a table as an array of float64: "results", "metrics", "pairs" or "queries". */
PyObject *outcome_rows(PyObject *self, PyObject *name);
/* Everything about the experiment that the rows do not have, as a dict. */
PyObject *outcome_about(PyObject *self, PyObject *none);

#endif
