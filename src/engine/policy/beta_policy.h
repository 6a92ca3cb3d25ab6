/* beta_policy.h - what the policies on a Beta posterior share: their parameters, their prior,
 * their prediction. */
#ifndef OLTR_ENGINE_POLICY_BETA_POLICY_H
#define OLTR_ENGINE_POLICY_BETA_POLICY_H

#include "engine/policy/item_policy.h"
#include "engine/posterior/beta_items.h"

enum { BETA_PRIOR, BETA_A, BETA_B, BETA_PARAMS };
extern const oltr_param beta_params[BETA_PARAMS];

/* The same rows, for a table with more of them. */
#define BETA_PARAM_ROWS                                                                            \
    {"prior",                                                                                      \
     OLTR_CHOICE,                                                                                  \
     PRIOR_NONE,                                                                                   \
     0,                                                                                            \
     2,                                                                                            \
     prior_choices,                                                                                \
     "what is taken from the prior: nothing, its means only (weighing as much as a + b), or all "  \
     "of it"},                                                                                     \
        {"a",                                                                                      \
         OLTR_REAL,                                                                                \
         1,                                                                                        \
         1e-3,                                                                                     \
         1e6,                                                                                      \
         NULL,                                                                                     \
         "first shape of every item's Beta prior, where it is not taken from the prior"},          \
    {                                                                                              \
        "b", OLTR_REAL, 1, 1e-3, 1e6, NULL,                                                        \
            "second shape of every item's Beta prior, where it is not taken from the prior; with " \
            "a "                                                                                   \
            "= 1 take 1 / the average click rate"                                                  \
    }

/* Whether items have priors of their own, taken from the settings. */
static inline bool takes_prior(const oltr_settings *settings)
{
    return choice(settings, BETA_PRIOR) != PRIOR_NONE;
}

/* The sums and priors of a policy: the shapes of a whole prior are those that its settings hold. */
static inline beta_items beta_plan(layout *l, const oltr_settings *settings)
{
    bool held = choice(settings, BETA_PRIOR) == PRIOR_FULL && settings->prior.a;
    return held ? beta_items_plan_shared(l, settings->n_items)
                : beta_items_plan(l, settings->n_items, takes_prior(settings));
}

/* Sets the prior's shapes from the settings of the policy.  The state begins with a beta_items, of
 * beta_plan(). */
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
