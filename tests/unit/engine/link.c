/* link.c - the links against their definitions in long double: mu, 1 - mu and mu' by relative error
 * in both tails, and what the solver needs of mu''/mu'. */
#include "support/unit.h"

#include "engine/kernels/link.h"

static long double density(long double z)
{
    return expl(-z * z / 2) / sqrtl(2 * acosl(-1));
}

/* mean, rest, slope and bend by the definitions. */
static void defined(uint32_t link, long double z, long double out[4])
{
    long double u = expl(z);
    if (link == LINK_LOGIT) {
        out[0] = 1 / (1 + expl(-z));
        out[1] = 1 / (1 + expl(z));
        out[2] = out[0] * out[1];
        out[3] = out[1] - out[0];
    } else if (link == LINK_PROBIT) {
        out[0] = erfcl(-z / sqrtl(2)) / 2;
        out[1] = erfcl(z / sqrtl(2)) / 2;
        out[2] = density(z);
        out[3] = -z;
    } else {
        out[0] = -expm1l(-u);
        out[1] = expl(-u);
        out[2] = u * out[1];
        out[3] = 1 - u;
    }
}

static void assert_near(const char *what, uint32_t link, double z, double is, long double wanted,
                        double allowed)
{
    if (!(fabsl(is - wanted) <= allowed * fabsl(wanted)))
        fail_msg("%s of %s at %.17g is %.17g, should be %.17Lg", what, link_names[link], z, is,
                 wanted);
}

/* Where chances are normal numbers.  A rounding of e^z counts in exp(-e^z) with e^z. */
static void test_definitions(void **unused)
{
    static const double from[N_LINKS] = {-707, -37.5, -707}, to[N_LINKS] = {707, 37.5, 6.55};
    for (uint32_t link = 0; link < N_LINKS; link++)
        for (int i = 0; i <= 20000; i++) {
            double z = from[link] + (to[link] - from[link]) * i / 20000, near = 3e-15;
            long double wanted[4];
            defined(link, z, wanted);
            link_values at = link_at(link, cpu_in_use(), z);
            double of_rest = link == LINK_CLOGLOG ? near * (1 + exp(z)) : near;
            assert_near("mu", link, z, at.mean, wanted[0], near);
            assert_near("1 - mu", link, z, at.rest, wanted[1], of_rest);
            assert_near("mu'", link, z, at.slope, wanted[2], of_rest);
            assert_true(fabsl(at.bend - wanted[3]) <= 1e-13L * (1 + fabsl(wanted[3])));
            assert_true(fabs(at.mean + at.rest - 1) <= 4e-16);
        }
}

/* Chances that are 0 or 1 in doubles; NaN counts as minus infinity. */
static void test_ends(void **unused)
{
    static const double high[N_LINKS] = {709, 37.7, 6.6}, low[N_LINKS] = {-709, -37.7, -709};
    for (uint32_t link = 0; link < N_LINKS; link++) {
        const double above[] = {high[link], 1e4, 1e308, INFINITY},
                     below_zero[] = {low[link], -1e4, -1e308, -INFINITY, NAN};
        for (size_t i = 0; i < 4; i++) {
            link_values at = link_at(link, cpu_in_use(), above[i]);
            assert_true(at.mean == 1 && at.rest == 0 && at.slope == 0 && fabs(at.bend) <= 1e3);
        }
        for (size_t i = 0; i < 5; i++) {
            link_values at = link_at(link, cpu_in_use(), below_zero[i]);
            assert_true(at.mean == 0 && at.rest == 1 && at.slope == 0 && fabs(at.bend) <= 1e3);
        }
    }
}

/* The solver bounds mu''/mu' between two scores by its values there. */
static void test_bend_falls(void **unused)
{
    for (uint32_t link = 0; link < N_LINKS; link++)
        for (double z = -800, last = 1e9; z < 800; z += 0.37) {
            double bend = link_at(link, cpu_in_use(), z).bend;
            assert_true(bend <= last + 1e-12 * fabs(last));
            last = bend;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_bend_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
