/* experiment_tables.c - reads the results of a run out, for the tables of oltr.Result.
 *
 * A table is one array of float64, because every count in it is below 2^53.  Points, policies and
 * checkpoints are numbers, whose names are in about(); the rows are in the order of the files of
 * `oltr run`. */
#include "python/core/experiment_run.h"

#include <string.h>

/* ---- rows */

/* Where rows are written; data NULL: they are only counted. */
typedef struct rows {
    double *data;
    size_t n;
} rows;

enum { COLUMNS = 7 };

static void add_row(rows *out, const double row[COLUMNS])
{
    if (out->data)
        memcpy(out->data + out->n * COLUMNS, row, COLUMNS * sizeof *row);
    out->n++;
}

static void fill_results(const outcome_object *o, rows *out)
{
    for (uint32_t p = 0; p < o->n_points; p++)
        for (uint32_t i = 0; i < o->points[p].n_policies; i++)
            for (uint32_t c = 0; c < o->points[p].n_checkpoints; c++) {
                oltr_outcome at = oltr_results_at(o->results, p, i, c);
                add_row(out, (double[COLUMNS]){p, i, c, at.regret, at.regret_se, at.reward,
                                               at.replications});
            }
}

static void fill_metric(const outcome_object *o, uint32_t p, uint32_t i, uint32_t metric, rows *out)
{
    for (uint32_t c = 0; c < o->points[p].n_checkpoints; c++) {
        oltr_estimate at = oltr_results_metric(o->results, p, i, c, metric);
        if (at.replications)
            add_row(out, (double[COLUMNS]){p, i, c, metric, at.mean, at.se, at.replications});
    }
}

static void fill_metrics(const outcome_object *o, rows *out)
{
    for (uint32_t p = 0; p < o->n_points; p++)
        for (uint32_t i = 0; i < o->points[p].n_policies; i++) {
            fill_metric(o, p, i, OLTR_CTR, out);
            fill_metric(o, p, i, OLTR_NDCG, out);
            fill_metric(o, p, i, OLTR_WORST, out);
        }
}

static void fill_pair(const outcome_object *o, uint32_t p, uint32_t i, uint32_t j, rows *out)
{
    for (uint32_t c = 0; c < o->points[p].n_checkpoints; c++) {
        oltr_estimate at = oltr_results_pair(o->results, p, i, j, c);
        add_row(out, (double[COLUMNS]){p, c, i, j, at.mean, at.se, at.replications});
    }
}

static void fill_pairs(const outcome_object *o, rows *out)
{
    for (uint32_t p = 0; p < o->n_points; p++)
        for (uint32_t i = 0; i < o->points[p].n_policies; i++)
            for (uint32_t j = i + 1; j < o->points[p].n_policies; j++)
                fill_pair(o, p, i, j, out);
}

/* Does the point play its queries one by one? */
static bool has_queries(const outcome_object *o, uint32_t p)
{
    const oltr_dataset *data = o->points[p].world.dataset;
    return data && oltr_results_groups(o->results, p) == data->n_queries;
}

static void fill_queries(const outcome_object *o, rows *out)
{
    for (uint32_t p = 0; p < o->n_points; p++) {
        const oltr_dataset *data = o->points[p].world.dataset;
        for (uint32_t q = 0; has_queries(o, p) && q < data->n_queries; q++)
            for (uint32_t i = 0; i < o->points[p].n_policies; i++) {
                oltr_estimate at = oltr_results_in_group(o->results, p, i, q);
                add_row(out, (double[COLUMNS]){p, q, data->first_row[q + 1] - data->first_row[q], i,
                                               at.mean, at.se, at.replications});
            }
    }
}

static const struct {
    const char *name;
    void (*fill)(const outcome_object *o, rows *out);
} tables[] = {{"results", fill_results},
              {"metrics", fill_metrics},
              {"pairs", fill_pairs},
              {"queries", fill_queries}};

PyObject *outcome_rows(PyObject *self, PyObject *name)
{
    const outcome_object *o = (const outcome_object *)self;
    size_t at = 0;
    while (at < sizeof tables / sizeof *tables &&
           !(PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, tables[at].name) == 0))
        at++;
    if (at == sizeof tables / sizeof *tables)
        return PyErr_Format(PyExc_ValueError, "there is no table %R", name);
    rows out = {NULL, 0};
    void *memory;
    tables[at].fill(o, &out);
    PyObject *array = core_array_new(CORE_F64, (Py_ssize_t)out.n, COLUMNS, &memory);
    if (!array)
        return NULL;
    out = (rows){memory, 0};
    if (memory)
        tables[at].fill(o, &out);
    return array;
}

/* ---- about */

/* Puts a new reference into a dict; -1 with an exception, also for NULL. */
static int put(PyObject *dict, const char *key, PyObject *value)
{
    int code = value ? PyDict_SetItemString(dict, key, value) : -1;
    Py_XDECREF(value);
    return code;
}

/* Appends a new reference. */
static int append(PyObject *list, PyObject *value)
{
    int code = value ? PyList_Append(list, value) : -1;
    Py_XDECREF(value);
    return code;
}

static PyObject *text(const char *string)
{
    return string ? PyUnicode_DecodeUTF8(string, (Py_ssize_t)strlen(string), "replace")
                  : Py_NewRef(Py_None);
}

static PyObject *checkpoints_of(const oltr_experiment *e)
{
    PyObject *list = PyList_New(0);
    for (uint32_t c = 0; list && c < e->n_checkpoints; c++)
        if (append(list, PyLong_FromUnsignedLongLong(e->checkpoint[c])) < 0)
            Py_CLEAR(list);
    return list;
}

static PyObject *times_of(const outcome_object *o, uint32_t p)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < o->points[p].n_policies; i++)
        if (append(list, PyFloat_FromDouble(oltr_results_ns_per_round(o->results, p, i))) < 0)
            Py_CLEAR(list);
    return list;
}

static PyObject *queries_of(const outcome_object *o, uint32_t p)
{
    PyObject *list = PyList_New(0);
    for (uint32_t q = 0; list && has_queries(o, p) && q < o->points[p].world.dataset->n_queries;
         q++)
        if (append(list, PyLong_FromUnsignedLongLong(o->points[p].world.dataset->query[q])) < 0)
            Py_CLEAR(list);
    return list;
}

static PyObject *sweep_values(const outcome_object *o, uint32_t p)
{
    PyObject *list = PyList_New(0);
    for (uint32_t key = 0; list && key < oltr_plan_n_sweep_keys(o->plan); key++)
        if (append(list, text(oltr_plan_sweep_value_at(o->plan, p, key))) < 0)
            Py_CLEAR(list);
    return list;
}

/* What the data of a dataset are: folder or shape, and what is played; None for other worlds. */
static PyObject *data_of(const outcome_object *o, uint32_t p)
{
    const oltr_data_plan *plan = oltr_plan_data(o->plan, p);
    const oltr_dataset *data = o->points[p].world.dataset;
    if (!plan || !data)
        return Py_NewRef(Py_None);
    return Py_BuildValue("{sNsNsIsI}", "folder", text(plan->folder), "shape", text(plan->shape),
                         "queries", (unsigned)data->n_queries, "dim", (unsigned)data->dim);
}

static PyObject *point_of(const outcome_object *o, uint32_t p)
{
    const oltr_experiment *e = &o->points[p];
    PyObject *dict =
        Py_BuildValue("{sKsKsIsIsIsIsIsI}", "seed", (unsigned long long)e->seed, "rounds",
                      (unsigned long long)e->rounds, "slots", (unsigned)e->slots, "items",
                      (unsigned)e->world.n_items, "dim", (unsigned)e->world.dim, "replications",
                      (unsigned)oltr_results_at(o->results, p, 0, 0).replications, "groups",
                      (unsigned)oltr_results_groups(o->results, p), "saturated",
                      (unsigned)oltr_results_saturated(o->results, p));
    const char *sweep = oltr_plan_sweep_value(o->plan, p);
    if (dict &&
        (put(dict, "sweep", text(sweep ? sweep : "")) < 0 ||
         put(dict, "sweep_values", sweep_values(o, p)) < 0 ||
         put(dict, "checkpoints", checkpoints_of(e)) < 0 ||
         put(dict, "ns_per_round", times_of(o, p)) < 0 ||
         put(dict, "queries", queries_of(o, p)) < 0 || put(dict, "data", data_of(o, p)) < 0))
        Py_CLEAR(dict);
    return dict;
}

static PyObject *points_of(const outcome_object *o)
{
    PyObject *list = PyList_New(0);
    for (uint32_t p = 0; list && p < o->n_points; p++)
        if (append(list, point_of(o, p)) < 0)
            Py_CLEAR(list);
    return list;
}

static PyObject *keys_of(const outcome_object *o)
{
    PyObject *list = PyList_New(0);
    for (uint32_t key = 0; list && key < oltr_plan_n_sweep_keys(o->plan); key++)
        if (append(list, text(oltr_plan_sweep_key_at(o->plan, key))) < 0)
            Py_CLEAR(list);
    return list;
}

/* The labels of the policies of the text, of those that played. */
static PyObject *labels_of(const outcome_object *o)
{
    const oltr_experiment *first = oltr_plan_points(o->plan);
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && !o->replaced && i < first->n_policies; i++)
        if (append(list, text(first->policy[i].label)) < 0)
            Py_CLEAR(list);
    return list;
}

PyObject *outcome_about(PyObject *self, PyObject *none)
{
    const outcome_object *o = (const outcome_object *)self;
    PyObject *dict = PyDict_New();
    (void)none;
    if (dict && (put(dict, "title", text(oltr_plan_title(o->plan))) < 0 ||
                 put(dict, "sweep_key", text(oltr_plan_sweep_key(o->plan))) < 0 ||
                 put(dict, "sweep_keys", keys_of(o)) < 0 ||
                 put(dict, "policies", labels_of(o)) < 0 || put(dict, "points", points_of(o)) < 0))
        Py_CLEAR(dict);
    return dict;
}
