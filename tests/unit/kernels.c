/* kernels.c - every vector kernel returns the bits of its plain C twin.
 *
 * That is what makes a run the same on every machine: the twin can be read, the kernel only has to
 * agree, on random and on malicious input alike.  Arrays are exactly as long as the headers ask, so
 * that a sanitizer sees a read too far.
 */
#include <float.h>

#include "shapes.h"
#include "engine/kernels/cpu.h"
#include "engine/select/topk.h"
#include "engine/rng/philox.h"

enum { LARGE = 10000, LARGEST_SMALL = 300 };

static oltr_rng some_rng(uint64_t round)
{
    return oltr_rng_at(oltr_rng_make(2024, 1), 3, round);
}

/* A random subset of 0..n-1 in random order; returns its size, at least 1. */
static size_t draw_subset(source *from, uint32_t *item, size_t n)
{
    for (uint32_t i = 0; i < n; i++)
        item[i] = i;
    for (uint32_t i = (uint32_t)n - 1; i > 0; i--) {
        uint32_t j = next_below(from, i + 1), swap = item[i];
        item[i] = item[j];
        item[j] = swap;
    }
    return 1 + next_below(from, (uint32_t)n);
}

static void same_floats(const char *what, size_t n, const float *left, const float *right)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&left[i], &right[i], sizeof(float)) != 0)
            FAIL_WITH("%s: entry %zu of %zu is %a and %a", what, i, n, (double)left[i],
                      (double)right[i]);
}

/* ---- Gaussian scores */

static const float extreme_mean[] = {0,       -0.0f,    FLT_TRUE_MIN, -FLT_MIN, 1,
                                     FLT_MAX, -FLT_MAX, INFINITY,     1e-20f,   16777216};
static const float extreme_sd[] = {0, FLT_TRUE_MIN, 1, FLT_MAX, 1e30f, 1e-30f, FLT_MIN};
#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Beliefs about n items: drawn from usual values, or from the ends of what a float can hold. */
static void draw_beliefs(source *from, int extreme, size_t n, float *mean, float *sd)
{
    for (size_t i = 0; i < padded(n); i++) {
        mean[i] = extreme ? extreme_mean[next_below(from, LENGTH(extreme_mean))]
                          : (float)(2 * next_unit(from) - 1);
        sd[i] = extreme ? extreme_sd[next_below(from, LENGTH(extreme_sd))] : (float)next_unit(from);
    }
}

typedef struct gauss_case {
    float *mean, *sd;
    uint32_t *item;
} gauss_case;

static gauss_case gauss_case_new(source *from, int extreme, size_t n)
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

static void gauss_subset_is_part_of_the_whole(gauss_case *c, source *from, const oltr_rng *rng,
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
    (void)state;
    source from = {1};
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
    (void)state;
    source from = {2};
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

/* Both twins write the same bits, n rows and n products and nothing else. */
static void check_directions(const oltr_rng *rng, uint64_t first, size_t n, uint32_t dim)
{
    float *plain = exactly(n * dim, sizeof(float)), *vector = exactly(n * dim, sizeof(float));
    double *theta = exactly(dim, sizeof(double)), *one = exactly(n, sizeof(double)),
           *two = exactly(n, sizeof(double));
    source from = {dim};
    for (uint32_t j = 0; j < dim; j++)
        theta[j] = 2 * next_unit(&from) - 1;
    cube_directions_plain(rng, first, n, dim, theta, plain, one);
    cube_directions(rng, first, n, dim, theta, vector, two);
    same_floats("cube_directions", n * dim, plain, vector);
    assert_memory_equal(one, two, n * sizeof *one);
    check_rows(rng, first, n, dim, theta, plain, one);
    free(plain);
    free(vector);
    free(theta);
    free(one);
    free(two);
}

static void directions_are_the_uniforms_of_their_place_at_length_1(void **state)
{
    static const size_t rows[] = {1, 2, 5, 31, 32, 33, 70};
    static const uint32_t large[] = {67, 136, 220, 1000};
    (void)state;
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
    (void)state;
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

static double draw_shape(source *from, shape_kind kind)
{
    static const double mixed[] = {1e-3, 0.5, 1 - 1e-16, 1, 1 + 1e-15, 1.0001, 1.5, 2, 100, 1e6};
    switch (kind) {
    case USUAL_SHAPES:
        return 1 + next_below(from, 50);
    case SMALL_SHAPES:
        return log_uniform(from, 1e-3, 1);
    case LARGE_SHAPES:
        return log_uniform(from, 1e3, 1e6);
    case EXTREME_SHAPES:
        return next_below(from, 2) ? log_uniform(from, 1e-300, 1) : log_uniform(from, 1, 1e15);
    default:
        return mixed[next_below(from, LENGTH(mixed))];
    }
}

static shape_arrays draw_shapes(source *from, shape_kind kind, size_t n)
{
    shape_arrays s = shapes_new(n);
    for (size_t i = 0; i < n; i++)
        shapes_set(&s, i, draw_shape(from, kind), draw_shape(from, kind));
    return s;
}

static void beta_subsets_get_the_draws_of_the_whole(void **state)
{
    (void)state;
    source from = {3};
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
    (void)state;
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
                FAIL_WITH("Beta(%g, %g) gives %g", shape[i / SHAPES], shape[i % SHAPES],
                          (double)out[i]);
    }
    shapes_free(&s);
}

static void the_padding_of_beta_scores_is_minus_infinity(void **state)
{
    (void)state;
    source from = {4};
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

/* ---- plain against AVX2 */

#if OLTR_HAVE_AVX2

static void compare_gauss(source *from, int extreme, size_t n, uint64_t round)
{
    gauss_case c = gauss_case_new(from, extreme, n);
    size_t m = draw_subset(from, c.item, n), room = padded(n);
    float *plain = exactly(room, sizeof(float)), *vector = exactly(room, sizeof(float));
    oltr_rng rng = some_rng(round);
    gauss_scores_plain(&rng, c.mean, c.sd, NULL, n, plain);
    gauss_scores_avx2(&rng, c.mean, c.sd, NULL, n, vector);
    same_floats("gauss", room, plain, vector);
    if (cpu_has_avx512()) {
        gauss_scores_avx512(&rng, c.mean, c.sd, n, vector);
        same_floats("gauss in 512 bits", room, plain, vector);
        standard_normals_plain(&rng, n, plain);
        standard_normals_avx512(&rng, n, vector);
        same_floats("normals in 512 bits", room, plain, vector);
    }
    float *few_plain = exactly(m, sizeof(float)), *few_vector = exactly(m, sizeof(float));
    gauss_scores_plain(&rng, c.mean, c.sd, c.item, m, few_plain);
    gauss_scores_avx2(&rng, c.mean, c.sd, c.item, m, few_vector);
    same_floats("gauss of a list", m, few_plain, few_vector);
    free(plain);
    free(vector);
    free(few_plain);
    free(few_vector);
    gauss_case_free(&c);
}

static void gauss_scores_avx2_equals_plain(void **state)
{
    (void)state;
    source from = {5};
    for (size_t n = 1; n <= LARGEST_SMALL; n++)
        for (int extreme = 0; extreme < 2; extreme++)
            compare_gauss(&from, extreme, n, n);
    for (uint64_t round = 0; round < 10 * EFFORT; round++)
        compare_gauss(&from, round % 2 == 1, LARGE, round << 40);
}

/* What is made ahead is what would be made on the spot, whatever is asked for next. */
static void normals_ahead_are_those_of_their_round(void **state)
{
    enum { STEADY = 40, N = 30 };
    static normals_ahead ahead;
    gauss_case c = {0};
    source from = {11};
    (void)state;
    memset(&ahead, 0, sizeof ahead);
    c = gauss_case_new(&from, 0, N);
    for (uint64_t call = 0, round = 0xFFFFFFFF - 2 * STEADY; call < 50 * STEADY; call++) {
        float plain[NORMAL_GROUP], vector[NORMAL_GROUP];
        uint32_t what = call < 4 * STEADY
                            ? 100
                            : next_below(&from, 101); /* first long past the end of the low half */
        round += what < 2 ? 3 : what < 4 ? 0 : what < 6 ? -(uint64_t)2 : 1;
        oltr_rng rng = oltr_rng_at(oltr_rng_make(3, what == 6), what == 7, round);
        standard_normals_plain(&rng, N, plain);
        same_floats("normals made ahead", N, plain,
                    standard_normals_ahead(&rng, &ahead, N, vector));
        if (call / STEADY % 2)
            same_floats("the same once more", N, plain,
                        standard_normals_ahead(&rng, &ahead, N, vector));
        if (what % 2)
            continue;
        rng = oltr_rng_at(rng, what == 7, ++round);
        gauss_scores_plain(&rng, c.mean, c.sd, NULL, N, plain);
        gauss_scores_ahead(&rng, &ahead, c.mean, c.sd, NULL, N, vector);
        same_floats("scores made ahead", NORMAL_GROUP, plain, vector);
    }
    gauss_case_free(&c);
}

static void compare_beta(source *from, shape_kind kind, size_t n, uint64_t round)
{
    shape_arrays s = draw_shapes(from, kind, n);
    beta_shapes view = shapes_view(&s);
    uint32_t *item = exactly(n, sizeof *item), *todo = exactly(padded(n), sizeof *todo);
    float *plain = exactly(padded(n), sizeof *plain), *vector = exactly(padded(n), sizeof *vector);
    oltr_rng rng = some_rng(round);
    beta_scores_plain(&rng, &view, NULL, n, todo, plain);
    beta_scores_avx2(&rng, &view, NULL, n, todo, vector);
    same_floats("beta", padded(n), plain, vector);
    size_t m = draw_subset(from, item, n);
    beta_scores_plain(&rng, &view, item, m, todo, plain);
    beta_scores_avx2(&rng, &view, item, m, todo, vector);
    same_floats("beta of a list", m, plain, vector);
    shapes_free(&s);
    free(item);
    free(todo);
    free(plain);
    free(vector);
}

static void beta_scores_avx2_equals_plain(void **state)
{
    (void)state;
    source from = {6};
    for (size_t n = 1; n <= LARGEST_SMALL; n++)
        for (shape_kind kind = 0; kind < SHAPE_KINDS; kind++)
            compare_beta(&from, kind, n, n);
    for (uint64_t round = 0; round < 5 * EFFORT; round++)
        compare_beta(&from, (shape_kind)(round % SHAPE_KINDS), LARGE, round << 40);
}

typedef enum score_kind {
    DISTINCT,
    TWO_VALUES,
    ALL_EQUAL,
    ALL_INFINITE,
    EXTREME,
    SCORE_KINDS,
    ZEROS /* of either sign, with something above and below */
} score_kind;

static double draw_score(source *from, score_kind kind)
{
    static const double extreme[] = {0,        FLT_TRUE_MIN,     -FLT_TRUE_MIN, FLT_MIN, FLT_MAX,
                                     -FLT_MAX, (double)INFINITY, 1e-30,         -1,      16777217};
    static const double zeros[] = {0.0, -0.0, 0.0, -0.0, FLT_TRUE_MIN, -FLT_TRUE_MIN};
    switch (kind) {
    case DISTINCT:
        return 2 * next_unit(from) - 1;
    case TWO_VALUES:
        return next_below(from, 2) ? 0.25 : 0.75;
    case ALL_EQUAL:
        return -3;
    case ALL_INFINITE:
        return (double)INFINITY;
    case ZEROS:
        return zeros[next_below(from, LENGTH(zeros))];
    default:
        return extreme[next_below(from, LENGTH(extreme))];
    }
}

typedef struct picks {
    uint32_t *position;
    double *score;
} picks;

static picks picks_new(uint32_t k)
{
    return (picks){exactly(k, sizeof(uint32_t)), exactly(k, sizeof(double))};
}

static void same_picks(const char *what, size_t n, uint32_t k, picks *left, picks *right)
{
    for (uint32_t i = 0; i < k; i++)
        if (left->position[i] != right->position[i] ||
            memcmp(&left->score[i], &right->score[i], sizeof(double)) != 0)
            FAIL_WITH("%s: slot %u of %u from %zu is %u (%a) and %u (%a)", what, i, k, n,
                      left->position[i], left->score[i], right->position[i], right->score[i]);
    free(left->position);
    free(left->score);
    free(right->position);
    free(right->score);
}

static void compare_topk_f32(source *from, score_kind kind, size_t n, uint32_t k, int wide)
{
    float *x = exactly(padded(n), sizeof *x), *y = exactly(padded(n), sizeof *y),
          *best = exactly(padded(n) / 8 + 8, sizeof *best);
    for (size_t i = 0; i < padded(n); i++)
        x[i] = y[i] = i < n ? (float)draw_score(from, kind) : -INFINITY;
    picks plain = picks_new(k), vector = picks_new(k);
    oltr_rng rng = some_rng(next_bits(from) >> 16);
    topk_f32_plain(x, n, k, &rng, best, plain.position, plain.score);
    (wide ? topk_f32_avx512 : topk_f32_avx2)(y, n, k, &rng, best, vector.position, vector.score);
    same_picks("topk_f32", n, k, &plain, &vector);
    free(x);
    free(y);
    free(best);
}

static void compare_topk_f64(source *from, score_kind kind, size_t n, uint32_t k, int wide)
{
    double *x = exactly(padded(n), sizeof *x), *y = exactly(padded(n), sizeof *y),
           *best = exactly(padded(n) / 8 + 8, sizeof *best);
    for (size_t i = 0; i < padded(n); i++)
        x[i] = y[i] = i < n ? draw_score(from, kind) : -(double)INFINITY;
    picks plain = picks_new(k), vector = picks_new(k);
    oltr_rng rng = some_rng(next_bits(from) >> 16);
    topk_f64_plain(x, n, k, &rng, best, plain.position, plain.score);
    (wide ? topk_f64_avx512 : topk_f64_avx2)(y, n, k, &rng, best, vector.position, vector.score);
    same_picks("topk_f64", n, k, &plain, &vector);
    free(x);
    free(y);
    free(best);
}

static void compare_topk(source *from, score_kind kind, size_t n, uint32_t k)
{
    for (int wide = 0; wide <= cpu_has_avx512(); wide++) {
        compare_topk_f32(from, kind, n, k, wide);
        compare_topk_f64(from, kind, n, k, wide);
    }
}

static void topk_avx2_equals_plain_for_every_k_of_few_scores(void **state)
{
    (void)state;
    source from = {7};
    for (size_t n = 1; n <= 70; n++)
        for (uint32_t k = 1; k <= n; k++)
            for (score_kind kind = 0; kind < SCORE_KINDS; kind++)
                compare_topk(&from, kind, n, k);
}

static void topk_avx2_equals_plain_for_more_scores(void **state)
{
    (void)state;
    source from = {8};
    for (size_t n = 71; n <= LARGEST_SMALL; n++)
        for (score_kind kind = 0; kind < SCORE_KINDS; kind++) {
            compare_topk(&from, kind, n, 1 + next_below(&from, (uint32_t)n));
            compare_topk(&from, kind, n, (uint32_t)n);
        }
}

static void topk_avx2_equals_plain_for_many_scores(void **state)
{
    (void)state;
    source from = {9};
    static const uint32_t ks[] = {1, 2, 10, 100, 5000, LARGE - 1, LARGE};
    for (size_t i = 0; i < LENGTH(ks); i++)
        for (score_kind kind = 0; kind < SCORE_KINDS; kind++)
            if (ks[i] <= 100 || kind == DISTINCT || kind == EXTREME)
                compare_topk(&from, kind, LARGE, ks[i]);
}

static void topk_avx2_equals_plain_for_zeros_of_either_sign(void **state)
{
    (void)state;
    source from = {10};
    for (size_t n = 1; n <= LARGEST_SMALL; n++)
        compare_topk(&from, ZEROS, n, 1 + next_below(&from, (uint32_t)n));
}

/* Scores whose order is in their last bits, or of either sign, or equal: where to look for a wrong
 * list. */
static float draw_mean(source *from, uint32_t kind)
{
    switch (kind) {
    case 0:
        return (float)next_unit(from);
    case 1:
        return 1 + (float)next_below(from, 200) * FLT_EPSILON;
    case 2:
        return (float)draw_score(from, ZEROS);
    case 3:
        return next_below(from, 8) ? -1 - (float)next_unit(from) : (float)next_unit(from);
    default:
        return (float)draw_score(from, TWO_VALUES);
    }
}

/* 1 when the fused kernel decided; then the list must be that of the scores. */
static uint32_t fused_decides(source *from, uint32_t kind, size_t n, uint32_t k)
{
    enum { UNTOUCHED = 77 };
    float z[NORMAL_GROUP], mean[NORMAL_GROUP], sd[NORMAL_GROUP], score[NORMAL_GROUP],
        best[NORMAL_GROUP];
    uint32_t plain[3], fused[3] = {UNTOUCHED, UNTOUCHED, UNTOUCHED};
    oltr_rng rng = some_rng(next_bits(from) >> 16);
    standard_normals_plain(&rng, NORMAL_GROUP, z);
    for (size_t i = 0; i < NORMAL_GROUP; i++) {
        mean[i] = i < n ? draw_mean(from, kind) : -INFINITY;
        sd[i] = i < n && kind == 0 ? (float)next_unit(from) : 0;
        score[i] = fmaf(sd[i], z[i], mean[i]);
    }
    topk_f32_plain(score, n, k, &rng, best, plain, NULL);
    int decided = topk_gauss_avx512(z, mean, sd, k, fused);
    for (uint32_t slot = 0; slot < 3; slot++)
        if (fused[slot] != (decided && slot < k ? plain[slot] : UNTOUCHED))
            FAIL_WITH("kind %u: slot %u of %u from %zu is %u, and should be %u", kind, slot, k, n,
                      fused[slot], decided && slot < k ? plain[slot] : UNTOUCHED);
    return (uint32_t)decided;
}

/* Ordinary scores must be decided by it nearly always, lists that hang on ties never. */
static void topk_gauss_avx512_is_right_where_it_decides(void **state)
{
    enum { KINDS = 5, ROUNDS = 4000 };
    source from = {12};
    (void)state;
    if (!cpu_has_avx512())
        skip();
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (uint32_t k = 1; k <= 3; k++) {
            uint32_t decided = 0;
            for (uint32_t round = 0; round < ROUNDS; round++)
                decided +=
                    fused_decides(&from, kind, kind == 0 ? 30 : k + next_below(&from, 33 - k), k);
            if (kind == 0)
                assert_in_range(decided, ROUNDS * 99 / 100, ROUNDS);
            if (kind == 4)
                assert_in_range(decided, 0, ROUNDS / 4); /* the shortest lists may have no tie */
        }
}

#endif

static int say_what_is_skipped(void **state)
{
    (void)state;
    if (!cpu_has_avx2())
        print_message(
            "no AVX2 on this machine or in this build: the comparisons of kernels are skipped\n");
    return 0;
}

int main(void)
{
    const struct CMUnitTest always[] = {
        cmocka_unit_test(gauss_subsets_get_the_draws_of_the_whole),
        cmocka_unit_test(a_longer_list_does_not_change_the_draws_of_its_beginning),
        cmocka_unit_test(directions_are_the_uniforms_of_their_place_at_length_1),
        cmocka_unit_test(directions_go_on_beyond_all_positions_of_a_purpose),
        cmocka_unit_test(beta_subsets_get_the_draws_of_the_whole),
        cmocka_unit_test(beta_scores_of_extreme_shapes_are_finite),
        cmocka_unit_test(the_padding_of_beta_scores_is_minus_infinity),
    };
    int failed = cmocka_run_group_tests_name("draws of subsets", always, say_what_is_skipped, NULL);
#if OLTR_HAVE_AVX2
    const struct CMUnitTest twins[] = {
        cmocka_unit_test(gauss_scores_avx2_equals_plain),
        cmocka_unit_test(normals_ahead_are_those_of_their_round),
        cmocka_unit_test(beta_scores_avx2_equals_plain),
        cmocka_unit_test(topk_avx2_equals_plain_for_every_k_of_few_scores),
        cmocka_unit_test(topk_avx2_equals_plain_for_more_scores),
        cmocka_unit_test(topk_avx2_equals_plain_for_many_scores),
        cmocka_unit_test(topk_avx2_equals_plain_for_zeros_of_either_sign),
        cmocka_unit_test(topk_gauss_avx512_is_right_where_it_decides),
    };
    if (cpu_has_avx2())
        failed += cmocka_run_group_tests_name("plain and AVX2", twins, NULL, NULL);
#endif
    return failed;
}
