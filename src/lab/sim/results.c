/* results.c - regret curves: made, added to, added together, and read. */
#include "lab/sim/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/bytes.h"
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

/* ---- what the results belong to */

static void put_text(writer *w, const char *text)
{
    put_u64(w, strlen(text));
    put_bytes(w, text, strlen(text));
}

static void put_optional(writer *w, const double *x, size_t n)
{
    put_u32(w, x != NULL);
    if (x)
        put_f64s(w, x, n);
}

static void put_features(writer *w, const oltr_world *world)
{
    const double numbers[] = {world->dim,       world->fresh_contexts, world->theta_on_sphere,
                              world->scale,     world->abandon,        world->noise_sd,
                              world->beta_noise};
    put_f64s(w, numbers, sizeof numbers / sizeof *numbers);
    for (size_t i = 0; world->features && i < (size_t)world->n_items * world->dim; i++) {
        double feature = (double)world->features[i];
        put_f64s(w, &feature, 1);
    }
}

/* Parameters without a field of their own. */
static void put_values(writer *w, const world_param *params, uint32_t n, const double *values)
{
    for (uint32_t i = 0; i < n; i++) {
        double value = oltr_world_value(params, values, i);
        if (!params[i].field)
            put_f64s(w, &value, 1);
    }
}

/* Rows are many: their checksum stands for them. */
static void put_dataset(writer *w, const oltr_dataset *data)
{
    put_u32(w, data->n_queries);
    put_u32(w, data->n_rows);
    put_u32(w, data->dim);
    for (uint32_t q = 0; q < data->n_queries; q++) {
        put_u64(w, data->query[q]);
        put_u32(w, data->first_row[q + 1]);
    }
    put_u64(w, w->at ? crc64(data->x, (size_t)data->n_rows * data->dim * sizeof *data->x) : 0);
}

static void put_policy(writer *w, const oltr_contestant *c)
{
    put_text(w, c->label);
    put_text(w, c->settings.info->name);
    put_f64s(w, c->settings.value, c->settings.info->n_params);
    if (c->settings.custom_bytes) {
        put_u64(w, c->settings.custom_bytes);
        put_bytes(w, c->settings.custom, c->settings.custom_bytes);
    }
}

/* Every field of a world has its place here, whatever the kind.  A new parameter needs none: it is
 * in kind_values or click_values. */
static void put_experiment(writer *w, const oltr_experiment *e)
{
    const world_ops *kind = world_kind(&e->world, NULL);
    const click_ops *clicks = world_clicks(&e->world, NULL);
    put_u64(w, e->seed);
    put_u64(w, e->rounds);
    put_u32(w, e->slots);
    put_u32(w, e->replications);
    put_u32(w, e->n_checkpoints);
    for (uint32_t i = 0; i < e->n_checkpoints; i++)
        put_u64(w, e->checkpoint[i]);
    put_text(w,
             kind ? kind->info.name : ""); /* oltr_run() may get other points than were checked */
    put_u32(w, e->world.n_items);
    put_text(w, clicks ? clicks->info.name : "");
    put_u32(w, e->world.examined_without_click);
    put_f64s(w, &e->world.misspecification, 1);
    size_t given = e->world.dataset ? e->world.dataset->n_rows : e->world.n_items;
    put_optional(w, e->world.prior_a, given);
    put_optional(w, e->world.prior_b, given);
    put_optional(w, e->world.prior_mean, given);
    put_optional(w, e->world.prior_sd, given);
    put_u32(w, e->world.a_max);
    put_u32(w, e->world.instances_per_prior);
    put_optional(w, e->world.attraction, given);
    put_features(w, &e->world);
    if (e->world.dataset)
        put_dataset(w, e->world.dataset);
    put_u64(w, e->world.custom_bytes);
    put_bytes(w, e->world.custom, e->world.custom_bytes);
    if (kind)
        put_values(w, kind->params, kind->n_params, e->world.kind_values);
    if (clicks)
        put_values(w, clicks->params, clicks->n_params, e->world.click_values);
    put_u32(w, e->n_policies);
    for (uint32_t i = 0; i < e->n_policies; i++)
        put_policy(w, &e->policy[i]);
}

uint64_t experiment_digest(const oltr_experiment *points, uint32_t n_points)
{
    writer w = {NULL, 0, 0};
    uint64_t digest = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) {
            w = (writer){malloc(w.used), w.used, 0};
            if (!w.at)
                return 0;
        }
        put_text(&w, oltr_version()); /* another version may play otherwise */
        put_u32(&w, n_points);
        for (uint32_t i = 0; i < n_points; i++)
            put_experiment(&w, &points[i]);
    }
    digest = crc64(w.at, w.used) | 1;
    free(w.at);
    return digest;
}

/* ---- life */

static int make_groups(point_results *p)
{
    size_t policies = (size_t)p->n_groups * p->n_policies;
    p->group_regret = calloc(policies * p->n_checkpoints, sizeof *p->group_regret);
    p->group_squares = calloc(policies, sizeof *p->group_squares);
    p->group_done = calloc(p->n_groups, sizeof *p->group_done);
    return p->group_regret && p->group_squares && p->group_done;
}

static int make_point(point_results *p, const oltr_experiment *e)
{
    *p = (point_results){.n_policies = e->n_policies,
                         .n_checkpoints = e->n_checkpoints,
                         .replications = e->replications,
                         .n_groups = world_groups(&e->world),
                         .scale = scale_of(e),
                         .rounds = e->rounds};
    p->at = calloc((size_t)e->n_policies * e->n_checkpoints, sizeof *p->at);
    p->pair_squares =
        calloc(pair_count(e->n_policies) * e->n_checkpoints + 1, sizeof *p->pair_squares);
    p->units = calloc((size_t)e->n_policies * e->n_checkpoints, sizeof *p->units);
    p->ns = calloc(e->n_policies, sizeof *p->ns);
    p->whole = calloc(e->replications, 1);
    return p->at && p->pair_squares && p->units && p->ns && p->whole &&
           (p->n_groups == 1 || make_groups(p));
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
    int made = r && r->point;
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
        free(p->at);
        free(p->pair_squares);
        free(p->group_regret);
        free(p->group_squares);
        free(p->group_done);
        free(p->units);
        free(p->ns);
        free(p->whole);
    }
    free(results->point);
    free(results);
}

static void clear(void *array, size_t count, size_t size)
{
    if (array)
        memset(array, 0, count * size);
}

void results_clear(oltr_results *results)
{
    for (uint32_t i = 0; i < results->n_points; i++) {
        point_results *p = &results->point[i];
        size_t policies = (size_t)p->n_groups * p->n_policies;
        clear(p->at, (size_t)p->n_policies * p->n_checkpoints, sizeof *p->at);
        clear(p->pair_squares, pair_count(p->n_policies) * p->n_checkpoints,
              sizeof *p->pair_squares);
        clear(p->group_regret, policies * p->n_checkpoints, sizeof *p->group_regret);
        clear(p->group_squares, policies, sizeof *p->group_squares);
        clear(p->group_done, p->n_groups, sizeof *p->group_done);
        clear(p->ns, p->n_policies, sizeof *p->ns);
        clear(p->whole, p->replications, 1);
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

static void add_to_group(point_results *p, uint32_t group)
{
    size_t curve = (size_t)p->n_policies * p->n_checkpoints;
    for (size_t i = 0; i < curve; i++)
        p->group_regret[group * curve + i] += p->units[i];
    for (uint32_t i = 0; i < p->n_policies; i++)
        add(&p->group_squares[(size_t)group * p->n_policies + i],
            square(p->units[(size_t)(i + 1) * p->n_checkpoints - 1]));
    p->group_done[group]++;
}

void results_add(oltr_results *results, uint32_t point, uint32_t replication, const double *regret,
                 const double *reward, const uint64_t *ns, int saturated)
{
    point_results *p = &results->point[point];
    for (size_t i = 0; i < (size_t)p->n_policies * p->n_checkpoints; i++) {
        p->units[i] = in_units(p, regret[i]);
        add(&p->at[i].regret, wide_of(p->units[i]));
        add(&p->at[i].regret_squares, square(p->units[i]));
        add(&p->at[i].reward, wide_of(in_units(p, reward[i])));
    }
    add_pairs(p);
    if (p->n_groups > 1)
        add_to_group(p, replication % p->n_groups);
    for (uint32_t i = 0; i < p->n_policies; i++)
        p->ns[i] += ns[i];
    p->whole[replication] = (unsigned char)(WHOLE | (saturated ? SATURATED : 0));
    p->done++;
}

static void merge_groups(point_results *p, const point_results *from)
{
    size_t policies = (size_t)p->n_groups * p->n_policies;
    for (size_t i = 0; i < policies * p->n_checkpoints; i++)
        p->group_regret[i] += from->group_regret[i];
    for (size_t i = 0; i < policies; i++)
        add(&p->group_squares[i], from->group_squares[i]);
    for (uint32_t i = 0; i < p->n_groups; i++)
        p->group_done[i] += from->group_done[i];
}

static void merge_point(point_results *p, const point_results *from)
{
    for (size_t i = 0; i < (size_t)p->n_policies * p->n_checkpoints; i++) {
        add(&p->at[i].regret, from->at[i].regret);
        add(&p->at[i].regret_squares, from->at[i].regret_squares);
        add(&p->at[i].reward, from->at[i].reward);
    }
    for (size_t i = 0; i < pair_count(p->n_policies) * p->n_checkpoints; i++)
        add(&p->pair_squares[i], from->pair_squares[i]);
    if (p->n_groups > 1)
        merge_groups(p, from);
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

#define NOBODY UINT32_MAX

static double group_sum(const point_results *p, uint32_t group, uint32_t policy, uint32_t other,
                        uint32_t checkpoint)
{
    const int64_t *regret =
        p->group_regret + (size_t)group * p->n_policies * p->n_checkpoints + checkpoint;
    double sum = (double)regret[(size_t)policy * p->n_checkpoints];
    return other == NOBODY ? sum : sum - (double)regret[(size_t)other * p->n_checkpoints];
}

/* The standard error of a mean over replications that come in groups, from the spread between
 * groups; `within` where fewer than two groups have any. */
static double between_groups(const point_results *p, uint32_t policy, uint32_t other,
                             uint32_t checkpoint, double within)
{
    double total = 0, squares = 0;
    uint32_t groups = 0;
    if (p->n_groups < 2)
        return within;
    for (uint32_t g = 0; g < p->n_groups; g++) {
        total += group_sum(p, g, policy, other, checkpoint);
        groups += p->group_done[g] > 0;
    }
    if (groups < 2)
        return within;
    for (uint32_t g = 0; g < p->n_groups; g++) {
        double away =
            group_sum(p, g, policy, other, checkpoint) - p->group_done[g] * (total / p->done);
        squares += away * away;
    }
    return ldexp(sqrt(squares * groups / (groups - 1)) / p->done, -p->scale);
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
    oltr_estimate regret = estimate(t->regret, t->regret_squares, p->done, p->scale);
    return (oltr_outcome){.regret = regret.mean,
                          .regret_se = between_groups(p, policy, NOBODY, checkpoint, regret.se),
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
    oltr_estimate difference = estimate(total, squares, p->done, p->scale);
    difference.se = between_groups(p, policy, other, checkpoint, difference.se);
    return difference;
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
