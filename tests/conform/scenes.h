/* scenes.h - every world with every click model that it can have, and the policies that can play
 * there.
 *
 * A scene is the description of a world; a stage is an experiment in it.  Small sizes: a test runs
 * many of them.
 */
#ifndef CONFORM_SCENES_H
#define CONFORM_SCENES_H

#include "conform/fixtures.h"
#include "lab/world/world.h"

#include <oltr/sim.h>

enum { N = 8, SLOTS = 3, MOST_POLICIES = 32, MARKS = 5 };

static const uint64_t marks[MARKS] = {1, 3, 10, 50, 120};
static const double attraction[N] = {0.1, 0.4, 0.05, 0.3, 0.25, 0.6, 0, 0.15};
static const double shape_a[N] = {1, 4, 1, 3, 2, 6, 0.5, 2},
                    shape_b[N] = {9, 6, 19, 7, 8, 4, 9.5, 8};
static const float features[N * DIM] = {0.5F,  0.1F, -0.3F, 0.4F, 0.2F,  0.6F,  0.1F,  -0.2F,
                                        -0.4F, 0.3F, 0.7F,  0.1F, 0.3F,  0.3F,  0.3F,  0.3F,
                                        0.8F,  0,    0,     0.1F, -0.1F, 0.2F,  -0.5F, 0.6F,
                                        0.1F,  0.9F, 0,     0.2F, 0.6F,  -0.4F, 0.2F,  0.5F};

/* kind_values: a_max, instances_per_prior; low, high, prior_n; then prior_shift, prior_noise,
 * prior_order (1 permuted, 2 reversed), prior_weight, prior_share. */
static const double half_permuted[] = {0, 0, 0, 0, 1, 1, 0.5},
                    rare_and_noisy[] = {0.005, 0.8, 20, 2, 1, 0, 1, 1},
                    reversed_surely[] = {0, 0, 2, 10, 1};

/* click_values: leave, seen; satisfied, continue, seen. */
static const double patient[] = {0.3, OLTR_SEEN_FIRST - 1},
                    hasty[] = {0.7, 0.8, OLTR_SEEN_TRUE - 1};
static const double falling_leave[SLOTS] = {1, 0.6, 0.1}, uneven_slots[SLOTS] = {0.3, 0.9, 0.5};

typedef struct scene {
    const char *name;
    oltr_world world;
    bool tells; /* policies get a prior from it */
} scene;

#define GIVEN .attraction = attraction
#define PRIOR .prior_a = shape_a, .prior_b = shape_b
#define WITH_FEATURES .dim = DIM, .clicks = "cascade"
#define ABANDONED .dim = DIM, .clicks = "abandon"
/* The fifth is the link; the last five are of a right prior. */
static const double probit[] = {0, 0, 0, 0, 1, 0, 0, 0, 1, 1},
                    cloglog[] = {0, 0, 0, 0, 2, 0, 0, 0, 1, 1};
static const scene scenes[] = {
    {"beta", {.kind = "beta"}, true},
    {"beta, few shapes shared", {.kind = "beta", .a_max = 3, .instances_per_prior = 2}, true},
    {"beta, given prior", {.kind = "beta", PRIOR}, true},
    {"beta, wrong prior", {.kind = "beta", PRIOR, .misspecification = 2.5}, true},
    {"beta, half permuted", {.kind = "beta", .kind_values = half_permuted}, true},
    {"uniform", {.kind = "uniform"}, false},
    {"log-uniform, noisy prior", {.kind = "log-uniform", .kind_values = rare_and_noisy}, true},
    {"fixed", {.kind = "fixed", GIVEN}, false},
    {"fixed, given prior", {.kind = "fixed", GIVEN, PRIOR}, true},
    {"fixed, reversed prior",
     {.kind = "fixed", GIVEN, PRIOR, .kind_values = reversed_surely},
     true},
    {"fixed, impatient users", {.kind = "fixed", GIVEN, .examined_without_click = 2}, false},
    {"fixed, features", {.kind = "fixed", GIVEN, WITH_FEATURES, .features = features}, false},
    {"linear", {.kind = "linear", WITH_FEATURES, .scale = 0.3}, false},
    {"linear, fresh", {.kind = "linear", WITH_FEATURES, .scale = 0.3, .fresh_contexts = 1}, false},
    {"logistic", {.kind = "logistic", WITH_FEATURES}, false},
    {"logistic, sphere",
     {.kind = "logistic", WITH_FEATURES, .theta_on_sphere = 1, .scale = 3},
     false},
    {"logistic, fresh",
     {.kind = "logistic", WITH_FEATURES, .theta_on_sphere = 1, .fresh_contexts = 1, .scale = 5},
     false},
    {"logistic, probit",
     {.kind = "logistic", WITH_FEATURES, .theta_on_sphere = 1, .scale = 2, .kind_values = probit},
     false},
    {"logistic, cloglog, fresh",
     {.kind = "logistic",
      WITH_FEATURES,
      .theta_on_sphere = 1,
      .fresh_contexts = 1,
      .scale = 2,
      .kind_values = cloglog},
     false},
    {"scalar", {.kind = "scalar", ABANDONED, .abandon = 0.2, .noise_sd = 0.5}, false},
    {"scalar, fresh",
     {.kind = "scalar",
      ABANDONED,
      .abandon = 0.1,
      .noise_sd = 0.3,
      .theta_on_sphere = 1,
      .fresh_contexts = 1,
      .scale = 2},
     false},
    {"scalar, beta noise",
     {.kind = "scalar", ABANDONED, .abandon = 0.3, .noise_sd = 0.2, .beta_noise = 1},
     false},
    {"beta, jumping", {.kind = "beta", .drift_jump = 0.05}, true},
    {"fixed, walking and jumping",
     {.kind = "fixed", GIVEN, .drift_walk = 0.2, .drift_jump = 0.02},
     false},
    {"log-uniform, walking, dcm",
     {.kind = "log-uniform", .clicks = "dcm", .drift_walk = 0.5},
     false},
    {"beta, dcm", {.kind = "beta", .clicks = "dcm"}, true},
    {"fixed, dcm, patient users",
     {.kind = "fixed", GIVEN, .clicks = "dcm", .click_values = patient},
     false},
    {"fixed, dcm, leave by slot",
     {.kind = "fixed", GIVEN, .clicks = "dcm", .slot_chance = falling_leave},
     false},
    {"uniform, pbm", {.kind = "uniform", .clicks = "pbm"}, false},
    {"fixed, pbm, uneven slots",
     {.kind = "fixed", GIVEN, .clicks = "pbm", .slot_chance = uneven_slots},
     false},
    {"beta, dbn", {.kind = "beta", .clicks = "dbn"}, true},
    {"logistic, fresh, dbn, hasty users",
     {.kind = "logistic",
      .dim = DIM,
      .clicks = "dbn",
      .theta_on_sphere = 1,
      .fresh_contexts = 1,
      .scale = 5,
      .click_values = hasty},
     false},
};
enum { SCENES = COUNT(scenes) };

static inline oltr_world world_of(const scene *s)
{
    oltr_world world = s->world;
    world.n_items = N;
    if (!world.clicks)
        world.clicks = "cascade";
    return world;
}

static inline const scene *scene_named(const char *name)
{
    for (size_t i = 0; i < SCENES; i++)
        if (strcmp(scenes[i].name, name) == 0)
            return &scenes[i];
    fail_msg("there is no scene %s", name);
    return NULL;
}

static inline bool is_scalar(const scene *s)
{
    return strcmp(s->world.kind, "scalar") == 0;
}

static inline bool draws_features(const scene *s)
{
    return s->world.dim && !s->world.features;
}

static inline bool has_clicks(const oltr_world *world, const char *name)
{
    return strcmp(world->clicks, name) == 0;
}

/* Users who click more than once, or do not scan from the top. */
static inline bool browses(const scene *s)
{
    oltr_world world = world_of(s);
    return click_ops_of(world.clicks, NULL)->browse != NULL;
}

/* ---- experiments */

typedef struct stage {
    const scene *scene;
    oltr_contestant policy[MOST_POLICIES];
    char label[MOST_POLICIES][64];
    oltr_experiment e;
} stage;

static const oltr_learning readings[] = {
    {.seen = OLTR_SEEN_LAST},
    {.seen = OLTR_SEEN_TRUE},
    {.seen = OLTR_SEEN_FIRST},
    {.seen = OLTR_SEEN_ALL},
};

static inline oltr_contestant *add_policy(stage *s, const char *kind)
{
    uint32_t n = s->e.n_policies++;
    oltr_contestant *c = &s->policy[n];
    assert_true(n < MOST_POLICIES);
    expect(oltr_settings_init(&c->settings, kind, N, NULL), OLTR_OK);
    c->settings.dim = c->settings.info->contextual ? s->e.world.dim : 0;
    if (strcmp(kind, "pg-ts") == 0) /* half of the time of these tests would go into its sweeps */
        expect(oltr_settings_set(&c->settings, "sweeps", "1", NULL), OLTR_OK);
    snprintf(s->label[n], sizeof s->label[n], "%s %u", kind, n);
    c->label = s->label[n];
    if (has_clicks(&s->e.world, "pbm") && !c->settings.info->knows_slots)
        c->learning = &readings[n % COUNT(readings)]; /* else it is refused */
    return c;
}

/* Fills in place: the experiment points to its stage. */
static inline void set_stage(stage *s, const scene *from)
{
    memset(s, 0, sizeof *s);
    s->scene = from;
    s->e = (oltr_experiment){.seed = 11,
                             .rounds = marks[MARKS - 1],
                             .slots = SLOTS,
                             .replications = 9,
                             .n_checkpoints = MARKS,
                             .checkpoint = marks,
                             .world = world_of(from),
                             .policy = s->policy};
}

/* A stage of ten rounds with one policy. */
static inline void set_small_stage(stage *s, const char *name, const char *kind)
{
    set_stage(s, scene_named(name));
    s->e.seed = 5;
    s->e.rounds = 10;
    s->e.slots = 2;
    s->e.replications = 4;
    s->e.n_checkpoints = 3;
    add_policy(s, kind);
}

/* Every kind that fits: with features where there are some, else without; also with all that it
 * takes from a prior. */
static inline void add_policies(stage *s)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        if ((info->contextual != 0) != (s->e.world.dim > 0) ||
            (is_scalar(s->scene) && info->rewards == OLTR_CLICKS))
            continue;
        add_policy(s, info->name);
        if (s->scene->tells && info->uses_prior)
            expect(oltr_settings_set(&add_policy(s, info->name)->settings, "prior", "full", NULL),
                   OLTR_OK);
    }
}

static inline oltr_results *new_results(const oltr_experiment *points, uint32_t n)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_results *r = oltr_results_new(points, n, &error);
    if (!r)
        fail_msg("%s", error.msg);
    return r;
}

static inline oltr_results *run(const oltr_experiment *points, uint32_t n, uint32_t threads)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_results *r = new_results(points, n);
    oltr_run_options options = {.threads = threads};
    if (oltr_run(points, n, &options, r, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    return r;
}

static inline bool same_double(double x, double y)
{
    return memcmp(&x, &y, sizeof x) == 0;
}

static inline bool same_outcome(oltr_outcome x, oltr_outcome y)
{
    return same_double(x.regret, y.regret) && same_double(x.regret_se, y.regret_se) &&
           same_double(x.reward, y.reward) && x.replications == y.replications;
}

static inline bool same_metrics(const oltr_results *x, const oltr_results *y, uint32_t point,
                                uint32_t policy, uint32_t mark)
{
    bool same = true;
    for (uint32_t metric = 0; metric <= OLTR_NDCG; metric++) {
        oltr_estimate a = oltr_results_metric(x, point, policy, mark, metric),
                      b = oltr_results_metric(y, point, policy, mark, metric);
        same &= memcmp(&a.mean, &b.mean, sizeof a.mean) == 0 &&
                memcmp(&a.se, &b.se, sizeof a.se) == 0 && a.replications == b.replications;
    }
    return same;
}

static inline void assert_same_results(const oltr_experiment *points, uint32_t n,
                                       const oltr_results *x, const oltr_results *y)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < points[i].n_policies; j++)
            for (uint32_t m = 0; m < points[i].n_checkpoints; m++)
                if (!same_outcome(oltr_results_at(x, i, j, m), oltr_results_at(y, i, j, m)) ||
                    !same_metrics(x, y, i, j, m))
                    fail_msg("point %u, %s: the results differ at checkpoint %u", i,
                             points[i].policy[j].label, m);
}

/* ---- the truth of one replication */

typedef struct truth {
    double attraction[N], a[N], b[N], mean[N], sd[N], theta[DIM];
    float x[N * DIM];
    oltr_instance as;
} truth;

static inline void draw_truth(const oltr_world *world, uint64_t seed, uint64_t replication,
                              truth *out)
{
    memset(out, 0, sizeof *out);
    out->as = (oltr_instance){.n_items = N,
                              .attraction = out->attraction,
                              .a = out->a,
                              .b = out->b,
                              .mean = out->mean,
                              .sd = out->sd,
                              .dim = world->dim,
                              .drawn = out->x,
                              .theta = out->theta};
    world_ops_of(world->kind, NULL)->draw(world, seed, replication, &out->as, NULL);
}

static inline bool moves(const oltr_world *world)
{
    const oltr_world_ops *ops = world_ops_of(world->kind, NULL);
    return ops->moves && ops->moves(world);
}

static inline void advance(const oltr_world *world, uint64_t seed, uint64_t replication,
                           uint64_t round, truth *out)
{
    if (moves(world))
        world_ops_of(world->kind, NULL)->advance(world, seed, replication, round, &out->as, NULL);
}

static inline int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The chance that none of the k most attractive items is clicked. */
static inline double best_no_click(const double *nu, uint32_t k)
{
    double product = 1, sorted[N];
    memcpy(sorted, nu, sizeof sorted);
    qsort(sorted, N, sizeof *sorted, falling);
    for (uint32_t slot = 0; slot < k; slot++)
        product *= 1 - sorted[slot];
    return product;
}

/* ---- click models, by their definitions */

/* What the users of a world do in a slot: the chance to leave after a click or to be satisfied, to
 * go on otherwise, and whether one slot depends on those above. */
typedef struct slot_users {
    double leave, go_on, examine;
} slot_users;

static inline slot_users users_of(const oltr_world *world, uint32_t slot)
{
    const double *values = world->click_values, *of_slot = world->slot_chance;
    if (has_clicks(world, "dcm"))
        return (slot_users){of_slot ? of_slot[slot] : values ? values[0] : 0.5, 1, 1};
    if (has_clicks(world, "dbn"))
        return (slot_users){values ? values[0] : 0.5, values ? values[1] : 0.9, 1};
    if (has_clicks(world, "pbm"))
        return (slot_users){0, 1, of_slot ? of_slot[slot] : 1.0 / (slot + 1)};
    return (slot_users){1, 1, 1};
}

/* The chance that each slot of a list is examined. */
static inline void chances_to_be_seen(const oltr_world *world, const double *nu,
                                      const uint32_t *item, uint32_t k, double *seen)
{
    double there = 1;
    for (uint32_t slot = 0; slot < k; slot++) {
        slot_users u = users_of(world, slot);
        seen[slot] = there * u.examine;
        there *= (1 - nu[item[slot]] * u.leave) * u.go_on;
    }
}

/* The reward is satisfaction, or the number of clicks of pbm. */
static inline double list_value(const oltr_world *world, const double *nu, const uint32_t *item,
                                uint32_t k)
{
    double seen[SLOTS], sum = 0;
    chances_to_be_seen(world, nu, item, k, seen);
    for (uint32_t slot = 0; slot < k; slot++)
        sum += seen[slot] * nu[item[slot]] *
               (has_clicks(world, "pbm") ? 1 : users_of(world, slot).leave);
    return sum;
}

/* The best and the mean value of all lists of three items.  The chances of a slot do not depend on
 * the items below it, so a list is built slot by slot. */
static inline double best_of_all_lists(const oltr_world *world, const double *nu, double *mean)
{
    const double clicks = has_clicks(world, "pbm");
    slot_users u[SLOTS];
    double most = 0, sum = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        u[slot] = users_of(world, slot);
    for (uint32_t code = 0; code < N * N * N; code++) {
        const uint32_t item[SLOTS] = {code % N, code / N % N, code / N / N};
        double there = 1, value = 0;
        if (item[0] == item[1] || item[0] == item[2] || item[1] == item[2])
            continue;
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            double x = nu[item[slot]] * u[slot].leave;
            value += there * (clicks > 0 ? u[slot].examine * nu[item[slot]] : x);
            there *= (1 - x) * u[slot].go_on;
        }
        most = fmax(most, value);
        sum += value;
    }
    *mean = sum / (N * (N - 1) * (N - 2));
    return most;
}

#define ON_SCENES(all, f, applies)                                                                 \
    for (size_t at = 0; at < SCENES; at++)                                                         \
        if (applies(&scenes[at]))                                                                  \
    add_test(all, #f, scenes[at].name, f, &scenes[at])

#endif
