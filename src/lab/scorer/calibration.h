/* calibration.h - from a score without a unit to the probability of a click (Platt 1999).
 *
 *   chance = 1 / (1 + exp(-(slope score + offset)))
 *
 * Slope and offset minimise the cross-entropy to the targets, on queries that the scorer was not
 * trained on.  The slope is kept positive: a negative one would reverse the order and so hide that
 * the scorer is worthless.  Such a scorer gets an almost flat calibration. */
#ifndef OLTR_LAB_SCORER_CALIBRATION_H
#define OLTR_LAB_SCORER_CALIBRATION_H

#include <stdbool.h>
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
