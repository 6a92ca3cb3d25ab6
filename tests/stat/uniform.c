/* uniform.c - the uniform draws from which all others are made: their bits, their interval, and
 * fairness on 0..n-1.
 *
 * A remainder instead of a multiplication, or a lost low bit, would bias every choice among n by a
 * little.  Fixed seeds; false alarms: see stat.h.
 */
#include "support/stat.h"
#include "engine/kernels/philox.h"

enum { N = 1 << 17 }; /* times EFFORT */

static void u32_bits_are_fair(void **state)
{
    enum { DRAWS = N * EFFORT };
    oltr_rng rng = oltr_rng_make(1, 1);
    double ones[32] = {0};
    for (int i = 0; i < DRAWS; i++) {
        uint32_t word = oltr_rng_u32(&rng);
        for (int bit = 0; bit < 32; bit++)
            ones[bit] += word >> bit & 1;
    }
    for (int bit = 0; bit < 32; bit++)
        check_sum("u32", "a bit", (ones[bit] - DRAWS * 0.5) / sqrt(DRAWS * 0.25), 0, DRAWS);
}

static double uniform_cdf(double x, const double *parameters)
{
    return x;
}

static void uniform_has_its_moments_and_its_law(void **state)
{
    enum { DRAWS = N * EFFORT };
    double *x = exactly(DRAWS, sizeof *x);
    stat_law law = law_of_uniform();
    oltr_rng rng = oltr_rng_make(2, 1);
    for (int i = 0; i < DRAWS; i++) {
        x[i] = oltr_rng_uniform(&rng);
        assert_true(x[i] > 0 && x[i] < 1);
    }
    check_moments("uniform", x, DRAWS, &law);
    sort_doubles(x, DRAWS);
    check_ks("uniform", x, DRAWS, uniform_cdf, NULL);
    free(x);
}

static void uniform_reaches_down_to_small_numbers(void **state)
{
    oltr_rng rng = oltr_rng_make(3, 1);
    unsigned low = 0, high = 0;
    const double edge = 1e-5;
    for (int i = 0; i < 16 * N * EFFORT; i++) {
        double x = oltr_rng_uniform(&rng);
        low += x < edge;
        high += x > 1 - edge;
    }
    check_count("uniform", "below 1e-5", low, 16.0 * N * EFFORT * edge);
    check_count("uniform", "above 1 - 1e-5", high, 16.0 * N * EFFORT * edge);
}

static void uniform_low_digits_are_fair(void **state)
{
    unsigned count[64] = {0};
    oltr_rng rng = oltr_rng_make(4, 1);
    for (int i = 0; i < N * EFFORT; i++)
        count[(uint32_t)(oltr_rng_uniform(&rng) * 0x1p26) %
              64]++; /* bits 21 to 26 of the fraction */
    check_uniform_cells("digits of uniform", count, 64);
}

static void below_is_fair(void **state)
{
    static const uint32_t sizes[] = {2, 3, 5, 6, 7, 10, 12, 16, 100, 255, 256, 257, 1000};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        unsigned count[1000] = {0};
        oltr_rng rng = oltr_rng_make(5, sizes[s]);
        for (int i = 0; i < N * EFFORT; i++) {
            uint32_t draw = oltr_rng_below(&rng, sizes[s]);
            assert_true(draw < sizes[s]);
            count[draw]++;
        }
        check_uniform_cells("below", count, sizes[s]);
    }
}

static void below_is_fair_for_numbers_near_the_word_size(void **state)
{
    static const uint32_t sizes[] = {0x80000001u, 0xC0000000u, 0xAAAAAAABu, UINT32_MAX};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        unsigned thirds[3] = {0}, remainders[3] = {0};
        oltr_rng rng = oltr_rng_make(6, sizes[s]);
        for (int i = 0; i < N * EFFORT; i++) {
            uint32_t draw = oltr_rng_below(&rng, sizes[s]);
            assert_true(draw < sizes[s]);
            thirds[(uint64_t)draw * 3 / sizes[s]]++;
            remainders[draw % 3]++;
        }
        check_uniform_cells("below, by thirds", thirds, 3);
        check_uniform_cells("below, by remainders", remainders, 3);
    }
}

static void below_one_is_zero(void **state)
{
    oltr_rng rng = oltr_rng_make(7, 1);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(oltr_rng_below(&rng, 1), 0);
}

static void ties_pick_each_of_n_equally(void **state)
{
    static const uint32_t sizes[] = {2, 3, 7, 100};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        unsigned by_round[100] = {0}, by_slot[100] = {0};
        oltr_rng base = oltr_rng_make(8, 1);
        for (uint32_t i = 0; i < N * EFFORT / 2; i++) {
            oltr_rng rng = oltr_rng_at(base, 1, i);
            by_round[tie_at(&rng, 0, sizes[s])]++;
            by_slot[tie_at(&base, i, sizes[s])]++;
        }
        check_uniform_cells("ties over rounds", by_round, sizes[s]);
        check_uniform_cells("ties over slots", by_slot, sizes[s]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(u32_bits_are_fair),
        cmocka_unit_test(uniform_has_its_moments_and_its_law),
        cmocka_unit_test(uniform_reaches_down_to_small_numbers),
        cmocka_unit_test(uniform_low_digits_are_fair),
        cmocka_unit_test(below_is_fair),
        cmocka_unit_test(below_is_fair_for_numbers_near_the_word_size),
        cmocka_unit_test(below_one_is_zero),
        cmocka_unit_test(ties_pick_each_of_n_equally),
        cmocka_unit_test(stat_false_alarms),
    };
    return cmocka_run_group_tests_name("uniform", tests, stat_setup, NULL);
}
