/* file.h - whole files of bytes, for the formats of the engine.  A file under its final name is always complete. */
#ifndef OLTR_BASE_FILE_H
#define OLTR_BASE_FILE_H

#include "base/error.h"

/* Writes beside the path, then renames. */
oltr_status bytes_write(const char *path, const unsigned char *bytes, size_t size, oltr_error *error);

/* All bytes of a file, in new memory; refuses what is longer than `most`. */
oltr_status bytes_read(const char *path, size_t most, unsigned char **bytes, size_t *size, oltr_error *error);

#endif
