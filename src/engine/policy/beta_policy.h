/* beta_policy.h - what the policies on a Beta posterior share: their parameters, their prior,
 * their prediction. */
#ifndef OLTR_ENGINE_POLICY_BETA_POLICY_H
#define OLTR_ENGINE_POLICY_BETA_POLICY_H

#include "engine/policy/item_policy.h"
#include "engine/posterior/beta_items.h"

enum { BETA_PRIOR, BETA_A, BETA_B, BETA_PARAMS };
extern const oltr_param beta_params[BETA_PARAMS];

/* Whether items have priors of their own, taken from the settings. */
static inline bool takes_prior(const oltr_settings *settings)
{
    return choice(settings, BETA_PRIOR) != PRIOR_NONE;
}

/* Sets the prior's shapes from the settings.  The state begins with a beta_items. */
oltr_status beta_init(void *state, const oltr_settings *settings, oltr_error *error);

/* Checks one item's prior and sums, and sets its prior's shapes. */
oltr_status beta_renew(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                       oltr_error *error);

/* Mean and standard deviation of the posterior. */
oltr_status beta_predict(const void *state, uint64_t t, const candidates *from, double *mean,
                         double *sd);

/* Draws every candidate from its Beta distribution and lists the largest draws.  todo, score and
 * best are room for padded(n), padded(n) and topk_room(n) numbers. */
void rank_by_beta(const oltr_rng *rng, const beta_shapes *shapes, const candidates *from,
                  uint32_t *todo, float *score, float *best, const oltr_ranking *out);

#endif
