/* python_policy.c - the operations of a policy (oltr/policy_ops.h) by calls into Python.
 *
 * In each replication the factory makes a new object.  rank() or scores() gets one argument, a
 * Request, which is made once for each object and filled anew in every round, so that ranking
 * allocates nothing but what Python code does.
 *
 * The simulator gives a policy that is not shared the candidates 0..n-1 and never copies, saves or
 * merges it, so candidates with names are not handled, and there are no sums. */
#include "python/core/python_policy.h"
#include "python/core/request_type.h"

#include <oltr/policy_ops.h>

#include <math.h>
#include <string.h>

/* ---- the state */

typedef struct policy_instance {
    const python_policy *of; /* settings.custom */
    PyObject *rank, *scores, *learn;
    bool learns_x;
    request_object *request;
    uint64_t *shown; /* a bit for each item; all 0 between calls */
    oltr_rng rng;    /* of the last ranking, for notes */
} policy_instance;

static oltr_status failed(const policy_instance *s, uint64_t round)
{
    char who[160];
    PyOS_snprintf(who, sizeof who, "policy %.140s", s->of->label);
    return bridge_failed(s->of->bridge, who, round ? &s->rng : NULL, round);
}

static size_t state_bytes(const oltr_settings *settings)
{
    (void)settings;
    return sizeof(policy_instance);
}

/* ---- making */

static PyObject *array_of(const double *number, uint32_t n)
{
    void *memory;
    PyObject *array = core_array_new(CORE_F64, n, 0, &memory);
    if (array)
        memcpy(memory, number, n * sizeof *number);
    return array;
}

/* {"a": .., "b": ..}, or (mean, sd), or None: the forms that oltr.Policy takes. */
static PyObject *prior_of(const oltr_settings *settings)
{
    const oltr_prior *prior = &settings->prior;
    bool shapes = prior->a != NULL;
    if (!shapes && !prior->mean)
        return Py_NewRef(Py_None);
    PyObject *first = array_of(shapes ? prior->a : prior->mean, settings->n_items);
    PyObject *second = first ? array_of(shapes ? prior->b : prior->sd, settings->n_items) : NULL;
    PyObject *both = NULL;
    if (second)
        both = shapes ? Py_BuildValue("{sOsO}", "a", first, "b", second)
                      : PyTuple_Pack(2, first, second);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return both;
}

static PyObject *unless_none(PyObject *tuple, Py_ssize_t i)
{
    PyObject *object = PyTuple_GetItem(tuple, i);
    return Py_IsNone(object) ? NULL : Py_NewRef(object);
}

static int make_object(policy_instance *s, const oltr_settings *settings)
{
    const python_policy *p = s->of;
    PyObject *prior = prior_of(settings);
    PyObject *made = !prior ? NULL
                            : PyObject_CallFunction(p->make, "IIIKO", (unsigned)settings->n_items,
                                                    (unsigned)p->slots, (unsigned)settings->dim,
                                                    (unsigned long long)p->rounds, prior);
    Py_XDECREF(prior);
    if (made && (!PyTuple_Check(made) || PyTuple_Size(made) != 4)) {
        PyErr_Format(PyExc_TypeError, "(rank, scores, learn, learns_x) is needed, not %.100R",
                     made);
        Py_CLEAR(made);
    }
    if (!made)
        return -1;
    s->rank = unless_none(made, 0);
    s->scores = unless_none(made, 1);
    s->learn = unless_none(made, 2);
    s->learns_x = PyObject_IsTrue(PyTuple_GetItem(made, 3)) == 1;
    Py_DECREF(made);
    return 0;
}

static void release(policy_instance *s)
{
    Py_CLEAR(s->rank);
    Py_CLEAR(s->scores);
    Py_CLEAR(s->learn);
    Py_CLEAR(s->request);
    PyMem_Free(s->shown);
    s->shown = NULL;
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    policy_instance *s = state; /* all zero */
    oltr_status status = OLTR_OK;
    s->of = settings->custom;
    bridge_enter();
    s->request = request_new(s->of->slots, settings->dim);
    s->shown = PyMem_Calloc(settings->n_items / 64 + 1, sizeof *s->shown);
    if (!s->shown)
        PyErr_NoMemory();
    if (!s->request || !s->shown || make_object(s, settings) < 0) {
        status = failed(s, 0);
        release(s);
    }
    bridge_leave();
    if (status != OLTR_OK && error)
        *error = (oltr_error){status, "the factory raised an exception"};
    return status;
}

static void end(void *state)
{
    bridge_enter();
    release(state);
    bridge_leave();
}

/* ---- ranking */

static void ask(policy_instance *s, uint64_t t, const oltr_candidates *from, const oltr_rng *rng)
{
    request_object *r = s->request;
    r->t = t;
    r->n = from->n;
    r->rows = from->x;
    r->stride = from->stride;
    r->x_is_old = true;
    r->rng->rng = oltr_rng_fork(*rng, 1); /* ties are broken by *rng itself */
    s->rng = *rng;
}

static int take_list(PyObject *list, uint32_t k, uint32_t *item)
{
    for (uint32_t i = 0; i < k; i++) {
        PyObject *number = PyList_GetItem(list, i);
        if (!number || !PyLong_Check(number))
            return -1;
        unsigned long value = PyLong_AsUnsignedLong(number);
        if (value > UINT32_MAX) /* an error has the largest value */
            return -1;
        item[i] = (uint32_t)value;
    }
    return 0;
}

static int wrong_length(const char *call, Py_ssize_t n, const char *what, Py_ssize_t wanted)
{
    PyErr_Format(PyExc_ValueError, "%s returned %zd %s, and %zd are needed", call, n, what, wanted);
    return -1;
}

static int take_items(PyObject *answer, uint32_t k, uint32_t *item)
{
    core_array array = {0};
    if (PyList_Check(answer) && PyList_Size(answer) == (Py_ssize_t)k &&
        take_list(answer, k, item) == 0)
        return 0;
    PyErr_Clear();
    if (core_array_get(answer, CORE_U32, 1, "what rank() returns", &array) < 0)
        return -1;
    int code = array.n == (Py_ssize_t)k ? 0 : wrong_length("rank()", array.n, "items", k);
    for (uint32_t i = 0; code == 0 && i < k; i++)
        item[i] = ((const uint32_t *)array.data)[i * (size_t)array.stride];
    core_array_free(&array);
    return code;
}

/* Are they in range and distinct? */
static int check_items(const policy_instance *s, const uint32_t *item, uint32_t k, uint32_t n)
{
    uint32_t good = 0;
    for (; good < k && item[good] < n; good++) {
        uint64_t bit = (uint64_t)1 << item[good] % 64, *word = &s->shown[item[good] / 64];
        if (*word & bit)
            break;
        *word |= bit;
    }
    for (uint32_t i = 0; i < good; i++)
        s->shown[item[i] / 64] = 0;
    if (good == k)
        return 0;
    if (item[good] < n)
        PyErr_Format(PyExc_ValueError, "rank() returned item %u twice", (unsigned)item[good]);
    else
        PyErr_Format(PyExc_ValueError, "rank() returned item %u; the candidates are 0 to %u",
                     (unsigned)item[good], (unsigned)n - 1);
    return -1;
}

static int rank_items(policy_instance *s, uint32_t n, const oltr_ranking *out)
{
    PyObject *answer = PyObject_CallFunctionObjArgs(s->rank, (PyObject *)s->request, NULL);
    if (!answer)
        return -1;
    int code = take_items(answer, out->k, out->item);
    Py_DECREF(answer);
    for (uint32_t i = 0; out->score && i < out->k; i++)
        out->score[i] = 0;
    return code == 0 ? check_items(s, out->item, out->k, n) : -1;
}

/* A list of floats and ints, which run no code of Python; -1 without an exception for any other. */
static int take_floats(PyObject *list, uint32_t n, double *score)
{
    if (!PyList_Check(list) || PyList_Size(list) != (Py_ssize_t)n)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        PyObject *number = PyList_GetItem(list, i);
        if (!PyFloat_Check(number) && !PyLong_Check(number))
            return -1;
        score[i] = PyFloat_AsDouble(number);
        if (isnan(score[i]) || (score[i] == -1 && PyErr_Occurred())) {
            PyErr_Clear(); /* core_array_get() finds it again, and says where */
            return -1;
        }
    }
    return 0;
}

static int take_scores(PyObject *answer, uint32_t n, double *score)
{
    core_array array = {0};
    if (take_floats(answer, n, score) == 0)
        return 0;
    if (core_array_get(answer, CORE_F64, 1, "what scores() returns", &array) < 0)
        return -1;
    int code = array.n == (Py_ssize_t)n ? 0 : wrong_length("scores()", array.n, "scores", n);
    for (uint32_t i = 0; code == 0 && i < n; i++) {
        score[i] = ((const double *)array.data)[i * (size_t)array.stride];
        if (isnan(score[i])) {
            PyErr_Format(PyExc_ValueError, "scores() returned nan for item %u", (unsigned)i);
            code = -1;
        }
    }
    core_array_free(&array);
    return code;
}

static int rank_by_scores(policy_instance *s, const oltr_candidates *from, void *scratch)
{
    PyObject *answer = PyObject_CallFunctionObjArgs(s->scores, (PyObject *)s->request, NULL);
    if (!answer)
        return -1;
    int code = take_scores(answer, from->n, oltr_scores(scratch));
    Py_DECREF(answer);
    return code;
}

static oltr_status rank(const void *state, uint64_t t, const oltr_candidates *from,
                        const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    policy_instance *s = (policy_instance *)(uintptr_t)state;
    oltr_status status = OLTR_OK;
    bridge_enter();
    ask(s, t, from, rng);
    int code = s->rank ? rank_items(s, from->n, out) : rank_by_scores(s, from, scratch);
    if (code < 0)
        status = failed(s, t);
    s->request->rows = NULL;
    bridge_leave();
    return status == OLTR_OK && !s->rank ? oltr_show_best(scratch, from, rng, out) : status;
}

/* ---- learning */

static PyObject *rewards_of(const double *reward, uint32_t n)
{
    PyObject *list = PyList_New(n);
    for (uint32_t i = 0; list && i < n; i++) {
        PyObject *number = PyFloat_FromDouble(reward[i]);
        if (!number || PyList_SetItem(list, i, number) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static int teach(const policy_instance *s, const oltr_ranking *shown, const oltr_feedback *seen)
{
    uint32_t n = seen->n_examined;
    PyObject *x = NULL, *done = NULL;
    PyObject *items = core_item_list(shown->item, n), *rewards = rewards_of(seen->reward, n);
    if (s->learns_x)
        x = request_features_of(s->request, shown->item, n);
    if (items && rewards && (x || !s->learns_x)) /* x ends the arguments where it is NULL */
        done = PyObject_CallFunctionObjArgs(s->learn, items, rewards, x, NULL);
    Py_XDECREF(items);
    Py_XDECREF(rewards);
    Py_XDECREF(x);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static oltr_status learn(void *state, uint64_t t, const oltr_candidates *from,
                         const oltr_ranking *shown, const oltr_feedback *seen)
{
    policy_instance *s = state;
    oltr_status status = OLTR_OK;
    if (!s->learn)
        return OLTR_OK;
    bridge_enter();
    s->request->rows = from->x;
    s->request->stride = from->stride;
    if (teach(s, shown, seen) < 0)
        status = failed(s, t);
    s->request->rows = NULL;
    bridge_leave();
    return status;
}

/* ---- what a policy must have */

static uint32_t sums(const void *state, oltr_sum_array out[OLTR_MAX_SUMS])
{
    (void)state;
    (void)out;
    return 0;
}

static void refresh(void *state, uint64_t t)
{
    (void)state;
    (void)t;
}

static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    (void)state;
    (void)t;
    (void)error;
    return OLTR_OK;
}

static oltr_status thread_begin(const void *custom)
{
    return bridge_begin(((const python_policy *)custom)->bridge);
}

static void thread_end(const void *custom)
{
    bridge_end(((const python_policy *)custom)->bridge);
}

/* Four, because whether a policy takes features and a prior is a constant of its operations. */
#define OPERATIONS(table, features, prior)                                                         \
    static const oltr_policy_ops table = {                                                         \
        .info = {.name = "python",                                                                 \
                 .title = "A policy written in Python",                                            \
                 .source = "the policies of oltr.run()",                                           \
                 .summary = "Calls rank() or scores(), and learn(), of an object.",                \
                 .rewards = OLTR_REALS,                                                            \
                 .uses_prior = prior,                                                              \
                 .contextual = features,                                                           \
                 .ops = &table},                                                                   \
        .state_bytes = state_bytes,                                                                \
        .scratch_bytes = oltr_scores_bytes,                                                        \
        .init = init,                                                                              \
        .rank = rank,                                                                              \
        .learn = learn,                                                                            \
        .sums = sums,                                                                              \
        .refresh = refresh,                                                                        \
        .check = check,                                                                            \
        .end = end,                                                                                \
        .thread_begin = thread_begin,                                                              \
        .thread_end = thread_end,                                                                  \
    }
OPERATIONS(plain_ops, 0, 0);
OPERATIONS(prior_ops, 0, 1);
OPERATIONS(feature_ops, 1, 0);
OPERATIONS(feature_prior_ops, 1, 1);

oltr_status python_policy_settings(const python_policy *own, const oltr_world *world,
                                   bool takes_prior, oltr_settings *settings, oltr_error *error)
{
    static const oltr_policy_ops *const ops[2][2] = {{&plain_ops, &prior_ops},
                                                     {&feature_ops, &feature_prior_ops}};
    oltr_status status = oltr_settings_init_custom(settings, ops[world->dim > 0][takes_prior],
                                                   world->n_items, error);
    settings->dim = world->dim;
    settings->custom = own;
    settings->custom_bytes = DIGEST_BYTES;
    return status;
}
