/* policy_lessons.c - learn_many(): many lists and their clicks, without the GIL.
 *
 * The lists are learned by a copy, which takes the place of the policy when all were learned: one
 * that is refused, or Ctrl-C, leaves the policy as it was.  The work is done in parts, as that of
 * rank_many(). */
#include "python/core/policy_object.h"

/* ---- arguments */

enum { A_ITEMS, A_CLICKS, A_EXAMINED, A_CANDIDATES, A_X, A_WEIGHTS, N_ARGUMENTS };

typedef struct lessons_call {
    core_array items, clicks, depths, mask, weights;
    request request;
    oltr_lessons lessons;
} lessons_call;

static void free_lessons(lessons_call *call)
{
    core_array_free(&call->items);
    core_array_free(&call->clicks);
    core_array_free(&call->depths);
    core_array_free(&call->mask);
    core_array_free(&call->weights);
    request_free(&call->request);
}

/* An array of the shape of items, as a copy. */
static int get_table(PyObject *object, core_element element, const char *what,
                     const lessons_call *call, core_array *out)
{
    if (core_array_get(object, element, 2, what, out) < 0)
        return -1;
    if (out->n != call->items.n || out->columns != call->items.columns) {
        PyErr_Format(PyExc_ValueError, "%s is (%zd, %zd), and items is (%zd, %zd)", what, out->n,
                     out->columns, call->items.n, call->items.columns);
        return -1;
    }
    return core_array_own(out, element);
}

/* The number of dimensions of an array or a list of lists; -1 with an exception. */
static int dimensions_of(PyObject *object)
{
    PyObject *first;
    if (PyObject_CheckBuffer(object)) {
        Py_buffer view;
        if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES) < 0)
            return -1;
        int n = view.ndim;
        PyBuffer_Release(&view);
        return n;
    }
    if (PyObject_HasAttrString(object, "shape")) {
        PyObject *shape = PyObject_GetAttrString(object, "shape");
        Py_ssize_t n = shape ? PyObject_Size(shape) : -1;
        Py_XDECREF(shape);
        return n < 0 ? -1 : n == 2 ? 2 : 1;
    }
    Py_ssize_t n = PyObject_Size(object);
    if (n <= 0)
        return n < 0 ? -1 : 1;
    first = PySequence_GetItem(object, 0);
    if (!first)
        return -1;
    bool row = !PyUnicode_Check(first) && PySequence_Check(first);
    Py_DECREF(first);
    return row ? 2 : 1;
}

static int get_examined(PyObject *examined, lessons_call *call)
{
    int dimensions = dimensions_of(examined);
    if (dimensions < 0)
        return -1;
    if (dimensions == 2) {
        if (get_table(examined, CORE_U8, "examined", call, &call->mask) < 0)
            return -1;
        call->lessons.examined = call->mask.data;
        return 0;
    }
    if (core_array_get(examined, CORE_U32, 1, "examined", &call->depths) < 0)
        return -1;
    if (call->depths.n != call->items.n) {
        PyErr_Format(PyExc_ValueError, "examined has %zd entries for %zd lists", call->depths.n,
                     call->items.n);
        return -1;
    }
    if (core_array_own(&call->depths, CORE_U32) < 0)
        return -1;
    call->lessons.n_examined = call->depths.data;
    return 0;
}

static int get_lists(PyObject *const *value, lessons_call *call)
{
    if (core_array_get(value[A_ITEMS], CORE_U32, 2, "items", &call->items) < 0)
        return -1;
    if (call->items.n > UINT32_MAX || call->items.columns > UINT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "items has too many rows or columns");
        return -1;
    }
    call->lessons.n = (uint32_t)call->items.n;
    call->lessons.k = (uint32_t)call->items.columns;
    return core_array_own(&call->items, CORE_U32);
}

static int get_lessons(const policy_object *p, PyObject *const *value, lessons_call *call)
{
    if (get_lists(value, call) < 0 ||
        get_table(value[A_CLICKS], CORE_F64, "clicks", call, &call->clicks) < 0 ||
        (value[A_EXAMINED] && get_examined(value[A_EXAMINED], call) < 0) ||
        (value[A_WEIGHTS] &&
         get_table(value[A_WEIGHTS], CORE_F64, "weights", call, &call->weights) < 0) ||
        request_get(&call->request, p, value[A_CANDIDATES], value[A_X]) < 0)
        return -1;
    call->lessons.item = call->items.data;
    call->lessons.reward = call->clicks.data;
    call->lessons.weight = call->weights.data;
    return request_own(&call->request, true);
}

/* ---- learning in parts */

/* The lessons from `from` on, at most n. */
static oltr_lessons some_lessons(const oltr_lessons *all, uint32_t from, uint32_t n)
{
    size_t at = (size_t)from * all->k;
    return (oltr_lessons){
        .n = n,
        .k = all->k,
        .item = all->item + at,
        .n_examined = all->n_examined ? all->n_examined + from : NULL,
        .reward = all->reward + at,
        .examined = all->examined ? all->examined + at : NULL,
        .weight = all->weight ? all->weight + at : NULL,
    };
}

/* Learns from lesson *done on, until the time of a part is over.  Without the GIL. */
static oltr_status learn_part(oltr_policy *policy, const lessons_call *call, uint32_t *done)
{
    uint64_t begin = clock_ns();
    oltr_status status;
    uint32_t some = 16, learned;
    do {
        uint32_t left = call->lessons.n - *done;
        oltr_lessons part = some_lessons(&call->lessons, *done, left < some ? left : some);
        status = oltr_learn_many(policy, call->request.given, &part, &learned);
        *done += learned;
        if (some < UINT32_MAX / 2 && clock_ns() - begin < PART_NS / 4)
            some *= 2;
    } while (status == OLTR_OK && *done < call->lessons.n && clock_ns() - begin < PART_NS);
    return status;
}

/* The sentence for lesson `at`, which was refused by the copy that has learned those before it. */
static void explain_lesson(const oltr_policy *copy, const lessons_call *call, uint32_t at,
                           oltr_status status)
{
    oltr_error error;
    oltr_lessons one = some_lessons(&call->lessons, at < call->lessons.n ? at : 0, 1);
    oltr_ranking list = {.k = one.k, .item = (uint32_t *)(uintptr_t)one.item};
    oltr_feedback seen = {.n_examined = one.n_examined && call->lessons.n ? *one.n_examined : one.k,
                          .reward = one.reward,
                          .examined = one.examined,
                          .weight = one.weight};
    oltr_status again = oltr_explain_learn(copy, call->request.given, &list, &seen, &error);
    core_refuse(status, "list %u: %.230s", at, again == status ? error.msg : oltr_strerror(status));
}

/* Learns all lessons by the copy.  The policy is reserved meanwhile. */
static int learn_by(oltr_policy *copy, const lessons_call *call)
{
    uint32_t done = 0;
    oltr_status status;
    do {
        PyThreadState *state = PyEval_SaveThread();
        status = learn_part(copy, call, &done);
        PyEval_RestoreThread(state);
        if (status != OLTR_OK) {
            explain_lesson(copy, call, done, status);
            return -1;
        }
        if (done < call->lessons.n && PyErr_CheckSignals() < 0)
            return -1;
    } while (done < call->lessons.n);
    return 0;
}

static int learn_and_replace(policy_object *p, const lessons_call *call)
{
    oltr_error error;
    oltr_policy *copy = oltr_policy_copy(p->policy, NULL, &error), *old = p->policy;
    if (!copy) {
        core_raise(error.code, &error);
        return -1;
    }
    int code = learn_by(copy, call);
    if (code == 0)
        code = policy_lock_wait(&p->lock, TO_REPLACE);
    if (code == 0)
        p->policy = copy;
    oltr_policy_free(code == 0 ? old : copy);
    return code;
}

static int learn_all(policy_object *p, const lessons_call *call)
{
    if (policy_lock_wait(&p->lock, TO_RESERVE) < 0)
        return -1;
    p->lock.reserved = true;
    p->lock.owner = PyThread_get_thread_ident();
    int code = learn_and_replace(p, call);
    p->lock.reserved = false;
    policy_lock_wake();
    return code;
}

/* ---- the call */

PyObject *policy_learn_many(PyObject *self, PyObject *const *arguments, Py_ssize_t n,
                            PyObject *keywords)
{
    static const char *const names[] = {"items", "clicks",  "examined", "candidates",
                                        "x",     "weights", NULL};
    PyObject *value[N_ARGUMENTS];
    lessons_call call = {0};
    if (core_arguments("learn_many", names, 2, arguments, n, keywords, value) < 0)
        return NULL;
    int code = get_lessons(as_policy(self), value, &call);
    if (code == 0 && call.lessons.n > 0)
        code = learn_all(as_policy(self), &call);
    free_lessons(&call);
    return code == 0 ? Py_NewRef(Py_None) : NULL;
}
