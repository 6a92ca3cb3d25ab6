/* ope_call.c - oltr._core.ope_estimate: the value of a policy from the log of another; and
 * ope_rates, predicted rewards from a log.
 *
 * Arrays are read in place where they are float64 with rows one behind the other, else copied. Long
 * work is done without the GIL by a thread of its own (background.h), so that Ctrl-C works: another
 * thread of Python may write to an array meanwhile.  Numbers that change only make the estimate
 * wrong, but lengths decide what memory is read, so they are copied. */
#include "python/core/ope_call.h"
#include "python/core/background.h"

#include <oltr/ope.h>

#include <string.h>

/* Numbers that are read, times resamples: below, the call is made at once, in about 2 ms. */
enum { SHORT_WORK = 300000 };

enum {
    ESTIMATOR,
    REWARDS,
    LOGGED,
    EVALUATED,
    LOGGED_SLOT,
    EVALUATED_SLOT,
    Q,
    V,
    MATCH,
    LENGTHS,
    LOGS,
    INTERVAL,
    CONFIDENCE,
    RESAMPLES,
    SEED,
    BOUND,
    ARGUMENTS
};
enum { FIRST_ARRAY = REWARDS, ARRAYS = V - REWARDS + 1 };

static const char *const names[] = {
    "estimator",  "rewards",   "logged", "evaluated", "logged_slot", "evaluated_slot",
    "q",          "v",         "match",  "lengths",   "logs",        "interval",
    "confidence", "resamples", "seed",   "bound",     NULL,
};

typedef struct ope_job {
    core_array table[ARRAYS]; /* rewards ... v, (n, k) */
    core_array match, lengths;
    oltr_ope_log log;
    oltr_ope_estimator estimator;
    oltr_ope_options options;
    oltr_ope_result result;
    oltr_status status;
    oltr_error error;
    atomic_int stop;
} ope_job;

/* ---- arguments */

/* 1 or 2, by the attribute ndim of arrays, or by the first row of a sequence; -1 with an exception.
 * Other objects are refused when they are read. */
static int dimensions_of(PyObject *object)
{
    uint64_t n = 1;
    PyObject *ndim = PyObject_GetAttrString(object, "ndim");
    if (ndim) {
        int code = core_whole(ndim, "ndim", UINT64_MAX, &n);
        Py_DECREF(ndim);
        return code < 0 ? -1 : n == 1 ? 1 : 2;
    }
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
        return -1;
    PyErr_Clear();
    if (!PySequence_Check(object) || PyUnicode_Check(object) || PySequence_Size(object) < 1)
        return PyErr_Occurred() ? -1 : 1;
    PyObject *first = PySequence_GetItem(object, 0);
    int nested = first ? PySequence_Check(first) : -1;
    Py_XDECREF(first);
    return nested < 0 ? -1 : 1 + nested;
}

/* The chances of whole lists, of which no others are read: the same in all slots. */
static int repeat_column(core_array *array, Py_ssize_t k)
{
    if (array->n > 0 && k > PY_SSIZE_T_MAX / (Py_ssize_t)sizeof(double) / array->n) {
        PyErr_NoMemory();
        return -1;
    }
    double *wide = PyMem_Malloc((size_t)array->n * (size_t)k * sizeof *wide + 1);
    if (!wide) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < array->n; i++)
        for (Py_ssize_t l = 0; l < k; l++)
            wide[i * k + l] = ((const double *)array->data)[i * array->stride];
    Py_ssize_t n = array->n;
    core_array_free(array);
    array->data = array->copy = wide;
    array->n = n;
    array->columns = array->stride = k;
    return 0;
}

static int refuse_shape(const char *name, const core_array *array, Py_ssize_t n, Py_ssize_t k)
{
    PyErr_Format(PyExc_ValueError,
                 "%s has the shape (%zd, %zd), and the log has %zd lists of %zd "
                 "slots",
                 name, array->n, array->columns, n, k);
    return -1;
}

/* Is one number for a list enough: the chance of the whole list? */
static bool takes_whole_lists(const ope_job *job, int which)
{
    bool whole = job->estimator == OLTR_OPE_SIPS || job->estimator == OLTR_OPE_SNSIPS;
    return whole && (which == LOGGED || which == EVALUATED);
}

/* One table; the first that is given has the number of lists and slots. */
static int get_table(ope_job *job, int which, PyObject *object)
{
    core_array *array = &job->table[which - FIRST_ARRAY];
    int dimensions = dimensions_of(object);
    if (dimensions < 0 || core_array_get(object, CORE_F64, dimensions, names[which], array) < 0)
        return -1;
    if (job->log.k == 0) {
        if (array->columns < 1 || array->columns > UINT32_MAX) {
            core_refuse(OLTR_EINVAL, "%s has %zd slots; a list has 1 to 1048576", names[which],
                        array->columns);
            return -1;
        }
        job->log.n = (uint64_t)array->n;
        job->log.k = (uint32_t)array->columns;
    }
    Py_ssize_t n = (Py_ssize_t)job->log.n, k = (Py_ssize_t)job->log.k;
    if (array->n == n && dimensions == 1 && k > 1 && takes_whole_lists(job, which))
        return repeat_column(array, k);
    if (array->n != n || array->columns != k)
        return refuse_shape(names[which], array, n, k);
    return array->stride == k || array->n <= 1 ? 0 : core_array_own(array, CORE_F64);
}

/* One number for each list, copied. */
static int get_column(ope_job *job, PyObject *object, core_element element, const char *name,
                      core_array *array)
{
    if (core_array_get(object, element, 1, name, array) < 0)
        return -1;
    if ((uint64_t)array->n == job->log.n)
        return core_array_own(array, element);
    PyErr_Format(PyExc_ValueError, "%s has %zd numbers, and the log has %llu lists", name, array->n,
                 (unsigned long long)job->log.n);
    return -1;
}

static int get_estimator(ope_job *job, PyObject *object)
{
    const char *name = core_text(object, names[ESTIMATOR]);
    if (!name)
        return -1;
    if (oltr_ope_find(name, &job->estimator, &job->error) == OLTR_OK)
        return 0;
    core_raise(job->error.code, &job->error);
    return -1;
}

static int get_interval(ope_job *job, PyObject *object)
{
    static const char *const intervals[] = {[OLTR_OPE_BOOTSTRAP] = "bootstrap",
                                            [OLTR_OPE_BERNSTEIN] = "bernstein",
                                            [OLTR_OPE_NORMAL] = "normal"};
    const char *name = core_text(object, names[INTERVAL]);
    if (!name)
        return -1;
    for (uint32_t i = 0; i <= OLTR_OPE_NORMAL; i++)
        if (strcmp(name, intervals[i]) == 0) {
            job->options.interval = i;
            return 0;
        }
    core_refuse(OLTR_EVALUE, "no interval `%.60s`; there are bootstrap, normal and bernstein",
                name);
    return -1;
}

/* The confidence 0 would be the default of the engine. */
static int get_confidence(ope_job *job, PyObject *object)
{
    double *to = &job->options.confidence;
    if (core_real(object, names[CONFIDENCE], to) < 0)
        return -1;
    if (*to > 0 && *to < 1)
        return 0;
    core_refuse(OLTR_EVALUE, "the confidence must be above 0 and below 1, not %g", *to);
    return -1;
}

static int get_resamples(ope_job *job, PyObject *object)
{
    uint64_t number;
    if (core_whole(object, names[RESAMPLES], UINT32_MAX, &number) < 0)
        return -1;
    job->options.bootstrap = (uint32_t)number;
    if (number > 0)
        return 0;
    core_refuse(OLTR_EVALUE, "resamples must be at least 1");
    return -1;
}

static int get_options(ope_job *job, PyObject *const *value)
{
    int logs = value[LOGS] ? PyObject_IsTrue(value[LOGS]) : 0;
    job->options.size = sizeof job->options;
    job->log.logs = logs > 0;
    if (logs < 0 || (value[INTERVAL] && get_interval(job, value[INTERVAL]) < 0) ||
        (value[CONFIDENCE] && get_confidence(job, value[CONFIDENCE]) < 0) ||
        (value[RESAMPLES] && get_resamples(job, value[RESAMPLES]) < 0) ||
        (value[SEED] && core_whole(value[SEED], names[SEED], UINT64_MAX, &job->options.seed) < 0) ||
        (value[BOUND] && core_real(value[BOUND], names[BOUND], &job->options.bound) < 0))
        return -1;
    return 0;
}

static int get_arrays(ope_job *job, PyObject *const *value)
{
    for (int i = FIRST_ARRAY; i < FIRST_ARRAY + ARRAYS; i++)
        if (value[i] && get_table(job, i, value[i]) < 0)
            return -1;
    if (value[MATCH] && get_column(job, value[MATCH], CORE_U8, names[MATCH], &job->match) < 0)
        return -1;
    return value[LENGTHS] ? get_column(job, value[LENGTHS], CORE_U32, names[LENGTHS], &job->lengths)
                          : 0;
}

static void fill_log(ope_job *job)
{
    const core_array *table = job->table;
    oltr_ope_log *log = &job->log;
    log->reward = table[REWARDS - FIRST_ARRAY].data;
    log->logged_prefix = table[LOGGED - FIRST_ARRAY].data;
    log->evaluated_prefix = table[EVALUATED - FIRST_ARRAY].data;
    log->logged_slot = table[LOGGED_SLOT - FIRST_ARRAY].data;
    log->evaluated_slot = table[EVALUATED_SLOT - FIRST_ARRAY].data;
    log->q = table[Q - FIRST_ARRAY].data;
    log->v = table[V - FIRST_ARRAY].data;
    log->match = job->match.data;
    log->length = job->lengths.data;
}

/* ---- the call */

static int should_stop(void *context)
{
    return atomic_load_explicit(&((ope_job *)context)->stop, memory_order_relaxed);
}

static void work(void *context)
{
    ope_job *job = context;
    job->status =
        oltr_ope_estimate(&job->log, job->estimator, &job->options, &job->result, &job->error);
}

static bool is_short(const ope_job *job)
{
    uint64_t passes = job->options.interval == OLTR_OPE_BOOTSTRAP
                          ? job->options.bootstrap ? job->options.bootstrap : 1000
                          : 4;
    return job->log.n <= SHORT_WORK && job->log.k <= SHORT_WORK &&
           job->log.n * job->log.k <= SHORT_WORK / passes;
}

static PyObject *result_tuple(const oltr_ope_result *r)
{
    return Py_BuildValue("(dddddddddIKs)", r->value, r->se, r->low, r->high, r->ess, r->mean_weight,
                         r->largest, r->largest_share, r->zero_share, r->slot,
                         (unsigned long long)r->n, r->warning);
}

static PyObject *estimate_and_raise(ope_job *job)
{
    background call = {.work = work, .context = job, .stop = &job->stop};
    job->options.stop = should_stop;
    job->options.context = job;
    if (is_short(job))
        work(job);
    else if (background_run(&call) < 0)
        return NULL;
    return job->status == OLTR_OK ? result_tuple(&job->result)
                                  : core_raise(job->status, &job->error);
}

static PyObject *ope_estimate(PyObject *module, PyObject *const *arguments, Py_ssize_t n,
                              PyObject *keywords)
{
    PyObject *value[ARGUMENTS], *result = NULL;
    ope_job job = {.error = {OLTR_OK, ""}};
    (void)module;
    if (core_arguments("ope_estimate", names, 1, arguments, n, keywords, value) < 0)
        return NULL;
    if (get_estimator(&job, value[ESTIMATOR]) == 0 && get_options(&job, value) == 0 &&
        get_arrays(&job, value) == 0) {
        fill_log(&job);
        result = estimate_and_raise(&job);
    }
    for (int i = 0; i < ARRAYS; i++)
        core_array_free(&job.table[i]);
    core_array_free(&job.match);
    core_array_free(&job.lengths);
    return result;
}

static PyObject *ope_estimators(PyObject *module, PyObject *nothing)
{
    PyObject *tuple = PyTuple_New(OLTR_OPE_ESTIMATORS);
    (void)module;
    (void)nothing;
    for (int i = 0; tuple && i < OLTR_OPE_ESTIMATORS; i++) {
        PyObject *name = PyUnicode_FromString(oltr_ope_name((oltr_ope_estimator)i));
        if (!name || PyTuple_SetItem(tuple, i, name) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* ---- predicted rewards */

enum { MOST_CELLS = 1 << 28 };

typedef struct rates_job {
    core_array rewards, item, fold, lengths;
    uint64_t n_items, n_folds;
    double strength;
} rates_job;

static int get_rates_job(PyObject *const *value, rates_job *job)
{
    if (core_whole(value[2], "n_items", 1u << 24, &job->n_items) < 0 ||
        core_whole(value[4], "n_folds", 1u << 16, &job->n_folds) < 0 ||
        core_real(value[5], "strength", &job->strength) < 0 ||
        core_array_get(value[0], CORE_F64, 2, "rewards", &job->rewards) < 0 ||
        core_array_own(&job->rewards, CORE_F64) < 0 ||
        core_array_get(value[1], CORE_U32, 2, "items", &job->item) < 0 ||
        core_array_own(&job->item, CORE_U32) < 0 ||
        core_array_get(value[3], CORE_U32, 1, "folds", &job->fold) < 0 ||
        core_array_own(&job->fold, CORE_U32) < 0 ||
        core_array_get(value[6], CORE_U32, 1, "lengths", &job->lengths) < 0 ||
        core_array_own(&job->lengths, CORE_U32) < 0)
        return -1;
    Py_ssize_t n = job->rewards.n;
    if (job->item.n == n && job->fold.n == n && job->lengths.n == n &&
        job->item.columns == job->rewards.columns && job->rewards.columns <= UINT32_MAX)
        return 0;
    PyErr_SetString(PyExc_ValueError,
                    "rewards, items, folds and lengths must be of the same lists");
    return -1;
}

static PyObject *find_rates(const rates_job *job)
{
    const oltr_ope_log log = {.n = (uint64_t)job->rewards.n,
                              .k = (uint32_t)job->rewards.columns,
                              .length = job->lengths.data,
                              .reward = job->rewards.data};
    void *rate;
    oltr_error error = {OLTR_OK, ""};
    if (log.k < 1 || log.k > MOST_CELLS / (job->n_folds + 1) / (job->n_items + 1))
        return core_refuse(OLTR_EVALUE, "%u slots x %llu items x %llu folds are 0 or too many",
                           log.k, (unsigned long long)job->n_items,
                           (unsigned long long)job->n_folds);
    PyObject *table = core_array_new(CORE_F64, (Py_ssize_t)(log.k * job->n_folds),
                                     (Py_ssize_t)job->n_items, &rate);
    if (!table)
        return NULL;
    oltr_status status =
        oltr_ope_rates(&log, job->item.data, (uint32_t)job->n_items, job->fold.data,
                       (uint32_t)job->n_folds, job->strength, rate, &error);
    if (status == OLTR_OK)
        return table;
    Py_DECREF(table);
    return core_raise(status, &error);
}

static PyObject *ope_rates(PyObject *module, PyObject *const *arguments, Py_ssize_t n,
                           PyObject *keywords)
{
    static const char *const rates_names[] = {"rewards", "items",    "n_items", "folds",
                                              "n_folds", "strength", "lengths", NULL};
    PyObject *value[7], *result = NULL;
    rates_job job = {.n_items = 0};
    (void)module;
    if (core_arguments("ope_rates", rates_names, 7, arguments, n, keywords, value) < 0)
        return NULL;
    if (get_rates_job(value, &job) == 0)
        result = find_rates(&job);
    core_array_free(&job.rewards);
    core_array_free(&job.item);
    core_array_free(&job.fold);
    core_array_free(&job.lengths);
    return result;
}

int add_ope(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"ope_estimate", (PyCFunction)(void (*)(void))ope_estimate, METH_FASTCALL | METH_KEYWORDS,
         "ope_estimate(estimator, rewards=None, logged=None, evaluated=None, logged_slot=None, "
         "evaluated_slot=None, q=None, v=None, match=None, lengths=None, logs=False, "
         "interval=None, confidence=None, resamples=None, seed=None, bound=None)\n--\n\n"
         "The numbers of an oltr_ope_result, as a tuple; see oltr.ope.estimate()."},
        {"ope_rates", (PyCFunction)(void (*)(void))ope_rates, METH_FASTCALL | METH_KEYWORDS,
         "ope_rates(rewards, items, n_items, folds, n_folds, strength, lengths)\n--\n\n"
         "For each fold the rewards that the other folds predict, (folds x slots, items)."},
        {"ope_estimators", ope_estimators, METH_NOARGS,
         "ope_estimators()\n--\n\nThe names of the estimators."},
        {NULL, NULL, 0, NULL},
    };
    return PyModule_AddFunctions(module, functions);
}
