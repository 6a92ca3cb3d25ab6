/* digest.h - a 64-bit check of many bytes, at the speed of memory.
 *
 * Eight chains side by side, each (chain ^ word) rotated and multiplied by an odd number: a step
 * that can be undone, so a change of one word always changes its chain, and so the result.  Made
 * against accidents; who wants to can forge it.
 */
#ifndef OLTR_LAB_DATA_DIGEST_H
#define OLTR_LAB_DATA_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { DIGEST_CHUNK = 1 << 18 };

/* Of at most a few chunks; words are little-endian. */
uint64_t digest(const void *bytes, size_t n);

/* Of n digests, as they stand in a file, little-endian; changes the array. */
uint64_t digest_of_digests(uint64_t *part, size_t n);

/* Of many: the digest of the digests of its chunks of DIGEST_CHUNK bytes, worked on by up to
 * `threads` threads.  With `finite` the bytes are floats, and *finite becomes 0 if one of them is
 * not a finite number.  0 without memory. */
int digest_all(const void *bytes, size_t n, uint32_t threads, int *finite, uint64_t *result);

#endif
