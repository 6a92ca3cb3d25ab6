/* fixed_world.c - a world with given attractions: the same instance in every replication, only the
 * users differ, and the errors of a prior that is wrong at random (wrong_prior.h). */
#include <math.h>

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

static int gives_prior(const oltr_world *world)
{
    return world->prior_a != NULL;
}

const world_ops fixed_world = {
    .info = {"fixed", "attractions as given, the same in every replication"},
    .check = check,
    .draw = draw,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .traits = OLTR_WORLD_PRIOR | OLTR_WORLD_ATTRACTION | OLTR_WORLD_MISSPECIFIED,
    .gives_prior = gives_prior,
};
