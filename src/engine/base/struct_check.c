/* struct_check.c - see struct_check.h. */
#include "engine/base/struct_check.h"

oltr_status size_check(const char *what, size_t size, size_t known, oltr_error *error)
{
    if (size == 0 || size == known)
        return OLTR_OK;
    if (size > known)
        return set_error(error, OLTR_EINVAL,
                         "these %s are of a newer oltr: %zu bytes, and this one knows %zu", what,
                         size, known);
    return set_error(error, OLTR_EINVAL,
                     "no oltr has %s of %zu bytes: set size to sizeof the struct (%zu), or to 0",
                     what, size, known);
}

oltr_status reserved_check(const char *what, uint32_t reserved32, const void *reserved,
                           size_t bytes, oltr_error *error)
{
    if (!reserved32 && is_zero(reserved, bytes))
        return OLTR_OK;
    return set_error(error, OLTR_EINVAL,
                     "reserved members of %s must be 0: begin with a zero-filled struct", what);
}
