/* model_object.h - what the files of the type oltr._core.Model share.
 *
 * One C type is behind oltr.Model and oltr.Store: it has a model of its own, or one on a store.
 *
 *   model_turns.c      the lock, and when the GIL is released
 *   model_names.c      names and rows of features from Python objects
 *   model_options.c    settings from and to dictionaries; making, loading and opening
 *   model_lists.c      rank
 *   model_questions.c  what a model says about its items
 *   model_ope.c        how likely it is to show the lists of a log
 *   model_lessons.c    learn, learn_many
 *   model_updates.c    the other changes, copies and children
 *   model_files.c      images and stores
 *   model_type.c       the type
 *   shown_type.c       a ranked list
 *
 * A call converts its arguments, takes a turn, calls the engine, ends the turn, and makes Python
 * objects of the result.  No Python code runs during a turn: a finalizer that uses the same model
 * would wait for the turn for ever.
 */
#ifndef OLTR_PYTHON_MODEL_OBJECT_H
#define OLTR_PYTHON_MODEL_OBJECT_H

#include "python/core/core.h"

#include <oltr/store.h>

#include <pthread.h>

enum { MODEL_SCRATCHES = 8 };

typedef enum model_state {
    MODEL_NEW,    /* __new__ was called, __init__ was not */
    MODEL_READY,  /* it can be used */
    MODEL_CLOSED, /* a store that was closed */
    MODEL_FORKED, /* a store that was opened before a fork, in the child */
    MODEL_TORN    /* in the child of a fork, during which another thread changed the model */
} model_state;

typedef struct model_object {
    PyObject_HEAD model_state state;
    oltr_model *model;            /* its own, or NULL */
    oltr_store *store;            /* or that of a store */
    const oltr_policy_info *info; /* of its kind */
    uint32_t dim;
    uint32_t sync; /* oltr_sync */
    uint64_t checkpoint_bytes;
    uint64_t seed, ranked; /* of the lists without a seed of their own, and how many there were */
    uint32_t items;        /* how many it had when last read; decides what takes long */
    pthread_rwlock_t lock; /* see model_turns.c */
    bool has_lock;
    uint32_t away, changing; /* calls without the GIL, and those of them that change the model */
    unsigned forks;
    oltr_model_scratch *scratch[MODEL_SCRATCHES]; /* those that no call uses */
    uint32_t n_scratches;
} model_object;

/* ---- names and lists (model_names.c) */

/* The bytes of a name that is a str or bytes.  *keeps is a new reference that keeps them; `what` is
 * for messages: "id". */
int name_get(PyObject *object, const char *what, oltr_name *out, PyObject **keeps);

/* The names of a list.  The objects are kept, and as they cannot change, their bytes are valid
 * without the GIL. */
typedef struct name_list {
    PyObject *objects; /* tuple */
    PyObject *keeps;   /* list of the encoded ones of them, or NULL */
    oltr_name *name;   /* (n), never NULL */
    Py_ssize_t n;
} name_list;

int names_get(PyObject *object, const char *what, name_list *out);
void names_free(name_list *names);

/* Candidates, or what was shown. */
typedef struct list_data {
    PyObject *objects; /* tuple of the caller's objects, or NULL where none were given */
    name_list names;
    core_array x;
    oltr_list list;
} list_data;

/* items and x may be NULL.  Of a model with features, items are any objects, one for each row. */
int list_get(const model_object *o, PyObject *items, PyObject *x, const char *what, list_data *out);
/* Copies the rows that are in memory of the caller. */
int list_own(list_data *list);
void list_free(list_data *list);

/* Names of items, copied out of a model. */
typedef struct name_copy {
    uint32_t n;
    uint32_t *size; /* (n) */
    char *bytes;    /* one behind the other */
} name_copy;

/* Of the items item[0..n-1], or where item is NULL of the first n.  During a turn; false: no
 * memory. */
bool name_copy_take(const oltr_model *model, const uint32_t *item, uint32_t n, name_copy *out);
void name_copy_free(name_copy *copy);
PyObject *name_copy_tuple(const name_copy *copy); /* of str */

/* ---- turns (model_turns.c) */

typedef enum turn_kind { TURN_READ, TURN_CHANGE } turn_kind;

typedef struct turn {
    model_object *o;
    turn_kind kind;
    const oltr_model *model; /* to read; NULL when a store is changed */
    PyThreadState *away;     /* not NULL: the GIL is released */
    bool locked;
    uint32_t items;
} turn;

int turns_init(void);
int turn_lock_init(model_object *o);
/* -1 with an exception where the model cannot be used.  is_long: releases the GIL.  list, which may
 * be NULL, gets a copy of the caller's rows when the GIL is released. */
int turn_begin(turn *t, model_object *o, turn_kind kind, bool is_long, list_data *list);
void turn_end(turn *t);
/* Whether __init__ was called; else -1 with an exception. */
int check_made(const model_object *o);
/* Whether this is the child of a fork that came after the object was made. */
bool turn_is_forked(const model_object *o);
/* For calls that take time by the number of items. */
bool model_is_large(const model_object *o);
/* Whether a short change of a store may have to wait for the disk. */
bool store_may_wait(model_object *o);
/* Waits for the calls of other threads; afterwards none begins. */
void turns_close(model_object *o);
/* With the GIL; NULL with an exception. */
oltr_model_scratch *model_scratch_take(model_object *o);
void model_scratch_give(model_object *o, oltr_model_scratch *scratch);

/* ---- shared by calls */

/* How a list is made: the arguments that rank and propensity have in common. */
typedef struct show_data {
    oltr_show show;
    oltr_rng rng;
    PyObject *seed; /* new reference */
} show_data;

int show_get(model_object *o, PyObject *k, PyObject *seed, PyObject *const option[4],
             show_data *out);
void show_free(show_data *show);
/* A call of Python takes at most `most` arguments by place. */
int placed_at_most(const char *function, Py_ssize_t n, Py_ssize_t most);
/* Raises the error in front of which `what` and a number stand: "lesson 3: ". */
PyObject *raise_at(oltr_status status, const char *what, size_t at, const oltr_error *error);

/* An id of a lesson, a merge or a tick; NULL is none, and the empty text is refused. */
int id_get(PyObject *object, oltr_name *out, PyObject **keeps);
/* A prior, as two numbers or as a dict with their names. */
int pair_get(const oltr_policy_info *info, PyObject *value, double out[2]);
/* A copy of the model of an object, so that two turns are never taken at once: two threads that
 * merge two models into each other would wait for each other.  NULL with an exception. */
oltr_model *model_copy_of(model_object *o);

/* Puts a model into an object that has none yet. */
int model_adopt(model_object *o, oltr_model *model, oltr_store *store, uint64_t seed);
/* A new object that takes over the model, also when it fails. */
PyObject *model_wrap(PyTypeObject *type, oltr_model *model, uint64_t seed);

/* ---- the type oltr._core.Shown (shown_type.c) */

/* A list of names (tuple) or, where it is NULL, of numbers of rows.  Takes over `place`, `score`
 * and `x`, which are of malloc(); `names` and `seed` are borrowed. */
PyObject *shown_new(PyObject *names, uint32_t k, uint32_t *place, double *score, PyObject *seed,
                    float *x, uint32_t dim);
/* Borrowed; NULL for other objects and without an exception. */
PyObject *shown_names(PyObject *object);
PyObject *shown_rows(PyObject *object); /* new reference to its features; NULL: it has none */

int add_shown(PyObject *module);
int add_model(PyObject *module);

/* ---- methods */

#define MODEL_METHOD(name)                                                                         \
    PyObject *name(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *keywords)
MODEL_METHOD(model_make);
MODEL_METHOD(model_read_image);
MODEL_METHOD(model_read_store);
MODEL_METHOD(model_open_store);
MODEL_METHOD(model_rank_call);
MODEL_METHOD(model_predict_call);
MODEL_METHOD(model_explain_call);
MODEL_METHOD(model_propensity_call);
MODEL_METHOD(model_list_propensity_call);
MODEL_METHOD(model_ope_chances_call);
MODEL_METHOD(model_learn_call);
MODEL_METHOD(model_learn_many_call);
MODEL_METHOD(model_prior_call);
MODEL_METHOD(model_prior_of_call);
MODEL_METHOD(model_remove_call);
MODEL_METHOD(model_reset_call);
MODEL_METHOD(model_trim_call);
MODEL_METHOD(model_forget_call);
MODEL_METHOD(model_merge_call);
MODEL_METHOD(model_like_call);
MODEL_METHOD(model_copy_call);
MODEL_METHOD(model_write_store);

PyObject *model_names_call(PyObject *self, PyObject *unused);
PyObject *model_hyper_call(PyObject *self, PyObject *unused);
PyObject *model_seen_call(PyObject *self, PyObject *id);
PyObject *model_check_call(PyObject *self, PyObject *unused);
PyObject *model_to_bytes_call(PyObject *self, PyObject *unused);
PyObject *model_settings_call(PyObject *self, PyObject *unused);
PyObject *model_checkpoint_call(PyObject *self, PyObject *unused);
PyObject *model_sync_call(PyObject *self, PyObject *unused);
PyObject *model_close_call(PyObject *self, PyObject *unused);
PyObject *model_stat_call(PyObject *self, PyObject *unused);
Py_ssize_t model_length(PyObject *self);
int model_contains(PyObject *self, PyObject *name);

extern PyTypeObject *model_type;
extern const char model_rank_doc[], model_learn_doc[], model_learn_many_doc[];

#endif
