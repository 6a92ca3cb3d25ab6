/* logistic.c - the logistic posterior against a slow solver of its own: damped Newton from zero in
 * long double, on the plain sums.  Many tests run for each link. */
#include "support/unit.h"

#include "engine/limits.h"
#include "engine/kernels/table.h"
#include "engine/posterior/logistic.h"

enum { MAX_DIM = 40, MAX_ROUND = 4 };
static const double EXACT = 1e-8; /* what the header promises, relative to 1 + |theta| */

/* ---- tools */

typedef struct subject {
    logistic p;
    size_t bytes;
    void *state;
} subject;

static uint32_t link_used; /* of the subjects that are made; main() sets it */

static subject subject_new(uint32_t dim, uint32_t capacity, double lambda, double drift)
{
    subject s;
    layout l = {0, 0};
    s.p = logistic_plan(&l, dim, capacity, capacity, lambda, drift);
    s.p.link = link_used;
    assert_false(l.overflow);
    s.bytes = l.used;
    s.state = aligned_alloc(64, l.used);
    assert_non_null(s.state);
    memset(s.state, 0, s.bytes);
    logistic_refresh(s.state, &s.p);
    memset(&s.p.effort, 0, sizeof s.p.effort);
    return s;
}

static void learn_one(subject *s, const float *x, double y)
{
    logistic_add(s->state, &s->p, &x, &y, 1);
}

static double rows_of(const subject *s)
{
    return doubles_at(s->state, s->p.count)[0];
}

static double observations_of(const subject *s)
{
    return doubles_at(s->state, s->p.count)[1];
}

static const double *theta_of(const subject *s)
{
    return logistic_theta(s->state, &s->p);
}

/* A bound on work, counted and not timed.  `protects` names what would have gone wrong. */
static void assert_effort(uint64_t spent, uint64_t most, const char *protects)
{
    if (spent > most)
        fail_msg("%s: %llu spent, expected at most %llu", protects, (unsigned long long)spent,
                 (unsigned long long)most);
}

static dice from; /* every test sets its state */

static void random_rows(float *x, uint32_t n, uint32_t dim, double scale)
{
    for (size_t i = 0; i < (size_t)n * dim; i++)
        x[i] = (float)(scale * normal(&from) / sqrt(dim));
}

/* ---- the slow solver */

typedef struct sums {
    uint32_t dim, rows, link;
    double lambda;
    const float *x;
    const double *n, *s;
    const double *precision, *pull; /* or NULL */
} sums;

static sums sums_of(const subject *s)
{
    const logistic *p = &s->p;
    return (sums){p->dim,
                  (uint32_t)doubles_at(s->state, p->count)[0],
                  p->link,
                  p->lambda,
                  floats_at(s->state, p->row),
                  doubles_at(s->state, p->examined),
                  doubles_at(s->state, p->clicked),
                  doubles_at(s->state, p->precision),
                  doubles_at(s->state, p->linear_term)};
}

static long double row_score(const sums *a, uint32_t r, const long double *theta)
{
    long double z = 0;
    for (uint32_t j = 0; j < a->dim; j++)
        z += (long double)a->x[(size_t)r * a->dim + j] * theta[j];
    return z;
}

/* mu, 1 - mu and mu' by their definitions. */
static void response(uint32_t link, long double z, long double *mu, long double *rest,
                     long double *slope)
{
    if (link == LINK_LOGIT) {
        *mu = 1 / (1 + expl(-z));
        *rest = 1 / (1 + expl(z));
        *slope = *mu * *rest;
    } else if (link == LINK_PROBIT) {
        *mu = erfcl(-z / sqrtl(2)) / 2;
        *rest = erfcl(z / sqrtl(2)) / 2;
        *slope = expl(-z * z / 2) / sqrtl(2 * acosl(-1));
    } else {
        *mu = -expm1l(-expl(z));
        *rest = expl(-expl(z));
        *slope = z < 12 ? expl(z) * *rest : 0; /* infinity times 0 */
    }
}

/* The score g(theta) and (lower triangle, row-major, or NULL) minus its derivative. */
static void score_equation(const sums *a, const long double *theta, long double *gradient,
                           long double *hessian)
{
    uint32_t d = a->dim;
    memset(gradient, 0, d * sizeof *gradient);
    if (hessian)
        memset(hessian, 0, (size_t)d * d * sizeof *hessian);
    for (uint32_t i = 0; i < d; i++) {
        for (uint32_t j = 0; j <= i; j++) {
            long double p =
                a->precision ? a->precision[(size_t)j * d - (size_t)j * (j - 1) / 2 + (i - j)] : 0;
            p += i == j ? a->lambda : 0;
            if (hessian)
                hessian[i * d + j] = p;
            gradient[i] -= p * theta[j];
            gradient[j] -= i == j ? 0 : p * theta[i];
        }
        gradient[i] += a->pull ? a->pull[i] : 0;
    }
    for (uint32_t r = 0; r < a->rows; r++) {
        const float *x = a->x + (size_t)r * d;
        long double mu, rest, slope;
        response(a->link, row_score(a, r, theta), &mu, &rest, &slope);
        for (uint32_t i = 0; i < d; i++) {
            gradient[i] += (a->s[r] * rest - ((long double)a->n[r] - a->s[r]) * mu) * x[i];
            for (uint32_t j = 0; hessian && j <= i; j++)
                hessian[i * d + j] += a->n[r] * slope * x[i] * x[j];
        }
    }
}

static void cholesky_solve(long double *h, uint32_t d, const long double *g, long double *s)
{
    for (uint32_t j = 0; j < d; j++)
        for (uint32_t i = j; i < d; i++) {
            long double v = h[i * d + j];
            for (uint32_t k = 0; k < j; k++)
                v -= h[i * d + k] * h[j * d + k];
            h[i * d + j] = i == j ? sqrtl(v) : v / h[j * d + j];
        }
    for (uint32_t i = 0; i < d; i++) {
        s[i] = g[i];
        for (uint32_t k = 0; k < i; k++)
            s[i] -= h[i * d + k] * s[k];
        s[i] /= h[i * d + i];
    }
    for (uint32_t i = d; i-- > 0;) {
        for (uint32_t k = i + 1; k < d; k++)
            s[i] -= h[k * d + i] * s[k];
        s[i] /= h[i * d + i];
    }
}

static long double norm(const long double *x, uint32_t n)
{
    long double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrtl(sum);
}

/* theta + length step, and the slope along the step there. */
static long double slope_at(const sums *a, const long double *theta, const long double *step,
                            long double length, long double *there)
{
    long double g[MAX_DIM], slope = 0;
    for (uint32_t j = 0; j < a->dim; j++)
        there[j] = theta[j] + length * step[j];
    score_equation(a, there, g, NULL);
    for (uint32_t j = 0; j < a->dim; j++)
        slope += g[j] * step[j];
    return slope;
}

/* Newton's method.  The slope falls along a step; where it is below zero at the end, the step ends
 * where it crosses zero. */
static void exact_root(const sums *a, long double *theta)
{
    static long double h[MAX_DIM * MAX_DIM];
    long double g[MAX_DIM], s[MAX_DIM], next[MAX_DIM];
    memset(theta, 0, a->dim * sizeof *theta);
    for (int i = 0; i < 500; i++) {
        score_equation(a, theta, g, h);
        cholesky_solve(h, a->dim, g, s);
        bool last = norm(s, a->dim) < 1e-13L * (1 + norm(theta, a->dim));
        if (slope_at(a, theta, s, 1, next) < 0 && !last) {
            long double low = 0, high = 1;
            for (int k = 0; k < 30; k++)
                *(slope_at(a, theta, s, (low + high) / 2, next) < 0 ? &high : &low) =
                    (low + high) / 2;
            slope_at(a, theta, s, low > 0 ? low : high, next);
        }
        memcpy(theta, next, a->dim * sizeof *theta);
        if (last)
            return;
    }
    fail_msg("the slow solver did not converge");
}

static double distance_to(const subject *s, const long double *root)
{
    long double e[MAX_DIM];
    for (uint32_t j = 0; j < s->p.dim; j++)
        e[j] = theta_of(s)[j] - root[j];
    return (double)(norm(e, s->p.dim) / (1 + norm(root, s->p.dim)));
}

static void assert_at_root(const subject *s)
{
    long double root[MAX_DIM];
    oltr_error error = {0};
    sums a = sums_of(s);
    exact_root(&a, root);
    double distance = distance_to(s, root);
    if (!(distance <= EXACT))
        fail_msg("dim %u, lambda %g: %g from the root", s->p.dim, s->p.lambda, distance);
    if (logistic_check(s->state, &s->p, &error) != OLTR_OK ||
        logistic_check_derived(s->state, &s->p, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
}

/* The largest |F - H| at (i,j) relative to the root of H_ii H_jj. */
static double factor_distance(const subject *s)
{
    static long double h[MAX_DIM * MAX_DIM];
    long double theta[MAX_DIM] = {0}, g[MAX_DIM];
    double worst = 0;
    uint32_t d = s->p.dim;
    sums a = sums_of(s);
    ldl f = logistic_factor(s->state, &s->p);
    for (uint32_t j = 0; j < d; j++)
        theta[j] = theta_of(s)[j];
    score_equation(&a, theta, g, h);
    for (uint32_t i = 0; i < d; i++)
        for (uint32_t j = 0; j <= i; j++) {
            long double v = 0;
            for (uint32_t k = 0; k <= j; k++)
                v += (long double)(i == k ? 1 : f.l[k * f.stride + i]) * f.d[k] *
                     (j == k ? 1 : f.l[k * f.stride + j]);
            worst =
                fmax(worst, (double)(fabsl(v - h[i * d + j]) / sqrtl(h[i * d + i] * h[j * d + j])));
        }
    return worst;
}

/* ---- the response */

static void test_sigmoid(void **unused)
{
    assert_true(sigmoid(0) == 0.5);
    assert_true(sigmoid(745) == 1 && sigmoid(1e308) == 1 && sigmoid(INFINITY) == 1);
    assert_true(sigmoid(-707) > 0 && sigmoid(-709) == 0 && sigmoid(-1e308) == 0 &&
                sigmoid(-INFINITY) == 0);
    for (double z = -707.9; z <= 740; z += 0.37) {
        long double mu = 1 / (1 + expl(-(long double)z));
        assert_true(fabsl(sigmoid(z) - mu) <= 8e-16L * mu);
        assert_true(fabs(sigmoid(z) + sigmoid(-z) - 1) <= 4e-16);
    }
    for (double z = -1; z <= 1; z += 0.01)
        assert_true(sigmoid(z) < sigmoid(z + 0.01));
}

static void test_response_keeps_small_residuals(void **unused)
{
    double z[4] = {40, -40, 700, -700}, n[4] = {3, 3, 3, 3}, s[4] = {3, 0, 3, 0}, residual[4],
           curvature[4];
    KERNEL(logistic_residuals)(4, z, n, s, residual, curvature);
    for (int i = 0; i < 4; i++) {
        double small = 3 * exp(-fabs(z[i]));
        assert_true(fabs(fabs(residual[i]) - small) <= 1e-13 * small &&
                    fabs(curvature[i] - small) <= 1e-13 * small);
    }
}

static void test_product_of_a_packed_matrix(void **unused)
{
    static double a[70 * 71 / 2], x[70], out[2][70];
    from.state = 2;
    for (uint32_t dim = 1; dim <= 70; dim++) {
        for (uint32_t i = 0; i < dim * (dim + 1) / 2; i++)
            a[i] = normal(&from);
        for (uint32_t j = 0; j < dim; j++) {
            x[j] = normal(&from);
            out[0][j] = out[1][j] = normal(&from);
        }
        KERNEL(subtract_product)(out[0], a, x, dim);
        for (uint32_t j = 0, at = 0; j < dim; j++)
            for (uint32_t i = j; i < dim; i++, at++) {
                out[1][i] -= a[at] * x[j];
                out[1][j] -= i == j ? 0 : a[at] * x[i];
            }
        for (uint32_t j = 0; j < dim; j++)
            assert_true(fabs(out[0][j] - out[1][j]) < 1e-12);
    }
}

/* One weight after the other is the one that is off by a quarter. */
static void test_weights_near(void **unused)
{
    double now[12], then[12], share[12]; /* one more than are looked at */
    for (size_t n = 0; n <= 11; n++)
        for (size_t odd = 0; odd <= n; odd++) {
            for (size_t i = 0; i < 12; i++) {
                then[i] = 7;
                share[i] = 1;
                now[i] = i == odd ? odd % 2 ? 9 : 5 : 7.5;
            }
            assert_int_equal(KERNEL(weights_near)(n, now, then, share, 0.24), odd == n);
            assert_true(KERNEL(weights_near)(n, now, then, share, 0.25));
            now[odd] = NAN;
            assert_int_equal(KERNEL(weights_near)(n, now, then, share, 10), odd == n);
        }
    assert_true(KERNEL(weights_near)(11, then, then, share, 0) &&
                !KERNEL(weights_near)(11, then, then, share, -0.1));
}

/* ---- the root */

typedef enum clicking { BY_MODEL, SEPARABLE, ALL, NONE } clicking;

/* A round of up to four observations of n fixed rows. */
static void play_round(subject *s, const float *x, uint32_t n, clicking how, const double *truth)
{
    const float *seen[MAX_ROUND];
    double click[MAX_ROUND];
    uint32_t m = 1 + below(&from, MAX_ROUND);
    for (uint32_t i = 0; i < m; i++) {
        double z = 0;
        seen[i] = x + (size_t)below(&from, n) * s->p.dim;
        for (uint32_t j = 0; j < s->p.dim; j++)
            z += (double)seen[i][j] * truth[j];
        click[i] = how == ALL         ? 1
                   : how == NONE      ? 0
                   : how == SEPARABLE ? z > 0
                                      : unit(&from) < link_here(link_used, z).mean;
    }
    logistic_add(s->state, &s->p, seen, click, m);
}

/* Plays `rounds` rounds; looks at the root now and then. */
static void play(subject *s, const float *x, uint32_t n, clicking how, uint32_t rounds)
{
    double truth[MAX_DIM];
    for (uint32_t j = 0; j < s->p.dim; j++)
        truth[j] = 2 * normal(&from);
    for (uint32_t t = 0; t < rounds; t++) {
        uint64_t before = s->p.effort.steps;
        play_round(s, x, n, how, truth);
        assert_effort(s->p.effort.steps - before, 100, "a round ends: the steps do not cycle");
        if (t < 5 || t % 37 == 0 || t + 1 == rounds)
            assert_at_root(s);
    }
}

static void test_root(void **unused)
{
    static const double lambdas[] = {1e-4, 1e-2, 1, 10};
    static float x[60 * MAX_DIM];
    for (uint32_t trial = 0; trial < 6 * EFFORT; trial++) {
        from.state = 100 + trial;
        uint32_t dim = 1 + below(&from, 20), n = 1 + below(&from, 60);
        subject s = subject_new(dim, n, lambdas[trial % 4], 0.1);
        random_rows(x, n, dim, trial % 3 == 0 ? 1 : trial % 3 == 1 ? 4 : 30);
        play(&s, x, n, (clicking)(trial / 4 % 4), 150);
        free(s.state);
    }
}

static void test_fewer_rows_than_dimensions(void **unused)
{
    static float x[6 * MAX_DIM];
    from.state = 7;
    subject s = subject_new(30, 16, 1e-4, 0.1);
    random_rows(x, 6, 30, 1);
    memcpy(x + 5 * 30, x + 4 * 30, 30 * sizeof(float)); /* the same row under two numbers */
    play(&s, x, 6, BY_MODEL, 200);
    assert_true(rows_of(&s) == 5);
    free(s.state);
}

static void test_one_row(void **unused)
{
    const float x = 1, zero[3] = {0, -0.0f, 0};
    subject s = subject_new(1, 1, 1e-4, 0.1);
    for (int i = 0; i < 50; i++) {
        learn_one(&s, &x, i % 5 == 0);
        assert_at_root(&s);
    }
    assert_true(fabs(link_here(link_used, theta_of(&s)[0]).mean - 0.2) < 1e-5);
    free(s.state);
    s = subject_new(3, 4, 1, 0.1);
    learn_one(&s, zero, 1); /* a row that says nothing */
    assert_at_root(&s);
    assert_true(theta_of(&s)[1] == 0);
    free(s.state);
}

static void test_repeated_in_a_round(void **unused)
{
    static float x[4 * 5];
    const float *seen[200];
    double click[200];
    from.state = 9;
    random_rows(x, 4, 5, 2);
    subject whole = subject_new(5, 8, 0.01, 0.1), single = subject_new(5, 8, 0.01, 0.1);
    for (uint32_t i = 0; i < 200; i++) {
        seen[i] = x + (size_t)below(&from, 4) * 5;
        click[i] = i % 7 == 0 ? 0.5 : unit(&from) < 0.3; /* half a click is a click too */
        learn_one(&single, seen[i], click[i]);
    }
    logistic_add(whole.state, &whole.p, seen, click, 200);
    assert_true(whole.p.effort.entered >= 4);
    assert_effort(whole.p.effort.entered, 4 * 4,
                  "each of four rows enters the factor once in a batch of 64, not 200 times");
    assert_at_root(&whole);
    assert_at_root(&single);
    for (uint32_t j = 0; j < 5; j++)
        assert_true(fabs(theta_of(&whole)[j] - theta_of(&single)[j]) < 2 * EXACT * 5);
    logistic_add(whole.state, &whole.p, seen, click, 0); /* nothing is nothing */
    assert_at_root(&whole);
    free(whole.state);
    free(single.state);
}

/* Two features that are nearly the same: F is soft in one direction, and a step along a stiff one
 * must not pass for the end. */
static void test_nearly_dependent_features(void **unused)
{
    static float x[20 * 3];
    for (uint32_t trial = 0; trial < (EFFORT > 1 ? 4 : 1); trial++) {
        from.state = 77777 * (trial + 1);
        random_rows(x, 20, 3, 10);
        for (uint32_t r = 0; r < 20; r++)
            x[3 * r + 1] = (float)((double)x[3 * r] * (1 + 1e-4 * normal(&from)));
        subject s = subject_new(3, 64, 1e-4, 0.1);
        for (uint32_t t = 0; t < 1500; t++) {
            const float *row = x + (size_t)below(&from, 20) * 3;
            learn_one(&s, row,
                      unit(&from) <
                          link_here(link_used, 0.2 * (double)row[2] + 0.1 * (double)row[0]).mean);
            if (t > 20)
                assert_at_root(&s);
        }
        free(s.state);
    }
}

/* Features of 1e6 and a ridge of 1e-4: beyond the precision of doubles in flat directions, but
 * nothing may diverge or run on, and what is left is far below the posterior's own deviation. */
static void test_huge_features(void **unused)
{
    static float x[40 * 12];
    for (uint32_t trial = 0; trial < 8; trial++) {
        from.state = 300 + trial;
        oltr_error error;
        uint32_t dim = 2 + below(&from, 10);
        subject s = subject_new(dim, 40, trial % 2 ? 1e-4 : 10, 0.1);
        random_rows(x, 40, dim, 1e6);
        for (uint32_t t = 0; t < 300; t++) {
            learn_one(&s, x + (size_t)below(&from, 40) * dim,
                      unit(&from) < (trial % 4 < 2 ? 0.3 : 1));
            for (uint32_t j = 0; j < dim; j++)
                assert_true(fabs(theta_of(&s)[j]) < 1e6);
        }
        assert_effort(s.p.effort.steps, 300 * 20,
                      "steps are not cut to nothing where rounding limits the gradient");
        if (logistic_check_derived(s.state, &s.p, &error) != OLTR_OK)
            fail_msg("%s", error.msg);
        free(s.state);
    }
}

/* The same with room for two rows only, of fewer than there are features: what is absorbed is flat
 * in most directions, and its rounding must not move theta there. */
static void test_huge_features_absorbed(void **unused)
{
    static float x[8 * 16];
    double truth[16];
    for (uint32_t trial = 0; trial < 8 * EFFORT; trial++) {
        from.state = 400 + trial;
        uint32_t dim = 9 + below(&from, 8), n = 3 + below(&from, 6);
        subject s = subject_new(dim, 2, 1e-4, trial % 2 ? 0.1 : 0);
        random_rows(x, n, dim, 1e6);
        for (uint32_t j = 0; j < dim; j++)
            truth[j] = 6e-6 * normal(&from);
        for (uint32_t t = 0; t < 120; t++)
            play_round(&s, x, n, BY_MODEL, truth);
        for (uint32_t j = 0; j < dim; j++)
            if (!(fabs(theta_of(&s)[j]) < 1e6))
                fail_msg("trial %u: theta is %g", trial, theta_of(&s)[j]);
        free(s.state);
    }
}

/* Where features are huge, even the last step moves weights by more than a small drift allows. */
static void test_small_drift_of_huge_features(void **unused)
{
    static float x[40 * 6];
    for (uint32_t trial = 0; trial < 30; trial++) {
        from.state = 500 + trial;
        uint32_t dim = 1 + below(&from, 6);
        subject s = subject_new(dim, 40, 10, 0.001);
        random_rows(x, 40, dim, 1e6);
        for (int t = 0; t < 200; t++) {
            learn_one(&s, x + (size_t)below(&from, 40) * dim, unit(&from) < 0.3);
            double distance = factor_distance(&s);
            if (!(distance <= 0.001 / (1 - 0.001) + 1e-9))
                fail_msg("trial %u: the factor is %g away at %d", trial, distance, t);
        }
        free(s.state);
    }
}

static void test_large_features_exactly(void **unused)
{
    static float x[40 * 8];
    from.state = 12;
    random_rows(x, 40, 8, 1e4);
    subject s = subject_new(8, 40, 1e-2, 0.1);
    play(&s, x, 40, BY_MODEL, 200);
    free(s.state);
}

static void test_plain_solver(void **unused)
{
    static float x[20 * 6];
    from.state = 13;
    random_rows(x, 20, 6, 2);
    subject s = subject_new(6, 20, 1e-4, 0.1);
    play(&s, x, 20, BY_MODEL, 50);
    for (int k = 0; k < 30; k++) {
        doubles_at(s.state, s.p.examined)[k % 15] += 3;
        doubles_at(s.state, s.p.clicked)[k % 15] += k % 3;
        logistic_solve_plainly(s.state, &s.p);
        assert_at_root(&s);
    }
    learn_one(&s, x, 1); /* and from there on */
    assert_at_root(&s);
    free(s.state);
}

/* The effort of a round does not grow with the number of rounds before it. */
static void test_effort(void **unused)
{
    static float x[30 * 10];
    from.state = 14;
    random_rows(x, 30, 10, 1);
    subject s = subject_new(10, 64, 1e-4, 0.1);
    for (uint32_t t = 0; t < 20000; t++) {
        const float *row = x + (size_t)below(&from, 30) * 10;
        learn_one(&s, row, unit(&from) < 0.3 + 0.4 * (row[0] > 0));
        if (t == 1000)
            memset(&s.p.effort, 0, sizeof s.p.effort);
    }
    assert_true(rows_of(&s) == 30);
    const logistic_effort *e = &s.p.effort;
    assert_int_equal(e->solves, 18999); /* one for each round */
    assert_effort(e->steps, 5 * e->solves,
                  "the last root and the kept factor are a good start: a few steps a round");
    assert_effort(e->refreshes, e->solves / 20,
                  "the factor is updated by rows, and made anew in few rounds");
    assert_effort(
        e->entered, e->solves * 7 / 10,
        "a row enters the factor when its weight has changed by the drift, not every time");
    assert_true(e->entered > e->solves / 10); /* and it does enter */
    assert_true(factor_distance(&s) < 0.12);  /* however many updates it has seen */
    assert_at_root(&s);
    free(s.state);
}

/* ---- the factor */

static void test_factor(void **unused)
{
    static const double drifts[] = {0, 0.01, 0.1, 0.5};
    static float x[40 * 9];
    for (int k = 0; k < 4; k++) {
        from.state = 20;
        random_rows(x, 40, 9, 3);
        subject s = subject_new(9, 40, 1e-2, drifts[k]);
        ldl f = logistic_factor(s.state, &s.p);
        for (int t = 0; t < 400; t++) {
            learn_one(&s, x + (size_t)below(&from, 40) * 9, unit(&from) < 0.2);
            double distance = factor_distance(&s);
            if (!(distance <= drifts[k] / (1 - drifts[k]) + 1e-9))
                fail_msg("drift %g: the factor is %g away at %d", drifts[k], distance, t);
            for (uint32_t j = 0; j < 9; j++)
                assert_true(f.l[j * f.stride + 9] == 0); /* no right-hand side */
        }
        assert_true(drifts[k] > 0 || s.p.effort.refreshes >= 400); /* exact in every round */
        free(s.state);
    }
}

/* The solver lowers weights by updates with a negative one, to a thousandth at most: then three
 * digits of sixteen are lost, no more. */
static void test_lowered_weights(void **unused)
{
    enum { N = 30, D = 11 };
    static float x[N * D];
    double gram[D * (D + 1) / 2] = {0}, moment[D] = {0}, weight[N], none[N] = {0}, work[64 * D],
                              column[D];
    const float *row[N];
    from.state = 25;
    random_rows(x, N, D, 1);
    for (uint32_t i = 0; i < N; i++) {
        row[i] = x + (size_t)i * D;
        weight[i] = 10 * unit(&from);
    }
    double *memory = aligned_alloc(64, (ldl_doubles(D) * sizeof(double) + 63) / 64 * 64);
    assert_non_null(memory);
    assert_true(ldl_update_work(D) <= 64 * D);
    ldl f = ldl_view(memory, D);
    ldl_reset(&f, 1e-2);
    ldl_update(&f, row, none, weight, N, work);
    for (int trial = 0; trial < 1000; trial++) { /* up and down, as the weights of rows do */
        uint32_t i = below(&from, N);
        double target = weight[i] > 1 ? weight[i] * 1e-3 : 10 * unit(&from),
               more = target - weight[i];
        ldl_update(&f, row + i, none, &more, 1, work);
        weight[i] = target;
    }
    gram_add(gram, moment, D, row, none, weight, N);
    for (uint32_t j = 0; j < D; j++)
        assert_true(ldl_column_error(&f, gram, 1e-2, j, column) < 1e-10);
    free(memory);
}

/* ---- what is learned */

static void test_refresh(void **unused)
{
    static float x[25 * 7];
    from.state = 30;
    random_rows(x, 25, 7, 2);
    subject s = subject_new(7, 12, 1e-3, 0.1); /* some rows are absorbed */
    for (int t = 0; t < 300; t++)
        learn_one(&s, x + (size_t)below(&from, 25) * 7, unit(&from) < 0.4);
    subject again = subject_new(7, 12, 1e-3, 0.1);
    const logistic *p = &s.p;
    memcpy(again.state, s.state, p->table); /* the sums come first */
    memset((char *)again.state + p->table, 0xA5, again.bytes - p->table);
    logistic_refresh(again.state, &again.p);
    for (uint32_t j = 0; j < 7; j++) {
        double a = logistic_theta(s.state, p)[j];
        assert_true(fabs(a - theta_of(&again)[j]) <= EXACT * (1 + fabs(a)));
    }
    assert_true(factor_distance(&again) < 1e-9);
    learn_one(&again, x, 1);
    assert_at_root(&again);
    free(s.state);
    free(again.state);
}

/* A full house: the least recent row leaves, and neither the gradient at the root nor the root
 * itself change by that. */
static void test_absorb(void **unused)
{
    enum { N = 6, D = 4 };
    static float x[(N + 1) * D];
    for (uint32_t trial = 0; trial < 20; trial++) {
        from.state = 40 + trial;
        random_rows(x, N + 1, D, 3);
        subject s = subject_new(D, N, 1e-2, 0.1);
        for (int t = 0; t < 40; t++)
            learn_one(&s, x + (size_t)(t % N) * D, unit(&from) < 0.4);
        uint32_t oldest = 40 % N; /* row 4 was examined before all others */
        double precision[D * (D + 1) / 2], pull[D], theta[D];
        memcpy(precision, doubles_at(s.state, s.p.precision), sizeof precision);
        memcpy(pull, doubles_at(s.state, s.p.linear_term), sizeof pull);
        memcpy(theta, theta_of(&s), sizeof theta);
        const float *row = x + (size_t)oldest * D;
        double z = 0, n = doubles_at(s.state, s.p.examined)[oldest],
               c = doubles_at(s.state, s.p.clicked)[oldest];
        for (uint32_t j = 0; j < D; j++)
            z += (double)row[j] * theta[j];
        long double mu, rest, slope;
        response(link_used, z, &mu, &rest, &slope);
        double w = n * (double)slope, v, work[64];
        ldl f = logistic_factor(s.state, &s.p);
        ldl_quadratic(&f, row, D, 1, &v, work);
        const double bend[N_LINKS] = {1 - 2 * (double)mu, -z, 1 - exp(z)}; /* mu'' / mu' */
        double ahead = -0.5 * w * bend[link_used] * fmin(v, 1);

        learn_one(&s, x + (size_t)N * D, trial % 2);
        const double *p = doubles_at(s.state, s.p.precision),
                     *q = doubles_at(s.state, s.p.linear_term);
        double exact = w;
        w = (p[0] - precision[0]) /
            ((double)row[0] * (double)row[0]); /* that in the factor, if it is near enough */
        assert_true(fabs(w - exact) <= 0.0201 * exact);
        for (uint32_t j = 0, at = 0; j < D; j++) {
            for (uint32_t i = j; i < D; i++, at++)
                assert_true(fabs(p[at] - precision[at] - w * (double)row[i] * (double)row[j]) <
                            1e-11 * (1 + w));
            assert_true(
                fabs(q[j] - pull[j] - (c - n * (double)mu + ahead + w * z) * (double)row[j]) <
                1e-11 * (1 + n));
        }
        assert_true(memcmp(floats_at(s.state, s.p.row) + (size_t)oldest * D, x + (size_t)N * D,
                           D * sizeof(float)) == 0);
        assert_at_root(&s);

        /* without the new observation and the look ahead, the old estimate is the root of the new
         * sums */
        long double root[MAX_DIM];
        sums a = sums_of(&s);
        for (uint32_t j = 0; j < D; j++)
            doubles_at(s.state, s.p.linear_term)[j] -= ahead * (double)row[j];
        doubles_at(s.state, s.p.examined)[oldest] = doubles_at(s.state, s.p.clicked)[oldest] = 0;
        exact_root(&a, root);
        for (uint32_t j = 0; j < D; j++)
            assert_true(fabsl(root[j] - theta[j]) < EXACT * (1 + fabs(theta[j])));
        free(s.state);
    }
}

static void test_contexts_that_never_repeat(void **unused)
{
    static float x[MAX_ROUND * 8];
    for (uint32_t capacity = 1; capacity <= 16; capacity *= 2) {
        from.state = 50 + capacity;
        subject s = subject_new(8, capacity, 1e-2, 0.1);
        uint64_t most = 0;
        for (uint32_t t = 0; t < 500; t++) {
            const float *seen[MAX_ROUND];
            double click[MAX_ROUND];
            random_rows(x, MAX_ROUND, 8, 3);
            for (uint32_t i = 0; i < MAX_ROUND; i++) {
                seen[i] = x + (size_t)i * 8;
                click[i] = unit(&from) < link_here(link_used, 2.0 * (double)seen[i][0]).mean;
            }
            uint64_t before = s.p.effort.steps;
            logistic_add(s.state, &s.p, seen, click, MAX_ROUND);
            most = s.p.effort.steps - before > most ? s.p.effort.steps - before : most;
            if (t % 50 == 49)
                assert_at_root(&s);
        }
        assert_true(rows_of(&s) == capacity && observations_of(&s) == 500 * MAX_ROUND);
        assert_effort(most, 150, "a round that absorbs rows ends");
        double first = theta_of(&s)[0];
        assert_true(first > 1.2 &&
                    first < 2.8); /* absorbed rows still teach: five deviations around 2 */
        free(s.state);
    }
}

static void test_merge(void **unused)
{
    static float x[20 * 6];
    from.state = 60;
    random_rows(x, 20, 6, 2);
    subject a = subject_new(6, 24, 1e-2, 0.1), b = subject_new(6, 40, 1e-2, 0),
            both = subject_new(6, 24, 1e-2, 0.1);
    for (int t = 0; t < 200; t++) {
        const float *row = x + (size_t)(t < 100 ? below(&from, 12) : 8 + below(&from, 12)) * 6;
        double y = unit(&from) < 0.4;
        learn_one(t < 100 ? &a : &b, row, y);
        learn_one(&both, row, y);
    }
    logistic_merge(a.state, &a.p, b.state, &b.p);
    assert_at_root(&a);
    for (uint32_t j = 0; j < 6; j++)
        assert_true(fabs(theta_of(&a)[j] - theta_of(&both)[j]) < 2 * EXACT * 5);
    assert_true(rows_of(&a) == rows_of(&both));
    assert_true(observations_of(&a) == 200);
    subject empty = subject_new(6, 3, 1e-2, 0.1);
    logistic_merge(a.state, &a.p, empty.state, &empty.p);
    assert_at_root(&a);
    logistic_merge(empty.state, &empty.p, a.state, &a.p); /* most of it does not fit */
    assert_true(rows_of(&empty) == 3 && observations_of(&empty) == 200);
    assert_at_root(&empty);
    logistic_merge(b.state, &b.p, empty.state, &empty.p); /* absorbed sums add up too */
    assert_at_root(&b);
    learn_one(&b, x, 1);
    assert_at_root(&b);
    free(a.state);
    free(b.state);
    free(both.state);
    free(empty.state);
}

/* What does not fit is absorbed where theta has seen it: the posterior stays near that of all rows.
 */
static void test_merge_into_less_room(void **unused)
{
    static float x[40 * 4];
    from.state = 65;
    random_rows(x, 40, 4, 2);
    subject all = subject_new(4, 64, 1e-2, 0.1), few = subject_new(4, 4, 1e-2, 0.1);
    for (int t = 0; t < 400; t++) {
        const float *row = x + (size_t)below(&from, 40) * 4;
        learn_one(&all, row,
                  unit(&from) < link_here(link_used, (double)row[0] + 0.3 * (double)row[1]).mean);
    }
    logistic_merge(few.state, &few.p, all.state, &all.p);
    assert_true(rows_of(&few) == 4 && observations_of(&few) == 400);
    assert_at_root(&few);
    for (uint32_t j = 0; j < 4; j++)
        assert_true(fabs(theta_of(&few)[j] - theta_of(&all)[j]) < 0.1);
    free(all.state);
    free(few.state);
}

/* Posterior deviations between two estimates, by the curvature of the first. */
static double deviations(const subject *a, const subject *b)
{
    uint32_t d = a->p.dim;
    double square = 0;
    const double *one = theta_of(a), *other = theta_of(b);
    ldl f = logistic_factor(a->state, &a->p);
    for (uint32_t k = 0; k < d; k++) { /* |D^1/2 L' (one - other)| */
        double e = one[k] - other[k];
        for (uint32_t r = k + 1; r < d; r++)
            e += f.l[k * f.stride + r] * (one[r] - other[r]);
        square += f.d[k] * e * e;
    }
    return sqrt(square);
}

/* Two halves of separable data, each with little room of its own: what does not fit is absorbed at
 * the root of both together, so that estimate and curvature are those of all rows. */
static void test_merge_of_separable_data(void **unused)
{
    enum { D = 60, ROOM = 100 };
    static float x[2 * ROOM * D];
    from.state = 66;
    random_rows(x, 2 * ROOM, D, 3);
    subject a = subject_new(D, ROOM, 1e-4, 0.1), b = subject_new(D, ROOM, 1e-4, 0.1),
            all = subject_new(D, 2 * ROOM, 1e-4, 0.1);
    for (uint32_t i = 0; i < 2 * ROOM; i++) {
        const float *row = x + (size_t)i * D;
        double y = row[0] + 0.5f * row[1] > 0;
        learn_one(i < ROOM ? &a : &b, row, y);
        learn_one(&all, row, y);
    }
    assert_true(deviations(&all, &a) > 1); /* half of the data says something else */
    assert_int_equal(logistic_merge(a.state, &a.p, b.state, &b.p), OLTR_OK);
    assert_true(rows_of(&a) == ROOM && observations_of(&a) == 2 * ROOM);
    double apart = deviations(&all, &a);
    if (!(apart <= 1e-6))
        fail_msg("%g deviations from the posterior of all rows", apart);
    ldl f = logistic_factor(a.state, &a.p), g = logistic_factor(all.state, &all.p);
    for (uint32_t j = 0; j < D; j++)
        assert_true(fabs(f.d[j] / g.d[j] - 1) < 0.15); /* within the drift */
    free(a.state);
    free(b.state);
    free(all.state);
}

/* Counts have a bound: a merge beyond it is refused and changes nothing, learning forgets older
 * observations. */
static void test_largest_counts(void **unused)
{
    const float x[2] = {1, 0.5f};
    oltr_error error;
    subject a = subject_new(2, 4, 1, 0.1), b = subject_new(2, 4, 1, 0.1);
    for (int i = 0; i < 2; i++) {
        learn_one(i ? &b : &a, x, 1);
        doubles_at(i ? b.state : a.state, a.p.examined)[0] = 0.75 * MOST_ROW_OBSERVATIONS;
        doubles_at(i ? b.state : a.state, a.p.clicked)[0] = 0.25 * MOST_ROW_OBSERVATIONS;
        logistic_refresh(i ? b.state : a.state, i ? &b.p : &a.p);
    }
    void *before = malloc(a.bytes);
    assert_non_null(before);
    memcpy(before, a.state, a.bytes);
    assert_int_equal(logistic_merge(a.state, &a.p, b.state, &b.p), OLTR_ESTATE);
    assert_memory_equal(before, a.state, a.bytes);
    free(before);
    doubles_at(a.state, a.p.examined)[0] = MOST_ROW_OBSERVATIONS;
    logistic_refresh(a.state, &a.p);
    for (int i = 0; i < 100; i++) {
        learn_one(&a, x, 1);
        assert_true(doubles_at(a.state, a.p.examined)[0] == MOST_ROW_OBSERVATIONS);
        assert_int_equal(logistic_check(a.state, &a.p, &error), OLTR_OK);
    }
    double clicked = doubles_at(a.state, a.p.clicked)[0];
    assert_true(fabs(clicked - 0.25 * MOST_ROW_OBSERVATIONS - 75) <
                1); /* each click in place of a quarter of one */
    doubles_at(a.state, a.p.examined)[0] = 2 * MOST_ROW_OBSERVATIONS;
    assert_int_equal(logistic_check(a.state, &a.p, &error), OLTR_ESTATE);
    free(a.state);
    free(b.state);
}

/* ---- exact copies */

/* What an exact copy is made from, byte by byte; everything else is filled with what must not be
 * read. */
static subject copy_of(const subject *s)
{
    subject copy = *s;
    const logistic *p = &s->p;
    size_t rows = (size_t)doubles_at(s->state, p->count)[0];
    copy.state = aligned_alloc(64, s->bytes);
    assert_non_null(copy.state);
    memset(copy.state, 0xA5, s->bytes);
    memcpy(copy.state, s->state, p->table); /* the sums come first */
    memcpy(doubles_at(copy.state, p->theta), doubles_at(s->state, p->theta),
           logistic_estimate(p->dim) * sizeof(double));
    memcpy(doubles_at(copy.state, p->factor), doubles_at(s->state, p->factor),
           ldl_doubles(p->dim) * sizeof(double));
    memcpy(doubles_at(copy.state, p->weight), doubles_at(s->state, p->weight),
           rows * sizeof(double));
    memcpy(doubles_at(copy.state, p->score), doubles_at(s->state, p->score), rows * sizeof(double));
    copy.p.n_singles = UINT32_MAX;
    assert_int_equal(logistic_resume(copy.state, &copy.p, NULL), OLTR_OK);
    return copy;
}

static void assert_same_bits(const subject *a, const subject *b)
{
    const logistic *p = &a->p;
    size_t rows = (size_t)doubles_at(a->state, p->count)[0];
    assert_memory_equal(a->state, b->state, p->table);
    assert_memory_equal(doubles_at(a->state, p->theta), doubles_at(b->state, p->theta),
                        logistic_estimate(p->dim) * sizeof(double));
    assert_memory_equal(doubles_at(a->state, p->factor), doubles_at(b->state, p->factor),
                        ldl_doubles(p->dim) * sizeof(double));
    assert_memory_equal(doubles_at(a->state, p->weight), doubles_at(b->state, p->weight),
                        rows * sizeof(double));
}

/* A copy goes on to the same bits: with rows that repeat and rows that do not, absorbed, merged and
 * forgotten ones. */
static void test_copies_go_on(void **unused)
{
    static float x[60 * 12], fresh[12];
    oltr_error error = {0};
    for (uint32_t trial = 0; trial < 12 * EFFORT; trial++) {
        from.state = 1000 + trial;
        uint32_t dim = 1 + below(&from, 12), capacity = 1 + below(&from, trial % 2 ? 10 : 200),
                 window = 1 + below(&from, capacity);
        layout l = {0, 0};
        subject s = subject_new(dim, capacity, pow(10, -6 + 7 * unit(&from)),
                                trial % 5 == 0 ? 0 : 0.5 * unit(&from));
        s.p = logistic_plan(&l, dim, capacity, window, s.p.lambda, s.p.drift);
        s.p.link = link_used;
        s.p.thorough = trial % 3 ? capacity : below(&from, window);
        logistic_refresh(s.state, &s.p);
        random_rows(x, 60, dim, trial % 3 == 0 ? 1 : trial % 3 == 1 ? 5 : 1e5);
        subject copy = copy_of(&s);
        for (uint32_t t = 0; t < 200; t++) {
            const float *row = below(&from, 3) ? x + (size_t)below(&from, 60) * dim : fresh;
            double y = unit(&from) < 0.3;
            random_rows(fresh, 1, dim, 2);
            learn_one(&s, row, y);
            learn_one(&copy, row, y);
            assert_same_bits(&s, &copy);
            if (one_in(&from, 10) && logistic_check_derived(s.state, &s.p, &error) != OLTR_OK)
                fail_msg("trial %u, round %u: %s", trial, t, error.msg);
            if (one_in(&from, 20)) {
                free(copy.state);
                copy = copy_of(&s);
            }
            if (one_in(&from, 50)) {
                logistic_forget(s.state, &s.p, 0.7);
                logistic_forget(copy.state, &copy.p, 0.7);
            }
            if (one_in(&from, 50)) {
                assert_int_equal(logistic_merge(s.state, &s.p, copy.state, &copy.p), OLTR_OK);
                free(copy.state);
                copy = copy_of(&s);
            }
        }
        free(s.state);
        free(copy.state);
    }
}

/* Rows mostly of few directions, whose length goes up and down: weights are lowered in
 * one round of bounded work after the other, and the factor stays that of its weights. */
static void test_lowered_in_many_rounds(void **unused)
{
    enum { DIM = 136, DIRECTIONS = 38, ROUNDS = 400 };
    static float direction[DIRECTIONS * DIM], x[DIM];
    oltr_error error;
    for (uint32_t life = 0; life < 2; life++) {
        subject s = subject_new(DIM, 3 * DIM + 64, 1e-6, 0.2);
        s.p.thorough = 100;
        from.state = 4000 + life;
        random_rows(direction, DIRECTIONS, DIM, 300);
        for (uint32_t t = 0; t < ROUNDS; t++) {
            double part[DIRECTIONS], longer = pow(10, 2 * sin(t / 50.0));
            for (uint32_t k = 0; k < DIRECTIONS; k++)
                part[k] = longer * normal(&from);
            random_rows(x, 1, DIM, 600);
            for (uint32_t k = 0; k < DIRECTIONS; k++)
                for (uint32_t j = 0; j < DIM; j++)
                    x[j] += (float)(part[k] * direction[k * DIM + j]);
            learn_one(&s, x, (part[0] > 0) != one_in(&from, 100));
            if (t % 8 == 0 && logistic_check_derived(s.state, &s.p, &error) != OLTR_OK)
                fail_msg("life %u, round %u: %s", life, t, error.msg);
        }
        free(s.state);
    }
}

static void test_copies_of_nothing_possible(void **unused)
{
    float x[2] = {1, 0.5f};
    subject s = subject_new(2, 4, 1, 0.1);
    learn_one(&s, x, 1);
    ldl f = logistic_factor(s.state, &s.p);
    double *theta = doubles_at(s.state, s.p.theta);
    double *const at[] = {theta,
                          theta + 1,
                          theta + 4,
                          theta + 2,
                          theta + 5,
                          f.d + 1,
                          f.d,
                          f.l + 1,
                          f.l + 2,
                          doubles_at(s.state, s.p.weight),
                          doubles_at(s.state, s.p.score)};
    const double bad[] = {NAN, -1e51, -1, NAN, -0.5, 0, INFINITY, NAN, INFINITY, -1, NAN};
    for (size_t i = 0; i < COUNT(bad); i++) {
        double before = *at[i];
        oltr_error error = {0};
        *at[i] = bad[i];
        assert_int_equal(logistic_resume(s.state, &s.p, &error), OLTR_ESTATE);
        assert_non_null(strstr(error.msg, "learning can leave"));
        *at[i] = before;
        assert_int_equal(logistic_resume(s.state, &s.p, &error), OLTR_OK);
    }
    free(s.state);
}

static void test_forget(void **unused)
{
    static float x[20 * 6];
    from.state = 70;
    random_rows(x, 20, 6, 2);
    subject s = subject_new(6, 10, 1e-2, 0.1);
    for (int t = 0; t < 200; t++) {
        learn_one(&s, x + (size_t)below(&from, 20) * 6, unit(&from) < 0.4);
        if (t % 20 == 19) {
            double n = doubles_at(s.state, s.p.examined)[3],
                   p = doubles_at(s.state, s.p.precision)[0],
                   q = doubles_at(s.state, s.p.linear_term)[2];
            logistic_forget(s.state, &s.p, 0.75);
            assert_true(doubles_at(s.state, s.p.examined)[3] == 0.75 * n &&
                        doubles_at(s.state, s.p.precision)[0] == 0.75 * p);
            assert_true(doubles_at(s.state, s.p.linear_term)[2] == 0.75 * q);
            assert_at_root(&s);
        }
    }
    logistic_forget(s.state, &s.p, 0);
    for (uint32_t j = 0; j < 6; j++)
        assert_true(fabs(theta_of(&s)[j]) <= EXACT);
    for (int t = 0; t < 30; t++)
        learn_one(&s, x + (size_t)below(&from, 20) * 6, unit(&from) < 0.4);
    assert_at_root(&s);
    free(s.state);
}

/* ---- the table */

static void test_many_rows(void **unused)
{
    enum { N = 5000, CAPACITY = 3000 };
    static float x[N * 3];
    from.state = 80;
    for (uint32_t i = 0; i < N; i++) { /* rows that differ in few bits */
        x[i * 3] = (float)(i % 17);
        x[i * 3 + 1] = (float)(i / 17);
        x[i * 3 + 2] = 1e-3f;
    }
    for (uint32_t i = 0; i < N * 3; i++)
        x[i] *= 1e-3f;
    subject s = subject_new(3, CAPACITY, 1, 0.1);
    const float *seen[250];
    double click[250];
    for (uint32_t i = 0; i < N; i += 250) {
        for (uint32_t k = 0; k < 250; k++) {
            seen[k] = x + (size_t)(i + k) * 3;
            click[k] = k % 3 == 0;
        }
        logistic_add(s.state, &s.p, seen, click, 250);
        logistic_add(s.state, &s.p, seen, click, 250); /* each is found again */
    }
    assert_true(s.p.table_size >= 2 * CAPACITY);
    assert_true(rows_of(&s) == CAPACITY);
    for (uint32_t r = 0; r < CAPACITY; r++)
        assert_true(doubles_at(s.state, s.p.examined)[r] == 2);
    assert_at_root(&s);
    free(s.state);
}

static void test_zero_has_no_sign(void **unused)
{
    const float plus[2] = {0, 1}, minus[2] = {-0.0f, 1};
    subject s = subject_new(2, 4, 1, 0.1);
    learn_one(&s, minus, 1);
    learn_one(&s, plus, 0);
    assert_true(rows_of(&s) == 1 && doubles_at(s.state, s.p.examined)[0] == 2);
    floats_at(s.state, s.p.row)[0] = -0.0f; /* as another program may have written it */
    logistic_refresh(s.state, &s.p);
    learn_one(&s, plus, 0);
    assert_true(rows_of(&s) == 1);
    free(s.state);
}

/* ---- checks */

static subject healthy_with(double drift)
{
    static float x[8 * 3];
    from.state = 90;
    random_rows(x, 8, 3, 2);
    subject s = subject_new(3, 5, 0.1, drift);
    for (int t = 0; t < 60; t++)
        learn_one(&s, x + (size_t)below(&from, 8) * 3, unit(&from) < 0.4);
    assert_at_root(&s);
    return s;
}

static subject healthy(void)
{
    return healthy_with(0.1);
}

static void test_check(void **unused)
{
    subject s = healthy();
    const logistic *p = &s.p;
    const struct {
        size_t offset;
        double value;
        const char *says;
    } damage[] = {
        {p->count, 6, "room for 5"},
        {p->count, -1, "rows"},
        {p->count, 2.5, "rows"},
        {p->count, NAN, "rows"},
        {p->count + sizeof(double), INFINITY, "observations are impossible"},
        {p->count + sizeof(double), 3, "yet to come"},
        {p->examined, -1, "clicks in"},
        {p->examined, NAN, "clicks in"},
        {p->examined, INFINITY, "clicks in"},
        {p->clicked + sizeof(double), 1e9, "clicks in"},
        {p->clicked + sizeof(double), -0.5, "clicks in"},
        {p->clicked, NAN, "clicks in"},
        {p->last, -3, "yet to come"},
        {p->last, NAN, "yet to come"},
        {p->precision, -1e-9, "precision"},
        {p->precision + sizeof(double), NAN, "precision"},
        {p->linear_term + sizeof(double), INFINITY, "linear term"},
    };
    oltr_error error;
    for (size_t i = 0; i < COUNT(damage); i++) {
        double *at = doubles_at(s.state, damage[i].offset), before = *at;
        *at = damage[i].value;
        memset(&error, 0, sizeof error);
        assert_int_equal(logistic_check(s.state, p, &error), OLTR_ESTATE);
        if (!strstr(error.msg, damage[i].says))
            fail_msg("damage %zu: %s", i, error.msg);
        *at = before;
        assert_int_equal(logistic_check(s.state, p, &error), OLTR_OK);
    }
    floats_at(s.state, p->row)[4] = INFINITY;
    assert_int_equal(logistic_check(s.state, p, &error), OLTR_ESTATE);
    assert_non_null(strstr(error.msg, "feature 1"));
    assert_int_equal(logistic_check(s.state, p, NULL), OLTR_ESTATE);
    free(s.state);
}

static void test_check_derived(void **unused)
{
    subject s = healthy();
    const logistic *p = &s.p;
    oltr_error error;
    void *intact = malloc(s.bytes);
    assert_non_null(intact);
    memcpy(intact, s.state, s.bytes);
    for (int i = 0; i < 8; i++) {
        const char *says = "factor";
        ldl f = logistic_factor(s.state, p);
        memcpy(s.state, intact, s.bytes);
        assert_int_equal(logistic_check_derived(s.state, p, &error), OLTR_OK);
        if (i == 0)
            f.d[1] *= 2;
        else if (i == 1)
            f.d[2] = -f.d[2], says = "";
        else if (i == 2)
            f.l[2] += 1, says = "";
        else if (i == 3)
            f.d[0] = NAN, says = "";
        else if (i == 4)
            doubles_at(s.state, p->theta)[1] += 1e-3, says = "root";
        else if (i == 5)
            doubles_at(s.state, p->theta)[1] = NAN, says = "root";
        else if (i == 6)
            doubles_at(s.state, p->clicked)[0] += 1, says = "root";
        else
            memset(words_in(s.state, p->table), 0, p->table_size * sizeof(uint32_t)),
                says = "table";
        assert_int_equal(logistic_check_derived(s.state, p, &error), OLTR_ESTATE);
        if (!strstr(error.msg, says))
            fail_msg("damage %d: %s", i, error.msg);
    }
    free(intact);
    free(s.state);
}

/* The drift is what weights may be off by; the factor is that of its weights whatever the drift. */
static void test_forged_factor(void **unused)
{
    static const double drifts[] = {0, 0.1, 0.5}, times[] = {1.3, 0.8, 1 + 1e-6};
    for (size_t k = 0; k < COUNT(drifts); k++)
        for (size_t i = 0; i < COUNT(times); i++) {
            oltr_error error;
            subject s = healthy_with(drifts[k]);
            double *pivot = logistic_factor(s.state, &s.p).d,
                   *weight = doubles_at(s.state, s.p.weight);
            double right = pivot[i], weighed = weight[i];
            assert_int_equal(logistic_check_derived(s.state, &s.p, &error), OLTR_OK);
            pivot[i] *= times[i];
            assert_int_equal(logistic_check_derived(s.state, &s.p, &error), OLTR_ESTATE);
            assert_non_null(strstr(error.msg, "factor"));
            subject copy = copy_of(&s); /* derived anew, within the drift of the right one */
            double found = logistic_factor(copy.state, &s.p).d[i];
            assert_true(fabs(found - right) <= 0.1 * right);
            assert_true(factor_distance(&copy) < 1e-6);
            pivot[i] = right;
            weight[i] = weighed * (1 + 1.3 * drifts[k] + 1e-5);
            assert_int_equal(logistic_check_derived(s.state, &s.p, &error), OLTR_ESTATE);
            free(copy.state);
            free(s.state);
        }
}

static void test_plan(void **unused)
{
    layout l = {64, 0};
    logistic p = logistic_plan(&l, 5, 100, 100, 1, 0.1);
    assert_false(l.overflow);
    assert_true(p.count == 64 && p.table_size == 256 && l.used > p.work);
    layout huge = {SIZE_MAX / 4 - 1000, 0};
    logistic_plan(&huge, 500, 100000, 100000, 1, 0.1);
    assert_true(huge.overflow);
    const size_t capacities[] = {(size_t)1 << 29, (size_t)1 << 30, (size_t)1 << 31,
                                 UINT32_MAX,      SIZE_MAX / 2,    SIZE_MAX};
    for (size_t i = 0; i < COUNT(capacities); i++) {
        layout large = {64, 0};
        p = logistic_plan(&large, 1, capacities[i], capacities[i], 1, 0.1);
        assert_true(large.overflow ||
                    (p.capacity == capacities[i] && p.table_size / 2 >= capacities[i] &&
                     large.used / sizeof(float) > capacities[i]));
        assert_int_equal(large.overflow, sizeof(size_t) < 8 || capacities[i] > (size_t)1 << 29);
    }
}

static int use_probit(void **unused)
{
    link_used = LINK_PROBIT;
    return 0;
}

static int use_cloglog(void **unused)
{
    link_used = LINK_CLOGLOG;
    return 0;
}

static int use_logit(void **unused)
{
    link_used = LINK_LOGIT;
    return 0;
}

#define WITH_LINK(test, link) cmocka_unit_test_setup_teardown(test, use_##link, use_logit)
#define WITH_LINKS(test) cmocka_unit_test(test), WITH_LINK(test, probit), WITH_LINK(test, cloglog)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sigmoid),
        cmocka_unit_test(test_response_keeps_small_residuals),
        cmocka_unit_test(test_product_of_a_packed_matrix),
        cmocka_unit_test(test_weights_near),
        WITH_LINKS(test_root),
        WITH_LINKS(test_fewer_rows_than_dimensions),
        WITH_LINKS(test_one_row),
        WITH_LINKS(test_repeated_in_a_round),
        WITH_LINKS(test_nearly_dependent_features),
        WITH_LINKS(test_huge_features),
        WITH_LINKS(test_huge_features_absorbed),
        WITH_LINKS(test_small_drift_of_huge_features),
        WITH_LINKS(test_large_features_exactly),
        WITH_LINKS(test_plain_solver),
        WITH_LINKS(test_effort),
        WITH_LINKS(test_factor),
        cmocka_unit_test(test_lowered_weights),
        WITH_LINKS(test_refresh),
        WITH_LINKS(test_absorb),
        WITH_LINKS(test_contexts_that_never_repeat),
        WITH_LINKS(test_merge),
        WITH_LINKS(test_merge_into_less_room),
        WITH_LINKS(test_merge_of_separable_data),
        WITH_LINKS(test_largest_counts),
        WITH_LINKS(test_copies_go_on),
        WITH_LINKS(test_lowered_in_many_rounds),
        cmocka_unit_test(test_copies_of_nothing_possible),
        WITH_LINKS(test_forget),
        WITH_LINKS(test_many_rows),
        cmocka_unit_test(test_zero_has_no_sign),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_check_derived),
        cmocka_unit_test(test_forged_factor),
        cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
