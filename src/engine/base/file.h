/* file.h - files of bytes, for the formats of the engine.  A file under its final name is always
 * complete. */
#ifndef OLTR_ENGINE_BASE_FILE_H
#define OLTR_ENGINE_BASE_FILE_H

#include <stdio.h>

#include "engine/base/error.h"

/* All bytes at once.  A link at `path` stays: the file it leads to is written. */
oltr_status bytes_write(const char *path, const unsigned char *bytes, size_t size,
                        oltr_error *error);
/* The same, and OLTR_OK means that after a loss of power the new file is there under its name. */
oltr_status bytes_write_durably(const char *path, const unsigned char *bytes, size_t size,
                                oltr_error *error);

/* The path behind symbolic links, in new memory; it need not exist.  NULL with errno set. */
char *follow_links(const char *path);

/* A pipe, a device or the like: something to write into, that no file may take the place of.  A
 * rename onto /dev/null would. */
int is_special(const char *path);

/* To the disk; 0 with errno set.  That the file system cannot do so with this kind of file is no
 * failure. */
int flush_to_disk(int fd);
int flush_folder_of(const char *path); /* the entry of a file that was renamed */

/* A temporary file beside `path`, until it is complete: path.PID-0.tmp.  It is locked while it is
 * open.  A killed process leaves it unlocked; the next writer of the same path removes it.  The
 * lock decides, not the number of the process, which means nothing on another machine or container
 * that shares the folder.  Where the file system has no locks nothing is removed. */
typedef struct temp_file {
    int fd;
    char *name;
} temp_file;
int temp_file_open(temp_file *b, const char *path, unsigned mode); /* 0 with errno set */
FILE *
temp_file_stream(const temp_file *b); /* close it before the file is kept; NULL with errno set */
int temp_file_keep(temp_file *b,
                   const char *path);   /* renames it; 0 with errno set, and it is gone */
void temp_file_drop(temp_file *b);      /* leaves errno alone */
void temp_file_clean(const char *path); /* removes what others have left */

/* Piece by piece: written beside the path, and renamed when it is closed to be kept.  What is
 * special is written into. */
typedef struct new_file {
    FILE *stream;
    char *path;
    temp_file temp; /* name NULL: it is written into */
} new_file;
oltr_status new_file_open(new_file *file, const char *path, oltr_error *error);
oltr_status new_file_add(new_file *file, const void *bytes, size_t size, oltr_error *error);
oltr_status new_file_close(new_file *file, int keep,
                           oltr_error *error); /* of one that was opened */

/* All bytes of a file, in new memory; refuses what is longer than `most`. */
oltr_status bytes_read(const char *path, size_t most, unsigned char **bytes, size_t *size,
                       oltr_error *error);
/* The same in memory of the hook: give `taken` bytes back. */
oltr_status bytes_read_into(const char *path, size_t most, const oltr_memory *memory,
                            unsigned char **bytes, size_t *size, size_t *taken, oltr_error *error);

#endif
