/* sample.c - what the draws from Beta(a,b) need to know of a and b. */
#include "engine/rng/sample.h"

#include <math.h>

/* A power beyond this would leave the floats once it is multiplied by a logarithm, at most 22.2.
 * Such a draw is 0 or 1 for all purposes; the two powers are lessened by one factor, so that the
 * odds of the one and the other stay right. */
#define LARGEST_POWER 1e36

static double power_of(double shape, double least)
{
    if (shape >= 1)
        return 0;
    return least >= 1 / LARGEST_POWER ? 1 / shape : least / shape * LARGEST_POWER;
}

beta_shape beta_shape_of(double a, double b)
{
    double da = a - 1.0 / 3 + (a < 1), db = b - 1.0 / 3 + (b < 1), least = fmin(a, b);
    return (beta_shape){(float)(1 / sqrt(9 * da)),
                        (float)(1 / sqrt(9 * db)),
                        (float)da,
                        (float)db,
                        (float)log(da / db),
                        (float)power_of(a, least),
                        (float)power_of(b, least)};
}
