/* item_prior.h - one prior, read as what the policy needs: Beta shapes, or mean and standard
 * deviation.
 *
 * Whichever pair was given, the other is the one with the same mean and variance.
 */
#ifndef OLTR_ENGINE_POSTERIOR_ITEM_PRIOR_H
#define OLTR_ENGINE_POSTERIOR_ITEM_PRIOR_H

#include "engine/base/error.h"

int prior_given(const oltr_prior *prior);

/* OLTR_EPRIOR unless exactly one whole pair is given and every item's values are within bounds
 * (prior.c), a, b > 0, sd > 0; with `beta`, means and standard deviations must also be those of
 * some Beta distribution. */
oltr_status prior_check(const oltr_prior *prior, uint32_t n_items, int beta, oltr_error *error);

/* The same of one item of a prior that has one whole pair. */
oltr_status prior_check_item(const oltr_prior *prior, uint32_t item, int beta, oltr_error *error);

double prior_mean(const oltr_prior *prior, uint32_t item);
double prior_sd(const oltr_prior *prior, uint32_t item);
double prior_a(const oltr_prior *prior, uint32_t item);
double prior_b(const oltr_prior *prior, uint32_t item);

#endif
