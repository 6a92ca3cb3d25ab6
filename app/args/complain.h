/* complain.h - exit codes, and error messages on standard error. */
#ifndef OLTR_APP_ARGS_COMPLAIN_H
#define OLTR_APP_ARGS_COMPLAIN_H

#include "engine/base/text.h"

#include <oltr/oltr.h>
#include <stdbool.h>
#include <stdio.h>

enum exit_code { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_STOPPED = 130 };

/* "oltr: message" on standard error; returns `code`. */
int complain(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
int complain_no_memory(void);                 /* returns EXIT_FAILED */
int complain_failed(const oltr_error *error); /* the message; returns EXIT_FAILED */
/* The message of an error about something that the user named.  Returns EXIT_USAGE; EXIT_FAILED
 * where the machine lacks something; EXIT_STOPPED after Ctrl-C. */
int complain_of(const oltr_error *error);

/* Prints a whole text at once.  EXIT_FAILED after a message where memory ran out while it was
 * composed, or the output cannot be written. */
int print_text(const struct text *text);
int complain_output(void); /* errno is the reason; returns EXIT_FAILED */

/* The rank of this process in an MPI job.  Messages of ranks above 0 say their rank; mistakes in
 * the request are the same on every rank, and rank 0 alone reports them. */
void complain_as_rank(unsigned rank);

bool is_folder(const char *path);
/* Two names of one file? */
bool is_one_file(const char *one, const char *other);
/* EXIT_OK where `path` is a folder, else EXIT_USAGE after a message. */
int need_folder(const char *path);

#endif
