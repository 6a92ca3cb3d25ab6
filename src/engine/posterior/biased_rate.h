/* biased_rate.h - the mean and deviation of the posterior of kernels/rate_kernels.h, by
 * integration.
 */
#ifndef OLTR_ENGINE_POSTERIOR_BIASED_RATE_H
#define OLTR_ENGINE_POSTERIOR_BIASED_RATE_H

#include "engine/kernels/rate_kernels.h"

/* To 1e-8 of the deviation. */
void rate_moments(const rate_items *items, uint32_t i, double *mean, double *sd);

#endif
