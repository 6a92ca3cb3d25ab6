/* complain.c - error messages; see complain.h. */
#define _POSIX_C_SOURCE 200809L
#include "app/args/complain.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

static unsigned own_rank; /* set once, before anything runs */

void complain_as_rank(unsigned rank)
{
    own_rank = rank;
}

int complain(int code, const char *format, ...)
{
    va_list arguments;
    if (own_rank > 0 && code == EXIT_USAGE)
        return code;
    va_start(arguments, format);
    fputs("oltr: ", stderr);
    if (own_rank > 0)
        fprintf(stderr, "rank %u: ", own_rank);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return code;
}

int complain_no_memory(void)
{
    return complain(EXIT_FAILED, "out of memory");
}

int complain_failed(const oltr_error *error)
{
    return complain(EXIT_FAILED, "%s", error->msg);
}

int complain_of(const oltr_error *error)
{
    bool machine = error->code == OLTR_ENOMEM || error->code == OLTR_EUNSUPPORTED;
    bool stopped = error->code == OLTR_EINTERRUPTED;
    return complain(stopped ? EXIT_STOPPED : machine ? EXIT_FAILED : EXIT_USAGE, "%s", error->msg);
}

int complain_output(void)
{
    return complain(EXIT_FAILED, "cannot write to standard output: %s", strerror(errno));
}

int print_text(const struct text *text)
{
    if (text->failed)
        return complain_no_memory();
    bool whole = text->length == 0 || fwrite(text->bytes, 1, text->length, stdout) == text->length;
    return whole && fflush(stdout) == 0 ? EXIT_OK : complain_output();
}

bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_one_file(const char *one, const char *other)
{
    struct stat a, b;
    return strcmp(one, other) == 0 || (stat(one, &a) == 0 && stat(other, &b) == 0 &&
                                       a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

int need_folder(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return complain(EXIT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    return S_ISDIR(status.st_mode)
               ? EXIT_OK
               : complain(EXIT_USAGE, "%s is a file; give a folder of results", path);
}
