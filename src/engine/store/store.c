/* store.c - opening and closing of stores.
 *
 * To write: the log is locked, then both files are read, the calls of the log are repeated, and the
 * log is put into the state that the next record needs: cut behind its last whole record, or begun
 * anew where the image has all of it.  Nothing is changed on the disk before everything was read
 * and found good.
 *
 * To read: the log first, then the image.  A writer that empties the log between the two has put
 * its calls into the image.  One that does so while the log is read makes it look damaged: then the
 * image is another one afterwards, and both are read again.
 */
#define _GNU_SOURCE 1 /* pthread_rwlockattr_setkind_np, getentropy */
#include "engine/store/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/struct_check.h"
#include "engine/store/replay.h"

/* ---- options */

static oltr_status check_options(const oltr_store_options *o, oltr_error *error)
{
    if (size_check("store options", o->size, sizeof *o, error) != OLTR_OK ||
        reserved_check("store options", o->reserved32, o->reserved, sizeof o->reserved, error) !=
            OLTR_OK)
        return OLTR_EINVAL;
    if (!memory_is_whole(o->memory))
        return set_error(error, OLTR_EINVAL, "a memory hook needs both take and give");
    if (o->create && o->create_from)
        return set_error(error, OLTR_EINVAL,
                         "a store is made from settings or from a model: give one of `create` and "
                         "`create_from`");
    if (o->sync > OLTR_SYNC_ALWAYS || o->read_only > 1)
        return set_error(error, OLTR_EINVAL,
                         "sync is OLTR_SYNC_NONE, SECOND or ALWAYS, and read_only 0 or 1");
    return OLTR_OK;
}

/* ---- the struct */

/* Ranking threads come one after the other without a pause.  By default glibc lets each of them
 * pass a change that waits, which then waits for ever. */
static bool init_readers(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t kind;
    if (pthread_rwlockattr_init(&kind) != 0)
        return false;
#ifdef __GLIBC__
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    int failed = pthread_rwlock_init(lock, &kind);
    pthread_rwlockattr_destroy(&kind);
    return failed == 0;
}

/* Waits of a second are not disturbed by a clock that is set. */
static bool init_second(pthread_cond_t *condition)
{
    pthread_condattr_t clock;
    if (pthread_condattr_init(&clock) != 0)
        return false;
    int failed =
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) || pthread_cond_init(condition, &clock);
    pthread_condattr_destroy(&clock);
    return failed == 0;
}

/* Locks hold no memory, so that those made before one failed need no end. */
static oltr_store *new_store(const char *path, const oltr_store_options *o, oltr_error *error)
{
    oltr_store *s = calloc(1, sizeof *s);
    if (!s || !init_readers(&s->readers) || !init_second(&s->second_wakes) ||
        pthread_mutex_init(&s->writers, NULL) || pthread_mutex_init(&s->ledger, NULL) ||
        pthread_mutex_init(&s->pool, NULL) || pthread_cond_init(&s->load_ended, NULL) ||
        pthread_cond_init(&s->ledger_changed, NULL)) {
        set_error(error, OLTR_ENOMEM, "no memory for a store");
        free(s);
        return NULL;
    }
    s->log.fd = -1;
    if (o->memory)
        s->memory = *o->memory;
    s->most_bytes = o->most_bytes;
    s->sync = o->sync;
    s->read_only = o->read_only;
    fork_mark_make(&s->mark);
    s->checkpoint_bytes = o->checkpoint_bytes;
    s->path = follow_links(path);
    if (s->path)
        return s;
    set_error(error, errno == ENOMEM ? OLTR_ENOMEM : OLTR_EIO, "cannot open %s: %s", path,
              strerror(errno));
    fork_mark_free(&s->mark);
    free(s);
    return NULL;
}

static void free_store(oltr_store *s)
{
    fork_mark_free(&s->mark);
    for (size_t i = 0; i < s->free_scratches; i++)
        oltr_model_scratch_free(s->scratch[i]);
    free(s->scratch);
    oltr_model_free(s->loading);
    oltr_model_free(s->model);
    call_log_close(&s->log);
    text_free(&s->pending);
    pthread_cond_destroy(&s->second_wakes);
    pthread_cond_destroy(&s->ledger_changed);
    pthread_cond_destroy(&s->load_ended);
    pthread_mutex_destroy(&s->pool);
    pthread_mutex_destroy(&s->ledger);
    pthread_mutex_destroy(&s->writers);
    pthread_rwlock_destroy(&s->readers);
    free(s->path);
    free(s);
}

/* ---- both files */

typedef struct files {
    store_bytes bytes;
    char *log_path;
    unsigned char *image, *log; /* for free() */
} files;

static oltr_status name_files(const oltr_store *s, files *f, oltr_error *error)
{
    size_t length = strlen(s->path);
    *f = (files){.bytes.path = s->path, .log_path = malloc(length + sizeof ".log")};
    if (!f->log_path)
        return set_error(error, OLTR_ENOMEM, "no memory for the name of a log");
    memcpy(f->log_path, s->path, length);
    memcpy(f->log_path + length, ".log", sizeof ".log");
    return OLTR_OK;
}

static void free_bytes(files *f)
{
    free(f->image);
    free(f->log);
    f->image = f->log = NULL;
    f->bytes = (store_bytes){.path = f->bytes.path};
}

static oltr_status read_log(files *f, oltr_error *error)
{
    oltr_status status = bytes_read(f->log_path, SIZE_MAX / 4, &f->log, &f->bytes.log_size, error);
    f->log = status == OLTR_OK ? f->log : NULL;
    f->bytes.log = f->log;
    return status;
}

static oltr_status read_image(files *f, oltr_error *error)
{
    oltr_status status =
        bytes_read(f->bytes.path, SIZE_MAX / 4, &f->image, &f->bytes.image_size, error);
    f->image = status == OLTR_OK ? f->image : NULL;
    f->bytes.image = f->image;
    return status;
}

/* Chosen names must not make the hash of a server slow: its key is that of no other process. */
static oltr_status draw_key(uint64_t key[2], oltr_error *error)
{
    return getentropy(key, 2 * sizeof *key) == 0
               ? OLTR_OK
               : set_error(error, OLTR_EIO, "the system has no random numbers: %s",
                           strerror(errno));
}

static oltr_status replay_files(const oltr_store *s, const files *f, replayed *out,
                                oltr_error *error)
{
    uint64_t key[2];
    oltr_load_options options = {.size = sizeof options,
                                 .memory = s->memory.take ? &s->memory : NULL,
                                 .most_bytes = s->most_bytes};
    *out = (replayed){0};
    oltr_status status = draw_key(key, error);
    return status == OLTR_OK ? replay(&f->bytes, &options, key, out, error) : status;
}

/* Takes over what was read. */
static void take_model(oltr_store *s, const files *f, const replayed *r)
{
    s->model = r->model;
    s->number = s->written = s->on_disk = r->number;
    s->image_bytes = f->bytes.image_size;
    s->state.replayed = r->calls;
    s->state.cut_bytes = f->bytes.log_size - r->end;
    s->state.log_bytes = r->end;
}

/* ---- to read */

/* Which file is at a path, and when it was last written. */
typedef struct identity {
    bool there;
    dev_t device;
    ino_t node;
    off_t size;
    struct timespec time;
} identity;

static identity identify(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return (identity){.there = false};
    return (identity){true, s.st_dev, s.st_ino, s.st_size, s.st_mtim};
}

static bool is_other(const identity *a, const identity *b)
{
    return a->there != b->there || a->device != b->device || a->node != b->node ||
           a->size != b->size || a->time.tv_sec != b->time.tv_sec ||
           a->time.tv_nsec != b->time.tv_nsec;
}

static oltr_status read_both(oltr_store *s, files *f, oltr_error *error)
{
    replayed r;
    oltr_status status = identify(f->log_path).there ? read_log(f, error) : OLTR_OK;
    if (status == OLTR_OK)
        status = read_image(f, error);
    if (status == OLTR_OK)
        status = replay_files(s, f, &r, error);
    if (status == OLTR_OK)
        take_model(s, f, &r);
    return status;
}

static oltr_status open_to_read(oltr_store *s, files *f, oltr_error *error)
{
    enum { TRIES = 10 };
    for (int i = 0;; i++) {
        identity before = identify(s->path);
        oltr_status status = read_both(s, f, error);
        identity after = identify(s->path);
        free_bytes(f);
        if (status == OLTR_OK || i == TRIES || !is_other(&before, &after))
            return status;
    }
}

/* ---- to write */

/* Whether there is an image, an ordinary file. */
static oltr_status look_for_image(const oltr_store *s, bool *found, unsigned *mode,
                                  oltr_error *error)
{
    struct stat status;
    *found = stat(s->path, &status) == 0;
    *mode = *found ? status.st_mode & 0666 : 0666;
    if (!*found && errno != ENOENT)
        return set_error(error, OLTR_EIO, "cannot open %s: %s", s->path, strerror(errno));
    if (*found && !S_ISREG(status.st_mode))
        return set_error(error, OLTR_EIO, "cannot open %s: %s", s->path,
                         S_ISDIR(status.st_mode) ? strerror(EISDIR) : "it is no ordinary file");
    return OLTR_OK;
}

/* A new model, before anything is written. */
static oltr_status make_model(oltr_store *s, const oltr_store_options *o, oltr_error *error)
{
    oltr_error why;
    if (o->create_from) {
        s->model = oltr_model_copy(o->create_from, s->memory.take ? &s->memory : NULL, &why);
        return s->model ? OLTR_OK : set_error(error, why.code, "%s", why.msg);
    }
    if (!o->create)
        return set_error(error, OLTR_EIO,
                         "%s does not exist: give settings in `create` to make a store there",
                         s->path);
    oltr_model_settings settings = *o->create;
    if (s->memory.take)
        settings.policy.memory = &s->memory;
    if (is_zero(settings.name_key, sizeof settings.name_key) &&
        draw_key(settings.name_key, error) != OLTR_OK)
        return OLTR_EIO;
    s->model = oltr_model_new(&settings, &why);
    return s->model ? OLTR_OK : set_error(error, why.code, "%s", why.msg);
}

static oltr_status begin_files(oltr_store *s, files *f, oltr_error *error)
{
    bool renamed;
    oltr_status status = replay_nothing(&f->bytes, error);
    if (status == OLTR_OK)
        status = store_write_image(s, s->model, 0, &renamed, error);
    if (status == OLTR_OK)
        s->state = (oltr_store_state){.created = 1, .log_bytes = s->log.end};
    return status;
}

/* The log as the next record needs it, and on the disk what was replayed. */
static oltr_status mend_log(oltr_store *s, const files *f, const replayed *r, oltr_error *error)
{
    bool good;
    if (!r->continues)
        good = call_log_restart(&s->log, &r->image);
    else if (r->end < f->bytes.log_size)
        good = call_log_cut(&s->log, r->end);
    else
        good = call_log_flush(&s->log);
    s->state.log_bytes = s->log.end = r->continues ? r->end : s->log.end;
    return good ? OLTR_OK
                : set_error(error, OLTR_EIO, "cannot write %s: %s", s->log.path, strerror(errno));
}

static oltr_status continue_files(oltr_store *s, files *f, oltr_error *error)
{
    replayed r;
    oltr_status status = read_image(f, error);
    if (status == OLTR_OK)
        status = replay_files(s, f, &r, error);
    if (status != OLTR_OK)
        return status;
    oltr_model_free(s->model); /* of settings, where another process has made the store meanwhile */
    take_model(s, f, &r);
    return mend_log(s, f, &r, error);
}

static oltr_status open_to_write(oltr_store *s, files *f, const oltr_store_options *o,
                                 oltr_error *error)
{
    bool found;
    unsigned mode;
    oltr_status status = look_for_image(s, &found, &mode, error);
    if (status == OLTR_OK && !found)
        status = make_model(s, o, error);
    if (status == OLTR_OK)
        status = call_log_open(&s->log, f->log_path, mode, error);
    if (status != OLTR_OK)
        return status;
    temp_file_clean(s->path);
    status = look_for_image(s, &found, &mode, error); /* again, now that it is locked */
    if (status == OLTR_OK && !found && !s->model)
        status = make_model(s, o, error);
    if (status == OLTR_OK)
        status = read_log(f, error);
    if (status == OLTR_OK)
        status = found ? continue_files(s, f, error) : begin_files(s, f, error);
    store_plan_checkpoint(s, 0);
    return status;
}

/* ---- the calls */

oltr_store *oltr_store_open(const char *path, const oltr_store_options *options, oltr_error *error)
{
    static const oltr_store_options defaults = {.size = sizeof defaults};
    const oltr_store_options *o = options ? options : &defaults;
    files f;
    if (!path) {
        set_error(error, OLTR_EINVAL, "the path of a store is needed to open it");
        return NULL;
    }
    oltr_store *s = check_options(o, error) == OLTR_OK ? new_store(path, o, error) : NULL;
    if (!s)
        return NULL;
    oltr_status status = name_files(s, &f, error);
    if (status == OLTR_OK)
        status = s->read_only ? open_to_read(s, &f, error) : open_to_write(s, &f, o, error);
    free_bytes(&f);
    free(f.log_path);
    if (status == OLTR_OK)
        s->dim = oltr_model_settings_of(s->model)->policy.dim;
    if (status == OLTR_OK && !s->read_only && s->sync == OLTR_SYNC_SECOND)
        status = store_start_second(s, error);
    if (status == OLTR_OK)
        return s;
    if (!s->state.created)
        call_log_drop(&s->log);
    free_store(s);
    return NULL;
}

oltr_status oltr_store_close(oltr_store *store, oltr_error *error)
{
    if (!store)
        return OLTR_OK;
    if (store_is_ours(store, NULL) != OLTR_OK) { /* its memory may be in the middle of a change */
        call_log_leave(&store->log);
        return OLTR_OK;
    }
    store_stop_second(store);
    oltr_status status = oltr_store_sync(store, error);
    if (status == OLTR_OK && !store->read_only)
        status = store_may_change(store, error); /* a change that failed is reported once more */
    free_store(store);
    return status;
}

oltr_status oltr_store_sync(oltr_store *store, oltr_error *error)
{
    if (!store)
        return set_error(error, OLTR_EINVAL, "there is no store");
    if (store_is_ours(store, error) != OLTR_OK)
        return OLTR_EBUSY;
    pthread_mutex_lock(&store->ledger);
    uint64_t number = store->written;
    pthread_mutex_unlock(&store->ledger);
    return store_wait_for_disk(store, number, error);
}

void oltr_store_stat(oltr_store *store, oltr_store_state *out)
{
    if (!out)
        return;
    *out = (oltr_store_state){0};
    if (!store)
        return;
    pthread_mutex_lock(&store->ledger);
    *out = store->state;
    out->number = store->written;
    out->failed = store->failure.code != OLTR_OK;
    pthread_mutex_unlock(&store->ledger);
}
