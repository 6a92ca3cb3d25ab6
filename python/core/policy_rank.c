/* policy_rank.c - rank() and predict(): calls that read a policy.
 *
 * A short call keeps the GIL from its last conversion to its end, so that nothing can change
 * meanwhile.  A long one counts itself as a reader and releases the GIL; the indices of candidates
 * are copied before, because the engine relies on them once they were checked.  Features are not
 * copied: the engine computes with whatever numbers it finds. */
#include "python/core/policy_object.h"
#include "python/core/ranking_type.h"

#include <oltr/world_ops.h>

/* Work of a ranking: a draw and a comparison for each candidate, its features, the factor. */
static double rank_units(const policy_object *p, const request *r)
{
    double dim = settings_of(p)->dim;
    return request_n(r, p) * (8 + dim) + dim * dim / 2;
}

/* ---- a long call that reads */

static PyThreadState *begin_reading(policy_object *p)
{
    p->lock.readers++;
    return PyEval_SaveThread();
}

static void end_reading(policy_object *p, PyThreadState *state)
{
    PyEval_RestoreThread(state);
    p->lock.readers--;
    policy_lock_wake();
}

/* ---- rank */

typedef struct rank_call {
    uint64_t k, seed, round;
    bool own_round; /* counted by the policy */
    request request;
} rank_call;

/* Converts the arguments; may run Python code. */
static int get_call(const policy_object *p, PyObject *const *value, rank_call *call)
{
    call->seed = p->seed;
    call->own_round = !value[4];
    if (core_whole(value[0], "k", UINT32_MAX, &call->k) < 0 ||
        (value[3] && core_whole(value[3], "seed", UINT64_MAX, &call->seed) < 0) ||
        (value[4] && core_whole(value[4], "round", MOST_ROUND, &call->round) < 0))
        return -1;
    return request_get(&call->request, p, value[1], value[2]);
}

/* The number of this list; a call that fails gives it back, unless another has taken the next. */
static int take_round(policy_object *p, rank_call *call)
{
    if (!call->own_round)
        return 0;
    if (p->round >= MOST_ROUND) {
        PyErr_SetString(PyExc_ValueError, "this seed has no more rounds: take another seed");
        return -1;
    }
    call->round = ++p->round;
    return 0;
}

static void give_round(policy_object *p, const rank_call *call)
{
    if (call->own_round && p->round == call->round)
        p->round--;
}

static oltr_rng rng_of(const policy_object *p, const rank_call *call)
{
    oltr_rng rng = call->seed == p->seed ? p->rng : oltr_rng_make(call->seed, 0);
    return oltr_rng_at(rng, OLTR_STREAM_POLICY, call->round);
}

/* Raises the sentence for a list that was refused; the arrays may be too short for k, which is
 * checked before they are used.  Gives the scratch back before: raising may run Python code, which
 * may resize the policy. */
static int refuse(policy_object *p, const rank_call *call, oltr_scratch *scratch,
                  oltr_status status, oltr_ranking *list)
{
    oltr_error error;
    oltr_status again =
        oltr_explain_rank(p->policy, call->request.given, rng_of(p, call), scratch, list, &error);
    scratch_give(p, scratch);
    core_raise(status, again == status ? &error : NULL);
    return -1;
}

/* Refuses a k for which no array should be made. */
static int check_k(policy_object *p, rank_call *call)
{
    uint32_t item[1];
    oltr_ranking list = {.k = (uint32_t)call->k, .item = item};
    if (call->k >= 1 && call->k <= request_n(&call->request, p))
        return 0;
    oltr_scratch *scratch = scratch_take(p);
    if (!scratch)
        return -1;
    bool few = request_n(&call->request, p) <= settings_of(p)->n_items;
    return refuse(p, call, scratch, few ? OLTR_ESLOTS : OLTR_EITEM, &list);
}

static oltr_status rank_timed(policy_object *p, const rank_call *call, oltr_scratch *scratch,
                              oltr_ranking *list, double units)
{
    uint64_t begin = clock_ns();
    oltr_status status = oltr_rank(p->policy, call->request.given, rng_of(p, call), scratch, list);
    cost_add(&p->rank_cost, units, begin);
    return status;
}

static oltr_status rank_long(policy_object *p, const rank_call *call, oltr_scratch *scratch,
                             oltr_ranking *list, double units)
{
    oltr_rng rng = rng_of(p, call);
    PyThreadState *state = begin_reading(p);
    uint64_t begin = clock_ns();
    oltr_status status = oltr_rank(p->policy, call->request.given, rng, scratch, list);
    end_reading(p, state);
    cost_add(&p->rank_cost, units, begin);
    return status;
}

static int rank_into(policy_object *p, rank_call *call, bool keep_gil, ranking_object *made)
{
    oltr_ranking list = {.k = made->k, .item = ranking_items(made), .score = made->score};
    double units = rank_units(p, &call->request);
    oltr_scratch *scratch = scratch_take(p);
    if (!scratch)
        return -1;
    oltr_status status;
    if (!keep_gil)
        status = rank_long(p, call, scratch, &list, units);
    else if (is_measured(&p->rank_cost))
        status = rank_timed(p, call, scratch, &list, units);
    else
        status = oltr_rank(p->policy, call->request.given, rng_of(p, call), scratch, &list);
    if (status != OLTR_OK)
        return refuse(p, call, scratch, status, &list);
    scratch_give(p, scratch);
    return made->dim ? request_rows(&call->request, p, list.item, made->k, ranking_x(made)) : 0;
}

static PyObject *rank_converted(policy_object *p, rank_call *call)
{
    bool keep_gil = is_short(&p->rank_cost, rank_units(p, &call->request));
    if ((!keep_gil && request_own(&call->request, false) < 0) ||
        policy_lock_wait(&p->lock, keep_gil ? TO_PEEK : TO_READ) < 0 || check_k(p, call) < 0 ||
        take_round(p, call) < 0)
        return NULL;
    bool rows = settings_of(p)->info->contextual && call->request.query.x;
    ranking_object *made =
        ranking_new((uint32_t)call->k, rows ? call->request.query.dim : 0, call->seed, call->round);
    if (made && rank_into(p, call, keep_gil, made) == 0)
        return (PyObject *)made;
    give_round(p, call);
    Py_XDECREF((PyObject *)made);
    return NULL;
}

PyObject *policy_rank(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *keywords)
{
    static const char *const names[] = {"k", "candidates", "x", "seed", "round", NULL};
    PyObject *value[5];
    policy_object *p = as_policy(self);
    rank_call call;
    if (core_arguments("rank", names, 1, arguments, n, keywords, value) < 0 ||
        get_call(p, value, &call) < 0)
        return NULL;
    PyObject *ranking = rank_converted(p, &call);
    request_free(&call.request);
    return ranking;
}

/* ---- predict */

/* Predicting and ranking refuse the same queries, but for items that are named twice. */
static PyObject *explain_prediction(policy_object *p, const request *r, oltr_status status)
{
    oltr_error error = {status, ""};
    uint32_t item[1];
    oltr_ranking list = {.k = 1, .item = item};
    oltr_scratch *scratch = scratch_take(p);
    if (!scratch)
        return NULL;
    oltr_status again = oltr_explain_rank(p->policy, r->given, p->rng, scratch, &list, &error);
    scratch_give(p, scratch);
    return core_raise(status, again == status ? &error : NULL);
}

static double predict_units(const policy_object *p, const request *r)
{
    double dim = settings_of(p)->dim;
    return request_n(r, p) * (8 + dim * dim);
}

static oltr_status predict_into(policy_object *p, const request *r, bool keep_gil, double *mean,
                                double *sd)
{
    double units = predict_units(p, r);
    PyThreadState *state = keep_gil ? NULL : begin_reading(p);
    uint64_t begin = clock_ns();
    oltr_status status = oltr_predict(p->policy, r->given, mean, sd);
    if (!keep_gil)
        end_reading(p, state);
    if (units > 0)
        cost_add(&p->predict_cost, units, begin);
    return status;
}

/* The arrays are made before: that runs Python code, which may resize the policy.  So the number of
 * candidates is passed to the engine. */
static PyObject *predict_converted(policy_object *p, request *r)
{
    void *mean, *sd;
    uint32_t n = request_n(r, p);
    PyObject *means = core_array_new(CORE_F64, (Py_ssize_t)n, 0, &mean);
    PyObject *sds = means ? core_array_new(CORE_F64, (Py_ssize_t)n, 0, &sd) : NULL, *both = NULL;
    bool keep_gil = is_short(&p->predict_cost, predict_units(p, r));
    r->query.n_items = n;
    r->given = &r->query;
    if (sds && (keep_gil || request_own(r, false) == 0) &&
        policy_lock_wait(&p->lock, keep_gil ? TO_PEEK : TO_READ) == 0) {
        oltr_status status = predict_into(p, r, keep_gil, mean, sd);
        both = status == OLTR_OK ? PyTuple_Pack(2, means, sds) : explain_prediction(p, r, status);
    }
    Py_XDECREF(means);
    Py_XDECREF(sds);
    return both;
}

PyObject *policy_predict(PyObject *self, PyObject *const *arguments, Py_ssize_t n,
                         PyObject *keywords)
{
    static const char *const names[] = {"candidates", "x", NULL};
    PyObject *value[2];
    request r;
    if (core_arguments("predict", names, 0, arguments, n, keywords, value) < 0 ||
        request_get(&r, as_policy(self), value[0], value[1]) < 0)
        return NULL;
    PyObject *both = predict_converted(as_policy(self), &r);
    request_free(&r);
    return both;
}
