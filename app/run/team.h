/* team.h - the processes that share one run: this one alone, or the ranks of an MPI job (mpi/).
 *
 * Every member simulates its shard; rank 0, the leader, gathers the results, writes and draws.  All
 * members pass the same barriers in the same order, and a member that fails reports it there, so
 * that no barrier blocks for ever. */
#ifndef OLTR_APP_RUN_TEAM_H
#define OLTR_APP_RUN_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct team {
    uint32_t rank, size;
    int (*worst)(int code);                       /* a barrier: the worst exit code of all */
    bool (*send)(const void *bytes, size_t size); /* to the leader */
    /* By the leader; the caller frees the bytes.  NULL without memory. */
    unsigned char *(*receive)(uint32_t rank, size_t *size);
};

/* The team of this process: itself alone unless team_join() was called. */
const struct team *team_of_process(void);
bool team_leads(void); /* is this process the leader? */
void team_join(const struct team *team);

#endif
