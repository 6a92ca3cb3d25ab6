/* biased_rate.c - see biased_rate.h. */
#include "engine/posterior/biased_rate.h"

#include <math.h>
#include <stdbool.h>

#include "engine/kernels/philox.h"

#define LEAST_DROP 0.25

/* ---- log f */

/* log(1 + t), of t below -1 that of -1.  Near 0 it is 2 artanh(t / (2 + t)), whose series is cut
 * where it is 6e-12 of it at 1/4, and falls with the twelfth power. */
static double log_near_1(double t)
{
    if (!(fabs(t) <= 0.25))
        return log1p(t > -1 ? t : -1);
    double s = t / (2 + t), q = s * s;
    double series = 1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11))));
    return 2 * s + 2 * s * (q * series);
}

/* log f(mode + d) - log f(mode), never above 0 but for rounding. */
static double fall(const biased_rate *r, double mode, double d)
{
    double sum = mode > 0 ? r->clicks * log_near_1(d / mode) : 0;
    for (uint32_t l = 0; l < r->n; l++)
        sum += r->missed[l] * log_near_1(-r->kappa[l] * d / (1 - r->kappa[l] * mode));
    return sum;
}

/* d log f / d theta, and minus the second derivative. */
static double slope(const biased_rate *r, double theta, double *curvature)
{
    double g = theta > 0 ? r->clicks / theta : 0, q = theta > 0 ? g / theta : 0;
    for (uint32_t l = 0; l < r->n; l++) {
        double part = r->kappa[l] / (1 - r->kappa[l] * theta);
        g -= r->missed[l] * part;
        q += r->missed[l] * part * part;
    }
    *curvature = q;
    return g;
}

/* ---- the mode */

#define LAST_BELOW_1                                                                               \
    (1 - 0x1p-53) /* at 1 the logarithm of a miss in a slot that all examine ends */

/* S - sum at z of the head of the header, and minus its derivative. */
static double excess(const biased_rate *r, double most, double z, double *rate)
{
    double left = r->clicks, sum = 0;
    for (uint32_t l = 0; l < r->n; l++) {
        double below = 1 / (1 + (most - r->kappa[l]) * z),
               part = r->missed[l] * r->kappa[l] * below;
        left -= part * z;
        sum += part * below;
    }
    *rate = sum;
    return left;
}

static double mode_of(const biased_rate *r)
{
    double most = 0, all = 0, rate;
    for (uint32_t l = 0; l < r->n; l++) {
        most = fmax(most, r->kappa[l]);
        all += r->missed[l] * r->kappa[l];
    }
    if (!(r->clicks > 0))
        return 0;
    double end = most < 1 ? 1 / (1 - most) : INFINITY; /* z of theta = 1 */
    if (r->n == 0 || (most < 1 && excess(r, most, end, &rate) >= 0))
        return 1;
    double z = r->clicks / all;
    for (int i = 0; i < 200; i++) {
        double step = excess(r, most, z, &rate) / rate;
        z += step;
        if (!(step > 1e-10 * z))
            break;
    }
    return fmin(most < 1 ? 1 : LAST_BELOW_1, z / (1 + most * z));
}

/* ---- the hat */

/* One side of the hat, whose tangent is at mode + w or mode - w. */
typedef struct rate_side {
    double width, reach, slope, area, drop;
} rate_side;

/* Where log f has hardly fallen at the distance `width`, as with a fraction of a click, a larger
 * one is taken.  Without a tangent the hat is 1 to the end. */
static rate_side side_of(const biased_rate *r, double mode, double width, double end)
{
    rate_side s = {.width = width, .reach = end};
    double sign = end > mode ? 1 : -1, far = fabs(end - mode), q;
    for (; s.width < far; s.width *= 2) {
        s.drop = -fall(r, mode, sign * s.width);
        if (s.drop > LEAST_DROP)
            break;
    }
    double at = mode + sign * s.width, g = fabs(slope(r, at, &q));
    if (!(s.width < far) || !(at < 1) || !(at > 0) || !(g > 0))
        return (rate_side){.width = s.width, .reach = end};
    s.slope = g;
    s.reach = mode + sign * fmax(0, s.width - s.drop / g);
    s.area = -expm1(-g * fabs(end - s.reach)) / g;
    return s;
}

rate_hat rate_hat_of(const biased_rate *r)
{
    double q, mode = mode_of(r), g = fabs(slope(r, mode, &q));
    double steep = g + sqrt(g * g + 2 * q), width = steep > 2 ? 2 / steep : 1;
    rate_side left = side_of(r, mode, width, 0), right = side_of(r, mode, width, 1);
    return (rate_hat){.mode = mode,
                      .left = left.reach,
                      .right = right.reach,
                      .left_width = left.width,
                      .right_width = right.width,
                      .left_slope = left.slope,
                      .right_slope = right.slope,
                      .left_area = left.area,
                      .right_area = right.area,
                      .left_drop = left.drop,
                      .right_drop = right.drop};
}

/* ---- the draw */

/* Uniform on (0,1) from two words, as oltr_rng_uniform(). */
static double uniform_of(uint32_t high, uint32_t low)
{
    return ((double)((uint64_t)(high >> 6) << 26 | low >> 6) + 0.5) * 0x1p-52;
}

/* A point under the hat, and the logarithm of its height there. */
static double hat_point(const rate_hat *hat, double u, double *height)
{
    double middle = hat->right - hat->left;
    double y = u * (middle + hat->left_area + hat->right_area);
    *height = 0;
    if (y < middle)
        return hat->left + y;
    y -= middle;
    bool is_right = y < hat->right_area;
    double steep = is_right ? hat->right_slope : hat->left_slope;
    *height = log(1 - steep * (is_right ? y : y - hat->right_area));
    double theta = is_right ? hat->right - *height / steep : hat->left + *height / steep;
    return theta < 0 ? 0 : theta > 1 ? 1 : theta;
}

/* Whether v is below the chord of log f from the mode to the tangent's point, and so below f.  exp
 * is replaced by a polynomial that is below it. */
static bool is_under_chord(const rate_hat *hat, double d, double height, double v)
{
    double drop = d < 0 ? hat->left_drop : hat->right_drop;
    double far = fabs(d) / (d < 0 ? hat->left_width : hat->right_width);
    double y = drop * far + height;
    return far <= 1 && drop > 0 && y < 2 && v <= 1 - y * (1 - y * (0.5 - y * (1.0 / 6)));
}

bool rate_draw_at_once(const rate_hat *hat, const uint32_t word[4], double *theta)
{
    double height;
    *theta = hat_point(hat, uniform_of(word[0], word[1]), &height);
    return is_under_chord(hat, *theta - hat->mode, height, uniform_of(word[2], word[3]));
}

double rate_draw(const biased_rate *r, const rate_hat *hat, const oltr_rng *rng, uint32_t item,
                 const uint32_t word[4])
{
    double theta = hat->mode;
    uint32_t more[4];
    for (uint32_t attempt = 0; attempt < PURPOSE_POWERS;) {
        double height;
        theta = hat_point(hat, uniform_of(word[0], word[1]), &height);
        double v = uniform_of(word[2], word[3]), d = theta - hat->mode;
        if (is_under_chord(hat, d, height, v) || log(v) + height <= fall(r, hat->mode, d))
            break;
        words_at(rng, item, ++attempt, more);
        word = more;
    }
    return theta; /* half of all attempts succeed, so that all 2^15 never fail */
}

/* ---- moments */

/* Gauss and Legendre's rule with eight points on (-1,1). */
static const double point[4] = {0.18343464249564980494, 0.52553240991632898582,
                                0.79666647741362673959, 0.96028985649753623168};
static const double weight[4] = {0.36268378337836198297, 0.31370664587788728734,
                                 0.22238103445337447054, 0.10122853629037625915};

/* Panels of this many widths, until log f has fallen so far. */
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

void rate_moments(const biased_rate *r, const rate_hat *hat, double *mean, double *sd)
{
    double sum[3] = {0, 0, 0}, mode = hat->mode;
    for (double d = 0, step = PANEL * hat->right_width; d < 1 - mode; d += step)
        if (add_panel(r, mode, d, fmin(d + step, 1 - mode), sum) < LEAST_FALL)
            break;
    for (double d = 0, step = PANEL * hat->left_width; d < mode; d += step)
        if (add_panel(r, mode, -d, -fmin(d + step, mode), sum) < LEAST_FALL)
            break;
    double shift = sum[1] / sum[0];
    *mean = fmin(1, fmax(0, mode + shift));
    *sd = sqrt(fmax(0, sum[2] / sum[0] - shift * shift));
}
