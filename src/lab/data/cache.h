/* cache.h - the binary form of a dataset: one file that is mapped into memory and used in place.
 *
 * Layout and rules are in docs/formats.md.  Every byte is under a digest or must be zero, and
 * counts and offsets are checked as well: a file that is accepted is a valid dataset, whatever
 * wrote it.
 */
#ifndef OLTR_LAB_DATA_CACHE_H
#define OLTR_LAB_DATA_CACHE_H

#include <stdbool.h>

#include <oltr/sim.h>
#include <sys/stat.h>

#include "engine/base/error.h"

#define CACHE_MAGIC "OLTRDATA"
enum { CACHE_VERSION = 1, CACHE_HEADER = 512 };

/* The text that a cache was made from, as it was then; all zero for oltr_dataset_save(). */
typedef struct cache_origin {
    uint32_t known;
    uint32_t settled; /* it was last changed so long ago that a later change has another time */
    uint64_t size;
    uint64_t seconds, nanoseconds; /* of the last change */
    uint64_t sample;               /* digest of pieces of it */
    uint64_t content;              /* digest of all of it */
    uint32_t lenient, most_features;
    oltr_read_report report;
} cache_origin;

/* With `flush` the bytes are on the disk before the file has its name.  Without it a power cut may
 * damage the file; then its digests do not match and it is made again. */
oltr_status cache_write(const oltr_dataset *d, const cache_origin *origin, const char *path,
                        mode_t mode, bool flush, oltr_error *error);

/* Called when the header is checked: is this the cache of the text? */
typedef bool cache_wanted(const cache_origin *origin, void *context);

/* Maps a file.  Does not close `fd`.  With `wanted`, NULL and error code OLTR_OK if it is not. */
oltr_dataset *cache_map(int fd, const char *path, uint32_t threads, cache_wanted *wanted,
                        void *context, cache_origin *origin, oltr_error *error);

#endif
