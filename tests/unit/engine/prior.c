/* prior.c - a prior is the same belief whether it is read as Beta shapes or as mean and standard
 * deviation, and a wrong one is refused in words.
 *
 * Offline priors come from other people's files; what is wrong with one must be said before the
 * first list is shown.
 */
#include "support/unit.h"
#include "engine/posterior/item_prior.h"

static int near(double got, double right, double tolerance)
{
    return fabs(got - right) <= tolerance * fabs(right);
}

/* ---- one belief, two forms */

static void shapes_have_the_mean_and_sd_of_the_textbook(void **state)
{
    dice from = {1};
    for (int i = 0; i < 10000; i++) {
        double a = log_uniform(&from, 1e-3, 1e6), b = log_uniform(&from, 1e-3, 1e6), n = a + b;
        oltr_prior prior = {.a = &a, .b = &b};
        assert_int_equal(prior_check(&prior, 1, 1, NULL), OLTR_OK);
        assert_true(prior_a(&prior, 0) == a && prior_b(&prior, 0) == b);
        assert_true(near(prior_mean(&prior, 0), a / n, 1e-13));
        assert_true(near(prior_sd(&prior, 0), sqrt(a * b / (n * n * (n + 1))), 1e-13));
    }
}

static void shapes_survive_the_way_through_moments(void **state)
{
    dice from = {2};
    for (int i = 0; i < 10000; i++) {
        double a = log_uniform(&from, 1e-2, 1e4), b = log_uniform(&from, 1e-2, 1e4);
        oltr_prior shapes = {.a = &a, .b = &b};
        double mean = prior_mean(&shapes, 0), sd = prior_sd(&shapes, 0);
        oltr_prior moments = {.mean = &mean, .sd = &sd};
        assert_int_equal(prior_check(&moments, 1, 1, NULL), OLTR_OK);
        assert_true(near(prior_a(&moments, 0), a, 1e-7)); /* a mean near 1 has lost digits of b */
        assert_true(near(prior_b(&moments, 0), b, 1e-7));
    }
}

static void moments_survive_the_way_through_shapes(void **state)
{
    dice from = {3};
    for (int i = 0; i < 10000; i++) {
        double mean = 0.001 + 0.998 * unit(&from),
               sd = sqrt(mean * (1 - mean)) * log_uniform(&from, 1e-3, 0.99);
        oltr_prior moments = {.mean = &mean, .sd = &sd};
        assert_true(prior_mean(&moments, 0) == mean && prior_sd(&moments, 0) == sd);
        double a = prior_a(&moments, 0), b = prior_b(&moments, 0);
        oltr_prior shapes = {.a = &a, .b = &b};
        assert_int_equal(prior_check(&shapes, 1, 1, NULL), OLTR_OK);
        assert_true(near(prior_mean(&shapes, 0), mean, 1e-11));
        assert_true(near(prior_sd(&shapes, 0), sd, 1e-11));
    }
}

static void the_uniform_prior_is_beta_1_1(void **state)
{
    double mean = 0.5, sd = sqrt(1.0 / 12);
    oltr_prior prior = {.mean = &mean, .sd = &sd};
    assert_true(near(prior_a(&prior, 0), 1, 1e-14) && near(prior_b(&prior, 0), 1, 1e-14));
}

static void each_item_is_read_at_its_own_place(void **state)
{
    const double a[] = {1, 2, 3}, b[] = {4, 5, 6};
    oltr_prior prior = {.a = a, .b = b};
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(prior_a(&prior, i) == a[i] && prior_b(&prior, i) == b[i]);
        assert_true(near(prior_mean(&prior, i), a[i] / (a[i] + b[i]), 1e-15));
    }
}

static void a_prior_is_given_when_any_array_is(void **state)
{
    double x = 1;
    oltr_prior none = {0}, shapes = {.a = &x, .b = &x}, moments = {.mean = &x, .sd = &x};
    assert_false(prior_given(&none));
    assert_true(prior_given(&shapes));
    assert_true(prior_given(&moments));
}

/* ---- what is refused */

static void is_refused(const oltr_prior *prior, uint32_t n, int beta)
{
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(prior_check(prior, n, beta, &error), OLTR_EPRIOR);
    assert_int_equal(error.code, OLTR_EPRIOR);
    assert_true(strlen(error.msg) > 10);
    assert_int_equal(prior_check(prior, n, beta, NULL), OLTR_EPRIOR);
}

static void a_prior_that_is_not_one_whole_pair_is_refused(void **state)
{
    double x = 0.5, y = 0.1;
    const oltr_prior wrong[] = {
        {.a = &x},
        {.b = &x},
        {.mean = &x},
        {.sd = &x},
        {.a = &x, .sd = &y},
        {.b = &x, .mean = &y},
        {.a = &x, .b = &x, .mean = &x},
        {.a = &x, .b = &x, .sd = &y},
        {.a = &x, .mean = &x, .sd = &y},
        {.a = &x, .b = &x, .mean = &x, .sd = &y},
        {0},
    };
    for (size_t i = 0; i < COUNT(wrong); i++)
        for (int beta = 0; beta < 2; beta++)
            is_refused(&wrong[i], 1, beta);
}

/* The wrong value stands at each place of a long prior in turn. */
static void is_refused_wherever_it_stands(double first, double second, int moments, int beta)
{
    enum { N = 5 };
    double left[N], right[N];
    for (uint32_t at = 0; at < N; at++) {
        for (int i = 0; i < N; i++) {
            left[i] = 0.5;
            right[i] = 0.25;
        }
        left[at] = first;
        right[at] = second;
        oltr_prior prior =
            moments ? (oltr_prior){.mean = left, .sd = right} : (oltr_prior){.a = left, .b = right};
        is_refused(&prior, N, beta);
        if (at > 0) /* those before it are fine */
            assert_int_equal(prior_check(&prior, at, beta, NULL), OLTR_OK);
    }
}

static void shapes_that_are_not_positive_and_finite_are_refused(void **state)
{
    static const double wrong[] = {
        0, -0.0, -1, -1e-300, (double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < COUNT(wrong); i++)
        for (int beta = 0; beta < 2; beta++) {
            is_refused_wherever_it_stands(wrong[i], 1, 0, beta);
            is_refused_wherever_it_stands(1, wrong[i], 0, beta);
        }
}

static void moments_that_are_not_finite_are_refused(void **state)
{
    static const double wrong_mean[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    static const double wrong_sd[] = {0, -0.0, -0.1, (double)NAN, (double)INFINITY};
    for (int beta = 0; beta < 2; beta++) {
        for (size_t i = 0; i < COUNT(wrong_mean); i++)
            is_refused_wherever_it_stands(wrong_mean[i], 0.1, 1, beta);
        for (size_t i = 0; i < COUNT(wrong_sd); i++)
            is_refused_wherever_it_stands(0.5, wrong_sd[i], 1, beta);
    }
}

static void moments_that_no_beta_has_are_refused_for_a_beta(void **state)
{
    static const double wrong[][2] = {{0, 0.1},   {1, 0.1},   {-0.5, 0.1}, {1.5, 0.1},
                                      {0.5, 0.5}, {0.5, 0.6}, {0.01, 0.1}, {0.99, 5}};
    for (size_t i = 0; i < COUNT(wrong); i++)
        is_refused_wherever_it_stands(wrong[i][0], wrong[i][1], 1, 1);
}

static void moments_that_no_beta_has_are_fine_for_a_gaussian(void **state)
{
    static const double fine[][2] = {{0, 0.1},   {1, 0.1},   {-0.5, 0.1},
                                     {1e6, 0.1}, {0.5, 0.6}, {0, 1e3}};
    for (size_t i = 0; i < COUNT(fine); i++) {
        oltr_prior prior = {.mean = &fine[i][0], .sd = &fine[i][1]};
        assert_int_equal(prior_check(&prior, 1, 0, NULL), OLTR_OK);
    }
}

static void every_accepted_beta_prior_has_positive_finite_shapes(void **state)
{
    dice from = {4};
    int accepted = 0;
    for (int i = 0; i < 100000; i++) { /* many of them at the edge of what a Beta can be */
        double mean =
            below(&from, 2) ? log_uniform(&from, 1e-18, 1) : 1 - log_uniform(&from, 1e-18, 1);
        double sd = sqrt(mean * (1 - mean)) *
                    (below(&from, 2) ? log_uniform(&from, 1e-6, 1.1) : 1 - 1e-15 * unit(&from));
        oltr_prior prior = {.mean = &mean, .sd = &sd};
        if (prior_check(&prior, 1, 1, NULL) != OLTR_OK)
            continue;
        double a = prior_a(&prior, 0), b = prior_b(&prior, 0);
        if (!(a > 0 && b > 0 && isfinite(a) && isfinite(b)))
            fail_msg("mean %.17g, sd %.17g is accepted as Beta(%g, %g)", mean, sd, a, b);
        accepted++;
    }
    assert_true(accepted > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_have_the_mean_and_sd_of_the_textbook),
        cmocka_unit_test(shapes_survive_the_way_through_moments),
        cmocka_unit_test(moments_survive_the_way_through_shapes),
        cmocka_unit_test(the_uniform_prior_is_beta_1_1),
        cmocka_unit_test(each_item_is_read_at_its_own_place),
        cmocka_unit_test(a_prior_is_given_when_any_array_is),
        cmocka_unit_test(a_prior_that_is_not_one_whole_pair_is_refused),
        cmocka_unit_test(shapes_that_are_not_positive_and_finite_are_refused),
        cmocka_unit_test(moments_that_are_not_finite_are_refused),
        cmocka_unit_test(moments_that_no_beta_has_are_refused_for_a_beta),
        cmocka_unit_test(moments_that_no_beta_has_are_fine_for_a_gaussian),
        cmocka_unit_test(every_accepted_beta_prior_has_positive_finite_shapes),
    };
    return cmocka_run_group_tests_name("prior", tests, NULL, NULL);
}
