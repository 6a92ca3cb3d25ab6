/* experiment.c - what an experiment must be before it runs, and at which rounds its curves are
 * recorded. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/struct_check.h"
#include "lab/lab_limits.h"
#include "lab/sim/arena.h"

static oltr_status check_numbers(const oltr_experiment *e, oltr_error *error)
{
    if (e->rounds < 1 || e->rounds > LONGEST_HORIZON)
        return set_error(error, OLTR_EINVAL, "rounds must be from 1 to 2^40");
    if (e->replications < 1 || e->replications > MOST_REPLICATIONS)
        return set_error(error, OLTR_EINVAL, "replications must be from 1 to %d, not %u",
                         MOST_REPLICATIONS, e->replications);
    if (e->slots < 1 || e->slots > e->world.n_items)
        return set_error(error, OLTR_ESLOTS,
                         "slots must be from 1 to the number of items (%u), not %u",
                         e->world.n_items, e->slots);
    if (e->slots > world_fewest(&e->world))
        return set_error(
            error, OLTR_ESLOTS,
            "a query of the dataset has only %u document%s for %u slots: leave out those "
            "with fewer than that",
            world_fewest(&e->world), world_fewest(&e->world) == 1 ? "" : "s", e->slots);
    if (e->n_policies < 1 || !e->policy)
        return set_error(error, OLTR_EINVAL, "at least 1 policy is needed");
    if (e->n_checkpoints < 1 || !e->checkpoint)
        return set_error(error, OLTR_EINVAL, "at least 1 checkpoint is needed");
    for (uint32_t i = 0; i < e->n_checkpoints; i++)
        if (e->checkpoint[i] < 1 || e->checkpoint[i] > e->rounds ||
            (i && e->checkpoint[i] <= e->checkpoint[i - 1]))
            return set_error(
                error, OLTR_EINVAL,
                "checkpoints must rise from 1 to the number of rounds (%llu); %llu does not fit",
                (unsigned long long)e->rounds, (unsigned long long)e->checkpoint[i]);
    return OLTR_OK;
}

/* A number for each slot belongs to a click model that has such a parameter. */
static oltr_status check_slot_chances(const oltr_experiment *e, oltr_error *error)
{
    const double *chance = e->world.slot_chance;
    const oltr_users *users = e->world.users;
    if (users && users->slot_chance && users->n_slots < e->slots)
        return set_error(error, OLTR_ESLOTS, "there are %u slots, and users with numbers for %u",
                         e->slots, users->n_slots);
    const click_ops *clicks = world_clicks(&e->world, error);
    const world_param *of_slots = clicks ? slot_param(clicks) : NULL;
    if (!chance)
        return OLTR_OK;
    if (!of_slots)
        return set_error(error, OLTR_EINVAL,
                         "click model %.40s has no parameter with a number for each slot",
                         clicks->info.name);
    for (uint32_t slot = 0; slot < e->slots; slot++)
        if (!(chance[slot] >= 0 && chance[slot] <= 1))
            return set_error(error, OLTR_EINVAL, "%s of slot %u must be from 0 to 1, not %g",
                             of_slots->about.name, slot + 1, chance[slot]);
        else if (of_slots->by_slot == 2 && slot && chance[slot] > chance[slot - 1])
            return set_error(error, OLTR_EINVAL,
                             "%s must not rise from slot to slot, and %g of slot %u is above %g: "
                             "policies show their best item first",
                             of_slots->about.name, chance[slot], slot + 1, chance[slot - 1]);
    return OLTR_OK;
}

static oltr_status check_contestant(const oltr_experiment *e, uint32_t index, oltr_error *error)
{
    const oltr_contestant *c = &e->policy[index];
    if (!c->label || !c->settings.info || c->settings.n_items != e->world.n_items)
        return set_error(error, OLTR_EINVAL,
                         "policy %u lacks a label or settings for the world's %u items", index + 1,
                         e->world.n_items);
    oltr_status status = reserved_check("a contestant", 0, c->reserved, sizeof c->reserved, error);
    return status == OLTR_OK && c->learning
               ? reserved_check("how a policy learns", c->learning->reserved32,
                                c->learning->reserved, sizeof c->learning->reserved, error)
               : status;
}

static oltr_status check_reserved(const oltr_experiment *e, oltr_error *error)
{
    const oltr_world *w = &e->world;
    oltr_status status = reserved_check("an experiment", 0, e->reserved, sizeof e->reserved, error);
    if (status == OLTR_OK)
        status = reserved_check("a world", 0, w->reserved, sizeof w->reserved, error);
    return status == OLTR_OK && w->users
               ? reserved_check("users", w->users->reserved32, w->users->reserved,
                                sizeof w->users->reserved, error)
               : status;
}

oltr_status experiment_check_setting(const oltr_experiment *e, oltr_error *error)
{
    oltr_status status = check_reserved(e, error);
    if (status == OLTR_OK)
        status = world_check(&e->world, error);
    if (status == OLTR_OK)
        status = check_numbers(e, error);
    if (status == OLTR_OK)
        status = check_slot_chances(e, error);
    return status;
}

oltr_status oltr_experiment_check(const oltr_experiment *e, oltr_error *error)
{
    if (!e)
        return set_error(error, OLTR_EINVAL, "there is no experiment");
    oltr_status status = experiment_check_setting(e, error);
    for (uint32_t i = 0; status == OLTR_OK && i < e->n_policies; i++)
        status = check_contestant(e, i, error);
    if (status != OLTR_OK)
        return status;
    oltr_error why = {OLTR_OK, ""};
    arena *probe =
        arena_new(e, NULL, &why); /* makes every policy once, with the prior of replication 0 */
    if (!probe)
        return set_error(error, why.code, "%s", why.msg);
    arena_free(probe);
    return OLTR_OK;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

uint32_t oltr_checkpoints(uint64_t rounds, uint32_t count, uint64_t *out, uint32_t capacity)
{
    count = count < rounds ? count : (uint32_t)rounds; /* more are the same rounds */
    uint64_t *all = malloc(((size_t)count + 24) * sizeof *all);
    size_t n = 0;
    uint32_t kept = 0;
    if (!all || rounds < 1) {
        free(all);
        return 0;
    }
    for (uint64_t power = 1; power <= rounds && n < 20; power *= 10)
        all[n++] = power;
    for (uint32_t i = 1; i <= count; i++) {
        uint64_t round = (uint64_t)llround((double)rounds * i / count);
        all[n++] = round < 1 ? 1 : round;
    }
    all[n++] = rounds;
    qsort(all, n, sizeof *all, ascending);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || all[i] != all[i - 1]) {
            if (out && kept < capacity)
                out[kept] = all[i];
            kept++;
        }
    free(all);
    return kept;
}
