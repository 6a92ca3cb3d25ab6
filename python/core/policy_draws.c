/* policy_draws.c - rank_many() and propensities(): many lists of one request, without the GIL.
 *
 * The work is done in parts of about 50 ms.  Between two parts the GIL is taken and signal handlers
 * run, so that Ctrl-C ends a batch, and the policy is free: a learn() of another thread then comes
 * before the rest of the lists, as it would between two calls of rank(). */
#include "python/core/policy_object.h"

#include <oltr/world_ops.h>

/* ---- lists in parts */

/* n lists of one request.  Those of a part go to item, and then to `count` if it is not NULL. */
typedef struct draw_call {
    request request;
    oltr_rng rng;
    uint32_t stream, n, k;
    uint64_t first_round;
    uint32_t *item; /* (n, k); for propensities (COUNTED, k) */
    double *count;  /* (candidates, k), or NULL */
    uint32_t *row;  /* (items) the place of each candidate, or NULL: its number */
} draw_call;

enum { COUNTED = 64 }; /* lists that are ranked before they are counted */

static void add_counts(const draw_call *call, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t slot = 0; slot < call->k; slot++) {
            uint32_t item = call->item[(size_t)i * call->k + slot];
            uint32_t row = call->row ? call->row[item] : item;
            call->count[(size_t)row * call->k + slot] += 1;
        }
}

/* Ranks from list *done on, until the time of a part is over.  Without the GIL. */
static oltr_status draw_part(const oltr_policy *policy, const draw_call *call,
                             oltr_scratch *scratch, uint32_t *done)
{
    uint64_t begin = clock_ns();
    oltr_status status = OLTR_OK;
    uint32_t some = COUNTED, ranked;
    do {
        uint32_t left = call->n - *done, n = left < some ? left : some;
        uint32_t *item = call->count ? call->item : call->item + (size_t)*done * call->k;
        status =
            oltr_rank_many(policy, call->request.given, call->rng, call->stream,
                           call->first_round + *done, scratch, n, call->k, item, NULL, &ranked);
        if (call->count && status == OLTR_OK)
            add_counts(call, n);
        *done += ranked;
        if (!call->count && some < UINT32_MAX / 2 && clock_ns() - begin < PART_NS / 4)
            some *= 2;
    } while (status == OLTR_OK && *done < call->n && clock_ns() - begin < PART_NS);
    return status;
}

/* Raises the sentence for lists that were refused.  Gives the scratch back before: raising may run
 * Python code, which may resize the policy. */
static int refuse_draw(policy_object *p, const draw_call *call, oltr_scratch *scratch,
                       oltr_status status)
{
    oltr_error error;
    oltr_ranking list = {.k = call->k, .item = call->item};
    oltr_rng rng = oltr_rng_at(call->rng, call->stream, call->first_round);
    oltr_status again =
        oltr_explain_rank(p->policy, call->request.given, rng, scratch, &list, &error);
    scratch_give(p, scratch);
    core_raise(status, again == status ? &error : NULL);
    return -1;
}

/* One part; the scratch is taken each time, because the policy may have been resized. */
static int draw_once(policy_object *p, const draw_call *call, uint32_t *done)
{
    if (policy_lock_wait(&p->lock, TO_READ) < 0)
        return -1;
    oltr_scratch *scratch = scratch_take(p);
    if (!scratch)
        return -1;
    p->lock.readers++;
    PyThreadState *state = PyEval_SaveThread();
    oltr_status status = draw_part(p->policy, call, scratch, done);
    PyEval_RestoreThread(state);
    p->lock.readers--;
    policy_lock_wake();
    if (status != OLTR_OK)
        return refuse_draw(p, call, scratch, status);
    scratch_give(p, scratch);
    return *done < call->n ? PyErr_CheckSignals() : 0;
}

/* An empty batch is checked as well. */
static int draw_all(policy_object *p, const draw_call *call)
{
    uint32_t done = 0;
    int code;
    do
        code = draw_once(p, call, &done);
    while (code == 0 && done < call->n);
    return code;
}

static int refuse_undrawn(policy_object *p, const draw_call *call, oltr_status status)
{
    if (policy_lock_wait(&p->lock, TO_PEEK) < 0)
        return -1;
    oltr_scratch *scratch = scratch_take(p);
    return scratch ? refuse_draw(p, call, scratch, status) : -1;
}

/* Refuses a k that does not fit before an array of it is made. */
static int check_k(policy_object *p, const draw_call *call)
{
    uint32_t item[1], n = request_n(&call->request, p), n_items = settings_of(p)->n_items;
    draw_call one = *call;
    one.item = item;
    if (call->k >= 1 && call->k <= n && n <= n_items)
        return 0;
    return refuse_undrawn(p, &one, n > n_items ? OLTR_EITEM : OLTR_ESLOTS);
}

/* ---- rank_many */

/* The rounds of the lists; *own: they are counted by the policy. */
static int take_rounds(policy_object *p, PyObject *first_round, draw_call *call, bool *own)
{
    uint64_t first = p->round + 1;
    *own = !first_round;
    if (first_round && core_whole(first_round, "first_round", MOST_ROUND, &first) < 0)
        return -1;
    if (call->n && first + call->n - 1 > MOST_ROUND) {
        PyErr_SetString(PyExc_ValueError,
                        "round numbers are below 2^48: take another seed or fewer lists");
        return -1;
    }
    call->first_round = first;
    if (*own)
        p->round += call->n;
    return 0;
}

static int get_rank_many(policy_object *p, PyObject *const *value, draw_call *call)
{
    uint64_t n, k, seed = p->seed;
    if (core_whole(value[0], "n", UINT32_MAX, &n) < 0 ||
        core_whole(value[1], "k", UINT32_MAX, &k) < 0 ||
        (value[4] && core_whole(value[4], "seed", UINT64_MAX, &seed) < 0) ||
        request_get(&call->request, p, value[2], value[3]) < 0 ||
        request_own(&call->request, false) < 0)
        return -1;
    call->n = (uint32_t)n;
    call->k = (uint32_t)k;
    call->stream = OLTR_STREAM_POLICY;
    call->rng = oltr_rng_make(seed, 0);
    return check_k(p, call);
}

PyObject *policy_rank_many(PyObject *self, PyObject *const *arguments, Py_ssize_t n,
                           PyObject *keywords)
{
    static const char *const names[] = {"n", "k", "candidates", "x", "seed", "first_round", NULL};
    policy_object *p = as_policy(self);
    PyObject *value[6], *lists = NULL;
    draw_call call = {0};
    void *data;
    bool own = false;
    if (core_arguments("rank_many", names, 2, arguments, n, keywords, value) < 0)
        return NULL;
    if (get_rank_many(p, value, &call) == 0)
        lists = core_array_new(CORE_U32, (Py_ssize_t)call.n, (Py_ssize_t)call.k, &data);
    if (lists && take_rounds(p, value[5], &call, &own) < 0)
        Py_CLEAR(lists);
    if (lists) {
        uint64_t last = p->round;
        call.item = data;
        if (draw_all(p, &call) < 0) {
            if (own && p->round == last)
                p->round -= call.n;
            Py_CLEAR(lists);
        }
    }
    request_free(&call.request);
    return lists;
}

/* ---- propensities */

/* The lists of propensities() have a generator of their own, so that they are not those of rank().
 */
#define PROPENSITIES_ID 0x70726f70656e7369u

static int get_propensities(policy_object *p, PyObject *const *value, draw_call *call)
{
    uint64_t k, draws = 10000, seed = p->seed;
    if (core_whole(value[0], "k", UINT32_MAX, &k) < 0 ||
        (value[1] && core_whole(value[1], "draws", UINT32_MAX, &draws) < 0) ||
        (value[4] && core_whole(value[4], "seed", UINT64_MAX, &seed) < 0) ||
        request_get(&call->request, p, value[2], value[3]) < 0 ||
        request_own(&call->request, false) < 0)
        return -1;
    if (draws < 1) {
        PyErr_SetString(PyExc_ValueError, "draws must be at least 1");
        return -1;
    }
    call->n = (uint32_t)draws;
    call->k = (uint32_t)k;
    call->first_round = 1;
    call->rng = oltr_rng_fork(oltr_rng_make(seed, 0), PROPENSITIES_ID);
    return check_k(p, call);
}

/* The places of named candidates.  Those out of range are refused here: the engine checks them
 * later, when the policy may have more items than the table of places. */
static int get_places(policy_object *p, draw_call *call)
{
    uint32_t n_items = settings_of(p)->n_items;
    call->item = PyMem_Malloc((size_t)COUNTED * call->k * sizeof *call->item);
    if (call->item && call->request.query.item)
        call->row = PyMem_Calloc(n_items, sizeof *call->row);
    if (!call->item || (call->request.query.item && !call->row)) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t i = 0; call->row && i < call->request.query.n_items; i++) {
        uint32_t item = call->request.query.item[i];
        if (item >= n_items)
            return refuse_undrawn(p, call, OLTR_EITEM);
        call->row[item] = i;
    }
    return 0;
}

/* Python code between two parts may resize the policy; the query keeps its number of candidates, so
 * that items stay below it, or are refused. */
static int count_lists(policy_object *p, draw_call *call, size_t n)
{
    for (size_t i = 0; i < n; i++)
        call->count[i] = 0;
    if (draw_all(p, call) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        call->count[i] /= call->n;
    return 0;
}

static PyObject *chances_of(policy_object *p, draw_call *call)
{
    void *data;
    uint32_t n = request_n(&call->request, p);
    call->request.query.n_items = n;
    call->request.given = &call->request.query;
    if (get_places(p, call) < 0)
        return NULL;
    PyObject *chances = core_array_new(CORE_F64, (Py_ssize_t)n, (Py_ssize_t)call->k, &data);
    if (!chances)
        return NULL;
    call->count = data;
    if (count_lists(p, call, (size_t)n * call->k) < 0)
        Py_CLEAR(chances);
    return chances;
}

PyObject *policy_propensities(PyObject *self, PyObject *const *arguments, Py_ssize_t n,
                              PyObject *keywords)
{
    static const char *const names[] = {"k", "draws", "candidates", "x", "seed", NULL};
    policy_object *p = as_policy(self);
    PyObject *value[5], *chances = NULL;
    draw_call call = {0};
    if (core_arguments("propensities", names, 1, arguments, n, keywords, value) < 0)
        return NULL;
    if (get_propensities(p, value, &call) == 0)
        chances = chances_of(p, &call);
    PyMem_Free(call.item);
    PyMem_Free(call.row);
    request_free(&call.request);
    return chances;
}
