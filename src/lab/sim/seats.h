/* seats.h - the policies with which one contestant plays a replication.
 *
 * Usually it is one policy, made for the items of the instance, or for the first of them where the
 * contestant knows no others (`items`).  Where the queries of a dataset
 * share the rounds of a replication (world_has_traffic()), a contestant has one policy for each
 * query, whose items are the documents of that query; or one `shared` policy whose items are the
 * documents of all queries, ranked with the candidates of one query at a time.  What a policy
 * learns about a document is the same either way; what it learns beyond documents (the theta of a
 * linear model, the recalibration of a prior) is kept apart in the first case, and pooled over the
 * queries in the second.
 *
 * Random draws of a policy are numbered by item.  The documents of a query are the items 0, 1, ...
 * of a policy of its own and other items of a shared one, so even a policy that learns nothing
 * beyond documents plays the two with different draws of the same distribution.
 */
#ifndef OLTR_LAB_SIM_SEATS_H
#define OLTR_LAB_SIM_SEATS_H

#include "lab/world/world.h"

typedef struct seats {
    const oltr_experiment *experiment;
    uint32_t n_queries; /* that share the rounds; 0: they do not */
    instance all;       /* the prior of all documents, where they do */
    uint32_t *item;     /* (rows) 0, 1, ...: the documents of a query as items of a shared policy */
    oltr_policy **policy; /* (n_queries, or 1) of the present contestant */
    uint32_t n;           /* how many of them there are */
    bool shared;
    uint32_t most_items; /* that the present contestant knows */
    bool own_blocks;     /* every policy has a block of its own */
    size_t bytes;        /* of the policies of any contestant so far */
    size_t held;         /* of memory */
    unsigned char *memory;
} seats;

/* Room for the policies of every contestant; `truth` is the largest instance, and more room is made
 * where a smaller one needs it.  An error where one
 * cannot be made.  Free after an error, too. */
oltr_status seats_make(seats *s, const oltr_experiment *experiment, const instance *truth,
                       oltr_error *error);
void seats_free(seats *s);

/* Makes the policies of a contestant for this instance, or for all queries. */
oltr_status seats_take(seats *s, const instance *truth, uint32_t contestant, oltr_error *error);
void seats_leave(seats *s);

/* The one with the most items, for a scratch that fits all of them. */
const oltr_policy *seats_largest(const seats *s);

/* How many items of the instance a contestant knows that knows at most `most`. */
static inline uint32_t known_items(uint32_t most, const instance *truth)
{
    return most < truth->n_items ? most : truth->n_items;
}

/* The policy of the present round, its candidates, and what to subtract from its items to get
 * those of the instance. */
static inline oltr_policy *seats_round(const seats *s, const instance *truth, oltr_query *query,
                                       uint32_t *first)
{
    bool shared = s->shared;
    *first = shared ? s->experiment->world.dataset->first_row[truth->query] : 0;
    *query = (oltr_query){.n_items = known_items(s->most_items, truth),
                          .item = shared ? s->item + *first : NULL,
                          .dim = truth->dim,
                          .x = truth->x};
    return s->policy[s->n > 1 ? truth->query : 0];
}

#endif
