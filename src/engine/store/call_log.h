/* call_log.h - the file PATH.log: locked, read, written on, emptied.
 *
 * The file stays the same one as long as the store exists, because its lock is the lock of the
 * store.  It is emptied by truncating it behind its first bytes.
 *
 * A record is written by one pwrite(), which takes longer than the lesson itself.  Writing into a
 * map of the file would take a quarter of that, but a disk that fails would end the process by a
 * signal instead of an error, and the file would be longer than its records: after a power failure
 * pages that reached the disk before earlier ones would be whole records behind a gap, that is,
 * damage.
 */
#ifndef OLTR_ENGINE_STORE_CALL_LOG_H
#define OLTR_ENGINE_STORE_CALL_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"
#include "engine/store/store_image.h"

typedef struct call_log {
    int fd;
    char *path;
    uint64_t end; /* where the next record is written */
    bool created; /* by call_log_open() */
} call_log;

/* Opens and locks the log at `path`; one that does not exist is made with `mode`.  OLTR_EBUSY when
 * it is locked already.  After an error there is nothing to close. */
oltr_status call_log_open(call_log *log, const char *path, unsigned mode, oltr_error *error);
/* Unlocks and closes; log->path NULL: nothing is done. */
void call_log_close(call_log *log);
/* In a forked process: closes the file and leaves the lock to the parent. */
void call_log_leave(const call_log *log);
/* The same, and removes a log that was made by opening it. */
void call_log_drop(call_log *log);

/* These are false with errno set. */
bool call_log_append(call_log *log, const void *bytes, size_t size);
bool call_log_flush(const call_log *log);       /* records to the disk */
bool call_log_cut(call_log *log, uint64_t end); /* what is behind is removed, on the disk too */
/* Begins the log anew, behind this image, on the disk too. */
bool call_log_restart(call_log *log, const store_image *image);

#endif
