/* biased_rate.c - see biased_rate.h. */
#include "engine/posterior/biased_rate.h"

#include <math.h>

#include "engine/kernels/rate_hat.h"

/* log(1 + t), of t below -1 that of -1 */
static double log_of_more(double t)
{
    return log1p(t > -1 ? t : -1);
}

/* log f(mode + d) - log f(mode), never above 0 but for rounding. */
static double fall(const biased_rate *r, double mode, double d)
{
    double sum = mode > 0 ? r->clicks * log_of_more(d / mode) : 0;
    for (uint32_t l = 0; l < r->n; l++)
        sum += r->missed[l] * log_of_more(-r->kappa[l] * d / (1 - r->kappa[l] * mode));
    return sum;
}

/* Gauss and Legendre's rule with eight points on (-1,1). */
static const double point[4] = {0.18343464249564980494, 0.52553240991632898582,
                                0.79666647741362673959, 0.96028985649753623168};
static const double weight[4] = {0.36268378337836198297, 0.31370664587788728734,
                                 0.22238103445337447054, 0.10122853629037625915};

/* Panels of this many times the area under a side of the hat, until log f has fallen so far. */
#define PANEL 0.7
#define LEAST_FALL -45.0

/* Adds the integrals of f, d f and d^2 f over d from `from` to `to`; returns the fall at `to`. */
static double add_panel(const biased_rate *r, double mode, double from, double to, double sum[3])
{
    double middle = 0.5 * (from + to), half = 0.5 * (to - from);
    for (int i = 0; i < 8; i++) {
        double d = middle + half * (i < 4 ? point[i] : -point[i - 4]);
        double mass = fabs(half) * weight[i % 4] * exp(fall(r, mode, d));
        sum[0] += mass;
        sum[1] += mass * d;
        sum[2] += mass * d * d;
    }
    return fall(r, mode, to);
}

/* Panels from the mode to one end of [0,1]. */
static void add_side(const biased_rate *r, double mode, double step, double end, double sum[3])
{
    double far = fabs(end - mode), sign = end > mode ? 1 : -1;
    for (double d = 0; d < far; d += step)
        if (add_panel(r, mode, sign * d, sign * fmin(d + step, far), sum) < LEAST_FALL)
            break;
}

/* A side that has no share of the area in floats is one panel. */
void rate_moments(const rate_items *items, uint32_t i, double *mean, double *sd)
{
    const biased_rate r = rate_of(items, i);
    const float *number = items->number + i, end = number[RATE_END * items->stride];
    const double mode = items->mode[i], width = (double)number[RATE_WIDTH * items->stride];
    const double right = width * (double)end;
    const double left = width * (double)(number[RATE_AREA * items->stride] - end);
    double sum[3] = {0, 0, 0};
    add_side(&r, mode, right > 0 ? PANEL * right : 1, 1, sum);
    add_side(&r, mode, left > 0 ? PANEL * left : 1, 0, sum);
    double shift = sum[1] / sum[0];
    *mean = fmin(1, fmax(0, mode + shift));
    *sd = sqrt(fmax(0, sum[2] / sum[0] - shift * shift));
}
