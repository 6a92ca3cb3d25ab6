/* whole_file.c - see whole_file.h.  The results of a long run must not be lost: every call that can
 * fail is checked, also the flush and the close, which report a full disk. */
#define _POSIX_C_SOURCE 200809L
#include "report/io/whole_file.h"

#include "engine/base/quote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_LIMIT = 1 << 28 }; /* bytes; no file that this program reads is so large */

bool file_is_in(const char *folder, const char *name)
{
    char *path = file_join(folder, name);
    bool there = path && access(path, F_OK) == 0;
    free(path);
    return there;
}

/* ---- reading */

oltr_status file_read_stream(FILE *stream, const char *name, struct text *out, oltr_error *error)
{
    enum { CHUNK = 1 << 16 };
    size_t got;
    do {
        if (!text_reserve(out, CHUNK))
            return set_error(error, OLTR_ENOMEM, "%s: out of memory", name);
        got = fread(out->bytes + out->length, 1, CHUNK, stream);
        out->length += got;
        out->bytes[out->length] = '\0';
        if (out->length > READ_LIMIT)
            return set_error(error, OLTR_EIO,
                             "%s: larger than %d bytes; this cannot be the right file", name,
                             READ_LIMIT);
    } while (got > 0);
    if (ferror(stream))
        return set_error(error, OLTR_EIO, "%s: cannot read it: %s", name, strerror(errno));
    return OLTR_OK;
}

oltr_status file_read(const char *path, struct text *out, oltr_error *error)
{
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return set_error(error, OLTR_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    oltr_status status = file_read_stream(stream, path, out, error);
    (void)fclose(stream); /* nothing was written: closing cannot lose anything */
    return status;
}

oltr_status file_read_in(const char *folder, const char *name, struct text *out, oltr_error *error)
{
    char *path = file_join(folder, name);
    oltr_status status = path ? file_read(path, out, error)
                              : set_error(error, OLTR_ENOMEM, "%s: out of memory", name);
    free(path);
    return status;
}

/* ---- writing */

static bool write_all(int file, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(file, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

oltr_status file_write(const char *path, const struct text *content, oltr_error *error)
{
    const char *bytes = content->bytes ? content->bytes : "";
    if (content->failed)
        return set_error(error, OLTR_ENOMEM, "%s: out of memory", path);
    if (bytes_write(path, (const unsigned char *)bytes, content->length, NULL) == OLTR_OK)
        return OLTR_OK;
    return errno == ENOMEM
               ? set_error(error, OLTR_ENOMEM, "%s: out of memory", path)
               : set_error(error, OLTR_EIO, "%s: cannot write it: %s", path, strerror(errno));
}

oltr_status file_write_in(const char *folder, const char *name, const struct text *content,
                          oltr_error *error)
{
    char *path = file_join(folder, name);
    oltr_status status = path ? file_write(path, content, error)
                              : set_error(error, OLTR_ENOMEM, "%s: out of memory", name);
    free(path);
    return status;
}

/* ---- folders and names */

static bool make_one_folder(const char *path)
{
    struct stat status;
    if (mkdir(path, 0777) == 0)
        return true;
    int reason = errno;
    bool there = reason == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    errno = there ? 0 : reason == EEXIST ? ENOTDIR : reason;
    return there;
}

oltr_status file_make_folder(const char *path, oltr_error *error)
{
    char *part = strdup(path);
    if (!part)
        return set_error(error, OLTR_ENOMEM, "%s: out of memory", path);
    bool made = *path;
    for (char *slash = part + 1; made && *part && (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        made = make_one_folder(part);
        *slash = '/';
    }
    made = made && make_one_folder(part);
    free(part);
    return made ? OLTR_OK
                : set_error(error, OLTR_EIO, "%s: cannot make this folder: %s", path,
                            *path ? strerror(errno) : "its name is empty");
}

int file_trouble(const char *path, size_t room)
{
    static const char zeros[1 << 16];
    struct stat status;
    temp_file new = {-1, NULL};
    if (is_special(path))
        return 0;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return EISDIR;
    char *target = follow_links(path);
    bool open = target && temp_file_open(&new, target, 0666);
    int trouble = errno;
    free(target);
    if (!open)
        return trouble;
    size_t length = room < sizeof zeros ? room : sizeof zeros;
    int why = write_all(new.fd, zeros, length) && flush_to_disk(new.fd) != 0 ? 0 : errno;
    temp_file_drop(&new);
    return why;
}

enum { PROBE_BYTES = 4096 }; /* a full disk may still have room for a name */

oltr_status file_probe(const char *path, oltr_error *error)
{
    int why = file_trouble(path, PROBE_BYTES);
    return why == 0 ? OLTR_OK
                    : set_error(error, OLTR_EIO, "%s: cannot write it: %s", path, strerror(why));
}

oltr_status file_probe_folder(const char *path, oltr_error *error)
{
    char *name = file_join(path, "probe");
    int why = name ? file_trouble(name, PROBE_BYTES) : ENOMEM;
    free(name);
    return why == 0 ? OLTR_OK
                    : set_error(error, OLTR_EIO, "%s: cannot write into this folder: %s", path,
                                strerror(why));
}

bool file_name_is_plain(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(name);
    return length > 0 && length <= 100 && !strchr(".-", name[0]) && strspn(name, plain) == length;
}
