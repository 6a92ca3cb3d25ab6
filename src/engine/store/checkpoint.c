/* checkpoint.c - a new image and an empty log, and loads that are not logged.
 *
 * Order: the image is written beside its place, flushed, renamed and its folder flushed; then the
 * log is emptied.  A crash before the rename leaves the old image and its log, one after it an
 * image that has every call of the log, which opening skips by their numbers.
 *
 * A load works on a copy of the model, which takes its place when the image of it is on the disk:
 * it can be given up at any time, and readers go on with the model as it was.
 */
#define _POSIX_C_SOURCE 200809L
#include "engine/store/parts.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/base/file.h"

enum { CHECKPOINT_MIB = 64 };

void store_plan_checkpoint(oltr_store *store, uint64_t from)
{
    uint64_t more = store->checkpoint_bytes, least = (uint64_t)CHECKPOINT_MIB << 20;
    if (more == 0) /* at least the image: else most of the writing would be that of images */
        more = store->image_bytes > least ? store->image_bytes : least;
    store->checkpoint_at = more <= UINT64_MAX - from ? from + more : UINT64_MAX;
}

/* The image is on the disk: so are all its calls. */
static void note_image(oltr_store *store, uint64_t number)
{
    pthread_mutex_lock(&store->ledger);
    store->written = store->on_disk = number;
    store->state.log_bytes = store->log.end;
    store->state.checkpoints++;
    pthread_cond_broadcast(&store->ledger_changed);
    pthread_mutex_unlock(&store->ledger);
}

oltr_status store_write_image(oltr_store *store, const oltr_model *model, uint64_t number,
                              bool *renamed, oltr_error *error)
{
    size_t size = 0;
    store_image image;
    unsigned char *bytes;
    oltr_status status = store_image_make(model, number, &bytes, &size, &image, error);
    *renamed = false;
    if (status != OLTR_OK)
        return status;
    status = bytes_write(store->path, bytes, size, error);
    free(bytes);
    if (status != OLTR_OK)
        return status;
    *renamed = true;
    if (!flush_folder_of(store->path) || !call_log_restart(&store->log, &image))
        return store_fail(store, "empty", error);
    note_image(store, number);
    store->image_bytes = size;
    store_plan_checkpoint(store, 0);
    return OLTR_OK;
}

void store_checkpoint_if_due(oltr_store *store)
{
    bool renamed;
    if (store->log.end <= store->checkpoint_at)
        return;
    if (store_write_image(store, store->model, store->number, &renamed, NULL) == OLTR_OK)
        return;
    store_plan_checkpoint(store, store->log.end); /* again when the log has grown by as much */
    pthread_mutex_lock(&store->ledger);
    store->state.failed_checkpoints++;
    pthread_mutex_unlock(&store->ledger);
}

oltr_status oltr_store_checkpoint(oltr_store *store, oltr_error *error)
{
    bool renamed;
    oltr_status status = store_begin(store, error);
    if (status != OLTR_OK)
        return status;
    status = store_write_image(store, store->model, store->number, &renamed, error);
    pthread_mutex_unlock(&store->writers);
    return status;
}

/* ---- loads */

oltr_model *oltr_store_load(oltr_store *store, oltr_error *error)
{
    oltr_error why;
    if (store_begin(store, error) != OLTR_OK)
        return NULL;
    oltr_model *copy = store->loading = oltr_model_copy(store->model, NULL, &why);
    pthread_mutex_unlock(&store->writers);
    if (!copy)
        set_error(error, why.code, "no copy of the model to load into: %s", why.msg);
    return copy;
}

static void end_load(oltr_store *store)
{
    oltr_model_free(store->loading);
    store->loading = NULL;
    pthread_cond_broadcast(&store->load_ended);
}

/* The loaded model takes the place of the old one, which end_load() frees. */
static oltr_status keep_load(oltr_store *store, oltr_error *error)
{
    bool renamed;
    uint64_t number = store->number + 1;
    oltr_status status = store_may_change(store, error);
    if (status != OLTR_OK)
        return status;
    if (number > MOST_CALLS)
        return set_error(error, OLTR_ESTATE, "%s has had as many calls as it can count",
                         store->path);
    status = store_write_image(store, store->loading, number, &renamed, error);
    if (!renamed)
        return status;
    oltr_model *old = store->model;
    store->number = number;
    pthread_rwlock_wrlock(&store->readers);
    store->model = store->loading;
    pthread_rwlock_unlock(&store->readers);
    store->loading = old;
    end_load(store);
    return status;
}

oltr_status oltr_store_loaded(oltr_store *store, int keep, oltr_error *error)
{
    if (!store)
        return set_error(error, OLTR_EINVAL, "there is no store");
    oltr_status status = store_is_ours(store, error);
    if (status != OLTR_OK)
        return status;
    pthread_mutex_lock(&store->writers);
    if (!store->loading)
        status = set_error(error, OLTR_EINVAL, "%s: no load was begun with oltr_store_load()",
                           store->path);
    else if (keep)
        status = keep_load(store, error);
    else
        end_load(store);
    pthread_mutex_unlock(&store->writers);
    return status;
}
