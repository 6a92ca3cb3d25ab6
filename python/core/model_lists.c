/* model_lists.c - Model.rank(): a list, with the caller's own objects as names. */
#include "python/core/model_object.h"

#include <stdlib.h>
#include <string.h>

const char model_rank_doc[] =
    "rank($self, k, items=None, *, x=None, seed=None, greedy=False, fresh_below=0,\n"
    "     least_fresh=0, most_fresh=None)\n--\n\n"
    "The k best of the items, as a Shown: best first, the caller's own objects.\n\n"
    "items: names, str or bytes; None: all items of the model.  Unknown names are ranked by the\n"
    "default prior.  With fewer candidates than slots the list is shorter.\n"
    "x: of a model with features, a row of features for each candidate (float32 is not copied);\n"
    "items may then be any objects, and without them the list has numbers of rows.\n"
    "seed: a str or bytes, such as a session: the same text draws the same noise for the same\n"
    "item.  A whole number: that draw of Model(seed=...).  None: the next number.\n"
    "greedy: by the mean of the belief, without drawing.\n"
    "fresh_below, least_fresh, most_fresh: an item with fewer than fresh_below observations is\n"
    "fresh, and the list has at least and at most so many fresh items, where there are enough.";

/* ---- how a list is made */

static int seed_rng(model_object *o, PyObject *seed, show_data *out)
{
    oltr_rng own = oltr_rng_make(o->seed, 0);
    uint64_t number = o->ranked;
    if (seed && (PyUnicode_Check(seed) || PyBytes_Check(seed))) {
        oltr_name text;
        PyObject *keeps;
        if (name_get(seed, "seed", &text, &keeps) < 0)
            return -1;
        out->rng = oltr_rng_text(text.bytes, text.size);
        Py_DECREF(keeps);
        out->seed = Py_NewRef(seed);
        return 0;
    }
    if (seed && core_whole(seed, "seed", UINT64_MAX, &number) < 0)
        return -1;
    out->rng = oltr_rng_fork(own, number);
    out->seed = PyLong_FromUnsignedLongLong(number);
    if (out->seed && !seed)
        o->ranked++;
    return out->seed ? 0 : -1;
}

/* option: greedy, fresh_below, least_fresh, most_fresh. */
int show_get(model_object *o, PyObject *k, PyObject *seed, PyObject *const option[4],
             show_data *out)
{
    uint64_t slots, least = 0, most = UINT32_MAX;
    int greedy = option[0] ? PyObject_IsTrue(option[0]) : 0;
    *out = (show_data){.seed = NULL};
    if (greedy < 0 || core_whole(k, "k", UINT32_MAX, &slots) < 0 ||
        (option[1] && core_real(option[1], "fresh_below", &out->show.fresh_below) < 0) ||
        (option[2] && core_whole(option[2], "least_fresh", UINT32_MAX, &least) < 0) ||
        (option[3] && core_whole(option[3], "most_fresh", UINT32_MAX, &most) < 0))
        return -1;
    out->show.k = (uint32_t)slots;
    out->show.greedy = (uint32_t)greedy;
    out->show.least_fresh = (uint32_t)least;
    out->show.most_fresh = (uint32_t)most;
    return seed_rng(o, seed, out);
}

void show_free(show_data *show)
{
    Py_CLEAR(show->seed);
}

/* ---- the call */

typedef struct ranked {
    oltr_status status;
    oltr_error error;
    uint32_t *place; /* (k) */
    double *score;   /* (k) */
    name_copy names; /* where all items were ranked */
} ranked;

/* During the turn. */
static void rank_in_turn(const turn *t, const oltr_list *list, show_data *show,
                         oltr_model_scratch *scratch, ranked *out)
{
    bool all = !list->name && !list->x;
    uint32_t n = all ? oltr_model_items(t->model) : list->n;
    size_t room = n < show->show.k ? n : show->show.k;
    *out = (ranked){.status = OLTR_ENOMEM,
                    .error = {OLTR_ENOMEM, ""},
                    .place = malloc((room + 1) * sizeof *out->place),
                    .score = malloc((room + 1) * sizeof *out->score)};
    if (!out->place || !out->score)
        return;
    show->show.place = out->place;
    show->show.score = out->score;
    out->status = oltr_model_rank(t->model, list, show->rng, scratch, &show->show, &out->error);
    if (out->status == OLTR_OK && all &&
        !name_copy_take(t->model, out->place, show->show.k, &out->names))
        out->status = OLTR_ENOMEM;
}

/* Tens of microseconds or more: then other threads may go on. */
static bool takes_long(const model_object *o, const oltr_list *list)
{
    enum { MANY_FEATURES = 1 << 18, MANY_NAMES = 4096 };
    if (list->x)
        return (uint64_t)list->n * o->dim > MANY_FEATURES;
    return list->name ? list->n > MANY_NAMES : model_is_large(o);
}

/* The objects of the slots. */
static PyObject *pick(PyObject *objects, const uint32_t *place, uint32_t k)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)k);
    for (uint32_t i = 0; tuple && i < k; i++) {
        PyObject *object = PyTuple_GetItem(objects, (Py_ssize_t)place[i]);
        if (!object || PyTuple_SetItem(tuple, (Py_ssize_t)i, Py_NewRef(object)) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* The rows of the slots, where there are features; false: no memory. */
static bool pick_rows(const oltr_list *list, const uint32_t *place, uint32_t k, uint32_t dim,
                      float **out)
{
    *out = NULL;
    if (!list->x)
        return true;
    *out = malloc((size_t)k * dim * sizeof **out + 1);
    for (uint32_t i = 0; *out && i < k; i++)
        memcpy(*out + (size_t)i * dim, list->x + (size_t)place[i] * list->stride,
               dim * sizeof **out);
    return *out != NULL;
}

/* Takes over the arrays of r. */
static PyObject *make_shown(const model_object *o, const list_data *list, const show_data *show,
                            ranked *r)
{
    uint32_t k = show->show.k;
    float *x;
    PyObject *names = NULL, *shown = NULL;
    bool numbered = list->list.x && !list->objects;
    if (!numbered)
        names = list->objects ? pick(list->objects, r->place, k) : name_copy_tuple(&r->names);
    if (!pick_rows(&list->list, r->place, k, o->dim, &x))
        PyErr_NoMemory();
    else if (numbered || names) {
        shown = shown_new(names, k, r->place, r->score, show->seed, x, o->dim);
        r->place = NULL;
        r->score = NULL;
    } else
        free(x);
    Py_XDECREF(names);
    return shown;
}

static PyObject *rank_list(model_object *o, list_data *list, show_data *show)
{
    turn t;
    ranked r;
    oltr_model_scratch *scratch = model_scratch_take(o);
    if (!scratch)
        return NULL;
    if (turn_begin(&t, o, TURN_READ, takes_long(o, &list->list), list) < 0) {
        model_scratch_give(o, scratch);
        return NULL;
    }
    rank_in_turn(&t, &list->list, show, scratch, &r);
    turn_end(&t);
    model_scratch_give(o, scratch);
    PyObject *shown =
        r.status == OLTR_OK ? make_shown(o, list, show, &r) : core_raise(r.status, &r.error);
    free(r.place);
    free(r.score);
    name_copy_free(&r.names);
    return shown;
}

MODEL_METHOD(model_rank_call)
{
    static const char *const names[] = {
        "k", "items", "x", "seed", "greedy", "fresh_below", "least_fresh", "most_fresh", NULL};
    model_object *o = (model_object *)self;
    PyObject *value[8], *shown = NULL;
    list_data list;
    show_data show;
    if (placed_at_most("rank", n, 2) < 0 ||
        core_arguments("rank", names, 1, arguments, n, keywords, value) < 0 ||
        list_get(o, value[1], value[2], "items", &list) < 0)
        return NULL;
    if (show_get(o, value[0], value[3], value + 4, &show) == 0)
        shown = rank_list(o, &list, &show);
    show_free(&show);
    list_free(&list);
    return shown;
}
