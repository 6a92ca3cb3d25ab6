/* rates.c - the draws of pbm-ts have the law of their counts (kernels/rate_kernels.h).
 *
 * The sampler has a top, two tails, a power series and a way without it; a mistake in one of them
 * bends the law a little for some counts only.  So many kinds of counts are looked at, each against
 * the distribution function that the midpoint rule gives.  Fixed seeds; false alarms: see stat.h.
 */
#include <stdio.h>

#include "support/stat.h"
#include "engine/kernels/table.h"

enum { N = 1 << 18, ITEMS = 1 << 12, NODES = 1 << 15, SLOTS = 3 }; /* N times EFFORT draws */
#include "support/stat_draws.h"

static const double kappa[SLOTS] = {1, 0.5, 0.2};

/* Clicks, and the misses in each slot. */
static const double counts[][1 + SLOTS] = {
    {0, 0, 0, 0},       {0, 1, 0, 0},      {0, 0, 0, 3},        {0, 30, 5, 2},
    {1, 0, 0, 0},       {1, 1, 0, 0},      {1, 10, 2, 1},       {1, 0, 0, 40},
    {2, 3, 1, 0},       {3, 30, 0, 0},     {5, 1, 0, 0},        {5, 0, 0, 20},
    {9, 1, 2, 3},       {20, 40, 10, 10},  {100, 10, 20, 30},   {1000, 2000, 100, 100},
    {0.1, 5, 0, 0},     {0.01, 0.3, 0, 9}, {1e-6, 2, 2, 2},     {0.5, 0.5, 0.5, 0},
    {40, 0.1, 0, 0},    {40, 0, 0.01, 5},  {3.7, 11.2, 0.3, 8}, {1e6, 3e6, 1e6, 2e6},
    {7, 1e9, 1e8, 1e7}, {1e9, 2e9, 0, 1},  {1e12, 5, 1, 3},     {1e15, 4e14, 3e14, 1e14},
};

/* ---- the law */

/* log f at a distance from a point, less that of the point: no digits cancel for large counts. */
static double log_f(const double *c, double at, double d)
{
    double sum = c[0] > 0 ? c[0] * log1p(d / at) : 0;
    for (int l = 0; l < SLOTS; l++)
        sum += c[1 + l] > 0 ? c[1 + l] * log1p(-kappa[l] * d / (1 - kappa[l] * at)) : 0;
    return sum;
}

static double slope(const double *c, double theta)
{
    double sum = c[0] > 0 ? c[0] / theta : 0;
    for (int l = 0; l < SLOTS; l++)
        sum -= c[1 + l] > 0 ? c[1 + l] * kappa[l] / (1 - kappa[l] * theta) : 0;
    return sum;
}

/* By bisection; inside of (0,1). */
static double top_of(const double *c)
{
    double low = 0, high = 1;
    for (int i = 0; i < 200; i++) {
        double middle = 0.5 * (low + high);
        *(slope(c, middle) > 0 ? &low : &high) = middle;
    }
    return fmin(fmax(0.5 * (low + high), 1e-300), 1 - 0x1p-53);
}

static double cumulated[NODES + 1], first, step; /* the distribution function, from `first` on */

/* How far from the top towards `end` log f has fallen by 40. */
static double reach_of(const double *c, double top, double end)
{
    double low = 0, high = 1;
    if (log_f(c, top, (end - top) * (1 - 1e-12)) > -40)
        return end;
    for (int i = 0; i < 1100; i++) {
        double middle = 0.5 * (low + high);
        *(log_f(c, top, middle * (end - top)) > -40 ? &low : &high) = middle;
    }
    return top + high * (end - top);
}

static void tabulate(const double *c)
{
    double top = top_of(c), last = reach_of(c, top, 1), all = 0;
    first = reach_of(c, top, 0);
    step = (last - first) / NODES;
    for (int j = 0; j < NODES; j++) {
        all += exp(log_f(c, top, first - top + (j + 0.5) * step));
        cumulated[j + 1] = all;
    }
    for (int j = 0; j <= NODES; j++)
        cumulated[j] /= all;
}

static double cdf(double theta, const double *unused)
{
    double at = fmin(fmax((theta - first) / step, 0), NODES - 1e-6);
    int j = (int)at;
    return cumulated[j] + (at - j) * (cumulated[j + 1] - cumulated[j]);
}

/* ---- the draws */

static void fill(const double *c, uint64_t replication)
{
    static double clicks[ITEMS], missed[SLOTS * ITEMS], mode[ITEMS];
    static float number[RATE_NUMBERS * ITEMS];
    rate_items items = {clicks, missed, kappa, SLOTS, number, mode, ITEMS};
    for (uint32_t i = 0; i < ITEMS; i++) {
        clicks[i] = c[0];
        for (uint32_t l = 0; l < SLOTS; l++)
            missed[l * ITEMS + i] = c[1 + l];
        KERNEL(rate_hats_of)(&items, &i, 1);
    }
    for (size_t start = 0; start < (size_t)N * EFFORT; start += ITEMS) {
        oltr_rng rng = oltr_rng_at(oltr_rng_make(4, replication), 1, start / ITEMS);
        KERNEL(rate_draws)(&rng, &items, NULL, ITEMS, draws + start);
    }
}

static void draws_have_the_law_of_their_counts(void **state)
{
    for (size_t i = 0; i < COUNT(counts); i++) {
        char what[96];
        const double *c = counts[i];
        (void)snprintf(what, sizeof what, "%g clicks, misses %g %g %g", c[0], c[1], c[2], c[3]);
        tabulate(c);
        fill(c, i);
        sort_doubles(draws, (size_t)N * EFFORT);
        assert_true(draws[0] >= 0 && draws[(size_t)N * EFFORT - 1] <= 1);
        check_ks(what, draws, (size_t)N * EFFORT, cdf, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_have_the_law_of_their_counts),
        cmocka_unit_test(stat_false_alarms),
    };
    return cmocka_run_group_tests_name("draws of attractions", tests, setup, teardown);
}
