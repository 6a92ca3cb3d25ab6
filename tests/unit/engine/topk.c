/* topk.c - the K best against a plain sort, and ties against a fair lottery.
 *
 * A selection that prefers low indices among ties would show the same items forever while nothing
 * is known of any of them, and no regret curve would say why.  False alarms: see stat.h.
 */
#include "support/stat.h"
#include "engine/rng/sample.h"
#include "engine/select/topk.h"

enum { MOST = 1000 };

/* ---- against a sort */

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void is_the_head_of_the_sorted(const double *x, size_t n, uint32_t k,
                                      const uint32_t *position, const double *score)
{
    double sorted[MOST];
    char seen[MOST] = {0};
    memcpy(sorted, x, n * sizeof *x);
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    for (uint32_t slot = 0; slot < k; slot++) {
        assert_true(position[slot] < n);
        assert_false(seen[position[slot]]);
        seen[position[slot]] = 1;
        assert_true(x[position[slot]] == sorted[n - 1 - slot]);
        if (score)
            assert_true(score[slot] == sorted[n - 1 - slot]);
    }
}

typedef void select_f32(float *, size_t, uint32_t, const oltr_rng *, float *, uint32_t *, double *);
typedef void select_f64(double *, size_t, uint32_t, const oltr_rng *, double *, uint32_t *,
                        double *);

static void run_f32(select_f32 *select, const double *x, size_t n, uint32_t k, uint64_t round,
                    uint32_t *position, double *score)
{
    float copy[MOST + NORMAL_GROUP], best[(MOST + NORMAL_GROUP) / 8 + 8];
    oltr_rng rng = oltr_rng_at(oltr_rng_make(1, 2), 3, round);
    for (size_t i = 0; i < padded(n); i++)
        copy[i] = i < n ? (float)x[i] : -INFINITY;
    select(copy, n, k, &rng, best, position, score);
}

static void run_f64(select_f64 *select, const double *x, size_t n, uint32_t k, uint64_t round,
                    uint32_t *position, double *score)
{
    double copy[MOST + NORMAL_GROUP], best[(MOST + NORMAL_GROUP) / 8 + 8];
    oltr_rng rng = oltr_rng_at(oltr_rng_make(1, 2), 3, round);
    for (size_t i = 0; i < padded(n); i++)
        copy[i] = i < n ? x[i] : -(double)INFINITY;
    select(copy, n, k, &rng, best, position, score);
}

/* Scores with many ties or none, each exact in a float. */
static void draw_scores(dice *from, double *x, size_t n)
{
    uint32_t values = below(from, 2) ? 1u << 20 : 1 + below(from, 20);
    for (size_t i = 0; i < n; i++)
        x[i] = (double)below(from, values) - values / 2;
    if (below(from, 4) == 0)
        x[below(from, (uint32_t)n)] = (double)INFINITY;
}

static void check_all(dice *from, size_t n, uint32_t k, uint64_t round)
{
    double x[MOST], score[MOST];
    uint32_t position[MOST];
    draw_scores(from, x, n);
    run_f32(topk_f32, x, n, k, round, position, score);
    is_the_head_of_the_sorted(x, n, k, position, score);
    run_f32(topk_f32_plain, x, n, k, round, position, NULL);
    is_the_head_of_the_sorted(x, n, k, position, NULL);
    run_f64(topk_f64, x, n, k, round, position, score);
    is_the_head_of_the_sorted(x, n, k, position, score);
    run_f64(topk_f64_plain, x, n, k, round, position, NULL);
    is_the_head_of_the_sorted(x, n, k, position, NULL);
}

static void the_k_best_are_the_head_of_the_sorted_scores(void **state)
{
    dice from = {1};
    for (size_t n = 1; n <= 80; n++)
        for (uint32_t k = 1; k <= n; k++)
            check_all(&from, n, k, n);
    for (uint64_t i = 0; i < 250 * EFFORT; i++) {
        size_t n = 81 + below(&from, MOST - 80);
        check_all(&from, n, 1 + below(&from, (uint32_t)n), i);
    }
    check_all(&from, MOST, MOST, 0);
}

static void the_best_single_score_is_found_wherever_it_stands(void **state)
{
    double x[MOST] = {0};
    for (size_t n = 1; n <= MOST; n = n * 2 + 1)
        for (uint32_t at = 0; at < n; at++) {
            uint32_t position;
            x[at] = 1;
            run_f32(topk_f32, x, n, 1, at, &position, NULL);
            assert_int_equal(position, at);
            run_f64(topk_f64, x, n, 1, at, &position, NULL);
            assert_int_equal(position, at);
            x[at] = 0;
        }
}

/* `best` is as long as the header says; what stands behind it must stay. */
static void the_selection_keeps_to_the_room_it_asks_for(void **state)
{
    const double guard = 12345;
    for (size_t n = 1; n <= MOST; n++) {
        double x[MOST + NORMAL_GROUP], best[MOST / 8 + 40];
        uint32_t position;
        oltr_rng rng = oltr_rng_make(1, 1);
        for (size_t i = 0; i < padded(n); i++)
            x[i] = i < n ? 1 : -(double)INFINITY;
        for (size_t i = topk_room(n); i < topk_room(n) + 8; i++)
            best[i] = guard;
        topk_f64(x, n, 1, &rng, best, &position, NULL);
        for (size_t i = topk_room(n); i < topk_room(n) + 8; i++)
            if (best[i] != guard)
                fail_msg("topk_f64 of %zu scores writes best[%zu]; it has %zu", n, i, topk_room(n));
    }
}

/* ---- ties */

enum { MOST_TIED = 6, MOST_ORDERS = 120 };

/* Scores with m tied items that compete for `taken` slots from slot `first` on. */
typedef struct lottery {
    const char *name;
    size_t n;
    double other_high, other_low; /* the scores of the rest: `first` of them are high */
    uint32_t tied[MOST_TIED];
    uint32_t m, first, taken;
} lottery;

static const lottery lotteries[] = {
    {"all tied", 4, 0, 0, {0, 1, 2, 3}, 4, 0, 4},
    {"two of two", 2, 0, 0, {0, 1}, 2, 0, 2},
    {"three inside the list", 8, 9, 1, {1, 4, 7}, 3, 2, 3},
    {"five for the last slot", 8, 9, 1, {0, 2, 3, 5, 6}, 5, 2, 1},
    {"five for the last two slots", 12, 9, 1, {0, 2, 3, 5, 11}, 5, 3, 2},
    {"five far apart, all shown", 500, 9, 1, {0, 31, 32, 250, 499}, 5, 4, 5},
    {"six far apart for two slots", 1000, 9, 1, {7, 8, 15, 16, 998, 999}, 6, 5, 2},
    {"two groups' edges", 300, 9, 1, {127, 128, 255, 256}, 4, 0, 2},
};

static void lottery_scores(const lottery *l, double *x)
{
    uint32_t high = 0;
    for (size_t i = 0; i < l->n; i++)
        x[i] = l->other_low;
    for (uint32_t j = 0; j < l->m; j++)
        x[l->tied[j]] = 5;
    for (size_t i = 0; i < l->n && high < l->first; i++)
        if (x[i] != 5)
            x[i] = l->other_high + high++;
}

static uint32_t number_of(const lottery *l, uint32_t position)
{
    for (uint32_t j = 0; j < l->m; j++)
        if (l->tied[j] == position)
            return j;
    fail_msg("%s: %u is not among the tied", l->name, position);
    return 0;
}

/* The order in which tied items took the slots, as a number below m (m-1) ... (m-taken+1). */
static uint32_t order_of(const lottery *l, const uint32_t *position)
{
    uint32_t order = 0;
    for (uint32_t s = 0; s < l->taken; s++) {
        uint32_t mine = number_of(l, position[l->first + s]), rank = mine;
        for (uint32_t before = 0; before < s; before++)
            rank -= number_of(l, position[l->first + before]) < mine;
        order = order * (l->m - s) + rank;
    }
    return order;
}

static uint32_t orders(const lottery *l)
{
    uint32_t product = 1;
    for (uint32_t s = 0; s < l->taken; s++)
        product *= l->m - s;
    return product;
}

static void hold_lottery(const lottery *l)
{
    unsigned single[MOST_ORDERS] = {0}, twice[MOST_ORDERS] = {0};
    double x[MOST];
    uint32_t position[MOST];
    lottery_scores(l, x);
    uint64_t rounds = (uint64_t)orders(l) * 150 * EFFORT;
    for (uint64_t round = 0; round < rounds; round++) {
        run_f32(topk_f32, x, l->n, l->first + l->taken, round, position, NULL);
        single[order_of(l, position)]++;
        run_f64(topk_f64, x, l->n, l->first + l->taken, round + ((uint64_t)1 << 32), position,
                NULL);
        twice[order_of(l, position)]++;
    }
    check_uniform_cells(l->name, single, orders(l));
    check_uniform_cells(l->name, twice, orders(l));
}

static void every_order_of_tied_items_is_equally_likely(void **state)
{
    for (size_t i = 0; i < COUNT(lotteries); i++)
        hold_lottery(&lotteries[i]);
}

static void each_of_many_tied_items_is_as_likely_in_each_slot(void **state)
{
    enum { ITEMS = 100, SLOTS = 3 };
    static unsigned count[SLOTS][ITEMS];
    double x[ITEMS] = {0};
    for (uint64_t round = 0; round < (uint64_t)ITEMS * 200 * EFFORT; round++) {
        uint32_t position[SLOTS];
        run_f32(topk_f32, x, ITEMS, SLOTS, round, position, NULL);
        for (int slot = 0; slot < SLOTS; slot++)
            count[slot][position[slot]]++;
    }
    for (int slot = 0; slot < SLOTS; slot++)
        check_uniform_cells("a slot of 100 tied items", count[slot], ITEMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_k_best_are_the_head_of_the_sorted_scores),
        cmocka_unit_test(the_best_single_score_is_found_wherever_it_stands),
        cmocka_unit_test(the_selection_keeps_to_the_room_it_asks_for),
        cmocka_unit_test(every_order_of_tied_items_is_equally_likely),
        cmocka_unit_test(each_of_many_tied_items_is_as_likely_in_each_slot),
        cmocka_unit_test(stat_false_alarms),
    };
    return cmocka_run_group_tests_name("topk", tests, stat_setup, NULL);
}
