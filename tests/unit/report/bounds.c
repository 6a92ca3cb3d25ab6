/* bounds.c - every bound against values computed elsewhere, from the printed formulas in another
 * language (Python, with the powers written out), and what each of them needs. */
#include "support/unit.h"
#include "report/bounds/bounds.h"

#include <math.h>

static const struct bound_problem paper = {.rounds = 10000, .slots = 3, .items = 30, .dim = 5},
                                  other = {.rounds = 100, .slots = 10, .items = 316, .dim = 20},
                                  levels = {100000, 4, 16, 0, 0.2, 0.05};

static void is(enum bound bound, const struct bound_problem *problem, double value)
{
    double found = bound_value(bound, problem);
    if (!(fabs(found - value) <= 1e-10 * value))
        fail_msg("%s is %.15g, not %.15g", bound_infos[bound].name, found, value);
}

static void the_formulas(void **state)
{
    is(BOUND_TRIVIAL, &paper, 10000);
    is(BOUND_THM1, &paper, 36149.6887953);
    is(BOUND_THM2, &paper, 2926206.48146);
    is(BOUND_THM3, &paper, 1204032560.83);
    is(BOUND_THM4, &paper, 165.165224513);
    is(BOUND_THM4_SQRT, &paper, 16516.5224513);
    is(BOUND_THM1, &other, 39108.0554362);
    is(BOUND_THM2, &other, 17605792.4141);
    is(BOUND_THM3, &other, 733804343.858);
    is(BOUND_THM4, &other, 2601.26457781);
    is(BOUND_THM4_SQRT, &other, 26012.6457781);
    is(BOUND_LOWER, &levels, 112.94411685);
}

static void the_first_round(void **state)
{
    struct bound_problem one = levels;
    one.rounds = 1;
    one.dim = 5;
    assert_true(bound_value(BOUND_THM2, &one) == 1);
    assert_true(bound_value(BOUND_LOWER, &one) == 0);
    for (int b = 0; b < N_BOUNDS; b++)
        assert_true(isfinite(bound_value((enum bound)b, &one)));
}

static void what_they_need(void **state)
{
    struct bound_problem bare = {.rounds = 10, .slots = 2, .items = 3};
    for (int b = 0; b < N_BOUNDS; b++) {
        bool free_of_needs = b == BOUND_TRIVIAL || b == BOUND_THM1;
        assert_true(free_of_needs == !bound_lacks((enum bound)b, &bare));
        assert_int_equal(bound_find(bound_infos[b].name), b);
    }
    assert_null(bound_lacks(BOUND_THM4, &paper));
    assert_null(bound_lacks(BOUND_LOWER, &levels));
    assert_int_equal(bound_find("thm5"), N_BOUNDS);
}

static struct bound_problem of_attractions(const double *nu, uint32_t count, const char *kind)
{
    oltr_experiment point = {.rounds = 10, .slots = 2};
    point.world.kind = kind;
    point.world.n_items = count;
    point.world.attraction = nu;
    point.world.dim = 7;
    return bound_problem_of(&point);
}

static void levels_of_a_world(void **state)
{
    static const double two[] = {0.1, 0.3, 0.1, 0.3}, one[] = {0.3, 0.1, 0.1},
                        three[] = {0.3, 0.3, 0.2, 0.1}, same[] = {0.2, 0.2};
    struct bound_problem found = of_attractions(two, 4, "fixed");
    assert_true(found.better == 0.3 && found.worse == 0.1 && found.dim == 7);
    assert_true(of_attractions(one, 3, "fixed").better == 0);
    assert_true(of_attractions(three, 4, "fixed").better == 0);
    assert_true(of_attractions(same, 2, "fixed").better == 0);
    assert_true(of_attractions(NULL, 4, "beta").better == 0);
    assert_int_equal(of_attractions(NULL, 4, "dataset").dim, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formulas),
        cmocka_unit_test(the_first_round),
        cmocka_unit_test(what_they_need),
        cmocka_unit_test(levels_of_a_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
