/* allocator.h - the allocator of the C library, watched: calls are counted, and can be refused.
 *
 * For programs that are linked with the options OLTR_WATCH_ALLOCATOR of tests/CMakeLists.txt.  What
 * the C library allocates inside of its own functions is not seen.
 */
#ifndef OLTR_TESTS_ALLOCATOR_H
#define OLTR_TESTS_ALLOCATOR_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static atomic_long taken, freed,
    until_failure = -1; /* until_failure: calls that still succeed; negative: all do */
static atomic_size_t largest,
    forbidden = SIZE_MAX; /* requests from `forbidden` bytes on are refused */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *block);

static bool granted(size_t size)
{
    if (size > largest)
        largest = size;
    bool refused = size >= forbidden;
    if (!refused && until_failure >= 0 && atomic_fetch_sub(&until_failure, 1) <= 0) {
        until_failure = 0; /* and so do all that follow */
        refused = true;
    }
    if (refused)
        errno = ENOMEM;
    return !refused;
}

static void *counted(void *block)
{
    taken += block != NULL;
    return block;
}

void *__wrap_malloc(size_t size)
{
    return granted(size) ? counted(__real_malloc(size)) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return granted(n * size) ? counted(__real_calloc(n, size)) : NULL;
}

void *__wrap_realloc(void *old, size_t size)
{
    if (!granted(size))
        return NULL;
    void *block = __real_realloc(old, size);
    taken += block && !old;
    return block;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return granted(size) ? counted(__real_aligned_alloc(alignment, size)) : NULL;
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    int status = granted(size) ? __real_posix_memalign(out, alignment, size) : ENOMEM;
    taken += status == 0;
    return status;
}

char *__wrap_strdup(const char *text)
{
    return granted(strlen(text) + 1) ? counted(__real_strdup(text)) : NULL;
}

void __wrap_free(void *block)
{
    freed += block != NULL;
    __real_free(block);
}

#endif
