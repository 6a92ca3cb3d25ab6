/* beta.c - the Beta draws have the law of their shapes: the double one of the worlds and the
 * float32 log-odds of the rankings.
 *
 * The float32 sampler has a fast path, a squeeze, retries, and a power for shapes below 1; a
 * mistake in any of them bends the law a little for some shapes only.  So a grid of shapes is
 * looked at, in log-odds, where both ends of (0,1) can be seen. Fixed seeds; false alarms: see
 * stat.h.
 */
#include <stdio.h>

#include "support/stat.h"
#include "support/oracle.h"
#include "support/shapes.h"
#include "engine/kernels/philox.h"

enum { N = 1 << 16, ITEMS = 1 << 12 }; /* N times EFFORT draws */
#include "support/stat_draws.h"

static const double shapes[][2] = {
    {1e-3, 1e-3}, {0.1, 0.1},
    {0.5, 0.5},   {0.3, 20},
    {20, 0.3},    {0.999, 1},
    {1, 1},       {1, 1.5},
    {1.5, 1},     {1.5, 1.5},
    {1, 10},      {10, 1.5},
    {10, 10},     {1, 1000},
    {1000, 10},   {1000, 1000},
    {1, 1e6},     {1e6, 1},
    {1.5, 1e6},   {1e6, 1e6},
    {1e6, 2.5e5}, {0.5, 1e6},
    {1e-3, 1},    {1, 1e-3},
    {1e-3, 0.1},  {0.01, 0.01},
    {0.01, 5},    {5, 0.01},
    {0.03, 0.9},  {0.2, 0.7},
    {0.8, 0.8},   {0.9, 1e3},
    {0.99, 0.05}, {0.999999, 0.999999},
};
enum { N_SHAPES = COUNT(shapes) };

/* ---- the law of log-odds */

/* P(L <= l); below -600, P(X <= x) = x^a / (a B(a,b)). */
static double odds_cdf(double l, const double *shape)
{
    double e = exp(-fabs(l)), small = e / (1 + e), large = 1 / (1 + e);
    if (l < -600)
        return exp(shape[0] * l - gsl_sf_lnbeta(shape[0], shape[1])) / shape[0];
    if (l > 600)
        return 1 - exp(-shape[1] * l - gsl_sf_lnbeta(shape[0], shape[1])) / shape[1];
    return oracle_beta(shape[0], shape[1], l < 0 ? small : large, l < 0 ? large : small).lower;
}

static double odds_complement(double l, const double *shape)
{
    const double mirrored[2] = {shape[1], shape[0]};
    return odds_cdf(-l, mirrored);
}

static double beta_cdf(double x, const double *shape)
{
    return oracle_beta(shape[0], shape[1], x, 1 - x).lower;
}

static double beta_complement(double x, const double *shape)
{
    return oracle_beta(shape[0], shape[1], x, 1 - x).upper;
}

/* ---- the double sampler */

static size_t fill_scalar(const double *shape, uint64_t replication)
{
    size_t n = (size_t)N * EFFORT / 2;
    oltr_rng rng = oltr_rng_make(1, replication);
    for (size_t i = 0; i < n; i++) {
        draws[i] = oltr_rng_beta(&rng, shape[0], shape[1]);
        assert_true(draws[i] >= 0 && draws[i] <= 1);
    }
    return n;
}

static void scalar_draws_have_the_law_of_their_shapes(void **state)
{
    for (int s = 0; s < N_SHAPES; s++) {
        char what[64];
        const double *shape = shapes[s];
        if (shape[0] < 0.1) /* many draws are nearer to 0 than a double can be; see below */
            continue;
        stat_law law = law_of_beta(shape[0], shape[1]);
        size_t n = fill_scalar(shape, (uint64_t)s);
        (void)snprintf(what, sizeof what, "Beta(%g, %g)", shape[0], shape[1]);
        check_moments(what, draws, n, &law);
        sort_doubles(draws, n);
        if (shape[1] >= 0.3) /* else some draws round to 1 */
            check_ks(what, draws, n, beta_cdf, shape);
        check_tails(what, draws, n, &law, beta_cdf, beta_complement, shape);
    }
}

static void scalar_draws_have_their_log_odds(void **state)
{
    for (int s = 0; s < N_SHAPES; s++) {
        char what[64];
        const double *shape = shapes[s];
        if (shape[0] < 0.1 || shape[1] < 1 ||
            shape[0] / shape[1] > 1e4) /* draws must not round to 0 or 1 */
            continue;
        stat_law law = law_of_log_odds(shape[0], shape[1]);
        size_t n = fill_scalar(shape, 100 + (uint64_t)s);
        for (size_t i = 0; i < n; i++)
            draws[i] = log(draws[i]) - log1p(-draws[i]);
        (void)snprintf(what, sizeof what, "log-odds of Beta(%g, %g)", shape[0], shape[1]);
        check_moments(what, draws, n, &law);
        sort_doubles(draws, n);
        check_tails(what, draws, n, &law, odds_cdf, odds_complement, shape);
    }
}

static void tiny_shapes_give_the_right_shares(void **state)
{
    static const double tiny[][2] = {
        {1e-3, 1e-3}, {1e-3, 2e-3}, {1e-2, 1e-2}, {1e-3, 5}, {5, 1e-3}};
    static const double limits[] = {1e-300, 1e-100, 1e-6, 0.5, 0.999};
    for (size_t s = 0; s < COUNT(tiny); s++) {
        size_t n = fill_scalar(tiny[s], 200 + s);
        for (size_t l = 0; l < COUNT(limits); l++) {
            unsigned above = 0;
            for (size_t i = 0; i < n; i++)
                above += draws[i] > limits[l];
            double share = oracle_beta(tiny[s][0], tiny[s][1], limits[l], 1 - limits[l]).upper;
            check_count("Beta of tiny shapes", "above a limit", above, (double)n * share);
        }
    }
}

static void extreme_shapes_give_draws_in_the_interval(void **state)
{
    enum { EXTREMES = 7 };
    static const double extreme[EXTREMES] = {5e-324, 1e-310, 1e-300, 1e-10, 1, 1e10, 1e300};
    for (int i = 0; i < EXTREMES; i++)
        for (int j = 0; j < EXTREMES; j++) {
            oltr_rng rng = oltr_rng_make(2, (uint64_t)(EXTREMES * i + j));
            for (int draw = 0; draw < 1000; draw++) {
                double x = oltr_rng_beta(&rng, extreme[i], extreme[j]);
                if (!(x >= 0 && x <= 1))
                    fail_msg("oltr_rng_beta(%g, %g) gives %g", extreme[i], extreme[j], x);
            }
        }
}

/* Their draws are so narrow that each is the mean; the sum of the two Gamma draws overflows. */
static void largest_shapes_give_their_mean(void **state)
{
    static const double shape[][3] = {
        {1.7e308, 1.7e308, 0.5}, {1.5e308, 0.5e308, 0.75}, {0.5e308, 1.5e308, 0.25}};
    for (size_t i = 0; i < COUNT(shape); i++) {
        oltr_rng rng = oltr_rng_make(5, i);
        double x = oltr_rng_beta(&rng, shape[i][0], shape[i][1]);
        if (!(fabs(x - shape[i][2]) < 1e-12))
            fail_msg("oltr_rng_beta(%g, %g) gives %g", shape[i][0], shape[i][1], x);
    }
}

/* ---- the float32 sampler */

/* ITEMS items of the same shapes, in as many rounds as it takes. */
static size_t fill_scores(const double *shape, uint64_t replication)
{
    static float score[ITEMS];
    static uint32_t todo[ITEMS];
    size_t n = (size_t)N * EFFORT;
    shape_arrays s = shapes_new(ITEMS);
    for (size_t i = 0; i < ITEMS; i++)
        shapes_set(&s, i, shape[0], shape[1]);
    beta_shapes view = shapes_view(&s);
    for (size_t start = 0; start < n; start += ITEMS) {
        oltr_rng rng = oltr_rng_at(oltr_rng_make(3, replication), 1, start / ITEMS);
        beta_scores(&rng, &view, NULL, ITEMS, todo, score);
        for (size_t i = 0; i < ITEMS; i++)
            draws[start + i] = (double)score[i];
    }
    shapes_free(&s);
    return n;
}

static void scores_are_the_log_odds_of_their_shapes(void **state)
{
    for (int s = 0; s < N_SHAPES; s++) {
        char what[64];
        stat_law law = law_of_log_odds(shapes[s][0], shapes[s][1]);
        size_t n = fill_scores(shapes[s], (uint64_t)s);
        (void)snprintf(what, sizeof what, "beta_scores of Beta(%g, %g)", shapes[s][0],
                       shapes[s][1]);
        check_moments(what, draws, n, &law);
        sort_doubles(draws, n);
        check_ks(what, draws, n, odds_cdf, shapes[s]);
        check_tails(what, draws, n, &law, odds_cdf, odds_complement, shapes[s]);
    }
}

/* Of a Beta(a,b) of vanishing shapes nothing is left but whether it is 1, with probability a / (a +
 * b). */
static void vanishing_shapes_give_the_right_shares(void **state)
{
    static const double tiny[][2] = {{1e-10, 3e-10},   {1e-30, 1e-30},   {1e-40, 4e-40},
                                     {2e-300, 1e-300}, {1e-200, 1e-300}, {1e-12, 0.5},
                                     {1e-310, 3e-310}, {5e-324, 5e-324}, {1, 5e-324}};
    for (size_t s = 0; s < COUNT(tiny); s++) {
        size_t n = fill_scores(tiny[s], 300 + s);
        unsigned above = 0;
        for (size_t i = 0; i < n; i++)
            above += draws[i] > 0;
        check_count("beta_scores of vanishing shapes", "above 0", above,
                    (double)n * (tiny[s][0] / (tiny[s][0] + tiny[s][1])));
    }
}

/* All shapes side by side, each item drawn once a round: what a ranking does. */
static void scores_of_mixed_shapes_are_those_of_each(void **state)
{
    enum {
        ROUNDS = (1 << 12) * EFFORT,
        ROOM = (N_SHAPES + NORMAL_GROUP) / NORMAL_GROUP * NORMAL_GROUP
    };
    double *column = exactly((size_t)N_SHAPES * ROUNDS, sizeof *column);
    float score[ROOM];
    uint32_t todo[ROOM];
    shape_arrays mixed = shapes_new(N_SHAPES);
    for (size_t s = 0; s < N_SHAPES; s++)
        shapes_set(&mixed, s, shapes[s][0], shapes[s][1]);
    beta_shapes view = shapes_view(&mixed);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        oltr_rng rng = oltr_rng_at(oltr_rng_make(4, 1), 1, round);
        beta_scores(&rng, &view, NULL, N_SHAPES, todo, score);
        for (size_t s = 0; s < N_SHAPES; s++)
            column[s * ROUNDS + round] = (double)score[s];
    }
    for (size_t s = 0; s < N_SHAPES; s++) {
        double *x = column + s * ROUNDS;
        stat_law law = law_of_log_odds(shapes[s][0], shapes[s][1]);
        check_moments("beta_scores over rounds", x, ROUNDS, &law);
        sort_doubles(x, ROUNDS);
        check_ks("beta_scores over rounds", x, ROUNDS, odds_cdf, shapes[s]);
    }
    shapes_free(&mixed);
    free(column);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalar_draws_have_the_law_of_their_shapes),
        cmocka_unit_test(scalar_draws_have_their_log_odds),
        cmocka_unit_test(tiny_shapes_give_the_right_shares),
        cmocka_unit_test(extreme_shapes_give_draws_in_the_interval),
        cmocka_unit_test(largest_shapes_give_their_mean),
        cmocka_unit_test(scores_are_the_log_odds_of_their_shapes),
        cmocka_unit_test(vanishing_shapes_give_the_right_shares),
        cmocka_unit_test(scores_of_mixed_shapes_are_those_of_each),
        cmocka_unit_test(stat_false_alarms),
    };
    return cmocka_run_group_tests_name("beta", tests, setup, teardown);
}
