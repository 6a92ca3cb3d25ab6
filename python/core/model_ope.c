/* model_ope.c - Model._ope_chances(): how likely the model is to show the lists of a log.
 *
 * The chances are those of a copy of the model, so that the model may learn meanwhile, and a thread
 * without the GIL computes them (background.h): a log of many lists takes minutes, and Ctrl-C must
 * end it.  Lists share sets of candidates, which are converted once. */
#include "python/core/background.h"
#include "python/core/model_object.h"

#include <oltr/ope.h>

#include <stdlib.h>
#include <string.h>

enum {
    PLACES,
    LENGTHS,
    SETS,
    SET_OF,
    RATES,
    FOLD_OF,
    SLOTS,
    MATCH,
    GREEDY,
    DRAWS,
    SEED,
    ARGUMENTS
};

static const char *const names[] = {"places", "lengths", "sets",   "set_of", "rates", "fold_of",
                                    "slots",  "match",   "greedy", "draws",  "seed",  NULL};

typedef struct chances_job {
    core_array places;          /* (n, k) numbers of candidates */
    core_array lengths, set_of; /* (n) */
    core_array rates;           /* (folds k, candidates) or none */
    core_array fold_of;         /* (n) */
    list_data *set;             /* (n_sets) candidates */
    Py_ssize_t n_sets;
    oltr_model *model;
    oltr_ope_policy policy;
    double *prefix, *slot, *q, *v; /* (n, k) of the arrays that are returned, or NULL */
    uint8_t *match;                /* (n) or NULL */
    Py_ssize_t done;               /* lists; -1: the evaluator was refused */
    oltr_status status;
    oltr_error error;
    atomic_int stop;
} chances_job;

/* ---- arguments */

/* Numbers that are kept while another thread reads them. */
static int get_numbers(PyObject *object, core_element element, int dimensions, const char *name,
                       core_array *out)
{
    if (core_array_get(object, element, dimensions, name, out) < 0)
        return -1;
    return core_array_own(out, element);
}

static int get_sets(const model_object *o, PyObject *sets, chances_job *job)
{
    if (!PyTuple_Check(sets)) {
        PyErr_SetString(PyExc_TypeError, "sets must be a tuple");
        return -1;
    }
    Py_ssize_t n = PyTuple_Size(sets);
    job->set = PyMem_Calloc((size_t)n + 1, sizeof *job->set);
    if (!job->set) {
        PyErr_NoMemory();
        return -1;
    }
    for (; job->n_sets < n; job->n_sets++) {
        PyObject *pair = PyTuple_GetItem(sets, job->n_sets), *items, *x;
        if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "OO", &items, &x)) {
            PyErr_SetString(PyExc_TypeError, "a set of candidates is a pair of items and x");
            return -1;
        }
        list_data *set = &job->set[job->n_sets];
        if (list_get(o, Py_IsNone(items) ? NULL : items, Py_IsNone(x) ? NULL : x, "candidates",
                     set) < 0)
            return -1;
        if (list_own(set) < 0) {
            list_free(set);
            return -1;
        }
    }
    return 0;
}

static int get_options(PyObject *const *value, chances_job *job)
{
    int greedy = value[GREEDY] ? PyObject_IsTrue(value[GREEDY]) : 0;
    uint64_t draws = 0;
    job->policy.size = sizeof job->policy;
    job->policy.greedy = greedy > 0;
    if (greedy < 0 || (value[DRAWS] && core_whole(value[DRAWS], "draws", UINT32_MAX, &draws) < 0) ||
        (value[SEED] && core_whole(value[SEED], "seed", UINT64_MAX, &job->policy.seed) < 0))
        return -1;
    job->policy.draws = (uint32_t)draws;
    return 0;
}

static int get_tables(PyObject *const *value, chances_job *job)
{
    if (get_numbers(value[PLACES], CORE_U32, 2, "places", &job->places) < 0 ||
        get_numbers(value[LENGTHS], CORE_U32, 1, "lengths", &job->lengths) < 0 ||
        get_numbers(value[SET_OF], CORE_U32, 1, "set_of", &job->set_of) < 0 ||
        (value[RATES] && get_numbers(value[RATES], CORE_F64, 2, "rates", &job->rates) < 0) ||
        (value[FOLD_OF] && get_numbers(value[FOLD_OF], CORE_U32, 1, "fold_of", &job->fold_of) < 0))
        return -1;
    if (!value[RATES] != !value[FOLD_OF]) {
        PyErr_SetString(PyExc_TypeError, "rates and fold_of belong together");
        return -1;
    }
    return 0;
}

/* What decides which memory is read. */
static bool fits_rates(const chances_job *job, Py_ssize_t i, uint32_t set)
{
    Py_ssize_t k = job->places.columns;
    return ((const uint32_t *)job->fold_of.data)[i] < job->rates.n / (k > 0 ? k : 1) &&
           job->rates.columns == job->set[set].list.n;
}

static int check_tables(const chances_job *job)
{
    Py_ssize_t n = job->places.n, k = job->places.columns;
    bool good = job->lengths.n == n && job->set_of.n == n;
    good = good && (!job->rates.data || job->fold_of.n == n);
    for (Py_ssize_t i = 0; good && i < n; i++) {
        uint32_t of = ((const uint32_t *)job->set_of.data)[i];
        good = ((const uint32_t *)job->lengths.data)[i] <= k && of < job->n_sets &&
               (!job->rates.data || fits_rates(job, i, of));
    }
    if (good)
        return 0;
    PyErr_SetString(PyExc_ValueError, "places must be (n, k), lengths, set_of and fold_of (n), and "
                                      "rates (folds x k, candidates)");
    return -1;
}

/* ---- the work */

static const double *rates_of(const chances_job *job, Py_ssize_t i)
{
    if (!job->rates.data)
        return NULL;
    size_t fold = ((const uint32_t *)job->fold_of.data)[i];
    return (const double *)job->rates.data +
           fold * (size_t)(job->places.columns * job->rates.columns);
}

static oltr_status evaluate_list(chances_job *job, oltr_ope_evaluator *evaluator, Py_ssize_t i)
{
    Py_ssize_t at = i * job->places.columns;
    const oltr_ope_shown shown = {
        .candidates = job->set[((const uint32_t *)job->set_of.data)[i]].list,
        .place = (const uint32_t *)job->places.data + at,
        .k = ((const uint32_t *)job->lengths.data)[i],
        .number = (uint64_t)i,
        .rate = rates_of(job, i),
    };
    const oltr_ope_chances out = {
        .prefix = job->prefix + at,
        .slot = job->slot ? job->slot + at : NULL,
        .q = job->q ? job->q + at : NULL,
        .v = job->v ? job->v + at : NULL,
        .match = job->match ? job->match + i : NULL,
    };
    return oltr_ope_evaluate(evaluator, &shown, &out, &job->error);
}

static void work(void *context)
{
    chances_job *job = context;
    oltr_ope_evaluator *evaluator = oltr_ope_evaluator_new(job->model, &job->policy, &job->error);
    job->status = evaluator ? OLTR_OK : job->error.code;
    job->done = evaluator ? 0 : -1;
    for (; job->status == OLTR_OK && job->done < job->places.n; job->done++) {
        if (atomic_load_explicit(&job->stop, memory_order_relaxed))
            break;
        job->status = evaluate_list(job, evaluator, job->done);
        if (job->status != OLTR_OK)
            break;
    }
    oltr_ope_evaluator_free(evaluator);
}

/* ---- the result */

/* Numbers behind the end of a list are 0. */
static PyObject *zeros(core_element element, Py_ssize_t n, Py_ssize_t k, void *data)
{
    void *memory;
    PyObject *array = core_array_new(element, n, k, &memory);
    size_t size = element == CORE_F64 ? sizeof(double) : 1;
    if (!array)
        return NULL;
    if (n > 0)
        memset(memory, 0, (size_t)n * (size_t)(k > 0 ? k : 1) * size);
    memcpy(data, &memory, sizeof memory);
    return array;
}

/* (prefix, slot, q, v, match), None where it was not asked for. */
static PyObject *new_result(chances_job *job, bool slots, bool match)
{
    Py_ssize_t n = job->places.n, k = job->places.columns;
    double **const table[] = {&job->prefix, &job->slot, &job->q, &job->v};
    const bool wanted[] = {true, slots, job->rates.data != NULL, job->rates.data != NULL, match};
    PyObject *result = PyTuple_New(5);
    for (int i = 0; result && i < 5; i++) {
        PyObject *one = !wanted[i] ? Py_NewRef(Py_None)
                        : i < 4    ? zeros(CORE_F64, n, k, table[i])
                                   : zeros(CORE_U8, n, 0, &job->match);
        if (!one || PyTuple_SetItem(result, i, one) < 0)
            Py_CLEAR(result);
    }
    return result;
}

static PyObject *compute(model_object *o, chances_job *job, bool slots, bool match)
{
    background call = {.work = work, .context = job, .stop = &job->stop};
    PyObject *result = new_result(job, slots, match);
    job->model = result ? model_copy_of(o) : NULL;
    if (!job->model) {
        Py_XDECREF(result);
        return NULL;
    }
    int code = background_run(&call);
    oltr_model_free(job->model);
    if (code == 0 && job->status == OLTR_OK)
        return result;
    Py_DECREF(result);
    if (code < 0)
        return NULL;
    return job->done < 0 ? core_raise(job->status, &job->error)
                         : raise_at(job->status, "list", (size_t)job->done, &job->error);
}

MODEL_METHOD(model_ope_chances_call)
{
    model_object *o = (model_object *)self;
    PyObject *value[ARGUMENTS], *result = NULL;
    chances_job job = {.status = OLTR_OK, .error = {OLTR_OK, ""}};
    if (core_arguments("_ope_chances", names, SET_OF + 1, arguments, n, keywords, value) < 0 ||
        check_made(o) < 0)
        return NULL;
    int slots = value[SLOTS] ? PyObject_IsTrue(value[SLOTS]) : 0;
    int match = slots < 0 ? -1 : value[MATCH] ? PyObject_IsTrue(value[MATCH]) : 0;
    if (match >= 0 && get_options(value, &job) == 0 && get_tables(value, &job) == 0 &&
        get_sets(o, value[SETS], &job) == 0 && check_tables(&job) == 0)
        result = compute(o, &job, slots, match);
    core_array_free(&job.places);
    core_array_free(&job.lengths);
    core_array_free(&job.set_of);
    core_array_free(&job.rates);
    core_array_free(&job.fold_of);
    for (Py_ssize_t i = 0; i < job.n_sets; i++)
        list_free(&job.set[i]);
    PyMem_Free(job.set);
    return result;
}
