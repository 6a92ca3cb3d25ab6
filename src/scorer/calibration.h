/* calibration.h - from a score without a unit to the chance of being attractive (Platt 1999).
 *
 *   chance = 1 / (1 + exp(-(slope score + offset)))
 *
 * The two numbers minimise the cross-entropy to the targets, on queries the scorer was not trained
 * on.  The slope is kept positive: a calibration that turned an order round would hide that the
 * scorer is worthless, so such a scorer gets an almost flat one instead.
 */
#ifndef OLTR_SCORER_CALIBRATION_H
#define OLTR_SCORER_CALIBRATION_H

#include <stddef.h>

typedef struct calibration {
    double slope, offset;
} calibration;

/* `target`: in [0,1].  Scores must be finite. */
calibration calibration_fit(const float *score, const double *target, size_t n);

/* In [CHANCE_MARGIN, 1 - CHANCE_MARGIN], so strictly within (0,1) as a float as well. */
#define CHANCE_MARGIN 1e-6
float calibrated(const calibration *c, float score);

#endif
