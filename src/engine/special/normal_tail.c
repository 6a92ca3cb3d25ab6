/* normal_tail.c - see normal_tail.h.
 *
 * The quantile is Wichura's algorithm AS 241 (PPND16, Applied Statistics 37, 1988), three rational
 * functions with a relative error of about 1e-16.  It needs the smaller of the two tails, and its
 * logarithm where it is below 0.075; both follow from u without cancellation.
 */
#include "engine/special/normal_tail.h"

#include <math.h>

#define SQRT_HALF 0.70710678118654752440

/* log P(Z <= z) for z < -37, where erfc underflows: Mills' ratio by four terms, which are exact to
 * 1e-11 there. */
static double log_far_tail(double z)
{
    double r = 1 / (z * z);
    double series = 1 - r * (1 - 3 * r * (1 - 5 * r * (1 - 7 * r)));
    return -0.5 * z * z - 0.91893853320467274178 - log(-z) + log(series);
}

double normal_hazard(double z)
{
    if (z > 0)
        return -log1p(-0.5 * erfc(z * SQRT_HALF));
    if (z > -37)
        return -log(0.5 * erfc(-z * SQRT_HALF));
    return z > -1e150 ? -log_far_tail(z) : (double)INFINITY;
}

static double ratio8(const double p[8], const double q[8], double r)
{
    double above = p[7], below = q[7];
    for (int i = 6; i >= 0; i--) {
        above = above * r + p[i];
        below = below * r + q[i];
    }
    return above / below;
}

/* z with P(Z > z) = 1/2 - q, 0 <= q <= 0.425. */
static double central(double q)
{
    static const double p[8] = {3.387132872796366608,  133.14166789178437745, 1971.5909503065514427,
                                13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
                                33430.575583588128105, 2509.0809287301226727};
    static const double d[8] = {1,
                                42.313330701600911252,
                                687.1870074920579083,
                                5394.1960214247511077,
                                21213.794301586595867,
                                39307.89580009271061,
                                28729.085735721942674,
                                5226.495278852545925};
    return q * ratio8(p, d, 0.180625 - q * q);
}

/* z with P(Z > z) = exp(-r^2), below 0.075. */
static double outer(double r)
{
    static const double p[8] = {1.42343711074968357734,  4.6303378461565452959,
                                5.7694972214606914055,   3.64784832476320460504,
                                1.27045825245236838258,  .24178072517745061177,
                                .0227238449892691845833, 7.7454501427834140764e-4};
    static const double d[8] = {1,
                                2.05319162663775882187,
                                1.6763848301838038494,
                                .68976733498510000455,
                                .14810397642748007459,
                                .0151986665636164571966,
                                5.475938084995344946e-4,
                                1.05075007164441684324e-9};
    static const double far_p[8] = {6.6579046435011037772,     5.4637849111641143699,
                                    1.7848265399172913358,     .29656057182850489123,
                                    .026532189526576123093,    .0012426609473880784386,
                                    2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double far_d[8] = {1,
                                    .59983220655588793769,
                                    .13692988092273580531,
                                    .0148753612908506148525,
                                    7.868691311456132591e-4,
                                    1.8463183175100546818e-5,
                                    1.4215117583164458887e-7,
                                    2.04426310338993978564e-15};
    return r <= 5 ? ratio8(p, d, r - 1.6) : ratio8(far_p, far_d, r - 5);
}

double normal_at_hazard(double u)
{
    double upper = -expm1(-u), lower = exp(-u);
    if (upper <= 0.5)
        return upper >= 0.075 ? central(0.5 - upper) : outer(sqrt(-log(upper)));
    return lower >= 0.075 ? -central(0.5 - lower) : -outer(sqrt(u));
}
