/* file.h - files of bytes, for the formats of the engine.  A file under its final name is always complete. */
#ifndef OLTR_BASE_FILE_H
#define OLTR_BASE_FILE_H

#include <stdio.h>

#include "base/error.h"

/* All bytes at once. */
oltr_status bytes_write(const char *path, const unsigned char *bytes, size_t size, oltr_error *error);

/* A pipe, a device or the like: something to write into, that no file may take the place of.  A rename onto /dev/null would. */
int is_special(const char *path);

/* Piece by piece: written beside the path, and renamed when it is closed to be kept.  What is special is written into. */
typedef struct new_file {
    FILE *stream;
    char *beside, *path; /* beside NULL: it is written into */
} new_file;
oltr_status new_file_open(new_file *file, const char *path, oltr_error *error);
oltr_status new_file_add(new_file *file, const void *bytes, size_t size, oltr_error *error);
oltr_status new_file_close(new_file *file, int keep, oltr_error *error); /* of one that was opened */

/* All bytes of a file, in new memory; refuses what is longer than `most`. */
oltr_status bytes_read(const char *path, size_t most, unsigned char **bytes, size_t *size, oltr_error *error);

#endif
