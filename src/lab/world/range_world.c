/* range_world.c - worlds whose attractions are drawn from an interval, anew in each replication:
 * uniformly (world uniform), or so that their logarithm is uniform (world log-uniform), as click
 * rates of real pages are, with many items that are hardly ever clicked.
 *
 * These worlds have no prior of their own.  With prior_n = n above 0 policies get Beta(n nu, n (1 -
 * nu)) for an item of attraction nu: its mean is the truth, and it counts as n observations.
 * wrong_prior.h makes it noisy, shifted or otherwise wrong.
 */
#include <math.h>

#include "lab/world/wrong_prior.h"

enum { LOW, HIGH, PRIOR_N, FIRST_WRONG };

/* A prior of mean 0 or 1 has no shapes: attractions count as this far from both. */
static const double LEAST_MEAN = 1e-9;

static const world_param params[] = {
    {{"low", OLTR_REAL, 0.001, 0, 1, NULL, "the smallest attraction; above 0 in world log-uniform"},
     0,
     0},
    {{"high", OLTR_REAL, 0.1, 0, 1, NULL, "the largest attraction"}, 0, 0},
    {{"prior_n", OLTR_REAL, 0, 0, 1e9, NULL,
      "how many observations the prior that policies get is worth, a + b, its mean being the "
      "attraction; 0: they get none"},
     0,
     0},
    WRONG_PRIOR_TABLE,
};

static double value_of(const oltr_world *world, uint32_t i)
{
    return oltr_world_value(params, world->kind_values, i);
}

static int gives_prior(const oltr_world *world)
{
    return value_of(world, PRIOR_N) > 0;
}

static oltr_status check(const oltr_world *world, oltr_error *error)
{
    double low = value_of(world, LOW), high = value_of(world, HIGH);
    wrong_prior wrong = wrong_prior_of(world, params, FIRST_WRONG);
    if (world->dim || world->attraction || world->prior_a)
        return set_error(error, OLTR_EINVAL,
                         "world %s draws its attractions and has no features and no given prior; "
                         "use world fixed to give them",
                         world->kind);
    if (low > high)
        return set_error(error, OLTR_EINVAL,
                         "world %s: low is %g and high is %g; low must not be above high",
                         world->kind, low, high);
    if (is_shifted(world) || (prior_is_changed(&wrong) && !gives_prior(world)))
        return set_error(
            error, OLTR_EPRIOR, "world %s has no prior that could be wrong%s", world->kind,
            is_shifted(world) ? "; leave misspecification at 0" : "; add `prior_n: 20` to it");
    return OLTR_OK;
}

static oltr_status check_log(const oltr_world *world, oltr_error *error)
{
    if (!(value_of(world, LOW) > 0))
        return set_error(error, OLTR_EINVAL,
                         "world log-uniform needs a low above 0: no attraction of 0 has a "
                         "logarithm");
    return check(world, error);
}

static void set_prior(const oltr_world *world, instance *out)
{
    double n = value_of(world, PRIOR_N);
    for (uint32_t i = 0; i < out->n_items; i++) {
        double mean = fmin(fmax(out->attraction[i], LEAST_MEAN), 1 - LEAST_MEAN);
        out->a[i] = n * mean;
        out->b[i] = n * (1 - mean);
    }
}

static oltr_status draw_between(const oltr_world *world, bool logs, uint64_t seed,
                                uint64_t replication, instance *out)
{
    double low = value_of(world, LOW), high = value_of(world, HIGH);
    double ratio = logs ? log(high / low) : 0;
    wrong_prior wrong = wrong_prior_of(world, params, FIRST_WRONG);
    oltr_rng own = oltr_rng_at(oltr_rng_make(seed, replication), STREAM_INSTANCE, 0);
    for (uint32_t i = 0; i < out->n_items; i++) {
        double u = oltr_rng_uniform(&own);
        double nu = logs ? low * exp(u * ratio) : low + u * (high - low);
        out->attraction[i] = fmin(fmax(nu, low), high); /* rounding may leave the interval */
        if (draw_stopped(out, i))
            return OLTR_EINTERRUPTED;
    }
    out->tells = gives_prior(world);
    if (!out->tells)
        return OLTR_OK;
    set_prior(world, out);
    return change_prior(&wrong, seed, replication, out);
}

static oltr_status draw_uniform(const oltr_world *world, uint64_t seed, uint64_t replication,
                                instance *out, oltr_error *error)
{
    (void)error;
    return draw_between(world, false, seed, replication, out);
}

static oltr_status draw_log_uniform(const oltr_world *world, uint64_t seed, uint64_t replication,
                                    instance *out, oltr_error *error)
{
    (void)error;
    return draw_between(world, true, seed, replication, out);
}

const world_ops uniform_world = {
    .info = {"uniform", "attractions uniform on [low, high], drawn anew in each replication"},
    .check = check,
    .draw = draw_uniform,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .gives_prior = gives_prior,
};

const world_ops log_uniform_world = {
    .info = {"log-uniform", "attractions whose logarithm is uniform between those of low and high, "
                            "drawn anew in each replication"},
    .check = check_log,
    .draw = draw_log_uniform,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .gives_prior = gives_prior,
};
