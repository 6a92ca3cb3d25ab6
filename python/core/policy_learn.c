/* policy_learn.c - learn(): a list and what the user did with it. */
#include "python/core/policy_object.h"
#include "python/core/ranking_type.h"

enum { A_LIST, A_CLICKS, A_EXAMINED, A_CANDIDATES, A_X, A_WEIGHTS, N_ARGUMENTS };
enum { FEW = 32 }; /* clicks that need no array */

typedef struct learn_call {
    core_array items, clicks, weights, mask;
    request request;
    oltr_ranking list;
    oltr_feedback seen;
    double few[FEW];
} learn_call;

static void free_call(learn_call *call)
{
    core_array_free(&call->items);
    core_array_free(&call->clicks);
    core_array_free(&call->weights);
    core_array_free(&call->mask);
    request_free(&call->request);
}

/* ---- arguments */

/* Member by member: clearing all of it takes as long as a tenth of a round. */
static void clear_call(learn_call *call)
{
    core_array_clear(&call->items);
    core_array_clear(&call->clicks);
    core_array_clear(&call->weights);
    core_array_clear(&call->mask);
    core_array_clear(&call->request.candidates);
    core_array_clear(&call->request.x);
    call->list = (oltr_ranking){0};
    call->seen = (oltr_feedback){0};
}

/* The items of a Ranking are used in place: it is immutable, and the caller holds it. */
static int get_list(PyObject *object, learn_call *call)
{
    if (is_ranking(object)) {
        ranking_object *r = (ranking_object *)object;
        call->list.k = r->k;
        call->list.item = ranking_items(r);
        return 0;
    }
    if (core_array_get(object, CORE_U32, 1, "items", &call->items) < 0)
        return -1;
    if (call->items.n > UINT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "the list has too many items");
        return -1;
    }
    call->list.k = (uint32_t)call->items.n;
    call->list.item = (uint32_t *)(uintptr_t)call->items.data; /* learning only reads it */
    return 0;
}

/* A ranking whose request had features is learned with the rows that it has kept. */
static int get_request(const policy_object *p, PyObject *const *value, learn_call *call)
{
    if (request_get(&call->request, p, value[A_CANDIDATES], value[A_X]) < 0)
        return -1;
    if (value[A_X] || value[A_CANDIDATES] || !is_ranking(value[A_LIST]))
        return 0;
    ranking_object *r = (ranking_object *)value[A_LIST];
    if (r->dim) {
        call->request.query = (oltr_query){
            .n_items = r->k, .item = ranking_items(r), .dim = r->dim, .x = ranking_x(r)};
        call->request.given = &call->request.query;
    }
    return 0;
}

static int get_clicks(PyObject *clicks, learn_call *call)
{
    Py_ssize_t n = core_few_numbers(clicks, call->few, FEW);
    call->seen.reward = call->few;
    if (n < 0) {
        if (core_array_get(clicks, CORE_F64, 1, "clicks", &call->clicks) < 0)
            return -1;
        n = call->clicks.n;
        call->seen.reward = call->clicks.data;
    }
    call->seen.n_examined = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
    return 0;
}

/* A number, also of numpy, or an array with one entry for each click. */
static bool is_depth(PyObject *examined)
{
    bool depth = PyLong_Check(examined) || PyObject_Size(examined) < 0;
    if (depth && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Clear();
    return depth;
}

static int get_examined(PyObject *examined, learn_call *call)
{
    uint64_t depth;
    uint32_t given = call->seen.n_examined;
    bool number = is_depth(examined);
    if (PyErr_Occurred())
        return -1;
    if (number) {
        if (core_whole(examined, "examined", UINT32_MAX, &depth) < 0)
            return -1;
        if (depth > given)
            core_refuse(OLTR_EEXAMINED,
                        "examined is %u, but there are clicks of %u slots only: give one for each "
                        "examined slot",
                        (uint32_t)depth, given);
        call->seen.n_examined = (uint32_t)depth;
        return depth > given ? -1 : 0;
    }
    if (core_array_get(examined, CORE_U8, 1, "examined", &call->mask) < 0)
        return -1;
    call->seen.examined = call->mask.data;
    if (call->mask.n == (Py_ssize_t)given)
        return 0;
    core_refuse(OLTR_EEXAMINED, "the mask examined has %zd entries for %u clicks", call->mask.n,
                given);
    return -1;
}

static int get_weights(PyObject *weights, learn_call *call, Py_ssize_t given)
{
    if (core_array_get(weights, CORE_F64, 1, "weights", &call->weights) < 0)
        return -1;
    call->seen.weight = call->weights.data;
    if (call->weights.n == given)
        return 0;
    core_refuse(OLTR_EREWARD, "there are %zd weights for %zd clicks", call->weights.n, given);
    return -1;
}

static int get_call(const policy_object *p, PyObject *const *value, learn_call *call)
{
    clear_call(call);
    if (get_list(value[A_LIST], call) < 0 || get_clicks(value[A_CLICKS], call) < 0)
        return -1;
    uint32_t given = call->seen.n_examined;
    if (given > call->list.k) {
        core_refuse(OLTR_EEXAMINED, "there are clicks of %u slots, and the list has %u", given,
                    call->list.k);
        return -1;
    }
    if ((value[A_EXAMINED] && get_examined(value[A_EXAMINED], call) < 0) ||
        (value[A_WEIGHTS] && get_weights(value[A_WEIGHTS], call, (Py_ssize_t)given) < 0))
        return -1;
    return get_request(p, value, call);
}

/* ---- learning */

/* Work of a lesson: some for each slot, and with features a change of the factor. */
static double learn_units(const policy_object *p, const learn_call *call)
{
    double dim = settings_of(p)->dim;
    return (call->seen.n_examined + 1) * (8 + dim * dim);
}

static int explain(policy_object *p, const learn_call *call, oltr_status status)
{
    oltr_error error;
    oltr_status again =
        oltr_explain_learn(p->policy, call->request.given, &call->list, &call->seen, &error);
    core_raise(status, again == status ? &error : NULL);
    return -1;
}

/* Copies what the engine checks and then relies on. */
static int own_arrays(learn_call *call)
{
    if ((call->items.data && core_array_own(&call->items, CORE_U32) < 0) ||
        (call->clicks.data && core_array_own(&call->clicks, CORE_F64) < 0) ||
        (call->weights.data && core_array_own(&call->weights, CORE_F64) < 0) ||
        (call->mask.data && core_array_own(&call->mask, CORE_U8) < 0))
        return -1;
    if (call->items.data)
        call->list.item = call->items.copy;
    if (call->clicks.data)
        call->seen.reward = call->clicks.data;
    call->seen.weight = call->weights.data;
    call->seen.examined = call->mask.data;
    return call->request.candidates.data || call->request.x.data ? request_own(&call->request, true)
                                                                 : 0;
}

static oltr_status learn_long(policy_object *p, const learn_call *call, double units)
{
    p->lock.writing = true;
    PyThreadState *state = PyEval_SaveThread();
    uint64_t begin = clock_ns();
    oltr_status status = oltr_learn(p->policy, call->request.given, &call->list, &call->seen);
    PyEval_RestoreThread(state);
    p->lock.writing = false;
    policy_lock_wake();
    cost_add(&p->learn_cost, units, begin);
    return status;
}

static oltr_status learn_short(policy_object *p, const learn_call *call, double units)
{
    if (!is_measured(&p->learn_cost))
        return oltr_learn(p->policy, call->request.given, &call->list, &call->seen);
    uint64_t begin = clock_ns();
    oltr_status status = oltr_learn(p->policy, call->request.given, &call->list, &call->seen);
    cost_add(&p->learn_cost, units, begin);
    return status;
}

static int learn_converted(policy_object *p, learn_call *call)
{
    double units = learn_units(p, call);
    bool keep_gil = is_short(&p->learn_cost, units);
    if ((!keep_gil && own_arrays(call) < 0) || policy_lock_wait(&p->lock, TO_CHANGE) < 0)
        return -1;
    oltr_status status = keep_gil ? learn_short(p, call, units) : learn_long(p, call, units);
    return status == OLTR_OK ? 0 : explain(p, call, status);
}

PyObject *policy_learn(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *keywords)
{
    static const char *const names[] = {"ranking", "clicks",  "examined", "candidates",
                                        "x",       "weights", NULL};
    PyObject *value[N_ARGUMENTS];
    learn_call call;
    if (core_arguments("learn", names, 2, arguments, n, keywords, value) < 0)
        return NULL;
    int code = get_call(as_policy(self), value, &call);
    if (code == 0)
        code = learn_converted(as_policy(self), &call);
    free_call(&call);
    return code == 0 ? Py_NewRef(Py_None) : NULL;
}
