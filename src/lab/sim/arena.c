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
#include <string.h>
#include <time.h>

#include "lab/sim/reading.h"
#include "lab/sim/seats.h"

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
    seats seats;            /* the policies of the present contestant */
    oltr_scratch **scratch; /* (n_policies) */
    uint32_t *item;         /* (slots) the shown list, as items of the instance */
    uint32_t *shown;        /* (slots) the same as items of a shared policy */
    double *click;          /* (slots) and the weights of two observations, where users do both */
    double *slot_reward;    /* (slots) */
    uint8_t *examined;      /* (slots) by users, where policies are told less or more of it */
    uint32_t *seen; /* (n_policies) the reading of each, OLTR_SEEN_...; usual: that of scan() */
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
    void *owned[22]; /* by make_memory() */
};

enum { LOOK_NS = 20000000, MOST_ROUNDS_A_LOOK = 256 };
enum { MANY_ITEMS = 4096 }; /* with fewer, the largest are found faster than kept */
#define LEAST_REGRET 0.005  /* a smaller one is printed as 0.00 */

/* Zeroed memory that arena_free() frees. */
static void *take(arena *a, size_t n, size_t size)
{
    void *memory = calloc(n, size);
    a->no_memory |= !memory;
    a->owned[a->n_owned++] = memory;
    return memory;
}

/* The arrays of an instance.  Worlds of the catalogue fill priors where they give one, moments
 * where a dataset has them or attractions jump (beta_world.c keeps its shapes there), and their
 * click models need room for a list; of a caller's own nothing is known, so they get all. */
static void make_instance(arena *a)
{
    const oltr_world *w = &a->experiment->world;
    size_t n = w->n_items, features = w->dataset || !w->dim ? 1 : n * w->dim;
    bool moments = w->custom_kind || w->dataset || w->drift_jump > 0;
    bool shapes =
        w->custom_kind || w->dataset || (a->world->gives_prior && a->world->gives_prior(w));
    a->truth.n_items = w->n_items;
    a->truth.dim = w->dim;
    a->truth.drawn = take(a, features, sizeof(float));
    a->truth.theta = take(a, (size_t)w->dim + 1, sizeof(double));
    a->truth.attraction = take(a, n, sizeof(double));
    a->truth.a = shapes ? take(a, n, sizeof(double)) : NULL;
    a->truth.b = shapes ? take(a, n, sizeof(double)) : NULL;
    a->truth.mean = moments ? take(a, n, sizeof(double)) : NULL;
    a->truth.sd = moments ? take(a, n, sizeof(double)) : NULL;
    bool few_change =
        !w->custom_kind && n >= MANY_ITEMS && w->drift_jump > 0 && !(w->drift_walk > 0);
    a->truth.largest = few_change ? take(a, 1, sizeof *a->truth.largest) : NULL;
    a->truth.room = take(a, w->custom_clicks ? n : a->experiment->slots, sizeof(double));
}

static bool make_memory(arena *a)
{
    const oltr_experiment *e = a->experiment;
    size_t curve = (size_t)e->n_policies * e->n_checkpoints;
    make_instance(a);
    a->scratch = take(a, e->n_policies, sizeof *a->scratch);
    a->item = take(a, e->slots, sizeof *a->item);
    a->shown = take(a, e->slots, sizeof *a->shown);
    a->click = take(a, 2 * (size_t)e->slots, sizeof(double));
    a->slot_reward = take(a, e->slots, sizeof(double));
    a->examined = take(a, e->slots, sizeof *a->examined);
    a->seen = take(a, e->n_policies, sizeof *a->seen);
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

/* Can this policy learn from what the users of this world give? */
static oltr_status check_feedback(const arena *a, const oltr_contestant *c, oltr_error *error)
{
    const oltr_policy_info *info = c->settings.info;
    bool reals = a->clicks->rewards == OLTR_REALS;
    if (c->feedback > OLTR_FEEDBACK_BOTH)
        return set_error(error, OLTR_EINVAL, "policy %s: there is no feedback %u", c->label,
                         c->feedback);
    if (c->feedback && !a->clicks->clicked)
        return set_error(error, OLTR_EINVAL,
                         "policy %s: users of click model %.40s give one kind of feedback: leave "
                         "`feedback` out",
                         c->label, a->clicks->info.name);
    if (c->feedback == OLTR_FEEDBACK_BOTH && !info->takes_weights)
        return set_error(error, OLTR_EINVAL,
                         "policy %s: %s cannot learn two observations of one slot: choose "
                         "`feedback: clicks` or `rewards`",
                         c->label, info->name);
    if (info->rewards == OLTR_CLICKS && reals && c->feedback != OLTR_FEEDBACK_CLICKS)
        return set_error(error, OLTR_EREWARD,
                         "policy %s learns from clicks only, and this world gives real rewards: "
                         "leave it out%s",
                         c->label, a->clicks->clicked ? ", or give it `feedback: clicks`" : "");
    return OLTR_OK;
}

static bool stopped(const arena *a)
{
    return a->watch.stop && a->watch.stop(a->watch.context);
}

/* Makes every policy once: what cannot be made is found here, before anything runs. */
static oltr_status make_policies(arena *a, oltr_error *error)
{
    oltr_status status = seats_make(&a->seats, a->experiment, &a->truth, error);
    for (uint32_t i = 0; status == OLTR_OK && i < a->experiment->n_policies; i++) {
        const oltr_contestant *c = &a->experiment->policy[i];
        if (stopped(a)) /* a policy of millions of items takes long to make */
            return set_error(error, OLTR_EINTERRUPTED, "%s", oltr_strerror(OLTR_EINTERRUPTED));
        status = seats_take(&a->seats, &a->truth, i, error);
        if (status == OLTR_OK)
            status = check_feedback(a, c, error);
        if (status == OLTR_OK)
            status = reading_of(&a->experiment->world, a->clicks, c, &a->seen[i], error);
        if (status == OLTR_OK && !(a->scratch[i] = oltr_scratch_new(seats_largest(&a->seats))))
            status = set_error(error, OLTR_ENOMEM, "no memory to rank with policy %s", c->label);
        seats_leave(&a->seats);
    }
    return status;
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
    attractions_changed(&a->truth);
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
    a->truth.still = 0;
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
    seats_free(&a->seats);
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
    return stopped(a);
}

/* ---- rounds */

/* The clicks of all slots, and what was examined; false where scan() is at fault. */
static bool browse(arena *a, const oltr_rng *user, const oltr_ranking *list)
{
    const oltr_experiment *e = a->experiment;
    if (a->clicks->browse) {
        a->clicks->browse(&e->world, &a->truth, user, list, a->slot_reward, a->examined);
        return true;
    }
    uint32_t n = a->clicks->scan(&e->world, &a->truth, user, list, a->slot_reward);
    for (uint32_t slot = 0; slot < e->slots; slot++) {
        a->examined[slot] = slot < n;
        a->slot_reward[slot] = slot < n ? a->slot_reward[slot] : 0;
    }
    return n <= e->slots;
}

/* The user scans the list; what the policy learns from is its clicks, its rewards, or both. */
static oltr_feedback scan(arena *a, const oltr_rng *user, uint32_t index)
{
    const oltr_experiment *e = a->experiment;
    oltr_ranking list = {e->slots, a->item, NULL};
    uint32_t feedback = e->policy[index].feedback;
    if (a->seen[index] != OLTR_SEEN_USUAL)
        return browse(a, user, &list)
                   ? read_clicks(a->seen[index], e->slots, a->slot_reward, a->examined)
                   : (oltr_feedback){e->slots + 1, a->slot_reward};
    uint32_t n = a->clicks->scan(&e->world, &a->truth, user, &list, a->slot_reward);
    oltr_feedback seen = {n, a->slot_reward};
    if (feedback == OLTR_FEEDBACK_REWARDS || n > e->slots)
        return seen;
    a->clicks->clicked(&e->world, &a->truth, user, &list, n, a->click);
    seen.reward = a->click;
    if (feedback == OLTR_FEEDBACK_CLICKS)
        return seen;
    double *twice = a->click + e->slots; /* the mean of two observations counts as two */
    for (uint32_t slot = 0; slot < n; slot++) {
        a->click[slot] = 0.5 * (a->click[slot] + a->slot_reward[slot]);
        twice[slot] = 2;
    }
    seen.weight = twice;
    return seen;
}

/* Every policy of the contestant forgets, also those of queries without a visit since. */
static oltr_status forget(arena *a, const oltr_learning *how, uint64_t t)
{
    oltr_status status = OLTR_OK;
    if (!how || !how->forget_every || t % how->forget_every != 0)
        return OLTR_OK;
    for (uint32_t i = 0; status == OLTR_OK && i < a->seats.n; i++)
        status = oltr_forget(a->seats.policy[i], how->forget_keep);
    return status;
}

/* Whether a list of a policy from outside has items of this instance alone: users read their
 * attractions before oltr_learn() checks the list. */
static bool has_such_items(const arena *a, const oltr_settings *settings)
{
    for (uint32_t slot = 0; settings->info->ops && slot < a->experiment->slots; slot++)
        if (a->item[slot] >= a->truth.n_items)
            return false;
    return true;
}

/* Rank, scan, learn: one round of one policy. */
static oltr_status play_round(arena *a, uint32_t index, oltr_rng rng, uint64_t t)
{
    const oltr_experiment *e = a->experiment;
    uint32_t first;
    oltr_query query;
    oltr_policy *policy = seats_round(&a->seats, &a->truth, &query, &first);
    oltr_ranking shown = {e->slots, first ? a->shown : a->item, NULL};
    oltr_status status =
        oltr_rank(policy, &query, oltr_rng_at(rng, STREAM_POLICY, t), a->scratch[index], &shown);
    if (status != OLTR_OK)
        return status;
    for (uint32_t slot = 0; first && slot < e->slots; slot++)
        a->item[slot] = a->shown[slot] - first;
    if (!has_such_items(a, &e->policy[index].settings))
        return OLTR_EITEM;
    oltr_rng user = oltr_rng_at(rng, STREAM_USERS, t);
    oltr_feedback seen = scan(a, &user, index);
    status = oltr_learn(policy, &query, &shown, &seen);
    return status == OLTR_OK ? forget(a, e->policy[index].learning, t) : status;
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

/* The largest attractions of the present instance. */
static void find_ideal(arena *a)
{
    uint32_t k = a->experiment->slots;
    memcpy(a->ideal, largest_attractions(&a->truth, k), k * sizeof *a->ideal);
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
static oltr_status play_policy(arena *a, uint32_t index, double best, oltr_error *error)
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
            if (!a->truth.still)
                best = a->clicks->best(&e->world, &a->truth, e->slots);
        }
        status = play_round(a, index, rng, t);
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

/* Makes a policy for the present instance, or one for each query, and plays it. */
static oltr_status play_one(arena *a, uint32_t index, double best, oltr_error *error)
{
    pace_begin(&a->pace);
    uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    oltr_status status = seats_take(&a->seats, &a->truth, index, error);
    if (status == OLTR_OK)
        status = play_policy(a, index, best, error);
    seats_leave(&a->seats);
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
    if (!a->clicks->worst || world_has_traffic(&e->world)) /* it would need every query */
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
        if (stopped(a)) /* drawing may have taken long */
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
