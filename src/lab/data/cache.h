/* cache.h - the binary form of a dataset: one file that is mapped into memory and used where it
 * lies.
 *
 * Layout and rules are in docs/formats.md.  Every byte is under a digest or must be zero, and what
 * a digest cannot promise is checked as well: a file that is taken is a dataset, whoever wrote it.
 */
#ifndef OLTR_LAB_DATA_CACHE_H
#define OLTR_LAB_DATA_CACHE_H

#include <oltr/sim.h>
#include <sys/stat.h>

#include "engine/base/error.h"

#define CACHE_MAGIC "OLTRDATA"
enum { CACHE_VERSION = 1, CACHE_HEADER = 512 };

/* The text that a cache was made of, as it was then; all zero for a dataset that was saved by
 * hand. */
typedef struct cache_origin {
    uint32_t known;
    uint32_t settled; /* its time of change was so long ago that a later change must have another */
    uint64_t size;
    uint64_t seconds, nanoseconds; /* of the last change */
    uint64_t sample;               /* digest of pieces of it */
    uint64_t content;              /* digest of all of it */
    uint32_t lenient, most_features;
    oltr_read_report report;
} cache_origin;

/* With `flush` it is on the disk before it has its name; a cache that a power cut spoils is refused
 * by its digests and made anew. */
oltr_status cache_write(const oltr_dataset *d, const cache_origin *origin, const char *path,
                        mode_t mode, int flush, oltr_error *error);

/* Asked between the header and the rest: is this the cache that is wanted? */
typedef int cache_wanted(const cache_origin *origin, void *context);

/* Maps a file.  Does not close `fd`.  With `wanted`, NULL and error code OLTR_OK if it is not. */
oltr_dataset *cache_map(int fd, const char *path, uint32_t threads, cache_wanted *wanted,
                        void *context, cache_origin *origin, oltr_error *error);

#endif
