/* file.c - see file.h. */
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    size_t length = strlen(path);
    *file = (new_file){.beside = malloc(length + sizeof ".tmp"), .path = malloc(length + 1)};
    oltr_status status = OLTR_OK;
    if (!file->beside || !file->path) {
        status = fail(error, OLTR_ENOMEM, "no memory to write %s", path);
    } else {
        memcpy(file->path, path, length + 1);
        memcpy(file->beside, path, length);
        memcpy(file->beside + length, ".tmp", sizeof ".tmp");
        file->stream = fopen(file->beside, "wb");
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
    if (keep && (!closed || rename(file->beside, file->path) != 0))
        status = cannot_write(file->path, error);
    if (!keep || status != OLTR_OK)
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
