/* world_registry.c - all worlds and click models, one line each, and how they are found. */
#include <string.h>

#include "engine/base/nearest.h"
#include "lab/world/world.h"

#define WORLD_LIST(X)                                                                              \
    X(beta_world)                                                                                  \
    X(uniform_world)                                                                               \
    X(log_uniform_world)                                                                           \
    X(fixed_world)                                                                                 \
    X(linear_world)                                                                                \
    X(logistic_world)                                                                              \
    X(scalar_world)                                                                                \
    X(dataset_world)                                                                               \
    X(fitted_world)

#define CLICK_LIST(X)                                                                              \
    X(cascade_clicks)                                                                              \
    X(abandon_clicks)                                                                              \
    X(dcm_clicks)                                                                                  \
    X(pbm_clicks)                                                                                  \
    X(dbn_clicks)

#define DECLARE_WORLD(name) extern const world_ops name;
#define DECLARE_CLICKS(name) extern const click_ops name;
#define ADDRESS(name) &name,

WORLD_LIST(DECLARE_WORLD)
CLICK_LIST(DECLARE_CLICKS)

static const world_ops *const worlds[] = {WORLD_LIST(ADDRESS)};
static const click_ops *const clicks[] = {CLICK_LIST(ADDRESS)};
enum { WORLDS = sizeof worlds / sizeof *worlds, CLICKS = sizeof clicks / sizeof *clicks };

uint32_t oltr_world_count(void)
{
    return WORLDS;
}

const oltr_world_ops *oltr_world_ops_at(uint32_t index)
{
    return index < WORLDS ? worlds[index] : NULL;
}

const oltr_named *oltr_world_at(uint32_t index)
{
    return index < WORLDS ? &worlds[index]->info : NULL;
}

uint32_t oltr_clicks_count(void)
{
    return CLICKS;
}

const oltr_click_ops *oltr_click_ops_at(uint32_t index)
{
    return index < CLICKS ? clicks[index] : NULL;
}

const oltr_named *oltr_clicks_at(uint32_t index)
{
    return index < CLICKS ? &clicks[index]->info : NULL;
}

uint32_t named_index(const char *what, const char *name, uint32_t count,
                     const oltr_named *(*at)(uint32_t), oltr_error *error)
{
    struct nearest nearest = nearest_to(name ? name : "");
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(nearest.word, at(i)->name) == 0)
            return i;
        nearest_offer(&nearest, at(i)->name);
    }
    set_error(error, OLTR_EINVAL, "no %s is called '%s'; did you mean '%s'?", what, nearest.word,
              nearest.best ? nearest.best : at(0)->name);
    return count;
}

const world_ops *world_ops_of(const char *kind, oltr_error *error)
{
    return oltr_world_ops_at(named_index("world", kind, WORLDS, oltr_world_at, error));
}

const click_ops *click_ops_of(const char *name, oltr_error *error)
{
    return oltr_click_ops_at(named_index("click model", name, CLICKS, oltr_clicks_at, error));
}
