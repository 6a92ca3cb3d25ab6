/* python_world.c - the operations of a world and of its users (oltr/world_ops.h) by calls into
 * Python.
 *
 * draw(rng) returns the attractions, or a dict with `attraction` and, where they exist, `features`
 * and `prior`; the other keys of the dict are the world's own.  That object is the truth of the
 * replication: it is kept with the thread that plays it and passed to the other methods.
 * advance(t, truth, rng) returns the next truth, or None where nothing has changed. */
#include "python/core/python_world.h"
#include "python/core/rng_type.h"

#include <oltr/world_ops.h>

#include <math.h>
#include <string.h>

/* ---- the truth */

/* The parts of what draw() or advance() returned, converted; none is kept. */
typedef struct truth_parts {
    core_array attraction, features, first, second;
    bool moments; /* first and second are mean and deviation, not the shapes of a Beta */
} truth_parts;

static void parts_free(truth_parts *p)
{
    core_array_free(&p->attraction);
    core_array_free(&p->features);
    core_array_free(&p->first);
    core_array_free(&p->second);
}

/* An entry of the dict, a new reference: converting another one may run Python code that changes
 * the dict.  NULL: missing or None. */
static PyObject *entry(PyObject *truth, const char *key)
{
    PyObject *found = PyDict_Check(truth) ? PyDict_GetItemString(truth, key) : NULL;
    return found && !Py_IsNone(found) ? Py_NewRef(found) : NULL;
}

static int get_prior(PyObject *prior, truth_parts *p)
{
    p->moments = PyTuple_Check(prior) && PyTuple_Size(prior) == 2;
    PyObject *first = p->moments ? Py_NewRef(PyTuple_GetItem(prior, 0)) : entry(prior, "a");
    PyObject *second = p->moments ? Py_NewRef(PyTuple_GetItem(prior, 1)) : entry(prior, "b");
    int code = -1;
    if (!first || !second)
        PyErr_SetString(
            PyExc_ValueError,
            "the prior of a world is {\"a\": [..], \"b\": [..]} or (means, deviations)");
    else if (core_array_get(first, CORE_F64, 1, p->moments ? "prior mean" : "prior a", &p->first) ==
             0)
        code = core_array_get(second, CORE_F64, 1, p->moments ? "prior sd" : "prior b", &p->second);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return code;
}

static int get_parts(PyObject *truth, truth_parts *p)
{
    PyObject *attraction = PyDict_Check(truth) ? entry(truth, "attraction") : Py_NewRef(truth);
    PyObject *features = entry(truth, "features"), *prior = entry(truth, "prior");
    int code = -1;
    if (!attraction)
        PyErr_SetString(PyExc_ValueError, "a world must return its attractions: a list, or a dict "
                                          "with the key \"attraction\"");
    else if (core_array_get(attraction, CORE_F64, 1, "attraction", &p->attraction) == 0 &&
             (!features || core_array_get(features, CORE_F32, 2, "features", &p->features) == 0))
        code = prior ? get_prior(prior, p) : 0;
    Py_XDECREF(attraction);
    Py_XDECREF(features);
    Py_XDECREF(prior);
    return code;
}

static double number_at(const core_array *array, Py_ssize_t i)
{
    return ((const double *)array->data)[i * array->stride];
}

static int check_attraction(const python_world *w, const core_array *attraction)
{
    if (attraction->n < 1 || attraction->n > (Py_ssize_t)w->n_items) {
        PyErr_Format(PyExc_ValueError, "a world of %u items returned %zd attractions",
                     (unsigned)w->n_items, attraction->n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < attraction->n; i++) {
        double value = number_at(attraction, i);
        if (isfinite(value) && (w->reals || (value >= 0 && value <= 1)))
            continue;
        PyObject *number = PyFloat_FromDouble(value);
        if (number)
            PyErr_Format(PyExc_ValueError, "the attraction of item %zd is %R; it must be %s", i,
                         number, w->reals ? "a finite number" : "from 0 to 1");
        Py_XDECREF(number);
        return -1;
    }
    return 0;
}

/* features_due: they are needed, because there were none yet or for another number of items. */
static int check_rows(const python_world *w, const truth_parts *p, bool features_due)
{
    Py_ssize_t n = p->attraction.n;
    if (w->dim > 0 && !p->features.data && features_due) {
        PyErr_Format(PyExc_ValueError,
                     "a world with dim %u must return \"features\", a row for each item",
                     (unsigned)w->dim);
        return -1;
    }
    if (p->features.data && (p->features.n != n || p->features.columns != (Py_ssize_t)w->dim)) {
        PyErr_Format(PyExc_ValueError,
                     "features are %zd x %zd numbers; %zd items of dim %u need "
                     "%zd x %u",
                     p->features.n, p->features.columns, n, (unsigned)w->dim, n, (unsigned)w->dim);
        return -1;
    }
    if (p->first.data && (p->first.n != n || p->second.n != n)) {
        PyErr_Format(PyExc_ValueError, "a prior has %zd and %zd numbers, and there are %zd items",
                     p->first.n, p->second.n, n);
        return -1;
    }
    return 0;
}

static void copy_features(const core_array *from, oltr_instance *out)
{
    const float *row = from->data;
    for (Py_ssize_t i = 0; i < from->n; i++, row += from->stride)
        memcpy(out->drawn + (size_t)i * out->dim, row, out->dim * sizeof *row);
}

static void copy_prior(const truth_parts *p, oltr_instance *out)
{
    double *first = p->moments ? out->mean : out->a, *second = p->moments ? out->sd : out->b;
    out->tells = p->first.data && !p->moments;
    out->tells_moments = p->first.data && p->moments;
    for (Py_ssize_t i = 0; i < p->first.n; i++) {
        first[i] = number_at(&p->first, i);
        second[i] = number_at(&p->second, i);
    }
}

/* From what Python returned into the instance; nothing is changed where it is refused. */
static int take_truth(const python_world *w, PyObject *truth, bool drawn, oltr_instance *out)
{
    truth_parts p = {.moments = false};
    int code = get_parts(truth, &p);
    if (code == 0)
        code = check_attraction(w, &p.attraction);
    if (code == 0)
        code = check_rows(w, &p, drawn || p.attraction.n != (Py_ssize_t)out->n_items);
    if (code == 0) {
        out->n_items = (uint32_t)p.attraction.n;
        for (uint32_t i = 0; i < out->n_items; i++)
            out->attraction[i] = number_at(&p.attraction, i);
        if (p.features.data)
            copy_features(&p.features, out);
        if (drawn)
            copy_prior(&p, out);
        out->x = w->dim > 0 ? out->drawn : NULL;
    }
    parts_free(&p);
    return code;
}

/* ---- the world */

static const python_world *own_of(const oltr_world *world)
{
    return world->custom;
}

static oltr_status draw(const oltr_world *world, uint64_t seed, uint64_t replication,
                        oltr_instance *out, oltr_error *error)
{
    const python_world *w = own_of(world);
    oltr_rng rng = oltr_rng_at(oltr_rng_make(seed, replication), OLTR_STREAM_INSTANCE, 0);
    oltr_status status = OLTR_OK;
    (void)error;
    bridge_enter();
    PyObject *own = (PyObject *)rng_new(rng);
    PyObject *truth = own ? PyObject_CallFunctionObjArgs(w->draw, own, NULL) : NULL;
    Py_XDECREF(own);
    if (!truth || take_truth(w, truth, true, out) < 0) {
        status = bridge_failed(w->bridge, "draw() of the world", &rng, 0);
        Py_CLEAR(truth);
    }
    bridge_set_truth(truth);
    bridge_leave();
    return status;
}

static int moves(const oltr_world *world)
{
    return own_of(world)->advance != NULL;
}

static PyObject *call_advance(const python_world *w, uint64_t round, oltr_rng rng)
{
    PyObject *t = PyLong_FromUnsignedLongLong(round), *own = (PyObject *)rng_new(rng);
    PyObject *truth = NULL;
    if (t && own)
        truth = PyObject_CallFunctionObjArgs(w->advance, t, bridge_truth(), own, NULL);
    Py_XDECREF(t);
    Py_XDECREF(own);
    return truth;
}

static oltr_status advance(const oltr_world *world, uint64_t seed, uint64_t replication,
                           uint64_t round, oltr_instance *instance, oltr_error *error)
{
    const python_world *w = own_of(world);
    oltr_rng rng = oltr_rng_at(oltr_rng_make(seed, replication), OLTR_STREAM_CONTEXTS, round);
    oltr_status status = OLTR_OK;
    (void)error;
    bridge_enter();
    PyObject *truth = call_advance(w, round, rng);
    bool unchanged = truth && Py_IsNone(truth);
    if (!truth || (!unchanged && take_truth(w, truth, false, instance) < 0)) {
        status = bridge_failed(w->bridge, "advance() of the world", &rng, round);
        Py_XDECREF(truth);
    } else if (unchanged) {
        Py_DECREF(truth);
    } else {
        bridge_set_truth(truth);
    }
    bridge_leave();
    return status;
}

static oltr_status thread_begin(const oltr_world *world)
{
    return bridge_begin(own_of(world)->bridge);
}

/* Called when an arena is freed: the truth of its last replication goes with it. */
static void thread_end(const oltr_world *world)
{
    bridge_enter();
    bridge_set_truth(NULL);
    bridge_leave();
    bridge_end(own_of(world)->bridge);
}

#define WORLD(name, of_traits)                                                                     \
    static const oltr_world_ops name = {.info = {"python", "a world written in Python"},           \
                                        .draw = draw,                                              \
                                        .moves = moves,                                            \
                                        .advance = advance,                                        \
                                        .thread_begin = thread_begin,                              \
                                        .thread_end = thread_end,                                  \
                                        .size = sizeof(oltr_world_ops),                            \
                                        .traits = of_traits}
WORLD(click_world, 0);
WORLD(real_world, OLTR_WORLD_REALS);

/* ---- its users */

static int check_rewards(const python_world *w, const core_array *rewards, uint32_t k)
{
    if (rewards->n > (Py_ssize_t)k) {
        PyErr_Format(PyExc_ValueError, "scan() returned %zd rewards for a list of %u items",
                     rewards->n, (unsigned)k);
        return -1;
    }
    for (Py_ssize_t i = 0; i < rewards->n; i++) {
        double reward = number_at(rewards, i);
        bool click = fabs(reward) <= 0 || fabs(reward - 1) <= 0;
        if (w->reals ? isfinite(reward) : click)
            continue;
        PyObject *number = PyFloat_FromDouble(reward);
        if (number)
            PyErr_Format(PyExc_ValueError,
                         "scan() returned the reward %R for slot %zd; it must be "
                         "%s",
                         number, i, w->reals ? "finite" : "0 or 1");
        Py_XDECREF(number);
        return -1;
    }
    return 0;
}

static int take_rewards(const python_world *w, PyObject *answer, uint32_t k, double *reward,
                        uint32_t *n)
{
    core_array rewards = {0};
    if (core_array_get(answer, CORE_F64, 1, "what scan() returns", &rewards) < 0)
        return -1;
    int code = check_rewards(w, &rewards, k);
    *n = (uint32_t)rewards.n;
    for (uint32_t i = 0; code == 0 && i < *n; i++)
        reward[i] = number_at(&rewards, i);
    core_array_free(&rewards);
    return code;
}

/* After an exception, more than k: it ends the run. */
static uint32_t scan(const oltr_world *world, const oltr_instance *instance, const oltr_rng *round,
                     const oltr_ranking *shown, double *reward)
{
    const python_world *w = own_of(world);
    uint32_t n = 0;
    (void)instance;
    bridge_enter();
    PyObject *items = core_item_list(shown->item, shown->k), *own = (PyObject *)rng_new(*round);
    PyObject *answer = NULL;
    if (items && own)
        answer = PyObject_CallFunctionObjArgs(w->scan, items, bridge_truth(), own, NULL);
    if (!answer || take_rewards(w, answer, shown->k, reward, &n) < 0) {
        bridge_failed(w->bridge, "scan() of the world", round, 0);
        n = UINT32_MAX;
    }
    Py_XDECREF(items);
    Py_XDECREF(own);
    Py_XDECREF(answer);
    bridge_leave();
    return n;
}

/* The number that a method returns for (first, truth); after an exception NaN, which ends the run.
 * Takes the reference to `first`. */
static double ask(const python_world *w, PyObject *method, PyObject *first, const char *who)
{
    PyObject *answer =
        first ? PyObject_CallFunctionObjArgs(method, first, bridge_truth(), NULL) : NULL;
    double value = answer ? PyFloat_AsDouble(answer) : -1;
    if (answer && !PyErr_Occurred() && !isfinite(value))
        PyErr_Format(PyExc_ValueError, "it returned %R; a finite number is needed", answer);
    if (PyErr_Occurred()) {
        bridge_failed(w->bridge, who, NULL, 0);
        value = NAN;
    }
    Py_XDECREF(first);
    Py_XDECREF(answer);
    return value;
}

static double value(const oltr_world *world, const oltr_instance *instance, const uint32_t *item,
                    uint32_t k)
{
    const python_world *w = own_of(world);
    (void)instance;
    bridge_enter();
    double answer = ask(w, w->value, core_item_list(item, k), "value() of the world");
    bridge_leave();
    return answer;
}

static double best(const oltr_world *world, const oltr_instance *instance, uint32_t k)
{
    const python_world *w = own_of(world);
    (void)instance;
    bridge_enter();
    double answer = ask(w, w->best, PyLong_FromUnsignedLong(k), "best() of the world");
    bridge_leave();
    return answer;
}

static double worst(const oltr_world *world, const oltr_instance *instance, uint32_t k)
{
    const python_world *w = own_of(world);
    (void)instance;
    bridge_enter();
    double answer = ask(w, w->worst, PyLong_FromUnsignedLong(k), "worst() of the world");
    bridge_leave();
    return answer;
}

#define USERS(name, of_rewards, of_worst)                                                          \
    static const oltr_click_ops name = {.info = {"python", "users written in Python"},             \
                                        .rewards = of_rewards,                                     \
                                        .scan = scan,                                              \
                                        .value = value,                                            \
                                        .best = best,                                              \
                                        .worst = of_worst,                                         \
                                        .size = sizeof(oltr_click_ops)}
USERS(clicking, OLTR_CLICKS, NULL);
USERS(clicking_worst, OLTR_CLICKS, worst);
USERS(rewarding, OLTR_REALS, NULL);
USERS(rewarding_worst, OLTR_REALS, worst);

/* The text of the experiment has a built-in world with as many items and features in the place of
 * this one; of it only the parameters of the click model stay. */
void python_world_place(const python_world *own, oltr_world *world)
{
    static const oltr_click_ops *const users[2][2] = {{&clicking, &clicking_worst},
                                                      {&rewarding, &rewarding_worst}};
    world->custom_kind = own->reals ? &real_world : &click_world;
    world->custom_clicks = own->scan ? users[own->reals][own->worst != NULL] : NULL;
    world->custom = own;
    world->custom_bytes = DIGEST_BYTES;
    world->kind_values = NULL;
    world->misspecification = 0;
    world->fresh_contexts = 0;
    world->theta_on_sphere = 0;
    world->scale = 0;
}
