/* dcm.c - the dependent click model (Guo, Liu, Wang 2009; as a bandit Katariya, Kveton,
 * Szepesvari, Wen 2016): users scan from the top and may click several items.
 *
 * Slot k is clicked with the attraction nu of its item.  After a click the user is satisfied and
 * leaves with chance v_k (`leave`), else goes on to the next slot; after a skip the user always
 * goes on.  The reward of a round is 1 if the user left satisfied:
 *
 *     value = 1 - prod_k (1 - v_k nu_k)
 *
 * -log(1 - v nu) has increasing differences in v and nu, so the best list has the K largest nu,
 * the largest where v is largest; with falling v that is the falling order.  The worst list has
 * the K smallest, in the opposite order.
 *
 * With v = 1 this is the cascade model, bit for bit.  A policy is not told whether the user left
 * or went on.  The literature counts the slots down to the last click as examined, `seen: last`;
 * this is biased, because a skipped slot counts only if something below it is clicked or nothing
 * is.
 */
#include "lab/click/users.h"

enum { LEAVE, PARAMS = 2, PURPOSE_LEAVE = 1 };

static const world_param params[PARAMS] = {
    {.about = {"leave", OLTR_REAL, 0.5, 0, 1, NULL,
               "the chance that a user leaves after a click, not rising from slot to slot"},
     .by_slot = 2},
    SEEN_ROW,
};

/* That of the instance, of the world, or one for all slots. */
static double leave(const oltr_world *world, const instance *truth, uint32_t slot)
{
    const double *of_slot = truth->slot_chance ? truth->slot_chance : world->slot_chance;
    return of_slot ? of_slot[slot] : oltr_world_value(params, world->click_values, LEAVE);
}

static void browse(const oltr_world *world, const instance *truth, const oltr_rng *round,
                   const oltr_ranking *shown, double *click, uint8_t *examined)
{
    bool there = true;
    for (uint32_t slot = 0; slot < shown->k; slot++) {
        examined[slot] = there;
        click[slot] = there && attracts(truth, round, shown->item[slot]);
        if (click[slot] > 0)
            there = !happens(round, slot, PURPOSE_LEAVE, leave(world, truth, slot));
    }
}

static double value(const oltr_world *world, const instance *truth, const uint32_t *item,
                    uint32_t k)
{
    double unsatisfied = 1;
    for (uint32_t slot = 0; slot < k; slot++)
        unsatisfied *= 1 - leave(world, truth, slot) * truth->attraction[item[slot]];
    return 1 - unsatisfied;
}

/* Attractions in the order of the slots from the largest chance to leave to the smallest. */
static double value_of_sorted(const oltr_world *world, const instance *truth,
                              const double *attraction, uint32_t k)
{
    bool in_order = slots_fall(leave, world, truth, k);
    double unsatisfied = 1;
    for (uint32_t slot = 0; slot < k; slot++) {
        uint32_t rank = in_order ? slot : rank_of_slot(leave, world, truth, slot, k);
        unsatisfied *= 1 - leave(world, truth, slot) * attraction[rank];
    }
    return 1 - unsatisfied;
}

static double best(const oltr_world *world, const instance *truth, uint32_t k)
{
    return value_of_sorted(world, truth, largest_attractions(truth, k), k);
}

static double worst(const oltr_world *world, const instance *truth, uint32_t k)
{
    return value_of_sorted(world, truth, smallest_attractions(truth, k), k);
}

const click_ops dcm_clicks = {
    .info = {"dcm",
             "users may click several items, and leave after a click that has satisfied them"},
    .rewards = OLTR_CLICKS,
    .browse = browse,
    .value = value,
    .best = best,
    .worst = worst,
    .params = params,
    .n_params = PARAMS,
};
