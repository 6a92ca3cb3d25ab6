/* ledger.c - what of the log is written and what is on the disk, and the threads that wait for it.
 *
 * A call to fdatasync() takes milliseconds.  One thread is in it at a time; it brings everything to
 * the disk that was written before it began, so that all threads that wrote meanwhile need only one
 * more.  After a failure of the disk the system may call the lost pages clean, so that a second
 * fdatasync() would succeed: no failure is forgotten.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "engine/store/parts.h"

oltr_status store_fail(oltr_store *store, const char *what, oltr_error *error)
{
    int why = errno;
    pthread_mutex_lock(&store->ledger);
    if (store->failure.code == OLTR_OK)
        set_error(&store->failure, OLTR_EIO,
                  "cannot %s %s: %s. The model may be ahead of the disk: make room or repair it, "
                  "close the store and open it again",
                  what, store->log.path, strerror(why));
    store->failed = true;
    if (error)
        *error = store->failure;
    pthread_cond_broadcast(&store->ledger_changed);
    pthread_mutex_unlock(&store->ledger);
    return OLTR_EIO;
}

oltr_status store_is_ours(const oltr_store *store, oltr_error *error)
{
    if (store->read_only || fork_mark_is_here(&store->mark))
        return OLTR_OK;
    return set_error(error, OLTR_EBUSY,
                     "%s was opened before this process was forked: open it after the fork, in the "
                     "one process that writes to it",
                     store->path);
}

oltr_status store_may_change(oltr_store *store, oltr_error *error)
{
    if (store->read_only)
        return set_error(error, OLTR_EUNSUPPORTED,
                         "%s was opened read only: open it for writing to change it", store->path);
    if (!store->failed)
        return OLTR_OK;
    pthread_mutex_lock(&store->ledger);
    if (error)
        *error = store->failure;
    pthread_mutex_unlock(&store->ledger);
    return OLTR_EIO;
}

void store_note_written(oltr_store *store, uint64_t number, uint64_t end)
{
    pthread_mutex_lock(&store->ledger);
    bool wakes = store->has_second && store->written == store->on_disk;
    store->written = number;
    store->state.log_bytes = end;
    pthread_mutex_unlock(&store->ledger);
    if (wakes)
        pthread_cond_signal(&store->second_wakes);
}

/* With the ledger held, which is let go meanwhile: everything that is written now goes to the disk.
 */
static void flush_written(oltr_store *store)
{
    uint64_t target = store->written;
    store->syncing = true;
    pthread_mutex_unlock(&store->ledger);
    bool good = call_log_flush(&store->log);
    if (!good)
        store_fail(store, "write", NULL);
    pthread_mutex_lock(&store->ledger);
    store->syncing = false;
    if (good && target > store->on_disk)
        store->on_disk = target;
    pthread_cond_broadcast(&store->ledger_changed);
}

oltr_status store_wait_for_disk(oltr_store *store, uint64_t number, oltr_error *error)
{
    pthread_mutex_lock(&store->ledger);
    while (store->on_disk < number && store->failure.code == OLTR_OK)
        if (store->syncing)
            pthread_cond_wait(&store->ledger_changed, &store->ledger);
        else
            flush_written(store);
    oltr_status status = store->on_disk < number ? store->failure.code : OLTR_OK;
    if (status != OLTR_OK && error)
        *error = store->failure;
    pthread_mutex_unlock(&store->ledger);
    return status;
}

/* ---- once a second */

/* Lets a second pass, or less when the store is closed. */
static void wait_a_second(oltr_store *store)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    int waited = 0;
    while (!store->closing && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&store->second_wakes, &store->ledger, &until);
}

static void *flush_each_second(void *context)
{
    oltr_store *store = context;
    pthread_mutex_lock(&store->ledger);
    while (!store->closing && store->failure.code == OLTR_OK) {
        if (store->written == store->on_disk) {
            pthread_cond_wait(&store->second_wakes, &store->ledger);
            continue;
        }
        wait_a_second(store);
        while (store->syncing)
            pthread_cond_wait(&store->ledger_changed, &store->ledger);
        if (store->on_disk < store->written && store->failure.code == OLTR_OK)
            flush_written(store);
    }
    pthread_mutex_unlock(&store->ledger);
    return NULL;
}

/* The thread takes no signals: handlers of the program run in threads of the program. */
oltr_status store_start_second(oltr_store *store, oltr_error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&store->second, NULL, flush_each_second, store);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    store->has_second = failed == 0;
    return failed ? set_error(error, failed == EAGAIN ? OLTR_ENOMEM : OLTR_EINVAL,
                              "cannot start the thread that writes once a second: %s",
                              strerror(failed))
                  : OLTR_OK;
}

void store_stop_second(oltr_store *store)
{
    if (!store->has_second)
        return;
    pthread_mutex_lock(&store->ledger);
    store->closing = true;
    pthread_cond_signal(&store->second_wakes);
    pthread_mutex_unlock(&store->ledger);
    pthread_join(store->second, NULL);
    store->has_second = false;
}
