/* custom_world.c - a world and a click model outside the library.
 *
 * The world has seasons: every `length` rounds other items are attractive, so policies must forget
 * what they have learned.  The users follow the dependent click model: they may click several
 * items, and leave when a click has satisfied them, with probability `satisfied`.
 */
#include <oltr/world_ops.h>

#include <stdio.h>

/* The data of both, passed in oltr_world.custom. */
typedef struct seasons {
    uint64_t length;
    double satisfied;
} seasons;

/* ---- the world */

static oltr_status check_world(const oltr_world *world, oltr_error *error)
{
    const seasons *s = world->custom;
    if (s && s->length > 0)
        return OLTR_OK;
    *error = (oltr_error){OLTR_EINVAL, "a season has at least one round"};
    return OLTR_EINVAL;
}

/* In season `season` of this replication every item's attraction is drawn anew. */
static void draw_season(uint64_t seed, uint64_t replication, uint64_t season, oltr_instance *out)
{
    oltr_rng rng = oltr_rng_at(oltr_rng_make(seed, replication), OLTR_STREAM_INSTANCE, season);
    for (uint32_t i = 0; i < out->n_items; i++)
        out->attraction[i] = oltr_rng_beta(&rng, 1, 5);
}

static oltr_status draw(const oltr_world *world, uint64_t seed, uint64_t replication,
                        oltr_instance *out, oltr_error *error)
{
    (void)world;
    (void)error;
    out->tells = 0; /* policies get no prior */
    draw_season(seed, replication, 0, out);
    return OLTR_OK;
}

static int moves(const oltr_world *world)
{
    (void)world;
    return 1;
}

static oltr_status advance(const oltr_world *world, uint64_t seed, uint64_t replication,
                           uint64_t round, oltr_instance *truth, oltr_error *error)
{
    const seasons *s = world->custom;
    (void)error;
    if ((round - 1) % s->length == 0) /* rounds count from 1 */
        draw_season(seed, replication, (round - 1) / s->length, truth);
    return OLTR_OK;
}

static const oltr_world_ops seasons_world = {
    .info = {"seasons", "every now and then all attractions are drawn anew"},
    .check = check_world,
    .draw = draw,
    .moves = moves,
    .advance = advance,
};

/* ---- the users */

static oltr_status check_users(const oltr_world *world, oltr_error *error)
{
    const seasons *s = world->custom;
    if (s && s->satisfied > 0 && s->satisfied <= 1)
        return OLTR_OK;
    *error = (oltr_error){OLTR_EINVAL, "a click satisfies with a probability above 0 and up to 1"};
    return OLTR_EINVAL;
}

/* Whether a user likes an item is settled before they see the list, so that all policies meet the
 * same users. */
static double draw_for(const oltr_rng *round, uint32_t item, uint32_t what)
{
    oltr_rng own = oltr_rng_fork(*round, 2 * (uint64_t)item + what);
    return oltr_rng_uniform(&own);
}

static uint32_t scan(const oltr_world *world, const oltr_instance *truth, const oltr_rng *round,
                     const oltr_ranking *shown, double *reward)
{
    const seasons *s = world->custom;
    for (uint32_t slot = 0; slot < shown->k; slot++) {
        uint32_t item = shown->item[slot];
        reward[slot] = draw_for(round, item, 0) < truth->attraction[item];
        if (reward[slot] > 0 && draw_for(round, item, 1) < s->satisfied)
            return slot + 1;
    }
    return shown->k;
}

/* The chance that the user leaves satisfied. */
static double value(const oltr_world *world, const oltr_instance *truth, const uint32_t *item,
                    uint32_t k)
{
    const seasons *s = world->custom;
    double unsatisfied = 1;
    for (uint32_t slot = 0; slot < k; slot++)
        unsatisfied *= 1 - s->satisfied * truth->attraction[item[slot]];
    return 1 - unsatisfied;
}

/* That of the k most attractive items; the experiment below shows 3. */
static double best(const oltr_world *world, const oltr_instance *truth, uint32_t k)
{
    uint32_t list[8] = {0};
    for (uint32_t slot = 0; slot < k; slot++)
        for (uint32_t i = 0, found = 0; i < truth->n_items; i++) {
            int taken = 0;
            for (uint32_t before = 0; before < slot; before++)
                taken |= list[before] == i;
            if (!taken && (!found || truth->attraction[i] > truth->attraction[list[slot]])) {
                list[slot] = i;
                found = 1;
            }
        }
    return value(world, truth, list, k);
}

static const oltr_click_ops dependent_clicks = {
    .info = {"dependent", "several clicks; the user leaves when one has satisfied them"},
    .rewards = OLTR_CLICKS,
    .check = check_users,
    .scan = scan,
    .value = value,
    .best = best,
};

/* ---- an experiment in it */

enum { ITEMS = 12, POLICIES = 2 };

static int fail(const oltr_error *error)
{
    fprintf(stderr, "custom_world: %s\n", error->msg);
    return 1;
}

int main(void)
{
    static const uint64_t marks[] = {1000, 2000, 4000};
    static const seasons settings = {.length = 1000, .satisfied = 0.7};
    oltr_error error = {OLTR_OK, ""};
    oltr_contestant policy[POLICIES] = {{.label = "GTS"}, {.label = "random"}};
    for (uint32_t i = 0; i < POLICIES; i++)
        if (oltr_settings_init(&policy[i].settings, i ? "random" : "gts", ITEMS, &error) != OLTR_OK)
            return fail(&error);
    oltr_experiment experiment = {.seed = 1,
                                  .rounds = 4000,
                                  .slots = 3,
                                  .replications = 40,
                                  .n_checkpoints = 3,
                                  .checkpoint = marks,
                                  .world = {.n_items = ITEMS,
                                            .custom_kind = &seasons_world,
                                            .custom_clicks = &dependent_clicks,
                                            .custom = &settings,
                                            .custom_bytes = sizeof settings},
                                  .n_policies = POLICIES,
                                  .policy = policy};
    oltr_results *results = oltr_results_new(&experiment, 1, &error);
    if (!results || oltr_run(&experiment, 1, NULL, results, &error) != OLTR_OK)
        return fail(&error);
    for (uint32_t m = 0; m < experiment.n_checkpoints; m++) {
        oltr_outcome gts = oltr_results_at(results, 0, 0, m),
                     random = oltr_results_at(results, 0, 1, m);
        printf("after %4llu rounds: regret of GTS %7.2f, of random lists %7.2f\n",
               (unsigned long long)marks[m], gts.regret, random.regret);
    }
    oltr_estimate difference = oltr_results_pair(results, 0, 0, 1, 0);
    oltr_results_free(results);
    return difference.mean < -5 * difference.se ? 0 : 1; /* GTS learns the first season */
}
