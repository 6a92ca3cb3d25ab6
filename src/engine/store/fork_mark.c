/* fork_mark.c - see fork_mark.h. */
#define _DEFAULT_SOURCE
#include "engine/store/fork_mark.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void fork_mark_make(fork_mark *mark)
{
    *mark = (fork_mark){NULL, getpid()};
#ifdef MADV_WIPEONFORK
    const size_t bytes = page_bytes();
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    if (madvise(page, bytes, MADV_WIPEONFORK) != 0) {
        munmap(page, bytes);
        return;
    }
    mark->page = page;
    *mark->page = 1;
#endif
}

bool fork_mark_is_here(const fork_mark *mark)
{
    return mark->page ? *mark->page == 1 : mark->owner == getpid();
}

void fork_mark_free(fork_mark *mark)
{
    if (mark->page)
        munmap(mark->page, page_bytes());
    mark->page = NULL;
}
