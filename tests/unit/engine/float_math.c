/* float_math.c - the float functions of the samplers against the double ones of libm.
 *
 * The statistical tests could not see an error of a few units in the last place, or a wrong value
 * at the one word in 2^32 where a range reduction turns over; these look at every such corner.
 */
#include <float.h>

#include "support/unit.h"
#include "engine/kernels/float_math.h"

static const double PI_HALF = 1.57079632679489661923;

/* Distance in units of the last place of a float near `right`. */
static double ulps(float got, double right)
{
    int exponent;
    (void)frexp(right, &exponent);
    return fabs((double)got - right) / ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}

static void log_is_near(float x)
{
    float got = log_float(x);
    double right = log((double)x);
    if (right == 0 ? got != 0 : !(ulps(got, right) <= 2))
        fail_msg("log_float(%a) is %a, right is %a", (double)x, (double)got, right);
}

static void log_float_is_within_two_units_in_the_last_place(void **state)
{
    dice from = {1};
    for (int i = 0; i < 200000 * EFFORT; i++)
        log_is_near((float)log_uniform(&from, 1.2e-38, 3e38));
    for (int i = 0; i < 100000 * EFFORT; i++)
        log_is_near((float)(0.5 + unit(&from)));
}

static void log_float_holds_where_its_range_reduction_turns_over(void **state)
{
    static const float corners[] = {FLT_MIN, 0x1p-32f,    0.5f, 0.70710678f,
                                    1,       1.41421356f, 2,    FLT_MAX};
    for (size_t i = 0; i < COUNT(corners); i++) {
        float below = corners[i], above = corners[i];
        for (int step = 0; step < 100; step++) {
            if (below >= FLT_MIN)
                log_is_near(below);
            if (isfinite(above))
                log_is_near(above);
            below = nextafterf(below, 0);
            above = nextafterf(above, INFINITY);
        }
    }
    assert_true(log_float(1) == 0);
}

static void uniform_float_lies_in_the_half_open_interval(void **state)
{
    dice from = {2};
    assert_true(uniform_float(0) > 0);
    assert_true(uniform_float(UINT32_MAX) <= 1);
    assert_true(uniform_float(0) == 0x1p-32f);
    for (int i = 0; i < 100000; i++) {
        uint32_t word = roll32(&from);
        assert_true(fabs((double)uniform_float(word) - ((double)(word >> 1) + 0.5) * 0x1p-31) <=
                    0x1p-24);
    }
}

/* Relative to the logarithm itself: near 1, where it is near 0, and near 0, where it is largest. */
static void log_uniform_is_near(uint32_t word)
{
    double right = log(((double)(word >> 1) + 0.5) * 0x1p-31),
           found = (double)log_uniform_float(word);
    if (!(fabs(found / right - 1) <= 4e-7))
        fail_msg("log_uniform_float(%08x) is %a, right is %a", word, found, right);
}

static void log_uniform_float_is_exact_at_both_ends(void **state)
{
    dice from = {4};
    for (uint32_t i = 0; i < 1000; i++) {
        log_uniform_is_near(i);
        log_uniform_is_near(UINT32_MAX - i);
    }
    for (int i = 0; i < 100000 * EFFORT; i++) {
        uint32_t word = roll32(&from);
        log_uniform_is_near(word);
        log_uniform_is_near(~(word >> below(&from, 32)));
        log_uniform_is_near(0xB504F333u + (word >> 20) -
                            2048); /* where one formula takes over from the other */
    }
}

static void normals_are_those_of_box_and_muller(uint32_t word0, uint32_t word1)
{
    float z0, z1;
    box_muller(word0, word1, &z0, &z1);
    double radius = sqrt(-2 * log((double)uniform_float(word0)));
    double angle = ((double)(word1 >> 30) + (double)(int32_t)(word1 << 2) * 0x1p-32) * PI_HALF;
    double tolerance = 4e-7 * radius + 1e-30;
    if (!(fabs((double)z0 - radius * cos(angle)) <= tolerance &&
          fabs((double)z1 - radius * sin(angle)) <= tolerance))
        fail_msg("box_muller(%08x, %08x) is %a, %a, right is %a, %a", word0, word1, (double)z0,
                 (double)z1, radius * cos(angle), radius * sin(angle));
}

static void box_muller_agrees_with_the_formula(void **state)
{
    dice from = {3};
    for (int i = 0; i < 200000 * EFFORT; i++)
        normals_are_those_of_box_and_muller(roll32(&from), roll32(&from));
}

static void box_muller_agrees_with_the_formula_at_the_corners(void **state)
{
    uint32_t corner[200];
    size_t n = 0;
    for (uint32_t eighth = 0; eighth < 8; eighth++)
        for (uint32_t offset = 0; offset < 16; offset++)
            corner[n++] = eighth * 0x20000000u + offset - 8;
    for (int bit = 0; bit < 32; bit++) {
        corner[n++] = 1u << bit;
        corner[n++] = ~(1u << bit);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            normals_are_those_of_box_and_muller(corner[i], corner[j]);
}

static void the_largest_normal_is_beyond_six_and_a_half_sigma(void **state)
{
    float z0, z1;
    box_muller(0, 0, &z0, &z1);
    assert_true(z0 > 6.65f && z0 < 6.67f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_float_is_within_two_units_in_the_last_place),
        cmocka_unit_test(log_float_holds_where_its_range_reduction_turns_over),
        cmocka_unit_test(uniform_float_lies_in_the_half_open_interval),
        cmocka_unit_test(log_uniform_float_is_exact_at_both_ends),
        cmocka_unit_test(box_muller_agrees_with_the_formula),
        cmocka_unit_test(box_muller_agrees_with_the_formula_at_the_corners),
        cmocka_unit_test(the_largest_normal_is_beyond_six_and_a_half_sigma),
    };
    return cmocka_run_group_tests_name("float_math", tests, NULL, NULL);
}
