/* policy_new.c - Policy(kind, items, *, dim=0, prior=None, seed=0, **params).
 *
 * Parameters are set by name against the table of the engine: numbers as numbers, choices as text.
 * A prior that is given is used: where a kind has a parameter `prior` whose default takes nothing
 * from it, it becomes "full", or what {"take": ...} says. */
#include "python/core/policy_object.h"

#include <stdio.h>
#include <string.h>

/* ---- priors */

/* One array of a prior: n numbers, or one for all. */
static double *prior_array(PyObject *object, uint32_t n, const char *what)
{
    core_array array;
    double one, *out = PyMem_Malloc((size_t)n * sizeof *out + 1);
    if (!out) {
        PyErr_NoMemory();
        return NULL;
    }
    bool scalar = PyFloat_Check(object) || PyLong_Check(object) || PyObject_Size(object) < 0;
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError))
        goto fail;
    PyErr_Clear();
    if (scalar && core_real(object, what, &one) == 0) {
        for (uint32_t i = 0; i < n; i++)
            out[i] = one;
        return out;
    }
    if (scalar || core_array_get(object, CORE_F64, 1, what, &array) < 0)
        goto fail;
    if (array.n == (Py_ssize_t)n)
        memcpy(out, array.data, n * sizeof *out);
    else
        PyErr_Format(PyExc_ValueError, "the %s of the prior has %zd numbers for %u items", what,
                     array.n, n);
    core_array_free(&array);
    if (!PyErr_Occurred())
        return out;
fail:
    PyMem_Free(out);
    return NULL;
}

void given_prior_free(given_prior *prior)
{
    PyMem_Free(prior->first);
    PyMem_Free(prior->second);
    *prior = (given_prior){0};
}

static int get_pair(PyObject *first, PyObject *second, bool beta, uint32_t n, given_prior *out)
{
    out->first = prior_array(first, n, beta ? "a" : "mean");
    out->second = out->first ? prior_array(second, n, beta ? "b" : "sd") : NULL;
    if (beta) {
        out->prior.a = out->first;
        out->prior.b = out->second;
    } else {
        out->prior.mean = out->first;
        out->prior.sd = out->second;
    }
    if (out->second)
        return 0;
    given_prior_free(out);
    return -1;
}

static int prior_help(void)
{
    PyErr_SetString(PyExc_TypeError,
                    "a prior is (mean, sd), {'mean': .., 'sd': ..} or {'a': .., 'b': ..}, each a "
                    "number or one number per item; 'take': 'mean' in the dict takes only that");
    return -1;
}

static int get_take(PyObject *take, given_prior *out)
{
    const char *text = core_text(take, "take");
    if (!text)
        return -1;
    if (strlen(text) >= sizeof out->take) {
        PyErr_Format(PyExc_ValueError, "take: %.100R is not a choice of the parameter prior", take);
        return -1;
    }
    snprintf(out->take, sizeof out->take, "%s", text);
    return 0;
}

/* Holds its own references: a number's __float__ may change the dict. */
static int from_dict(PyObject *dict, uint32_t n, given_prior *out)
{
    bool beta = PyMapping_HasKeyString(dict, "a");
    PyObject *first = Py_XNewRef(PyDict_GetItemString(dict, beta ? "a" : "mean"));
    PyObject *second = Py_XNewRef(PyDict_GetItemString(dict, beta ? "b" : "sd"));
    PyObject *take = Py_XNewRef(PyDict_GetItemString(dict, "take"));
    int code = 0;
    if (!first || !second || PyDict_Size(dict) != 2 + (take != NULL))
        code = prior_help();
    if (code == 0 && take)
        code = get_take(take, out);
    if (code == 0)
        code = get_pair(first, second, beta, n, out);
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(take);
    return code;
}

int given_prior_get(PyObject *object, uint32_t n, given_prior *out)
{
    *out = (given_prior){0};
    if (PyDict_Check(object))
        return from_dict(object, n, out);
    if (!PyTuple_Check(object) && !PyList_Check(object))
        return prior_help();
    PyObject *pair = PySequence_Tuple(object);
    if (!pair)
        return -1;
    int code = PyTuple_Size(pair) == 2
                   ? get_pair(PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1), false, n, out)
                   : prior_help();
    Py_DECREF(pair);
    return code;
}

/* ---- parameters */

static const oltr_param *param_of(const oltr_settings *s, const char *name)
{
    for (uint32_t i = 0; i < s->info->n_params; i++)
        if (strcmp(s->info->params[i].name, name) == 0)
            return &s->info->params[i];
    return NULL;
}

static int set_text(oltr_settings *s, const char *name, const char *text)
{
    oltr_error error;
    oltr_status status = oltr_settings_set(s, name, text, &error);
    if (status == OLTR_OK)
        return 0;
    core_raise(status, &error);
    return -1;
}

static int set_number(oltr_settings *s, const char *name, PyObject *value)
{
    oltr_error error;
    double number;
    if (core_real(value, name, &number) < 0)
        return -1;
    oltr_status status = oltr_settings_set_number(s, name, number, &error);
    if (status == OLTR_OK)
        return 0;
    core_raise(status, &error);
    return -1;
}

/* The parameter of this name, also with "_" behind it: lambda_ is how Python writes lambda. */
static const oltr_param *param_of_argument(const oltr_settings *s, const char *name)
{
    char shorter[64];
    size_t n = strlen(name);
    const oltr_param *param = param_of(s, name);
    if (param || n < 2 || n > sizeof shorter || name[n - 1] != '_')
        return param;
    memcpy(shorter, name, n - 1);
    shorter[n - 1] = '\0';
    return param_of(s, shorter);
}

/* A choice is a text, another parameter a number.  The engine refuses unknown names. */
static int set_param(oltr_settings *s, PyObject *key, PyObject *value)
{
    const char *name = core_text(key, "the name of a parameter");
    const oltr_param *param = name ? param_of_argument(s, name) : NULL;
    if (!name)
        return -1;
    if (!param)
        return set_text(s, name, "0");
    if (param->type != OLTR_CHOICE)
        return set_number(s, param->name, value);
    const char *text = core_text(value, param->name);
    return text ? set_text(s, param->name, text) : -1;
}

/* Sets the parameter `prior` where the prior would be ignored otherwise. */
static int take_prior(oltr_settings *s, const given_prior *given)
{
    const oltr_param *param = param_of(s, "prior");
    if (given->take[0])
        return set_text(s, "prior", given->take);
    bool ignored = param && param->type == OLTR_CHOICE && s->value[param - s->info->params] < 0.5;
    return ignored ? set_text(s, "prior", "full") : 0;
}

/* ---- the call */

typedef struct arguments_of_new {
    PyObject *kind, *items, *dim, *prior, *seed;
} arguments_of_new;

static PyObject **place_of(arguments_of_new *a, PyObject *name)
{
    static const char *const names[] = {"kind", "items", "dim", "prior", "seed"};
    PyObject **const places[] = {&a->kind, &a->items, &a->dim, &a->prior, &a->seed};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (PyUnicode_CompareWithASCIIString(name, names[i]) == 0)
            return places[i];
    return NULL;
}

/* Sorts the arguments; what is left in params is for the table of the kind. */
static int sort_arguments(PyObject *placed, PyObject *named, arguments_of_new *a, PyObject *params)
{
    PyObject *key, *value, **place;
    Py_ssize_t n = PyTuple_Size(placed), at = 0;
    if (n > 2) {
        PyErr_Format(PyExc_TypeError,
                     "Policy() takes 2 arguments by place, kind and items, not %zd; name the "
                     "others",
                     n);
        return -1;
    }
    a->kind = n > 0 ? PyTuple_GetItem(placed, 0) : NULL;
    a->items = n > 1 ? PyTuple_GetItem(placed, 1) : NULL;
    while (named && PyDict_Next(named, &at, &key, &value)) {
        place = place_of(a, key);
        if (place && *place) {
            PyErr_Format(PyExc_TypeError, "Policy() got two values for '%U'", key);
            return -1;
        }
        if (place)
            *place = value;
        else if (PyDict_SetItem(params, key, value) < 0)
            return -1;
    }
    if (a->kind && a->items)
        return 0;
    PyErr_SetString(PyExc_TypeError, "Policy() needs a kind and the number of items, like "
                                     "Policy('gts', 30); oltr.policies() lists the kinds");
    return -1;
}

/* Everything but the prior. */
static int get_settings(const arguments_of_new *a, PyObject *params, oltr_settings *s)
{
    PyObject *key, *value;
    uint64_t items, dim = 0;
    oltr_error error;
    const char *kind = core_text(a->kind, "kind");
    if (!kind || core_whole(a->items, "items", UINT32_MAX, &items) < 0 ||
        (a->dim && core_whole(a->dim, "dim", UINT32_MAX, &dim) < 0))
        return -1;
    oltr_status status = oltr_settings_init(s, kind, (uint32_t)items, &error);
    if (status != OLTR_OK) {
        core_raise(status, &error);
        return -1;
    }
    if (dim && !s->info->contextual) {
        core_refuse(OLTR_EPARAM, "%s does not rank by features: leave out dim", s->info->name);
        return -1;
    }
    s->dim = (uint32_t)dim;
    for (Py_ssize_t at = 0; PyDict_Next(params, &at, &key, &value);)
        if (set_param(s, key, value) < 0)
            return -1;
    return 0;
}

static int get_prior(PyObject *prior, oltr_settings *s, given_prior *given)
{
    *given = (given_prior){0};
    if (!prior || Py_IsNone(prior))
        return 0;
    if (PyUnicode_Check(prior)) {
        const char *text = core_text(prior, "prior");
        return text ? set_text(s, "prior", text) : -1;
    }
    if (given_prior_get(prior, s->n_items, given) < 0)
        return -1;
    s->prior = given->prior;
    return take_prior(s, given);
}

static PyObject *make(PyTypeObject *type, const oltr_settings *s, uint64_t seed)
{
    oltr_error error;
    oltr_policy *policy = oltr_policy_new(s, &error);
    return policy ? policy_wrap(type, policy, seed, 0) : core_raise(error.code, &error);
}

PyObject *policy_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    arguments_of_new a = {0};
    oltr_settings settings;
    given_prior given = {0};
    uint64_t seed = 0;
    PyObject *params = PyDict_New(), *self = NULL;
    if (params && sort_arguments(arguments, keywords, &a, params) == 0 &&
        get_settings(&a, params, &settings) == 0 &&
        (!a.seed || core_whole(a.seed, "seed", UINT64_MAX, &seed) == 0) &&
        get_prior(a.prior, &settings, &given) == 0)
        self = make(type, &settings, seed);
    given_prior_free(&given);
    Py_XDECREF(params);
    return self;
}
