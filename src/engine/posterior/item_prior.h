/* item_prior.h - one prior, read as what the policy needs: Beta shapes, or mean and standard
 * deviation.  Whichever pair was given, the other is the one with the same mean and variance.
 */
#ifndef OLTR_ENGINE_POSTERIOR_ITEM_PRIOR_H
#define OLTR_ENGINE_POSTERIOR_ITEM_PRIOR_H

#include <stdbool.h>

#include "engine/base/error.h"

bool prior_given(const oltr_prior *prior);

/* OLTR_EPRIOR unless exactly one whole pair is given and every item's values are within bounds
 * (limits.h); with `beta`, means and standard deviations must also be those of some Beta
 * distribution. */
oltr_status prior_check(const oltr_prior *prior, uint32_t n_items, bool beta, oltr_error *error);

/* The same of one item of a prior that has one whole pair. */
oltr_status prior_check_item(const oltr_prior *prior, uint32_t item, bool beta, oltr_error *error);

double prior_mean(const oltr_prior *prior, uint32_t item);
double prior_sd(const oltr_prior *prior, uint32_t item);
double prior_a(const oltr_prior *prior, uint32_t item);
double prior_b(const oltr_prior *prior, uint32_t item);
/* Shapes that add up to `weight` and have the prior's mean. */
void prior_shapes_of_mean(const oltr_prior *prior, uint32_t item, double weight, double *a,
                          double *b);
/* The standard deviation of Beta(a, b). */
double beta_sd(double a, double b);

/* ---- a prior that is only approximately right

 * Moments are then read as a Beta distribution with that mean and an a + b of at least LEAST_TOLD,
 * even where no Beta distribution has so large a deviation. */
#define LEAST_TOLD 0.5
oltr_status prior_check_told(const oltr_prior *prior, uint32_t item, oltr_error *error);
void prior_told(const oltr_prior *prior, uint32_t item, double *a, double *b);

/* ---- the parameter `prior` of a policy: what it takes from the prior */

enum { PRIOR_NONE, PRIOR_MEAN, PRIOR_FULL };
extern const char *const prior_choices[];

/* OLTR_EPRIOR when a prior is needed and the settings hold none, or a bad one. */
oltr_status require_prior(const oltr_settings *settings, bool needed, bool beta, oltr_error *error);
/* The same of one item, after require_prior(). */
oltr_status require_item_prior(const oltr_settings *settings, bool needed, bool beta, uint32_t item,
                               oltr_error *error);

#endif
