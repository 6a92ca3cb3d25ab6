/* fixed_world.c - a world with given attractions: the same instance in every replication, only the
 * users differ, and the errors of a prior that is wrong at random (wrong_prior.h).  An item that
 * jumps (drift.h) takes one of the given attractions, each with the same chance. */
#include <math.h>

#include "lab/world/drift.h"
#include "lab/world/wrong_prior.h"

static const world_param params[] = {WRONG_PRIOR_TABLE};

static oltr_status check(const oltr_world *world, oltr_error *error)
{
    if (!world->attraction)
        return set_error(error, OLTR_EINVAL, "world fixed needs the attraction of every item");
    wrong_prior wrong = wrong_prior_of(world, params, 0);
    if (!world->prior_a && (is_shifted(world) || prior_is_changed(&wrong)))
        return set_error(
            error, OLTR_EPRIOR,
            "this world has no prior that could be wrong; add `prior: {a: 1, b: 10}` to it");
    if (check_drift(world, error) != OLTR_OK)
        return OLTR_EINVAL;
    if (!world->features != !world->dim)
        return set_error(error, OLTR_EFEATURE, "features and their number belong together");
    for (size_t i = 0; i < (size_t)world->n_items * world->dim; i++)
        if (!isfinite(world->features[i]))
            return set_error(error, OLTR_EFEATURE, "item %zu: feature %zu is not finite",
                             i / world->dim, i % world->dim);
    for (uint32_t i = 0; i < world->n_items; i++) {
        if (!(world->attraction[i] >= 0 && world->attraction[i] <= 1))
            return set_error(error, OLTR_EINVAL, "item %u: an attraction is a probability, not %g",
                             i, world->attraction[i]);
        if (world->prior_a &&
            check_shifted_prior(world, world->prior_a[i], world->prior_b[i], i, error) != OLTR_OK)
            return OLTR_EPRIOR;
    }
    return OLTR_OK;
}

static oltr_status draw(const oltr_world *world, uint64_t seed, uint64_t replication, instance *out,
                        oltr_error *error)
{
    wrong_prior wrong = wrong_prior_of(world, params, 0);
    (void)error;
    out->tells = world->prior_a != NULL;
    out->x = world->features;
    for (uint32_t i = 0; i < world->n_items; i++) {
        out->attraction[i] = world->attraction[i];
        if (out->tells) {
            out->a[i] = world->prior_a[i] + world->misspecification;
            out->b[i] = world->prior_b[i] - world->misspecification;
        }
    }
    return out->tells ? change_prior(&wrong, seed, replication, out) : OLTR_OK;
}

static double redraw(const oltr_world *world, const instance *truth, uint32_t item, oltr_rng *rng)
{
    (void)truth;
    (void)item;
    return world->attraction[oltr_rng_below(rng, world->n_items)];
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
    return world->prior_a != NULL;
}

const world_ops fixed_world = {
    .info = {"fixed", "attractions as given, the same in every replication"},
    .check = check,
    .draw = draw,
    .moves = world_drifts,
    .advance = advance,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .traits =
        OLTR_WORLD_PRIOR | OLTR_WORLD_ATTRACTION | OLTR_WORLD_MISSPECIFIED | OLTR_WORLD_DRIFTS,
    .gives_prior = gives_prior,
};
