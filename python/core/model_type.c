/* model_type.c - the type oltr._core.Model, on which oltr.Model and oltr.Store are built. */
#include "python/core/model_object.h"

PyTypeObject *model_type;

/* ---- life */

static PyObject *new_model(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    allocfunc allocate = (allocfunc)(uintptr_t)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = allocate(type, 0);
    (void)arguments; /* for __init__ */
    (void)keywords;
    if (self && turn_lock_init((model_object *)self) < 0)
        Py_CLEAR(self);
    return self;
}

/* A store that was opened before a fork is left alone in the child: its lock, and the thread that
 * writes once a second, are those of the parent. */
static void destroy(PyObject *self)
{
    model_object *o = (model_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free);
    for (uint32_t i = 0; i < o->n_scratches; i++)
        oltr_model_scratch_free(o->scratch[i]);
    oltr_model_free(o->model);
    if (o->store && !turn_is_forked(o) && o->state == MODEL_READY)
        oltr_store_close(o->store, NULL);
    if (o->has_lock)
        pthread_rwlock_destroy(&o->lock);
    release(self);
    Py_DECREF(type);
}

/* ---- attributes */

static PyObject *get_kind(PyObject *self, void *unused)
{
    const model_object *o = (model_object *)self;
    (void)unused;
    return check_made(o) == 0 ? PyUnicode_FromString(o->info->name) : NULL;
}

static PyObject *get_lessons(PyObject *self, void *unused)
{
    turn t;
    (void)unused;
    if (turn_begin(&t, (model_object *)self, TURN_READ, false, NULL) < 0)
        return NULL;
    uint64_t lessons = oltr_model_lessons(t.model);
    turn_end(&t);
    return PyLong_FromUnsignedLongLong(lessons);
}

static PyObject *get_bytes(PyObject *self, void *unused)
{
    turn t;
    (void)unused;
    if (turn_begin(&t, (model_object *)self, TURN_READ, false, NULL) < 0)
        return NULL;
    size_t bytes = oltr_model_bytes(t.model);
    turn_end(&t);
    return PyLong_FromSize_t(bytes);
}

static PyObject *get_seed(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((model_object *)self)->seed);
}

static PyObject *get_ranked(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((model_object *)self)->ranked);
}

static PyObject *get_contextual(PyObject *self, void *unused)
{
    const model_object *o = (model_object *)self;
    (void)unused;
    return check_made(o) == 0 ? PyBool_FromLong(o->info->contextual) : NULL;
}

static PyObject *get_takes_clicks(PyObject *self, void *unused)
{
    const model_object *o = (model_object *)self;
    (void)unused;
    return check_made(o) == 0 ? PyBool_FromLong(o->info->rewards == OLTR_CLICKS) : NULL;
}

static PyObject *get_is_open(PyObject *self, void *unused)
{
    const model_object *o = (model_object *)self;
    (void)unused;
    return PyBool_FromLong(o->store && o->state == MODEL_READY && !turn_is_forked(o));
}

static PyGetSetDef attributes[] = {
    {"kind", get_kind, NULL, "The name of its policy, like 'ts-hyper'.", NULL},
    {"lessons", get_lessons, NULL, "How many lessons it has learned.", NULL},
    {"nbytes", get_bytes, NULL, "The memory that it takes, in bytes.", NULL},
    {"seed", get_seed, NULL, "The seed of lists without a seed of their own.", NULL},
    {"ranked", get_ranked, NULL, "How many lists had no seed of their own.", NULL},
    {"contextual", get_contextual, NULL, "Whether it ranks rows of features.", NULL},
    {"_takes_clicks", get_takes_clicks, NULL, "Whether rewards are 0 or 1.", NULL},
    {"_is_open", get_is_open, NULL, "Whether it is on a store that is open.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- methods */

#define FAST(name, function, doc)                                                                  \
    {                                                                                              \
        name, (PyCFunction)(void (*)(void))function, METH_FASTCALL | METH_KEYWORDS, doc            \
    }

static PyMethodDef methods[] = {
    FAST("_make", model_make, "_make($self, kind, settings=None, seed=0)\n--\n\nMakes the model."),
    FAST("_read_image", model_read_image,
         "_read_image($self, image, seed=0, ranked=0)\n--\n\nTakes the model of an image."),
    FAST("_read_store", model_read_store,
         "_read_store($self, path, seed=0)\n--\n\nTakes the model of a file."),
    FAST("_open_store", model_open_store,
         "_open_store($self, path, kind=None, settings=None, sync='second', "
         "read_only=False, checkpoint_bytes=0, seed=0, create_from=None)\n--\n\nOpens a store."),
    FAST("_write_store", model_write_store, "_write_store($self, path)\n--\n\nWrites a new store."),
    FAST("rank", model_rank_call, model_rank_doc),
    FAST("learn", model_learn_call, model_learn_doc),
    FAST("learn_many", model_learn_many_call, model_learn_many_doc),
    FAST("predict", model_predict_call,
         "predict($self, items=None, *, x=None)\n--\n\n"
         "Mean and standard deviation of the belief about each candidate, as two arrays."),
    FAST("_explain", model_explain_call,
         "_explain($self, items=None, x=None)\n--\n\nColumns by name."),
    FAST("_propensity", model_propensity_call,
         "_propensity($self, k, items=None, draws=0, x=None, seed=None, greedy=False, "
         "fresh_below=0, least_fresh=0, most_fresh=None)\n--\n\nTwo arrays."),
    FAST("_list_propensity", model_list_propensity_call,
         "_list_propensity($self, shown=None, places=None, items=None, x=None, "
         "greedy=False)\n--\n\nThe chances of the beginnings."),
    FAST("_ope_chances", model_ope_chances_call,
         "_ope_chances($self, places, lengths, sets, set_of, rates=None, fold_of=None, "
         "slots=False, match=False, greedy=False, draws=0, seed=0)\n--\n\nSee oltr.ope.chances()."),
    FAST("_prior", model_prior_call, "_prior($self, names, pairs)\n--\n\nGives priors."),
    FAST("_pair", model_prior_of_call, "_pair($self, prior)\n--\n\nA prior as two floats."),
    FAST("_remove", model_remove_call, "_remove($self, names)\n--\n\nRemoves items."),
    FAST("_reset", model_reset_call, "_reset($self, names)\n--\n\nResets items."),
    FAST("trim", model_trim_call,
         "trim($self, idle)\n--\n\n"
         "Removes the items that the last `idle` lessons did not show, but for those that were\n"
         "added since; returns how many."),
    FAST("forget", model_forget_call,
         "forget($self, keep, id=None)\n--\n\n"
         "Moves the belief towards the prior: every sum is multiplied by keep, 0 to 1.\n\n"
         "False if a call with this id was made before.  Half of what was learned is forgotten in\n"
         "a time T if it is called every t with keep = 0.5 ** (t / T)."),
    FAST("merge", model_merge_call,
         "merge($self, other, id=None)\n--\n\n"
         "Adds what another model has learned, item by item of the same name.\n\n"
         "Both have the same kind and parameters.  Items keep their priors here; new ones bring\n"
         "theirs.  False if a call with this id was made before."),
    FAST("_like", model_like_call, "_like($self, type, strength)\n--\n\nA child."),
    FAST("_copy", model_copy_call, "_copy($self, type)\n--\n\nA copy."),
    {"names", model_names_call, METH_NOARGS,
     "names($self)\n--\n\nThe names of all items as a list of str, in the order of their numbers."},
    {"hyper", model_hyper_call, METH_NOARGS,
     "hyper($self)\n--\n\n"
     "What was learned about the prior: of ts-hyper the posterior of shift, slope and weight, "
     "each a\ndict with mean, sd, values and chances.  Empty for other kinds."},
    {"seen", model_seen_call, METH_O,
     "seen($self, id, /)\n--\n\nWhether a lesson, merge() or forget() with this id is remembered."},
    {"check", model_check_call, METH_NOARGS,
     "check($self)\n--\n\nRaises an Error if the model contradicts itself."},
    {"to_bytes", model_to_bytes_call, METH_NOARGS,
     "to_bytes($self)\n--\n\n"
     "The image: everything that the model is, as bytes that any machine reads."},
    {"_settings", model_settings_call, METH_NOARGS,
     "_settings($self)\n--\n\nThe settings of the model, and the parameters of its policy."},
    {"_checkpoint", model_checkpoint_call, METH_NOARGS,
     "_checkpoint($self)\n--\n\nWrites an image."},
    {"_sync", model_sync_call, METH_NOARGS, "_sync($self)\n--\n\nWaits for the disk."},
    {"_close", model_close_call, METH_NOARGS, "_close($self)\n--\n\nCloses the store."},
    {"_stat", model_stat_call, METH_NOARGS, "_stat($self)\n--\n\nWhat a StoreState has."},
    {NULL, NULL, 0, NULL},
};

int add_model(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_new, CORE_SLOT(new_model)},
        {Py_tp_dealloc, CORE_SLOT(destroy)},
        {Py_tp_getset, attributes},
        {Py_tp_methods, methods},
        {Py_sq_length, CORE_SLOT(model_length)},
        {Py_sq_contains, CORE_SLOT(model_contains)},
        {0, NULL},
    };
    static PyType_Spec spec = {"oltr._core.Model", sizeof(model_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    if (turns_init() < 0)
        return -1;
    model_type = (PyTypeObject *)core_add_type(module, &spec, "Model");
    return model_type ? 0 : -1;
}
