/* normal_tail.h - the upper tail of the standard normal distribution, by its hazard: u = -log P(Z
 * <= z), the exponential variable that belongs to z.
 */
#ifndef OLTR_ENGINE_SPECIAL_NORMAL_TAIL_H
#define OLTR_ENGINE_SPECIAL_NORMAL_TAIL_H

/* -log P(Z <= z): about the upper tail for large z, z^2 / 2 for z far below 0; for -infinity
 * infinity. */
double normal_hazard(double z);

/* Its inverse, for u > 0: decreasing, with a relative error of about 1e-15. */
double normal_at_hazard(double u);

#endif
