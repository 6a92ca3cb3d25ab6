/* digest.h - a 64-bit check of many bytes, at the speed of memory.
 *
 * Eight independent chains, each step (chain ^ word) rotated and multiplied by an odd number.  The
 * step is invertible, so a change of one word always changes its chain, and so the result.  It
 * detects accidents, not forgery.
 */
#ifndef OLTR_LAB_DATA_DIGEST_H
#define OLTR_LAB_DATA_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_CHUNK = 1 << 18 };

/* Of at most a few chunks; words are little-endian. */
uint64_t digest(const void *bytes, size_t n);

/* Of n digests as little-endian bytes; overwrites the array. */
uint64_t digest_of_digests(uint64_t *part, size_t n);

/* Of many: the digest of the digests of its chunks of DIGEST_CHUNK bytes, worked on by up to
 * `threads` threads.  With `finite` the bytes are floats, and *finite becomes false if one of them
 * is not a finite number.  False without memory. */
bool digest_all(const void *bytes, size_t n, uint32_t threads, bool *finite, uint64_t *result);

#endif
