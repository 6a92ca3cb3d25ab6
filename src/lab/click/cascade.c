/* cascade.c - the cascade model (Craswell et al. 2008): users scan from the top, click the first
 * attractive item, and leave.
 *
 * Whether item i attracts the user of round t is decided by one word of the generator for (t, i),
 * before any list is shown: policies that show the item to the same user get the same answer.  A
 * list without a click was examined whole, or its first `no_click` slots.
 */
#include "lab/click/users.h"
#include "lab/lab_limits.h"

static const char *const all_slots[] = {"all", NULL};
static const world_param params[] = {
    {{"no_click", OLTR_INTEGER, 0, 1, MOST_WORLD_ITEMS, all_slots,
      "how many slots count as examined when nothing was clicked; at most `slots`"},
     offsetof(oltr_world, examined_without_click),
     0},
};

static uint32_t scan(const oltr_world *world, const instance *truth, const oltr_rng *round,
                     const oltr_ranking *shown, double *reward)
{
    for (uint32_t slot = 0; slot < shown->k; slot++) {
        reward[slot] = attracts(truth, round, shown->item[slot]);
        if (reward[slot] > 0)
            return slot + 1;
    }
    uint32_t examined = world->examined_without_click;
    return examined && examined < shown->k ? examined : shown->k;
}

static double value(const oltr_world *world, const instance *truth, const uint32_t *item,
                    uint32_t k)
{
    double no_click = 1;
    (void)world;
    for (uint32_t slot = 0; slot < k; slot++)
        no_click *= 1 - truth->attraction[item[slot]];
    return 1 - no_click;
}

static double click_chance(const double *attraction, uint32_t k)
{
    double no_click = 1;
    for (uint32_t i = 0; i < k; i++)
        no_click *= 1 - attraction[i];
    return 1 - no_click;
}

/* The k most attractive items. */
static double best(const oltr_world *world, const instance *truth, uint32_t k)
{
    (void)world;
    return click_chance(largest_attractions(truth, k), k);
}

/* The k least attractive ones. */
static double worst(const oltr_world *world, const instance *truth, uint32_t k)
{
    (void)world;
    return click_chance(smallest_attractions(truth, k), k);
}

const click_ops cascade_clicks = {
    .info = {"cascade", "users scan from the top, click the first attractive item, and leave"},
    .rewards = OLTR_CLICKS,
    .scan = scan,
    .value = value,
    .best = best,
    .worst = worst,
    .params = params,
    .n_params = sizeof params / sizeof *params,
};
