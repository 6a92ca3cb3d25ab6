/* pbm.c - the position-based model (Richardson, Dominowska, Ragno 2007; as a bandit Lagree,
 * Vernade, Cappe 2016): every slot is examined with a chance of its own, whatever happens in the
 * others.
 *
 * Slot l is examined with chance kappa_l (`examine`), and clicked if it is examined and its item
 * attracts, so with chance kappa_l nu.  The reward of a round is the number of clicks:
 *
 *     value = sum_l kappa_l nu_l
 *
 * The best list has the K largest nu, the largest where kappa is largest (rearrangement), the
 * worst the K smallest in the opposite order.  With kappa = 1 clicks are independent.
 *
 * A slot without a click was perhaps not examined, and a page cannot know.  So the model has no
 * parameter `seen`: policies that know about slots (knows_slots) get the click of every slot, and
 * others are refused unless their entry in the experiment has a `seen` of its own.
 */
#include "lab/click/users.h"

enum { EXAMINE, PARAMS, PURPOSE_EXAMINE = 1 };

static const char *const usual_law[] = {"1/slot", NULL};
static const world_param params[PARAMS] = {
    {.about = {"examine", OLTR_CHOICE, 0, 0, 0, usual_law,
               "the chance that a slot is examined: `1/slot` is 1, 1/2, 1/3, ..."},
     .by_slot = 1},
};

static double examine(const oltr_world *world, const instance *truth, uint32_t slot)
{
    const double *of_slot = truth->slot_chance ? truth->slot_chance : world->slot_chance;
    return of_slot ? of_slot[slot] : 1 / (slot + 1.0);
}

static void browse(const oltr_world *world, const instance *truth, const oltr_rng *round,
                   const oltr_ranking *shown, double *click, uint8_t *examined)
{
    for (uint32_t slot = 0; slot < shown->k; slot++) {
        examined[slot] = happens(round, slot, PURPOSE_EXAMINE, examine(world, truth, slot));
        click[slot] = examined[slot] && attracts(truth, round, shown->item[slot]);
    }
}

static double value(const oltr_world *world, const instance *truth, const uint32_t *item,
                    uint32_t k)
{
    double clicks = 0;
    for (uint32_t slot = 0; slot < k; slot++)
        clicks += examine(world, truth, slot) * truth->attraction[item[slot]];
    return clicks;
}

/* Attractions in the order of the slots from the most to the least examined one. */
static double value_of_sorted(const oltr_world *world, const instance *truth,
                              const double *attraction, uint32_t k)
{
    bool in_order = slots_fall(examine, world, truth, k);
    double clicks = 0;
    for (uint32_t slot = 0; slot < k; slot++) {
        uint32_t rank = in_order ? slot : rank_of_slot(examine, world, truth, slot, k);
        clicks += examine(world, truth, slot) * attraction[rank];
    }
    return clicks;
}

static double best(const oltr_world *world, const instance *truth, uint32_t k)
{
    return value_of_sorted(world, truth, largest_attractions(truth, k), k);
}

static double worst(const oltr_world *world, const instance *truth, uint32_t k)
{
    return value_of_sorted(world, truth, smallest_attractions(truth, k), k);
}

const click_ops pbm_clicks = {
    .info = {"pbm", "every slot is examined with a chance of its own; several clicks"},
    .rewards = OLTR_CLICKS,
    .browse = browse,
    .value = value,
    .best = best,
    .worst = worst,
    .params = params,
    .n_params = PARAMS,
};
