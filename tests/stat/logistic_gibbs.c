/* logistic_gibbs.c - the Gibbs sampler draws from the logistic posterior: with one feature, against
 * the posterior by quadrature.
 *
 * Each draw starts from the normal approximation, as in pg-ts, and takes ten sweeps.  The cases are
 * balanced and unlikely clicks, counts on both sides of where weights become normal, separable
 * data, rows of other signs and lengths, and absorbed rows, which act as a normal prior.  Fixed
 * seeds; false alarms: see stat.h.
 */
#include <stdio.h>

#include "engine/posterior/logistic_gibbs.h"
#include "engine/rng/sample.h"
#include "support/stat.h"

enum { N = 2500, MOST = 100000, SWEEPS = 10, MOST_ROWS = 8 };

typedef struct observed {
    float x;
    uint32_t n, s;
} observed;

typedef struct subject {
    logistic p;
    logistic_gibbs_plan plan;
    void *state, *work;
} subject;

static void *zeros(const layout *l)
{
    void *block = aligned_alloc(LAYOUT_ALIGN, layout_bytes(l));
    assert_non_null(block);
    memset(block, 0, layout_bytes(l));
    return block;
}

static subject subject_new(uint32_t dim, size_t rows, double lambda)
{
    subject s;
    layout own = {0, false}, work = {0, false};
    s.p = logistic_plan(&own, dim, rows, rows, lambda, 0);
    s.plan = logistic_gibbs_planned(&work, dim, rows);
    s.state = zeros(&own);
    s.work = zeros(&work);
    logistic_refresh(s.state, &s.p);
    return s;
}

static void subject_free(subject *s)
{
    free(s->state);
    free(s->work);
}

static void observe(subject *s, const observed *o)
{
    const float *x = &o->x;
    for (uint32_t i = 0; i < o->n; i++) {
        double y = i < o->s;
        logistic_add(s->state, &s->p, &x, &y, 1);
    }
}

/* theta after `sweeps` sweeps, from the normal approximation. */
static void draw(const subject *s, const oltr_rng *rng, uint32_t sweeps, double *theta)
{
    float z[64];
    ldl factor = logistic_factor(s->state, &s->p);
    assert_true(s->p.dim <= 16);
    standard_normals(rng, s->p.dim, z);
    ldl_sample(&factor, 1, z, theta);
    for (uint32_t j = 0; j < s->p.dim; j++)
        theta[j] += logistic_theta(s->state, &s->p)[j];
    logistic_gibbs(s->state, &s->p, &s->plan, rng, sweeps, theta, s->work);
}

/* ---- the posterior of one feature, by the trapezoidal rule */

enum { NODES = 4001 };

typedef struct posterior {
    double low, step, below[NODES]; /* the distribution function at the nodes */
} posterior;

/* From the sums: counts of rows, P and q. */
static double log_density(const subject *s, double theta)
{
    const double *n = doubles_at(s->state, s->p.examined), *c = doubles_at(s->state, s->p.clicked);
    double rows = doubles_at(s->state, s->p.count)[0],
           precision = s->p.lambda + doubles_at(s->state, s->p.precision)[0],
           sum = doubles_at(s->state, s->p.linear_term)[0] * theta - precision / 2 * theta * theta;
    for (uint32_t r = 0; r < rows; r++) {
        double z = (double)floats_at(s->state, s->p.row)[r] * theta;
        sum += c[r] * z - n[r] * (fmax(z, 0) + log1p(exp(-fabs(z))));
    }
    return sum;
}

static void integrate(const subject *s, posterior *q)
{
    static double density[NODES];
    double center = logistic_theta(s->state, &s->p)[0], sum = 0,
           sd = 1 / sqrt(logistic_factor(s->state, &s->p).d[0]), top = log_density(s, center);
    q->low = center - 20 * sd;
    q->step = 40 * sd / (NODES - 1);
    for (int i = 0; i < NODES; i++)
        density[i] = exp(log_density(s, q->low + i * q->step) - top);
    for (int i = 0; i < NODES; i++) {
        sum += i ? (density[i - 1] + density[i]) / 2 : 0;
        q->below[i] = sum;
    }
    for (int i = 0; i < NODES; i++)
        q->below[i] /= sum;
}

static double cdf(double theta, const double *parameters)
{
    const posterior *q = (const posterior *)(const void *)parameters;
    double place = (theta - q->low) / q->step;
    if (!(place > 0))
        return isnan(place) ? place : 0;
    if (place >= NODES - 1)
        return 1;
    int i = (int)place;
    return q->below[i] + (place - i) * (q->below[i + 1] - q->below[i]);
}

/* ---- one feature */

static double drawn[MOST];

static void check_law(const char *what, const subject *s, size_t n, uint64_t seed)
{
    static posterior q;
    for (size_t i = 0; i < n; i++) {
        oltr_rng rng = oltr_rng_at(oltr_rng_make(seed, 1), 0, i + 1);
        draw(s, &rng, SWEEPS, drawn + i);
    }
    integrate(s, &q);
    sort_doubles(drawn, n);
    check_ks(what, drawn, n, cdf, &q.low);
}

typedef struct scene {
    const char *name;
    double lambda;
    observed at[3];
} scene;

static const scene scenes[] = {
    {"nothing seen", 1, {{1, 0, 0}}},
    {"one click", 1, {{1, 1, 1}}},
    {"two of five", 0.1, {{1, 5, 2}}},
    {"ten without a click", 0.2, {{1, 10, 0}}},
    {"twenty-five", 1, {{1, 25, 4}}},
    {"one in ten", 1, {{1, 300, 30}}},
    {"three rows", 0.5, {{1, 12, 3}, {-0.5f, 40, 30}, {3, 6, 1}}},
    {"many", 1, {{1, 3000, 900}}},
};

static void draws_have_the_law_of_the_posterior(void **state)
{
    for (size_t i = 0; i < COUNT(scenes); i++) {
        subject s = subject_new(1, MOST_ROWS, scenes[i].lambda);
        for (size_t k = 0; k < COUNT(scenes[i].at); k++)
            observe(&s, &scenes[i].at[k]);
        check_law(scenes[i].name, &s, N * EFFORT, 40 + i);
        subject_free(&s);
    }
}

/* The test of most power: a distance of 0.011 in 10^5 draws. */
static void many_draws_have_the_law_of_the_posterior(void **state)
{
    subject s = subject_new(1, MOST_ROWS, 0.5);
    observe(&s, &(observed){1, 3, 1});
    check_law("one of three", &s, EFFORT > 1 ? MOST : N, 60);
    subject_free(&s);
}

/* Room for four rows, and fifty different ones: the rest is in P and q. */
static void absorbed_rows_are_a_prior(void **state)
{
    subject s = subject_new(1, 4, 0.5);
    for (int i = 0; i < 50; i++)
        observe(&s, &(observed){0.2f + 0.03f * (float)i, 1, i % 3 == 0});
    assert_true(doubles_at(s.state, s.p.precision)[0] > 0.5);
    check_law("absorbed rows", &s, N * EFFORT, 61);
    subject_free(&s);
}

/* So many that their products are not kept, and the sums of weights are drawn in several lists. */
static void many_rows_have_the_law(void **state)
{
    enum { ROWS = 400 };
    subject s = subject_new(1, ROWS, 0.5);
    for (int i = 0; i < ROWS; i++)
        observe(&s, &(observed){-0.5f + 0.004f * (float)i, 1 + (uint32_t)(i % 3), i % 4 == 0});
    assert_true(doubles_at(s.state, s.p.count)[0] >= ROWS);
    check_law("many rows", &s, N, 62);
    subject_free(&s);
}

/* ---- more features */

/* No sweep leaves the normal approximation as it is. */
static void no_sweeps_are_the_start(void **state)
{
    subject s = subject_new(1, MOST_ROWS, 1);
    double none, some;
    observe(&s, &scenes[2].at[0]);
    for (uint64_t i = 1; i < 50; i++) {
        oltr_rng rng = oltr_rng_at(oltr_rng_make(3, 1), 0, i);
        draw(&s, &rng, 0, &none);
        double start = none;
        logistic_gibbs(s.state, &s.p, &s.plan, &rng, 0, &none, s.work);
        assert_memory_equal(&none, &start, sizeof none);
        draw(&s, &rng, 1, &some);
        assert_true(some < none || some > none);
    }
    subject_free(&s);
}

/* A draw is a function of state, start and generator: not of what is in the work. */
static void draws_repeat(void **state)
{
    subject s = subject_new(1, MOST_ROWS, 1);
    double one, other;
    oltr_rng rng = oltr_rng_make(9, 9);
    observe(&s, &scenes[6].at[0]);
    observe(&s, &scenes[6].at[1]);
    draw(&s, &rng, 3, &one);
    layout l = {0, false};
    logistic_gibbs_planned(&l, 1, MOST_ROWS);
    memset(s.work, 0x5A, layout_bytes(&l));
    draw(&s, &rng, 3, &other);
    assert_memory_equal(&one, &other, sizeof one);
    subject_free(&s);
}

/* Features of 1e6, rows that are nearly equal, a ridge of 1e-9: every draw is finite. */
static void hostile_rows_give_finite_draws(void **state)
{
    enum { DIM = 3, ROWS = 40 };
    for (int huge = 0; huge < 7; huge++) {
        subject s = subject_new(DIM, ROWS, huge % 2 ? 1e-9 : 1);
        dice d = {(uint64_t)huge + 1};
        for (int i = 0; i < 200; i++) {
            float base = powf(10, (float)huge) * (float)(unit(&d) - 0.5);
            float x[DIM] = {base, base * (1 + 1e-6f), i % 7 ? 1e-3f : -base};
            const float *row = x;
            double y = i % 5 == 0;
            logistic_add(s.state, &s.p, &row, &y, 1);
        }
        for (uint64_t i = 1; i < 20; i++) {
            double theta[DIM];
            oltr_rng rng = oltr_rng_at(oltr_rng_make(4, 1), 0, i);
            draw(&s, &rng, SWEEPS, theta);
            for (int j = 0; j < DIM; j++)
                assert_true(isfinite(theta[j]));
        }
        subject_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_have_the_law_of_the_posterior),
        cmocka_unit_test(many_draws_have_the_law_of_the_posterior),
        cmocka_unit_test(absorbed_rows_are_a_prior),
        cmocka_unit_test(many_rows_have_the_law),
        cmocka_unit_test(no_sweeps_are_the_start),
        cmocka_unit_test(draws_repeat),
        cmocka_unit_test(hostile_rows_give_finite_draws),
        cmocka_unit_test(stat_false_alarms),
    };
    return cmocka_run_group_tests(tests, stat_setup, NULL);
}
