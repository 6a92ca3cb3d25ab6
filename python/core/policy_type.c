/* policy_type.c - the Python type Policy: its life, its attributes and the table of its methods. */
#include "python/core/catalogue.h"
#include "python/core/policy_object.h"

#include <string.h>
#include <time.h>

PyTypeObject *policy_type;

/* ---- life */

PyObject *policy_wrap(PyTypeObject *type, oltr_policy *policy, uint64_t seed, uint64_t round)
{
    allocfunc allocate = (allocfunc)(uintptr_t)PyType_GetSlot(type, Py_tp_alloc);
    policy_object *p = (policy_object *)allocate(type, 0); /* filled with zeros */
    if (!p) {
        oltr_policy_free(policy);
        return NULL;
    }
    p->policy = policy;
    p->seed = seed;
    p->round = round;
    p->rng = oltr_rng_make(seed, 0);
    return (PyObject *)p;
}

static void end(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    scratches_drop(as_policy(self));
    oltr_policy_free(as_policy(self)->policy);
    ((freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- scratches */

oltr_scratch *scratch_take(policy_object *p)
{
    oltr_scratch *scratch =
        p->n_scratches ? p->scratch[--p->n_scratches] : oltr_scratch_new(p->policy);
    if (!scratch)
        PyErr_NoMemory();
    return scratch;
}

void scratch_give(policy_object *p, oltr_scratch *scratch)
{
    if (p->n_scratches < SCRATCHES)
        p->scratch[p->n_scratches++] = scratch;
    else
        oltr_scratch_free(scratch);
}

void scratches_drop(policy_object *p)
{
    while (p->n_scratches)
        oltr_scratch_free(p->scratch[--p->n_scratches]);
}

/* ---- how long calls take */

uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A call that was interrupted takes longer than its work, so smaller measurements count at once and
 * larger ones by a quarter. */
void cost_add(call_cost *cost, double units, uint64_t begin)
{
    double now = (double)(clock_ns() - begin) / units;
    cost->unit_ns = now < cost->unit_ns || cost->unit_ns <= 0 ? now : (3 * cost->unit_ns + now) / 4;
}

/* ---- attributes */

static PyObject *get_kind(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(settings_of(as_policy(self))->info->name);
}

static PyObject *get_items(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLong(settings_of(as_policy(self))->n_items);
}

static PyObject *get_dim(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLong(settings_of(as_policy(self))->dim);
}

static PyObject *get_rounds(PyObject *self, void *closure)
{
    policy_object *p = as_policy(self);
    (void)closure;
    if (policy_lock_wait(&p->lock, TO_PEEK) < 0)
        return NULL;
    return PyLong_FromUnsignedLongLong(oltr_policy_rounds(p->policy));
}

static PyObject *get_seed(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(as_policy(self)->seed);
}

static PyObject *get_round(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(as_policy(self)->round);
}

static PyObject *params_of(const oltr_settings *s, bool defaults)
{
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict && i < s->info->n_params; i++) {
        const oltr_param *param = &s->info->params[i];
        if (!defaults && !(s->value[i] < param->initial) && !(s->value[i] > param->initial))
            continue;
        PyObject *value = catalogue_value(param, s->value[i]);
        if (!value || PyDict_SetItemString(dict, param->name, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

/* Of a copy of the settings: Python code that runs meanwhile may resize the policy. */
static PyObject *get_params(PyObject *self, void *closure)
{
    const oltr_settings s = *settings_of(as_policy(self));
    (void)closure;
    return params_of(&s, true);
}

/* Puts a copy of the array into the dict, if there is one. */
static int put_array(PyObject *dict, const char *name, const double *number, uint32_t n)
{
    void *data;
    PyObject *array = core_array_new(CORE_F64, (Py_ssize_t)n, 0, &data);
    if (array)
        memcpy(data, number, n * sizeof *number);
    int code = array ? PyDict_SetItemString(dict, name, array) : -1;
    Py_XDECREF(array);
    return code;
}

/* The pair is copied before Python code runs, which may resize the policy. */
static PyObject *get_prior(PyObject *self, void *closure)
{
    policy_object *p = as_policy(self);
    (void)closure;
    if (policy_lock_wait(&p->lock, TO_PEEK) < 0)
        return NULL;
    const oltr_settings *s = settings_of(p);
    bool beta = s->prior.a != NULL;
    uint32_t n = s->n_items;
    if (!beta && !s->prior.mean)
        Py_RETURN_NONE;
    double *pair = PyMem_Malloc(2 * (size_t)n * sizeof *pair);
    if (!pair)
        return PyErr_NoMemory();
    memcpy(pair, beta ? s->prior.a : s->prior.mean, n * sizeof *pair);
    memcpy(pair + n, beta ? s->prior.b : s->prior.sd, n * sizeof *pair);
    PyObject *dict = PyDict_New();
    if (dict && (put_array(dict, beta ? "a" : "mean", pair, n) < 0 ||
                 put_array(dict, beta ? "b" : "sd", pair + n, n) < 0))
        Py_CLEAR(dict);
    PyMem_Free(pair);
    return dict;
}

/* Appends text, which it takes; NULL on failure. */
static void append(PyObject **whole, PyObject *more)
{
    PyObject *longer = *whole && more ? PyUnicode_Concat(*whole, more) : NULL;
    Py_XDECREF(*whole);
    Py_XDECREF(more);
    *whole = longer;
}

static PyObject *repr(PyObject *self)
{
    policy_object *p = as_policy(self);
    if (policy_lock_wait(&p->lock, TO_PEEK) < 0)
        return NULL;
    const oltr_settings s = *settings_of(p);
    unsigned long long rounds = oltr_policy_rounds(p->policy);
    PyObject *name = PyType_GetName(Py_TYPE(self)), *params = params_of(&s, false), *key, *value;
    PyObject *text = name && params
                         ? PyUnicode_FromFormat("%U('%s', items=%u", name, s.info->name, s.n_items)
                         : NULL;
    if (text && s.dim)
        append(&text, PyUnicode_FromFormat(", dim=%u", s.dim));
    for (Py_ssize_t at = 0; text && PyDict_Next(params, &at, &key, &value);)
        append(&text, PyUnicode_FromFormat(", %U=%R", key, value));
    if (text)
        append(&text, PyUnicode_FromFormat(", seed=%llu, rounds=%llu)", (unsigned long long)p->seed,
                                           rounds));
    Py_XDECREF(name);
    Py_XDECREF(params);
    return text;
}

/* ---- the type */

static const char doc[] =
    "Policy(kind, items, *, dim=0, prior=None, seed=0, **params)\n--\n\nA policy of the engine.";

#define FAST(name) (PyCFunction)(void (*)(void)) policy_##name, METH_FASTCALL | METH_KEYWORDS
#define OF_CLASS(name) FAST(name) | METH_CLASS

static PyMethodDef methods[] = {
    {"rank", FAST(rank),
     "rank($self, k, candidates=None, x=None, seed=None, round=None)\n--\n\n"
     "The k items to show now, best first, as a Ranking.\n\n"
     "candidates: the items to choose from; all of them if None.\n"
     "x: their features, one row of dim numbers for each candidate (float32 without a copy); only\n"
     "for kinds that rank by features, and then required.\n"
     "seed, round: a list depends on what was learned, on the seed and on the number of the "
     "round,\n"
     "and on nothing else.  Rounds are counted from 1 by the policy unless you give a number."},
    {"learn", FAST(learn),
     "learn($self, ranking, clicks, examined=None, candidates=None, x=None, weights=None)\n--\n\n"
     "Learns what the user did with a list.\n\n"
     "ranking: a Ranking, or the items of the list, best first.\n"
     "clicks: a 0 or 1 (or a reward, where the kind takes rewards) of each examined slot, from "
     "the\n"
     "first one on; slots behind the last click that is given were not examined.\n"
     "examined: how many slots were examined, or a 0 or 1 for each click.\n"
     "candidates, x: as in rank(); a Ranking has the features of its items.\n"
     "weights: how many observations each click counts for.\n\n"
     "A list that is refused raises oltr.Error and changes nothing."},
    {"rank_many", FAST(rank_many),
     "rank_many($self, n, k, candidates=None, x=None, seed=None, first_round=None)\n--\n\n"
     "n lists as an (n, k) array of uint32: those that n calls of rank() would give without a\n"
     "learn() in between.  Other threads run meanwhile."},
    {"learn_many", FAST(learn_many),
     "learn_many($self, items, clicks, examined=None, candidates=None, x=None, "
     "weights=None)\n--\n\n"
     "Learns from n lists of k slots, one after the other: items and clicks are (n, k).\n\n"
     "examined: how many slots of each list were examined, (n), or a 0 or 1 for each slot, (n, "
     "k);\n"
     "all of them if None.  weights: (n, k).\n\n"
     "If one list is refused, none is learned: lists are learned by a copy of the policy, so give\n"
     "many lists at once.  Other threads run meanwhile, and may rank by the policy as it was."},
    {"predict", FAST(predict),
     "predict($self, candidates=None, x=None)\n--\n\n"
     "Mean and standard deviation of the belief about each candidate: two arrays of float64."},
    {"propensities", FAST(propensities),
     "propensities($self, k, draws=10000, candidates=None, x=None, seed=None)\n--\n\n"
     "The chance of each candidate to be shown in each slot, (candidates, k), by `draws` lists.\n\n"
     "The same seed gives the same answer; the lists of rank() are not affected."},
    {"merge", policy_merge, METH_O,
     "merge($self, other, /)\n--\n\n"
     "Adds what another policy of the same settings has learned, as if this one had learned from\n"
     "both histories."},
    {"forget", policy_forget, METH_O,
     "forget($self, keep, /)\n--\n\n"
     "Moves the belief towards the prior: every learned sum is multiplied by keep, from 0 to 1."},
    {"check", policy_check, METH_NOARGS,
     "check($self, /)\n--\n\nRaises oltr.Error if the learned state breaks an invariant."},
    {"resize", FAST(resize),
     "resize($self, items, prior=None)\n--\n\n"
     "Changes the number of items.  Items below both numbers keep what was learned.  Where the\n"
     "policy was made with a prior, give that of the new items, in the same form."},
    {"reset", policy_reset, METH_O,
     "reset($self, item, /)\n--\n\nForgets all that was learned about one item; its prior stays."},
    {"hyper", policy_hyper, METH_NOARGS,
     "hyper($self, /)\n--\n\n"
     "What the policy has learned about its prior (kind ts-hyper): a list of dicts with the name,\n"
     "mean and sd of each hyperparameter, its values and their chances.  Empty for other kinds."},
    {"_numbers", policy_numbers, METH_NOARGS,
     "_numbers($self, /)\n--\n\n"
     "The numbers of each item, (items, n): observations, sum of rewards, ...; None for kinds "
     "that\n"
     "learn more than numbers of items."},
    {"save", policy_save, METH_O,
     "save($self, path, /)\n--\n\n"
     "Writes a snapshot, which oltr.load() and oltr_load_file() of C read.  The file appears "
     "under\n"
     "its name only when it is complete and on the disk.  Seed and round are not in it: pickle "
     "has\n"
     "them."},
    {"to_bytes", policy_to_bytes, METH_NOARGS,
     "to_bytes($self, /)\n--\n\nThe snapshot that save() writes, as bytes."},
    {"load", OF_CLASS(load),
     "load($type, path, seed=0, round=None)\n--\n\n"
     "A policy from a file that save() wrote.\n\n"
     "seed, round: those of the next lists; lists are counted on from the number of learned ones\n"
     "if round is None."},
    {"from_bytes", OF_CLASS(from_bytes),
     "from_bytes($type, data, seed=0, round=None)\n--\n\n"
     "A policy from a snapshot that to_bytes() made; the bytes may come from anywhere."},
    {"copy", policy_copy, METH_NOARGS,
     "copy($self, /)\n--\n\n"
     "An independent policy with the same state, seed and round: it goes on to the same bits."},
    {"__copy__", policy_copy, METH_NOARGS, NULL},
    {"__reduce__", policy_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"kind", get_kind, NULL, "The name of the kind, like 'gts'.", NULL},
    {"params", get_params, NULL, "All parameters and their values: a new dict.", NULL},
    {"prior", get_prior, NULL, "The prior that was given: a dict of two arrays; or None.", NULL},
    {"items", get_items, NULL, "The number of items.", NULL},
    {"dim", get_dim, NULL, "The number of features; 0 for kinds without features.", NULL},
    {"rounds", get_rounds, NULL, "How many lists were learned.", NULL},
    {"seed", get_seed, NULL, "The seed of rank() where none is given.", NULL},
    {"round", get_round, NULL, "The number of the last list of rank() and rank_many().", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, CORE_SLOT(doc)},
    {Py_tp_new, CORE_SLOT(policy_new)},
    {Py_tp_dealloc, CORE_SLOT(end)},
    {Py_tp_repr, CORE_SLOT(repr)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "oltr._core.Policy",
    .basicsize = sizeof(policy_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

int add_policy(PyObject *module)
{
    if (policy_lock_init() < 0)
        return -1;
    policy_type = (PyTypeObject *)core_add_type(module, &spec, "Policy");
    return policy_type ? 0 : -1;
}
