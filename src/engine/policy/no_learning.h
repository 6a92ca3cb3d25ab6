/* no_learning.h - operations of the policies that learn nothing. */
#ifndef OLTR_ENGINE_POLICY_NO_LEARNING_H
#define OLTR_ENGINE_POLICY_NO_LEARNING_H

#include "engine/policy/candidate_scores.h"
#include "engine/race/class_rank.h"

#define NO_LEARNING_INFO                                                                           \
    .rewards = OLTR_REALS, .can_merge = 1, .can_forget = 1, .takes_weights = 1, .by_item = 1,      \
    .can_resize = 1, .exact_copy = 1, .order_free = 1, .knows_slots = 1

#define NO_LEARNING_OPS .learn = learn_nothing, .sums = list_no_sums, .check = check_nothing

static oltr_status learn_nothing(void *state, uint64_t t, const candidates *from,
                                 const oltr_ranking *shown, const oltr_feedback *seen)
{
    (void)state, (void)t, (void)from, (void)shown, (void)seen;
    return OLTR_OK;
}

static uint32_t list_no_sums(const void *state, sum_array out[MAX_SUMS])
{
    (void)state, (void)out;
    return 0;
}

/* A uniform list of candidates that all have one score: what selecting among them gives, without
 * looking at all of them.  room: tied_room(from->n) words. */
static void show_any(const candidates *from, const oltr_rng *rng, uint32_t *room, double score,
                     const oltr_ranking *out)
{
    tied_ranks(rng, 0, from->n, out->k, room, out->item);
    places_to_items(from, out);
    for (uint32_t slot = 0; out->score && slot < out->k; slot++)
        out->score[slot] = score;
}

/* The scratch: scores of all items, or room for ties. */
static size_t no_learning_scratch_bytes(const oltr_settings *settings)
{
    size_t scores = scores_bytes(settings), room = tied_room(settings->n_items) * sizeof(uint32_t);
    return scores > room ? scores : room;
}

static oltr_status check_nothing(const void *state, uint64_t t, oltr_error *error)
{
    (void)state, (void)t, (void)error;
    return OLTR_OK;
}

#endif
