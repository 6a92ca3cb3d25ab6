/* changes.c - the calls that change a model, logged.
 *
 * The record is composed before the model is changed, so that a lack of memory is met while there
 * is nothing to undo; a record of a call that is refused, or that changes nothing, is dropped.
 */
#define _POSIX_C_SOURCE 200809L
#include "engine/store/parts.h"

#include <errno.h>
#include <stdlib.h>

/* Pending records are written when there are so many bytes of them; room beyond, which a merge
 * takes, is given back. */
enum { WRITE_AT = 1 << 18, KEPT_ROOM = 4 * WRITE_AT };

oltr_status store_begin(oltr_store *store, oltr_error *error)
{
    if (!store)
        return set_error(error, OLTR_EINVAL, "there is no store");
    if (store->read_only)
        return store_may_change(store, error);
    oltr_status status = store_is_ours(store, error);
    if (status != OLTR_OK)
        return status;
    pthread_mutex_lock(&store->writers);
    while (store->loading)
        pthread_cond_wait(&store->load_ended, &store->writers);
    status = store_may_change(store, error);
    if (status != OLTR_OK)
        pthread_mutex_unlock(&store->writers);
    return status;
}

/* Composes the record of the next call behind those that are pending; `used` is its length. */
static oltr_status compose(oltr_store *store, const call *c, uint64_t bound, size_t *used,
                           oltr_error *error)
{
    struct text *pending = &store->pending;
    if (bound > UINT32_MAX)
        return set_error(error, OLTR_EUNSUPPORTED,
                         "a call of %llu bytes is too long for the log: use oltr_store_load()",
                         (unsigned long long)bound);
    if (store->number + 1 > MOST_CALLS)
        return set_error(error, OLTR_ESTATE, "%s has had as many calls as it can count",
                         store->path);
    if (!text_reserve(pending, (size_t)bound)) {
        pending->failed = false;
        return set_error(error, OLTR_ENOMEM, "no memory for a record of %llu bytes",
                         (unsigned long long)bound);
    }
    writer w = {(unsigned char *)pending->bytes + pending->length, (size_t)bound, 0};
    put_record(&w, store->number + 1, c);
    *used = w.used;
    return OLTR_OK;
}

/* Does the call in memory; its record is then pending.  With `writers` held. */
static oltr_status perform(oltr_store *store, const call *c, uint32_t *changed, oltr_error *error)
{
    oltr_error why;
    size_t used = 0;
    uint64_t bound = record_bound(c);
    oltr_status status = bound ? compose(store, c, bound, &used, error) : OLTR_OK;
    *changed = 0;
    if (status != OLTR_OK)
        return status;
    pthread_rwlock_wrlock(&store->readers);
    status = do_call(store->model, c, NULL, changed, &why);
    pthread_rwlock_unlock(&store->readers);
    if (status != OLTR_OK)
        return set_error(error, status, "%s", why.msg);
    if (*changed && !bound) { /* it cannot be: the model reads what a record holds */
        errno = EINVAL;
        return store_fail(store, "log a call that is not whole in", error);
    }
    if (*changed) {
        store->pending.length += used;
        store->number++;
    }
    return OLTR_OK;
}

/* Writes the pending records.  With `writers` held. */
static oltr_status write_pending(oltr_store *store, oltr_error *error)
{
    struct text *pending = &store->pending;
    size_t length = pending->length;
    pending->length = 0;
    if (length == 0)
        return OLTR_OK;
    bool written = call_log_append(&store->log, pending->bytes, length);
    if (!written)
        store_fail(store, "write", error);
    if (pending->capacity > KEPT_ROOM)
        text_free(pending);
    if (!written)
        return OLTR_EIO;
    store_note_written(store, store->number, store->log.end);
    store_checkpoint_if_due(store);
    return OLTR_OK;
}

/* Lets `writers` go.  A call that changed nothing because another had done the same waits for the
 * disk too: what it reports is the other's change. */
static oltr_status finish(oltr_store *store, oltr_status status, oltr_error *error)
{
    uint64_t number = store->number;
    pthread_mutex_unlock(&store->writers);
    if (status == OLTR_OK && store->sync == OLTR_SYNC_ALWAYS)
        status = store_wait_for_disk(store, number, error);
    return status;
}

static oltr_status change(oltr_store *store, const call *c, uint32_t *changed, oltr_error *error)
{
    oltr_status status = store_begin(store, error);
    *changed = 0;
    if (status != OLTR_OK)
        return status;
    status = perform(store, c, changed, error);
    if (status == OLTR_OK)
        status = write_pending(store, error);
    return finish(store, status, error);
}

/* The same for calls that report `applied`. */
static oltr_status apply(oltr_store *store, const call *c, int *applied, oltr_error *error)
{
    uint32_t changed;
    oltr_status status = change(store, c, &changed, error);
    if (applied)
        *applied = (int)changed;
    return status;
}

/* ---- learning */

static call learn_call(const oltr_store *store, const oltr_lesson *lesson)
{
    return (call){.kind = CALL_LEARN, .lesson = *lesson, .dim = store->dim};
}

static oltr_status check_lessons(const oltr_store *store, const oltr_lesson *lesson,
                                 oltr_error *error)
{
    return store && lesson ? OLTR_OK
                           : set_error(error, OLTR_EINVAL, "a store and a lesson are needed");
}

oltr_status oltr_store_learn_many(oltr_store *store, const oltr_lesson *lesson, size_t n,
                                  size_t *done, size_t *applied, oltr_error *error)
{
    size_t accepted = 0, learned = 0;
    oltr_status status = n ? check_lessons(store, lesson, error) : OLTR_OK;
    if (status == OLTR_OK)
        status = store_begin(store, error);
    bool begun = status == OLTR_OK;
    for (; status == OLTR_OK && accepted < n; accepted += status == OLTR_OK) {
        uint32_t changed;
        call c = learn_call(store, &lesson[accepted]);
        status = perform(store, &c, &changed, error);
        learned += changed;
        if (status == OLTR_OK && store->pending.length >= WRITE_AT)
            status = write_pending(store, error);
    }
    if (begun) {
        oltr_status written = write_pending(store, status == OLTR_OK ? error : NULL);
        /* a refused lesson: those before it are waited for, and its reason stays */
        written = finish(store, written, status == OLTR_OK ? error : NULL);
        status = status == OLTR_OK ? written : status;
    }
    if (done)
        *done = accepted;
    if (applied)
        *applied = learned;
    return status;
}

oltr_status oltr_store_learn(oltr_store *store, const oltr_lesson *lesson, int *applied,
                             oltr_error *error)
{
    oltr_status status = check_lessons(store, lesson, error);
    if (applied)
        *applied = 0;
    if (status != OLTR_OK)
        return status;
    call c = learn_call(store, lesson);
    return apply(store, &c, applied, error);
}

/* ---- the other calls */

oltr_status oltr_store_prior(oltr_store *store, const oltr_name *name, const double *pair,
                             uint32_t n, oltr_error *error)
{
    return apply(store, &(call){.kind = CALL_PRIOR, .name = name, .pair = pair, .n = n}, NULL,
                 error);
}

static oltr_status count(oltr_store *store, const call *c, uint32_t *items, oltr_error *error)
{
    uint32_t changed;
    oltr_status status = change(store, c, &changed, error);
    if (items)
        *items = changed;
    return status;
}

oltr_status oltr_store_remove(oltr_store *store, const oltr_name *name, uint32_t n,
                              uint32_t *removed, oltr_error *error)
{
    return count(store, &(call){.kind = CALL_REMOVE, .name = name, .n = n}, removed, error);
}

oltr_status oltr_store_reset(oltr_store *store, const oltr_name *name, uint32_t n, uint32_t *reset,
                             oltr_error *error)
{
    return count(store, &(call){.kind = CALL_RESET, .name = name, .n = n}, reset, error);
}

oltr_status oltr_store_trim(oltr_store *store, uint64_t idle, uint32_t *removed, oltr_error *error)
{
    return count(store, &(call){.kind = CALL_TRIM, .idle = idle}, removed, error);
}

oltr_status oltr_store_forget(oltr_store *store, double keep, oltr_name id, int *applied,
                              oltr_error *error)
{
    return apply(store, &(call){.kind = CALL_FORGET, .keep = keep, .id = id}, applied, error);
}

/* The image of `from` is part of the record. */
oltr_status oltr_store_merge(oltr_store *store, const oltr_model *from, oltr_name id, int *applied,
                             oltr_error *error)
{
    if (applied)
        *applied = 0;
    if (!from)
        return set_error(error, OLTR_EINVAL, "there is no model to merge");
    size_t bound = oltr_model_save_bound(from), size = 0;
    unsigned char *image = malloc(bound ? bound : 1);
    if (!image)
        return set_error(error, OLTR_ENOMEM, "no memory for the %zu bytes of the other model",
                         bound);
    oltr_status status = oltr_model_save(from, image, bound, &size);
    if (status != OLTR_OK)
        set_error(error, status, "the other model cannot be saved: %s", oltr_strerror(status));
    else
        status = apply(
            store,
            &(call){.kind = CALL_MERGE, .from = from, .image = image, .image_size = size, .id = id},
            applied, error);
    free(image);
    return status;
}
