/* checksum_kernels.c - see checksum_kernels.h.
 *
 * Every processor with AVX2 has crc32 of SSE4.2: 8 bytes in 3 cycles, a fourth of the time of the
 * tables.  A record of a store has 100 to 300 bytes, too few for several streams at once.  arm64
 * has such an instruction as an option only.
 */
#include "engine/kernels/table.h"

#include <string.h>

#include "engine/base/bytes.h"

uint32_t checksum32_plain(const void *bytes, size_t n)
{
    return crc32c(bytes, n);
}

#if OLTR_X86
#include <immintrin.h>

TARGET_AVX2 uint32_t checksum32_avx2(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t crc = UINT32_MAX;
    for (; n >= 8; at += 8, n -= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        crc = _mm_crc32_u64(crc, word);
    }
    uint32_t rest = (uint32_t)crc;
    for (; n > 0; at++, n--)
        rest = _mm_crc32_u8(rest, *at);
    return ~rest;
}
#endif
