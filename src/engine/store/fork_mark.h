/* fork_mark.h - tells the process that opened a store from those that were forked from it.
 *
 * getpid() would do, but it is a system call for every lesson: a seventh of the time of one.  The
 * kernel clears a page that is marked so in every forked process.
 */
#ifndef OLTR_ENGINE_STORE_FORK_MARK_H
#define OLTR_ENGINE_STORE_FORK_MARK_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct fork_mark {
    unsigned char *page; /* NULL where the kernel has no such pages: `owner` is compared */
    pid_t owner;
} fork_mark;

void fork_mark_make(fork_mark *mark);
bool fork_mark_is_here(const fork_mark *mark);
void fork_mark_free(fork_mark *mark);

#endif
