/* beta_world.c - the world of the paper's non-contextual experiments: attraction i ~ Beta(a_i,
 * b_i), a new draw each replication.
 *
 * Without a prior of its own, b_i = 10 and a_i is uniform on 1..a_max (10, as printed; the released
 * code has 9).  The paper draws a 20 times, and for each of these the attractions 20 times:
 * replications that share a draw of a are `instances_per_prior` in a row.
 *
 * Policies get the prior moved by misspecification, then changed as wrong_prior.h says.
 *
 * An item that jumps (drift.h) is drawn from its Beta(a_i, b_i) again.  The true shapes are kept
 * for that in mean and sd of the instance, which this world does not give to policies.
 */
#include "lab/world/drift.h"
#include "lab/world/wrong_prior.h"

enum { DEFAULT_B = 10, DEFAULT_A_MAX = 10, FIRST_WRONG = 2 };

static const world_param params[] = {
    {{"a_max", OLTR_INTEGER, DEFAULT_A_MAX, 1, 1e6, NULL,
      "the largest a: without `prior`, each a is drawn uniformly from 1 to a_max, and b is 10"},
     offsetof(oltr_world, a_max),
     1},
    {{"instances_per_prior", OLTR_INTEGER, 1, 1, UINT32_MAX, NULL,
      "without `prior`, this many replications in a row share one draw of all a"},
     offsetof(oltr_world, instances_per_prior),
     1},
    WRONG_PRIOR_TABLE,
};

static uint32_t a_max(const oltr_world *world)
{
    return world->a_max ? world->a_max : DEFAULT_A_MAX;
}

static oltr_status check(const oltr_world *world, oltr_error *error)
{
    if (world->dim)
        return set_error(
            error, OLTR_EFEATURE,
            "world beta has no features; use world linear, logistic, or fixed with features");
    if (world->attraction)
        return set_error(error, OLTR_EINVAL,
                         "world beta draws its attractions; use world fixed to give them");
    if (check_drift(world, error) != OLTR_OK)
        return OLTR_EINVAL;
    if (!world->prior_a)
        return check_shifted_prior(world, 1, DEFAULT_B, 0, error);
    for (uint32_t i = 0; i < world->n_items; i++) {
        oltr_status status =
            check_shifted_prior(world, world->prior_a[i], world->prior_b[i], i, error);
        if (status != OLTR_OK)
            return status;
    }
    return OLTR_OK;
}

static oltr_status draw(const oltr_world *world, uint64_t seed, uint64_t replication, instance *out,
                        oltr_error *error)
{
    uint64_t sharing = world->instances_per_prior ? world->instances_per_prior : 1;
    oltr_rng shapes = oltr_rng_at(oltr_rng_make(seed, replication / sharing), STREAM_PRIOR, 0);
    oltr_rng own = oltr_rng_at(oltr_rng_make(seed, replication), STREAM_INSTANCE, 0);
    wrong_prior wrong = wrong_prior_of(world, params, FIRST_WRONG);
    out->tells = 1;
    (void)error;
    for (uint32_t i = 0; i < world->n_items; i++) {
        double a = world->prior_a ? world->prior_a[i] : 1 + oltr_rng_below(&shapes, a_max(world));
        double b = world->prior_b ? world->prior_b[i] : DEFAULT_B;
        out->attraction[i] = oltr_rng_beta(&own, a, b);
        out->a[i] = a + world->misspecification;
        out->b[i] = b - world->misspecification;
        if (world->drift_jump > 0) {
            out->mean[i] = a;
            out->sd[i] = b;
        }
        if (draw_stopped(out, i))
            return OLTR_EINTERRUPTED;
    }
    return change_prior(&wrong, seed, replication, out);
}

static double redraw(const oltr_world *world, const instance *truth, uint32_t item, oltr_rng *rng)
{
    (void)world;
    return oltr_rng_beta(rng, truth->mean[item], truth->sd[item]);
}

static oltr_status advance(const oltr_world *world, uint64_t seed, uint64_t replication,
                           uint64_t round, instance *truth, oltr_error *error)
{
    static const drift_law law = {0, 1, redraw};
    (void)error;
    return drift(world, &law, seed, replication, round, truth);
}

static int gives_prior(const oltr_world *world)
{
    (void)world;
    return 1;
}

const world_ops beta_world = {
    .info = {"beta", "attractions drawn from Beta distributions, anew in each replication"},
    .check = check,
    .draw = draw,
    .moves = world_drifts,
    .advance = advance,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .traits = OLTR_WORLD_PRIOR | OLTR_WORLD_MISSPECIFIED | OLTR_WORLD_DRIFTS,
    .gives_prior = gives_prior,
};
