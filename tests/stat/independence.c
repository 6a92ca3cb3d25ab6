/* independence.c - draws that should have nothing to do with each other do not: items, rounds,
 * streams, replications, seeds, forks, and the two normals of a Box-Muller pair.
 *
 * Each draw alone can be perfect while two of them share a word.  Looked at are products of draws
 * (signs and sizes) and products of their squares (sizes alone: two normals of one radius would
 * show there).  Fixed seeds; false alarms: see stat.h.
 */
#include "support/stat.h"
#include "support/shapes.h"
#include "engine/kernels/float_math.h"

enum { WIDTH = 64, ROUNDS = 1 << 13, DRAWS = 1 << 16 }; /* ROUNDS and DRAWS times EFFORT */

/* ---- correlations of standardised draws */

/* Sums of x y and of (x^2 - 1)(y^2 - 1) over n independent pairs of the law. */
typedef struct pair_sums {
    double products, squares;
} pair_sums;

static void add_pair(pair_sums *l, double x, double y)
{
    l->products += x * y;
    l->squares += (x * x - 1) * (y * y - 1);
}

/* Terms are products of two independent copies, so variance and skewness are products too. */
static void check_unrelated(const char *what, const pair_sums *l, size_t n, const stat_law *law)
{
    double skew = law_power_skew(law, 1), square_skew = law_power_skew(law, 2);
    check_sum(what, "correlation", l->products / sqrt((double)n), skew * skew, n);
    check_sum(what, "correlation of squares", l->squares / ((law->moment[4] - 1) * sqrt((double)n)),
              square_skew * square_skew, n);
}

/* ---- items of one round */

typedef void fill_round(uint64_t round, double *z);

static void fill_gauss(uint64_t round, double *z)
{
    static const float mean[WIDTH];
    static float sd[WIDTH], score[WIDTH];
    oltr_rng rng = oltr_rng_at(oltr_rng_make(1, 1), 1, round);
    for (int i = 0; i < WIDTH; i++)
        sd[i] = 1;
    gauss_scores(&rng, mean, sd, NULL, WIDTH, score);
    for (int i = 0; i < WIDTH; i++)
        z[i] = (double)score[i];
}

static const double BETA_A = 4, BETA_B = 6, SMALL_A = 0.8, SMALL_B = 0.9;

/* Items of one pair of shapes; all zero at first. */
typedef struct beta_row {
    shape_arrays shapes;
    stat_law law;
} beta_row;

static void fill_beta_of(beta_row *row, double a, double b, uint64_t round, double *z)
{
    static float score[WIDTH];
    static uint32_t todo[WIDTH];
    if (!row->shapes.ca) {
        row->shapes = shapes_new(WIDTH);
        row->law = law_of_log_odds(a, b);
        for (size_t i = 0; i < WIDTH; i++)
            shapes_set(&row->shapes, i, a, b);
    }
    beta_shapes view = shapes_view(&row->shapes);
    oltr_rng rng = oltr_rng_at(oltr_rng_make(2, 1), 1, round);
    beta_scores(&rng, &view, NULL, WIDTH, todo, score);
    for (int i = 0; i < WIDTH; i++)
        z[i] = ((double)score[i] - row->law.mean) / row->law.sd;
}

static void fill_beta(uint64_t round, double *z)
{
    static beta_row row;
    fill_beta_of(&row, BETA_A, BETA_B, round, z);
}

static void fill_small_beta(uint64_t round, double *z)
{
    static beta_row row;
    fill_beta_of(&row, SMALL_A, SMALL_B, round, z);
}

static void items_are_unrelated(const char *what, fill_round *draw, const stat_law *law)
{
    static pair_sums pair[WIDTH][WIDTH];
    double z[WIDTH];
    memset(pair, 0, sizeof pair);
    for (uint64_t round = 0; round < (uint64_t)ROUNDS * EFFORT; round++) {
        draw(round, z);
        for (int i = 0; i < WIDTH; i++)
            for (int j = 0; j < i; j++)
                add_pair(&pair[i][j], z[i], z[j]);
    }
    for (int i = 0; i < WIDTH; i++)
        for (int j = 0; j < i; j++)
            check_unrelated(what, &pair[i][j], (size_t)ROUNDS * EFFORT, law);
}

static void gauss_scores_of_items_are_unrelated(void **state)
{
    stat_law law = law_of_normal();
    items_are_unrelated("gauss_scores of two items", fill_gauss, &law);
}

static void beta_scores_of_items_are_unrelated(void **state)
{
    stat_law law = law_of_log_odds(BETA_A, BETA_B);
    items_are_unrelated("beta_scores of two items", fill_beta, &law);
}

/* ---- rounds */

enum {
    LAGS = 4,
    SHIFTS = 3
}; /* the next rounds, and there the item itself and its next neighbours */

static void rounds_are_unrelated(const char *what, fill_round *draw, const stat_law *law, size_t n)
{
    static double z[LAGS + 1][WIDTH];
    pair_sums lag[LAGS][SHIFTS] = {{{0, 0}}};
    for (uint64_t round = 0; round < n; round++) {
        memmove(z[1], z[0], sizeof z[0] * LAGS);
        draw((uint64_t)1 << 33 | round, z[0]);
        if (round < LAGS)
            continue;
        for (int l = 0; l < LAGS; l++) /* one item a round: the terms of a sum are uncorrelated */
            for (int s = 0; s < SHIFTS; s++)
                add_pair(&lag[l][s], z[0][round % 16 + (uint64_t)s], z[l + 1][round % 16]);
    }
    for (int l = 0; l < LAGS; l++)
        for (int s = 0; s < SHIFTS; s++)
            check_unrelated(what, &lag[l][s], n - LAGS, law);
}

static void scores_of_successive_rounds_are_unrelated(void **state)
{
    stat_law normal = law_of_normal(), odds = law_of_log_odds(BETA_A, BETA_B);
    stat_law small = law_of_log_odds(SMALL_A, SMALL_B);
    rounds_are_unrelated("gauss_scores of two rounds", fill_gauss, &normal,
                         (size_t)ROUNDS * EFFORT);
    rounds_are_unrelated("beta_scores of two rounds", fill_beta, &odds, (size_t)ROUNDS * EFFORT);
    rounds_are_unrelated("beta_scores of small shapes of two rounds", fill_small_beta, &small,
                         (size_t)ROUNDS * 8); /* their tails are too long for fewer */
}

/* ---- generators */

static void generators_are_unrelated(const char *what, oltr_rng left, oltr_rng right)
{
    pair_sums normals = {0, 0};
    stat_law law = law_of_normal();
    for (int i = 0; i < DRAWS * EFFORT; i++)
        add_pair(&normals, oltr_rng_normal(&left), oltr_rng_normal(&right));
    check_unrelated(what, &normals, (size_t)DRAWS * EFFORT, &law);
}

static void neighbouring_generators_are_unrelated(void **state)
{
    oltr_rng rng = oltr_rng_make(10, 20);
    generators_are_unrelated("streams", oltr_rng_at(rng, 0, 5), oltr_rng_at(rng, 1, 5));
    generators_are_unrelated("rounds", oltr_rng_at(rng, 1, 5), oltr_rng_at(rng, 1, 6));
    generators_are_unrelated("rounds 2^32 apart", oltr_rng_at(rng, 1, 5),
                             oltr_rng_at(rng, 1, 5 + ((uint64_t)1 << 32)));
    generators_are_unrelated("replications", oltr_rng_make(10, 20), oltr_rng_make(10, 21));
    generators_are_unrelated("seeds", oltr_rng_make(10, 20), oltr_rng_make(11, 20));
    generators_are_unrelated("seed and replication exchanged", oltr_rng_make(10, 20),
                             oltr_rng_make(20, 10));
    generators_are_unrelated("forks", oltr_rng_fork(rng, 1), oltr_rng_fork(rng, 2));
    generators_are_unrelated("a fork and its parent", rng, oltr_rng_fork(rng, 0));
}

static void successive_scalar_draws_are_unrelated(void **state)
{
    enum { LAST = 8 };
    double past[LAST + 1] = {0};
    pair_sums lag[LAST] = {{0, 0}};
    stat_law law = law_of_normal();
    oltr_rng rng = oltr_rng_make(12, 1);
    size_t n = (size_t)DRAWS * EFFORT;
    for (size_t i = 0; i < n + LAST; i++) {
        memmove(past + 1, past, sizeof *past * LAST);
        past[0] = oltr_rng_normal(&rng);
        for (int l = 0; i >= LAST && l < LAST; l++)
            add_pair(&lag[l], past[0], past[l + 1]);
    }
    for (int l = 0; l < LAST; l++)
        check_unrelated("successive normals", &lag[l], n, &law);
}

static void the_two_normals_of_a_pair_are_unrelated(void **state)
{
    pair_sums pair = {0, 0};
    unsigned sector[64] = {0};
    stat_law law = law_of_normal();
    oltr_rng rng = oltr_rng_make(13, 1);
    for (int i = 0; i < DRAWS * EFFORT; i++) {
        float z0, z1;
        uint32_t word = oltr_rng_u32(&rng);
        box_muller(word, oltr_rng_u32(&rng), &z0, &z1);
        add_pair(&pair, (double)z0, (double)z1);
        double turn = atan2((double)z1, (double)z0) / 6.28318530717958647693 +
                      0.5; /* of two normals the angle is uniform */
        sector[(unsigned)(turn * 64) % 64]++;
    }
    check_unrelated("a Box-Muller pair", &pair, (size_t)DRAWS * EFFORT, &law);
    check_uniform_cells("the angle of a Box-Muller pair", sector, 64);
}

/* Pairs of successive uniforms fill a square evenly, at the top bits and further down. */
static void pairs_of_uniforms_fill_the_square(void **state)
{
    static const double scales[] = {1, 16, 0x1p16};
    for (int s = 0; s < 3; s++) {
        unsigned cell[256] = {0};
        oltr_rng rng = oltr_rng_make(14, (uint64_t)s);
        for (int i = 0; i < DRAWS * EFFORT; i++) {
            double x = oltr_rng_uniform(&rng) * scales[s], y = oltr_rng_uniform(&rng) * scales[s];
            cell[16 * (int)((x - floor(x)) * 16) + (int)((y - floor(y)) * 16)]++;
        }
        check_uniform_cells("pairs of uniforms", cell, 256);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gauss_scores_of_items_are_unrelated),
        cmocka_unit_test(beta_scores_of_items_are_unrelated),
        cmocka_unit_test(scores_of_successive_rounds_are_unrelated),
        cmocka_unit_test(neighbouring_generators_are_unrelated),
        cmocka_unit_test(successive_scalar_draws_are_unrelated),
        cmocka_unit_test(the_two_normals_of_a_pair_are_unrelated),
        cmocka_unit_test(pairs_of_uniforms_fill_the_square),
        cmocka_unit_test(stat_false_alarms),
    };
    return cmocka_run_group_tests_name("independence", tests, stat_setup, NULL);
}
