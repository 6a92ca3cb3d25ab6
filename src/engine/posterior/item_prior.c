/* item_prior.c - conversions between the two forms of a prior, and its validation. */
#include "engine/posterior/item_prior.h"

#include <math.h>
#include <stddef.h>

#include "engine/limits.h"

const char *const prior_choices[] = {"none", "mean", "full", NULL};

bool prior_given(const oltr_prior *prior)
{
    return prior->a || prior->b || prior->mean || prior->sd;
}

/* a + b of the Beta distribution with this mean and standard deviation; positive if there is one */
static double concentration(double mean, double sd)
{
    return mean * (1 - mean) / (sd * sd) - 1;
}

static bool is_shape(double value)
{
    return value >= LEAST_SHAPE && value <= LARGEST_SHAPE;
}

static oltr_status check_shapes(double a, double b, uint32_t i, oltr_error *error)
{
    if (is_shape(a) && is_shape(b))
        return OLTR_OK;
    return set_error(error, OLTR_EPRIOR,
                     "item %u: Beta(%g, %g) is no prior; both shapes must lie between %g and %g", i,
                     a, b, LEAST_SHAPE, LARGEST_SHAPE);
}

static oltr_status check_moments(double mean, double sd, bool beta, uint32_t i, oltr_error *error)
{
    if (!(fabs(mean) <= LARGEST_MOMENT && sd >= 1 / LARGEST_MOMENT && sd <= LARGEST_MOMENT))
        return set_error(error, OLTR_EPRIOR,
                         "item %u: mean %g with standard deviation %g is no prior; the mean must "
                         "be within %g, the deviation between %g and that",
                         i, mean, sd, LARGEST_MOMENT, 1 / LARGEST_MOMENT);
    if (beta && !(mean > 0 && mean < 1 && is_shape(concentration(mean, sd))))
        return set_error(error, OLTR_EPRIOR,
                         "item %u: no Beta distribution has mean %g and standard deviation %g; the "
                         "mean must lie in (0,1) and the variance below mean (1 - mean)",
                         i, mean, sd);
    return OLTR_OK;
}

oltr_status prior_check_item(const oltr_prior *p, uint32_t i, bool beta, oltr_error *error)
{
    return p->a ? check_shapes(p->a[i], p->b[i], i, error)
                : check_moments(p->mean[i], p->sd[i], beta, i, error);
}

oltr_status prior_check(const oltr_prior *prior, uint32_t n_items, bool beta, oltr_error *error)
{
    bool shapes = prior->a && prior->b && !prior->mean && !prior->sd;
    bool moments = prior->mean && prior->sd && !prior->a && !prior->b;
    oltr_status status = OLTR_OK;
    if (!shapes && !moments)
        return set_error(error, OLTR_EPRIOR,
                         "a prior is either a and b, or mean and sd: give both arrays of one pair");
    for (uint32_t i = 0; status == OLTR_OK && i < n_items; i++)
        status = prior_check_item(prior, i, beta, error);
    return status;
}

double prior_mean(const oltr_prior *p, uint32_t i)
{
    return p->a ? p->a[i] / (p->a[i] + p->b[i]) : p->mean[i];
}

double beta_sd(double a, double b)
{
    return sqrt(a * b / (a + b + 1)) / (a + b);
}

double prior_sd(const oltr_prior *p, uint32_t i)
{
    return p->a ? beta_sd(p->a[i], p->b[i]) : p->sd[i];
}

double prior_a(const oltr_prior *p, uint32_t i)
{
    return p->a ? p->a[i] : p->mean[i] * concentration(p->mean[i], p->sd[i]);
}

double prior_b(const oltr_prior *p, uint32_t i)
{
    return p->b ? p->b[i] : (1 - p->mean[i]) * concentration(p->mean[i], p->sd[i]);
}

void prior_shapes_of_mean(const oltr_prior *p, uint32_t i, double weight, double *a, double *b)
{
    *a = weight * prior_mean(p, i);
    *b = fmax(weight - *a, weight * 0x1p-54); /* above 0, even where the mean rounds to 1 */
}

oltr_status prior_check_told(const oltr_prior *p, uint32_t i, oltr_error *error)
{
    oltr_status status = prior_check_item(p, i, false, error);
    if (status != OLTR_OK || p->a)
        return status;
    double a, b;
    prior_told(p, i, &a, &b);
    if (p->mean[i] > 0 && p->mean[i] < 1 && is_shape(a) && is_shape(b))
        return OLTR_OK;
    return set_error(error, OLTR_EPRIOR,
                     "item %u: mean %g with standard deviation %g is no prior of a click rate; the "
                     "mean must lie in (0,1), and both mean (1 - mean) / sd^2 and the mean must "
                     "not be extreme",
                     i, p->mean[i], p->sd[i]);
}

void prior_told(const oltr_prior *p, uint32_t i, double *a, double *b)
{
    double mean = prior_mean(p, i), n = p->a ? 0 : concentration(mean, p->sd[i]);
    n = fmax(n, LEAST_TOLD);
    *a = p->a ? p->a[i] : mean * n;
    *b = p->a ? p->b[i] : (1 - mean) * n;
}

oltr_status require_prior(const oltr_settings *settings, bool needed, bool beta, oltr_error *error)
{
    if (!needed)
        return OLTR_OK;
    if (!prior_given(&settings->prior))
        return set_error(
            error, OLTR_EPRIOR,
            "%s is to take its prior from outside, but none is given: give one, or set prior: none",
            settings->info->name);
    return prior_check(&settings->prior, settings->n_items, beta, error);
}

oltr_status require_item_prior(const oltr_settings *settings, bool needed, bool beta, uint32_t item,
                               oltr_error *error)
{
    return needed ? prior_check_item(&settings->prior, item, beta, error) : OLTR_OK;
}
