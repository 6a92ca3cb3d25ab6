/* world_registry.c - all worlds and click models, one line each, and the checks they share. */
#include <math.h>
#include <string.h>

#include "lab/world/world.h"

extern const world_ops beta_world, fixed_world, linear_world, logistic_world, scalar_world,
    dataset_world;
extern const click_ops cascade_clicks, abandon_clicks;

static const world_ops *const worlds[] = {&beta_world,     &fixed_world,  &linear_world,
                                          &logistic_world, &scalar_world, &dataset_world};
static const click_ops *const clicks[] = {&cascade_clicks, &abandon_clicks};
enum { WORLDS = sizeof worlds / sizeof *worlds, CLICKS = sizeof clicks / sizeof *clicks };

uint32_t oltr_world_count(void)
{
    return WORLDS;
}

const oltr_named *oltr_world_at(uint32_t index)
{
    return index < WORLDS ? &worlds[index]->info : NULL;
}

uint32_t oltr_clicks_count(void)
{
    return CLICKS;
}

const oltr_named *oltr_clicks_at(uint32_t index)
{
    return index < CLICKS ? &clicks[index]->info : NULL;
}

static oltr_status unknown(const char *what, const char *name, const char *const *names, size_t n,
                           oltr_error *error)
{
    const char *near = nearest_name(name, names, n, sizeof *names);
    return set_error(error, OLTR_EINVAL, "no %s is called '%s'; did you mean '%s'?", what, name,
                     near ? near : names[0]);
}

const world_ops *world_ops_of(const char *kind, oltr_error *error)
{
    const char *names[WORLDS];
    for (size_t i = 0; i < WORLDS; i++) {
        names[i] = worlds[i]->info.name;
        if (kind && strcmp(kind, names[i]) == 0)
            return worlds[i];
    }
    unknown("world", kind ? kind : "", names, WORLDS, error);
    return NULL;
}

const click_ops *click_ops_of(const char *name, oltr_error *error)
{
    const char *names[CLICKS];
    for (size_t i = 0; i < CLICKS; i++) {
        names[i] = clicks[i]->info.name;
        if (name && strcmp(name, names[i]) == 0)
            return clicks[i];
    }
    unknown("click model", name ? name : "", names, CLICKS, error);
    return NULL;
}

const world_ops *world_kind(const oltr_world *world, oltr_error *error)
{
    const world_ops *own = world->custom_kind;
    if (!own)
        return world_ops_of(world->kind, error);
    if (own->size > sizeof *own) {
        set_error(
            error, OLTR_EINVAL,
            "the operations of this world are of a newer oltr: %zu bytes, and this one knows %zu",
            own->size, sizeof *own);
        return NULL;
    }
    if (own->info.name && own->check && own->draw && !own->moves == !own->advance)
        return own;
    set_error(error, OLTR_EINVAL,
              "a world of your own needs a name, check and draw, and moves together with advance");
    return NULL;
}

const click_ops *world_clicks(const oltr_world *world, oltr_error *error)
{
    const click_ops *own = world->custom_clicks;
    if (!own)
        return click_ops_of(world->clicks, error);
    if (own->size > sizeof *own) {
        set_error(error, OLTR_EINVAL,
                  "the operations of this click model are of a newer oltr: %zu bytes, and this one "
                  "knows %zu",
                  own->size, sizeof *own);
        return NULL;
    }
    if (own->info.name && own->check && own->scan && own->value && own->best)
        return own;
    set_error(error, OLTR_EINVAL,
              "a click model of your own needs a name, check, scan, value and best");
    return NULL;
}

oltr_status world_check(const oltr_world *world, oltr_error *error)
{
    const world_ops *ops = world_kind(world, error);
    const click_ops *users = ops ? world_clicks(world, error) : NULL;
    if (!ops || !users)
        return OLTR_EINVAL;
    if (world->n_items < 1)
        return set_error(error, OLTR_EITEM, "a world needs at least 1 item");
    if (!isfinite(world->misspecification))
        return set_error(error, OLTR_EPRIOR, "the misspecification must be a finite number");
    if (!world->prior_a != !world->prior_b)
        return set_error(error, OLTR_EPRIOR, "a world's prior needs both a and b");
    if ((world->dataset || world->prior_mean || world->prior_sd) &&
        strcmp(ops->info.name, "dataset") != 0)
        return set_error(
            error, OLTR_EINVAL,
            "a dataset, and means and deviations of a prior, are for world dataset, not %s",
            ops->info.name);
    oltr_status status = users->check(world, error);
    return status == OLTR_OK ? ops->check(world, error) : status;
}

/* ---- the queries of a dataset */

uint32_t world_groups(const oltr_world *world)
{
    return world->dataset ? world->dataset->n_queries : 1;
}

static uint32_t items_of(const oltr_world *world, uint32_t query)
{
    return world->dataset->first_row[query + 1] - world->dataset->first_row[query];
}

uint64_t world_largest(const oltr_world *world)
{
    uint32_t largest = 0;
    for (uint32_t q = 1; q < world_groups(world); q++)
        if (items_of(world, q) > items_of(world, largest))
            largest = q;
    return largest;
}

uint32_t world_fewest(const oltr_world *world)
{
    uint32_t fewest = world->n_items;
    for (uint32_t q = 0; world->dataset && q < world_groups(world); q++)
        fewest = items_of(world, q) < fewest ? items_of(world, q) : fewest;
    return fewest;
}

/* ---- the best and the worst items */

/* Puts `key` into the heap of n numbers whose smallest is at the root, in place of that root. */
static void replace_root(double *heap, uint32_t n, double key)
{
    uint32_t at = 0;
    for (uint32_t child = 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && heap[child + 1] < heap[child];
        if (!(heap[child] < key))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = key;
}

/* The k largest of sign * attraction, falling: a heap of the best so far, then taken apart from
 * the smallest on. */
static const double *extremes(const instance *truth, uint32_t k, double sign)
{
    double *heap = truth->room;
    for (uint32_t i = 0; i < k; i++)
        heap[i] = -INFINITY;
    for (uint32_t i = 0; i < truth->n_items; i++)
        if (!(sign * truth->attraction[i] <= heap[0]))
            replace_root(heap, k, sign * truth->attraction[i]);
    for (uint32_t n = k; n > 1; n--) {
        double smallest = heap[0];
        replace_root(heap, n - 1, heap[n - 1]);
        heap[n - 1] = smallest;
    }
    for (uint32_t i = 0; i < k; i++)
        heap[i] *= sign;
    return heap;
}

const double *largest_attractions(const instance *truth, uint32_t k)
{
    return extremes(truth, k, 1);
}

const double *smallest_attractions(const instance *truth, uint32_t k)
{
    return extremes(truth, k, -1);
}

oltr_status check_told_prior(const oltr_world *world, double a, double b, uint32_t item,
                             oltr_error *error)
{
    double c = world->misspecification;
    if (!(isfinite(a) && isfinite(b) && a > 0 && b > 0))
        return set_error(error, OLTR_EPRIOR,
                         "item %u: Beta(%g, %g) is no prior; both shapes must be above 0", item, a,
                         b);
    if (!(a + c > 0 && b - c > 0))
        return set_error(
            error, OLTR_EPRIOR,
            "a misspecification of %g makes Beta(%g, %g) into Beta(%g, %g): no such prior", c, a, b,
            a + c, b - c);
    return OLTR_OK;
}
