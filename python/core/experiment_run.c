/* experiment_run.c - oltr._core.run: an experiment from its text to its results.
 *
 * Everything that takes long (checking the text, loading data, playing) is done by a thread without
 * the GIL (background.h).  Policies and a world of Python are put beside those of the text: the
 * layer in experiments.py writes a text that has a built-in world of the same size in the place of
 * the one of Python, and where all policies are of Python, a built-in one that is left out here. */
#define _POSIX_C_SOURCE 200809L
#include "python/core/experiment_run.h"
#include "python/core/background.h"
#include "python/core/python_policy.h"
#include "python/core/python_world.h"

#include <stdlib.h>
#include <string.h>

/* ---- the job */

/* A policy of Python, for all points. */
typedef struct own_policy {
    const char *label;
    PyObject *make;
    int takes_prior;
    unsigned feedback;
    const char *digest; /* DIGEST_BYTES */
} own_policy;

typedef struct run_job {
    const char *name, *text;
    Py_ssize_t length;
    oltr_override *overrides; /* (n_overrides) */
    Py_ssize_t n_overrides, n_own_policies;
    own_policy *own_policies;       /* (n_own_policies) */
    python_policy *python_policies; /* (n_points, n_own_policies) */
    python_world world;
    bool has_world;
    int replaces; /* the policies of the text are left out */
    unsigned threads;
    const char *partial, *keep_in; /* or NULL */
    int resumes;
    PyObject *report; /* or None */
    bridge bridge;
    outcome_object *out;
    oltr_status status;
    oltr_error error;
    pthread_mutex_t lock; /* of all below */
    bool fresh;           /* something to report */
    bool training;        /* of scorers; else the run */
    double share, seconds, seconds_left;
    uint64_t done, total, rounds;
} run_job;

/* ---- progress */

static int should_stop(void *context)
{
    return atomic_load_explicit(&((run_job *)context)->bridge.stop, memory_order_relaxed);
}

static void note_progress(void *context, const oltr_progress *state)
{
    run_job *job = context;
    pthread_mutex_lock(&job->lock);
    job->fresh = true;
    job->training = false;
    job->share = state->share;
    job->seconds = state->seconds;
    job->seconds_left = state->seconds_left;
    job->done = state->done;
    job->total = state->total;
    job->rounds = state->rounds_done;
    pthread_mutex_unlock(&job->lock);
}

static void note_training(void *context, const oltr_training *state)
{
    run_job *job = context;
    pthread_mutex_lock(&job->lock);
    job->fresh = true;
    job->training = true;
    job->share = state->share;
    job->seconds = state->seconds;
    job->seconds_left = state->share > 0.01 ? state->seconds * (1 / state->share - 1) : -1;
    job->done = state->done;
    job->total = state->scorers;
    job->rounds = state->epochs;
    pthread_mutex_unlock(&job->lock);
}

/* report(stage, done, total, rounds, seconds, share, seconds_left), in the calling thread. */
static int look(void *context)
{
    run_job *job = context;
    pthread_mutex_lock(&job->lock);
    bool fresh = job->fresh, training = job->training;
    unsigned long long done = job->done, total = job->total, rounds = job->rounds;
    double seconds = job->seconds, share = job->share, left = job->seconds_left;
    job->fresh = false;
    pthread_mutex_unlock(&job->lock);
    if (!fresh || Py_IsNone(job->report))
        return 0;
    PyObject *answer =
        PyObject_CallFunction(job->report, "sKKKddd", training ? "training" : "running", done,
                              total, rounds, seconds, share, left);
    Py_XDECREF(answer);
    return answer ? 0 : -1;
}

static void hasten(void *context)
{
    bridge_interrupt(&((run_job *)context)->bridge);
}

/* ---- points */

static bool is_taken(const oltr_contestant *policy, uint32_t n, const char *label)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(policy[i].label, label) == 0)
            return true;
    return false;
}

/* The policies of one point: those of the text, then those of Python. */
static oltr_status add_own_policies(run_job *job, uint32_t p, oltr_contestant *policy)
{
    oltr_experiment *e = &job->out->points[p];
    uint32_t n = job->replaces ? 0 : e->n_policies;
    oltr_status status = OLTR_OK;
    if (n)
        memcpy(policy, e->policy, n * sizeof *policy);
    for (Py_ssize_t i = 0; status == OLTR_OK && i < job->n_own_policies; i++) {
        const own_policy *from = &job->own_policies[i];
        python_policy *to = &job->python_policies[p * job->n_own_policies + i];
        if (is_taken(policy, n, from->label)) {
            PyOS_snprintf(job->error.msg, sizeof job->error.msg,
                          "two policies are called `%.120s`; give each its own name", from->label);
            return OLTR_EVALUE;
        }
        *to = (python_policy){.bridge = &job->bridge,
                              .label = from->label,
                              .make = from->make,
                              .slots = e->slots,
                              .rounds = e->rounds};
        memcpy(to->digest, from->digest, DIGEST_BYTES);
        policy[n].label = from->label;
        policy[n].feedback = from->feedback;
        status = python_policy_settings(to, &e->world, from->takes_prior, &policy[n].settings,
                                        &job->error);
        n++;
    }
    e->policy = policy;
    e->n_policies = n;
    return status;
}

static size_t count_policies(const run_job *job)
{
    const outcome_object *o = job->out;
    size_t n = 0;
    for (uint32_t p = 0; p < o->n_points; p++)
        n += (job->replaces ? 0 : o->points[p].n_policies) + (size_t)job->n_own_policies;
    return n;
}

/* Copies the points of the plan, and puts the world and the policies of Python into them. */
static oltr_status compose(run_job *job)
{
    outcome_object *o = job->out;
    o->n_points = oltr_plan_n_points(o->plan);
    o->replaced = job->replaces;
    o->points = calloc(o->n_points, sizeof *o->points);
    if (!o->points)
        return OLTR_ENOMEM;
    memcpy(o->points, oltr_plan_points(o->plan), o->n_points * sizeof *o->points);
    for (uint32_t p = 0; job->has_world && p < o->n_points; p++)
        python_world_place(&job->world, &o->points[p].world);
    job->bridge.points = o->points;
    job->bridge.n_points = o->n_points;
    if (job->n_own_policies == 0)
        return OLTR_OK;
    o->policies = calloc(count_policies(job), sizeof *o->policies);
    job->python_policies =
        calloc(o->n_points * (size_t)job->n_own_policies, sizeof *job->python_policies);
    oltr_contestant *next = o->policies;
    oltr_status status = o->policies && job->python_policies ? OLTR_OK : OLTR_ENOMEM;
    for (uint32_t p = 0; status == OLTR_OK && p < o->n_points; p++) {
        status = add_own_policies(job, p, next);
        next += o->points[p].n_policies;
    }
    return status;
}

/* ---- the work, in a thread of its own */

static oltr_status prepare(run_job *job)
{
    outcome_object *o = job->out;
    oltr_data_options options = {.threads = job->threads,
                                 .keep_in = job->keep_in,
                                 .training = note_training,
                                 .every = 0.1,
                                 .stop = should_stop,
                                 .context = job,
                                 .size = sizeof options};
    o->plan = oltr_plan_parse(job->name, job->text, (size_t)job->length, job->overrides,
                              (uint32_t)job->n_overrides, &job->error);
    if (!o->plan)
        return job->error.code;
    oltr_status status = oltr_plan_load_data(o->plan, &options, &job->error);
    if (status == OLTR_OK)
        status = compose(job);
    if (status != OLTR_OK)
        return status;
    bool of_python = job->has_world || job->n_own_policies > 0;
    o->results = of_python ? oltr_results_new(o->points, o->n_points, &job->error)
                           : oltr_plan_results(o->plan, &job->error);
    if (!o->results)
        return job->error.code;
    return job->resumes ? oltr_results_load(o->results, job->partial, &job->error) : OLTR_OK;
}

static oltr_status play(run_job *job)
{
    oltr_run_options options = {.threads = job->threads,
                                .partial = job->partial,
                                .progress = note_progress,
                                .every = 0.1,
                                .stop = should_stop,
                                .context = job,
                                .size = sizeof options};
    oltr_status status = prepare(job);
    return status == OLTR_OK ? oltr_run(job->out->points, job->out->n_points, &options,
                                        job->out->results, &job->error)
                             : status;
}

static void work(void *context)
{
    run_job *job = context;
    job->status = bridge_begin(&job->bridge); /* policies are made here too, to check them */
    if (job->status != OLTR_OK)
        return;
    job->status = play(job);
    bridge_end(&job->bridge);
}

/* ---- arguments */

/* An entry of a tuple that is a tuple, borrowed; NULL with an exception. */
static PyObject *tuple_at(PyObject *tuple, Py_ssize_t i)
{
    PyObject *entry = PyTuple_GetItem(tuple, i);
    if (entry && PyTuple_Check(entry))
        return entry;
    if (entry)
        PyErr_Format(PyExc_TypeError, "a tuple is needed, not %.100R", entry);
    return NULL;
}

static int get_overrides(PyObject *tuple, run_job *job)
{
    job->n_overrides = PyTuple_Size(tuple);
    if (job->n_overrides < 0)
        return -1;
    job->overrides = PyMem_Calloc((size_t)job->n_overrides + 1, sizeof *job->overrides);
    if (!job->overrides) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < job->n_overrides; i++) {
        oltr_override *to = &job->overrides[i];
        PyObject *one = tuple_at(tuple, i);
        if (!one || !PyArg_ParseTuple(one, "sss", &to->key, &to->value, &to->origin))
            return -1;
    }
    return 0;
}

static int get_own_policies(PyObject *tuple, run_job *job)
{
    Py_ssize_t length;
    job->n_own_policies = PyTuple_Size(tuple);
    if (job->n_own_policies < 0)
        return -1;
    job->own_policies = PyMem_Calloc((size_t)job->n_own_policies + 1, sizeof *job->own_policies);
    if (!job->own_policies) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < job->n_own_policies; i++) {
        own_policy *to = &job->own_policies[i];
        PyObject *one = tuple_at(tuple, i);
        if (!one || !PyArg_ParseTuple(one, "sOpIy#", &to->label, &to->make, &to->takes_prior,
                                      &to->feedback, &to->digest, &length))
            return -1;
        if (length != DIGEST_BYTES) {
            PyErr_SetString(PyExc_ValueError, "a digest has 32 bytes");
            return -1;
        }
    }
    return 0;
}

static PyObject *unless_none(PyObject *object)
{
    return Py_IsNone(object) ? NULL : object;
}

static int get_world(PyObject *tuple, run_job *job)
{
    python_world *w = &job->world;
    PyObject *advance, *scan, *value, *best, *worst;
    unsigned n_items, dim;
    const char *digest;
    int reals;
    Py_ssize_t length;
    if (Py_IsNone(tuple))
        return 0;
    if (!PyTuple_Check(tuple)) {
        PyErr_Format(PyExc_TypeError, "a world is a tuple or None here, not %.100R", tuple);
        return -1;
    }
    if (!PyArg_ParseTuple(tuple, "IIpOOOOOOy#", &n_items, &dim, &reals, &w->draw, &advance, &scan,
                          &value, &best, &worst, &digest, &length))
        return -1;
    if (length != DIGEST_BYTES) {
        PyErr_SetString(PyExc_ValueError, "a digest has 32 bytes");
        return -1;
    }
    memcpy(w->digest, digest, DIGEST_BYTES);
    w->bridge = &job->bridge;
    w->n_items = n_items;
    w->dim = dim;
    w->reals = reals;
    w->advance = unless_none(advance);
    w->scan = unless_none(scan);
    w->value = unless_none(value);
    w->best = unless_none(best);
    w->worst = unless_none(worst);
    job->has_world = true;
    return 0;
}

/* ---- the call */

static PyObject *outcome_type;

static outcome_object *outcome_new(void)
{
    outcome_object *o = PyObject_New(outcome_object, (PyTypeObject *)outcome_type);
    if (o) {
        o->plan = NULL;
        o->results = NULL;
        o->points = NULL;
        o->policies = NULL;
        o->n_points = 0;
        o->replaced = false;
    }
    return o;
}

static void outcome_dealloc(PyObject *self)
{
    outcome_object *o = (outcome_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    oltr_results_free(o->results);
    oltr_plan_free(o->plan);
    free(o->points);
    free(o->policies);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* With an exception set: what the engine could not do, like writing the partial file, as a note. */
static void note_failure(const run_job *job)
{
    PyObject *type, *value, *trace;
    if (job->status == OLTR_OK || job->status == OLTR_EINTERRUPTED || !job->error.msg[0])
        return;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *done = PyObject_CallMethod(value, "add_note", "s", job->error.msg);
    Py_XDECREF(done);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
}

/* Ctrl-C first, then what Python code has raised, then the sentence of the engine. */
static PyObject *run_and_raise(run_job *job)
{
    background call = {
        .work = work, .look = look, .hasten = hasten, .context = job, .stop = &job->bridge.stop};
    PyObject *out = NULL;
    job->out = outcome_new();
    if (!job->out)
        return NULL;
    if (background_run(&call) < 0)
        note_failure(job);
    else if (bridge_raise(&job->bridge) == 0)
        out = job->status == OLTR_OK ? Py_NewRef((PyObject *)job->out)
                                     : core_raise(job->status, &job->error);
    Py_DECREF((PyObject *)job->out);
    return out;
}

static PyObject *run(PyObject *module, PyObject *arguments)
{
    run_job job = {.error = {OLTR_OK, ""}};
    PyObject *overrides, *policies, *world, *out = NULL;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "sy#O!O!OpIzzpO:run", &job.name, &job.text, &job.length,
                          &PyTuple_Type, &overrides, &PyTuple_Type, &policies, &world,
                          &job.replaces, &job.threads, &job.partial, &job.keep_in, &job.resumes,
                          &job.report))
        return NULL;
    bridge_init(&job.bridge);
    pthread_mutex_init(&job.lock, NULL);
    if (get_overrides(overrides, &job) == 0 && get_own_policies(policies, &job) == 0 &&
        get_world(world, &job) == 0)
        out = run_and_raise(&job);
    pthread_mutex_destroy(&job.lock);
    bridge_free(&job.bridge);
    PyMem_Free(job.overrides);
    PyMem_Free(job.own_policies);
    free(job.python_policies);
    return out;
}

/* ---- the module */

static PyMethodDef outcome_methods[] = {
    {"rows", outcome_rows, METH_O, "rows($self, table, /)\n--\n\nThe rows of a table as numbers."},
    {"about", outcome_about, METH_NOARGS, "about($self, /)\n--\n\nThe experiment as a dict."},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef run_method = {
    "run", run, METH_VARARGS,
    "run(name, text, overrides, policies, world, replaces, threads, partial, keep_scores, "
    "resumes, report, /)\n--\n\nRuns an experiment; oltr.run() is the call for people."};

int add_run(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, CORE_SLOT(outcome_dealloc)},
        {Py_tp_methods, outcome_methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"oltr._core.Outcome", sizeof(outcome_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    outcome_type = core_add_type(module, &spec, "Outcome");
    if (!outcome_type)
        return -1;
    PyObject *function = PyCFunction_NewEx(&run_method, NULL, NULL);
    int code = function ? PyModule_AddObjectRef(module, "run", function) : -1;
    Py_XDECREF(function);
    return code;
}
