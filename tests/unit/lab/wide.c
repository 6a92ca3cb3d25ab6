/* wide.c - the integers of 128 bits: against the compiler's own where it has them, and known
 * answers everywhere. */
#include "support/unit.h"

#include "lab/sim/wide.h"

static void assert_wide(wide value, uint64_t high, uint64_t low)
{
    assert_int_equal(value.high, high);
    assert_int_equal(value.low, low);
}

static void known_answers(void **state)
{
    const uint64_t all = UINT64_MAX;
    assert_wide(wide_of(-1), all, all);
    assert_wide(wide_add(wide_of(-1), wide_of(1)), 0, 0);
    assert_wide(wide_add((wide){all, 0}, (wide){1, 0}), 1, 0);
    assert_wide(wide_subtract(wide_of(0), (wide){1, 0}), all, all);
    assert_wide(wide_product(all, all), all - 1, 1);
    assert_wide(wide_product(0x100000000u, 0x100000000u), 1, 0);
    assert_wide(wide_multiply(wide_of(-3), wide_of(5)), all, (uint64_t)-15);
    assert_wide(wide_shifted(5, 0), 0, 5);
    assert_wide(wide_shifted(0xFFFFFFFFu, 53), 0x1FFFFF, 0xFFE0000000000000u);
    assert_wide(wide_shifted(3, 104), (uint64_t)3 << 40, 0);
    assert_wide(wide_divide(wide_of(-7), 2), all, (uint64_t)-3);
    assert_wide(wide_divide((wide){0, 1}, 3), 0, 0x5555555555555555u);
    assert_true(wide_less(wide_of(-1), wide_of(0)) && !wide_less(wide_of(0), wide_of(-1)));
    assert_true(wide_less((wide){all, 0}, (wide){0, 1}) && wide_equal(wide_of(4), wide_of(4)));
}

static void doubles_are_the_nearest(void **state)
{
    assert_true(wide_double(wide_of(INT64_MIN)) == -0x1p63);
    assert_true(wide_double((wide){0, 1}) == 0x1p64);
    assert_true(wide_double((wide){0, (uint64_t)1 << 63}) == -0x1p127);
    assert_true(wide_double((wide){0x800, 1}) == 0x1p64);               /* a tie, to even */
    assert_true(wide_double((wide){0x801, 1}) == 0x1.0000000000001p64); /* just above it */
    assert_true(wide_double((wide){0x1800, 1}) ==
                0x1.0000000000002p64); /* a tie, to even, upwards */
    assert_true(wide_double((wide){1, 0x20000000000001u}) ==
                0x1.0000000000001p117); /* only the last bit decides */
    assert_true(wide_double((wide){0, 0x20000000000001u}) == 0x1p117);
    assert_true(wide_double((wide){UINT64_MAX, UINT64_MAX >> 1}) == 0x1p127);
}

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 native;
__extension__ typedef unsigned __int128 unsigned_native;

static native native_of(wide a)
{
    return (native)((unsigned_native)a.high << 64 | a.low);
}

static void assert_same(wide a, unsigned_native b)
{
    assert_wide(a, (uint64_t)(b >> 64), (uint64_t)b);
}

/* Of every length, both signs, with runs of ones and zeros. */
static wide any(dice *from)
{
    wide a = {roll(from), roll(from)};
    uint32_t cut = below(from, 128);
    unsigned_native value = (unsigned_native)native_of(a) >> cut;
    if (below(from, 4) == 0)
        value |= ((unsigned_native)1 << below(from, 128)) - 1;
    if (below(from, 2))
        value = -value;
    return (wide){(uint64_t)value, (uint64_t)(value >> 64)};
}

static void the_same_as_the_compilers(void **state)
{
    dice from = {7};
    for (int i = 0; i < 200000; i++) {
        wide a = any(&from), b = any(&from);
        native x = native_of(a), y = native_of(b);
        unsigned_native ux = (unsigned_native)x, uy = (unsigned_native)y;
        uint32_t n = 1 + (uint32_t)roll(&from) / (1u << below(&from, 31)), bits = below(&from, 128);
        assert_same(wide_add(a, b), ux + uy);
        assert_same(wide_subtract(a, b), ux - uy);
        assert_same(wide_multiply(a, b), ux * uy);
        assert_same(wide_shifted(a.low, bits), (unsigned_native)a.low << bits);
        assert_same(wide_of((int64_t)a.low), (unsigned_native)(native)(int64_t)a.low);
        assert_int_equal(wide_less(a, b), x < y);
        assert_int_equal(wide_equal(a, b), x == y);
        if (n)
            assert_same(wide_divide(a, n), (unsigned_native)(x / (native)n));
        assert_true(wide_double(a) == (double)x);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(doubles_are_the_nearest),
#ifdef __SIZEOF_INT128__
        cmocka_unit_test(the_same_as_the_compilers),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
