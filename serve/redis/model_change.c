/* model_change.c - see model_change.h. */
#include "serve/redis/model_change.h"

#include "serve/redis/command_replies.h"
#include "serve/redis/module_stats.h"

void count(const request *r, unsigned long long *counter, unsigned long long n)
{
    if (!r->replayed)
        *counter += n;
}

void announce_here(request *r, const char *event)
{
    rm.SignalModifiedKey(r->ctx, r->argv[1]);
    rm.NotifyKeyspaceEvent(r->ctx, RM_NOTIFY_MODULE, event, r->argv[1]);
}

void announce(request *r, const char *event)
{
    rm.ReplicateVerbatim(r->ctx);
    announce_here(r, event);
}

static uint32_t room_of(const ranker *k)
{
    return oltr_model_settings_of(k->model)->policy.n_items;
}

model_change change_begin(request *r, ranker *k, const char *event)
{
    return (model_change){
        .r = r, .k = k, .event = event, .room = room_of(k), .began = rm.MonotonicMicroseconds()};
}

static void count_growth(const model_change *c)
{
    if (room_of(c->k) == c->room || c->r->replayed)
        return;
    uint64_t took = rm.MonotonicMicroseconds() - c->began;
    stats.grown++;
    if (took > stats.longest_growth_us)
        stats.longest_growth_us = took;
}

bool change_accepted(model_change *c, oltr_status status)
{
    count_growth(c);
    c->error.code = status;
    return status == OLTR_OK || refuse_error(c->r, &c->error, c->k->memory.exceeded);
}

int change_reply(const model_change *c, bool changed, long long reply)
{
    if (changed)
        announce(c->r, c->event);
    return rm.ReplyWithLongLong(c->r->ctx, reply);
}

int change_reply_applied(model_change *c, oltr_status status, int applied,
                         unsigned long long *counter)
{
    if (!change_accepted(c, status))
        return RM_OK;
    if (counter || !applied)
        count(c->r, applied ? counter : &stats.duplicates, 1);
    return change_reply(c, applied, applied);
}
