/* whole_file.h - reads and writes whole files.  A file under its final name is always complete. */
#ifndef OLTR_REPORT_IO_WHOLE_FILE_H
#define OLTR_REPORT_IO_WHOLE_FILE_H

#include "engine/base/file.h"
#include "engine/base/text.h"

#include <oltr/oltr.h>
#include <stdio.h>

bool file_is_in(const char *folder, const char *name);

/* Reads all of an open stream, or of a file; `name` is for the message. */
oltr_status file_read_stream(FILE *stream, const char *name, struct text *out, oltr_error *error);
oltr_status file_read(const char *path, struct text *out, oltr_error *error);
oltr_status file_read_in(const char *folder, const char *name, struct text *out, oltr_error *error);

/* Writes under a temporary name in the same folder, flushes to disk, renames.  Writes the file that
 * a link leads to, and into a device or a pipe. */
oltr_status file_write(const char *path, const struct text *content, oltr_error *error);
oltr_status file_write_in(const char *folder, const char *name, const struct text *content,
                          oltr_error *error);

/* Makes the folder and those above it; a folder that is there already is fine. */
oltr_status file_make_folder(const char *path, oltr_error *error);

/* Whether this file, or any file in this folder, can be written; to be called before long work.
 * Writes a temporary file and removes it. */
oltr_status file_probe(const char *path, oltr_error *error);
oltr_status file_probe_folder(const char *path, oltr_error *error);
/* The same as an errno: 0, or the reason why not even `room` bytes (at most 65536) can be written.
 */
int file_trouble(const char *path, size_t room);

/* A name that is safe in a folder, a script and a URL: at most 100 letters, digits, '_', '.' and
 * '-', the last two not first. */
bool file_name_is_plain(const char *name);

#endif
