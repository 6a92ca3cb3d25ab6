/* unpack.h - the bytes of a stream, unpacked if it begins as a gzip file does.
 *
 * gzread() of zlib ignores bytes behind a gzip member that are no other member, and reports
 * success. A file to which plain lines were appended, or whose second member is damaged in its
 * first bytes, would be read as a shorter text.  So this reader checks them.
 */
#ifndef OLTR_LAB_DATA_UNPACK_H
#define OLTR_LAB_DATA_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

typedef struct unpacker unpacker;

/* Takes `fd`: closes it, now or with the unpacker.  NULL without memory. */
unpacker *unpack_open(int fd);
void unpack_close(unpacker *u);

/* Up to n > 0 bytes: how many, 0 at the end, or -1 with *why set, valid until unpack_close(). */
ptrdiff_t unpack_read(unpacker *u, void *to, size_t n, const char **why);
/* After -1: was there no memory? */
bool unpack_lacks_memory(const unpacker *u);

#endif
