/* dbn.c - the dynamic Bayesian network model (Chapelle, Zhang 2009): users may click several
 * items, leave when one has satisfied them, and may give up at any slot.
 *
 * An examined slot is clicked with the attraction nu of its item.  A click satisfies with chance s
 * (`satisfied`), and the user leaves.  Any other user goes on to the next slot with chance gamma
 * (`continue`), after a click and after a skip.  The reward of a round is 1 if the user left
 * satisfied.  With x_k = nu_k s_k:
 *
 *     value = sum_k P(examine k) x_k,    P(examine k + 1) = P(examine k) (1 - x_k) gamma
 *
 * which is computed as 1 minus the chance of leaving unsatisfied, so that s = gamma = 1 is the
 * cascade model bit for bit.
 *
 * Only the products x count, also where every item has its own s (fitted models).  Exchanging
 * neighbours x, y changes the value by P (1 - gamma) (x - y), and a larger x never lowers it
 * (its derivative is P (1 - gamma V), V <= 1 being the value of the list below).  So the best list
 * has the K largest products in falling order, the worst the K smallest in rising order.
 */
#include "lab/click/users.h"

enum { SATISFIED, CONTINUE, PARAMS = 3, PURPOSE_SATISFIED = 1, PURPOSE_CONTINUE };

static const world_param params[PARAMS] = {
    {.about = {"satisfied", OLTR_REAL, 0.5, 0, 1, NULL,
               "the chance that a click satisfies the user, who then leaves"}},
    {.about = {"continue", OLTR_REAL, 0.9, 0, 1, NULL,
               "the chance that a user who is not satisfied goes on to the next slot"}},
    SEEN_ROW,
};

static double satisfied(const oltr_world *world, const instance *truth, uint32_t item)
{
    return truth->item_chance ? truth->item_chance[item]
                              : oltr_world_value(params, world->click_values, SATISFIED);
}

static double go_on(const oltr_world *world, const instance *truth)
{
    return truth->user_chance ? *truth->user_chance
                              : oltr_world_value(params, world->click_values, CONTINUE);
}

static void browse(const oltr_world *world, const instance *truth, const oltr_rng *round,
                   const oltr_ranking *shown, double *click, uint8_t *examined)
{
    bool there = true;
    for (uint32_t slot = 0; slot < shown->k; slot++) {
        uint32_t item = shown->item[slot];
        examined[slot] = there;
        click[slot] = there && attracts(truth, round, item);
        bool content = click[slot] > 0 &&
                       happens(round, item, PURPOSE_SATISFIED, satisfied(world, truth, item));
        there = there && !content && happens(round, slot, PURPOSE_CONTINUE, go_on(world, truth));
    }
}

/* Adds one slot to the chances of a user who is still there, and of one who has given up. */
static void pass_slot(double x, double gamma, bool is_last, double *there, double *gone)
{
    *there *= 1 - x;
    if (is_last)
        return;
    *gone += *there * (1 - gamma);
    *there *= gamma;
}

static double value(const oltr_world *world, const instance *truth, const uint32_t *item,
                    uint32_t k)
{
    double there = 1, gone = 0, gamma = go_on(world, truth);
    for (uint32_t slot = 0; slot < k; slot++)
        pass_slot(truth->attraction[item[slot]] * satisfied(world, truth, item[slot]), gamma,
                  slot + 1 == k, &there, &gone);
    return 1 - (gone + there);
}

/* Of the products in the order of the list; where all items have one s, of the attractions. */
static double value_of_sorted(const oltr_world *world, const instance *truth, const double *product,
                              uint32_t k)
{
    double there = 1, gone = 0, gamma = go_on(world, truth);
    double s = truth->item_chance ? 1 : satisfied(world, truth, 0);
    for (uint32_t slot = 0; slot < k; slot++)
        pass_slot(product[slot] * s, gamma, slot + 1 == k, &there, &gone);
    return 1 - (gone + there);
}

static double best(const oltr_world *world, const instance *truth, uint32_t k)
{
    return value_of_sorted(world, truth, largest_products(truth, truth->item_chance, k), k);
}

static double worst(const oltr_world *world, const instance *truth, uint32_t k)
{
    return value_of_sorted(world, truth, smallest_products(truth, truth->item_chance, k), k);
}

const click_ops dbn_clicks = {
    .info = {"dbn",
             "users may click several items, leave when satisfied, and may give up anywhere"},
    .rewards = OLTR_CLICKS,
    .browse = browse,
    .value = value,
    .best = best,
    .worst = worst,
    .params = params,
    .n_params = PARAMS,
};
