/* abandon.c - scalar feedback (section 3.2 of the paper): every examined item gives a real reward,
 * and the user leaves after a random slot.
 *
 * The reward of item i in round t is its mean plus noise that depends on (t, i) alone; after each
 * slot the user leaves with the same chance.  The reward of a list is the sum over the examined
 * slots, so its expectation is sum_k (1 - abandon)^(k-1) mean_k: the paper's "mean reward is the
 * sum of item means" with the chance of being seen put back in.  The best list has the largest
 * means in falling order.
 *
 * The same users click: an examined item with its mean reward as the chance (moved into [0,1]),
 * whatever reward it gave.  A policy may learn from these clicks instead (`feedback`).  The
 * expected number of clicks on a list is its expected reward, so the regret of policies that learn
 * from either is the same measure.
 */
#include <math.h>

#include "engine/kernels/philox.h"
#include "lab/world/world.h"

enum { PURPOSE_REWARD, PURPOSE_LEAVE, PURPOSE_CLICK };
#define LEAST_CONCENTRATION 0.1 /* of a Beta reward whose noise_sd is larger than any Beta has */

static const char *const noises[] = {"gauss", "beta", NULL};
static const world_param params[] = {
    {{"abandon", OLTR_REAL, 0.3, 0, 0.999999, NULL, "the chance that a user leaves after a slot"},
     offsetof(oltr_world, abandon),
     0},
    {{"noise", OLTR_CHOICE, 0, 0, 1, noises,
      "how rewards vary around their mean: `gauss`, or `beta` in (0,1)"},
     offsetof(oltr_world, beta_noise),
     0},
    {{"noise_sd", OLTR_REAL, 0.5, 0, 1e6, NULL, "standard deviation of a reward; above 0 for beta"},
     offsetof(oltr_world, noise_sd),
     0},
};

static oltr_status check(const oltr_world *world, oltr_error *error)
{
    if (!(world->abandon >= 0 && world->abandon < 1))
        return set_error(error, OLTR_EINVAL,
                         "the chance to leave after a slot must be at least 0 and below 1, not %g",
                         world->abandon);
    if (!(world->noise_sd >= 0 && isfinite(world->noise_sd)) ||
        (world->beta_noise && !(world->noise_sd > 0)))
        return set_error(
            error, OLTR_EINVAL,
            "the noise of a reward must have a standard deviation of 0 or more, above 0 for "
            "Beta rewards, not %g",
            world->noise_sd);
    return OLTR_OK;
}

static double beta_reward(const oltr_world *world, const oltr_rng *round, uint32_t item,
                          double mean)
{
    double m = fmin(fmax(mean, 1e-6), 1 - 1e-6);
    double concentration =
        fmax(m * (1 - m) / (world->noise_sd * world->noise_sd) - 1, LEAST_CONCENTRATION);
    oltr_rng own = oltr_rng_fork(*round, item);
    return oltr_rng_beta(&own, m * concentration, (1 - m) * concentration);
}

static double reward_of(const oltr_world *world, const instance *truth, const oltr_rng *round,
                        uint32_t item)
{
    double mean = truth->attraction[item];
    if (world->beta_noise)
        return beta_reward(world, round, item, mean);
    uint32_t word[4];
    words_at(round, item, PURPOSE_REWARD, word);
    double radius = sqrt(-2 * log(uniform_of_word(word[0])));
    return mean + world->noise_sd * radius * cos(6.283185307179586477 * uniform_of_word(word[1]));
}

static uint32_t scan(const oltr_world *world, const instance *truth, const oltr_rng *round,
                     const oltr_ranking *shown, double *reward)
{
    for (uint32_t slot = 0; slot < shown->k; slot++) {
        uint32_t word[4];
        reward[slot] = reward_of(world, truth, round, shown->item[slot]);
        words_at(round, slot, PURPOSE_LEAVE, word);
        if (uniform_of_word(word[0]) < world->abandon)
            return slot + 1;
    }
    return shown->k;
}

static void clicked(const oltr_world *world, const instance *truth, const oltr_rng *round,
                    const oltr_ranking *shown, uint32_t n, double *click)
{
    (void)world;
    for (uint32_t slot = 0; slot < n; slot++) {
        uint32_t word[4];
        words_at(round, shown->item[slot], PURPOSE_CLICK, word);
        click[slot] = uniform_of_word(word[0]) < truth->attraction[shown->item[slot]];
    }
}

static double value(const oltr_world *world, const instance *truth, const uint32_t *item,
                    uint32_t k)
{
    double sum = 0, seen = 1;
    for (uint32_t slot = 0; slot < k; slot++, seen *= 1 - world->abandon)
        sum += seen * truth->attraction[item[slot]];
    return sum;
}

static double discounted_sum(const oltr_world *world, const double *mean, uint32_t k)
{
    double sum = 0, seen = 1;
    for (uint32_t i = 0; i < k; i++, seen *= 1 - world->abandon)
        sum += seen * mean[i];
    return sum;
}

/* The largest means, the largest first. */
static double best(const oltr_world *world, const instance *truth, uint32_t k)
{
    return discounted_sum(world, largest_attractions(truth, k), k);
}

/* The smallest means, the smallest first. */
static double worst(const oltr_world *world, const instance *truth, uint32_t k)
{
    return discounted_sum(world, smallest_attractions(truth, k), k);
}

const click_ops abandon_clicks = {
    .info = {"abandon",
             "every examined item gives a real reward, and users leave after a random slot"},
    .rewards = OLTR_REALS,
    .check = check,
    .scan = scan,
    .clicked = clicked,
    .value = value,
    .best = best,
    .worst = worst,
    .params = params,
    .n_params = sizeof params / sizeof *params,
};
