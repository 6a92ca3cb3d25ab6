/* drifting.c - attractions that walk and jump: their laws, what they are a function of, and what a
 * run makes of them.
 *
 * Seeds are fixed; each statistical bound is six standard errors, a false-alarm rate below 2e-9
 * each.
 */
#define _POSIX_C_SOURCE 200809L
#include "conform/scenes.h"

#include "lab/world/world.h"

static const double wide[] = {0.01, 0.9, 0, 0, 0, 0, 1, 1};

static oltr_world drifting(const char *kind, double walk, double jump)
{
    bool ranges = strstr(kind, "uniform");
    oltr_world world = {.kind = kind,
                        .n_items = N,
                        .clicks = "cascade",
                        .kind_values = ranges ? wide : NULL,
                        .drift_walk = walk,
                        .drift_jump = jump};
    if (strcmp(kind, "fixed") == 0)
        world.attraction = attraction;
    if (strcmp(kind, "beta") == 0) {
        world.prior_a = shape_a;
        world.prior_b = shape_b;
    }
    return world;
}

static double odds(double p)
{
    return log(p / (1 - p));
}

/* ---- walks */

/* Steps are independent normals: moments, neighbours, one item in the next round. */
static void steps_are_normal(void **state)
{
    enum { ROUNDS = 3000 };
    static const double sd = 0.02;
    oltr_world world = drifting("beta", sd, 0);
    double n = N * ROUNDS, sum = 0, squares = 0, fourths = 0, neighbours = 0, rounds = 0;
    double before[N] = {0};
    truth w;
    draw_truth(&world, 11, 0, &w);
    for (uint32_t i = 0; i < N; i++)
        w.attraction[i] = 0.1 * (i + 1);
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        double old[N], last = 0;
        memcpy(old, w.attraction, sizeof old);
        advance(&world, 11, 0, t, &w);
        assert_false(w.as.still);
        for (uint32_t i = 0; i < N; i++) {
            double z = (odds(w.attraction[i]) - odds(old[i])) / sd;
            sum += z;
            squares += z * z;
            fourths += z * z * z * z;
            neighbours += z * last;
            rounds += z * before[i];
            last = before[i] = z;
        }
    }
    assert_true(fabs(sum) < 6 * sqrt(n));
    assert_true(fabs(squares - n) < 6 * sqrt(2 * n));
    assert_true(fabs(fourths - 3 * n) < 6 * sqrt(96 * n));
    assert_true(fabs(neighbours) < 6 * sqrt(n) && fabs(rounds) < 6 * sqrt(n));
}

/* The longest steps stay within the bounds, an attraction of 0 or 1 stays what it is, and a single
 * value has nowhere to go. */
static void walks_stay_within_bounds(void **state)
{
    static const double point[] = {0.3, 0.3, 0, 0, 0, 0, 1, 1}, whole[] = {0, 1, 0, 0, 0, 0, 1, 1};
    static const char *const kinds[] = {"uniform", "log-uniform", "beta", "fixed"};
    truth w;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        oltr_world world = drifting(kinds[k], 10, 0);
        double low = k < 2 ? 0.01 : 0, high = k < 2 ? 0.9 : 1;
        draw_truth(&world, 11, 0, &w);
        w.attraction[6] = k < 2 ? low : 0;
        w.attraction[7] = high;
        for (uint64_t t = 1; t <= 300; t++) {
            advance(&world, 11, 0, t, &w);
            for (uint32_t i = 0; i < N; i++)
                assert_true(w.attraction[i] >= low && w.attraction[i] <= high);
            assert_true(k < 2 || (w.attraction[6] <= 0 && w.attraction[7] >= 1));
        }
    }
    oltr_world world = drifting("uniform", 1, 0.5);
    world.kind_values = point;
    draw_truth(&world, 11, 0, &w);
    advance(&world, 11, 0, 1, &w);
    for (uint32_t i = 0; i < N; i++)
        assert_true(near(w.attraction[i], 0.3, 0));
    world.kind_values = whole;
    draw_truth(&world, 11, 0, &w);
    advance(&world, 11, 0, 1, &w);
}

/* ---- jumps */

/* Every item jumps in every round with the same chance, independently; the others keep their bits;
 * `still` says that nothing has changed. */
static void items_jump_with_their_chance(void **state)
{
    enum { ROUNDS = 4000 };
    static const double p = 0.1;
    oltr_world world = drifting("uniform", 0, p);
    uint32_t jumps[N] = {0}, pairs = 0, quiet = 0;
    truth w;
    draw_truth(&world, 11, 0, &w);
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        bool jumped[N], any = false;
        double old[N];
        memcpy(old, w.attraction, sizeof old);
        w.as.still = 0;
        advance(&world, 11, 0, t, &w);
        for (uint32_t i = 0; i < N; i++) {
            jumped[i] = !same_double(old[i], w.attraction[i]);
            any = any || jumped[i];
            jumps[i] += jumped[i];
            pairs += i && jumped[i] && jumped[i - 1];
        }
        assert_int_equal(w.as.still, !any);
        quiet += !any;
    }
    for (uint32_t i = 0; i < N; i++)
        assert_true(fabs(jumps[i] - ROUNDS * p) < 6 * sqrt(ROUNDS * p * (1 - p)));
    double none = pow(1 - p, N), two = (N - 1) * p * p;
    assert_true(fabs(quiet - ROUNDS * none) < 6 * sqrt(ROUNDS * none));
    assert_true(fabs(pairs - ROUNDS * two) < 6 * sqrt(2 * ROUNDS * two));
}

/* Where everything jumps in every round, each round is a new draw of the law. */
static void jumps_have_the_law_of_the_world(void **state)
{
    enum { ROUNDS = 3000 };
    static const char *const kinds[] = {"uniform", "log-uniform", "beta", "fixed"};
    for (size_t k = 0; k < COUNT(kinds); k++) {
        oltr_world world = drifting(kinds[k], 0, 1);
        double sum[N] = {0}, squares[N] = {0}, mean = 0;
        truth w;
        for (uint32_t i = 0; i < N; i++)
            mean += attraction[i] / N;
        draw_truth(&world, 11, 0, &w);
        for (uint64_t t = 1; t <= ROUNDS; t++) {
            advance(&world, 11, 0, t, &w);
            for (uint32_t i = 0; i < N; i++) {
                sum[i] += w.attraction[i];
                squares[i] += w.attraction[i] * w.attraction[i];
            }
        }
        for (uint32_t i = 0; i < N; i++) {
            double wanted = k == 0   ? (0.01 + 0.9) / 2
                            : k == 1 ? (0.9 - 0.01) / log(0.9 / 0.01)
                            : k == 2 ? shape_a[i] / (shape_a[i] + shape_b[i])
                                     : mean;
            double m = sum[i] / ROUNDS, se = sqrt((squares[i] / ROUNDS - m * m) / ROUNDS);
            assert_true(fabs(m - wanted) < 6 * se);
        }
    }
}

/* A jump of a round does not depend on what was before: seed, replication, round and item decide.
 */
static void jumps_are_a_function_of_the_round(void **state)
{
    oltr_world world = drifting("beta", 0, 0.3);
    truth one, other, later;
    uint32_t jumps = 0;
    draw_truth(&world, 11, 3, &one);
    draw_truth(&world, 11, 3, &other);
    draw_truth(&world, 11, 4, &later);
    for (uint64_t t = 1; t < 50; t++)
        advance(&world, 11, 3, t, &one);
    double old[N];
    memcpy(old, one.attraction, sizeof old);
    advance(&world, 11, 3, 50, &one);
    advance(&world, 11, 3, 50, &other);
    advance(&world, 11, 4, 50, &later);
    for (uint32_t i = 0; i < N; i++)
        if (!same_double(old[i], one.attraction[i])) {
            assert_true(same_double(one.attraction[i], other.attraction[i]));
            jumps++;
        }
    assert_true(jumps > 0);
    assert_memory_not_equal(other.attraction, later.attraction, sizeof later.attraction);
}

/* ---- runs */

/* Where attractions of a wide law jump, a policy that forgets loses less than one that does not. */
static void forgetting_helps_where_worlds_drift(void **state)
{
    static const oltr_learning fades = {.forget_every = 20, .forget_keep = 0.8};
    static const uint64_t last[] = {4000};
    static double a[N], b[N];
    static stage s;
    set_stage(&s, scene_named("beta, jumping"));
    for (uint32_t i = 0; i < N; i++) {
        a[i] = 0.5;
        b[i] = 1;
    }
    s.e.world.prior_a = a;
    s.e.world.prior_b = b;
    s.e.world.drift_jump = 0.002;
    s.e.rounds = last[0];
    s.e.checkpoint = last;
    s.e.n_checkpoints = 1;
    s.e.replications = 30;
    add_policy(&s, "ts-beta");
    add_policy(&s, "ts-beta")->learning = &fades;
    oltr_results *r = run(&s.e, 1, 2);
    oltr_estimate gain = oltr_results_pair(r, 0, 0, 1, 0);
    assert_true(gain.mean > 6 * gain.se);
    oltr_results_free(r);
}

/* ---- the best list of many items */

enum { MANY = 6000 };

static void assert_largest_are_right(const oltr_instance *kept)
{
    static const uint32_t lengths[] = {1, 10, 128, 129, 300};
    static double room[MANY];
    oltr_instance searched = *kept;
    searched.largest = NULL;
    searched.room = room;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint32_t k = lengths[i];
        const double *right = largest_attractions(&searched, k);
        assert_memory_equal(largest_attractions(kept, k), right, k * sizeof *right);
    }
}

/* What is kept of the largest attractions is what searching all of them finds: after jumps, few and
 * many, and while the largest fall one by one until too few are known. */
static void the_largest_are_kept(void **state)
{
    static const double chance[] = {0, 1e-4, 1e-3, 2e-3, 0.05};
    static double attractions[MANY], room[MANY];
    static oltr_largest largest;
    const oltr_world_ops *ops = world_ops_of("log-uniform", NULL);
    for (size_t c = 0; c < sizeof chance / sizeof *chance; c++) {
        oltr_world world = drifting("log-uniform", 0, chance[c]);
        oltr_instance x = {
            .n_items = MANY, .attraction = attractions, .room = room, .largest = &largest};
        world.n_items = MANY;
        attractions_changed(&x);
        expect(ops->draw(&world, 3, c, &x, NULL), OLTR_OK);
        assert_largest_are_right(&x);
        for (uint64_t t = 1; t <= 400; t++) {
            expect(ops->advance(&world, 3, c, t, &x, NULL), OLTR_OK);
            if (c == 0) {
                attractions[largest.item[t % 7]] = t % 3 ? 0.011 : 0.5;
                attraction_changed(&x, largest.item[t % 7]);
            }
            assert_largest_are_right(&x);
        }
    }
}

static void expect_refused(const char *kind, double walk, double jump, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_world world = drifting(kind, walk, jump);
    world.dim = strcmp(kind, "linear") == 0 ? DIM : 0;
    expect_error(world_check(&world, &error), &error, OLTR_EINVAL, words);
}

static void what_cannot_drift_is_refused(void **state)
{
    static const char *const kinds[] = {"uniform", "log-uniform", "beta", "fixed"};
    for (size_t k = 0; k < COUNT(kinds); k++) {
        expect_refused(kinds[k], 11, 0, "drift_walk must be from 0 to 10, not 11");
        expect_refused(kinds[k], (double)NAN, 0, "drift_walk must be from 0 to 10, not nan");
        expect_refused(kinds[k], 0, -0.1, "drift_jump must be from 0 to 1, not -0.1");
        expect_refused(kinds[k], 0, 1.5, "drift_jump must be from 0 to 1, not 1.5");
    }
    expect_refused("linear", 0.1, 0, "world linear does not drift");
}

int main(void)
{
    static suite all;
    ONCE(&all, steps_are_normal);
    ONCE(&all, walks_stay_within_bounds);
    ONCE(&all, items_jump_with_their_chance);
    ONCE(&all, jumps_have_the_law_of_the_world);
    ONCE(&all, jumps_are_a_function_of_the_round);
    ONCE(&all, the_largest_are_kept);
    ONCE(&all, forgetting_helps_where_worlds_drift);
    ONCE(&all, what_cannot_drift_is_refused);
    return cmocka_run_group_tests_name("worlds that drift", all.test, NULL, NULL);
}
