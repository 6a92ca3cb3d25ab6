/* readers.c - reading the model of a store from any number of threads. */
#define _POSIX_C_SOURCE 200809L
#include "engine/store/parts.h"

#include <stdlib.h>

const oltr_model *oltr_store_read(oltr_store *store)
{
    return store && pthread_rwlock_rdlock(&store->readers) == 0 ? store->model : NULL;
}

void oltr_store_done(oltr_store *store)
{
    if (store)
        pthread_rwlock_unlock(&store->readers);
}

/* ---- the scratches: as many as there were threads ranking at once */

static oltr_model_scratch *take_scratch(oltr_store *store)
{
    oltr_model_scratch *scratch = NULL;
    pthread_mutex_lock(&store->pool);
    if (store->free_scratches > 0)
        scratch = store->scratch[--store->free_scratches];
    pthread_mutex_unlock(&store->pool);
    return scratch ? scratch : oltr_model_scratch_new(store->memory.take ? &store->memory : NULL);
}

/* With the pool held: whether there is room for one more. */
static bool has_room(oltr_store *store)
{
    if (store->free_scratches < store->pool_room)
        return true;
    size_t room = 2 * store->pool_room + 4;
    oltr_model_scratch **more = realloc(store->scratch, room * sizeof(oltr_model_scratch *));
    if (!more)
        return false;
    store->scratch = more;
    store->pool_room = room;
    return true;
}

static void give_scratch(oltr_store *store, oltr_model_scratch *scratch)
{
    pthread_mutex_lock(&store->pool);
    bool kept = has_room(store);
    if (kept)
        store->scratch[store->free_scratches++] = scratch;
    pthread_mutex_unlock(&store->pool);
    if (!kept) /* the next thread makes another */
        oltr_model_scratch_free(scratch);
}

oltr_status oltr_store_rank(oltr_store *store, const oltr_list *list, oltr_rng rng, oltr_show *show,
                            oltr_error *error)
{
    if (!store)
        return set_error(error, OLTR_EINVAL, "there is no store");
    oltr_model_scratch *scratch = take_scratch(store);
    if (!scratch)
        return set_error(error, OLTR_ENOMEM, "no memory for the scratch of another thread");
    pthread_rwlock_rdlock(&store->readers);
    oltr_status status = oltr_model_rank(store->model, list, rng, scratch, show, error);
    pthread_rwlock_unlock(&store->readers);
    give_scratch(store, scratch);
    return status;
}
