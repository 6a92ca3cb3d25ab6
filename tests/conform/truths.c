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
    if (click_ops_of(world->clicks, NULL)->browse) {
        double best = best_of_all_lists(world, nu, &average);
        return best - average;
    }
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
        double sum = 0, loss = 0;
        draw_truth(&s.e.world, s.e.seed, replication, &w);
        for (uint64_t t = 1; t <= s.e.rounds; t++) {
            advance(&s.e.world, s.e.seed, replication, t, &w);
            if (t == 1 || moves(&s.e.world))
                loss = loss_of_chance(&s.e.world, w.attraction, SLOTS);
            sum += loss;
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

/* ---- worlds uniform and log-uniform */

/* Attractions of the interval whose share below each cut is that of the law; N of each
 * replication, independent. */
static void range_worlds_have_their_law(void **state)
{
    enum { REPLICATIONS = 2500, CUTS = 4 };
    static const double cut[CUTS] = {0.02, 0.25, 0.5, 0.9}, low = 0.005, high = 0.8;
    const double values[] = {low, high, 0, 0, 0, 0, 1, 1};
    for (int logs = 0; logs < 2; logs++) {
        oltr_world world = {
            .kind = logs ? "log-uniform" : "uniform", .n_items = N, .kind_values = values};
        double n = N * REPLICATIONS;
        uint32_t below[CUTS] = {0}, alike = 0;
        truth w;
        for (uint64_t r = 0; r < REPLICATIONS; r++) {
            draw_truth(&world, 11, r, &w);
            assert_false(w.as.tells);
            for (uint32_t i = 0; i < N; i++) {
                double nu = w.attraction[i],
                       place = logs ? log(nu / low) / log(high / low) : (nu - low) / (high - low);
                assert_true(nu >= low && nu <= high);
                for (int c = 0; c < CUTS; c++)
                    below[c] += place < cut[c];
                alike += (nu < w.attraction[(i + 1) % N]) ==
                         (w.attraction[(i + 1) % N] < w.attraction[(i + 2) % N]);
            }
        }
        for (int c = 0; c < CUTS; c++)
            assert_true(fabs(below[c] - n * cut[c]) < 6 * sqrt(n * cut[c] * (1 - cut[c])));
        assert_true(fabs(alike - n / 3) < 6 * sqrt(n)); /* two rises or two falls in a row */
    }
}

/* The right prior has the attraction as its mean and prior_n as its weight. */
static void range_worlds_give_the_right_prior(void **state)
{
    static const double values[] = {0, 1, 20, 0, 0, 0, 1, 1};
    oltr_world world = {.kind = "uniform", .n_items = N, .kind_values = values};
    truth w;
    for (uint64_t r = 0; r < 50; r++) {
        draw_truth(&world, 11, r, &w);
        assert_true(w.as.tells);
        for (uint32_t i = 0; i < N; i++)
            assert_true(near(w.a[i], 20 * w.attraction[i], 1e-12) &&
                        near(w.a[i] + w.b[i], 20, 1e-12));
    }
}

/* An interval of one point, also at 0 and 1, whose prior still has two shapes. */
static void an_interval_may_be_a_point(void **state)
{
    for (int end = 0; end < 2; end++) {
        const double values[] = {end, end, 20, 0, 0, 0, 1, 1};
        oltr_world world = {
            .kind = "uniform", .n_items = N, .clicks = "cascade", .kind_values = values};
        truth w;
        draw_truth(&world, 11, 0, &w);
        for (uint32_t i = 0; i < N; i++)
            assert_true(near(w.attraction[i], end, 0) && w.a[i] > 0 && w.b[i] > 0);
    }
}

/* ---- priors that are wrong */

/* Priors that are wrong by these values, and `right`, those of the same replication without any
 * error; all means differ. */
static void draw_wrong(double shift, double noise, double order, double weight, double share,
                       uint64_t replication, truth *wrong, truth *right)
{
    const double values[] = {0, 0, shift, noise, order, weight, share};
    static const double a[N] = {1, 4, 1.5, 3, 2, 6, 0.5, 2.5};
    oltr_world world = {.kind = "beta", .n_items = N, .prior_a = a, .prior_b = shape_b};
    draw_truth(&world, 11, replication, right);
    world.kind_values = values;
    draw_truth(&world, 11, replication, wrong);
    assert_memory_equal(wrong->attraction, right->attraction, sizeof right->attraction);
}

static bool changed(const truth *wrong, const truth *right, uint32_t i)
{
    return !near(wrong->a[i], right->a[i], 1e-12) || !near(wrong->b[i], right->b[i], 1e-12);
}

/* Log-odds off by the shift and a normal of the item; a + b stays.  Fourth moment, neighbours and
 * one item in the next replication too. */
static void noisy_priors_are_off_by_a_normal(void **state)
{
    enum { REPLICATIONS = 2500 };
    static const double shift = 0.7, sd = 1.3;
    double n = N * REPLICATIONS, sum = 0, squares = 0, fourths = 0, products = 0, before = 0;
    for (uint64_t r = 0; r < REPLICATIONS; r++) {
        truth wrong, right;
        draw_wrong(shift, sd, 0, 1, 1, r, &wrong, &right);
        for (uint32_t i = 0; i < N; i++) {
            double z = (log(wrong.a[i] / wrong.b[i]) - log(right.a[i] / right.b[i]) - shift) / sd;
            assert_true(near(wrong.a[i] + wrong.b[i], right.a[i] + right.b[i], 1e-9));
            sum += z;
            squares += z * z;
            fourths += z * z * z * z;
            products += z * before;
            before = z;
        }
    }
    assert_true(fabs(sum) < 6 * sqrt(n));
    assert_true(fabs(squares - n) < 6 * sqrt(2 * n));
    assert_true(fabs(fourths - 3 * n) < 6 * sqrt(96 * n));
    assert_true(fabs(products) < 6 * sqrt(n));
}

static void a_shift_and_a_weight_are_exact(void **state)
{
    truth wrong, right;
    draw_wrong(-2, 0, 0, 10, 1, 3, &wrong, &right);
    for (uint32_t i = 0; i < N; i++) {
        double odds = right.a[i] / right.b[i] * exp(-2);
        assert_true(near(wrong.a[i] / wrong.b[i], odds, 1e-12));
        assert_true(near(wrong.a[i] + wrong.b[i], 10 * (right.a[i] + right.b[i]), 1e-9));
    }
}

/* The logistic world, too; its prior has the attraction as its mean. */
static void a_logistic_prior_can_be_wrong(void **state)
{
    static const double values[] = {0, 0, 0, 0, 0, 1.5, 0, 0, 2, 1};
    oltr_world world = world_of(scene_named("logistic"));
    truth w;
    world.kind_values = values;
    draw_truth(&world, 11, 0, &w);
    assert_true(w.as.tells);
    for (uint32_t i = 0; i < N; i++) {
        double nu = w.attraction[i];
        assert_true(near(log(w.a[i] / w.b[i]), log(nu / (1 - nu)) + 1.5, 1e-9));
        assert_true(near(w.a[i] + w.b[i], 2 * 10 / (1 - nu), 1e-6));
    }
}

/* Every item has the prior of some item, each of all as often. */
static void permuted_priors_are_a_permutation(void **state)
{
    enum { REPLICATIONS = 2000 };
    uint32_t from[N][N] = {{0}};
    for (uint64_t r = 0; r < REPLICATIONS; r++) {
        uint32_t taken = 0;
        truth wrong, right;
        draw_wrong(0, 0, 1, 1, 1, r, &wrong, &right);
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t j = 0; j < N; j++)
                if (same_double(wrong.a[i], right.a[j]) && same_double(wrong.b[i], right.b[j])) {
                    from[i][j]++;
                    taken |= 1U << j;
                }
        assert_int_equal(taken, (1U << N) - 1);
    }
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = 0; j < N; j++)
            assert_true(fabs(from[i][j] - REPLICATIONS / (double)N) < 6 * sqrt(REPLICATIONS / 8.0));
}

/* Means in the opposite order: the item of rank k has the prior of rank N - 1 - k. */
static void reversed_priors_have_the_opposite_order(void **state)
{
    truth wrong, right;
    draw_wrong(0, 0, 2, 1, 1, 0, &wrong, &right);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t above = 0, below = 0;
        for (uint32_t j = 0; j < N; j++) {
            above += right.a[j] * right.b[i] > right.a[i] * right.b[j];
            below += wrong.a[j] * wrong.b[i] < wrong.a[i] * wrong.b[j];
        }
        assert_int_equal(above, below);
    }
}

/* Half of the items, each as often as any other; the others keep their prior to the bit. */
static void a_share_of_the_items_is_wrong(void **state)
{
    enum { REPLICATIONS = 2000 };
    uint32_t times[N] = {0};
    for (uint64_t r = 0; r < REPLICATIONS; r++) {
        uint32_t n = 0;
        truth wrong, right, permuted;
        draw_wrong(2, 0, 0, 1, 0.5, r, &wrong, &right);
        draw_wrong(0, 0, 1, 1, 0.5, r, &permuted, &right);
        for (uint32_t i = 0; i < N; i++) {
            n += changed(&wrong, &right, i);
            times[i] += changed(&wrong, &right, i);
            assert_true(changed(&wrong, &right, i) || !changed(&permuted, &right, i));
        }
        assert_int_equal(n, N / 2);
    }
    for (uint32_t i = 0; i < N; i++)
        assert_true(fabs(times[i] - REPLICATIONS / 2.0) < 6 * sqrt(REPLICATIONS / 4.0));
}

/* The largest shift of a nearly certain prior still gives shapes that policies accept. */
static void wrong_priors_stay_priors(void **state)
{
    static const double a[N] = {1e9, 1e-9, 1, 1, 1, 1, 1, 1}, b[N] = {1e-9, 1e9, 1, 1, 1, 1, 1, 1};
    static const double values[] = {0, 0, 20, 10, 0, 1e3, 1};
    stage s;
    set_small_stage(&s, "beta, given prior", "ts-beta");
    expect(oltr_settings_set(&s.policy[0].settings, "prior", "full", NULL), OLTR_OK);
    s.e.world.prior_a = a;
    s.e.world.prior_b = b;
    s.e.world.kind_values = values;
    oltr_results_free(run(&s.e, 1, 1));
}

/* What each world refuses. */
static void assert_refused(const char *kind, const double *values, bool prior, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_world world = {.kind = kind, .n_items = N, .clicks = "cascade", .kind_values = values};
    if (strcmp(kind, "fixed") == 0)
        world.attraction = attraction;
    if (prior) {
        world.prior_a = shape_a;
        world.prior_b = shape_b;
    }
    oltr_status status = world_check(&world, &error);
    if (status == OLTR_OK || !strstr(error.msg, words))
        fail_msg("%s: expected '%s', got '%s'", kind, words, error.msg);
}

static void bad_ranges_and_priors_are_refused(void **state)
{
    const double upside[] = {0.5, 0.1, 0, 0, 0, 0, 1, 1}, zero[] = {0, 1, 0, 0, 0, 0, 1, 1},
                 none[] = {0, 1, 0, 2, 0, 0, 1, 1}, wide[] = {0, 1, 20, 21, 0, 0, 1, 1},
                 fixed[] = {1, 0, 0, 1, 1};
    assert_refused("uniform", upside, false, "low must not be above high");
    assert_refused("log-uniform", zero, false, "low above 0");
    assert_refused("uniform", none, false, "add `prior_n: 20`");
    assert_refused("uniform", wide, false, "prior_shift must be from -20 to 20");
    assert_refused("uniform", zero, true, "no given prior");
    assert_refused("fixed", fixed, false, "no prior that could be wrong");
}

static bool draws_attractions(const scene *s)
{
    return strcmp(s->world.kind, "fixed") != 0;
}

/* The others are in click_models.c: their value is not the number of clicks. */
static bool scans(const scene *s)
{
    return !browses(s);
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
    ON_SCENES(&all, users_give_the_value_of_a_list, scans);
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
    ONCE(&all, range_worlds_have_their_law);
    ONCE(&all, range_worlds_give_the_right_prior);
    ONCE(&all, an_interval_may_be_a_point);
    ONCE(&all, noisy_priors_are_off_by_a_normal);
    ONCE(&all, a_shift_and_a_weight_are_exact);
    ONCE(&all, a_logistic_prior_can_be_wrong);
    ONCE(&all, permuted_priors_are_a_permutation);
    ONCE(&all, reversed_priors_have_the_opposite_order);
    ONCE(&all, a_share_of_the_items_is_wrong);
    ONCE(&all, wrong_priors_stay_priors);
    ONCE(&all, bad_ranges_and_priors_are_refused);
    return cmocka_run_group_tests_name("worlds are as described", all.test, NULL, NULL);
}
