/* unpack.c - see unpack.h.
 *
 * A gzip file is one or more members; together they hold one text.  Zeros up to the end of the file
 * may follow, the padding of tapes and block devices, which gzip accepts too.  Anything else behind
 * a member is an error, and so is a member that does not end.
 */
#define _POSIX_C_SOURCE 200809L
#include "lab/data/unpack.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    PACKED_BYTES = 1 << 17,
    GZIP_WINDOW = 15 + 16 /* zlib: the largest window, with the header and checksum of gzip */
};

typedef enum place { AT_START, PLAIN, IN_MEMBER, BEHIND_MEMBER, IN_PADDING, AT_END } place;

struct unpacker {
    int fd;
    bool file_ended, inflating, lacks_memory; /* inflating: z is to be freed */
    place place;
    uint64_t taken; /* bytes of the file that are no longer in `bytes` */
    z_stream z;     /* its input is what of `bytes` was not used yet */
    char why[160];
    unsigned char bytes[PACKED_BYTES];
};

unpacker *unpack_open(int fd)
{
    unpacker *u = calloc(1, sizeof *u);
    if (!u) {
        close(fd);
        return NULL;
    }
    u->fd = fd;
    u->z.next_in = u->bytes;
    return u;
}

void unpack_close(unpacker *u)
{
    if (!u)
        return;
    if (u->inflating)
        inflateEnd(&u->z);
    close(u->fd);
    free(u);
}

/* Appends more of the file to the unused input; false if it cannot be read. */
static bool load(unpacker *u)
{
    ssize_t got;
    if (u->z.avail_in)
        memmove(u->bytes, u->z.next_in, u->z.avail_in);
    u->z.next_in = u->bytes;
    do
        got = read(u->fd, u->bytes + u->z.avail_in, PACKED_BYTES - u->z.avail_in);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        snprintf(u->why, sizeof u->why, "%s", strerror(errno));
        return false;
    }
    u->file_ended = got == 0;
    u->taken += (uint64_t)got;
    u->z.avail_in += (unsigned)got;
    return true;
}

static bool is_gzip(const unpacker *u)
{
    return u->z.avail_in >= 2 && u->z.next_in[0] == 0x1F && u->z.next_in[1] == 0x8B;
}

/* At least two bytes of input, unless the file ends before; false if it cannot be read. */
static bool see_two(unpacker *u)
{
    while (u->z.avail_in < 2 && !u->file_ended)
        if (!load(u))
            return false;
    return true;
}

static bool begin_member(unpacker *u)
{
    int code = u->inflating ? inflateReset(&u->z) : inflateInit2(&u->z, GZIP_WINDOW);
    if (code != Z_OK) {
        u->lacks_memory = true;
        snprintf(u->why, sizeof u->why, "no memory to unpack it");
        return false;
    }
    u->inflating = true;
    u->place = IN_MEMBER;
    return true;
}

/* A member, or what else the file holds here. */
static bool begin(unpacker *u, place otherwise)
{
    if (!see_two(u))
        return false;
    if (is_gzip(u))
        return begin_member(u);
    u->place = otherwise;
    return true;
}

static bool skip_padding(unpacker *u)
{
    while (u->z.avail_in && *u->z.next_in == 0) {
        u->z.next_in++;
        u->z.avail_in--;
    }
    if (u->z.avail_in) {
        snprintf(u->why, sizeof u->why,
                 "the bytes from %llu on are not gzip; compress the text again, or append only "
                 "gzip files to it",
                 (unsigned long long)(u->taken - u->z.avail_in + 1));
        return false;
    }
    if (u->file_ended)
        u->place = AT_END;
    return u->file_ended || load(u);
}

/* Some bytes as they are, or the end. */
static bool take_plain(unpacker *u, void *to, size_t *n)
{
    if (u->z.avail_in == 0) {
        if (!u->file_ended && !load(u))
            return false;
        if (u->file_ended)
            u->place = AT_END;
    }
    *n = *n < u->z.avail_in ? *n : u->z.avail_in;
    memcpy(to, u->z.next_in, *n);
    u->z.next_in += *n;
    u->z.avail_in -= (unsigned)*n;
    return true;
}

/* Some bytes of a member; none at its end and when more input is needed. */
static bool take_member(unpacker *u, void *to, size_t *n)
{
    size_t room = *n < UINT_MAX ? *n : UINT_MAX;
    *n = 0;
    if (u->z.avail_in == 0 && !load(u))
        return false;
    u->z.next_out = to;
    u->z.avail_out = (unsigned)room;
    int code = inflate(&u->z, Z_NO_FLUSH);
    *n = room - u->z.avail_out;
    if (code == Z_STREAM_END)
        u->place = BEHIND_MEMBER;
    else if (code == Z_BUF_ERROR && u->file_ended)
        snprintf(u->why, sizeof u->why, "the compressed file is cut short");
    else if (code == Z_MEM_ERROR) {
        u->lacks_memory = true;
        snprintf(u->why, sizeof u->why, "no memory to unpack it");
    } else if (code != Z_OK && code != Z_BUF_ERROR)
        snprintf(u->why, sizeof u->why, "%s",
                 u->z.msg ? u->z.msg : "the compressed file is damaged");
    return u->why[0] == 0;
}

bool unpack_lacks_memory(const unpacker *u)
{
    return u->lacks_memory;
}

ptrdiff_t unpack_read(unpacker *u, void *to, size_t n, const char **why)
{
    size_t got = 0;
    bool ok = u->why[0] == 0;
    while (ok && got == 0 && u->place != AT_END) {
        if (u->place == AT_START)
            ok = begin(u, PLAIN);
        else if (u->place == BEHIND_MEMBER)
            ok = begin(u, IN_PADDING);
        else if (u->place == IN_PADDING)
            ok = skip_padding(u);
        else {
            got = n;
            ok = u->place == PLAIN ? take_plain(u, to, &got) : take_member(u, to, &got);
        }
    }
    *why = u->why;
    return ok ? (ptrdiff_t)got : -1;
}
