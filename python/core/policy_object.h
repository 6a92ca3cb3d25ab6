/* policy_object.h - the Python type Policy and what its files share.
 *
 *   policy_type.c     the type, its attributes, the table of methods
 *   policy_new.c      Policy(kind, items, ...): parameters and priors
 *   policy_request.c  candidates and features of a request
 *   policy_rank.c     rank, predict
 *   policy_learn.c    learn
 *   policy_draws.c    rank_many, propensities
 *   policy_lessons.c  learn_many
 *   policy_state.c    merge, forget, check, resize, reset, hyper
 *   policy_bytes.c    snapshots, files, copies, pickle
 *   policy_lock.h     threads
 */
#ifndef OLTR_PYTHON_POLICY_OBJECT_H
#define OLTR_PYTHON_POLICY_OBJECT_H

#include "python/core/policy_lock.h"

/* Rounds are numbered below 2^48 (oltr_rng_at). */
#define MOST_ROUND (((uint64_t)1 << 48) - 1)

/* How long the calls of one kind take, measured now and then: a call releases the GIL when it is
 * expected to take tens of microseconds.  Releasing it for less makes two threads slower. */
typedef struct call_cost {
    double unit_ns; /* nanoseconds of a unit of work */
    uint32_t calls;
} call_cost;

enum { SCRATCHES = 8 }; /* that a policy keeps */

typedef struct policy_object {
    PyObject_HEAD oltr_policy *policy;
    uint64_t seed, round; /* round: of the last list */
    oltr_rng rng;         /* of the seed */
    policy_lock lock;
    call_cost rank_cost, learn_cost, predict_cost;
    uint32_t n_scratches;
    oltr_scratch *scratch[SCRATCHES];
} policy_object;

extern PyTypeObject *policy_type;

static inline policy_object *as_policy(PyObject *object)
{
    return (policy_object *)object;
}

static inline const oltr_settings *settings_of(const policy_object *p)
{
    return oltr_policy_settings(p->policy);
}

/* A Policy of this type (policy_type or a subclass) around a policy, which it owns from then on,
 * also when it fails. */
PyObject *policy_wrap(PyTypeObject *type, oltr_policy *policy, uint64_t seed, uint64_t round);

/* ---- scratches, under the GIL */

/* NULL with an exception. */
oltr_scratch *scratch_take(policy_object *p);
void scratch_give(policy_object *p, oltr_scratch *scratch);
/* After a change of size. */
void scratches_drop(policy_object *p);

/* ---- long and short calls */

/* Whether a call of so many units keeps the GIL. */
static inline bool is_short(const call_cost *cost, double units)
{
    return cost->unit_ns * units < 50e3;
}

/* Whether this call should be measured: the first four, then each 64th. */
static inline bool is_measured(call_cost *cost)
{
    uint32_t n = cost->calls++;
    return n < 4 || n % 64 == 0;
}

/* A batch works for so long without the GIL, then lets signal handlers run. */
enum { PART_NS = 50000000 };

uint64_t clock_ns(void);
void cost_add(call_cost *cost, double units, uint64_t begin);

/* ---- requests (policy_request.c) */

/* The candidates and features of a call, as arrays and as the engine's query. */
typedef struct request {
    core_array candidates, x;
    oltr_query query;
    const oltr_query *given; /* &query, or NULL: all items, without features */
    bool n_given;            /* the number of candidates follows from an array */
} request;

/* Converts the arrays; both objects may be NULL.  May run Python code.  Features are refused for a
 * kind that would not read them. */
int request_get(request *r, const policy_object *p, PyObject *candidates, PyObject *x);
void request_free(request *r);
/* Copies for a call that releases the GIL: what is checked must not change.  all: the features too.
 */
int request_own(request *r, bool all);
uint32_t request_n(const request *r, const policy_object *p);
/* Copies the feature rows of shown items, (k, dim). */
int request_rows(const request *r, const policy_object *p, const uint32_t *item, uint32_t k,
                 float *rows);

/* ---- priors (policy_new.c) */

/* A prior that was passed in: two arrays of n doubles. */
typedef struct given_prior {
    double *first, *second;
    oltr_prior prior;
    char take[16]; /* of {"take": "mean"}; or empty */
} given_prior;

/* From (mean, sd), {"mean":, "sd":} or {"a":, "b":}, each a number or n numbers. */
int given_prior_get(PyObject *object, uint32_t n, given_prior *out);
void given_prior_free(given_prior *prior);

/* ---- the parts of the type */

PyObject *policy_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords);

#define POLICY_METHODS(X)                                                                          \
    X(rank) X(learn) X(rank_many) X(learn_many) X(predict) X(propensities) X(resize)
#define DECLARE_METHOD(name)                                                                       \
    PyObject *policy_##name(PyObject *self, PyObject *const *arguments, Py_ssize_t n,              \
                            PyObject *keywords);
POLICY_METHODS(DECLARE_METHOD)
#undef DECLARE_METHOD

#define POLICY_SIMPLE_METHODS(X)                                                                   \
    X(merge) X(forget) X(reset) X(check) X(hyper) X(numbers) X(save) X(to_bytes) X(copy) X(reduce)
#define DECLARE_METHOD(name) PyObject *policy_##name(PyObject *self, PyObject *argument);
POLICY_SIMPLE_METHODS(DECLARE_METHOD)
#undef DECLARE_METHOD

PyObject *policy_load(PyObject *type, PyObject *const *arguments, Py_ssize_t n, PyObject *keywords);
PyObject *policy_from_bytes(PyObject *type, PyObject *const *arguments, Py_ssize_t n,
                            PyObject *keywords);

int add_policy(PyObject *module);

#endif
