/* arena.c - one replication: draw the instance, and let every policy meet the same users round by round.
 *
 * This is where a round happens: rank, scan, learn, and the regret of what was shown.
 */
#define _POSIX_C_SOURCE 200809L
#include "sim/arena.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/taken.h"

struct arena {
    const oltr_experiment *experiment;
    const world_ops *world;
    const click_ops *clicks;
    instance truth;
    size_t policy_bytes;
    void *policy_memory;
    oltr_scratch **scratch; /* (n_policies) */
    uint32_t *item;         /* (slots) */
    double *slot_reward;    /* (slots) */
    double *regret, *reward;
    uint64_t *ns;
};

enum { ROUNDS_BETWEEN_STOPS = 512, ALIGNMENT = 64 };

/* Where the world tells both forms of a prior, each policy gets its own. */
static oltr_prior told_prior(const instance *truth, const oltr_settings *settings)
{
    int moments = truth->tells_moments && (settings->info->takes_moments || !truth->tells);
    if (!prior_is_taken(settings) || (!moments && !truth->tells))
        return (oltr_prior){NULL, NULL, NULL, NULL};
    return moments ? (oltr_prior){.mean = truth->mean, .sd = truth->sd} : (oltr_prior){.a = truth->a, .b = truth->b};
}

/* For the instance of the moment: its items, its features, its prior. */
static oltr_settings settings_in(const arena *a, uint32_t policy)
{
    oltr_settings settings = a->experiment->policy[policy].settings;
    settings.n_items = a->truth.n_items;
    settings.dim = a->truth.dim;
    settings.prior = told_prior(&a->truth, &settings);
    return settings;
}

static int make_memory(arena *a)
{
    const oltr_experiment *e = a->experiment;
    size_t n = e->world.n_items, curve = (size_t)e->n_policies * e->n_checkpoints;
    size_t features = e->world.dataset || !e->world.dim ? 1 : n * e->world.dim;
    a->truth.n_items = e->world.n_items;
    a->truth.dim = e->world.dim;
    a->truth.drawn = calloc(features, sizeof(float));
    a->truth.theta = calloc((size_t)e->world.dim + 1, sizeof(double));
    a->truth.attraction = calloc(n, sizeof(double));
    a->truth.a = calloc(n, sizeof(double));
    a->truth.b = calloc(n, sizeof(double));
    a->truth.mean = calloc(n, sizeof(double));
    a->truth.sd = calloc(n, sizeof(double));
    a->scratch = calloc(e->n_policies, sizeof *a->scratch);
    a->item = calloc(e->slots, sizeof *a->item);
    a->slot_reward = calloc(e->slots, sizeof(double));
    a->regret = calloc(curve, sizeof(double));
    a->reward = calloc(curve, sizeof(double));
    a->ns = calloc(e->n_policies, sizeof *a->ns);
    return a->truth.drawn && a->truth.theta && a->truth.attraction && a->truth.a && a->truth.b && a->truth.mean &&
           a->truth.sd && a->scratch && a->item && a->slot_reward && a->regret && a->reward && a->ns;
}

static oltr_status blame(const arena *a, uint32_t policy, const oltr_error *why, oltr_error *error)
{
    return fail(error, why->code, "policy %s: %.200s", a->experiment->policy[policy].label, why->msg);
}

/* The bytes of the largest policy. */
static oltr_status measure_policies(arena *a, oltr_error *error)
{
    for (uint32_t i = 0; i < a->experiment->n_policies; i++) {
        oltr_error why = {OLTR_EINVAL, ""};
        oltr_settings settings = settings_in(a, i);
        if (settings.info->contextual && !settings.dim)
            return fail(error, OLTR_EFEATURE,
                        "policy %s: %s ranks by features, and this world has none: take world linear, logistic, "
                        "scalar, or dataset or fixed with features",
                        a->experiment->policy[i].label, settings.info->name);
        size_t bytes = oltr_policy_bytes(&settings, &why);
        if (!bytes)
            return blame(a, i, &why, error);
        a->policy_bytes = bytes > a->policy_bytes ? bytes : a->policy_bytes;
    }
    return OLTR_OK;
}

/* Places every policy once: what cannot be made is found here, before anything runs. */
static oltr_status make_policies(arena *a, oltr_error *error)
{
    oltr_error why = {OLTR_ENOMEM, "out of memory"};
    oltr_status status = measure_policies(a, error);
    if (status != OLTR_OK)
        return status;
    a->policy_memory = aligned_alloc(ALIGNMENT, a->policy_bytes);
    if (!a->policy_memory)
        return fail(error, OLTR_ENOMEM, "no memory for a policy of %zu bytes", a->policy_bytes);
    for (uint32_t i = 0; i < a->experiment->n_policies; i++) {
        oltr_settings settings = settings_in(a, i);
        oltr_policy *policy = oltr_policy_place(a->policy_memory, a->policy_bytes, &settings, &why);
        if (policy && settings.info->rewards == OLTR_CLICKS && a->clicks->rewards == OLTR_REALS)
            return fail(error, OLTR_EREWARD,
                        "policy %s learns from clicks only, and this world gives real rewards: leave it out",
                        a->experiment->policy[i].label);
        if (!policy)
            return blame(a, i, &why, error);
        a->scratch[i] = oltr_scratch_new(policy);
        if (!a->scratch[i])
            return fail(error, OLTR_ENOMEM, "no memory to rank with policy %s", a->experiment->policy[i].label);
    }
    return OLTR_OK;
}

arena *arena_new(const oltr_experiment *experiment, oltr_error *error)
{
    arena *a = calloc(1, sizeof *a);
    if (!a) {
        fail(error, OLTR_ENOMEM, "no memory for a simulation");
        return NULL;
    }
    a->experiment = experiment;
    a->world = world_kind(&experiment->world, error);
    a->clicks = world_clicks(&experiment->world, error);
    if (!make_memory(a)) {
        fail(error, OLTR_ENOMEM, "no memory for a world of %u items", experiment->world.n_items);
        arena_free(a);
        return NULL;
    }
    /* room for the largest instance is room for all */
    a->world->draw(&experiment->world, experiment->seed, world_largest(&experiment->world), &a->truth);
    if (make_policies(a, error) != OLTR_OK) {
        arena_free(a);
        return NULL;
    }
    return a;
}

void arena_free(arena *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; a->scratch && i < a->experiment->n_policies; i++)
        oltr_scratch_free(a->scratch[i]);
    free(a->scratch);
    free(a->truth.drawn);
    free(a->truth.theta);
    free(a->truth.attraction);
    free(a->truth.a);
    free(a->truth.b);
    free(a->truth.mean);
    free(a->truth.sd);
    free(a->policy_memory);
    free(a->item);
    free(a->slot_reward);
    free(a->regret);
    free(a->reward);
    free(a->ns);
    free(a);
}

static uint64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What changes between rounds, where anything does; returns the reward of the best list. */
static double next_round(arena *a, uint64_t replication, uint64_t t)
{
    const oltr_experiment *e = a->experiment;
    a->world->advance(&e->world, e->seed, replication, t, &a->truth);
    return a->clicks->best(&e->world, &a->truth, e->slots);
}

/* Rank, scan, learn: one round of one policy. */
static oltr_status play_round(arena *a, oltr_policy *policy, oltr_scratch *scratch, const oltr_query *query,
                              oltr_rng rng, uint64_t t)
{
    const oltr_experiment *e = a->experiment;
    oltr_ranking shown = {e->slots, a->item, NULL};
    oltr_status status = oltr_rank(policy, query, oltr_rng_at(rng, STREAM_POLICY, t), scratch, &shown);
    if (status != OLTR_OK)
        return status;
    oltr_rng user = oltr_rng_at(rng, STREAM_USERS, t);
    oltr_feedback seen = {a->clicks->scan(&e->world, &a->truth, &user, &shown, a->slot_reward), a->slot_reward};
    return oltr_learn(policy, query, &shown, &seen);
}

/* One policy through all rounds. */
static oltr_status play_policy(arena *a, oltr_policy *policy, uint32_t index, uint64_t replication, double best,
                               int (*stop)(void *), void *context)
{
    const oltr_experiment *e = a->experiment;
    double *regret = a->regret + (size_t)index * e->n_checkpoints,
           *reward = a->reward + (size_t)index * e->n_checkpoints;
    double lost = 0, won = 0;
    uint32_t checkpoint = 0;
    int moves = a->world->moves && a->world->moves(&e->world);
    oltr_rng rng = oltr_rng_make(e->seed, replication);
    oltr_query query = {.n_items = a->truth.n_items, .dim = a->truth.dim, .x = a->truth.x};
    for (uint64_t t = 1; t <= e->rounds; t++) {
        if (moves)
            best = next_round(a, replication, t);
        oltr_status status = play_round(a, policy, a->scratch[index], &query, rng, t);
        if (status != OLTR_OK)
            return status;
        double value = a->clicks->value(&e->world, &a->truth, a->item, e->slots);
        lost += fmax(0, best - value); /* the same items in another order may round another way */
        won += value;
        if (checkpoint < e->n_checkpoints && t == e->checkpoint[checkpoint]) {
            regret[checkpoint] = lost;
            reward[checkpoint++] = won;
        }
        if (t % ROUNDS_BETWEEN_STOPS == 0 && stop && stop(context))
            return OLTR_EINTERRUPTED;
    }
    return OLTR_OK;
}

oltr_status arena_play(arena *a, uint64_t replication, int (*stop)(void *context), void *context, oltr_error *error)
{
    const oltr_experiment *e = a->experiment;
    a->world->draw(&e->world, e->seed, replication, &a->truth);
    double best = a->clicks->best(&e->world, &a->truth, e->slots);
    for (uint32_t i = 0; i < e->n_policies; i++) {
        oltr_error why = {OLTR_OK, ""};
        if (stop && stop(context)) /* short runs never come to the check between rounds */
            return OLTR_EINTERRUPTED;
        uint64_t start = thread_ns();
        oltr_settings settings = settings_in(a, i);
        oltr_policy *policy = oltr_policy_place(a->policy_memory, a->policy_bytes, &settings, &why);
        if (!policy)
            return blame(a, i, &why, error);
        oltr_status status = play_policy(a, policy, i, replication, best, stop, context);
        if (status == OLTR_EINTERRUPTED)
            return status;
        if (status != OLTR_OK)
            return fail(error, status, "policy %s cannot play on in replication %llu: %s", e->policy[i].label,
                        (unsigned long long)replication, oltr_strerror(status));
        a->ns[i] = thread_ns() - start;
    }
    return OLTR_OK;
}

const double *arena_regret(const arena *a)
{
    return a->regret;
}

const double *arena_reward(const arena *a)
{
    return a->reward;
}

const uint64_t *arena_ns(const arena *a)
{
    return a->ns;
}
