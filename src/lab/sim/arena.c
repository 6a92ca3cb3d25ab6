/* arena.c - one replication: draw the instance, and let every policy meet the same users round by
 * round.
 *
 * This is where a round happens: rank, scan, learn, and the regret of what was shown.
 */
#define _POSIX_C_SOURCE 200809L
#include "lab/sim/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/base/reads_prior.h"

/* How many rounds to play between two looks at the clock.  A round takes from 0.1 us to a
 * second, so it is measured. */
typedef struct pace {
    uint64_t looked_ns; /* when */
    uint32_t every, left;
} pace;

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
    double *regret, *reward, *ndcg;
    double *discount; /* (slots) 1 / log2(1 + place) */
    double *ideal;    /* (slots) the largest attractions, falling */
    uint64_t *ns;
    arena_watch watch;
    pace pace;
    uint64_t replication;
    uint32_t drawn_items; /* n_items as draw() left it */
    bool saturated;
    bool begun; /* thread_begin() of the world has succeeded */
    bool no_memory;
    uint32_t n_owned;
    void *owned[17]; /* by make_memory() */
};

enum { LOOK_NS = 20000000, MOST_ROUNDS_A_LOOK = 256, ALIGNMENT = 64 };
#define LEAST_REGRET 0.005 /* a smaller one is printed as 0.00 */

/* Where the world has both forms of a prior, each policy gets the one that it takes. */
static oltr_prior prior_for(const instance *truth, const oltr_settings *settings)
{
    bool moments = truth->tells_moments && (settings->info->takes_moments || !truth->tells);
    if (!prior_is_taken(settings) || (!moments && !truth->tells))
        return (oltr_prior){NULL, NULL, NULL, NULL};
    return moments ? (oltr_prior){.mean = truth->mean, .sd = truth->sd}
                   : (oltr_prior){.a = truth->a, .b = truth->b};
}

/* For the present instance: its items, its features, its prior. */
static oltr_settings settings_in(const arena *a, uint32_t policy)
{
    oltr_settings settings = a->experiment->policy[policy].settings;
    settings.n_items = a->truth.n_items;
    settings.dim = a->truth.dim;
    settings.prior = prior_for(&a->truth, &settings);
    return settings;
}

/* Zeroed memory that arena_free() frees. */
static void *take(arena *a, size_t n, size_t size)
{
    void *memory = calloc(n, size);
    a->no_memory |= !memory;
    a->owned[a->n_owned++] = memory;
    return memory;
}

static bool make_memory(arena *a)
{
    const oltr_experiment *e = a->experiment;
    size_t n = e->world.n_items, curve = (size_t)e->n_policies * e->n_checkpoints;
    size_t features = e->world.dataset || !e->world.dim ? 1 : n * e->world.dim;
    a->truth.n_items = e->world.n_items;
    a->truth.dim = e->world.dim;
    a->truth.drawn = take(a, features, sizeof(float));
    a->truth.theta = take(a, (size_t)e->world.dim + 1, sizeof(double));
    a->truth.attraction = take(a, n, sizeof(double));
    a->truth.a = take(a, n, sizeof(double));
    a->truth.b = take(a, n, sizeof(double));
    a->truth.mean = take(a, n, sizeof(double));
    a->truth.sd = take(a, n, sizeof(double));
    a->truth.room = take(a, n, sizeof(double));
    a->scratch = take(a, e->n_policies, sizeof *a->scratch);
    a->item = take(a, e->slots, sizeof *a->item);
    a->slot_reward = take(a, e->slots, sizeof(double));
    a->regret = take(a, curve, sizeof(double));
    a->reward = take(a, curve, sizeof(double));
    a->ndcg = take(a, curve, sizeof(double));
    a->discount = take(a, e->slots, sizeof(double));
    a->ideal = take(a, e->slots, sizeof(double));
    for (uint32_t k = 0; a->discount && k < e->slots; k++)
        a->discount[k] = 1 / log2(k + 2.0);
    a->ns = take(a, e->n_policies, sizeof *a->ns);
    return !a->no_memory;
}

static oltr_status policy_error(const arena *a, uint32_t policy, const oltr_error *why,
                                oltr_error *error)
{
    return set_error(error, why->code, "policy %s: %.200s", a->experiment->policy[policy].label,
                     why->msg);
}

/* The bytes of the largest policy. */
static oltr_status measure_policies(arena *a, oltr_error *error)
{
    for (uint32_t i = 0; i < a->experiment->n_policies; i++) {
        oltr_error why = {OLTR_EINVAL, ""};
        oltr_settings settings = settings_in(a, i);
        if (settings.info->contextual && !settings.dim)
            return set_error(error, OLTR_EFEATURE,
                             "policy %s: %s ranks by features, and this world has none: take world "
                             "linear, logistic, "
                             "scalar, or dataset or fixed with features",
                             a->experiment->policy[i].label, settings.info->name);
        size_t bytes = oltr_policy_bytes(&settings, &why);
        if (!bytes)
            return policy_error(a, i, &why, error);
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
        return set_error(error, OLTR_ENOMEM, "no memory for a policy of %zu bytes",
                         a->policy_bytes);
    for (uint32_t i = 0; i < a->experiment->n_policies; i++) {
        oltr_settings settings = settings_in(a, i);
        oltr_policy *policy = oltr_policy_place(a->policy_memory, a->policy_bytes, &settings, &why);
        if (policy && settings.info->rewards == OLTR_CLICKS && a->clicks->rewards == OLTR_REALS) {
            oltr_policy_free(policy);
            return set_error(
                error, OLTR_EREWARD,
                "policy %s learns from clicks only, and this world gives real rewards: "
                "leave it out",
                a->experiment->policy[i].label);
        }
        if (!policy)
            return policy_error(a, i, &why, error);
        a->scratch[i] = oltr_scratch_new(policy);
        oltr_policy_free(policy); /* ends it; the memory stays */
        if (!a->scratch[i])
            return set_error(error, OLTR_ENOMEM, "no memory to rank with policy %s",
                             a->experiment->policy[i].label);
    }
    return OLTR_OK;
}

/* ---- the world */

static oltr_status world_failed(const arena *a, oltr_status status, uint64_t round,
                                const oltr_error *why, oltr_error *error)
{
    char at[64] = "";
    if (round)
        snprintf(at, sizeof at, ", round %llu", (unsigned long long)round);
    if (status == OLTR_EINTERRUPTED)
        return status;
    return set_error(error, status, "world %.40s failed in replication %llu%s: %.150s",
                     a->world->info.name, (unsigned long long)a->replication, at,
                     why->msg[0] ? why->msg : oltr_strerror(status));
}

static oltr_status draw(arena *a, uint64_t replication, oltr_error *error)
{
    const oltr_experiment *e = a->experiment;
    oltr_error why = {OLTR_OK, ""};
    a->replication = replication;
    a->truth.n_items = e->world.n_items;
    a->truth.dim = e->world.dim;
    a->truth.x = NULL;
    oltr_status status = a->world->draw(&e->world, e->seed, replication, &a->truth, &why);
    a->drawn_items = a->truth.n_items;
    if (status != OLTR_OK)
        return world_failed(a, status, 0, &why, error);
    if (a->truth.dim != e->world.dim || a->truth.n_items < e->slots ||
        a->truth.n_items > e->world.n_items) {
        set_error(&why, OLTR_EITEM,
                  "draw() left %u items with %u features, where there must be %u to %u with %u",
                  a->truth.n_items, a->truth.dim, e->slots, e->world.n_items, e->world.dim);
        return world_failed(a, why.code, 0, &why, error);
    }
    return OLTR_OK;
}

static bool moves(const arena *a)
{
    return a->world->moves && a->world->moves(&a->experiment->world);
}

/* What changes between rounds, where anything does. */
static oltr_status advance(arena *a, uint64_t t, oltr_error *error)
{
    const oltr_experiment *e = a->experiment;
    oltr_error why = {OLTR_OK, ""};
    oltr_status status = a->world->advance(&e->world, e->seed, a->replication, t, &a->truth, &why);
    if (status == OLTR_OK && (a->truth.dim != e->world.dim || a->truth.n_items < e->slots ||
                              a->truth.n_items > a->drawn_items))
        status = set_error(
            &why, OLTR_EITEM,
            "advance() left %u items with %u features, where there must be %u to %u with %u",
            a->truth.n_items, a->truth.dim, e->slots, a->drawn_items, e->world.dim);
    return status == OLTR_OK ? status : world_failed(a, status, t, &why, error);
}

/* ---- making and freeing */

arena *arena_new(const oltr_experiment *experiment, const arena_watch *watch, oltr_error *error)
{
    arena *a = calloc(1, sizeof *a);
    if (!a) {
        set_error(error, OLTR_ENOMEM, "no memory for a simulation");
        return NULL;
    }
    a->experiment = experiment;
    a->watch = watch ? *watch : (arena_watch){NULL, NULL, NULL};
    a->truth.stop = a->watch.stop;
    a->truth.stop_context = a->watch.context;
    a->world = world_kind(&experiment->world, error);
    a->clicks = world_clicks(&experiment->world, error);
    oltr_status status =
        a->world->thread_begin ? a->world->thread_begin(&experiment->world) : OLTR_OK;
    a->begun = status == OLTR_OK;
    if (!a->begun)
        set_error(error, status, "world %.40s: thread_begin failed: %s", a->world->info.name,
                  oltr_strerror(status));
    else if (!make_memory(a))
        status = set_error(error, OLTR_ENOMEM, "no memory for a world of %u items",
                           experiment->world.n_items);
    if (status == OLTR_OK) /* room for the largest instance is room for all */
        status = draw(a, world_largest(&experiment->world), error);
    if (status == OLTR_EINTERRUPTED)
        set_error(error, status, "%s", oltr_strerror(status));
    if (status == OLTR_OK)
        status = make_policies(a, error);
    if (status == OLTR_OK)
        return a;
    arena_free(a);
    return NULL;
}

void arena_free(arena *a)
{
    if (!a)
        return;
    if (a->begun && a->world->thread_end)
        a->world->thread_end(&a->experiment->world);
    for (uint32_t i = 0; a->scratch && i < a->experiment->n_policies; i++)
        oltr_scratch_free(a->scratch[i]);
    for (uint32_t i = 0; i < a->n_owned; i++)
        free(a->owned[i]);
    free(a->policy_memory);
    free(a);
}

/* ---- time */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void pace_begin(pace *p)
{
    *p = (pace){clock_ns(CLOCK_MONOTONIC), 1, 1};
}

/* Reports the rounds since the last report; returns how long they took. */
static uint64_t report_rounds(arena *a, uint32_t policy)
{
    pace *p = &a->pace;
    uint64_t now = clock_ns(CLOCK_MONOTONIC), took = now - p->looked_ns;
    uint32_t played = p->every - p->left;
    if (a->watch.played && played)
        a->watch.played(a->watch.context, policy, played, took);
    p->looked_ns = now;
    return took;
}

/* Reports, and sets how many rounds to play until the next time: as many as take about LOOK_NS.
 * True to stop. */
static bool look(arena *a, uint32_t policy)
{
    pace *p = &a->pace;
    uint64_t took = report_rounds(a, policy);
    if (took > LOOK_NS)
        p->every = (uint32_t)fmax(1, (double)p->every * ((double)LOOK_NS / (double)took));
    else if (took < LOOK_NS / 2 && p->every < MOST_ROUNDS_A_LOOK)
        p->every *= 2;
    p->left = p->every;
    return a->watch.stop && a->watch.stop(a->watch.context);
}

/* ---- rounds */

/* Rank, scan, learn: one round of one policy. */
static oltr_status play_round(arena *a, oltr_policy *policy, oltr_scratch *scratch, oltr_rng rng,
                              uint64_t t)
{
    const oltr_experiment *e = a->experiment;
    oltr_ranking shown = {e->slots, a->item, NULL};
    oltr_query query = {.n_items = a->truth.n_items, .dim = a->truth.dim, .x = a->truth.x};
    oltr_status status =
        oltr_rank(policy, &query, oltr_rng_at(rng, STREAM_POLICY, t), scratch, &shown);
    if (status != OLTR_OK)
        return status;
    oltr_rng user = oltr_rng_at(rng, STREAM_USERS, t);
    oltr_feedback seen = {a->clicks->scan(&e->world, &a->truth, &user, &shown, a->slot_reward),
                          a->slot_reward};
    return oltr_learn(policy, &query, &shown, &seen);
}

static oltr_status policy_failed(const arena *a, uint32_t policy, oltr_status status,
                                 oltr_error *error)
{
    return set_error(error, status, "policy %s cannot play on in replication %llu: %s",
                     a->experiment->policy[policy].label, (unsigned long long)a->replication,
                     oltr_strerror(status));
}

static oltr_status not_finite(const arena *a, double best, double value, oltr_error *error)
{
    return set_error(
        error, OLTR_EVALUE,
        "click model %.40s gave %g for a list and %g for the best one in replication %llu: "
        "both must be finite",
        a->clicks->info.name, value, best, (unsigned long long)a->replication);
}

/* The largest attractions of the present instance, by insertion: most items are below all of them.
 */
static void find_ideal(arena *a)
{
    uint32_t k = a->experiment->slots;
    for (uint32_t i = 0; i < k; i++)
        a->ideal[i] = -INFINITY;
    for (uint32_t i = 0; i < a->truth.n_items; i++) {
        double attraction = a->truth.attraction[i];
        uint32_t at = k;
        for (; at > 0 && attraction > a->ideal[at - 1]; at--)
            if (at < k)
                a->ideal[at] = a->ideal[at - 1];
        if (at < k)
            a->ideal[at] = attraction;
    }
}

/* NDCG of the shown list; NaN where no item attracts, or means have any sign.  In moving worlds the
 * best list is that of the round. */
static double list_ndcg(arena *a)
{
    double gain = 0, most = 0;
    if (a->world->traits & OLTR_WORLD_REALS)
        return NAN;
    if (moves(a))
        find_ideal(a);
    for (uint32_t k = 0; k < a->experiment->slots; k++) {
        gain += a->truth.attraction[a->item[k]] * a->discount[k];
        most += a->ideal[k] * a->discount[k];
    }
    return most > 0 && isfinite(gain / most) ? fmax(0, fmin(gain / most, 1)) : NAN;
}

/* One policy through all rounds. */
static oltr_status play_policy(arena *a, oltr_policy *policy, uint32_t index, double best,
                               oltr_error *error)
{
    const oltr_experiment *e = a->experiment;
    double *regret = a->regret + (size_t)index * e->n_checkpoints,
           *reward = a->reward + (size_t)index * e->n_checkpoints,
           *ndcg = a->ndcg + (size_t)index * e->n_checkpoints;
    double lost = 0, won = 0;
    uint32_t checkpoint = 0;
    bool moving = moves(a);
    oltr_rng rng = oltr_rng_make(e->seed, a->replication);
    oltr_status status = OLTR_OK;
    for (uint64_t t = 1; t <= e->rounds; t++) {
        if (moving) {
            status = advance(a, t, error);
            if (status != OLTR_OK)
                return status;
            best = a->clicks->best(&e->world, &a->truth, e->slots);
        }
        status = play_round(a, policy, a->scratch[index], rng, t);
        if (status != OLTR_OK)
            return policy_failed(a, index, status, error);
        double value = a->clicks->value(&e->world, &a->truth, a->item, e->slots);
        if (!isfinite(best - value))
            return not_finite(a, best, value, error);
        lost += fmax(0, best - value); /* the same items in another order may round another way */
        won += value;
        if (checkpoint < e->n_checkpoints && t == e->checkpoint[checkpoint]) {
            regret[checkpoint] = lost;
            ndcg[checkpoint] = list_ndcg(a);
            reward[checkpoint++] = won;
        }
        if (--a->pace.left == 0 && look(a, index))
            return OLTR_EINTERRUPTED;
    }
    return OLTR_OK;
}

/* Makes a policy for the present instance, and plays it. */
static oltr_status play_one(arena *a, uint32_t index, double best, oltr_error *error)
{
    oltr_error why = {OLTR_OK, ""};
    pace_begin(&a->pace);
    uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    oltr_settings settings = settings_in(a, index);
    oltr_policy *policy = oltr_policy_place(a->policy_memory, a->policy_bytes, &settings, &why);
    if (!policy)
        return policy_error(a, index, &why, error);
    oltr_status status = play_policy(a, policy, index, best, error);
    oltr_policy_free(policy); /* ends it; the memory stays */
    if (status != OLTR_OK)
        return status;
    a->ns[index] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    report_rounds(a, index);
    return OLTR_OK;
}

/* Even the worst policy would lose less over all rounds than is printed. */
static bool is_saturated(const arena *a, double best)
{
    const oltr_experiment *e = a->experiment;
    if (!a->clicks->worst)
        return false;
    return (double)e->rounds * (best - a->clicks->worst(&e->world, &a->truth, e->slots)) <
           LEAST_REGRET;
}

oltr_status arena_play(arena *a, uint64_t replication, oltr_error *error)
{
    const oltr_experiment *e = a->experiment;
    oltr_status status = draw(a, replication, error);
    if (status != OLTR_OK)
        return status;
    double best = a->clicks->best(&e->world, &a->truth, e->slots);
    a->saturated = is_saturated(a, best);
    find_ideal(a);
    for (uint32_t i = 0; status == OLTR_OK && i < e->n_policies; i++) {
        if (i > 0 && moves(a)) /* the rounds of the policy before have changed the instance */
            status = draw(a, replication, error);
        if (a->watch.stop && a->watch.stop(a->watch.context)) /* drawing may have taken long */
            return OLTR_EINTERRUPTED;
        if (status == OLTR_OK)
            status = play_one(a, i, best, error);
    }
    return status;
}

curves arena_curves(const arena *a)
{
    return (curves){a->regret, a->reward, a->ns, a->saturated, a->ndcg};
}
