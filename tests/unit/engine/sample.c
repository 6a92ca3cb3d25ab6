/* sample.c - the draws of a ranking: those of a subset are those of the whole, directions follow
 * their definition, and a draw is always a number.  tests/kernels compares the versions with each
 * other. Arrays are exactly as long as the headers ask, so that a sanitizer sees a read too far.
 */
#include <float.h>

#include "support/shapes.h"
#include "engine/kernels/philox.h"

enum { LARGEST_SMALL = 300 };

static oltr_rng some_rng(uint64_t round)
{
    return oltr_rng_at(oltr_rng_make(2024, 1), 3, round);
}

/* A random subset of 0..n-1 in random order; returns its size, at least 1. */
static size_t draw_subset(dice *from, uint32_t *item, size_t n)
{
    for (uint32_t i = 0; i < n; i++)
        item[i] = i;
    for (uint32_t i = (uint32_t)n - 1; i > 0; i--) {
        uint32_t j = below(from, i + 1), swap = item[i];
        item[i] = item[j];
        item[j] = swap;
    }
    return 1 + below(from, (uint32_t)n);
}

static void same_floats(const char *what, size_t n, const float *left, const float *right)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&left[i], &right[i], sizeof(float)) != 0)
            fail_msg("%s: entry %zu of %zu is %a and %a", what, i, n, (double)left[i],
                     (double)right[i]);
}

/* ---- Gaussian scores */

static const float extreme_mean[] = {0,       -0.0f,    FLT_TRUE_MIN, -FLT_MIN, 1,
                                     FLT_MAX, -FLT_MAX, INFINITY,     1e-20f,   16777216};
static const float extreme_sd[] = {0, FLT_TRUE_MIN, 1, FLT_MAX, 1e30f, 1e-30f, FLT_MIN};
#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Beliefs about n items: drawn from usual values, or from the ends of what a float can hold. */
static void draw_beliefs(dice *from, int extreme, size_t n, float *mean, float *sd)
{
    for (size_t i = 0; i < padded(n); i++) {
        mean[i] =
            extreme ? extreme_mean[below(from, LENGTH(extreme_mean))] : (float)(2 * unit(from) - 1);
        sd[i] = extreme ? extreme_sd[below(from, LENGTH(extreme_sd))] : (float)unit(from);
    }
}

typedef struct gauss_case {
    float *mean, *sd;
    uint32_t *item;
} gauss_case;

static gauss_case gauss_case_new(dice *from, int extreme, size_t n)
{
    gauss_case c = {exactly(padded(n), sizeof(float)), exactly(padded(n), sizeof(float)),
                    exactly(n, sizeof(uint32_t))};
    draw_beliefs(from, extreme, n, c.mean, c.sd);
    return c;
}

static void gauss_case_free(gauss_case *c)
{
    free(c->mean);
    free(c->sd);
    free(c->item);
}

static void gauss_subset_is_part_of_the_whole(gauss_case *c, dice *from, const oltr_rng *rng,
                                              size_t n, const float *whole)
{
    size_t m = draw_subset(from, c->item, n);
    float *part = exactly(m, sizeof(float)), *expected = exactly(m, sizeof(float));
    for (size_t j = 0; j < m; j++)
        expected[j] = whole[c->item[j]];
    gauss_scores(rng, c->mean, c->sd, c->item, m, part);
    same_floats("gauss_scores of a subset", m, part, expected);
    gauss_scores_plain(rng, c->mean, c->sd, c->item, m, part);
    same_floats("gauss_scores_plain of a subset", m, part, expected);
    free(part);
    free(expected);
}

static void gauss_subsets_get_the_draws_of_the_whole(void **state)
{
    dice from = {1};
    for (size_t n = 1; n <= LARGEST_SMALL; n++) {
        gauss_case c = gauss_case_new(&from, n % 2 == 0, n);
        float *whole = exactly(padded(n), sizeof(float));
        oltr_rng rng = some_rng(n);
        gauss_scores_plain(&rng, c.mean, c.sd, NULL, n, whole);
        gauss_subset_is_part_of_the_whole(&c, &from, &rng, n, whole);
        free(whole);
        gauss_case_free(&c);
    }
}

static void a_longer_list_does_not_change_the_draws_of_its_beginning(void **state)
{
    dice from = {2};
    gauss_case c = gauss_case_new(&from, 0, LARGEST_SMALL);
    float whole[LARGEST_SMALL + NORMAL_GROUP], part[LARGEST_SMALL + NORMAL_GROUP];
    oltr_rng rng = some_rng(1);
    gauss_scores(&rng, c.mean, c.sd, NULL, LARGEST_SMALL, whole);
    for (size_t n = 1; n < LARGEST_SMALL; n++) {
        gauss_scores(&rng, c.mean, c.sd, NULL, n, part);
        same_floats("gauss_scores", n, part, whole);
    }
    gauss_case_free(&c);
}

/* ---- directions */

/* Number m of a round, by the layout that sample.c promises. */
static float uniform_at(const oltr_rng *rng, uint64_t m)
{
    uint64_t counter = m / 32 * 8 + m % 8;
    uint32_t word[4];
    words_at(rng, (uint32_t)counter, (uint32_t)(counter >> 32), word);
    return (float)((double)(word[m / 8 % 4] >> 1) * 0x1p-31 + 0x1p-32);
}

/* The rows are the uniforms at length 1, within five roundings of a float; the products are
 * theirs. */
static void check_rows(const oltr_rng *rng, uint64_t first, size_t n, uint32_t dim,
                       const double *theta, const float *x, const double *product)
{
    for (size_t i = 0; i < n; i++, x += dim) {
        double square = 0, sum = 0, size = 0;
        for (uint32_t j = 0; j < dim; j++)
            square += pow((double)uniform_at(rng, (first + i) * dim + j), 2);
        for (uint32_t j = 0; j < dim; j++) {
            double expected = (double)uniform_at(rng, (first + i) * dim + j) / sqrt(square);
            assert_true(fabs((double)x[j] - expected) <= 3e-7 * expected);
            sum += (double)x[j] * theta[j];
            size += fabs((double)x[j] * theta[j]);
        }
        assert_true(fabs(product[i] - sum) <= 1e-15 * (4 + dim) * size);
    }
}

static void check_directions(const oltr_rng *rng, uint64_t first, size_t n, uint32_t dim)
{
    float *x = exactly(n * dim, sizeof *x);
    double *theta = exactly(dim, sizeof *theta), *product = exactly(n, sizeof *product);
    dice from = {dim};
    for (uint32_t j = 0; j < dim; j++)
        theta[j] = 2 * unit(&from) - 1;
    KERNEL(cube_directions)(rng, first, n, dim, theta, x, product);
    check_rows(rng, first, n, dim, theta, x, product);
    free(x);
    free(theta);
    free(product);
}

static void directions_are_the_uniforms_of_their_place_at_length_1(void **state)
{
    static const size_t rows[] = {1, 2, 5, 31, 32, 33, 70};
    static const uint32_t large[] = {67, 136, 220, 1000};
    for (size_t r = 0; r < LENGTH(rows); r++) {
        oltr_rng rng = some_rng(UINT64_C(0xABC000000000) + r);
        for (uint32_t dim = 1; dim <= 40; dim++)
            check_directions(&rng, 0, rows[r], dim);
        for (size_t d = 0; d < LENGTH(large); d++)
            check_directions(&rng, 32 * (uint64_t)d, rows[r], large[d]);
    }
}

/* 2^34 numbers use up one purpose, in the middle of a row where dim is no power of two. */
static void directions_go_on_beyond_all_positions_of_a_purpose(void **state)
{
    static const uint32_t dims[] = {3, 136, 4096};
    oltr_rng rng = some_rng(3);
    for (size_t d = 0; d < LENGTH(dims); d++) {
        uint64_t last = (UINT64_C(1) << 34) / dims[d] / 32 * 32;
        check_directions(&rng, last - 32, 96, dims[d]);
        check_directions(&rng, 2 * last, 40, dims[d]);
    }
}

/* ---- beta scores */

typedef enum shape_kind {
    USUAL_SHAPES,
    SMALL_SHAPES,
    LARGE_SHAPES,
    EXTREME_SHAPES,
    MIXED_SHAPES,
    SHAPE_KINDS
} shape_kind;

static double draw_shape(dice *from, shape_kind kind)
{
    static const double mixed[] = {1e-3, 0.5, 1 - 1e-16, 1, 1 + 1e-15, 1.0001, 1.5, 2, 100, 1e6};
    switch (kind) {
    case USUAL_SHAPES:
        return 1 + below(from, 50);
    case SMALL_SHAPES:
        return log_uniform(from, 1e-3, 1);
    case LARGE_SHAPES:
        return log_uniform(from, 1e3, 1e6);
    case EXTREME_SHAPES:
        return below(from, 2) ? log_uniform(from, 1e-300, 1) : log_uniform(from, 1, 1e15);
    default:
        return mixed[below(from, LENGTH(mixed))];
    }
}

static shape_arrays draw_shapes(dice *from, shape_kind kind, size_t n)
{
    shape_arrays s = shapes_new(n);
    for (size_t i = 0; i < n; i++)
        shapes_set(&s, i, draw_shape(from, kind), draw_shape(from, kind));
    return s;
}

static void beta_subsets_get_the_draws_of_the_whole(void **state)
{
    dice from = {3};
    for (size_t n = 1; n <= LARGEST_SMALL; n++) {
        shape_arrays s = draw_shapes(&from, (shape_kind)(n % SHAPE_KINDS), n);
        beta_shapes view = shapes_view(&s);
        uint32_t *item = exactly(n, sizeof *item), *todo = exactly(padded(n), sizeof *todo);
        float *whole = exactly(padded(n), sizeof *whole), *part = exactly(padded(n), sizeof *part);
        oltr_rng rng = some_rng(n);
        beta_scores_plain(&rng, &view, NULL, n, todo, whole);
        size_t m = draw_subset(&from, item, n);
        beta_scores(&rng, &view, item, m, todo, part);
        for (size_t j = 0; j < m; j++)
            same_floats("beta_scores of a subset", 1, &part[j], &whole[item[j]]);
        shapes_free(&s);
        free(item);
        free(todo);
        free(whole);
        free(part);
    }
}

/* However small the shapes are, a draw is a number. */
static void beta_scores_of_extreme_shapes_are_finite(void **state)
{
    static const double shape[] = {5e-324, 1e-308, 1e-300, 1e-38, 1e-36, 1e-10, 0.5, 1, 1e10, 1e15};
    enum { SHAPES = LENGTH(shape), N = SHAPES * SHAPES };
    float out[N + NORMAL_GROUP];
    uint32_t todo[N + NORMAL_GROUP];
    shape_arrays s = shapes_new(N);
    for (size_t i = 0; i < N; i++)
        shapes_set(&s, i, shape[i / SHAPES], shape[i % SHAPES]);
    beta_shapes view = shapes_view(&s);
    for (uint64_t round = 0; round < 1000; round++) {
        oltr_rng rng = some_rng(round);
        beta_scores(&rng, &view, NULL, N, todo, out);
        for (size_t i = 0; i < N; i++)
            if (!isfinite(out[i]))
                fail_msg("Beta(%g, %g) gives %g", shape[i / SHAPES], shape[i % SHAPES],
                         (double)out[i]);
    }
    shapes_free(&s);
}

static void the_padding_of_beta_scores_is_minus_infinity(void **state)
{
    dice from = {4};
    for (size_t n = 1; n <= 100; n++) {
        shape_arrays s = draw_shapes(&from, MIXED_SHAPES, n);
        beta_shapes view = shapes_view(&s);
        uint32_t *todo = exactly(padded(n), sizeof *todo);
        float *out = exactly(padded(n), sizeof *out);
        oltr_rng rng = some_rng(n);
        beta_scores(&rng, &view, NULL, n, todo, out);
        for (size_t i = 0; i < n; i++)
            assert_true(isfinite(out[i]));
        for (size_t i = n; i < padded(n); i++)
            assert_true(isinf(out[i]) && out[i] < 0);
        shapes_free(&s);
        free(todo);
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gauss_subsets_get_the_draws_of_the_whole),
        cmocka_unit_test(a_longer_list_does_not_change_the_draws_of_its_beginning),
        cmocka_unit_test(directions_are_the_uniforms_of_their_place_at_length_1),
        cmocka_unit_test(directions_go_on_beyond_all_positions_of_a_purpose),
        cmocka_unit_test(beta_subsets_get_the_draws_of_the_whole),
        cmocka_unit_test(beta_scores_of_extreme_shapes_are_finite),
        cmocka_unit_test(the_padding_of_beta_scores_is_minus_infinity),
    };
    return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
