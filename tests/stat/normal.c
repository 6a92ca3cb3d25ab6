/* normal.c - the normal draws are normal: the double one of the worlds and the float32 one of the
 * rankings.
 *
 * Thompson sampling explores by its tails, so those are counted out to five standard deviations.
 * Fixed seeds; false alarms: see stat.h.
 */
#include "support/stat.h"
#include "engine/kernels/float_math.h"
#include "engine/kernels/philox.h"
#include "engine/rng/sample.h"

enum { N = 1 << 17, ITEMS = 1 << 12 }; /* N times EFFORT draws */

static double normal_cdf(double x, const double *parameters)
{
    return gsl_cdf_ugaussian_P(x);
}

static double normal_complement(double x, const double *parameters)
{
    return gsl_cdf_ugaussian_Q(x);
}

/* ---- where draws come from */

typedef void fill(double *x, size_t n, uint64_t round);

static void fill_scalar(double *x, size_t n, uint64_t round)
{
    oltr_rng rng = oltr_rng_at(oltr_rng_make(1, 1), 1, round);
    for (size_t i = 0; i < n; i++)
        x[i] = oltr_rng_normal(&rng);
}

/* n is a multiple of ITEMS: that many items, in as many rounds as it takes. */
static void fill_scores(double *x, size_t n, uint64_t round)
{
    static float mean[ITEMS], sd[ITEMS], score[ITEMS];
    for (size_t i = 0; i < ITEMS; i++)
        sd[i] = 1;
    for (size_t start = 0; start < n; start += ITEMS) {
        oltr_rng rng = oltr_rng_at(oltr_rng_make(2, 1), 1, (round << 20) + start / ITEMS);
        gauss_scores(&rng, mean, sd, NULL, ITEMS, score);
        for (size_t i = 0; i < ITEMS; i++)
            x[start + i] = (double)score[i];
    }
}

/* One item, one draw a round. */
static void fill_rounds(double *x, size_t n, uint64_t round)
{
    const float mean[100] = {0}, sd[100] = {[77] = 1};
    const uint32_t item = 77;
    for (size_t i = 0; i < n; i++) {
        float score;
        oltr_rng rng = oltr_rng_at(oltr_rng_make(3, 1), 1, (round << 24) + i);
        gauss_scores(&rng, mean, sd, &item, 1, &score);
        x[i] = (double)score;
    }
}

static void fill_first_of_pair(double *x, size_t n, uint64_t round)
{
    oltr_rng rng = oltr_rng_at(oltr_rng_make(4, 1), 1, round);
    for (size_t i = 0; i < n; i++) {
        float z0, z1;
        uint32_t word = oltr_rng_u32(&rng);
        box_muller(word, oltr_rng_u32(&rng), &z0, &z1);
        x[i] = (double)z0;
    }
}

static void fill_second_of_pair(double *x, size_t n, uint64_t round)
{
    oltr_rng rng = oltr_rng_at(oltr_rng_make(5, 1), 1, round);
    for (size_t i = 0; i < n; i++) {
        float z0, z1;
        uint32_t word = oltr_rng_u32(&rng);
        box_muller(word, oltr_rng_u32(&rng), &z0, &z1);
        x[i] = (double)z1;
    }
}

/* ---- moments and law */

static void is_normal(const char *what, fill *draw)
{
    size_t n = (size_t)N * EFFORT;
    double *x = exactly(n, sizeof *x);
    stat_law law = law_of_normal();
    draw(x, n, 1);
    check_moments(what, x, n, &law);
    sort_doubles(x, n);
    check_ks(what, x, n, normal_cdf, NULL);
    check_tails(what, x, n, &law, normal_cdf, normal_complement, NULL);
    free(x);
}

static void scalar_draws_are_normal(void **state)
{
    is_normal("oltr_rng_normal", fill_scalar);
}

static void scores_of_many_items_are_normal(void **state)
{
    is_normal("gauss_scores over items", fill_scores);
}

static void scores_of_one_item_over_rounds_are_normal(void **state)
{
    is_normal("gauss_scores over rounds", fill_rounds);
}

static void both_normals_of_a_pair_are_normal(void **state)
{
    is_normal("the first of box_muller", fill_first_of_pair);
    is_normal("the second of box_muller", fill_second_of_pair);
}

/* ---- far tails */

enum { SIGMAS = 4 }; /* beyond 3, 4, 5 and 6 */

static void far_tails_are_right(const char *what, fill *draw, uint64_t blocks)
{
    static const char *const below[] = {"below -3", "below -4", "below -5", "below -6"};
    static const char *const above[] = {"above 3", "above 4", "above 5", "above 6"};
    static double x[1 << 16];
    const size_t n = COUNT(x);
    unsigned low[SIGMAS] = {0}, high[SIGMAS] = {0};
    for (uint64_t block = 0; block < blocks; block++) {
        draw(x, n, 100 + block);
        for (size_t i = 0; i < n; i++)
            if (fabs(x[i]) > 3)
                for (int s = 0; s < SIGMAS; s++) {
                    low[s] += x[i] < -(3 + s);
                    high[s] += x[i] > 3 + s;
                }
    }
    for (int s = 0; s < SIGMAS; s++) {
        double expected = (double)(n * blocks) * gsl_cdf_ugaussian_Q(3 + s);
        check_count(what, below[s], low[s], expected);
        check_count(what, above[s], high[s], expected);
    }
}

static void scalar_tails_are_right_out_to_six_sigma(void **state)
{
    far_tails_are_right("oltr_rng_normal", fill_scalar, 40 * EFFORT);
}

static void score_tails_are_right_out_to_six_sigma(void **state)
{
    far_tails_are_right("gauss_scores", fill_scores, 160 * EFFORT);
}

/* ---- mean and standard deviation */

static void scores_are_shifted_and_scaled(void **state)
{
    static const float mean[ITEMS] = {[0] = 0.25f, [1] = -3, [2] = 1e6f},
                       sd[ITEMS] = {[0] = 0.5f, [1] = 1e-3f, [2] = 10};
    static float plain_mean[ITEMS], plain_sd[ITEMS], got[ITEMS], z[ITEMS];
    for (size_t i = 0; i < ITEMS; i++)
        plain_sd[i] = 1;
    oltr_rng rng = oltr_rng_make(6, 1);
    gauss_scores(&rng, mean, sd, NULL, ITEMS, got);
    gauss_scores(&rng, plain_mean, plain_sd, NULL, ITEMS, z);
    for (size_t i = 0; i < ITEMS; i++) {
        double right = (double)mean[i] + (double)sd[i] * (double)z[i];
        assert_true(fabs((double)got[i] - right) <= 1e-6 * (fabs((double)mean[i]) + (double)sd[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalar_draws_are_normal),
        cmocka_unit_test(scores_of_many_items_are_normal),
        cmocka_unit_test(scores_of_one_item_over_rounds_are_normal),
        cmocka_unit_test(both_normals_of_a_pair_are_normal),
        cmocka_unit_test(scalar_tails_are_right_out_to_six_sigma),
        cmocka_unit_test(score_tails_are_right_out_to_six_sigma),
        cmocka_unit_test(scores_are_shifted_and_scaled),
        cmocka_unit_test(stat_false_alarms),
    };
    return cmocka_run_group_tests_name("normal", tests, stat_setup, NULL);
}
