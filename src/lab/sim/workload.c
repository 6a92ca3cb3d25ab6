/* workload.c - see workload.h. */
#include "lab/sim/workload.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* One policy at one point. */
typedef struct cell {
    atomic_uint_least64_t rounds, ns; /* played by this run, unfinished replications included */
    uint64_t before, total;           /* rounds that were done when it began, and in all */
    double guess;                     /* of one round */
} cell;

struct workload {
    uint32_t n_points, most_policies;
    const oltr_experiment *points; /* (n_points) */
    cell **of_point;               /* (n_points) the cells of each, (n_policies) */
    double *known, *guessed; /* (most_policies) scratch: what a policy cost at the last measured
                                point, and its guess */
    double share;            /* that was reported last */
};

/* A round of many items takes about as long as one of some thousands with `sampler: race`, and
 * where items of equal sums share an index (docs/millions.md). */
enum { RACE_NS = 20000, CLASSES_NS = 5000 };
static bool races(const oltr_settings *settings)
{
    const oltr_policy_info *info = settings->info;
    for (uint32_t i = 0; i < info->n_params; i++)
        if (info->params[i].type == OLTR_CHOICE && strcmp(info->params[i].name, "sampler") == 0)
            return strcmp(info->params[i].choices[(size_t)settings->value[i]], "race") == 0;
    return false;
}

static bool has_classes(const oltr_policy_info *info)
{
    static const char *const kinds[] = {"cascade-ucb1", "cascade-ucbv", "cascade-klucb",
                                        "bayes-ucb",    "ts-cascade",   "epsilon-greedy",
                                        "ensemble",     "random"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(info->name, kinds[i]) == 0)
            return true;
    return false;
}

double guess_round(const oltr_experiment *point, uint32_t policy)
{
    const oltr_policy_info *info = point->policy[policy].settings.info;
    double known = point->policy[policy].items, dim = point->world.dim;
    double items = known > 0 ? known : point->world.n_items;
    double solver =
        strcmp(info->name, "logts") == 0 ? 5 : 1; /* solves for its estimate in every round */
    double features = point->world.fresh_contexts ? 2 * items * dim : 0;
    double rank = info->contextual ? 1000 + 0.3 * solver * dim * (items + dim) : 150 + 3 * items;
    if (races(&point->policy[policy].settings))
        rank = fmin(rank, RACE_NS);
    if (has_classes(info))
        rank = fmin(rank, CLASSES_NS);
    return rank + features + 5 * point->slots;
}

static uint64_t done_before(const oltr_results *results, uint32_t point, oltr_shard shard)
{
    const point_results *p = &results->point[point];
    uint64_t done = 0;
    for (uint32_t r = 0; r < p->replications; r++)
        done += (p->whole[r] & WHOLE) && (shard.count < 2 || r % shard.count == shard.index);
    return done;
}

static bool make_point(workload *w, uint32_t point, const oltr_results *results, oltr_shard shard)
{
    const oltr_experiment *e = &w->points[point];
    cell *cells = w->of_point[point] = calloc(e->n_policies, sizeof *cells);
    uint64_t before = done_before(results, point, shard),
             all = oltr_shard_replications(shard, e->replications);
    for (uint32_t i = 0; cells && i < e->n_policies; i++) {
        cells[i].before = before * e->rounds;
        cells[i].total = all * e->rounds;
        cells[i].guess = guess_round(e, i);
    }
    w->most_policies = e->n_policies > w->most_policies ? e->n_policies : w->most_policies;
    return cells;
}

workload *workload_new(const oltr_experiment *points, uint32_t n_points,
                       const oltr_results *results, oltr_shard shard)
{
    workload *w = calloc(1, sizeof *w);
    bool made = w && (w->of_point = calloc(n_points, sizeof *w->of_point)) != NULL;
    if (made) {
        w->n_points = n_points;
        w->points = points;
    }
    for (uint32_t p = 0; made && p < n_points; p++)
        made = make_point(w, p, results, shard);
    if (made) {
        w->known = calloc(w->most_policies, sizeof *w->known);
        w->guessed = calloc(w->most_policies, sizeof *w->guessed);
        made = w->known && w->guessed;
    }
    if (made)
        return w;
    workload_free(w);
    return NULL;
}

void workload_free(workload *w)
{
    if (!w)
        return;
    for (uint32_t p = 0; w->of_point && p < w->n_points; p++)
        free(w->of_point[p]);
    free(w->of_point);
    free(w->known);
    free(w->guessed);
    free(w);
}

void workload_add(workload *w, uint32_t point, uint32_t policy, uint64_t rounds, uint64_t ns)
{
    cell *c = &w->of_point[point][policy];
    atomic_fetch_add_explicit(&c->ns, ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->rounds, rounds, memory_order_relaxed);
}

static uint64_t rounds_of(const cell *c)
{
    return atomic_load_explicit(&c->rounds, memory_order_relaxed);
}

static double ns_of(const cell *c)
{
    return (double)atomic_load_explicit(&c->ns, memory_order_relaxed);
}

/* Measured time over guessed time, of all that was played. */
static double scale_of_guesses(const workload *w)
{
    double ns = 0, guessed = 0;
    for (uint32_t p = 0; p < w->n_points; p++)
        for (uint32_t i = 0; i < w->points[p].n_policies; i++) {
            const cell *c = &w->of_point[p][i];
            ns += ns_of(c);
            guessed += c->guess * (double)rounds_of(c);
        }
    return ns > 0 && guessed > 0 ? ns / guessed : 1;
}

/* Nanoseconds of a round of this policy at this point; points are asked for in rising order. */
static double cost_of(workload *w, uint32_t point, uint32_t policy, double scale)
{
    const cell *c = &w->of_point[point][policy];
    uint64_t rounds = rounds_of(c);
    double ns = ns_of(c);
    if (rounds && ns > 0) {
        w->known[policy] = ns / (double)rounds;
        w->guessed[policy] = c->guess;
        return w->known[policy];
    }
    return w->known[policy] > 0 ? w->known[policy] * c->guess / w->guessed[policy]
                                : scale * c->guess;
}

void workload_report(workload *w, oltr_progress *progress)
{
    double scale = scale_of_guesses(w), before = 0, now = 0, all = 0;
    memset(w->known, 0, w->most_policies * sizeof *w->known);
    for (uint32_t p = 0; p < w->n_points; p++)
        for (uint32_t i = 0; i < w->points[p].n_policies; i++) {
            const cell *c = &w->of_point[p][i];
            double cost = cost_of(w, p, i, scale);
            uint64_t rounds = rounds_of(c);
            before += cost * (double)c->before;
            now += cost * (double)rounds;
            all += cost * (double)c->total;
            progress->rounds_done += rounds;
            progress->rounds += c->before + rounds;
            progress->rounds_total += c->total;
        }
    bool ended = progress->rounds >= progress->rounds_total;
    w->share = ended ? 1 : fmax(w->share, fmin((before + now) / all, 0.9999));
    progress->share = w->share;
    progress->seconds_left = ended     ? 0
                             : now > 0 ? progress->seconds * fmax(0, all - before - now) / now
                                       : -1;
}
