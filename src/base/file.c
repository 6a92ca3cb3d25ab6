/* file.c - see file.h. */
#define _POSIX_C_SOURCE 200809L
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static oltr_status cannot_write(const char *path, oltr_error *error)
{
    return fail(error, OLTR_EIO, "cannot write %s: %s", path, strerror(errno));
}

static void forget(new_file *file)
{
    free(file->beside);
    free(file->path);
    *file = (new_file){0};
}

oltr_status new_file_open(new_file *file, const char *path, oltr_error *error)
{
    size_t room = strlen(path) + 32;
    int into = is_special(path);
    *file = (new_file){.beside = into ? NULL : malloc(room), .path = malloc(room)};
    oltr_status status = OLTR_OK;
    if (!file->path || (!into && !file->beside)) {
        status = fail(error, OLTR_ENOMEM, "no memory to write %s", path);
    } else {
        snprintf(file->path, room, "%s", path);
        if (!into) /* two processes that write one file write it one after the other, each whole */
            snprintf(file->beside, room, "%s.%ld.tmp", path, (long)getpid());
        file->stream = fopen(into ? path : file->beside, "wb");
        status = file->stream ? OLTR_OK : cannot_write(path, error);
    }
    if (status != OLTR_OK)
        forget(file);
    return status;
}

oltr_status new_file_add(new_file *file, const void *bytes, size_t size, oltr_error *error)
{
    return fwrite(bytes, 1, size, file->stream) == size ? OLTR_OK : cannot_write(file->path, error);
}

oltr_status new_file_close(new_file *file, int keep, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    int closed = fclose(file->stream) == 0;
    if (keep && (!closed || (file->beside && rename(file->beside, file->path) != 0)))
        status = cannot_write(file->path, error);
    if (file->beside && (!keep || status != OLTR_OK))
        remove(file->beside);
    forget(file);
    return status;
}

oltr_status bytes_write(const char *path, const unsigned char *bytes, size_t size, oltr_error *error)
{
    new_file file;
    oltr_status status = new_file_open(&file, path, error);
    if (status != OLTR_OK)
        return status;
    status = new_file_add(&file, bytes, size, error);
    oltr_status closed = new_file_close(&file, status == OLTR_OK, status == OLTR_OK ? error : NULL);
    return status != OLTR_OK ? status : closed;
}

oltr_status bytes_read(const char *path, size_t most, unsigned char **bytes, size_t *size, oltr_error *error)
{
    FILE *file = fopen(path, "rb");
    long length = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    int too_long = length >= 0 && (unsigned long)length > most; /* the length of a folder is told as far more */
    if (length < 0 || too_long || fseek(file, 0, SEEK_SET) != 0) {
        fail(error, OLTR_EIO, "cannot read %s: %s", path, too_long ? "it is no file of ours" : strerror(errno));
        if (file)
            fclose(file);
        return OLTR_EIO;
    }
    *bytes = malloc((size_t)length + 1);
    *size = *bytes ? fread(*bytes, 1, (size_t)length, file) : 0;
    fclose(file);
    return *bytes ? OLTR_OK : fail(error, OLTR_ENOMEM, "no memory to read %s", path);
}
