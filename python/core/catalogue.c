/* catalogue.c - oltr._core.catalogue(): all kinds of policies with their flags and parameters, from
 * the engine's own tables.  Documentation, stubs and oltr.policies() are made from it. */
#include "python/core/catalogue.h"

static PyObject *choices_of(const oltr_param *param)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && param->choices && param->choices[i]; i++) {
        PyObject *name = PyUnicode_FromString(param->choices[i]);
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

PyObject *catalogue_value(const oltr_param *param, double value)
{
    if (param->type == OLTR_CHOICE)
        return PyUnicode_FromString(param->choices[(size_t)value]);
    return param->type == OLTR_INTEGER ? PyLong_FromDouble(value) : PyFloat_FromDouble(value);
}

/* A bound; choices have none. */
static PyObject *bound_of(const oltr_param *param, double value)
{
    return param->type == OLTR_CHOICE ? Py_NewRef(Py_None) : catalogue_value(param, value);
}

static PyObject *param_dict(const oltr_param *param)
{
    static const char *const types[] = {"real", "integer", "choice"};
    PyObject *first = catalogue_value(param, param->initial), *least = bound_of(param, param->min);
    PyObject *most = bound_of(param, param->max), *choices = choices_of(param);
    if (first && least && most && choices)
        return Py_BuildValue("{sssssNsNsNsNss}", "name", param->name, "type", types[param->type],
                             "default", first, "min", least, "max", most, "choices", choices,
                             "help", param->help);
    Py_XDECREF(first);
    Py_XDECREF(least);
    Py_XDECREF(most);
    Py_XDECREF(choices);
    return NULL;
}

static PyObject *params_of(const oltr_policy_info *info)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < info->n_params; i++) {
        PyObject *param = param_dict(&info->params[i]);
        if (!param || PyList_Append(list, param) < 0)
            Py_CLEAR(list);
        Py_XDECREF(param);
    }
    return list;
}

static int put_flags(PyObject *dict, const oltr_policy_info *info)
{
    const struct {
        const char *name;
        int value;
    } flags[] = {
        {"contextual", info->contextual},
        {"uses_prior", info->uses_prior},
        {"takes_moments", info->takes_moments},
        {"takes_weights", info->takes_weights},
        {"can_predict", info->can_predict},
        {"can_merge", info->can_merge},
        {"can_forget", info->can_forget},
        {"can_resize", info->can_resize},
        {"by_item", info->by_item},
        {"order_free", info->order_free},
        {"fixed_scores", info->fixed_scores},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (PyDict_SetItemString(dict, flags[i].name, flags[i].value ? Py_True : Py_False) < 0)
            return -1;
    return 0;
}

static PyObject *kind_dict(const oltr_policy_info *info)
{
    PyObject *params = params_of(info);
    PyObject *dict =
        params ? Py_BuildValue("{ssssssssss}", "name", info->name, "title", info->title, "summary",
                               info->summary, "source", info->source, "rewards",
                               info->rewards == OLTR_CLICKS ? "clicks" : "reals")
               : NULL;
    if (dict && (put_flags(dict, info) < 0 || PyDict_SetItemString(dict, "params", params) < 0))
        Py_CLEAR(dict);
    Py_XDECREF(params);
    return dict;
}

static PyObject *catalogue(PyObject *module, PyObject *nothing)
{
    PyObject *list = PyList_New(0);
    (void)module;
    (void)nothing;
    for (uint32_t i = 0; list && i < oltr_policy_count(); i++) {
        PyObject *kind = kind_dict(oltr_policy_info_at(i));
        if (!kind || PyList_Append(list, kind) < 0)
            Py_CLEAR(list);
        Py_XDECREF(kind);
    }
    return list;
}

/* The engine's sentence for a name that is not there, with the nearest one. */
static PyObject *check_kind(PyObject *module, PyObject *name)
{
    oltr_error error;
    (void)module;
    const char *text = core_text(name, "the name of a kind");
    if (!text)
        return NULL;
    return oltr_policy_info_by_name(text, &error) ? Py_NewRef(Py_None)
                                                  : core_raise(error.code, &error);
}

int add_catalogue(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"catalogue", catalogue, METH_NOARGS,
         "catalogue()\n--\n\nAll kinds of policies with their flags and parameters, as dicts."},
        {"check_kind", check_kind, METH_O,
         "check_kind(name, /)\n--\n\nRaises oltr.Error unless a kind has this name."},
        {NULL, NULL, 0, NULL},
    };
    return PyModule_AddFunctions(module, functions);
}
