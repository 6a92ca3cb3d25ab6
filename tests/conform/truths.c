/* truths.c - what worlds draw, how users read, and regrets that have a closed form.
 *
 * The truth must be as described (attractions are probabilities, features depend on the round
 * alone), and where the expected regret of a policy has a closed form the simulator must meet it.
 * Seeds are fixed; each statistical bound is five standard errors or more, a false-alarm rate below
 * 6e-7 each.
 */
#define _POSIX_C_SOURCE 200809L
#include "conform/scenes.h"

/* ---- the truth of worlds with features */

static double chance(const oltr_world *world, double z)
{
    const double *link = world->kind_values;
    return link == probit    ? erfc(-z / sqrt(2)) / 2
           : link == cloglog ? -expm1(-exp(z))
                             : 1 / (1 + exp(-z));
}

/* Attractions follow from the features as the name of the world says. */
static void assert_truth(const scene *s, const truth *w)
{
    double scale = s->world.scale > 0 ? s->world.scale : 1;
    for (uint32_t i = 0; i < N; i++) {
        double z = 0, square = 0, wanted;
        for (uint32_t j = 0; j < DIM; j++) {
            double x = (double)w->as.x[i * DIM + j];
            z += scale * x * w->theta[j];
            square += x * x;
        }
        wanted = strcmp(s->world.kind, "logistic") == 0 ? chance(&s->world, z) : z;
        assert_true(near(w->attraction[i], s->world.attraction ? attraction[i] : wanted, 1e-6));
        assert_true(is_scalar(s) || (w->attraction[i] >= 0 && w->attraction[i] <= 1));
        assert_true(!draws_features(s) || square <= 1 + 1e-6);
    }
}

static void the_truth_is_as_described(void **state)
{
    const scene *s = *state;
    oltr_world world = world_of(s);
    truth w;
    for (uint64_t replication = 0; replication < 50; replication++) {
        draw_truth(&world, 11, replication, &w);
        assert_truth(s, &w);
        for (uint64_t round = 1; round <= 20; round++) {
            advance(&world, 11, replication, round, &w);
            assert_truth(s, &w);
        }
    }
}

/* Policies of a logistic world are told Beta priors whose means are the attractions. */
static void logistic_priors_have_the_true_means(void **state)
{
    const scene *s = *state;
    oltr_world world = world_of(s);
    truth w;
    for (uint64_t replication = 0; replication < 50; replication++) {
        draw_truth(&world, 11, replication, &w);
        assert_int_equal(w.as.tells, !world.fresh_contexts);
        for (uint32_t i = 0; i < N; i++)
            assert_true(w.b[i] == 10 && near(w.a[i] / (w.a[i] + w.b[i]), w.attraction[i], 1e-12));
    }
}

static bool is_logistic(const scene *s)
{
    return strcmp(s->world.kind, "logistic") == 0;
}

/* Attractions at the largest scale still are probabilities. */
static void probabilities_at_full_scale(void **state)
{
    oltr_world world = world_of(scene_named("linear, fresh"));
    truth w;
    world.scale = 1;
    for (uint64_t replication = 0; replication < 2000; replication++) {
        draw_truth(&world, 11, replication, &w);
        for (uint64_t round = 0; round < 3; round++) {
            for (uint32_t i = 0; i < N; i++)
                assert_true(w.attraction[i] >= 0 && w.attraction[i] <= 1);
            advance(&world, 11, replication, round + 1, &w);
        }
    }
}

/* Fresh features differ between rounds and replications, and are the same when asked for again;
 * others stay. */
static void features_are_a_function_of_the_round(void **state)
{
    const scene *s = *state;
    oltr_world world = world_of(s);
    truth one, other, later;
    draw_truth(&world, 11, 3, &one);
    draw_truth(&world, 11, 3, &other);
    draw_truth(&world, 11, 4, &later);
    assert_memory_equal(one.theta, other.theta, sizeof one.theta);
    if (draws_features(s))
        assert_memory_not_equal(one.x, later.x, sizeof one.x);
    for (uint64_t round = 7; round >= 5; round--) { /* backwards, too */
        advance(&world, 11, 3, round, &one);
        advance(&world, 11, 3, round + 1, &other);
        if (s->world.fresh_contexts)
            assert_memory_not_equal(one.x, other.x, sizeof one.x);
    }
    advance(&world, 11, 3, 5, &other);
    assert_memory_equal(one.x, other.x, sizeof one.x);
    assert_memory_equal(one.attraction, other.attraction, sizeof one.attraction);
    assert_memory_equal(one.theta, other.theta, sizeof one.theta);
}

/* Features at length 1, of a direction uniform on the cube: the ratio q of two of them is below r
 * with chance r / 2, and above 1 / r likewise, for r up to 1; items are independent. */
static void features_are_directions_of_the_cube(void **state)
{
    enum { ROUNDS = 5000, CUTS = 4 };
    static const double cut[CUTS] = {0.01, 0.1, 0.5, 1};
    const scene *s = *state;
    oltr_world world = world_of(s);
    uint32_t low[CUTS] = {0}, high[CUTS] = {0}, alike = 0, n = N * ROUNDS;
    truth w;
    for (uint64_t t = 0; t < ROUNDS; t++) {
        draw_truth(&world, 11, world.fresh_contexts ? 7 : t, &w);
        advance(&world, 11, 7, t + 1, &w);
        for (uint32_t i = 0; i < N; i++) {
            const float *x = w.as.x + i * DIM, *next = w.as.x + (i + 1) % N * DIM;
            double q = (double)x[t % DIM] / (double)x[(t + 1) % DIM], square = 0;
            for (uint32_t j = 0; j < DIM; j++)
                square += (double)x[j] * (double)x[j];
            assert_true(near(square, 1, 3e-7));
            for (int c = 0; c < CUTS; c++) {
                low[c] += q < cut[c];
                high[c] += q > 1 / cut[c];
            }
            alike += (x[0] < x[1]) == (next[0] < next[1]);
        }
    }
    for (int c = 0; c < CUTS; c++) {
        double chance = cut[c] / 2, band = 6 * sqrt(n * chance * (1 - chance));
        assert_true(fabs(low[c] - n * chance) < band);
        assert_true(fabs(high[c] - n * chance) < band);
    }
    assert_true(fabs(alike - n * 0.5) < 6 * sqrt(n * 0.5));
}

/* ---- closed forms */

/* The mean of prod (1 - nu) over all lists of k items: an elementary symmetric polynomial over a
 * binomial. */
static double mean_no_click(const double *nu, uint32_t k)
{
    double sum[N + 1] = {1}, lists = 1;
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = k; j >= 1; j--)
            sum[j] += sum[j - 1] * (1 - nu[i]);
    for (uint32_t j = 0; j < k; j++)
        lists *= (double)(N - j) / (j + 1);
    return sum[k] / lists;
}

/* What a random list loses in a round.  Under abandonment slot k is read with chance
 * (1 - abandon)^k. */
static double loss_of_chance(const oltr_world *world, const double *nu, uint32_t slots)
{
    double sorted[N], average = 0, gap = 0, chance = 1;
    if (strcmp(world->clicks, "abandon") != 0)
        return mean_no_click(nu, slots) - best_no_click(nu, slots);
    memcpy(sorted, nu, sizeof sorted);
    qsort(sorted, N, sizeof *sorted, falling);
    for (int i = 0; i < N; i++)
        average += nu[i] / N;
    for (uint32_t k = 0; k < slots; k++, chance *= 1 - world->abandon)
        gap += chance * (sorted[k] - average);
    return gap;
}

static void the_regret_of_chance(void **state)
{
    enum { REPLICATIONS = 200 };
    stage s;
    double expected[MARKS] = {0};
    set_stage(&s, *state);
    add_policy(&s, "random");
    s.e.replications = REPLICATIONS;
    for (uint64_t replication = 0; replication < REPLICATIONS; replication++) {
        truth w;
        double sum = 0;
        draw_truth(&s.e.world, s.e.seed, replication, &w);
        for (uint64_t t = 1; t <= s.e.rounds; t++) {
            advance(&s.e.world, s.e.seed, replication, t, &w);
            sum += loss_of_chance(&s.e.world, w.attraction, SLOTS);
            for (int c = 0; c < MARKS; c++)
                expected[c] += marks[c] == t ? sum / REPLICATIONS : 0;
        }
    }
    oltr_results *r = run(&s.e, 1, 2);
    for (uint32_t c = 0; c < MARKS; c++) {
        oltr_outcome got = oltr_results_at(r, 0, 0, c);
        if (fabs(got.regret - expected[c]) > 6 * got.regret_se + 1e-9)
            fail_msg("after %u rounds: regret %g, expected %g, standard error %g",
                     (uint32_t)marks[c], got.regret, expected[c], got.regret_se);
    }
    oltr_results_free(r);
}

static bool any_scene(const scene *s)
{
    return s;
}

/* For each number of slots; reward and regret together are the best reward. */
static void random_lists_have_their_regret(void **state)
{
    stage s;
    for (uint32_t k = 1; k <= N; k++) {
        set_small_stage(&s, "fixed", "random");
        s.e.slots = k;
        s.e.replications = 600;
        oltr_results *r = run(&s.e, 1, 1);
        double best = best_no_click(attraction, k), lost = mean_no_click(attraction, k) - best;
        for (uint32_t m = 0; m < 3; m++) {
            oltr_outcome o = oltr_results_at(r, 0, 0, m);
            assert_true(fabs(o.regret - lost * (double)marks[m]) <= 5 * o.regret_se + 1e-9);
            assert_true(fabs(o.reward - ((1 - best) * (double)marks[m] - o.regret)) < 1e-8);
        }
        oltr_results_free(r);
    }
}

/* A policy that reads the features has less regret than chance.  lints has the released radius:
 * the printed one takes longer. */
static void learning_helps(void **state)
{
    stage s;
    set_stage(&s, *state);
    s.e.replications = 40;
    add_policy(&s, "random");
    oltr_contestant *lints = add_policy(&s, "lints");
    add_policy(&s, "cascade-lints");
    expect(oltr_settings_set(&lints->settings, "radius", "released", NULL), OLTR_OK);
    oltr_results *r = run(&s.e, 1, 2);
    for (uint32_t i = 1; i < 3; i++) {
        double chance = oltr_results_at(r, 0, 0, MARKS - 1).regret,
               policy = oltr_results_at(r, 0, i, MARKS - 1).regret;
        if (policy >= chance)
            fail_msg("%s: regret %g, chance has %g", s.label[i], policy, chance);
    }
    oltr_results_free(r);
}

/* The list of a fixed prior is the same in every round, and so is its reward.  The right prior has
 * 5 and 1 on top, whose attractions are 0.6 and 0.4; the wrong one has 0 and 2. */
static void the_ensemble_earns_what_its_list_earns(void **state)
{
    static const double wrong_a[N] = {9, 1, 8, 1, 1, 1, 1, 1},
                        wrong_b[N] = {1, 9, 2, 9, 9, 9, 9, 9};
    stage s;
    set_small_stage(&s, "fixed, given prior", "ensemble");
    expect(oltr_settings_set(&s.policy[0].settings, "prior", "full", NULL), OLTR_OK);
    oltr_results *right = run(&s.e, 1, 1);
    s.e.world.prior_a = wrong_a;
    s.e.world.prior_b = wrong_b;
    oltr_results *wrong = run(&s.e, 1, 1);
    for (uint32_t m = 0; m < 3; m++) {
        oltr_outcome o = oltr_results_at(right, 0, 0, m), w = oltr_results_at(wrong, 0, 0, m);
        double t = (double)marks[m];
        assert_true(fabs(o.reward - (1 - 0.4 * 0.6) * t) < 1e-9 && fabs(o.regret) < 1e-9);
        assert_true(fabs(w.reward - (1 - 0.9 * 0.95) * t) < 1e-9);
        assert_true(fabs(w.regret - (0.9 * 0.95 - 0.4 * 0.6) * t) < 1e-9 && w.regret_se < 1e-9);
    }
    oltr_results_free(right);
    oltr_results_free(wrong);
}

/* The mean reward of a random list over many seeds, one replication each. */
static void assert_mean_reward(stage *s, double wanted)
{
    enum { SEEDS = 500 };
    double sum = 0, squares = 0;
    s->e.replications = 1;
    for (s->e.seed = 0; s->e.seed < SEEDS; s->e.seed++) {
        oltr_results *r = run(&s->e, 1, 1);
        double reward = oltr_results_at(r, 0, 0, 2).reward / 10;
        assert_true(oltr_results_at(r, 0, 0, 2).regret_se <= 0);
        sum += reward;
        squares += reward * reward;
        oltr_results_free(r);
    }
    double mean = sum / SEEDS, se = sqrt((squares / SEEDS - mean * mean) / (SEEDS - 1));
    if (!(fabs(mean - wanted) < 5 * se))
        fail_msg("mean reward %g, expected %g, standard error %g", mean, wanted, se);
}

/* Independent Beta items: the mean reward of a random list is that of the means.  A wrong prior for
 * the policies does not change the truth. */
static void the_beta_world_has_its_means(void **state)
{
    double nu[N];
    stage s;
    for (uint32_t i = 0; i < N; i++)
        nu[i] = shape_a[i] / (shape_a[i] + shape_b[i]);
    set_small_stage(&s, "beta, given prior", "random");
    s.e.world.misspecification = 0.25;
    assert_mean_reward(&s, 1 - mean_no_click(nu, 2));
}

/* Without a prior, shapes a are drawn from 1 to a_max (10) with b = 10, so the mean attraction is
 * the mean of a / (a + 10). */
static void the_beta_world_draws_its_shapes(void **state)
{
    for (uint32_t most = 0; most <= 3; most += 3) {
        double wanted = 0, n = most ? most : 10;
        stage s;
        for (int a = 1; a <= (int)n; a++)
            wanted += a / (a + 10.0) / n;
        set_small_stage(&s, "beta", "random");
        s.e.slots = 1;
        s.e.world.a_max = most;
        assert_mean_reward(&s, wanted);
    }
}

/* ---- users */

/* The mean of what users give for a list is its value.  The items stand in the slots of their
 * numbers, so a model that draws both by one number is found. */
static void users_give_the_value_of_a_list(void **state)
{
    enum { USERS = 5000 * EFFORT };
    oltr_world world = world_of(*state);
    const oltr_click_ops *clicks = click_ops_of(world.clicks, NULL);
    uint32_t item[SLOTS] = {0, 1, 2};
    oltr_ranking list = {SLOTS, item, NULL};
    double sum = 0, squares = 0;
    truth w;
    draw_truth(&world, 11, 0, &w);
    for (uint64_t t = 1; t <= USERS; t++) {
        double reward[SLOTS], earned = 0;
        oltr_rng user = oltr_rng_at(oltr_rng_make(11, 0), STREAM_USERS, t);
        uint32_t seen = clicks->scan(&world, &w.as, &user, &list, reward);
        for (uint32_t slot = 0; slot < seen; slot++)
            earned += reward[slot];
        sum += earned;
        squares += earned * earned;
    }
    double mean = sum / USERS, value = clicks->value(&world, &w.as, item, SLOTS),
           se = sqrt((squares / USERS - mean * mean) / USERS);
    if (fabs(mean - value) > 6 * se + 1e-9)
        fail_msg("users give %g, the value is %g, standard error %g", mean, value, se);
}

/* No list of three items is better than the best or worse than the worst, and one is each. */
static void best_and_worst_are_those_of_all_lists(void **state)
{
    oltr_world world = world_of(*state);
    const oltr_click_ops *clicks = click_ops_of(world.clicks, NULL);
    double room[N], most = (double)-INFINITY, least = (double)INFINITY;
    truth w;
    draw_truth(&world, 11, 0, &w);
    w.as.room = room;
    for (uint32_t code = 0; code < N * N * N; code++) {
        uint32_t item[SLOTS] = {code % N, code / N % N, code / N / N};
        if (item[0] == item[1] || item[0] == item[2] || item[1] == item[2])
            continue;
        double value = clicks->value(&world, &w.as, item, SLOTS);
        most = fmax(most, value);
        least = fmin(least, value);
    }
    assert_true(near(clicks->best(&world, &w.as, SLOTS), most, 1e-12));
    assert_true(!clicks->worst || near(clicks->worst(&world, &w.as, SLOTS), least, 1e-12));
}

/* Another replication is another instance, of worlds that draw one. */
static void replications_differ(void **state)
{
    oltr_world world = world_of(*state);
    truth first, second;
    draw_truth(&world, 11, 0, &first);
    draw_truth(&world, 11, 1, &second);
    if (memcmp(first.attraction, second.attraction, sizeof first.attraction) == 0)
        fail_msg("replications 0 and 1 have the same attractions");
}

/* Two rounds, two slots, cascade-ucb1, whose unseen items come first. */
static oltr_results *two_rounds(const double *nu, uint32_t n, uint32_t replications, uint32_t look)
{
    static const uint64_t two[2] = {1, 2};
    oltr_contestant c = {.label = "x"};
    expect(oltr_settings_init(&c.settings, "cascade-ucb1", n, NULL), OLTR_OK);
    oltr_experiment e = {.seed = 3,
                         .rounds = 2,
                         .slots = 2,
                         .replications = replications,
                         .n_checkpoints = 2,
                         .checkpoint = two,
                         .world = {.kind = "fixed",
                                   .n_items = n,
                                   .clicks = "cascade",
                                   .attraction = nu,
                                   .examined_without_click = look},
                         .n_policies = 1,
                         .policy = &c};
    return run(&e, 1, 2);
}

/* Four items; three never please, the last always does.  If the first list has the last item, the
 * second round goes to items still unseen and misses it; if not, and users look at both slots, the
 * second list is the two unseen, the last among them.  So two rounds cost exactly 1.  If users look
 * at one slot only, three are unseen after a list without a click, and the last is left out with
 * probability 1/3: two rounds cost 1 + 1/6 in the mean. */
static void impatient_users_see_less(void **state)
{
    static const double last[4] = {0, 0, 0, 1};
    for (uint32_t look = 0; look <= 2; look++) {
        oltr_results *r = two_rounds(last, 4, 2000, look);
        oltr_outcome first = oltr_results_at(r, 0, 0, 0), second = oltr_results_at(r, 0, 0, 1);
        assert_true(fabs(first.regret - 0.5) < 5 * 0.5 / sqrt(2000));
        assert_true(look == 1 ? fabs(second.regret - 7.0 / 6) < 5 * second.regret_se
                              : fabs(second.regret - 1) < 1e-12);
        oltr_results_free(r);
    }
}

/* Users leave at their first click and do not see what is below it.  Three items; the first pleases
 * always, the others never.  After the list (pleasing, other) two are unseen and fill the second
 * list, which costs 1.  After (other, pleasing) one is unseen, and the second place is the pleasing
 * one's: nothing is lost.  After (other, other) 1 is lost, and then nothing.  Each has probability
 * 1/3. */
static void users_leave_at_a_click(void **state)
{
    static const double nu[3] = {1, 0, 0};
    oltr_results *r = two_rounds(nu, 3, 3000, 0);
    oltr_outcome first = oltr_results_at(r, 0, 0, 0), second = oltr_results_at(r, 0, 0, 1);
    assert_true(fabs(first.regret - 1.0 / 3) < 5 * first.regret_se);
    assert_true(fabs(second.regret - 2.0 / 3) < 5 * second.regret_se);
    oltr_results_free(r);
}

/* A wrong prior changes the results of the policies that take it, and no others. */
static void a_wrong_prior_misleads_who_takes_it(void **state)
{
    stage s;
    set_small_stage(&s, "beta, given prior", "gts");
    oltr_contestant *told = add_policy(&s, "ts-beta");
    add_policy(&s, "cascade-klucb");
    expect(oltr_settings_set(&told->settings, "prior", "full", NULL), OLTR_OK);
    oltr_experiment points[2] = {s.e, s.e};
    points[1].world.misspecification = 3.5;
    oltr_results *r = run(points, 2, 1);
    for (uint32_t j = 0; j < 3; j++)
        assert_int_equal(same_outcome(oltr_results_at(r, 0, j, 2), oltr_results_at(r, 1, j, 2)),
                         j != 1);
    oltr_results_free(r);
}

static bool draws_attractions(const scene *s)
{
    return strcmp(s->world.kind, "fixed") != 0;
}

static bool has_truth(const scene *s)
{
    return s->world.dim > 0;
}

int main(void)
{
    static suite all;
    ON_SCENES(&all, the_truth_is_as_described, has_truth);
    ON_SCENES(&all, logistic_priors_have_the_true_means, is_logistic);
    ON_SCENES(&all, features_are_a_function_of_the_round, has_truth);
    ON_SCENES(&all, features_are_directions_of_the_cube, draws_features);
    ON_SCENES(&all, users_give_the_value_of_a_list, any_scene);
    ON_SCENES(&all, best_and_worst_are_those_of_all_lists, any_scene);
    ON_SCENES(&all, replications_differ, draws_attractions);
    ON_SCENES(&all, the_regret_of_chance, any_scene);
    ON_SCENES(&all, learning_helps, draws_features);
    ONCE(&all, probabilities_at_full_scale);
    ONCE(&all, random_lists_have_their_regret);
    ONCE(&all, the_ensemble_earns_what_its_list_earns);
    ONCE(&all, the_beta_world_has_its_means);
    ONCE(&all, the_beta_world_draws_its_shapes);
    ONCE(&all, impatient_users_see_less);
    ONCE(&all, users_leave_at_a_click);
    ONCE(&all, a_wrong_prior_misleads_who_takes_it);
    return cmocka_run_group_tests_name("worlds are as described", all.test, NULL, NULL);
}
