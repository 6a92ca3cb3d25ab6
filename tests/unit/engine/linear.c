/* linear.c - the linear posterior: batch ridge regression by LAPACK after any sequence of updates,
 * drift and its repair, and what the checks refuse. */
#define _POSIX_C_SOURCE 200809L
#include "engine/kernels/ldl_kernels.h"
#include "engine/posterior/linear.h"

#include <float.h>

#include "support/regression.h"

/* A posterior in memory of its own. */
typedef struct belief {
    linear p;
    void *state;
} belief;

static belief belief_of(uint32_t dim, double ridge)
{
    layout l = {0, 0};
    belief b;
    b.p = linear_plan(&l, dim, ridge);
    assert_int_equal(l.overflow, 0);
    b.state = room(l.used, 1);
    linear_refresh(b.state, &b.p);
    return b;
}

static double *gram_of(const belief *b)
{
    return doubles_at(b->state, b->p.gram);
}

static double *moment_of(const belief *b)
{
    return doubles_at(b->state, b->p.moment);
}

/* Sums kept the slow way, in long double. */
typedef struct slow {
    uint32_t dim;
    long double *gram, *moment;
} slow;

static slow slow_of(uint32_t dim)
{
    return (slow){dim, room((size_t)dim * (dim + 1) / 2, sizeof(long double)),
                  room(dim, sizeof(long double))};
}

static void slow_add(slow *s, const float *x, double y, double weight)
{
    for (size_t j = 0, at = 0; j < s->dim; j++) {
        for (size_t i = j; i < s->dim; i++, at++)
            s->gram[at] += (long double)weight * (long double)x[j] * (long double)x[i];
        s->moment[j] += (long double)weight * (long double)x[j] * y;
    }
}

/* Mean and variances of the n rows against LAPACK on the slow sums. */
static void assert_is_ridge_regression(const belief *b, const slow *s, const float *x, uint32_t n)
{
    uint32_t d = b->p.dim;
    double *gram = room_for_doubles((size_t)d * (d + 1) / 2), *moment = room_for_doubles(d),
           *theta = room_for_doubles(d);
    double *mean = room_for_doubles(n), *variance = room_for_doubles(n),
           *work = room_for_doubles(linear_work(d));
    for (size_t i = 0; i < (size_t)d * (d + 1) / 2; i++)
        gram[i] = (double)s->gram[i];
    for (size_t i = 0; i < d; i++)
        moment[i] = (double)s->moment[i];
    double *v = full_matrix(gram, d, b->p.ridge), *right = solve_by_lapack(v, moment, d);
    ldl f = linear_factor(b->state, &b->p);
    ldl_sample(&f, 0, NULL, theta);
    double off = distance(theta, right, d);
    if (!(off < 1e-9))
        fail_msg("dim %u, ridge %g: the estimate is %g from ridge regression", d, b->p.ridge, off);
    linear_predict(b->state, &b->p, x, d, n, mean, variance, work);
    for (uint32_t i = 0; i < n; i++) {
        double expected = 0, spread = variance_by_lapack(v, x + (size_t)i * d, d);
        for (uint32_t j = 0; j < d; j++)
            expected += (double)x[(size_t)i * d + j] * right[j];
        assert_true(fabs(mean[i] - expected) < 1e-9 * (fabs(expected) + 1e-3));
        if (!(fabs(variance[i] / spread - 1) < 1e-9))
            fail_msg("dim %u, ridge %g: variance %g instead of %g", d, b->p.ridge, variance[i],
                     spread);
    }
    linear_predict(b->state, &b->p, x, d, n, variance, NULL, work);
    assert_memory_equal(mean, variance, n * sizeof *mean);
    assert_int_equal(linear_check(b->state, &b->p, NULL), OLTR_OK);
    assert_int_equal(linear_check_factor(b->state, &b->p, NULL), OLTR_OK);
    free(gram);
    free(moment);
    free(theta);
    free(mean);
    free(variance);
    free(work);
    free(v);
    free(right);
}

/* `rounds` rounds of 1 to 6 rows out of `items`, so that rows repeat, and with few items that there
 * are fewer of them than dimensions. */
static void play(uint32_t dim, double ridge, uint32_t items, uint32_t rounds, bool weighted,
                 dice *rng)
{
    belief b = belief_of(dim, ridge);
    slow s = slow_of(dim);
    float *x = room((size_t)items * dim, sizeof *x);
    random_rows(rng, x, items, dim, dim);
    for (uint32_t t = 0; t < rounds; t++) {
        const float *row[6];
        double y[6], weight[6];
        uint32_t n = 1 + below(rng, 6);
        for (uint32_t k = 0; k < n; k++) {
            row[k] = x + (size_t)below(rng, items) * dim;
            y[k] = (double)row[k][0] + normal(rng);
            weight[k] = weighted ? unit(rng) : 1;
            slow_add(&s, row[k], y[k], weight[k]);
        }
        linear_add(b.state, &b.p, row, y, weighted ? weight : NULL, n);
    }
    assert_is_ridge_regression(&b, &s, x, items < 4 ? items : 4);
    linear_refresh(b.state, &b.p);
    assert_is_ridge_regression(&b, &s, x, items < 4 ? items : 4);
    free(x);
    free(s.gram);
    free(s.moment);
    free(b.state);
}

static void test_is_batch_ridge_regression(void **unused)
{
    static const double ridges[] = {1e-4, 1e-2, 1, 10};
    dice rng = {21};
    for (uint32_t dim = 1; dim <= 40; dim += EFFORT > 1 ? 1 : 3)
        for (int r = 0; r < 4; r++) {
            play(dim, ridges[r], dim / 2 + 1, 20, r % 2, &rng);
            play(dim, ridges[r], 2 * dim, 3 * dim, !(r % 2), &rng);
        }
    for (int r = 0; r < 4; r++) {
        play(136, ridges[r], 50, 60, r % 2, &rng);
        play(136, ridges[r], 300, 200, !(r % 2), &rng);
        play(220, ridges[r], 316, 100, r % 2, &rng);
    }
}

static void test_nothing_learned_is_the_prior(void **unused)
{
    belief b = belief_of(5, 4);
    float x[] = {1, 2, 0, -1, 0.5f};
    double mean, variance, *work = room_for_doubles(linear_work(5));
    linear_predict(b.state, &b.p, x, 5, 1, &mean, &variance, work);
    assert_true(mean == 0);
    assert_true(fabs(variance - 6.25 / 4) < 1e-15);
    linear_add(b.state, &b.p, NULL, NULL, NULL, 0);
    assert_int_equal(linear_check_factor(b.state, &b.p, NULL), OLTR_OK);
    free(work);
    free(b.state);
}

/* 15000 rounds of 3 rows out of 120 in 136 dimensions, ridge 1e-4: the factor kept by updates
 * beside one made anew from the sums. */
static void test_does_not_drift(void **unused)
{
    enum { D = 136, L = 120, ROUNDS = EFFORT > 1 ? 15000 : 1000 };
    dice rng = {22};
    belief b = belief_of(D, 1e-4);
    float *x = room(L * D, sizeof *x);
    double *kept = room_for_doubles(2 * L), *fresh = room_for_doubles(2 * L),
           *work = room_for_doubles(linear_work(D));
    random_rows(&rng, x, L, D, D);
    for (int t = 0; t < ROUNDS; t++) {
        const float *row[3];
        double y[3];
        for (int k = 0; k < 3; k++) {
            row[k] = x + (size_t)below(&rng, L) * D;
            y[k] = unit(&rng) < 0.5 + 0.4 * (double)row[k][1];
        }
        linear_add(b.state, &b.p, row, y, NULL, 3);
    }
    linear_predict(b.state, &b.p, x, D, L, kept, kept + L, work);
    linear_refresh(b.state, &b.p);
    linear_predict(b.state, &b.p, x, D, L, fresh, fresh + L, work);
    for (int i = 0; i < 2 * L; i++)
        assert_true(fabs(kept[i] / fresh[i] - 1) < 1e-9);
    free(x);
    free(kept);
    free(fresh);
    free(work);
    free(b.state);
}

static belief some_belief(dice *rng, uint32_t dim, uint32_t rows, double reward)
{
    belief b = belief_of(dim, 0.5);
    float *x = room(dim, sizeof *x);
    const float *row = x;
    for (uint32_t i = 0; i < rows; i++) {
        double y = reward * normal(rng);
        random_rows(rng, x, 1, dim, dim);
        linear_add(b.state, &b.p, &row, &y, NULL, 1);
    }
    free(x);
    return b;
}

static void add_zeros(belief *b, uint32_t rows)
{
    float x[16] = {0};
    const float *row = x;
    double y = 0;
    for (uint32_t i = 0; i < rows; i++)
        linear_add(b->state, &b->p, &row, &y, NULL, 1);
}

static void test_a_hurt_factor_heals(void **unused)
{
    dice rng = {23};
    belief b = some_belief(&rng, 16, 50, 1);
    ldl f = linear_factor(b.state, &b.p);
    oltr_error error;
    f.l[5 * f.stride + 16] += 1e-6; /* the right-hand side is compared every time */
    add_zeros(&b, 256);
    assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_OK);
    f.d[3] = NAN; /* noticed at once */
    add_zeros(&b, 1);
    assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_OK);
    f.d[3] = -1;
    assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_ESTATE);
    add_zeros(&b, 1);
    assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_OK);
    free(b.state);
}

/* Without rewards the right-hand side tells nothing: an error is noticed when its column comes
 * round. */
static void test_every_column_comes_round(void **unused)
{
    dice rng = {27};
    belief b = some_belief(&rng, 16, 50, 0);
    ldl f = linear_factor(b.state, &b.p);
    oltr_error error;
    for (uint32_t j = 0; j < 16; j++) {
        f.d[j] *= 1 + 1e-7;
        assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_ESTATE);
        assert_non_null(strstr(error.msg, "away from the sums"));
        add_zeros(&b, 16 * 256);
        assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_OK);
    }
    free(b.state);
}

static void test_impossible_sums_are_refused(void **unused)
{
    dice rng = {24};
    oltr_error error;
    static const double values[] = {-1, NAN, INFINITY};
    for (uint32_t i = 0; i < 6; i++) {
        belief hurt = some_belief(&rng, 7, 20, 1);
        assert_int_equal(linear_check(hurt.state, &hurt.p, &error), OLTR_OK);
        gram_of(&hurt)[packed_column(7, i)] = values[i % 3];
        assert_int_equal(linear_check(hurt.state, &hurt.p, &error), OLTR_ESTATE);
        assert_non_null(strstr(error.msg, i ? "impossible"
                                            : "feature 0: a sum of squares of -1 is impossible"));
        linear_refresh(hurt.state, &hurt.p); /* must not crash, whatever it believes then */
        free(hurt.state);
    }
    belief b = some_belief(&rng, 7, 20, 1);
    double *element = gram_of(&b) + packed_column(7, 2) + 3, right = *element;
    *element = 1e6;
    assert_int_equal(linear_check(b.state, &b.p, &error), OLTR_ESTATE);
    assert_non_null(strstr(error.msg, "features 2 and 5: a sum of products of 1e+06"));
    *element = right;
    moment_of(&b)[6] = INFINITY;
    assert_int_equal(linear_check(b.state, &b.p, &error), OLTR_ESTATE);
    assert_non_null(
        strstr(error.msg, "feature 6: a sum of feature times reward of inf with squares of"));
    free(b.state);
}

/* Each pair of features could be correlated at -0.9, but not all seven of them at once. */
static void test_sums_that_cannot_be_together_are_refused(void **unused)
{
    dice rng = {28};
    oltr_error error;
    belief b = some_belief(&rng, 7, 20, 1);
    double *gram = gram_of(&b);
    for (size_t j = 0; j < 7; j++)
        for (size_t i = j + 1; i < 7; i++)
            gram[packed_column(7, j) + i - j] =
                -0.9 * sqrt(gram[packed_column(7, j)] * gram[packed_column(7, i)]);
    assert_int_equal(linear_check(b.state, &b.p, &error), OLTR_ESTATE);
    assert_non_null(strstr(error.msg, "no rows have them"));
    linear_refresh(b.state, &b.p);
    assert_int_equal(linear_check_factor(b.state, &b.p, &error), OLTR_ESTATE);
    free(b.state);
}

/* Sums that have swallowed the ridge: the factor is that of sums with a raised diagonal, which both
 * checks and the watch over drift know. */
static void test_a_swallowed_ridge_is_lived_with(void **unused)
{
    enum { D = 16 };
    dice rng = {29};
    belief b = belief_of(D, 1e-4);
    float x[D];
    const float *row = x;
    double y = 1;
    for (int i = 0; i < 3; i++) {
        random_rows(&rng, x, 1, D, D);
        for (int j = 0; j < D; j++)
            x[j] *= 1e20f;
        linear_add(b.state, &b.p, &row, &y, NULL, 1);
    }
    assert_int_equal(linear_check_factor(b.state, &b.p, NULL), OLTR_OK);
    linear_refresh(b.state, &b.p);
    assert_true(b.p.watch.lift > 0);
    assert_int_equal(linear_check(b.state, &b.p, NULL), OLTR_OK);
    assert_int_equal(linear_check_factor(b.state, &b.p, NULL), OLTR_OK);
    ldl f = linear_factor(b.state, &b.p);
    double *before = room_for_doubles(ldl_doubles(D));
    memcpy(before, f.l, ldl_doubles(D) * sizeof *before);
    add_zeros(&b, 256 * D);
    assert_memory_equal(before, f.l, ldl_doubles(D) * sizeof *before);
    free(before);
    free(b.state);
}

static void test_hostile_rows_do_no_harm(void **unused)
{
    static const float hostile[] = {1e30f, FLT_MAX, 1e-45f, FLT_MIN, -1e38f, 0, 1, -1};
    enum { D = 13 };
    dice rng = {25};
    belief b = belief_of(D, 1e-4);
    double *work = room_for_doubles(linear_work(D)), mean, variance;
    float x[D];
    const float *row = x;
    for (int t = 0; t < 3000; t++) {
        double y = normal(&rng);
        for (int j = 0; j < D; j++)
            x[j] = hostile[below(&rng, t < 1000 ? 8 : 6)];
        linear_add(b.state, &b.p, &row, &y, NULL, 1);
        if (t % 500 == 499)
            linear_refresh(b.state, &b.p);
        linear_predict(b.state, &b.p, x, D, 1, &mean, &variance, work);
        assert_true(isfinite(mean) && isfinite(variance) && variance >= 0);
    }
    assert_int_equal(linear_check(b.state, &b.p, NULL), OLTR_OK);
    assert_int_equal(linear_check_factor(b.state, &b.p, NULL), OLTR_OK);
    free(work);
    free(b.state);
}

/* Weights that leave the doubles: the sums are lost, as the check says, but nothing crashes. */
static void test_overflow_is_reported(void **unused)
{
    dice rng = {26};
    belief b = some_belief(&rng, 7, 20, 1);
    float x[] = {FLT_MAX, 1, 2, 3, 4, 5, 6};
    const float *row = x;
    double y = 1, weight = 1e300;
    linear_add(b.state, &b.p, &row, &y, &weight, 1);
    assert_int_equal(linear_check(b.state, &b.p, NULL), OLTR_ESTATE);
    add_zeros(&b, 300);
    free(b.state);
}

/* ---- no life is called broken, and what is broken is found */

/* Rewards of 1e30 that cancel leave rounding of 1e14 in b where the exact sum is 0. */
static void test_cancelled_rewards_are_no_fault(void **unused)
{
    static const double ridges[] = {1e6, 1, 1e-9};
    dice rng = {30};
    oltr_error error = {OLTR_OK, ""};
    for (uint32_t life = 0; life < 12; life++) {
        uint32_t dim = life < 3 ? 1 : 1 + below(&rng, 9);
        belief b = belief_of(dim, ridges[life % 3]);
        float *x = room(2 * dim, sizeof *x);
        random_rows(&rng, x, 2, dim, dim);
        for (uint32_t t = 0; t < 2000; t++) {
            const float *row = x + (t / 2 % 2) * dim;
            double y = t % 2 ? -1e30 : 1e30;
            linear_add(b.state, &b.p, &row, &y, NULL, 1);
            if (linear_check_factor(b.state, &b.p, &error) != OLTR_OK)
                fail_msg("dim %u, ridge %g, row %u: %s", dim, b.p.ridge, t, error.msg);
        }
        free(x);
        free(b.state);
    }
}

/* A row that tests numerics: sizes from 1e-30 to 1e6, often a multiple or a sum of earlier rows. */
static void wild_row(dice *rng, float *x, const float *pool, uint32_t in_pool, uint32_t dim)
{
    uint32_t how = below(rng, 4), of = in_pool ? below(rng, in_pool) : 0;
    for (uint32_t j = 0; j < dim; j++) {
        double size = pow(10, below(rng, 3) ? 0 : -30 + 36 * unit(rng));
        x[j] = (float)(size * (2 * unit(rng) - 1));
        if (in_pool && how < 2)
            x[j] = pool[of * dim + j] * (how ? 1 : 0.5f);
    }
}

typedef struct wild_life {
    belief b;
    float *pool;
    uint32_t in_pool;
    double reward;
} wild_life;

enum { WILD_POOL = 12 };

static wild_life wild_life_of(dice *rng)
{
    uint32_t dim = 1 + below(rng, 12);
    double ridge = pow(10, -9 + 15 * unit(rng));
    return (wild_life){belief_of(dim, ridge), room(WILD_POOL * dim, sizeof(float)), 0,
                       pow(10, 30 * unit(rng))};
}

static void end_of_life(wild_life *l)
{
    free(l->pool);
    free(l->b.state);
}

static void learn_wildly(wild_life *l, dice *rng)
{
    uint32_t dim = l->b.p.dim, n = 1 + below(rng, 5);
    const float *row[5];
    double y[5], weight[5];
    for (uint32_t k = 0; k < n; k++) {
        uint32_t at = l->in_pool < WILD_POOL ? l->in_pool : below(rng, WILD_POOL);
        wild_row(rng, l->pool + at * dim, l->pool, l->in_pool, dim);
        l->in_pool += l->in_pool < WILD_POOL;
        row[k] = l->pool + below(rng, l->in_pool) * dim;
        y[k] = (below(rng, 2) ? 1 : -1) * (below(rng, 3) ? l->reward : unit(rng));
        weight[k] = pow(10, 6 * unit(rng) - 3);
    }
    linear_add(l->b.state, &l->b.p, row, y, below(rng, 2) ? weight : NULL, n);
}

static void forget_all(belief *b, double keep)
{
    size_t d = b->p.dim;
    for (size_t i = 0; i < d * (d + 1) / 2; i++)
        gram_of(b)[i] *= keep;
    for (size_t i = 0; i < d; i++)
        moment_of(b)[i] *= keep;
    linear_refresh(b->state, &b->p);
}

static void test_no_life_is_called_broken(void **unused)
{
    dice rng = {31};
    oltr_error error = {OLTR_OK, ""};
    linear_limits limits = {1e4, 1e3, 1e30};
    for (uint32_t life = 0; life < 300; life++) {
        wild_life l = wild_life_of(&rng);
        uint32_t rounds = life % 50 ? 1 + below(&rng, 60) : 600;
        for (uint32_t t = 0; t < rounds; t++) {
            learn_wildly(&l, &rng);
            if (one_in(&rng, 40))
                forget_all(&l.b, below(&rng, 2) ? unit(&rng) : 1e-150);
            if (linear_check_within(l.b.state, &l.b.p, &limits, &error) != OLTR_OK ||
                linear_check_factor(l.b.state, &l.b.p, &error) != OLTR_OK)
                fail_msg("life %u, dim %u, ridge %g, round %u: %s", life, l.b.p.dim, l.b.p.ridge, t,
                         error.msg);
        }
        end_of_life(&l);
    }
}

/* The size that an error of one number must have to matter: 1e-6 of the largest its place can
 * hold. */
static double noticeable(const belief *b, uint32_t r, uint32_t j)
{
    double own = gram_of(b)[packed_column(b->p.dim, j)] + b->p.ridge, other = b->p.watch.squares;
    if (r < b->p.dim)
        other = gram_of(b)[packed_column(b->p.dim, r)] + b->p.ridge;
    return 1e-6 * sqrt(own) * sqrt(other);
}

/* Any one number of factor or sums moved by that much. */
static void test_every_wrong_number_is_found(void **unused)
{
    dice rng = {32};
    for (uint32_t life = 0; life < 200; life++) {
        wild_life l = wild_life_of(&rng);
        for (uint32_t t = 0; t < 20; t++)
            learn_wildly(&l, &rng);
        ldl f = linear_factor(l.b.state, &l.b.p);
        uint32_t d = f.dim, j = below(&rng, d), r = j + 1 + below(&rng, d - j);
        double *places[] = {f.l + j * f.stride + r, f.d + j, gram_of(&l.b) + packed_column(d, j),
                            r < d ? gram_of(&l.b) + packed_column(d, j) + r - j
                                  : moment_of(&l.b) + j};
        double by[] = {noticeable(&l.b, r, j) / f.d[j], noticeable(&l.b, j, j),
                       noticeable(&l.b, j, j), noticeable(&l.b, r, j)};
        for (int i = 0; i < 4; i++) {
            double right = *places[i];
            *places[i] += (below(&rng, 2) ? 1 : -1) * by[i];
            if (linear_check_factor(l.b.state, &l.b.p, NULL) != OLTR_ESTATE)
                fail_msg("life %u, dim %u: place %d (%u, %u) wrong by %g and not found", life, d, i,
                         r, j, by[i]);
            *places[i] = right;
        }
        assert_int_equal(linear_check_factor(l.b.state, &l.b.p, NULL), OLTR_OK);
        end_of_life(&l);
    }
}

static void test_sums_beyond_the_limits_are_refused(void **unused)
{
    dice rng = {33};
    oltr_error error;
    linear_limits limits = {20, 1, 5};
    belief b = some_belief(&rng, 3, 20, 1);
    assert_int_equal(linear_check_within(b.state, &b.p, &limits, &error), OLTR_OK);
    limits.rows = 0;
    assert_int_equal(linear_check_within(b.state, &b.p, &limits, &error), OLTR_ESTATE);
    assert_non_null(strstr(error.msg, "feature 0: a sum of squares of"));
    limits.rows = 20;
    moment_of(&b)[2] = 1.01 * sqrt(gram_of(&b)[5] * 20) * 5;
    assert_int_equal(linear_check_within(b.state, &b.p, &limits, &error), OLTR_ESTATE);
    assert_non_null(strstr(error.msg, "feature 2: a sum of feature times reward of"));
    moment_of(&b)[2] = 1.5e308;
    limits = (linear_limits){0x1p77, 1, 1e30};
    assert_int_equal(linear_check_within(b.state, &b.p, &limits, &error), OLTR_ESTATE);
    gram_of(&b)[5] = 20.1e12;
    moment_of(&b)[2] = 0;
    limits = (linear_limits){20, 1, 1};
    assert_int_equal(linear_check_within(b.state, &b.p, &limits, &error), OLTR_ESTATE);
    free(b.state);
}

/* Two features that are one, after some 10^10 rows: rounding has carried the sums beyond what
 * Cauchy and Schwarz allow exact ones. */
static void test_strayed_sums_are_lived_with(void **unused)
{
    oltr_error error = {OLTR_OK, ""};
    const double gram[] = {1e10, 1e10 * (1 + 5e-7), 1e10};
    linear_limits limits = {1e10, 1, 1};
    belief b = belief_of(2, 1e-9);
    memcpy(gram_of(&b), gram, sizeof gram);
    moment_of(&b)[0] = moment_of(&b)[1] = 3e9;
    linear_refresh(b.state, &b.p);
    assert_true(b.p.watch.lift > 1e-7);
    if (linear_check_within(b.state, &b.p, &limits, &error) != OLTR_OK ||
        linear_check_factor(b.state, &b.p, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    free(b.state);
}

/* ---- exact copies */

static const char *const derived_names[LINEAR_DERIVED] = {"factor", "pivot", "watch"};

/* Number i of an array, of which a triangle has fewer in every column. */
static double *number_of(const oltr_sum_array *a, size_t i)
{
    size_t columns = 0, j = 0;
    if (!a->stride)
        return a->value + i;
    while (columns * (columns + 1) / 2 < a->n)
        columns++;
    for (; i >= columns - j; j++)
        i -= columns - j;
    return a->value + j * a->stride + j + 1 + i;
}

static belief copy_of(const belief *b)
{
    belief copy = belief_of(b->p.dim, b->p.ridge);
    size_t d = b->p.dim;
    oltr_sum_array from[LINEAR_DERIVED], to[LINEAR_DERIVED];
    memcpy(gram_of(&copy), gram_of(b), d * (d + 1) / 2 * sizeof(double));
    memcpy(moment_of(&copy), moment_of(b), d * sizeof(double));
    assert_int_equal(linear_list_derived(b->state, &b->p, derived_names, from), LINEAR_DERIVED);
    linear_list_derived(copy.state, &copy.p, derived_names, to);
    for (int a = 0; a < LINEAR_DERIVED - 1; a++)
        for (size_t i = 0; i < from[a].n; i++)
            *number_of(&to[a], i) = *number_of(&from[a], i);
    copy.p.watch = b->p.watch;
    assert_string_equal(from[2].name, "watch");
    assert_int_equal(from[2].n * sizeof(double), sizeof b->p.watch);
    assert_int_equal(linear_resume(copy.state, &copy.p, NULL), OLTR_OK);
    return copy;
}

static void assert_same_posterior(const belief *a, const belief *b)
{
    oltr_sum_array x[LINEAR_DERIVED], y[LINEAR_DERIVED];
    linear_list_derived(a->state, &a->p, derived_names, x);
    linear_list_derived(b->state, &b->p, derived_names, y);
    for (int k = 0; k < LINEAR_DERIVED - 1; k++)
        for (size_t i = 0; i < x[k].n; i++)
            assert_memory_equal(number_of(&x[k], i), number_of(&y[k], i), sizeof(double));
    assert_memory_equal(&a->p.watch, &b->p.watch, sizeof a->p.watch);
}

static void test_a_copy_goes_on_to_the_same_bits(void **unused)
{
    dice rng = {34};
    for (uint32_t life = 0; life < 60; life++) {
        wild_life l = wild_life_of(&rng), twin = l;
        for (uint32_t t = 0; t < 150; t++)
            learn_wildly(&l, &rng);
        twin = l;
        twin.b = copy_of(&l.b);
        twin.pool = room(WILD_POOL * l.b.p.dim, sizeof(float));
        memcpy(twin.pool, l.pool, WILD_POOL * l.b.p.dim * sizeof(float));
        for (uint32_t t = 0; t < 300; t++) {
            dice same = rng;
            learn_wildly(&l, &rng);
            learn_wildly(&twin, &same);
        }
        twin.in_pool = l.in_pool;
        assert_same_posterior(&l.b, &twin.b);
        end_of_life(&twin);
        end_of_life(&l);
    }
}

static void test_impossible_factors_are_refused(void **unused)
{
    static const linear_watch bad[] = {
        {-1, 0, 0, 1},  {256, 0, 0, 1},   {0.5, 0, 0, 1},  {NAN, 0, 0, 1}, {0, 7, 0, 1},
        {0, -1, 0, 1},  {0, 0, -1, 1},    {0, 0, 0.02, 1}, {0, 0, NAN, 1}, {0, 0, 0, -1},
        {0, 0, 0, NAN}, {0, 0, 0, 1e300}, {0, 0, 0, 1e181}};
    static const double pivots[] = {0, -1, NAN, 1e-300};
    dice rng = {35};
    oltr_error error;
    belief b = some_belief(&rng, 7, 20, 1);
    linear_watch right = b.p.watch;
    for (size_t i = 0; i < COUNT(bad); i++) {
        b.p.watch = bad[i];
        assert_int_equal(linear_resume(b.state, &b.p, &error), OLTR_ESTATE);
        assert_non_null(strstr(error.msg, "the watch over the factor is impossible"));
    }
    b.p.watch = right;
    ldl f = linear_factor(b.state, &b.p);
    for (size_t i = 0; i < 4; i++) {
        f.d[3] = pivots[i];
        assert_int_equal(linear_resume(b.state, &b.p, &error), OLTR_ESTATE);
        assert_non_null(strstr(error.msg, "pivot 3 of the factor is"));
    }
    free(b.state);
}

static void test_a_factor_of_other_sums_is_made_anew(void **unused)
{
    dice rng = {36};
    belief b = some_belief(&rng, 7, 20, 1), fresh = copy_of(&b);
    linear_refresh(fresh.state, &fresh.p);
    ldl f = linear_factor(b.state, &b.p);
    f.d[3] *= 1.001;
    assert_int_equal(linear_check_factor(b.state, &b.p, NULL), OLTR_ESTATE);
    assert_int_equal(linear_resume(b.state, &b.p, NULL), OLTR_OK);
    assert_int_equal(linear_check_factor(b.state, &b.p, NULL), OLTR_OK);
    assert_memory_equal(linear_factor(fresh.state, &fresh.p).d, f.d, 7 * sizeof(double));
    free(fresh.state);
    free(b.state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_batch_ridge_regression),
        cmocka_unit_test(test_nothing_learned_is_the_prior),
        cmocka_unit_test(test_does_not_drift),
        cmocka_unit_test(test_a_hurt_factor_heals),
        cmocka_unit_test(test_impossible_sums_are_refused),
        cmocka_unit_test(test_hostile_rows_do_no_harm),
        cmocka_unit_test(test_sums_that_cannot_be_together_are_refused),
        cmocka_unit_test(test_a_swallowed_ridge_is_lived_with),
        cmocka_unit_test(test_overflow_is_reported),
        cmocka_unit_test(test_every_column_comes_round),
        cmocka_unit_test(test_cancelled_rewards_are_no_fault),
        cmocka_unit_test(test_no_life_is_called_broken),
        cmocka_unit_test(test_every_wrong_number_is_found),
        cmocka_unit_test(test_sums_beyond_the_limits_are_refused),
        cmocka_unit_test(test_strayed_sums_are_lived_with),
        cmocka_unit_test(test_a_copy_goes_on_to_the_same_bits),
        cmocka_unit_test(test_impossible_factors_are_refused),
        cmocka_unit_test(test_a_factor_of_other_sums_is_made_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
