/* special.c - the special functions behind the upper bounds: forward functions against GSL,
 * inverses by certificate.
 *
 * A certificate does not compare two inverses, which could share a mistake: it puts the answer back
 * into the forward function and asks whether the root lies within the promised distance.  Closed
 * forms and plain bisection say it a second time.
 */
#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_gamma.h>

#include "support/unit.h"
#include "support/oracle.h"
#include "engine/special/special.h"

static int setup(void **state)
{
    gsl_set_error_handler_off(); /* the default ends the process */
    return 0;
}

static double relative(double got, double right)
{
    return got == right ? 0 : fabs(got - right) / fabs(right);
}

static double draw_shape(dice *from)
{
    static const double round[] = {1e-3, 0.5, 1, 1 + 1e-12, 2, 100, 1e6};
    return below(from, 5) ? log_uniform(from, 1e-3, 1e6) : round[below(from, 7)];
}

/* ---- log Gamma */

static void log_gamma_is_near(double x)
{
    double got = log_gamma(x), right = gsl_sf_lngamma(x);
    if (!(fabs(got - right) <= 1e-14 + 1e-13 * fabs(right)))
        fail_msg("log_gamma(%.17g) is %.17g, right is %.17g", x, got, right);
}

static void log_gamma_agrees_with_gsl(void **state)
{
    dice from = {1};
    for (int i = 0; i < 100000; i++) {
        log_gamma_is_near(log_uniform(&from, 1e-6, 1e9));
        log_gamma_is_near(log_uniform(&from, 0.1, 30));
    }
}

static void log_gamma_of_a_whole_number_is_the_log_of_a_factorial(void **state)
{
    double factorial = 1;
    for (int n = 1; n < 150; n++) {
        assert_true(fabs(log_gamma(n) - log(factorial)) <= 1e-14 + 1e-14 * log(factorial));
        factorial *= n;
    }
}

/* ---- the tails of Beta */

typedef struct beta_case {
    double a, b, x, y;
} beta_case;

/* A point of interest: often near the bulk, where tails are neither 0 nor 1. */
static beta_case draw_case(dice *from)
{
    beta_case c = {.a = draw_shape(from), .b = draw_shape(from)};
    double mean = c.a / (c.a + c.b), sd = sqrt(mean * (1 - mean) / (c.a + c.b + 1));
    double x = mean + sd * (12 * unit(from) - 6);
    if (one_in(from, 3) || x <= 0 || x >= 1)
        x = below(from, 2) ? log_uniform(from, 1e-12, 1) : 1 - log_uniform(from, 1e-12, 1);
    c.x = x;
    c.y = 1 - x;
    return c;
}

static void tails_are_near(const beta_case *c, oracle_tails right, double tolerance, double least,
                           const char *judge)
{
    double lower, upper;
    beta_tails(c->a, c->b, c->x, c->y, &lower, &upper);
    if (!(fabs(lower - right.lower) <= least + tolerance * right.lower &&
          fabs(upper - right.upper) <= least + tolerance * right.upper))
        fail_msg("beta_tails(%.17g, %.17g, %.17g) is %.17g, %.17g; %s says %.17g, %.17g", c->a,
                 c->b, c->x, lower, upper, judge, right.lower, right.upper);
}

static void beta_tails_agree_with_gsl_where_it_answers(void **state)
{
    dice from = {2};
    int answered = 0;
    for (int i = 0; i < 20000 * EFFORT; i++) {
        beta_case c = draw_case(&from);
        oracle_tails right = {gsl_cdf_beta_P(c.x, c.a, c.b), gsl_cdf_beta_Q(c.x, c.a, c.b)};
        if (isnan(right.lower) || isnan(right.upper))
            continue;
        answered++;
        tails_are_near(&c, right, 1e-7, 1e-14, "GSL"); /* itself no better for large shapes */
    }
    print_message("GSL answered %d of %d\n", answered, 20000 * EFFORT);
    assert_true(answered > 10000 * EFFORT);
}

static void beta_tails_agree_with_the_continued_fraction_in_long_double(void **state)
{
    dice from = {3};
    for (int i = 0; i < 4000 * EFFORT; i++) {
        beta_case c = draw_case(&from);
        tails_are_near(&c, oracle_beta(c.a, c.b, c.x, c.y), 1e-9, 1e-30, "the continued fraction");
    }
}

static void beta_tails_are_probabilities_that_add_up(void **state)
{
    dice from = {4};
    for (int i = 0; i < 20000 * EFFORT; i++) {
        beta_case c = draw_case(&from);
        double lower, upper;
        beta_tails(c.a, c.b, c.x, c.y, &lower, &upper);
        assert_true(lower >= 0 && lower <= 1 && upper >= 0 && upper <= 1);
        assert_true(fabs(lower + upper - 1) <= 1e-14);
    }
}

static void beta_tails_have_their_closed_forms(void **state)
{
    dice from = {5};
    for (int i = 0; i < 20000; i++) {
        double shape = draw_shape(&from), x = unit(&from), lower, upper;
        beta_tails(shape, 1, x, 1 - x, &lower, &upper); /* x^a */
        assert_true(fabs(lower - pow(x, shape)) <= 1e-280 + 1e-9 * pow(x, shape));
        beta_tails(1, shape, x, 1 - x, &lower, &upper); /* (1-x)^b */
        assert_true(fabs(upper - pow(1 - x, shape)) <= 1e-280 + 1e-9 * pow(1 - x, shape));
    }
}

static void beta_tails_end_at_0_and_1(void **state)
{
    dice from = {6};
    for (int i = 0; i < 1000; i++) {
        double a = draw_shape(&from), b = draw_shape(&from), lower, upper;
        beta_tails(a, b, 0, 1, &lower, &upper);
        assert_true(lower == 0 && upper == 1);
        beta_tails(a, b, 1, 0, &lower, &upper);
        assert_true(lower == 1 && upper == 0);
    }
}

static void beta_tails_keep_their_digits_near_1(void **state)
{
    for (int e = 20; e < 300; e++) { /* 1 - x is far below the spacing of doubles near 1 */
        double y = pow(10, -e), lower, upper;
        beta_tails(3, 0.5, 1, y, &lower, &upper); /* y^b / (b B(a,b)) to first order */
        assert_true(relative(upper, exp(0.5 * log(y) - gsl_sf_lnbeta(3, 0.5)) / 0.5) < 1e-10);
        beta_tails(0.5, 3, y, 1, &lower, &upper);
        assert_true(relative(lower, exp(0.5 * log(y) - gsl_sf_lnbeta(3, 0.5)) / 0.5) < 1e-10);
    }
}

static void beta_tails_of_large_shapes_keep_their_digits_near_the_ends(void **state)
{
    dice from = {22};
    for (int i = 0; i < 5000; i++) {
        beta_case c = {log_uniform(&from, 10, 30), log_uniform(&from, 10, 30), 1,
                       log_uniform(&from, 1e-10, 1e-6)};
        c.x = 1 - c.y;
        tails_are_near(&c, oracle_beta(c.a, c.b, c.x, c.y), 1e-9, 1e-320, "the continued fraction");
        beta_case mirrored = {c.b, c.a, c.y, c.x};
        tails_are_near(&mirrored, oracle_beta(c.b, c.a, c.y, c.x), 1e-9, 1e-320,
                       "the continued fraction");
    }
}

static void beta_power_is_the_density_times_x_y(void **state)
{
    dice from = {7};
    for (int i = 0; i < 20000; i++) {
        beta_case c = draw_case(&from);
        long double log_right = (long double)c.a * logl((long double)c.x) +
                                (long double)c.b * logl((long double)c.y) -
                                oracle_log_beta(c.a, c.b);
        double right = (double)expl(log_right);
        if (right > 1e-30 && !(relative(beta_power(c.a, c.b, c.x, c.y), right) <= 1e-9))
            fail_msg("beta_power(%.17g, %.17g, %.17g) is %.17g, right is %.17g", c.a, c.b, c.x,
                     beta_power(c.a, c.b, c.x, c.y), right);
    }
}

/* ---- the quantile */

static const double X_TOLERANCE = 1e-9,
                    TAIL_NOISE = 1e-11; /* the second: what the judge itself may be wrong by */

/* ---- shapes beyond 1e6, up to the largest that a prior may have */

/* With b far above a, Beta(a,b) is a gamma law: P(X > x) = Q(a, -(b + (a-1)/2) log(1-x)), up to a
 * share of about a^3 / (24 b^2), here below 1e-11. */
static void tails_beside_a_huge_shape_follow_the_gamma_law(void **state)
{
    dice from = {31};
    for (int i = 0; i < 20000; i++) {
        double a = log_uniform(&from, 0.5, 1e3), b = log_uniform(&from, 1e10, 1e12), lower, upper;
        double x = fmax(a + sqrt(a) * (12 * unit(&from) - 6), a * unit(&from)) / b;
        beta_tails(a, b, x, 1 - x, &lower, &upper);
        double z = -(b + (a - 1) / 2) * log1p(-x), right = gsl_cdf_gamma_Q(z, a, 1),
               left = gsl_cdf_gamma_P(z, a, 1);
        if (!(fabs(upper - right) <= 1e-9 * right + 1e-300 &&
              fabs(lower - left) <= 1e-9 * left + 1e-15))
            fail_msg(
                "beta_tails(%.17g, %.17g, %.17g) is %.17g, %.17g; the gamma law says %.17g, %.17g",
                a, b, x, lower, upper, left, right);
        beta_tails(b, a, 1 - x, x, &upper, &lower); /* mirrored */
        assert_true(fabs(upper - right) <= 1e-9 * right + 1e-300);
    }
}

/* Both huge.  Beyond 1e8 the logarithms of gammas in the oracle leave fewer than nine digits. */
static void tails_of_two_huge_shapes_agree_with_the_continued_fraction(void **state)
{
    dice from = {32};
    for (int i = 0; i < 300; i++) {
        double a = log_uniform(&from, 1e6, 1e8), b = a * log_uniform(&from, 0.1, 1),
               mean = a / (a + b);
        double x = mean + sqrt(mean * (1 - mean) / (a + b)) * (12 * unit(&from) - 6);
        beta_case c = {a, b, x, 1 - x};
        tails_are_near(&c, oracle_beta(a, b, c.x, c.y), 1e-9, 1e-30, "the continued fraction");
    }
}

static void tails_do_not_jump_where_the_method_changes(void **state)
{
    dice from = {33};
    for (int i = 0; i < 2000; i++) {
        double b = log_uniform(&from, 0.5, 1e6), a = 1e6, mean = a / (a + b);
        double x = fmin(mean + sqrt(mean * (1 - mean) / (a + b)) * (8 * unit(&from) - 6), 1 - 1e-9);
        double below, above, upper;
        beta_tails(a * (1 - 1e-15), b, x, 1 - x, &below, &upper);
        beta_tails(a, b, x, 1 - x, &above, &upper);
        assert_true(relative(below, above) < 1e-8);
    }
}

static void quantiles_of_huge_shapes_have_their_closed_forms(void **state)
{
    dice from = {34};
    for (int i = 0; i < 20000;
         i++) { /* P(X > x) is (1-x)^b for a = 1 and (1-x)^b (1 + b x) for a = 2 */
        double b = log_uniform(&from, 1e6, 1e12), tail = log_uniform(&from, 1e-15, 0.5);
        assert_true(relative(beta_quantile_upper(1, b, tail), -expm1(log(tail) / b)) < 1e-9);
        double x = beta_quantile_upper(2, b, tail);
        assert_true(relative(exp(b * log1p(-x)) * (1 + b * x), tail) < 1e-9);
    }
}

/* What Bayes-UCB asks for beside a prior that is all but certain, by the gamma law again. */
static void quantiles_of_huge_priors_follow_the_gamma_law(void **state)
{
    dice from = {35};
    for (int i = 0; i < 20000; i++) {
        double a = log_uniform(&from, 1e-2, 1e3), b = log_uniform(&from, 1e10, 1e12),
               tail = log_uniform(&from, 1e-15, 0.3);
        double x = beta_quantile_upper(a, b, tail), z = -(b + (a - 1) / 2) * log1p(-x);
        double above = gsl_cdf_gamma_Q(z * (1 - 1e-9), a, 1),
               below = gsl_cdf_gamma_Q(z * (1 + 1e-9), a, 1);
        if (!(above >= tail * (1 - 1e-10) && below <= tail * (1 + 1e-10)))
            fail_msg("beta_quantile_upper(%.17g, %.17g, %.17g) is %.17g; the tails beside it are "
                     "%.17g and %.17g",
                     a, b, tail, x, above, below);
    }
}

static double upper_at(double a, double b, double x)
{
    x = x < 0 ? 0 : x > 1 ? 1 : x;
    return oracle_beta(a, b, x, 1 - x).upper;
}

static void quantile_is_certified(double a, double b, double tail)
{
    double x = beta_quantile_upper(a, b, tail);
    double above = upper_at(a, b, x - X_TOLERANCE), below = upper_at(a, b, x + X_TOLERANCE);
    if (!(x >= 0 && x <= 1) || above < tail * (1 - TAIL_NOISE) || below > tail * (1 + TAIL_NOISE))
        fail_msg("beta_quantile_upper(%.17g, %.17g, %.17g) is %.17g; the tails %.0e beside it are "
                 "%.17g and %.17g",
                 a, b, tail, x, X_TOLERANCE, above, below);
}

static double draw_tail(dice *from)
{
    switch (below(from, 4)) {
    case 0:
        return unit(from);
    case 1:
        return 1 - log_uniform(from, 1e-12, 1);
    default:
        return log_uniform(from, 1e-12, 1);
    }
}

static void quantiles_are_certified_by_the_forward_tail(void **state)
{
    dice from = {8};
    for (int i = 0; i < 6000 * EFFORT; i++) {
        double tail = draw_tail(&from);
        quantile_is_certified(draw_shape(&from), draw_shape(&from), tail > 0 ? tail : 0.5);
    }
}

static void quantiles_of_counts_are_certified_by_gsl(void **state)
{
    dice from = {9};
    for (int i = 0; i < 10000 * EFFORT; i++) { /* what Bayes-UCB asks for */
        double a = 1 + below(&from, 1000), b = 1 + below(&from, 10000),
               tail = 1 / (2 + floor(log_uniform(&from, 1, 1e7)));
        double x = beta_quantile_upper(a, b, tail);
        double above = gsl_cdf_beta_Q(fmax(x - X_TOLERANCE, 0), a, b),
               below = gsl_cdf_beta_Q(fmin(x + X_TOLERANCE, 1), a, b);
        if (isnan(above) || isnan(below))
            continue;
        assert_true(above >= tail * (1 - 1e-10) && below <= tail * (1 + 1e-10));
    }
}

static void quantiles_have_their_closed_forms(void **state)
{
    dice from = {10};
    for (int i = 0; i < 10000 * EFFORT; i++) {
        double shape = draw_shape(&from), tail = log_uniform(&from, 1e-12, 1);
        double first = -expm1(log(tail) / shape), second = exp(log1p(-tail) / shape);
        assert_true(fabs(beta_quantile_upper(1, shape, tail) - first) <= X_TOLERANCE);
        assert_true(fabs(beta_quantile_upper(shape, 1, tail) - second) <= X_TOLERANCE);
    }
}

static void quantiles_of_symmetric_shapes_have_their_median_in_the_middle(void **state)
{
    for (double shape = 0.01; shape < 2e6; shape *= 1.7)
        assert_true(fabs(beta_quantile_upper(shape, shape, 0.5) - 0.5) <= X_TOLERANCE);
}

static void quantiles_fall_as_the_tail_grows(void **state)
{
    dice from = {11};
    for (int i = 0; i < 200 * EFFORT; i++) {
        double a = draw_shape(&from), b = draw_shape(&from), last = 1;
        for (double tail = 1e-12; tail < 1; tail = tail < 0.2 ? tail * 1.5 : tail + 0.05) {
            double x = beta_quantile_upper(a, b, tail);
            if (!(x <= last + 1e-12))
                fail_msg("beta_quantile_upper(%.17g, %.17g, %.17g) is %.17g, above %.17g", a, b,
                         tail, x, last);
            last = x;
        }
    }
}

static void quantiles_end_where_tails_do(void **state)
{
    dice from = {12};
    for (int i = 0; i < 1000; i++) {
        double a = draw_shape(&from), b = draw_shape(&from);
        assert_true(beta_quantile_upper(a, b, 1) == 0);
        assert_true(beta_quantile_upper(a, b, 1.5) == 0);
        assert_true(beta_quantile_upper(a, b, 0) == 1);
        assert_true(beta_quantile_upper(a, b, -1) == 1);
    }
}

static void near_points_know_their_tail(void **state)
{
    dice from = {13};
    for (int i = 0; i < 2000 * EFFORT; i++) {
        double a = draw_shape(&from), b = draw_shape(&from), tail = log_uniform(&from, 1e-12, 0.5),
               slack = 0.01;
        beta_point point = beta_near(a, b, tail, slack);
        double upper = oracle_beta(a, b, point.x, point.y).upper;
        bool beyond = point.x < 1e-303 ||
                      point.y < 1e-303; /* the quantile is nearer to 0 or 1 than a double can be */
        bool near = beyond || fabs(log(point.upper) - log(tail)) <= slack;
        if (!near || !(relative(point.upper, upper) <= 1e-9) ||
            !(fabs(point.x + point.y - 1) <= 1e-15))
            fail_msg("beta_near(%.17g, %.17g, %.17g): x %.17g, y %.17g, upper %.17g, right %.17g",
                     a, b, tail, point.x, point.y, point.upper, upper);
        assert_true(relative(point.power, beta_power(a, b, point.x, point.y)) <= 1e-9);
    }
}

/* ---- Bernoulli divergence */

static long double kl_slow(long double p, long double q)
{
    long double first = p > 0 ? p * logl(p / q) : 0,
                second = p < 1 ? (1 - p) * logl((1 - p) / (1 - q)) : 0;
    return first + second;
}

static void kl_agrees_with_its_definition(void **state)
{
    dice from = {14};
    for (int i = 0; i < 20000 * EFFORT; i++) {
        double p = unit(&from), q = unit(&from);
        if (i % 4 == 0)
            p = log_uniform(&from, 1e-12, 1);
        if (i % 4 == 1)
            q = log_uniform(&from, 1e-12, 1);
        double right = (double)kl_slow(p, q);
        assert_true(fabs(kl_bernoulli(p, q) - right) <= 1e-15 + 1e-14 * right);
    }
}

static void kl_has_its_ends(void **state)
{
    for (double q = 0.01; q < 1; q += 0.01) {
        assert_true(fabs(kl_bernoulli(0, q) + log1p(-q)) <= 1e-14);
        assert_true(fabs(kl_bernoulli(1, q) + log(q)) <= 1e-14);
        assert_true(kl_bernoulli(q, q) == 0);
        assert_true(isinf(kl_bernoulli(q, 0)) && kl_bernoulli(q, 0) > 0);
        assert_true(isinf(kl_bernoulli(q, 1)) && kl_bernoulli(q, 1) > 0);
    }
    assert_true(kl_bernoulli(0, 0) == 0);
    assert_true(kl_bernoulli(1, 1) == 0);
}

/* ---- its inverse */

/* Bisection on the distance to p, and on the distance to 1 when the root is near it. */
static double kl_upper_slow(double p, double budget)
{
    long double low = p, high = 1;
    for (int step = 0; step < 80; step++) {
        long double middle = (low + high) / 2;
        if (kl_slow(p, middle) <= budget)
            low = middle;
        else
            high = middle;
    }
    return (double)low;
}

static double draw_p(dice *from)
{
    static const double ends[] = {0, 1, 1e-9, 1 - 1e-9, 0.5, 1e-3, 1 - 1e-3};
    switch (below(from, 4)) {
    case 0:
        return ends[below(from, COUNT(ends))];
    case 1:
        return log_uniform(from, 1e-12, 1);
    case 2:
        return 1 - log_uniform(from, 1e-12, 1);
    default:
        return unit(from);
    }
}

static void kl_upper_agrees_with_bisection(void **state)
{
    dice from = {16};
    for (int i = 0; i < 5000 * EFFORT; i++) {
        double p = draw_p(&from), budget = log_uniform(&from, 1e-12, 50);
        double got = kl_upper(p, budget), right = kl_upper_slow(p, budget);
        if (!(fabs(got - right) <= 1e-10 && got >= p && got <= 1))
            fail_msg("kl_upper(%.17g, %.17g) is %.17g, bisection says %.17g", p, budget, got,
                     right);
    }
}

static void kl_upper_has_its_closed_forms(void **state)
{
    dice from = {17};
    for (int i = 0; i < 10000 * EFFORT; i++) {
        double budget = log_uniform(&from, 1e-12, 50);
        assert_true(fabs(kl_upper(0, budget) + expm1(-budget)) <= 1e-15);
        assert_true(kl_upper(1, budget) == 1);
    }
}

static void kl_upper_of_no_budget_is_p(void **state)
{
    dice from = {18};
    for (int i = 0; i < 10000; i++) {
        double p = draw_p(&from);
        assert_true(fabs(kl_upper(p, 0) - p) <= 1e-15);
    }
}

static void kl_upper_grows_with_the_budget_and_with_p(void **state)
{
    dice from = {19};
    for (int i = 0; i < 5000 * EFFORT; i++) {
        double p = draw_p(&from), budget = log_uniform(&from, 1e-12, 40);
        assert_true(kl_upper(p, budget * 1.01) >= kl_upper(p, budget) - 1e-12);
        assert_true(kl_upper(p + (1 - p) * 0.01, budget) >= kl_upper(p, budget) - 1e-12);
    }
}

static void near_points_know_their_divergence(void **state)
{
    dice from = {20};
    for (int i = 0; i < 5000 * EFFORT; i++) {
        double p = draw_p(&from), budget = log_uniform(&from, 1e-12, 50), slack = 0.01;
        if (p <= 0 || p >= 1)
            continue;
        kl_point point = kl_near(p, budget, slack);
        double right = point.q < 1 ? (double)kl_slow(p, point.q) : point.kl;
        double noise = 1e-14 + 1e-9 * right +
                       4e-16 * (1 - p) / (1 - point.q); /* the last: of q rounded near 1 */
        if (!(fabs(point.kl - budget) <= slack * budget && fabs(point.kl - right) <= noise))
            fail_msg("kl_near(%.17g, %.17g): q %.17g, kl %.17g", p, budget, point.q, point.kl);
    }
}

static void inverses_are_pure_functions(void **state)
{
    dice from = {21};
    for (int i = 0; i < 5000; i++) {
        double a = draw_shape(&from), b = draw_shape(&from), tail = draw_tail(&from),
               p = draw_p(&from);
        double x = beta_quantile_upper(a, b, tail), q = kl_upper(p, tail);
        (void)beta_quantile_upper(b, a, tail / 2);
        (void)kl_upper(p / 2, tail);
        assert_true(beta_quantile_upper(a, b, tail) == x);
        assert_true(kl_upper(p, tail) == q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_gamma_agrees_with_gsl),
        cmocka_unit_test(log_gamma_of_a_whole_number_is_the_log_of_a_factorial),
        cmocka_unit_test(beta_tails_agree_with_gsl_where_it_answers),
        cmocka_unit_test(beta_tails_agree_with_the_continued_fraction_in_long_double),
        cmocka_unit_test(beta_tails_are_probabilities_that_add_up),
        cmocka_unit_test(beta_tails_have_their_closed_forms),
        cmocka_unit_test(beta_tails_end_at_0_and_1),
        cmocka_unit_test(beta_tails_keep_their_digits_near_1),
        cmocka_unit_test(beta_tails_of_large_shapes_keep_their_digits_near_the_ends),
        cmocka_unit_test(beta_power_is_the_density_times_x_y),
        cmocka_unit_test(tails_beside_a_huge_shape_follow_the_gamma_law),
        cmocka_unit_test(tails_of_two_huge_shapes_agree_with_the_continued_fraction),
        cmocka_unit_test(tails_do_not_jump_where_the_method_changes),
        cmocka_unit_test(quantiles_of_huge_shapes_have_their_closed_forms),
        cmocka_unit_test(quantiles_of_huge_priors_follow_the_gamma_law),
        cmocka_unit_test(quantiles_are_certified_by_the_forward_tail),
        cmocka_unit_test(quantiles_of_counts_are_certified_by_gsl),
        cmocka_unit_test(quantiles_have_their_closed_forms),
        cmocka_unit_test(quantiles_of_symmetric_shapes_have_their_median_in_the_middle),
        cmocka_unit_test(quantiles_fall_as_the_tail_grows),
        cmocka_unit_test(quantiles_end_where_tails_do),
        cmocka_unit_test(near_points_know_their_tail),
        cmocka_unit_test(kl_agrees_with_its_definition),
        cmocka_unit_test(kl_has_its_ends),
        cmocka_unit_test(kl_upper_agrees_with_bisection),
        cmocka_unit_test(kl_upper_has_its_closed_forms),
        cmocka_unit_test(kl_upper_of_no_budget_is_p),
        cmocka_unit_test(kl_upper_grows_with_the_budget_and_with_p),
        cmocka_unit_test(near_points_know_their_divergence),
        cmocka_unit_test(inverses_are_pure_functions),
    };
    return cmocka_run_group_tests_name("special", tests, setup, NULL);
}
