/* item_prior.c - conversions between the two forms of a prior, and its validation. */
#include "engine/posterior/item_prior.h"

#include <math.h>
#include <stddef.h>

#define LEAST_SHAPE 1e-9
#define LARGEST_SHAPE 1e12
#define LARGEST_MOMENT                                                                             \
    1e9 /* of a mean, and 1e-9 the least of a standard deviation: squares and quotients stay       \
           numbers */

int prior_given(const oltr_prior *prior)
{
    return prior->a || prior->b || prior->mean || prior->sd;
}

/* a + b of the Beta distribution with this mean and standard deviation; positive if there is one */
static double concentration(double mean, double sd)
{
    return mean * (1 - mean) / (sd * sd) - 1;
}

oltr_status prior_check_item(const oltr_prior *p, uint32_t i, int beta, oltr_error *error)
{
    if (p->a) {
        if (!(p->a[i] >= LEAST_SHAPE && p->a[i] <= LARGEST_SHAPE && p->b[i] >= LEAST_SHAPE &&
              p->b[i] <= LARGEST_SHAPE))
            return set_error(
                error, OLTR_EPRIOR,
                "item %u: Beta(%g, %g) is no prior; both shapes must lie between %g and %g", i,
                p->a[i], p->b[i], LEAST_SHAPE, LARGEST_SHAPE);
        return OLTR_OK;
    }
    if (!(fabs(p->mean[i]) <= LARGEST_MOMENT && p->sd[i] >= 1 / LARGEST_MOMENT &&
          p->sd[i] <= LARGEST_MOMENT))
        return set_error(
            error, OLTR_EPRIOR,
            "item %u: mean %g with standard deviation %g is no prior; the mean must be "
            "within %g, the "
            "deviation between %g "
            "and that",
            i, p->mean[i], p->sd[i], LARGEST_MOMENT, 1 / LARGEST_MOMENT);
    double total = concentration(p->mean[i], p->sd[i]);
    if (beta &&
        !(p->mean[i] > 0 && p->mean[i] < 1 && total >= LEAST_SHAPE && total <= LARGEST_SHAPE))
        return set_error(
            error, OLTR_EPRIOR,
            "item %u: no Beta distribution has mean %g and standard deviation %g; the mean "
            "must lie in (0,1) and "
            "the variance below mean (1 - mean)",
            i, p->mean[i], p->sd[i]);
    return OLTR_OK;
}

oltr_status prior_check(const oltr_prior *prior, uint32_t n_items, int beta, oltr_error *error)
{
    int shapes = prior->a && prior->b && !prior->mean && !prior->sd;
    int moments = prior->mean && prior->sd && !prior->a && !prior->b;
    if (!shapes && !moments)
        return set_error(error, OLTR_EPRIOR,
                         "a prior is either a and b, or mean and sd: give both arrays of one pair");
    for (uint32_t i = 0; i < n_items; i++) {
        oltr_status status = prior_check_item(prior, i, beta, error);
        if (status != OLTR_OK)
            return status;
    }
    return OLTR_OK;
}

double prior_mean(const oltr_prior *p, uint32_t i)
{
    return p->a ? p->a[i] / (p->a[i] + p->b[i]) : p->mean[i];
}

double prior_sd(const oltr_prior *p, uint32_t i)
{
    if (!p->a)
        return p->sd[i];
    double n = p->a[i] + p->b[i];
    return sqrt(p->a[i] * p->b[i] / (n + 1)) / n;
}

double prior_a(const oltr_prior *p, uint32_t i)
{
    return p->a ? p->a[i] : p->mean[i] * concentration(p->mean[i], p->sd[i]);
}

double prior_b(const oltr_prior *p, uint32_t i)
{
    return p->b ? p->b[i] : (1 - p->mean[i]) * concentration(p->mean[i], p->sd[i]);
}
