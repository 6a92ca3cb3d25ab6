/* cascade.c - the cascade model (Craswell et al. 2008): users scan from the top, click the first attractive item, and leave.
 *
 * Whether item i attracts the user of round t is decided by one word of the generator for (t, i), before any list is shown: policies that show the item to the same
 * user get the same answer.  A list without a click was examined whole, or as far as the world says.
 */
#include <math.h>

#include "rng/philox.h"
#include "world/world.h"

static int attracts(const instance *truth, const oltr_rng *round, uint32_t item)
{
    uint32_t word[4];
    words_at(round, item / 4, 0, word);
    return uniform_of_word(word[item % 4]) < truth->attraction[item];
}

static uint32_t scan(const oltr_world *world, const instance *truth, const oltr_rng *round, const oltr_ranking *shown,
                     double *reward)
{
    for (uint32_t slot = 0; slot < shown->k; slot++) {
        reward[slot] = attracts(truth, round, shown->item[slot]);
        if (reward[slot] > 0)
            return slot + 1;
    }
    uint32_t given_up = world->examined_without_click;
    return given_up && given_up < shown->k ? given_up : shown->k;
}

static oltr_status check(const oltr_world *world, oltr_error *error)
{
    (void)world;
    (void)error;
    return OLTR_OK;
}

static double value(const oltr_world *world, const instance *truth, const uint32_t *item, uint32_t k)
{
    double no_click = 1;
    (void)world;
    for (uint32_t slot = 0; slot < k; slot++)
        no_click *= 1 - truth->attraction[item[slot]];
    return 1 - no_click;
}

/* The k most attractive items. */
static double best(const oltr_world *world, const instance *truth, uint32_t k)
{
    double no_click = 1, nu = INFINITY;
    (void)world;
    for (uint32_t taken = 0; taken < k;) {
        uint32_t equal;
        nu = next_attraction(truth, nu, &equal);
        for (; equal && taken < k; equal--, taken++)
            no_click *= 1 - nu;
    }
    return 1 - no_click;
}

const click_ops cascade_clicks = {
    .info = {"cascade", "users scan from the top, click the first attractive item, and leave"},
    .rewards = OLTR_CLICKS,
    .check = check,
    .scan = scan,
    .value = value,
    .best = best,
};
