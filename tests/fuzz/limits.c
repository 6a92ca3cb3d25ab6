/* limits.c - bounds for the sanitizers' allocators: beyond them malloc returns NULL, as it does on
 * a small machine. */
#include "target.h"

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=64";
}

const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=64";
}
