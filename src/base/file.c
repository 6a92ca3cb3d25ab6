/* file.c - see file.h. */
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

oltr_status bytes_write(const char *path, const unsigned char *bytes, size_t size, oltr_error *error)
{
    size_t room = strlen(path) + sizeof ".tmp";
    char *beside = malloc(room);
    if (!beside)
        return fail(error, OLTR_ENOMEM, "no memory to write %s", path);
    snprintf(beside, room, "%s.tmp", path);
    FILE *file = fopen(beside, "wb");
    int ok = file && fwrite(bytes, 1, size, file) == size;
    ok = file && fclose(file) == 0 && ok;
    ok = ok && rename(beside, path) == 0;
    if (!ok) {
        fail(error, OLTR_EIO, "cannot write %s: %s", path, strerror(errno));
        remove(beside);
    }
    free(beside);
    return ok ? OLTR_OK : OLTR_EIO;
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
