/* store.h - a model on disk, for one process: an image and a log of the calls since.  Link with
 * -loltr.
 *
 *   PATH       the image of the model, with the number of its last call
 *   PATH.log   the calls behind it: learn, prior, remove, reset, trim, forget, merge
 *
 * Opening loads the image and replays the log, to the same bytes; it takes memory for both files. A
 * record that was being written when the machine stopped is cut off and reported; damage in front
 * of whole records is refused and nothing is cut.  A log that does not belong to the image, or
 * misses calls behind it, is refused.  A checkpoint writes a new image, under its final name only
 * when it is on the disk, and empties the log.  docs/formats.md has the bytes.
 *
 * What survives a crash is a choice:
 *   OLTR_SYNC_NONE     what the system had written; a killed process loses nothing, a loss of power
 *                      may lose everything since the last checkpoint
 *   OLTR_SYNC_SECOND   a loss of power loses about the last second
 *   OLTR_SYNC_ALWAYS   a call that returned OLTR_OK is on the disk
 *
 * Threads: all calls may run at once but oltr_store_close().  Reading (between oltr_store_read()
 * and oltr_store_done()) runs in any number of threads, and waits while a call changes the model,
 * which takes microseconds: the disk is waited for outside of that lock.  A change has precedence
 * over readers that come later, so a thread that reads must not call the store again, not even to
 * read, before oltr_store_done().  Changes wait for each other and for a checkpoint.
 *
 * A store belongs to the process that opened it.  In a forked process changes, checkpoints and
 * loads are refused with OLTR_EBUSY; oltr_store_close() only closes the file there, and keeps the
 * lock and the files of the parent.  Nothing else of the store may be used there, not even to read,
 * unless it was opened read only.
 *
 * When the log cannot be written, the call returns OLTR_EIO and so do all later changes: the model
 * in memory may be ahead of the disk then.  Close the store and open it again; a lesson with an id
 * is learned once however often it is sent.
 */
#ifndef OLTR_STORE_H
#define OLTR_STORE_H

#include <oltr/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct oltr_store oltr_store; /* a model, its files and its locks */

/* When changes reach the disk: what a loss of power may lose (above). */
typedef enum oltr_sync { OLTR_SYNC_NONE, OLTR_SYNC_SECOND, OLTR_SYNC_ALWAYS } oltr_sync;

/* How a store is opened.  A zero-filled struct gives the defaults. */
typedef struct oltr_store_options {
    uint32_t size; /* sizeof(oltr_store_options); 0 means that of oltr 0.1 */
    uint32_t sync; /* oltr_sync */
    /* Made when PATH does not exist; NULL: a missing file is an error.  Of an existing model they
     * are not read. */
    const oltr_model_settings *create;
    /* A longer log is followed by a checkpoint, in the call that made it so long.  0: 64 MiB, or
     * the length of the image where that is more. */
    uint64_t checkpoint_bytes;
    size_t most_bytes;         /* of the model when it is loaded; 0: as oltr_load_options */
    const oltr_memory *memory; /* for the model; NULL: the C library's */
    /* 1: nothing is written, locked or made; a torn record is skipped, and `create` and `sync` are
     * not read.  Another process may write meanwhile: the model is that of the time of opening. */
    uint32_t read_only;
    uint32_t reserved32;
    /* A copy of this is made when PATH does not exist, in place of `create`: a model that was
     * loaded from an image, or made by oltr_model_like().  NULL: none. */
    const oltr_model *create_from;
    uint64_t reserved[3]; /* 0 */
} oltr_store_options;

/* Opens the model of a file, and repeats the calls of its log.  OLTR_EBUSY when another process, or
 * this one, has the store open for writing. */
OLTR_API oltr_store *oltr_store_open(const char *path, const oltr_store_options *options,
                                     oltr_error *error);
/* Writes what is left to the disk and frees the store, also when that fails. */
OLTR_API oltr_status oltr_store_close(oltr_store *store, oltr_error *error);

/* What opening found, and what was done since. */
typedef struct oltr_store_state {
    uint64_t number;             /* of the last call in the model */
    uint64_t replayed;           /* calls that opening took from the log */
    uint64_t cut_bytes;          /* of an incomplete record at the end of the log, cut off */
    uint64_t log_bytes;          /* the length of the log */
    uint64_t checkpoints;        /* images written since opening */
    uint64_t failed_checkpoints; /* begun because of a long log; oltr_store_checkpoint() says why */
    uint32_t created;            /* 1: the image did not exist */
    uint32_t failed;             /* 1: a write failed, and changes are refused */
    uint64_t reserved[4];
} oltr_store_state;
OLTR_API void oltr_store_stat(oltr_store *store, oltr_store_state *out);

/* The model to read, until oltr_store_done() in the same thread; NULL for no store. */
OLTR_API const oltr_model *oltr_store_read(oltr_store *store);
OLTR_API void oltr_store_done(oltr_store *store);
/* oltr_model_rank() with a scratch of the store. */
OLTR_API oltr_status oltr_store_rank(oltr_store *store, const oltr_list *list, oltr_rng rng,
                                     oltr_show *show, oltr_error *error);

/* As oltr_model_learn(), and logged, like the other calls of model.h below.  Calls that change
 * nothing, such as a lesson with an id that was seen before, are not. */
OLTR_API oltr_status oltr_store_learn(oltr_store *store, const oltr_lesson *lesson, int *applied,
                                      oltr_error *error);
/* Lesson after lesson, up to the first that is refused, and one wait for the disk.  done is how
 * many were accepted, applied how many of them were new; either may be NULL.  After OLTR_EIO any of
 * them may be on the disk. */
OLTR_API oltr_status oltr_store_learn_many(oltr_store *store, const oltr_lesson *lesson, size_t n,
                                           size_t *done, size_t *applied, oltr_error *error);
/* As oltr_model_prior(), oltr_model_remove(), oltr_model_reset(), oltr_model_trim(),
 * oltr_model_forget() and oltr_model_merge(), and logged. */
OLTR_API oltr_status oltr_store_prior(oltr_store *store, const oltr_name *name, const double *pair,
                                      uint32_t n, oltr_error *error);
OLTR_API oltr_status oltr_store_remove(oltr_store *store, const oltr_name *name, uint32_t n,
                                       uint32_t *removed, oltr_error *error);
OLTR_API oltr_status oltr_store_reset(oltr_store *store, const oltr_name *name, uint32_t n,
                                      uint32_t *reset, oltr_error *error);
OLTR_API oltr_status oltr_store_trim(oltr_store *store, uint64_t idle, uint32_t *removed,
                                     oltr_error *error);
OLTR_API oltr_status oltr_store_forget(oltr_store *store, double keep, oltr_name id, int *applied,
                                       oltr_error *error);
OLTR_API oltr_status oltr_store_merge(oltr_store *store, const oltr_model *from, oltr_name id,
                                      int *applied, oltr_error *error);

/* A new image, and an empty log. */
OLTR_API oltr_status oltr_store_checkpoint(oltr_store *store, oltr_error *error);
/* Waits until everything is on the disk. */
OLTR_API oltr_status oltr_store_sync(oltr_store *store, oltr_error *error);

/* For a long load that is not logged: a copy of the model, to be changed by the calls of model.h.
 * oltr_store_loaded() puts it in the place of the model and writes a checkpoint (keep 1), or drops
 * it (keep 0); when the checkpoint fails, the load goes on, and either may be called again. Readers
 * see the model as it was.  Other changes, and a second load, wait for the end of the first: the
 * thread that loads must not call them. */
OLTR_API oltr_model *oltr_store_load(oltr_store *store, oltr_error *error);
OLTR_API oltr_status oltr_store_loaded(oltr_store *store, int keep, oltr_error *error);

#ifdef __cplusplus
}
#endif
#endif
