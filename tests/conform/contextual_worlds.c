/* contextual_worlds.c - can what is measured in worlds with features be trusted?
 *
 * Regret is only as good as the world it is measured in: the truth must be a truth (probabilities),
 * all policies must meet the same one, the features of a round may depend on nothing but the round,
 * and the same experiment must give the same bits however it is cut into threads, stops and files.
 * Where a policy's expected regret has a closed form it is computed here a second time.  And what
 * makes no sense must be refused, with words that say why. The statistical tests have fixed seeds
 * and bands of 6 standard errors: together a false-alarm rate below 1e-7.
 */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include "lab/world/world.h"

#include "conform/context_fixtures.h"

#include <unistd.h>

#include <oltr/sim.h>

enum { N = 10, SLOTS = 3, D = 4, CHECKPOINTS = 3, MOST_POLICIES = 8 };

static const uint64_t checkpoints[CHECKPOINTS] = {7, 50, 120};

/* ---- worlds and experiments */

typedef struct setup {
    const char *name;
    oltr_world world;
} setup;

static double attractions[N];
static float features[N * D];
static setup setups[10];
static uint32_t n_setups;

static void add_setup(const char *name, oltr_world world)
{
    assert_true(n_setups < COUNT(setups));
    world.n_items = N;
    world.dim = D;
    setups[n_setups++] = (setup){name, world};
}

static void make_setups(void)
{
    dice d = {5};
    for (uint32_t i = 0; i < N; i++) {
        attractions[i] = 0.05 + 0.6 * unit(&d);
        draw_row(&d, D, features + i * D);
    }
    add_setup("fixed", (oltr_world){.kind = "fixed",
                                    .clicks = "cascade",
                                    .attraction = attractions,
                                    .features = features});
    add_setup("linear", (oltr_world){.kind = "linear", .clicks = "cascade", .scale = 0.3});
    add_setup(
        "linear fresh",
        (oltr_world){.kind = "linear", .clicks = "cascade", .scale = 0.3, .fresh_contexts = 1});
    add_setup("logistic", (oltr_world){.kind = "logistic", .clicks = "cascade"});
    add_setup(
        "logistic sphere",
        (oltr_world){.kind = "logistic", .clicks = "cascade", .theta_on_sphere = 1, .scale = 3});
    add_setup("logistic fresh", (oltr_world){.kind = "logistic",
                                             .clicks = "cascade",
                                             .theta_on_sphere = 1,
                                             .fresh_contexts = 1,
                                             .scale = 5});
    add_setup("scalar",
              (oltr_world){.kind = "scalar", .clicks = "abandon", .abandon = 0.2, .noise_sd = 0.5});
    add_setup("scalar fresh", (oltr_world){.kind = "scalar",
                                           .clicks = "abandon",
                                           .abandon = 0.1,
                                           .noise_sd = 0.3,
                                           .theta_on_sphere = 1,
                                           .fresh_contexts = 1,
                                           .scale = 2});
    add_setup("scalar beta", (oltr_world){.kind = "scalar",
                                          .clicks = "abandon",
                                          .abandon = 0.3,
                                          .noise_sd = 0.2,
                                          .beta_noise = 1});
}

static int is_scalar(const setup *s)
{
    return strcmp(s->world.kind, "scalar") == 0;
}

typedef struct plan {
    oltr_contestant policy[MOST_POLICIES];
    oltr_experiment experiment;
} plan;

static void add_contestant(plan *p, const char *kind)
{
    oltr_contestant *c = &p->policy[p->experiment.n_policies++];
    c->label = kind;
    assert_int_equal(oltr_settings_init(&c->settings, kind, p->experiment.world.n_items, NULL),
                     OLTR_OK);
    if (c->settings.info->contextual)
        c->settings.dim = p->experiment.world.dim;
}

/* Fills in place: the experiment holds a pointer to its plan. */
static void make_plan(plan *p, const setup *s, uint32_t replications)
{
    memset(p, 0, sizeof *p);
    p->experiment = (oltr_experiment){.seed = 11,
                                      .rounds = checkpoints[CHECKPOINTS - 1],
                                      .slots = SLOTS,
                                      .replications = replications,
                                      .n_checkpoints = CHECKPOINTS,
                                      .checkpoint = checkpoints,
                                      .world = s->world,
                                      .policy = p->policy};
}

/* All policies with context that can learn in this world. */
static void add_all(plan *p, const setup *s)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        if (info->contextual && (!is_scalar(s) || info->rewards == OLTR_REALS))
            add_contestant(p, info->name);
    }
}

static oltr_results *run(const plan *p, uint32_t threads)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_run_options options = {.threads = threads};
    oltr_results *r = oltr_results_new(&p->experiment, 1, &error);
    if (!r || oltr_run(&p->experiment, 1, &options, r, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    return r;
}

static void assert_same_results(const plan *p, const oltr_results *x, const oltr_results *y)
{
    for (uint32_t i = 0; i < p->experiment.n_policies; i++)
        for (uint32_t c = 0; c < CHECKPOINTS; c++) {
            oltr_outcome one = oltr_results_at(x, 0, i, c), other = oltr_results_at(y, 0, i, c);
            assert_memory_equal(&one.regret, &other.regret, sizeof one.regret);
            assert_memory_equal(&one.regret_se, &other.regret_se, sizeof one.regret_se);
            assert_memory_equal(&one.reward, &other.reward, sizeof one.reward);
            assert_int_equal(one.replications, other.replications);
            assert_true(isfinite(one.regret) && one.regret >= 0);
        }
}

/* ---- the same bits */

static void threads_change_nothing(void **state)
{
    static const uint32_t threads[] = {2, 7};
    plan p;
    make_plan(&p, *state, 9);
    add_all(&p, *state);
    oltr_results *one = run(&p, 1);
    for (size_t i = 0; i < COUNT(threads); i++) {
        oltr_results *many = run(&p, threads[i]);
        assert_same_results(&p, one, many);
        oltr_results_free(many);
    }
    oltr_results_free(one);
}

/* Counts down, then stops the run. */
static int stop_soon(void *context)
{
    int *left = context;
    return --*left <= 0;
}

/* Stopped again and again, and each time continued from a file. */
static void stops_change_nothing(void **state)
{
    char path[] = "contextual_worlds_XXXXXX";
    plan p;
    oltr_error error = {OLTR_OK, ""};
    int stops = 0, file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    make_plan(&p, *state, 3);
    add_all(&p, *state);
    p.experiment.rounds = 600;
    oltr_results *whole = run(&p, 2), *parts = oltr_results_new(&p.experiment, 1, NULL);
    for (oltr_status status = OLTR_EINTERRUPTED; status == OLTR_EINTERRUPTED; stops++) {
        int left = 2 + stops;
        oltr_run_options options = {.threads = 1, .stop = stop_soon, .context = &left};
        status =
            oltr_run(&p.experiment, 1, stops < 500 ? &options : &(oltr_run_options){.threads = 1},
                     parts, &error);
        assert_true(status == OLTR_OK || status == OLTR_EINTERRUPTED);
        assert_int_equal(oltr_results_save(parts, path, &error), OLTR_OK);
        oltr_results_free(parts);
        parts = oltr_results_new(&p.experiment, 1, NULL);
        assert_int_equal(oltr_results_load(parts, path, &error), OLTR_OK);
    }
    assert_true(stops > 1);
    assert_same_results(&p, whole, parts);
    remove(path);
    oltr_results_free(whole);
    oltr_results_free(parts);
}

static int stop_at_once(void *context)
{
    ++*(int *)context;
    return 1;
}

/* Few rounds, many replications: "asked often" holds for them as well. */
static void short_runs_can_be_stopped(void **state)
{
    plan p;
    int asked = 0;
    oltr_run_options options = {.threads = 1, .stop = stop_at_once, .context = &asked};
    (void)state;
    make_plan(&p, &setups[1], 2000);
    add_contestant(&p, "lints");
    oltr_results *r = oltr_results_new(&p.experiment, 1, NULL);
    assert_int_equal(oltr_run(&p.experiment, 1, &options, r, NULL), OLTR_EINTERRUPTED);
    assert_true(asked >= 1 && oltr_results_at(r, 0, 0, 0).replications < 2000);
    oltr_results_free(r);
}

/* A result file of the same experiment with other features, or another scale, is another
 * experiment's. */
static void files_know_their_world(void **state)
{
    const setup *s = *state;
    char path[] = "contextual_worlds_XXXXXX";
    plan p, q;
    oltr_error error = {OLTR_OK, ""};
    int file = mkstemp(path);
    float moved[N * D];
    assert_true(file >= 0);
    close(file);
    make_plan(&p, s, 2);
    add_all(&p, s);
    make_plan(&q, s, 2);
    add_all(&q, s);
    memcpy(moved, features, sizeof moved);
    moved[N * D - 1] += 0.01F;
    if (s->world.features)
        q.experiment.world.features = moved;
    else
        q.experiment.world.scale = 0.27;
    oltr_results *r = run(&p, 1), *other = oltr_results_new(&q.experiment, 1, &error);
    assert_int_equal(oltr_results_save(r, path, &error), OLTR_OK);
    assert_int_not_equal(oltr_results_load(other, path, &error), OLTR_OK);
    assert_true(strlen(error.msg) > 10);
    remove(path);
    oltr_results_free(r);
    oltr_results_free(other);
}

/* Two contestants of one kind meet the same features, the same users and the same luck. */
static void equals_fare_alike(void **state)
{
    const setup *s = *state;
    plan p;
    make_plan(&p, s, 5);
    add_contestant(&p, "cascade-lints");
    add_contestant(&p, "lints");
    add_contestant(&p, "cascade-lints");
    oltr_results *r = run(&p, 2);
    for (uint32_t c = 0; c < CHECKPOINTS; c++) {
        oltr_outcome one = oltr_results_at(r, 0, 0, c), other = oltr_results_at(r, 0, 2, c);
        assert_memory_equal(&one.regret, &other.regret, sizeof one.regret);
        assert_memory_equal(&one.reward, &other.reward, sizeof one.reward);
    }
    oltr_results_free(r);
}

/* ---- the truth */

typedef struct truth {
    double attraction[N], a[N], b[N], theta[D];
    float x[N * D];
    instance as;
} truth;

static void draw_truth(const oltr_world *world, uint64_t replication, truth *out)
{
    memset(out, 0, sizeof *out);
    out->as = (instance){.n_items = N,
                         .attraction = out->attraction,
                         .a = out->a,
                         .b = out->b,
                         .dim = D,
                         .drawn = out->x,
                         .theta = out->theta};
    world_ops_of(world->kind, NULL)->draw(world, 11, replication, &out->as, NULL);
}

static void advance(const oltr_world *world, uint64_t replication, uint64_t round, truth *out)
{
    const world_ops *ops = world_ops_of(world->kind, NULL);
    if (ops->moves && ops->moves(world))
        ops->advance(world, 11, replication, round, &out->as, NULL);
}

/* What the world's name says of its features; at scale 1 to the rounding of a float. */
static void assert_truth(const setup *s, const truth *w)
{
    double scale = s->world.scale > 0 ? s->world.scale : 1;
    for (uint32_t i = 0; i < N; i++) {
        double z = 0, square = 0;
        for (uint32_t j = 0; j < D; j++) {
            z += scale * (double)w->as.x[i * D + j] * w->theta[j];
            square += (double)w->as.x[i * D + j] * (double)w->as.x[i * D + j];
        }
        double wanted = strcmp(s->world.kind, "logistic") == 0 ? logistic_of(z) : z;
        assert_true(near(w->attraction[i],
                         strcmp(s->world.kind, "fixed") == 0 ? attractions[i] : wanted, 1e-6));
        assert_true(is_scalar(s) || (w->attraction[i] >= 0 && w->attraction[i] <= 1));
        assert_true(square <= 1 + 1e-6);
    }
}

static void the_truth_is_as_described(void **state)
{
    const setup *s = *state;
    truth w;
    for (uint64_t replication = 0; replication < 50; replication++) {
        draw_truth(&s->world, replication, &w);
        assert_truth(s, &w);
        for (uint64_t round = 1; round <= 20; round++) {
            advance(&s->world, replication, round, &w);
            assert_truth(s, &w);
        }
    }
}

/* Attractions at the largest scale still are probabilities. */
static void probabilities_at_full_scale(void **state)
{
    truth w;
    (void)state;
    for (uint64_t replication = 0; replication < 2000; replication++) {
        oltr_world world = {.kind = "linear",
                            .n_items = N,
                            .clicks = "cascade",
                            .dim = D,
                            .scale = 1,
                            .fresh_contexts = 1};
        draw_truth(&world, replication, &w);
        for (uint64_t round = 0; round < 3; round++) {
            for (uint32_t i = 0; i < N; i++)
                assert_true(w.attraction[i] >= 0 && w.attraction[i] <= 1);
            advance(&world, replication, round + 1, &w);
        }
    }
}

/* Fresh contexts differ from round to round and from replication to replication, and come back when
 * asked for again; others stay. */
static void contexts_are_a_function_of_the_round(void **state)
{
    const setup *s = *state;
    truth one, other, later;
    draw_truth(&s->world, 3, &one);
    draw_truth(&s->world, 3, &other);
    draw_truth(&s->world, 4, &later);
    assert_memory_equal(one.theta, other.theta, sizeof one.theta);
    if (strcmp(s->world.kind, "fixed") != 0)
        assert_memory_not_equal(one.x, later.x, sizeof one.x);
    advance(&s->world, 3, 5, &one);
    advance(&s->world, 3, 6, &other);
    if (s->world.fresh_contexts)
        assert_memory_not_equal(one.x, other.x, sizeof one.x);
    advance(&s->world, 3, 5, &other); /* backwards, too */
    assert_memory_equal(one.x, other.x, sizeof one.x);
    assert_memory_equal(one.attraction, other.attraction, sizeof one.attraction);
    assert_memory_equal(one.theta, other.theta, sizeof one.theta);
}

/* And has a linear truth. */
static int draws_features(const setup *s)
{
    return strcmp(s->world.kind, "fixed") != 0;
}

/* Features at length 1, of a direction uniform on the cube: the ratio q of two of them is below r
 * with chance r / 2, and above 1 / r likewise, for r up to 1; items are independent.  Counts of
 * 40,000 within 6 standard errors. */
static void features_are_directions_of_the_cube(void **state)
{
    enum { ROUNDS = 4000, CUTS = 4 };
    static const double cut[CUTS] = {0.01, 0.1, 0.5, 1};
    const setup *s = *state;
    uint32_t below[CUTS] = {0}, above[CUTS] = {0}, alike = 0, n = N * ROUNDS;
    truth w;
    for (uint64_t t = 0; t < ROUNDS; t++) {
        draw_truth(&s->world, s->world.fresh_contexts ? 7 : t, &w);
        advance(&s->world, 7, t + 1, &w);
        for (uint32_t i = 0; i < N; i++) {
            const float *x = w.as.x + i * D, *next = w.as.x + (i + 1) % N * D;
            double q = (double)x[t % D] / (double)x[(t + 1) % D], square = 0;
            for (uint32_t j = 0; j < D; j++)
                square += (double)x[j] * (double)x[j];
            assert_true(near(square, 1, 3e-7));
            for (int c = 0; c < CUTS; c++) {
                below[c] += q < cut[c];
                above[c] += q > 1 / cut[c];
            }
            alike += (x[0] < x[1]) == (next[0] < next[1]);
        }
    }
    for (int c = 0; c < CUTS; c++) {
        double chance = cut[c] / 2, band = 6 * sqrt(n * chance * (1 - chance));
        assert_true(fabs(below[c] - n * chance) < band);
        assert_true(fabs(above[c] - n * chance) < band);
    }
    assert_true(fabs(alike - n * 0.5) < 6 * sqrt(n * 0.5));
}

/* ---- the regret of chance has a closed form */

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Cascade: 1 - the mean over all lists of three of the chance that none attracts, against the three
 * best. */
static double cascade_gap(const double *nu)
{
    double sorted[N], none = 0;
    int lists = 0;
    memcpy(sorted, nu, sizeof sorted);
    qsort(sorted, N, sizeof *sorted, falling);
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++)
            for (int k = j + 1; k < N; k++, lists++)
                none += (1 - nu[i]) * (1 - nu[j]) * (1 - nu[k]);
    return none / lists - (1 - sorted[0]) * (1 - sorted[1]) * (1 - sorted[2]);
}

/* Abandonment: slot k is read with chance (1 - abandon)^k. */
static double scalar_gap(const double *mean, double abandon)
{
    double sorted[N], average = 0, gap = 0, chance = 1;
    memcpy(sorted, mean, sizeof sorted);
    qsort(sorted, N, sizeof *sorted, falling);
    for (int i = 0; i < N; i++)
        average += mean[i] / N;
    for (int k = 0; k < SLOTS; k++, chance *= 1 - abandon)
        gap += chance * (sorted[k] - average);
    return gap;
}

static void the_regret_of_chance(void **state)
{
    enum { REPLICATIONS = 200 };
    const setup *s = *state;
    plan p;
    double expected[CHECKPOINTS] = {0};
    make_plan(&p, s, REPLICATIONS);
    add_contestant(&p, "random");
    for (uint64_t replication = 0; replication < REPLICATIONS; replication++) {
        truth w;
        double sum = 0;
        draw_truth(&s->world, replication, &w);
        for (uint64_t t = 1; t <= p.experiment.rounds; t++) {
            advance(&s->world, replication, t, &w);
            sum += is_scalar(s) ? scalar_gap(w.attraction, s->world.abandon)
                                : cascade_gap(w.attraction);
            for (int c = 0; c < CHECKPOINTS; c++)
                if (checkpoints[c] == t)
                    expected[c] += sum / REPLICATIONS;
        }
    }
    oltr_results *r = run(&p, 2);
    for (uint32_t c = 0; c < CHECKPOINTS; c++) {
        oltr_outcome got = oltr_results_at(r, 0, 0, c);
        if (fabs(got.regret - expected[c]) > 6 * got.regret_se + 1e-9)
            fail_msg("after %u rounds: regret %g, expected %g, standard error %g",
                     (uint32_t)checkpoints[c], got.regret, expected[c], got.regret_se);
    }
    oltr_results_free(r);
}

/* Whoever reads the features does better than chance. */
static void learning_helps(void **state)
{
    const setup *s = *state;
    plan p;
    make_plan(&p, s, 40);
    add_contestant(&p, "random");
    add_contestant(&p, "lints");
    add_contestant(&p, "cascade-lints");
    p.policy[1].settings.value[param_index(p.policy[1].settings.info, "radius")] =
        2; /* as released: the printed radius takes longer */
    oltr_results *r = run(&p, 2);
    for (uint32_t i = 1; i < 3; i++) {
        oltr_outcome chance = oltr_results_at(r, 0, 0, CHECKPOINTS - 1),
                     policy = oltr_results_at(r, 0, i, CHECKPOINTS - 1);
        if (policy.regret >= chance.regret)
            fail_msg("%s: regret %g, chance has %g", p.policy[i].label, policy.regret,
                     chance.regret);
    }
    oltr_results_free(r);
}

/* ---- what is refused */

/* Refused by the check and by the runner, with the word in the text. */
static void refuse(const plan *p, const char *word)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = oltr_experiment_check(&p->experiment, &error);
    if (status == OLTR_OK || error.code != status || !strstr(error.msg, word))
        fail_msg("%s: \"%s\" lacks \"%s\"", oltr_status_name(status), error.msg, word);
    oltr_results *r = oltr_results_new(&p->experiment, 1, NULL);
    if (r)
        assert_int_not_equal(
            oltr_run(&p->experiment, 1, &(oltr_run_options){.threads = 1}, r, NULL), OLTR_OK);
    oltr_results_free(r);
}

static const setup *setup_named(const char *name)
{
    for (uint32_t i = 0; i < n_setups; i++)
        if (strcmp(setups[i].name, name) == 0)
            return &setups[i];
    fail_msg("no setup %s", name);
    return NULL;
}

static void plan_with(plan *p, const char *name, const char *policy)
{
    make_plan(p, setup_named(name), 2);
    add_contestant(p, policy);
}

static void worlds_need_features(void **state)
{
    static const char *const names[] = {"linear", "logistic", "scalar"};
    plan p;
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        plan_with(&p, names[i], "random");
        p.experiment.world.dim = 0;
        refuse(&p, "dim");
        plan_with(&p, names[i], "lints");
        p.experiment.world.dim = 0;
        refuse(&p, "dim");
    }
}

/* The world knows how many features there are; a policy's own number is filled in from it. */
static void the_world_says_how_many_features(void **state)
{
    plan p, q;
    (void)state;
    plan_with(&p, "linear", "lints");
    plan_with(&q, "linear", "lints");
    q.policy[0].settings.dim = 0;
    oltr_results *one = run(&p, 1), *other = run(&q, 1);
    assert_same_results(&p, one, other);
    oltr_results_free(one);
    oltr_results_free(other);
}

static void attractions_must_be_probabilities(void **state)
{
    const double bad[] = {1.0001, 2, -1, (double)NAN, (double)INFINITY};
    plan p;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        plan_with(&p, "linear", "lints");
        p.experiment.world.scale = bad[i];
        refuse(&p, "scale");
    }
    plan_with(&p, "linear", "lints");
    p.experiment.world.theta_on_sphere = 1;
    refuse(&p, "theta");
}

static void features_must_be_numbers(void **state)
{
    const float bad[] = {(float)NAN, (float)INFINITY, -(float)INFINITY};
    float own[N * D];
    plan p;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        for (uint32_t at = 0; at < N * D; at += 13) {
            plan_with(&p, "fixed", "lints");
            memcpy(own, features, sizeof own);
            own[at] = bad[i];
            p.experiment.world.features = own;
            refuse(&p, "feature");
        }
    plan_with(&p, "fixed", "lints");
    p.experiment.world.features = NULL;
    refuse(&p, "features");
}

static void users_must_stay_a_while(void **state)
{
    const double bad[] = {1, 1.5, -0.1, (double)NAN};
    plan p;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        plan_with(&p, "scalar", "lints");
        p.experiment.world.abandon = bad[i];
        refuse(&p, "leave");
        plan_with(&p, "scalar", "lints");
        p.experiment.world.noise_sd = -1 - fabs(bad[i]);
        refuse(&p, "noise");
    }
    plan_with(&p, "scalar", "lints");
    p.experiment.world.clicks = "cascade";
    refuse(&p, "abandon");
}

static void context_needs_a_world_with_features(void **state)
{
    plan p;
    (void)state;
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        if (!info->contextual)
            continue;
        plan_with(&p, "linear", info->name);
        p.experiment.world = (oltr_world){.kind = "beta", .n_items = N, .clicks = "cascade"};
        refuse(&p, "features");
        p.policy[0].settings.dim = 0;
        refuse(&p, "features");
    }
}

static void clicks_only_policies_refuse_reals(void **state)
{
    plan p;
    (void)state;
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        plan_with(&p, "scalar", info->name);
        if (info->rewards == OLTR_CLICKS) {
            refuse(&p, info->name);
            refuse(&p, "clicks");
        }
    }
}

/* ---- the suite */

static void on_setups(suite *s, const char *check, CMUnitTestFunction test,
                      int (*applies)(const setup *))
{
    for (uint32_t i = 0; i < n_setups; i++)
        if (!applies || applies(&setups[i]))
            add_test(s, check, setups[i].name, test, &setups[i]);
}

#define ON_SETUPS(s, f) on_setups(s, #f, f, NULL)
#define ALONE(s, f) add_test(s, #f, "worlds with features", f, NULL)

int main(void)
{
    static suite all;
    make_setups();
    ON_SETUPS(&all, threads_change_nothing);
    ON_SETUPS(&all, stops_change_nothing);
    ON_SETUPS(&all, files_know_their_world);
    ON_SETUPS(&all, equals_fare_alike);
    ON_SETUPS(&all, the_truth_is_as_described);
    ON_SETUPS(&all, contexts_are_a_function_of_the_round);
    on_setups(&all, "features_are_directions_of_the_cube", features_are_directions_of_the_cube,
              draws_features);
    ON_SETUPS(&all, the_regret_of_chance);
    on_setups(&all, "learning_helps", learning_helps, draws_features);
    ALONE(&all, probabilities_at_full_scale);
    ALONE(&all, worlds_need_features);
    ALONE(&all, the_world_says_how_many_features);
    ALONE(&all, short_runs_can_be_stopped);
    ALONE(&all, attractions_must_be_probabilities);
    ALONE(&all, features_must_be_numbers);
    ALONE(&all, users_must_stay_a_while);
    ALONE(&all, context_needs_a_world_with_features);
    ALONE(&all, clicks_only_policies_refuse_reals);
    return cmocka_run_group_tests_name("worlds with features are worlds", all.test, NULL, NULL);
}
