/* model_turns.c - who may use a model when, and with or without the GIL.
 *
 * Calls of a few microseconds keep the GIL: releasing it costs more than it gains.  Long calls
 * release it, and are then "away".  So a short call meets no other short call, and only has to mind
 * those that are away.
 *
 * A model of its own has a lock that readers share and a change takes alone.  A short call tries
 * it; if a call that is away has it, the short call releases the GIL and waits.
 *
 * A store has locks inside.  A short call keeps the GIL if no call is away, because then nothing
 * can make it wait; else it releases it.  The lock of the object is shared by all calls that are
 * away, and closing takes it alone.  Calls that wait for the disk share one wait in the store, so
 * no lock of the object may be held alone meanwhile.
 *
 * A lock that is held is always released before the GIL is taken back.
 *
 * After a fork, the child has no other threads.  A model that no thread was changing goes on there
 * with a new lock.  A store belongs to the parent: its calls are refused in the child. */
#include "python/core/model_object.h"

#include <string.h>

enum { LARGE_ITEMS = 4096, LOG_MARGIN = 1 << 20, DEFAULT_LOG_MIB = 64 };

/* Forks of this process since the module was imported. */
static unsigned forks;

static void count_fork(void)
{
    forks++;
}

int turns_init(void)
{
    static bool done;
    if (!done && pthread_atfork(NULL, NULL, count_fork) != 0) {
        PyErr_NoMemory();
        return -1;
    }
    done = true;
    return 0;
}

/* New readers do not pass a change that waits: under load it would wait for ever. */
int turn_lock_init(model_object *o)
{
    pthread_rwlockattr_t kind;
    bool good = pthread_rwlockattr_init(&kind) == 0;
#ifdef __GLIBC__
    if (good)
        pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    if (good) {
        good = pthread_rwlock_init(&o->lock, &kind) == 0;
        pthread_rwlockattr_destroy(&kind);
    }
    if (!good) {
        PyErr_NoMemory();
        return -1;
    }
    o->has_lock = true;
    o->forks = forks;
    return 0;
}

/* The first call in the child of a fork. */
static int leave_parent(model_object *o)
{
    if (o->state == MODEL_READY && (o->store || o->changing > 0))
        o->state = o->store ? MODEL_FORKED : MODEL_TORN;
    o->away = o->changing = 0;
    return turn_lock_init(o);
}

bool turn_is_forked(const model_object *o)
{
    return o->forks != forks;
}

int check_made(const model_object *o)
{
    if (o->state != MODEL_NEW)
        return 0;
    core_refuse(OLTR_ESTATE, "this model was not made: call oltr.Model(kind) or oltr.open(path)");
    return -1;
}

static int check_ready(model_object *o)
{
    static const char *const why[] = {
        [MODEL_CLOSED] = "the store is closed: open it again with oltr.open()",
        [MODEL_FORKED] = "the store was opened before the process was forked: open it after the "
                         "fork, in the one process that writes to it",
        [MODEL_TORN] = "another thread was changing this model when the process was forked, so "
                       "that its copy here is incomplete: fork while no thread learns",
    };
    if (turn_is_forked(o) && leave_parent(o) < 0)
        return -1;
    if (o->state == MODEL_READY || check_made(o) < 0)
        return o->state == MODEL_READY ? 0 : -1;
    core_refuse(OLTR_ESTATE, "%s", why[o->state]);
    return -1;
}

static bool try_lock(model_object *o, turn_kind kind)
{
    return (kind == TURN_READ ? pthread_rwlock_tryrdlock(&o->lock)
                              : pthread_rwlock_trywrlock(&o->lock)) == 0;
}

/* Releases the GIL and waits for the lock.  That of a store is taken before: otherwise a thread
 * could close the store in between.  It is free then, as no call begins once closing has. */
static void go_away(turn *t)
{
    model_object *o = t->o;
    o->away++;
    o->changing += t->kind == TURN_CHANGE;
    if (o->store)
        pthread_rwlock_rdlock(&o->lock);
    t->away = PyEval_SaveThread();
    if (!o->store && t->kind == TURN_CHANGE)
        pthread_rwlock_wrlock(&o->lock);
    else if (!o->store)
        pthread_rwlock_rdlock(&o->lock);
    t->locked = true;
}

int turn_begin(turn *t, model_object *o, turn_kind kind, bool is_long, list_data *list)
{
    *t = (turn){.o = o, .kind = kind};
    if (check_ready(o) < 0)
        return -1;
    bool stays = !is_long && (o->store ? o->away == 0 : try_lock(o, kind));
    t->locked = stays && !o->store;
    if (!stays && list && list_own(list) < 0)
        return -1;
    if (!stays)
        go_away(t);
    if (!o->store)
        t->model = o->model;
    else if (kind == TURN_READ)
        t->model = oltr_store_read(o->store);
    return 0;
}

void turn_end(turn *t)
{
    model_object *o = t->o;
    bool read = t->model != NULL;
    t->items = oltr_model_items(t->model);
    if (o->store && t->kind == TURN_READ)
        oltr_store_done(o->store);
    if (t->locked)
        pthread_rwlock_unlock(&o->lock);
    if (t->away) {
        PyEval_RestoreThread(t->away);
        o->away--;
        o->changing -= t->kind == TURN_CHANGE;
    }
    if (read)
        o->items = t->items;
}

bool model_is_large(const model_object *o)
{
    return o->items > LARGE_ITEMS;
}

bool store_may_wait(model_object *o)
{
    oltr_store_state state;
    if (!o->store)
        return false;
    if (o->sync == OLTR_SYNC_ALWAYS)
        return true;
    if (o->state != MODEL_READY || turn_is_forked(o))
        return false;
    oltr_store_stat(o->store, &state); /* a long log is followed by a checkpoint */
    uint64_t most = o->checkpoint_bytes > 0 ? o->checkpoint_bytes : (uint64_t)DEFAULT_LOG_MIB << 20;
    return state.log_bytes + LOG_MARGIN > most;
}

void turns_close(model_object *o)
{
    o->state = MODEL_CLOSED;
    PyThreadState *thread = PyEval_SaveThread();
    pthread_rwlock_wrlock(&o->lock);
    pthread_rwlock_unlock(&o->lock);
    PyEval_RestoreThread(thread);
}

/* ---- scratches */

oltr_model_scratch *model_scratch_take(model_object *o)
{
    if (o->n_scratches > 0)
        return o->scratch[--o->n_scratches];
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    if (!scratch)
        PyErr_NoMemory();
    return scratch;
}

void model_scratch_give(model_object *o, oltr_model_scratch *scratch)
{
    if (scratch && o->n_scratches < MODEL_SCRATCHES)
        o->scratch[o->n_scratches++] = scratch;
    else
        oltr_model_scratch_free(scratch);
}
