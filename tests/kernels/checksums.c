/* checksums.c - the check of checksum_kernels.h: every length up to 300 at every alignment, and
 * long ones. */
#include "harness.h"

static void compare(uint32_t cpu, const unsigned char *bytes, size_t n)
{
    uint32_t twin = checksum32_plain(bytes, n), version = KERNEL_AT(checksum32, cpu)(bytes, n);
    describe("%zu bytes", n);
    same_words("checksum", &twin, &version, 1);
}

void check_checksum32(uint32_t cpu)
{
    enum { SHORT = 300, LONG = 100000 };
    dice from = {41};
    for (size_t n = 0; n <= SHORT; n++) {
        unsigned char *bytes = guarded(n + 8, 1);
        for (size_t i = 0; i < n + 8; i++)
            bytes[i] = (unsigned char)below(&from, 256);
        for (size_t start = 0; start <= 8; start++)
            compare(cpu, bytes + start, n);
        release();
    }
    unsigned char *bytes = guarded(LONG, 1);
    for (size_t i = 0; i < LONG; i++)
        bytes[i] = (unsigned char)below(&from, 3);
    for (size_t n = LONG - 20; n <= LONG; n++)
        compare(cpu, bytes, n);
    release();
}
