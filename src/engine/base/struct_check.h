/* struct_check.h - structs that callers fill in, and that later versions extend: a size that this
 * version does not know, or a reserved member that is not zero, asks for something that it cannot
 * do.
 */
#ifndef OLTR_ENGINE_BASE_STRUCT_CHECK_H
#define OLTR_ENGINE_BASE_STRUCT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

/* Whether all bytes are zero. */
static inline bool is_zero(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    unsigned char any = 0;
    for (size_t i = 0; i < n; i++)
        any |= at[i];
    return !any;
}

/* OLTR_EINVAL unless `size`, as the caller set it, is 0 or `known`.  what: "run options". */
oltr_status size_check(const char *what, size_t size, size_t known, oltr_error *error);
/* OLTR_EINVAL unless all bytes and the member `reserved32`, 0 for a struct without one, are 0. */
oltr_status reserved_check(const char *what, uint32_t reserved32, const void *reserved,
                           size_t bytes, oltr_error *error);

#endif
