/* range_world.c - worlds whose attractions are drawn from an interval, anew in each replication:
 * uniformly (world uniform), or so that their logarithm is uniform (world log-uniform), as click
 * rates of real pages are, with many items that are hardly ever clicked.
 *
 * These worlds have no prior of their own.  With prior_n = n above 0 policies get Beta(n nu, n (1 -
 * nu)) for an item of attraction nu: its mean is the truth, and it counts as n observations.
 * wrong_prior.h makes it noisy, shifted or otherwise wrong.
 */
#include <math.h>

#include "engine/kernels/philox.h"
#include "lab/world/drift.h"
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
    if (check_drift(world, error) != OLTR_OK)
        return OLTR_EINVAL;
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

/* Numbers 2 pair and 2 pair + 1 of the generator, as oltr_rng_uniform() gives them one by one: two
 * words each.  A block of four words is computed once, which halves the time of a draw. */
static void uniform_pair(const oltr_rng *rng, uint32_t pair, double u[2])
{
    uint32_t word[4];
    words_at(rng, pair, 0, word);
    for (int i = 0; i < 2; i++) {
        uint64_t high = word[2 * i] >> 6, low = word[2 * i + 1] >> 6;
        u[i] = ((double)(high << 26 | low) + 0.5) * 0x1p-52;
    }
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Rounding may leave the interval. */
static double uniform_between(const oltr_world *world, oltr_rng *rng)
{
    double low = value_of(world, LOW), high = value_of(world, HIGH);
    return fmin(fmax(low + oltr_rng_uniform(rng) * (high - low), low), high);
}

static double log_uniform_between(const oltr_world *world, oltr_rng *rng)
{
    double low = value_of(world, LOW), high = value_of(world, HIGH), ratio = log(high / low);
    return fmin(fmax(low * exp(oltr_rng_uniform(rng) * ratio), low), high);
}

static oltr_status draw_between(const oltr_world *world, bool logs, uint64_t seed,
                                uint64_t replication, instance *out)
{
    double low = value_of(world, LOW), high = value_of(world, HIGH);
    double ratio = logs ? log(high / low) : 0;
    wrong_prior wrong = wrong_prior_of(world, params, FIRST_WRONG);
    oltr_rng own = oltr_rng_at(oltr_rng_make(seed, replication), STREAM_INSTANCE, 0);
    double u[2];
    for (uint32_t i = 0; i < out->n_items; i++) {
        if (i % 2 == 0)
            uniform_pair(&own, i / 2, u);
        double nu = logs ? low * exp(u[i % 2] * ratio) : low + u[i % 2] * (high - low);
        out->attraction[i] = clamp(nu, low, high); /* rounding may leave the interval */
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

/* ---- drift */

static double redraw_uniform(const oltr_world *world, const instance *truth, uint32_t item,
                             oltr_rng *rng)
{
    (void)truth;
    (void)item;
    return uniform_between(world, rng);
}

static double redraw_log_uniform(const oltr_world *world, const instance *truth, uint32_t item,
                                 oltr_rng *rng)
{
    (void)truth;
    (void)item;
    return log_uniform_between(world, rng);
}

static oltr_status advance_uniform(const oltr_world *world, uint64_t seed, uint64_t replication,
                                   uint64_t round, instance *truth, oltr_error *error)
{
    drift_law law = {value_of(world, LOW), value_of(world, HIGH), redraw_uniform};
    (void)error;
    return drift(world, &law, seed, replication, round, truth);
}

static oltr_status advance_log_uniform(const oltr_world *world, uint64_t seed, uint64_t replication,
                                       uint64_t round, instance *truth, oltr_error *error)
{
    drift_law law = {value_of(world, LOW), value_of(world, HIGH), redraw_log_uniform};
    (void)error;
    return drift(world, &law, seed, replication, round, truth);
}

const world_ops uniform_world = {
    .info = {"uniform", "attractions uniform on [low, high], drawn anew in each replication"},
    .check = check,
    .draw = draw_uniform,
    .moves = world_drifts,
    .advance = advance_uniform,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .traits = OLTR_WORLD_DRIFTS,
    .gives_prior = gives_prior,
};

const world_ops log_uniform_world = {
    .info = {"log-uniform", "attractions whose logarithm is uniform between those of low and high, "
                            "drawn anew in each replication"},
    .check = check_log,
    .draw = draw_log_uniform,
    .moves = world_drifts,
    .advance = advance_log_uniform,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .traits = OLTR_WORLD_DRIFTS,
    .gives_prior = gives_prior,
};
