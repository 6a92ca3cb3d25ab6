/* file.h - files of bytes, for the formats of the engine.  A file under its final name is always
 * complete. */
#ifndef OLTR_ENGINE_BASE_FILE_H
#define OLTR_ENGINE_BASE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/base/error.h"

/* All bytes at once.  A link at `path` stays: the file it leads to is written. */
oltr_status bytes_write(const char *path, const unsigned char *bytes, size_t size,
                        oltr_error *error);
/* The same, and on OLTR_OK the new file survives a loss of power. */
oltr_status bytes_write_durably(const char *path, const unsigned char *bytes, size_t size,
                                oltr_error *error);

/* "folder/name" in new memory, or NULL. */
char *file_join(const char *folder, const char *name);

/* The path behind symbolic links, in new memory; it need not exist.  That of a device or a pipe is
 * the path itself.  NULL with errno set. */
char *follow_links(const char *path);

/* A pipe, a device or the like: it is written into, and no file may replace it, as a rename onto
 * /dev/null would. */
bool is_special(const char *path);

/* To the disk; false with errno set.  A file system that cannot do so with this kind of file is no
 * failure. */
bool flush_to_disk(int fd);
bool flush_folder_of(const char *path); /* the entry of a file that was renamed */

/* A temporary file next to `path`, until it is complete: path.PID-N.tmp, locked while open.  A
 * killed process leaves it unlocked; the next writer of the same path removes it.  The lock
 * decides, not the number of the process, which means nothing on another machine or container that
 * shares the folder.  Where the file system has no locks nothing is removed. */
typedef struct temp_file {
    int fd;
    char *name;
} temp_file;
bool temp_file_open(temp_file *b, const char *path, unsigned mode); /* false with errno set */
FILE *
temp_file_stream(const temp_file *b); /* close it before temp_file_keep; NULL with errno set */
bool temp_file_keep(temp_file *b, const char *path); /* renames it; false with errno set: removed */
void temp_file_drop(temp_file *b);                   /* removes it, and keeps errno */
void temp_file_clean(const char *path);              /* removes leftovers of others */

/* Piece by piece: written to a temporary file, and renamed when it is closed to be kept.  A special
 * file is written into. */
typedef struct new_file {
    FILE *stream;
    char *path;
    temp_file temp; /* name NULL: a special file */
} new_file;
oltr_status new_file_open(new_file *file, const char *path, oltr_error *error);
oltr_status new_file_add(new_file *file, const void *bytes, size_t size, oltr_error *error);
oltr_status new_file_close(new_file *file, bool keep, oltr_error *error); /* after an open */

/* All bytes of an ordinary file of at most `most`, in memory of the hook: give `taken` bytes back.
 * Of a longer file, `size` is its length. */
oltr_status bytes_read_into(const char *path, size_t most, const oltr_memory *memory,
                            unsigned char **bytes, size_t *size, size_t *taken, oltr_error *error);
/* The same in memory for free(). */
oltr_status bytes_read(const char *path, size_t most, unsigned char **bytes, size_t *size,
                       oltr_error *error);

#endif
