/* results.c - regret curves: made, added to, added together, and read. */
#include "lab/sim/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "lab/world/world.h"

enum { FINEST = 40, GROUP_BITS = 62 };

/* A round is worth at most one reward a slot, and a reward at most the world's scale, either way
 * where rewards are real.  The sum over a group has 62 bits. */
static int scale_of(const oltr_experiment *e)
{
    const click_ops *clicks = world_clicks(&e->world, NULL);
    double reward = fmax(1, e->world.scale) * (clicks && clicks->rewards == OLTR_REALS ? 2 : 1);
    double most = (double)e->rounds * e->slots * reward + 1;
    double in_group = ceil((double)e->replications / world_groups(&e->world));
    int bits = CURVE_BITS;
    if (world_groups(&e->world) > 1 && in_group > exp2(GROUP_BITS - CURVE_BITS))
        bits = GROUP_BITS - (int)ceil(log2(in_group));
    int scale = bits - (int)ceil(log2(most));
    return scale < FINEST ? scale : FINEST;
}

/* ---- memory */

static bool make_point(point_results *p, const oltr_experiment *e)
{
    size_t curve = (size_t)e->n_policies * e->n_checkpoints,
           pairs = pair_count(e->n_policies) * e->n_checkpoints;
    uint32_t groups = world_groups(&e->world);
    *p = (point_results){.n_policies = e->n_policies,
                         .n_checkpoints = e->n_checkpoints,
                         .replications = e->replications,
                         .n_groups = groups,
                         .group_curves = groups > 1 ? groups * curve : 0,
                         .n_sums = TALLY * curve + pairs,
                         .scale = scale_of(e),
                         .rounds = e->rounds};
    size_t of_groups = groups > 1 ? (size_t)groups * e->n_policies : 0;
    p->sums = calloc(p->n_sums + of_groups, sizeof *p->sums);
    p->group_regret = calloc(GROUP_ARRAYS * p->group_curves + 1, sizeof *p->group_regret);
    p->group_done = calloc(groups, sizeof *p->group_done);
    p->units = calloc(3 * curve, sizeof *p->units);
    p->round = calloc(e->n_checkpoints, sizeof *p->round);
    p->ns = calloc(e->n_policies, sizeof *p->ns);
    p->whole = calloc(e->replications, 1);
    if (!p->sums || !p->group_regret || !p->group_done || !p->units || !p->round || !p->ns ||
        !p->whole)
        return false;
    memcpy(p->round, e->checkpoint, e->n_checkpoints * sizeof *p->round);
    p->reward_units = p->units + curve;
    p->worst = p->reward_units + curve;
    p->group_reward = p->group_regret + p->group_curves;
    p->group_ndcg = p->group_reward + p->group_curves;
    p->group_judged = p->group_ndcg + p->group_curves;
    p->at = (tally *)p->sums;
    p->pair_squares = p->sums + TALLY * curve;
    p->group_squares = p->sums + p->n_sums;
    p->n_sums += of_groups;
    return true;
}

oltr_results *oltr_results_new(const oltr_experiment *points, uint32_t n_points, oltr_error *error)
{
    if (!points || !n_points) {
        set_error(error, OLTR_EINVAL, "an experiment has at least one point");
        return NULL;
    }
    for (uint32_t i = 0; i < n_points; i++)
        if (oltr_experiment_check(&points[i], error) != OLTR_OK)
            return NULL;
    return results_of_checked(points, n_points, error);
}

oltr_results *results_of_checked(const oltr_experiment *points, uint32_t n_points,
                                 oltr_error *error)
{
    oltr_results *r = calloc(1, sizeof *r);
    if (r)
        r->point = calloc(n_points, sizeof *r->point);
    bool made = r && r->point;
    if (made) {
        r->n_points = n_points;
        r->digest = experiment_digest(points, n_points);
        made = r->digest != 0;
    }
    for (uint32_t i = 0; made && i < n_points; i++)
        made = make_point(&r->point[i], &points[i]);
    if (made)
        return r;
    set_error(error, OLTR_ENOMEM, "no memory for the results of %u points", n_points);
    oltr_results_free(r);
    return NULL;
}

void oltr_results_free(oltr_results *results)
{
    if (!results)
        return;
    for (uint32_t i = 0; results->point && i < results->n_points; i++) {
        point_results *p = &results->point[i];
        free(p->sums);
        free(p->group_regret);
        free(p->group_done);
        free(p->units);
        free(p->round);
        free(p->ns);
        free(p->whole);
    }
    free(results->point);
    free(results);
}

void results_clear(oltr_results *results)
{
    for (uint32_t i = 0; i < results->n_points; i++) {
        point_results *p = &results->point[i];
        memset(p->sums, 0, p->n_sums * sizeof *p->sums);
        memset(p->group_regret, 0, GROUP_ARRAYS * p->group_curves * sizeof *p->group_regret);
        memset(p->group_done, 0, p->n_groups * sizeof *p->group_done);
        memset(p->worst, 0, (size_t)p->n_policies * p->n_checkpoints * sizeof *p->worst);
        memset(p->ns, 0, p->n_policies * sizeof *p->ns);
        memset(p->whole, 0, p->replications);
        p->done = 0;
    }
}

/* ---- adding */

static int64_t in_units(const point_results *p, double value)
{
    return llrint(ldexp(value, p->scale));
}

static wide square(int64_t units)
{
    uint64_t size = units < 0 ? -(uint64_t)units : (uint64_t)units;
    return wide_product(size, size);
}

static void add(wide *sum, wide term)
{
    *sum = wide_add(*sum, term);
}

/* The regrets are those of `n` replications, 0: of none. */
static void take_worst(point_results *p, const int64_t *regret, uint32_t n)
{
    for (size_t i = 0; n && i < (size_t)p->n_policies * p->n_checkpoints; i++)
        if (!p->done || regret[i] > p->worst[i])
            p->worst[i] = regret[i];
}

static void add_pairs(point_results *p)
{
    wide *squares = p->pair_squares;
    for (uint32_t i = 0; i < p->n_policies; i++)
        for (uint32_t j = i + 1; j < p->n_policies; j++) {
            const int64_t *one = p->units + (size_t)i * p->n_checkpoints;
            const int64_t *two = p->units + (size_t)j * p->n_checkpoints;
            for (uint32_t c = 0; c < p->n_checkpoints; c++)
                add(squares++, square(one[c] - two[c]));
        }
}

/* The reward since the checkpoint before, and NDCG where there is one. */
static void add_metrics(point_results *p, const double *ndcg)
{
    for (size_t i = 0; i < (size_t)p->n_policies * p->n_checkpoints; i++) {
        tally *at = &p->at[i];
        int64_t before = i % p->n_checkpoints ? p->reward_units[i - 1] : 0;
        add(&at->gain_squares, square(p->reward_units[i] - before));
        if (!ndcg || isnan(ndcg[i]))
            continue;
        int64_t units = llrint(ldexp(ndcg[i], NDCG_BITS));
        add(&at->ndcg, wide_of(units));
        add(&at->ndcg_squares, square(units));
        add(&at->judged, wide_of(1));
    }
}

static void add_to_group(point_results *p, uint32_t group, const double *ndcg)
{
    size_t curve = (size_t)p->n_policies * p->n_checkpoints;
    for (size_t i = 0; i < curve; i++) {
        p->group_regret[group * curve + i] += p->units[i];
        p->group_reward[group * curve + i] += p->reward_units[i];
        if (ndcg && !isnan(ndcg[i])) {
            p->group_ndcg[group * curve + i] += llrint(ldexp(ndcg[i], NDCG_BITS));
            p->group_judged[group * curve + i]++;
        }
    }
    for (uint32_t i = 0; i < p->n_policies; i++)
        add(&p->group_squares[(size_t)group * p->n_policies + i],
            square(p->units[(size_t)(i + 1) * p->n_checkpoints - 1]));
    p->group_done[group]++;
}

void results_add(oltr_results *results, uint32_t point, uint32_t replication, const curves *of)
{
    point_results *p = &results->point[point];
    for (size_t i = 0; i < (size_t)p->n_policies * p->n_checkpoints; i++) {
        p->units[i] = in_units(p, of->regret[i]);
        add(&p->at[i].regret, wide_of(p->units[i]));
        add(&p->at[i].regret_squares, square(p->units[i]));
        p->reward_units[i] = in_units(p, of->reward[i]);
        add(&p->at[i].reward, wide_of(p->reward_units[i]));
    }
    take_worst(p, p->units, 1);
    add_metrics(p, of->ndcg);
    add_pairs(p);
    if (p->n_groups > 1)
        add_to_group(p, replication % p->n_groups, of->ndcg);
    for (uint32_t i = 0; i < p->n_policies; i++)
        p->ns[i] += of->ns[i];
    p->whole[replication] = (unsigned char)(WHOLE | (of->saturated ? SATURATED : 0));
    p->done++;
}

static void merge_point(point_results *p, const point_results *from)
{
    for (size_t i = 0; i < p->n_sums; i++)
        add(&p->sums[i], from->sums[i]);
    take_worst(p, from->worst, from->done);
    for (size_t i = 0; i < GROUP_ARRAYS * p->group_curves; i++)
        p->group_regret[i] += from->group_regret[i];
    for (uint32_t i = 0; i < p->n_groups; i++)
        p->group_done[i] += from->group_done[i];
    for (uint32_t i = 0; i < p->n_policies; i++)
        p->ns[i] += from->ns[i];
    for (uint32_t i = 0; i < p->replications; i++)
        p->whole[i] |= from->whole[i];
    p->done += from->done;
}

oltr_status oltr_results_merge(oltr_results *into, const oltr_results *from, oltr_error *error)
{
    if (!into || !from)
        return set_error(error, OLTR_EINVAL, "two results are needed to merge");
    if (into->digest != from->digest)
        return set_error(error, OLTR_EMISMATCH,
                         "these are results of two experiments, or of one with two settings");
    for (uint32_t i = 0; i < into->n_points; i++)
        for (uint32_t j = 0; j < into->point[i].replications; j++)
            if (into->point[i].whole[j] && from->point[i].whole[j])
                return set_error(error, OLTR_EMISMATCH,
                                 "replication %u of point %u is in both results", j, i + 1);
    for (uint32_t i = 0; i < into->n_points; i++)
        merge_point(&into->point[i], &from->point[i]);
    return OLTR_OK;
}

uint32_t oltr_shard_replications(oltr_shard shard, uint32_t replications)
{
    if (shard.count < 2)
        return replications;
    return replications > shard.index ? (replications - shard.index - 1) / shard.count + 1 : 0;
}

/* ---- reading */

/* The sum of the squared distances from `centre` of n numbers with these sums, exactly: no
 * cancellation however large the mean. */
static double squared_distances(wide total, wide squares, uint32_t n, int64_t centre)
{
    wide c = wide_of(centre),
         nc = wide_multiply(c, wide_of(n)); /* terms may wrap, the sum does not */
    wide step = wide_subtract(wide_subtract(nc, total), total);
    return wide_double(wide_add(squares, wide_multiply(c, step)));
}

/* Mean of n numbers and its standard error, from their sums in units of 2^-scale. */
static oltr_estimate estimate(wide total, wide squares, uint32_t n, int scale)
{
    if (!n)
        return (oltr_estimate){.replications = 0};
    int64_t centre = (int64_t)wide_divide(total, n).low;
    wide rest = wide_subtract(total, wide_multiply(wide_of(centre), wide_of(n)));
    double offset = wide_double(rest) / n; /* mean - centre, below one unit */
    double around = squared_distances(total, squares, n, centre) - n * offset * offset;
    double variance = n > 1 ? fmax(0, around) / (n - 1) : 0;
    return (oltr_estimate){.mean = ldexp(wide_double(total) / n, -scale),
                           .se = ldexp(sqrt(variance / n), -scale),
                           .replications = n};
}

/* What groups are compared by: the difference of two of their sums, over how many replications.
 * Each points to the number of group 0. */
typedef struct group_series {
    const int64_t *sum, *less, *count; /* less NULL: 0; count NULL: all that are done */
} group_series;

static double group_sum(const point_results *p, const group_series *of, uint32_t group)
{
    size_t at = (size_t)group * p->n_policies * p->n_checkpoints;
    return of->less ? (double)of->sum[at] - (double)of->less[at] : (double)of->sum[at];
}

static uint32_t group_count(const point_results *p, const group_series *of, uint32_t group)
{
    size_t at = (size_t)group * p->n_policies * p->n_checkpoints;
    return of->count ? (uint32_t)of->count[at] : p->group_done[group];
}

/* The standard error of a mean over n replications that come in groups, from the spread between
 * groups, in units; `within` where fewer than two groups have any. */
static double between_groups(const point_results *p, const group_series *of, uint32_t n,
                             double within)
{
    double total = 0, squares = 0;
    uint32_t groups = 0;
    if (p->n_groups < 2)
        return within;
    for (uint32_t g = 0; g < p->n_groups; g++) {
        total += group_sum(p, of, g);
        groups += group_count(p, of, g) > 0;
    }
    if (groups < 2)
        return within;
    for (uint32_t g = 0; g < p->n_groups; g++) {
        double away = group_sum(p, of, g) - group_count(p, of, g) * (total / n);
        squares += away * away;
    }
    return sqrt(squares * groups / (groups - 1)) / n;
}

/* The estimate, with the error between groups. */
static oltr_estimate grouped(const point_results *p, oltr_estimate e, const group_series *of,
                             int scale)
{
    if (e.replications)
        e.se = ldexp(between_groups(p, of, e.replications, ldexp(e.se, scale)), -scale);
    return e;
}

/* The point, if it and the policy and the checkpoint are there. */
static const point_results *point_of(const oltr_results *results, uint32_t point, uint32_t policy,
                                     uint32_t checkpoint)
{
    if (!results || point >= results->n_points)
        return NULL;
    const point_results *p = &results->point[point];
    return policy < p->n_policies && checkpoint < p->n_checkpoints ? p : NULL;
}

/* The number of group 0. */
static const int64_t *group_at(const point_results *p, const int64_t *sums, uint32_t policy,
                               uint32_t checkpoint)
{
    return sums + (size_t)policy * p->n_checkpoints + checkpoint;
}

static const oltr_estimate no_estimate = {NAN, NAN, 0, {0, 0}};

oltr_outcome oltr_results_at(const oltr_results *results, uint32_t point, uint32_t policy,
                             uint32_t checkpoint)
{
    const point_results *p = point_of(results, point, policy, checkpoint);
    if (!p)
        return (oltr_outcome){.regret = NAN, .regret_se = NAN, .reward = NAN};
    if (!p->done)
        return (oltr_outcome){0, 0, 0, 0, {0, 0}};
    const tally *t = &p->at[(size_t)policy * p->n_checkpoints + checkpoint];
    group_series groups = {.sum = group_at(p, p->group_regret, policy, checkpoint)};
    oltr_estimate regret =
        grouped(p, estimate(t->regret, t->regret_squares, p->done, p->scale), &groups, p->scale);
    return (oltr_outcome){.regret = regret.mean,
                          .regret_se = regret.se,
                          .reward = ldexp(wide_double(t->reward) / p->done, -p->scale),
                          .replications = p->done};
}

oltr_estimate oltr_results_pair(const oltr_results *results, uint32_t point, uint32_t policy,
                                uint32_t other, uint32_t checkpoint)
{
    const point_results *p = point_of(results, point, policy, checkpoint);
    if (!p || other >= p->n_policies)
        return no_estimate;
    if (policy == other)
        return (oltr_estimate){.replications = p->done};
    uint32_t first = policy < other ? policy : other, second = policy < other ? other : policy;
    wide total = wide_subtract(p->at[(size_t)policy * p->n_checkpoints + checkpoint].regret,
                               p->at[(size_t)other * p->n_checkpoints + checkpoint].regret);
    wide squares =
        p->pair_squares[pair_index(p->n_policies, first, second) * p->n_checkpoints + checkpoint];
    group_series groups = {.sum = group_at(p, p->group_regret, policy, checkpoint),
                           .less = group_at(p, p->group_regret, other, checkpoint)};
    return grouped(p, estimate(total, squares, p->done, p->scale), &groups, p->scale);
}

/* The mean reward of the rounds since the checkpoint before. */
static oltr_estimate click_rate(const point_results *p, uint32_t policy, uint32_t checkpoint)
{
    const tally *t = &p->at[(size_t)policy * p->n_checkpoints + checkpoint];
    uint64_t before = checkpoint ? p->round[checkpoint - 1] : 0;
    wide gain = checkpoint ? wide_subtract(t->reward, t[-1].reward) : t->reward;
    group_series groups = {.sum = group_at(p, p->group_reward, policy, checkpoint)};
    groups.less = checkpoint ? groups.sum - 1 : NULL;
    oltr_estimate e =
        grouped(p, estimate(gain, t->gain_squares, p->done, p->scale), &groups, p->scale);
    e.mean /= (double)(p->round[checkpoint] - before);
    e.se /= (double)(p->round[checkpoint] - before);
    return e;
}

static oltr_estimate list_quality(const point_results *p, uint32_t policy, uint32_t checkpoint)
{
    const tally *t = &p->at[(size_t)policy * p->n_checkpoints + checkpoint];
    group_series groups = {.sum = group_at(p, p->group_ndcg, policy, checkpoint),
                           .count = group_at(p, p->group_judged, policy, checkpoint)};
    oltr_estimate e = estimate(t->ndcg, t->ndcg_squares, (uint32_t)t->judged.low, NDCG_BITS);
    return grouped(p, e, &groups, NDCG_BITS);
}

static oltr_estimate worst_regret(const point_results *p, uint32_t policy, uint32_t checkpoint)
{
    int64_t worst = p->worst[(size_t)policy * p->n_checkpoints + checkpoint];
    return (oltr_estimate){.mean = ldexp((double)worst, -p->scale), .replications = p->done};
}

oltr_estimate oltr_results_metric(const oltr_results *results, uint32_t point, uint32_t policy,
                                  uint32_t checkpoint, uint32_t metric)
{
    static oltr_estimate (*const read[])(const point_results *p, uint32_t policy,
                                         uint32_t checkpoint) = {
        [OLTR_CTR] = click_rate, [OLTR_NDCG] = list_quality, [OLTR_WORST] = worst_regret};
    const point_results *p = point_of(results, point, policy, checkpoint);
    if (!p || metric > OLTR_WORST)
        return no_estimate;
    oltr_estimate e = read[metric](p, policy, checkpoint);
    return e.replications ? e : no_estimate;
}

uint32_t oltr_results_groups(const oltr_results *results, uint32_t point)
{
    const point_results *p = point_of(results, point, 0, 0);
    return p ? p->n_groups : 0;
}

oltr_estimate oltr_results_in_group(const oltr_results *results, uint32_t point, uint32_t policy,
                                    uint32_t group)
{
    const point_results *p = point_of(results, point, policy, 0);
    if (!p || group >= p->n_groups)
        return no_estimate;
    if (p->n_groups < 2) {
        const tally *t = &p->at[(size_t)(policy + 1) * p->n_checkpoints - 1];
        return estimate(t->regret, t->regret_squares, p->done, p->scale);
    }
    size_t at = (size_t)group * p->n_policies + policy;
    return estimate(wide_of(p->group_regret[(at + 1) * p->n_checkpoints - 1]), p->group_squares[at],
                    p->group_done[group], p->scale);
}

double oltr_results_ns_per_round(const oltr_results *results, uint32_t point, uint32_t policy)
{
    const point_results *p = point_of(results, point, policy, 0);
    if (!p)
        return NAN;
    return p->done ? (double)p->ns[policy] / ((double)p->done * (double)p->rounds) : 0;
}

uint32_t oltr_results_saturated(const oltr_results *results, uint32_t point)
{
    const point_results *p = point_of(results, point, 0, 0);
    uint32_t count = 0;
    for (uint32_t i = 0; p && i < p->replications; i++)
        count += (p->whole[i] & SATURATED) != 0;
    return count;
}
