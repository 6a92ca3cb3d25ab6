/* candidate_scores.h - a double score for each candidate, and the list of the best of them.
 *
 * The scratch of a policy that ranks by scores begins with them: first the scores, then the group
 * maxima of select/topk.h.  A policy's own arrays may follow.
 */
#ifndef OLTR_ENGINE_POLICY_CANDIDATE_SCORES_H
#define OLTR_ENGINE_POLICY_CANDIDATE_SCORES_H

#include "engine/policy/ops.h"
#include "engine/select/topk.h"

typedef struct double_scores {
    double *score; /* (padded(n)) */
    double *best;  /* (topk_room(n)) */
} double_scores;

/* The scratch of n_items scores; a policy may take more of the layout. */
static inline layout scores_plan(uint32_t n_items, size_t *best)
{
    layout l = {0, false};
    layout_take(&l, padded(n_items), sizeof(double));
    *best = layout_take(&l, topk_room(n_items), sizeof(double));
    return l;
}

/* The operation scratch_bytes of a policy that needs the scores alone. */
size_t scores_bytes(const oltr_settings *settings);

double_scores scores_in(void *scratch, uint32_t n_items);

/* Pads the scores of all candidates, and shows the best of them.  Always OLTR_OK. */
oltr_status show_best(double_scores s, const candidates *from, const oltr_rng *rng,
                      const oltr_ranking *out);

/* The places of the best among the n scores, which it pads. */
void best_places(double_scores s, uint32_t n, const oltr_rng *rng, const oltr_ranking *out);

/* Turns places among the candidates into items. */
void places_to_items(const candidates *from, const oltr_ranking *out);

#endif
