/* model_questions.c - what a model says about its items: beliefs, reasons, chances, names. */
#include "python/core/model_object.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the questions share */

/* An answer: columns of doubles, one entry for each candidate, and their names. */
typedef struct answer {
    oltr_status status;
    oltr_error error;
    uint32_t n;
    double *number; /* (columns, n) */
    void *other;
    name_copy names; /* where all items were asked for */
} answer;

static uint32_t count_candidates(const turn *t, const oltr_list *list)
{
    return list->name || list->x ? list->n : oltr_model_items(t->model);
}

/* During the turn: room for the answer; false, with the status set, without memory. */
static bool answer_begin(const turn *t, const oltr_list *list, uint32_t columns, size_t other,
                         answer *out)
{
    *out = (answer){.status = OLTR_ENOMEM, .error = {OLTR_ENOMEM, ""}};
    out->n = count_candidates(t, list);
    out->number = malloc(((size_t)columns * out->n + 1) * sizeof *out->number);
    out->other = malloc((size_t)out->n * other + 1);
    bool all = !list->name && !list->x;
    return out->number && out->other &&
           (!all || name_copy_take(t->model, NULL, out->n, &out->names));
}

static void answer_free(answer *a)
{
    free(a->number);
    free(a->other);
    name_copy_free(&a->names);
}

static PyObject *column(const double *from, uint32_t n)
{
    void *data;
    PyObject *array = core_array_new(CORE_F64, (Py_ssize_t)n, 0, &data);
    if (array && n > 0)
        memcpy(data, from, n * sizeof *from);
    return array;
}

/* A pair of columns. */
static PyObject *two_columns(const answer *a)
{
    PyObject *first = column(a->number, a->n), *second = column(a->number + a->n, a->n);
    PyObject *pair = first && second ? PyTuple_Pack(2, first, second) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    return pair;
}

/* ---- predict */

MODEL_METHOD(model_predict_call)
{
    static const char *const names[] = {"items", "x", NULL};
    model_object *o = (model_object *)self;
    PyObject *value[2], *result = NULL;
    list_data list;
    answer a;
    turn t;
    if (placed_at_most("predict", n, 1) < 0 ||
        core_arguments("predict", names, 0, arguments, n, keywords, value) < 0 ||
        list_get(o, value[0], value[1], "items", &list) < 0)
        return NULL;
    if (turn_begin(&t, o, TURN_READ, model_is_large(o), &list) == 0) {
        if (answer_begin(&t, &list.list, 2, 0, &a))
            a.status = oltr_model_predict(t.model, &list.list, a.number, a.number + a.n, &a.error);
        turn_end(&t);
        result = a.status == OLTR_OK ? two_columns(&a) : core_raise(a.status, &a.error);
        answer_free(&a);
    }
    list_free(&list);
    return result;
}

/* ---- explain */

enum { EXPLAINED = 7 };

static double explained_number(const oltr_explained *e, uint32_t which)
{
    const double number[EXPLAINED] = {e->mean,       e->sd,       e->examined,   e->reward,
                                      e->prior_mean, e->prior_sd, e->prior_share};
    return number[which];
}

static void fill_columns(answer *a)
{
    const oltr_explained *e = a->other;
    for (uint32_t c = 0; c < EXPLAINED; c++)
        for (uint32_t i = 0; i < a->n; i++)
            a->number[(size_t)c * a->n + i] = explained_number(&e[i], c);
}

/* Steals the array. */
static int put_column(PyObject *dict, const char *name, PyObject *array)
{
    int code = array ? PyDict_SetItemString(dict, name, array) : -1;
    Py_XDECREF(array);
    return code;
}

static PyObject *known_column(const answer *a)
{
    const oltr_explained *e = a->other;
    PyObject *list = PyList_New((Py_ssize_t)a->n);
    for (uint32_t i = 0; list && i < a->n; i++)
        PyList_SetItem(list, (Py_ssize_t)i, PyBool_FromLong((long)e[i].known));
    return list;
}

static PyObject *last_column(const answer *a)
{
    const oltr_explained *e = a->other;
    PyObject *list = PyList_New((Py_ssize_t)a->n);
    for (uint32_t i = 0; list && i < a->n; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(e[i].last);
        if (!number || PyList_SetItem(list, (Py_ssize_t)i, number) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Columns by name; "item" has the names, or is None for rows without any. */
static PyObject *explained_dict(const list_data *list, answer *a)
{
    static const char *const names[EXPLAINED] = {"mean",       "sd",       "examined",   "reward",
                                                 "prior_mean", "prior_sd", "prior_share"};
    PyObject *dict = PyDict_New();
    if (!dict)
        return NULL;
    fill_columns(a);
    PyObject *item = list->objects  ? Py_NewRef(list->objects)
                     : list->list.x ? Py_NewRef(Py_None)
                                    : name_copy_tuple(&a->names);
    int code = put_column(dict, "item", item);
    for (uint32_t c = 0; code == 0 && c < EXPLAINED; c++)
        code = put_column(dict, names[c], column(a->number + (size_t)c * a->n, a->n));
    if (code == 0 && put_column(dict, "known", known_column(a)) == 0 &&
        put_column(dict, "last", last_column(a)) == 0)
        return dict;
    Py_DECREF(dict);
    return NULL;
}

MODEL_METHOD(model_explain_call)
{
    static const char *const names[] = {"items", "x", NULL};
    model_object *o = (model_object *)self;
    PyObject *value[2], *result = NULL;
    list_data list;
    answer a;
    turn t;
    if (core_arguments("_explain", names, 0, arguments, n, keywords, value) < 0 ||
        list_get(o, value[0], value[1], "items", &list) < 0)
        return NULL;
    if (turn_begin(&t, o, TURN_READ, model_is_large(o), &list) == 0) {
        if (answer_begin(&t, &list.list, EXPLAINED, sizeof(oltr_explained), &a))
            a.status = oltr_model_explain(t.model, &list.list, a.other, &a.error);
        turn_end(&t);
        result = a.status == OLTR_OK ? explained_dict(&list, &a) : core_raise(a.status, &a.error);
        answer_free(&a);
    }
    list_free(&list);
    return result;
}

/* ---- chances */

static PyObject *find_chances(model_object *o, list_data *list, const show_data *show,
                              uint32_t draws)
{
    turn t;
    answer a;
    oltr_model_scratch *scratch = model_scratch_take(o);
    if (!scratch)
        return NULL;
    if (turn_begin(&t, o, TURN_READ, true, list) < 0) {
        model_scratch_give(o, scratch);
        return NULL;
    }
    if (answer_begin(&t, &list->list, 2, 0, &a))
        a.status = oltr_model_propensity(t.model, &list->list, &show->show, draws, show->rng,
                                         scratch, a.number, a.number + a.n, &a.error);
    turn_end(&t);
    model_scratch_give(o, scratch);
    PyObject *result = a.status == OLTR_OK ? two_columns(&a) : core_raise(a.status, &a.error);
    answer_free(&a);
    return result;
}

MODEL_METHOD(model_propensity_call)
{
    static const char *const names[] = {"k",          "items",  "draws",       "x",
                                        "seed",       "greedy", "fresh_below", "least_fresh",
                                        "most_fresh", NULL};
    model_object *o = (model_object *)self;
    PyObject *value[9], *result = NULL;
    uint64_t draws = 0;
    list_data list;
    show_data show = {.seed = NULL};
    if (core_arguments("_propensity", names, 1, arguments, n, keywords, value) < 0 ||
        (value[2] && core_whole(value[2], "draws", UINT32_MAX, &draws) < 0) ||
        list_get(o, value[1], value[3], "items", &list) < 0)
        return NULL;
    PyObject *zero = PyLong_FromLong(0);
    if (zero && show_get(o, value[0], value[4] ? value[4] : zero, value + 5, &show) == 0)
        result = find_chances(o, &list, &show, (uint32_t)draws);
    Py_XDECREF(zero);
    show_free(&show);
    list_free(&list);
    return result;
}

/* The places of the shown in the list; of all items, their numbers.  During the turn. */
static bool find_places(const turn *t, const list_data *list, const name_list *shown,
                        uint32_t *place, answer *a)
{
    for (uint32_t i = 0; !list->list.x && !list->list.name && i < (uint32_t)shown->n; i++) {
        int64_t item = oltr_model_find(t->model, shown->name[i]);
        if (item < 0) {
            a->status = a->error.code = OLTR_EITEM;
            strcpy(a->error.msg, "what was shown is not an item of the model");
            return false;
        }
        place[i] = (uint32_t)item;
    }
    return true;
}

static PyObject *find_list_chance(model_object *o, list_data *list, const name_list *shown,
                                  core_array *places, uint32_t greedy)
{
    turn t;
    answer a = {.status = OLTR_ENOMEM, .error = {OLTR_ENOMEM, ""}};
    uint32_t k = (uint32_t)(shown->objects ? shown->n : places->n);
    uint32_t *place = malloc((k + (size_t)1) * sizeof *place);
    oltr_model_scratch *scratch = place ? model_scratch_take(o) : NULL;
    if (!scratch || turn_begin(&t, o, TURN_READ, true, list) < 0) {
        free(place);
        model_scratch_give(o, scratch);
        return scratch ? NULL : PyErr_NoMemory();
    }
    if (places->data && k > 0)
        memcpy(place, places->data, k * sizeof *place);
    a.number = malloc((k + (size_t)1) * sizeof *a.number);
    if (a.number && find_places(&t, list, shown, place, &a))
        a.status = oltr_model_list_propensity(t.model, &list->list, place, k, greedy, scratch,
                                              a.number, &a.error);
    turn_end(&t);
    model_scratch_give(o, scratch);
    free(place);
    PyObject *result = a.status == OLTR_OK ? column(a.number, k) : core_raise(a.status, &a.error);
    answer_free(&a);
    return result;
}

/* shown: names, looked up among all items.  places: numbers, of items or rows that are given. */
MODEL_METHOD(model_list_propensity_call)
{
    static const char *const names[] = {"shown", "places", "items", "x", "greedy", NULL};
    model_object *o = (model_object *)self;
    PyObject *value[5], *result = NULL;
    list_data list;
    name_list shown = {.objects = NULL};
    core_array places = {0};
    if (core_arguments("_list_propensity", names, 0, arguments, n, keywords, value) < 0)
        return NULL;
    int greedy = value[4] ? PyObject_IsTrue(value[4]) : 0;
    if (greedy < 0 || list_get(o, value[2], value[3], "items", &list) < 0)
        return NULL;
    if (value[0] && names_get(value[0], "shown", &shown) < 0)
        ; /* with its exception */
    else if (value[1] && core_array_get(value[1], CORE_U32, 1, "places", &places) < 0)
        ;
    else if (!value[0] == !value[1])
        PyErr_SetString(PyExc_TypeError, "give shown or places");
    else if (value[0] && (value[2] || value[3]))
        PyErr_SetString(PyExc_TypeError, "of candidates that are given, give places");
    else if (places.n > UINT32_MAX)
        core_refuse(OLTR_ESLOTS, "too many places");
    else if (!value[1] || core_array_own(&places, CORE_U32) == 0)
        result = find_list_chance(o, &list, &shown, &places, (uint32_t)greedy);
    names_free(&shown);
    core_array_free(&places);
    list_free(&list);
    return result;
}

/* ---- what was learned about the prior */

static PyObject *hyper_dict(const oltr_hyper *h)
{
    PyObject *values = column(h->value, h->n_values), *chances = column(h->chance, h->n_values);
    PyObject *dict = values && chances ? Py_BuildValue("{s:d,s:d,s:O,s:O}", "mean", h->mean, "sd",
                                                       h->sd, "values", values, "chances", chances)
                                       : NULL;
    Py_XDECREF(values);
    Py_XDECREF(chances);
    return dict;
}

PyObject *model_hyper_call(PyObject *self, PyObject *unused)
{
    turn t;
    (void)unused;
    if (turn_begin(&t, (model_object *)self, TURN_READ, false, NULL) < 0)
        return NULL;
    const oltr_policy *policy = oltr_model_policy(t.model);
    uint32_t n = oltr_hyper_count(policy);
    oltr_hyper *h = malloc((n + (size_t)1) * sizeof *h);
    bool good = h != NULL;
    for (uint32_t i = 0; good && i < n; i++)
        good = oltr_hyper_at(policy, i, &h[i]) == OLTR_OK;
    turn_end(&t);
    PyObject *result = good ? PyDict_New() : PyErr_NoMemory();
    for (uint32_t i = 0; result && i < n; i++)
        if (put_column(result, h[i].name, hyper_dict(&h[i])) < 0)
            Py_CLEAR(result);
    free(h);
    return result;
}

/* ---- names */

PyObject *model_names_call(PyObject *self, PyObject *unused)
{
    model_object *o = (model_object *)self;
    turn t;
    name_copy names;
    (void)unused;
    if (turn_begin(&t, o, TURN_READ, model_is_large(o), NULL) < 0)
        return NULL;
    bool good = name_copy_take(t.model, NULL, oltr_model_items(t.model), &names);
    turn_end(&t);
    PyObject *tuple = good ? name_copy_tuple(&names) : PyErr_NoMemory();
    PyObject *list = tuple ? PySequence_List(tuple) : NULL;
    Py_XDECREF(tuple);
    name_copy_free(&names);
    return list;
}

Py_ssize_t model_length(PyObject *self)
{
    turn t;
    if (turn_begin(&t, (model_object *)self, TURN_READ, false, NULL) < 0)
        return -1;
    uint32_t n = oltr_model_items(t.model);
    turn_end(&t);
    return (Py_ssize_t)n;
}

int model_contains(PyObject *self, PyObject *object)
{
    turn t;
    oltr_name name;
    PyObject *keeps;
    if (!PyUnicode_Check(object) && !PyBytes_Check(object))
        return 0;
    if (name_get(object, "a name", &name, &keeps) < 0) {
        if (!PyErr_ExceptionMatches(core_error)) /* a lone surrogate is in no name */
            return -1;
        PyErr_Clear();
        return 0;
    }
    int found = -1;
    if (turn_begin(&t, (model_object *)self, TURN_READ, false, NULL) == 0) {
        found = oltr_model_find(t.model, name) >= 0;
        turn_end(&t);
    }
    Py_DECREF(keeps);
    return found;
}

PyObject *model_seen_call(PyObject *self, PyObject *id)
{
    turn t;
    oltr_name name;
    PyObject *keeps, *result = NULL;
    if (name_get(id, "id", &name, &keeps) < 0)
        return NULL;
    if (turn_begin(&t, (model_object *)self, TURN_READ, false, NULL) == 0) {
        int seen = oltr_model_seen(t.model, name);
        turn_end(&t);
        result = PyBool_FromLong(seen);
    }
    Py_DECREF(keeps);
    return result;
}

PyObject *model_check_call(PyObject *self, PyObject *unused)
{
    model_object *o = (model_object *)self;
    turn t;
    oltr_error error = {OLTR_OK, ""};
    (void)unused;
    if (turn_begin(&t, o, TURN_READ, model_is_large(o), NULL) < 0)
        return NULL;
    oltr_status status = oltr_model_check(t.model, &error);
    turn_end(&t);
    return status == OLTR_OK ? Py_NewRef(Py_None) : core_raise(status, &error);
}
