/* standings.c - letters of groups, against their definition: two things share a letter exactly if
 * they do not differ, and no group is inside another. */
#include "support/unit.h"
#include "report/claims/standings.h"

#include <string.h>

static char letter[MOST_LETTERED][LETTERS_SIZE];

static bool share(uint32_t i, uint32_t j)
{
    return strpbrk(letter[i], letter[j]) != NULL;
}

static void set(uint64_t *differs, uint32_t i, uint32_t j)
{
    differs[i < j ? i : j] |= UINT64_C(1) << (i < j ? j : i);
}

/* The things with this letter, as bits. */
static uint64_t members(char which, uint32_t count)
{
    uint64_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found |= (uint64_t)(strchr(letter[i], which) != NULL) << i;
    return found;
}

static void check(const uint64_t *differs, uint32_t count)
{
    assert_true(letter_groups(differs, count, letter));
    assert_int_equal(letter[0][0], 'a');
    for (uint32_t i = 0; i < count; i++) {
        assert_true(letter[i][0] != '\0');
        for (uint32_t j = i + 1; j < count; j++)
            assert_int_equal(share(i, j), !(differs[i] >> j & 1));
    }
    for (char x = 'a'; members(x, count) != 0; x++)
        for (char y = 'a'; members(y, count) != 0; y++)
            assert_true(x == y || (members(x, count) & ~members(y, count)) != 0);
}

static void known_groups(void **state)
{
    uint64_t none[4] = {0}, all[4] = {0}, chain[4] = {0}, odd[4] = {0};
    check(none, 4);
    assert_string_equal(letter[3], "a");
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = i + 1; j < 4; j++)
            set(all, i, j);
    check(all, 4);
    assert_string_equal(letter[3], "d");
    set(chain, 0, 2); /* only neighbours cannot be told apart */
    set(chain, 0, 3);
    set(chain, 1, 3);
    check(chain, 4);
    assert_string_equal(letter[0], "a");
    assert_string_equal(letter[1], "ab");
    assert_string_equal(letter[2], "bc");
    assert_string_equal(letter[3], "c");
    set(odd, 1, 2); /* the first and the last are noisy: they differ from none */
    check(odd, 4);
    assert_string_equal(letter[0], "ab");
    assert_string_equal(letter[1], "a");
    assert_string_equal(letter[2], "b");
    assert_string_equal(letter[3], "ab");
}

/* Means with errors of their own: pairs differ without any order between the errors. */
static void random_groups(void **state)
{
    uint64_t word = 1;
    for (int trial = 0; trial < 2000; trial++) {
        uint32_t count = 1 + (uint32_t)trial % 14;
        double error[14];
        uint64_t differs[14] = {0};
        for (uint32_t i = 0; i < count; i++) {
            word = word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            error[i] = (double)(word >> 33) / (double)(UINT64_C(1) << 31) * 6;
        }
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t j = i + 1; j < count; j++)
                if (j - i > error[i] * error[j] / 3)
                    set(differs, i, j);
        check(differs, count);
    }
}

/* n pairs of which each differs within need 2^n groups. */
static void too_many_groups(void **state)
{
    uint64_t differs[MOST_LETTERED] = {0};
    for (uint32_t i = 0; i < MOST_LETTERED; i += 2)
        set(differs, i, i + 1);
    assert_false(letter_groups(differs, MOST_LETTERED, letter));
    assert_string_equal(letter[0], "");
    check(differs, 10); /* 2^5 groups */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_groups),
        cmocka_unit_test(random_groups),
        cmocka_unit_test(too_many_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
