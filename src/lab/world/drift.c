/* drift.c - see drift.h. */
#include "lab/world/drift.h"

#include <math.h>

#include "engine/kernels/philox.h"
#include "lab/lab_limits.h"

/* More changes than a 512th of the items cost more than to search the largest anew. */
enum { PURPOSE_WALK = 1, JUMPS_PER_SEARCH = 512 };
static const double NEAREST_TO_0 = 1e-6; /* and to 1: where the log-odds of a walk end */

oltr_status check_drift(const oltr_world *world, oltr_error *error)
{
    if (!(world->drift_walk >= 0 && world->drift_walk <= LARGEST_WALK))
        return set_error(error, OLTR_EINVAL, "drift_walk must be from 0 to %d, not %g",
                         LARGEST_WALK, world->drift_walk);
    if (!(world->drift_jump >= 0 && world->drift_jump <= 1))
        return set_error(error, OLTR_EINVAL, "drift_jump must be from 0 to 1, not %g",
                         world->drift_jump);
    return OLTR_OK;
}

int world_drifts(const oltr_world *world)
{
    return world->drift_walk > 0 || world->drift_jump > 0;
}

static double log_odds(double p)
{
    return log(p / (1 - p));
}

/* The normal of item i: two items have one block of words. */
static double normal_at(const oltr_rng *round, uint32_t i)
{
    uint32_t word[4];
    words_at(round, i / 2, PURPOSE_WALK, word);
    const uint32_t *own = word + 2 * (i % 2);
    return sqrt(-2 * log(uniform_of_word(own[0]))) *
           cos(6.283185307179586477 * uniform_of_word(own[1]));
}

/* Attractions of 0 and 1 have no log-odds and stay. */
static oltr_status walk(double sd, const drift_law *law, const oltr_rng *round, instance *truth)
{
    double low = log_odds(fmax(law->low, NEAREST_TO_0)),
           high = log_odds(fmin(law->high, 1 - NEAREST_TO_0));
    for (uint32_t i = 0; i < truth->n_items; i++) {
        double nu = truth->attraction[i];
        if (nu > 0 && nu < 1) {
            double x = log_odds(nu) + sd * normal_at(round, i);
            x = x < low ? 2 * low - x : x > high ? 2 * high - x : x;
            nu = 1 / (1 + exp(-fmin(fmax(x, low), high)));
            truth->attraction[i] = fmin(fmax(nu, law->low), law->high);
        }
        if (draw_stopped(truth, i))
            return OLTR_EINTERRUPTED;
    }
    return OLTR_OK;
}

/* Returns how many items have jumped. */
static uint32_t jump(const oltr_world *world, const drift_law *law, const oltr_rng *round,
                     instance *truth)
{
    oltr_rng gaps = *round;
    double stay = log1p(-world->drift_jump), at = -1; /* -inf where all jump: gaps of 0 */
    uint32_t n = 0;
    for (;; n++) {
        at += 1 + floor(log(oltr_rng_uniform(&gaps)) / stay);
        if (!(at < truth->n_items))
            return n;
        uint32_t item = (uint32_t)at;
        oltr_rng own = oltr_rng_fork(*round, item);
        truth->attraction[item] = law->redraw(world, truth, item, &own);
        if (n <= truth->n_items / JUMPS_PER_SEARCH)
            attraction_changed(truth, item);
        else
            attractions_changed(truth);
    }
}

oltr_status drift(const oltr_world *world, const drift_law *law, uint64_t seed,
                  uint64_t replication, uint64_t round, instance *truth)
{
    oltr_rng rng = oltr_rng_at(oltr_rng_make(seed, replication), STREAM_DRIFT, round);
    bool walks = world->drift_walk > 0;
    if (walks) {
        attractions_changed(truth);
        if (walk(world->drift_walk, law, &rng, truth) != OLTR_OK)
            return OLTR_EINTERRUPTED;
    }
    uint32_t jumps = world->drift_jump > 0 ? jump(world, law, &rng, truth) : 0;
    truth->still = !walks && jumps == 0;
    return OLTR_OK;
}
