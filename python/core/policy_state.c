/* policy_state.c - merge, forget, check, resize, reset, hyper and the numbers of items. */
#include "python/core/policy_object.h"

#include <string.h>

static PyObject *done(oltr_status status, const oltr_error *error)
{
    return status == OLTR_OK ? Py_NewRef(Py_None) : core_raise(status, error);
}

/* ---- changes of all that was learned: without the GIL, because factors are made anew */

PyObject *policy_merge(PyObject *self, PyObject *other)
{
    if (!PyObject_TypeCheck(other, policy_type)) {
        PyErr_Format(PyExc_TypeError, "merge() takes a Policy, not %.100R", other);
        return NULL;
    }
    policy_object *into = as_policy(self), *from = as_policy(other);
    if (into == from) {
        PyErr_SetString(PyExc_ValueError,
                        "a policy cannot be merged into itself: it would learn everything twice");
        return NULL;
    }
    if (policy_lock_sleep(&into->lock, TO_CHANGE, &from->lock) < 0)
        return NULL;
    into->lock.writing = true;
    from->lock.readers++;
    PyThreadState *state = PyEval_SaveThread();
    oltr_status status = oltr_merge(into->policy, from->policy);
    PyEval_RestoreThread(state);
    into->lock.writing = false;
    from->lock.readers--;
    policy_lock_wake();
    return done(status, NULL);
}

PyObject *policy_forget(PyObject *self, PyObject *argument)
{
    policy_object *p = as_policy(self);
    double keep;
    if (core_real(argument, "keep", &keep) < 0)
        return NULL;
    if (!(keep >= 0 && keep <= 1)) {
        PyErr_Format(PyExc_ValueError, "keep must be from 0 to 1, not %R", argument);
        return NULL;
    }
    if (policy_lock_wait(&p->lock, TO_CHANGE) < 0)
        return NULL;
    p->lock.writing = true;
    PyThreadState *state = PyEval_SaveThread();
    oltr_status status = oltr_forget(p->policy, keep);
    PyEval_RestoreThread(state);
    p->lock.writing = false;
    policy_lock_wake();
    return done(status, NULL);
}

PyObject *policy_check(PyObject *self, PyObject *nothing)
{
    policy_object *p = as_policy(self);
    oltr_error error;
    (void)nothing;
    if (policy_lock_wait(&p->lock, TO_READ) < 0)
        return NULL;
    p->lock.readers++;
    PyThreadState *state = PyEval_SaveThread();
    oltr_status status = oltr_check(p->policy, &error);
    PyEval_RestoreThread(state);
    p->lock.readers--;
    policy_lock_wake();
    return done(status, &error);
}

/* ---- items, under the GIL */

PyObject *policy_reset(PyObject *self, PyObject *argument)
{
    policy_object *p = as_policy(self);
    oltr_error error;
    uint64_t item;
    if (core_whole(argument, "item", UINT32_MAX, &item) < 0 ||
        policy_lock_wait(&p->lock, TO_CHANGE) < 0)
        return NULL;
    return done(oltr_item_reset(p->policy, (uint32_t)item, &error), &error);
}

/* The prior is read for the number of items before; a number of its __float__ may resize the
 * policy, and the engine then refuses nothing that would be too short: it is compared again. */
static PyObject *resize(policy_object *p, uint32_t items, uint32_t before, const given_prior *given)
{
    oltr_error error;
    if (policy_lock_wait(&p->lock, TO_CHANGE) < 0)
        return NULL;
    if (given && settings_of(p)->n_items != before) {
        PyErr_SetString(PyExc_RuntimeError, "the policy was resized by another call meanwhile");
        return NULL;
    }
    oltr_status status =
        oltr_policy_resize(&p->policy, items, given ? &given->prior : NULL, &error);
    if (status == OLTR_OK)
        scratches_drop(p);
    return done(status, &error);
}

/* Before arrays for so many items are made. */
static int check_items(const policy_object *p, uint32_t items)
{
    oltr_settings settings;
    oltr_error error;
    oltr_status status = oltr_settings_init(&settings, settings_of(p)->info->name, items, &error);
    if (status != OLTR_OK)
        core_raise(status, &error);
    return status == OLTR_OK ? 0 : -1;
}

PyObject *policy_resize(PyObject *self, PyObject *const *arguments, Py_ssize_t n,
                        PyObject *keywords)
{
    static const char *const names[] = {"items", "prior", NULL};
    policy_object *p = as_policy(self);
    PyObject *value[2];
    given_prior given = {0};
    uint64_t items;
    if (core_arguments("resize", names, 1, arguments, n, keywords, value) < 0 ||
        core_whole(value[0], "items", UINT32_MAX, &items) < 0 ||
        check_items(p, (uint32_t)items) < 0)
        return NULL;
    uint32_t before = settings_of(p)->n_items;
    if (value[1] &&
        given_prior_get(value[1], items > before ? (uint32_t)items - before : 0, &given) < 0)
        return NULL;
    PyObject *result = resize(p, (uint32_t)items, before, value[1] ? &given : NULL);
    given_prior_free(&given);
    return result;
}

/* ---- what was learned about items and about the prior */

/* How many sums an item has; the pair of its prior, which follows them, is not counted. */
static uint32_t sums_of(const policy_object *p)
{
    double number[OLTR_MAX_ITEM_NUMBERS];
    uint32_t n = 0;
    const oltr_prior *prior = &settings_of(p)->prior;
    if (oltr_item_get(p->policy, 0, number, OLTR_MAX_ITEM_NUMBERS, &n) != OLTR_OK)
        return 0;
    return prior->a || prior->mean ? n - 2 : n;
}

static oltr_status copy_sums(const policy_object *p, uint32_t n_items, uint32_t n, double *out)
{
    double number[OLTR_MAX_ITEM_NUMBERS];
    uint32_t all;
    oltr_status status = OLTR_OK;
    for (uint32_t item = 0; status == OLTR_OK && item < n_items; item++) {
        status = oltr_item_get(p->policy, item, number, OLTR_MAX_ITEM_NUMBERS, &all);
        if (status == OLTR_OK)
            memcpy(out + (size_t)item * n, number, n * sizeof *number);
    }
    return status;
}

/* The array is made before the sums are read: that runs Python code. */
PyObject *policy_numbers(PyObject *self, PyObject *nothing)
{
    policy_object *p = as_policy(self);
    uint32_t n_items = settings_of(p)->n_items;
    void *data;
    (void)nothing;
    if (policy_lock_wait(&p->lock, TO_PEEK) < 0)
        return NULL;
    uint32_t n = settings_of(p)->info->by_item ? sums_of(p) : 0;
    if (n == 0)
        Py_RETURN_NONE;
    PyObject *table = core_array_new(CORE_F64, (Py_ssize_t)n_items, (Py_ssize_t)n, &data);
    if (!table)
        return NULL;
    oltr_status status = OLTR_OK;
    if (policy_lock_wait(&p->lock, TO_PEEK) < 0 ||
        (status = copy_sums(p, n_items, n, data)) != OLTR_OK)
        Py_CLEAR(table);
    return table || status == OLTR_OK ? table : core_raise(status, NULL);
}

static PyObject *array_of(const double *number, uint32_t n)
{
    void *data;
    PyObject *array = core_array_new(CORE_F64, (Py_ssize_t)n, 0, &data);
    if (array)
        memcpy(data, number, n * sizeof *number);
    return array;
}

static PyObject *hyper_dict(const oltr_hyper *h)
{
    PyObject *values = array_of(h->value, h->n_values);
    PyObject *chances = values ? array_of(h->chance, h->n_values) : NULL;
    if (chances)
        return Py_BuildValue("{sssdsdsNsN}", "name", h->name, "mean", h->mean, "sd", h->sd,
                             "values", values, "chances", chances);
    Py_XDECREF(values);
    return NULL;
}

PyObject *policy_hyper(PyObject *self, PyObject *nothing)
{
    policy_object *p = as_policy(self);
    PyObject *list = PyList_New(0);
    (void)nothing;
    for (uint32_t i = 0; list; i++) {
        oltr_hyper h;
        if (policy_lock_wait(&p->lock, TO_PEEK) < 0) {
            Py_CLEAR(list);
            break;
        }
        if (i >= oltr_hyper_count(p->policy) || oltr_hyper_at(p->policy, i, &h) != OLTR_OK)
            break;
        PyObject *one = hyper_dict(&h);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}
