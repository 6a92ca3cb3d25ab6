/* model_change.h - what every write does after the model was changed: replication, WATCH, keyspace
 * event, counters, reply.  A write that changed nothing does none of it but reply. */
#ifndef OLTR_SERVE_REDIS_MODEL_CHANGE_H
#define OLTR_SERVE_REDIS_MODEL_CHANGE_H

#include "serve/redis/command_args.h"

/* One change of a ranker, from before the call of the engine on. */
typedef struct model_change {
    request *r;
    ranker *k;
    const char *event; /* "oltr.learn" */
    uint32_t room;     /* of items, before */
    uint64_t began;    /* in microseconds */
    oltr_error error;
} model_change;

model_change change_begin(request *r, ranker *k, const char *event);
/* Counts a growth of the room; after a refusal it replies and is false. */
bool change_accepted(model_change *c, oltr_status status);
/* Announces the change if there was one, and replies with a number. */
int change_reply(const model_change *c, bool changed, long long reply);
/* The end of a call with an id: 1, or 0 for one seen before, which is counted. */
int change_reply_applied(model_change *c, oltr_status status, int applied,
                         unsigned long long *counter);

/* Tells replicas and the append-only file, watchers of the key and subscribers. */
void announce(request *r, const char *event);
/* The last two alone, for a command that is replicated in another form. */
void announce_here(request *r, const char *event);
/* Adds to a counter, unless the command is replayed. */
void count(const request *r, unsigned long long *counter, unsigned long long n);

#endif
