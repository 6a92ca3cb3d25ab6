/* checksum_kernels.h - CRC-32C (base/bytes.h) by the instruction that x86 has for it. */
#ifndef OLTR_ENGINE_KERNELS_CHECKSUM_KERNELS_H
#define OLTR_ENGINE_KERNELS_CHECKSUM_KERNELS_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t checksum32_fn(const void *bytes, size_t n);

#endif
