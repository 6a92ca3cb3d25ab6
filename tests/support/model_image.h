/* model_image.h - finds the parts of the image of a model by what it is known to hold, and forges
 * images.
 *
 * Names, ids, settings and the snapshot of the policy are looked for by their values.  So a test
 * needs to know of the format only that numbers are little-endian, that the length of the image
 * follows the magic and the format, and that the last eight bytes are a CRC-64 of all before.
 */
#ifndef OLTR_TESTS_MODEL_IMAGE_H
#define OLTR_TESTS_MODEL_IMAGE_H

#include "support/snapshot.h"

enum { NOT_THERE = 0 }; /* the magic is at 0, so nothing else is */

/* The only place of these bytes from `from` on; NOT_THERE where there are none. */
static inline size_t place_of_bytes(const unsigned char *byte, size_t size, size_t from,
                                    const void *bytes, size_t n)
{
    for (size_t at = from; at + n <= size; at++)
        if (memcmp(byte + at, bytes, n) == 0)
            return at;
    return NOT_THERE;
}

/* The snapshot of the policy, and its length. */
static inline size_t inner_snapshot(const unsigned char *byte, size_t size, size_t *inner_size)
{
    size_t at = place_of_bytes(byte, size, 8, "OLTRSNAP", 8);
    *inner_size = 0;
    if (at == NOT_THERE || at + 32 + 8 > size)
        return NOT_THERE;
    *inner_size = (size_t)little(byte + at + AT_LENGTH, 8);
    return *inner_size >= 32 && *inner_size <= size - 8 - at ? at : NOT_THERE;
}

/* Where the length of the image is. */
static inline size_t place_of_length(const unsigned char *byte, size_t size)
{
    for (size_t at = 8; at + 8 <= size && at <= 32; at++)
        if (little(byte + at, 8) == size)
            return at;
    return NOT_THERE;
}

/* Sets the length, at its place in a good image, and the checksum; that of the snapshot inside
 * first, where it is still found. */
static inline void seal_model(unsigned char *byte, size_t size, size_t length_at)
{
    size_t inner_size, inner = inner_snapshot(byte, size, &inner_size);
    if (inner != NOT_THERE)
        seal(byte + inner, inner_size);
    if (length_at != NOT_THERE)
        set_little(byte + length_at, 8, size);
    set_little(byte + size - 8, 8, slow_crc64(byte, size - 8));
}

#endif
