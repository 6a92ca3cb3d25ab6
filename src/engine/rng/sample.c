/* sample.c - what the draws from one Beta(a,b) need to know of a and b. */
#include "engine/rng/sample.h"

beta_shape beta_shape_of(double a, double b)
{
    const double first[GRID_WIDTH] = {a, 1, 1, 1}, second[GRID_WIDTH] = {b, 1, 1, 1};
    float out[7][GRID_WIDTH];
    KERNEL(beta_numbers_of)
    (first, second, 1, &(beta_numbers){out[0], out[1], out[2], out[3], out[4], out[5], out[6]});
    return (beta_shape){out[0][0], out[1][0], out[2][0], out[3][0],
                        out[4][0], out[5][0], out[6][0]};
}
