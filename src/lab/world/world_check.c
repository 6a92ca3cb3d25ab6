/* world_check.c - what can be wrong with a world of any kind.  What can be wrong with one kind is
 * checked in its own file. */
#include <math.h>
#include <string.h>

#include "engine/base/struct_check.h"
#include "lab/world/world.h"

const world_ops *world_kind(const oltr_world *world, oltr_error *error)
{
    const world_ops *own = world->custom_kind;
    if (!own)
        return world_ops_of(world->kind, error);
    if (size_check("operations of a world", own->size, sizeof *own, error) != OLTR_OK)
        return NULL;
    if (own->info.name && own->draw && !own->moves == !own->advance &&
        (own->params || !own->n_params))
        return own;
    set_error(error, OLTR_EINVAL,
              "a world of your own needs a name and draw, moves together with advance, and the "
              "table of its n_params parameters");
    return NULL;
}

const click_ops *world_clicks(const oltr_world *world, oltr_error *error)
{
    const click_ops *own = world->custom_clicks;
    if (!own)
        return click_ops_of(world->clicks, error);
    if (size_check("operations of a click model", own->size, sizeof *own, error) != OLTR_OK)
        return NULL;
    if (own->browse && own->rewards != OLTR_CLICKS) {
        set_error(error, OLTR_EINVAL,
                  "users of a click model with browse only click: its rewards "
                  "must be OLTR_CLICKS");
        return NULL;
    }
    if (own->info.name && (own->scan || own->browse) && own->value && own->best &&
        (own->params || !own->n_params))
        return own;
    set_error(error, OLTR_EINVAL,
              "a click model of your own needs a name, scan or browse, value and best, and the "
              "table of its n_params parameters");
    return NULL;
}

const world_param *slot_param(const click_ops *clicks)
{
    for (uint32_t i = 0; i < clicks->n_params; i++)
        if (clicks->params[i].by_slot)
            return &clicks->params[i];
    return NULL;
}

static bool value_fits(const oltr_param *param, double value)
{
    uint32_t words = 0;
    while (param->choices && param->choices[words])
        words++;
    if (param->type == OLTR_REAL)
        return value >= param->min && value <= param->max;
    bool in_range = param->type == OLTR_INTEGER && value >= param->min && value <= param->max;
    return floor(value) >= value && (in_range || (value >= 0 && value < words));
}

/* Numbers without a field of their own are checked by the table; a field, by its world. */
static oltr_status check_values(const char *name, const world_param *params, uint32_t n,
                                const double *values, oltr_error *error)
{
    for (uint32_t i = 0; values && i < n; i++)
        if (!params[i].field && !value_fits(&params[i].about, values[i]))
            return set_error(error, OLTR_EINVAL, "%s: %s must be from %g to %g%s, not %g", name,
                             params[i].about.name, params[i].about.min, params[i].about.max,
                             params[i].about.type == OLTR_REAL ? "" : " and whole", values[i]);
    return OLTR_OK;
}

oltr_status world_check(const oltr_world *world, oltr_error *error)
{
    const world_ops *kind = world_kind(world, error);
    const click_ops *clicks = kind ? world_clicks(world, error) : NULL;
    if (!kind || !clicks)
        return OLTR_EINVAL;
    if (world->n_items < 1)
        return set_error(error, OLTR_EITEM, "a world needs at least 1 item");
    if (world->custom_bytes && !world->custom)
        return set_error(error, OLTR_EINVAL, "custom_bytes is %zu, but there is nothing at custom",
                         world->custom_bytes);
    if (!isfinite(world->misspecification))
        return set_error(error, OLTR_EPRIOR, "the misspecification must be a finite number");
    if (!world->prior_a != !world->prior_b)
        return set_error(error, OLTR_EPRIOR, "a world's prior needs both a and b");
    if ((world->dataset || world->prior_mean || world->prior_sd) &&
        !(kind->traits & (OLTR_WORLD_DATASET | OLTR_WORLD_FITTED)))
        return set_error(
            error, OLTR_EINVAL,
            "a dataset, and means and deviations of a prior, are for world dataset, not %s",
            kind->info.name);
    if ((world->drift_walk > 0 || world->drift_jump > 0) && !(kind->traits & OLTR_WORLD_DRIFTS))
        return set_error(error, OLTR_EINVAL,
                         "world %s does not drift: leave drift_walk and "
                         "drift_jump at 0",
                         kind->info.name);
    if (kind->traits & OLTR_WORLD_REALS && clicks->rewards != OLTR_REALS)
        return set_error(error, OLTR_EINVAL,
                         "world %s has real rewards: its click model must be abandon, not %s",
                         kind->info.name, clicks->info.name);
    oltr_status status = world->dataset ? dataset_check_shape(world->dataset, error) : OLTR_OK;
    if (status == OLTR_OK)
        status =
            check_values(kind->info.name, kind->params, kind->n_params, world->kind_values, error);
    if (status == OLTR_OK)
        status = check_values(clicks->info.name, clicks->params, clicks->n_params,
                              world->click_values, error);
    if (status != OLTR_OK)
        return status;
    oltr_error said = {OLTR_OK, ""};
    if (clicks->check)
        status = clicks->check(world, &said);
    if (status == OLTR_OK && kind->check)
        status = kind->check(world, &said);
    return pass_error(status, &said, error);
}

bool is_shifted(const oltr_world *world)
{
    return world->misspecification < 0 || world->misspecification > 0;
}

oltr_status check_shifted_prior(const oltr_world *world, double a, double b, uint32_t item,
                                oltr_error *error)
{
    double c = world->misspecification;
    if (!(isfinite(a) && isfinite(b) && a > 0 && b > 0))
        return set_error(error, OLTR_EPRIOR,
                         "item %u: Beta(%g, %g) is no prior; both shapes must be above 0", item, a,
                         b);
    if (!(a + c > 0 && b - c > 0))
        return set_error(error, OLTR_EPRIOR,
                         "policies would get Beta(%g, %g), and there is no such prior: keep "
                         "misspecification between %g and %g",
                         a + c, b - c, -a, b);
    return OLTR_OK;
}
