/* parts.h - what the files of a store share: the struct, its locks, and who may touch what.
 *
 *   writers   a mutex: one change at a time.  Its holder alone changes the model, the log and the
 *             number of the last call, and waits for the disk in a checkpoint only.
 *   readers   a reader/writer lock around the model.  A change takes it for the time of the change
 *             in memory, and never while it waits for the disk.
 *   ledger    a mutex, held for a few instructions: what is written, what is on the disk, whether a
 *             write failed.
 *   pool      a mutex around the scratches that are not in use.
 * They are taken in this order; readers and ledger are never held together.
 *
 * One change: writers { compose the record; readers { change the model }; write the record }; then,
 * with OLTR_SYNC_ALWAYS, wait until the disk has it.  While one thread is in fdatasync() others
 * write their records, and the next fdatasync() serves all of them.
 */
#ifndef OLTR_ENGINE_STORE_PARTS_H
#define OLTR_ENGINE_STORE_PARTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <oltr/store.h>

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/store/call_log.h"
#include "engine/store/fork_mark.h"
#include "engine/store/record.h"

struct oltr_store {
    char *path;
    oltr_memory memory; /* the hook of the caller; take NULL: the C library's */
    size_t most_bytes;
    uint32_t sync, dim; /* dim: floats of a row */
    bool read_only;
    fork_mark mark; /* of the process that opened it */

    pthread_mutex_t writers;
    pthread_cond_t load_ended;
    oltr_model *loading; /* of oltr_store_load(); NULL: none */
    call_log log;
    struct text pending;       /* records that are not written yet */
    uint64_t number;           /* of the last call in the model */
    uint64_t checkpoint_bytes; /* of the options; 0: the default */
    uint64_t image_bytes;      /* length of the image on the disk */
    uint64_t checkpoint_at;    /* a longer log is followed by a checkpoint */

    pthread_rwlock_t readers;
    oltr_model *model;

    pthread_mutex_t ledger;
    pthread_cond_t ledger_changed; /* `on_disk`, `syncing` or `failure` did */
    uint64_t written, on_disk;     /* numbers of the last call in the log, and on the disk */
    bool syncing;                  /* a thread is in fdatasync() */
    oltr_store_state state;        /* but its number and `failed` */
    oltr_error failure;            /* code OLTR_OK: none */
    atomic_bool failed;            /* there is one; it stays */

    pthread_t second; /* with OLTR_SYNC_SECOND */
    bool has_second, closing;
    pthread_cond_t second_wakes; /* `written` or `closing` changed */

    pthread_mutex_t pool;
    oltr_model_scratch **scratch; /* (free_scratches) that no thread uses */
    size_t free_scratches, pool_room;
};

/* ---- ledger.c: what is written and what is on the disk */

/* Refuses all changes from now on; returns OLTR_EIO, with a sentence made from errno. */
oltr_status store_fail(oltr_store *store, const char *what, oltr_error *error);
/* OLTR_EBUSY in a forked process: locks and threads are those of its parent. */
oltr_status store_is_ours(const oltr_store *store, oltr_error *error);
/* OLTR_OK, or why there is no change: opened to read, or store_fail() was called. */
oltr_status store_may_change(oltr_store *store, oltr_error *error);
/* Call `number` is in the log, which ends at `end`. */
void store_note_written(oltr_store *store, uint64_t number, uint64_t end);
/* Waits until call `number` is on the disk. */
oltr_status store_wait_for_disk(oltr_store *store, uint64_t number, oltr_error *error);
/* The thread of OLTR_SYNC_SECOND. */
oltr_status store_start_second(oltr_store *store, oltr_error *error);
void store_stop_second(oltr_store *store);

/* ---- checkpoint.c; the caller holds `writers` */

/* A new image of `model`, whose last call is `number`, under its final name and on the disk, and an
 * empty log.  renamed: whether the new image is in its place. */
oltr_status store_write_image(oltr_store *store, const oltr_model *model, uint64_t number,
                              bool *renamed, oltr_error *error);
/* The next checkpoint is due when the log has grown by enough beyond `from`. */
void store_plan_checkpoint(oltr_store *store, uint64_t from);
/* Where the log is long enough, a checkpoint.  One that fails is counted: the log goes on. */
void store_checkpoint_if_due(oltr_store *store);

/* ---- changes.c */

/* Takes `writers`, after a load has ended; on any status but OLTR_OK it is not held. */
oltr_status store_begin(oltr_store *store, oltr_error *error);

#endif
