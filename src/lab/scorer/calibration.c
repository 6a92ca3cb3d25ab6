/* calibration.c - fits slope and offset by damped Newton steps on the standardised score, which
 * keeps the steps well scaled; see calibration.h. */
#include "lab/scorer/calibration.h"

#include <math.h>

/* The weight of a thousandth of an observation keeps the slope finite where a threshold on the
 * score separates the targets. */
#define RIDGE 1e-3
#define LEAST_SLOPE 1e-3 /* of the standardised score */
enum { MOST_STEPS = 100 };

static double sigmoid(double z)
{
    return z >= 0 ? 1 / (1 + exp(-z)) : exp(z) / (1 + exp(z));
}

/* log(1 + e^z) without overflow */
static double softplus(double z)
{
    return fmax(z, 0) + log1p(exp(-fabs(z)));
}

typedef struct problem {
    const float *score;
    const double *target;
    size_t n;
    double mean, sd; /* of the scores */
} problem;

static double cost(const problem *p, double slope, double offset)
{
    double sum = 0.5 * RIDGE * (slope * slope + offset * offset);
    for (size_t i = 0; i < p->n; i++) {
        double z = slope * (((double)p->score[i] - p->mean) / p->sd) + offset;
        sum += softplus(z) - p->target[i] * z;
    }
    return sum;
}

typedef struct slopes {
    double g0, g1, h00, h01, h11; /* gradient and second derivatives; 0: slope, 1: offset */
} slopes;

static slopes derive(const problem *p, double slope, double offset)
{
    slopes d = {RIDGE * slope, RIDGE * offset, RIDGE, 0, RIDGE};
    for (size_t i = 0; i < p->n; i++) {
        double x = ((double)p->score[i] - p->mean) / p->sd, chance = sigmoid(slope * x + offset);
        double error = chance - p->target[i], weight = chance * (1 - chance);
        d.g0 += error * x;
        d.g1 += error;
        d.h00 += weight * x * x;
        d.h01 += weight * x;
        d.h11 += weight;
    }
    return d;
}

/* A Newton step, halved until the cost falls; only of the offset when the slope is held.  False
 * when the cost falls no more. */
static bool step(const problem *p, bool hold_slope, double *slope, double *offset)
{
    slopes d = derive(p, *slope, *offset);
    double det = d.h00 * d.h11 - d.h01 * d.h01, here = cost(p, *slope, *offset);
    double ds = hold_slope ? 0 : (d.h11 * d.g0 - d.h01 * d.g1) / det;
    double doff = hold_slope ? d.g1 / d.h11 : (d.h00 * d.g1 - d.h01 * d.g0) / det;
    for (double size = 1; size > 1e-6; size /= 2) {
        double s = *slope - size * ds, o = *offset - size * doff;
        if (cost(p, s, o) < here) {
            *slope = s;
            *offset = o;
            return fabs(size * ds) + fabs(size * doff) > 1e-10;
        }
    }
    return false;
}

static void measure(problem *p)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += (double)p->score[i];
    p->mean = p->n > 0 ? sum / (double)p->n : 0;
    for (size_t i = 0; i < p->n; i++)
        squares += ((double)p->score[i] - p->mean) * ((double)p->score[i] - p->mean);
    p->sd = p->n > 0 ? sqrt(squares / (double)p->n) : 0;
    if (!(p->sd > 1e-12))
        p->sd = 1;
}

calibration calibration_fit(const float *score, const double *target, size_t n)
{
    problem p = {score, target, n, 0, 1};
    double slope = 0, offset = 0;
    measure(&p);
    for (int i = 0; i < MOST_STEPS && step(&p, false, &slope, &offset); i++)
        ;
    if (slope < LEAST_SLOPE) {
        slope = LEAST_SLOPE;
        for (int i = 0; i < MOST_STEPS && step(&p, true, &slope, &offset); i++)
            ;
    }
    return (calibration){slope / p.sd, offset - slope * p.mean / p.sd};
}

float calibrated(const calibration *c, float score)
{
    double chance = sigmoid(c->slope * (double)score + c->offset);
    return (float)fmin(fmax(chance, CHANCE_MARGIN), 1 - CHANCE_MARGIN);
}
