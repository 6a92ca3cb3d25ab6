/* team.h - the processes that share one run: this one alone, or the ranks of an MPI job
 * (mpi/main.c).
 *
 * Every member runs its shard; rank 0 gathers the results, writes and draws.  All members pass the
 * same barriers in the same order, and a member that has failed reports it there, so that the
 * others do not block for ever.
 */
#ifndef OLTR_APP_RUN_TEAM_H
#define OLTR_APP_RUN_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct team {
    uint32_t rank, size;
    int (*worst)(int code);                       /* a barrier: the worst exit code of all */
    bool (*send)(const void *bytes, size_t size); /* to rank 0 */
    unsigned char *(*receive)(uint32_t rank,
                              size_t *size); /* by rank 0; to be freed; NULL without memory */
};

/* Whom this process works with; alone unless team_join() was called. */
const struct team *team_of_process(void);
void team_join(const struct team *team);

#endif
