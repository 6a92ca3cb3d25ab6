/* unpack.h - the bytes of a stream, unpacked if it begins as a gzip file does.
 *
 * Why not gzread() of zlib: it passes over what stands behind a gzip member and is no other member,
 * and ends as if all were well.  A file to which lines were added unpacked, or whose second member
 * is damaged in its first bytes, would be read as a shorter text.
 */
#ifndef OLTR_LAB_DATA_UNPACK_H
#define OLTR_LAB_DATA_UNPACK_H

#include <stddef.h>

typedef struct unpacker unpacker;

/* Takes `fd`: closes it, now or with the unpacker.  NULL without memory. */
unpacker *unpack_open(int fd);
void unpack_close(unpacker *u);

/* Up to n > 0 bytes: how many, 0 at the end, or -1 with *why set, which lives as long as the
 * unpacker. */
ptrdiff_t unpack_read(unpacker *u, void *to, size_t n, const char **why);
/* After -1: was it for want of memory? */
int unpack_lacks_memory(const unpacker *u);

#endif
