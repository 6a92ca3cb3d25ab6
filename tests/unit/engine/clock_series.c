/* clock_series.c - the series that replace the inverses have the values of the inverses, and the
 * segments of time have no gap and no overlap.
 *
 * Between two observations of an item its index is read from a polynomial.  A segment that overlaps
 * another, or a series that is used where it has not converged, would change rankings by a little,
 * in some rounds, for some items, which no test from outside would find.
 */
#include "support/unit.h"
#include "engine/special/clock_series.h"
#include "engine/special/special.h"

/* ---- the slow variables */

static double log_time(uint64_t t)
{
    return log((double)t);
}

static double printed_budget(uint64_t t)
{
    return t < 3 ? 0 : log((double)t) + 3 * log(log((double)t));
}

static double released_budget(uint64_t t)
{
    return log((double)t) + 3 * log(log((double)t) + 1);
}

typedef double slow_variable(uint64_t t);
static slow_variable *const slow[] = {log_time, printed_budget, released_budget};
static const char *const slow_name[] = {"log t", "log t + 3 log log t", "log t + 3 log(log t + 1)"};
enum { N_SLOW = 3 };
static const uint64_t HORIZON = 10000000;

/* ---- segments */

static void same_segment(const clock_segment *left, const clock_segment *right)
{
    assert_true(left->first == right->first && left->last == right->last);
    assert_memory_equal(&left->middle, &right->middle, sizeof left->middle);
    assert_memory_equal(&left->half, &right->half, sizeof left->half);
}

static void segments_tile_the_rounds(void **state)
{
    for (int v = 0; v < N_SLOW; v++) {
        uint64_t expected = 1;
        int count = 0;
        while (expected <= HORIZON) {
            clock_segment segment = clock_segment_of(expected, slow[v]);
            assert_true(segment.first == expected);
            assert_true(segment.last >= segment.first);
            expected = segment.last + 1;
            count++;
        }
        print_message("%s: %d segments up to round %llu\n", slow_name[v], count,
                      (unsigned long long)HORIZON);
    }
}

static void every_round_finds_its_own_segment(void **state)
{
    for (int v = 0; v < N_SLOW; v++) {
        clock_segment segment = clock_segment_of(1, slow[v]);
        for (uint64_t t = 1; t <= 10000 * EFFORT; t++) {
            if (t > segment.last)
                segment = clock_segment_of(t, slow[v]);
            clock_segment again = clock_segment_of(t, slow[v]);
            same_segment(&segment, &again);
        }
    }
}

static void a_segment_is_the_same_from_each_of_its_rounds(void **state)
{
    dice from = {1};
    for (int v = 0; v < N_SLOW; v++)
        for (clock_segment at = clock_segment_of(1, slow[v]); at.first <= HORIZON;
             at = clock_segment_of(at.last + 1, slow[v]))
            for (int i = 0; i < 50; i++) {
                uint64_t t = i == 0   ? at.first
                             : i == 1 ? at.last
                                      : at.first + roll(&from) % (at.last - at.first + 1);
                clock_segment other = clock_segment_of(t, slow[v]);
                same_segment(&at, &other);
            }
}

static void a_segment_spans_its_rounds(void **state)
{
    for (int v = 0; v < N_SLOW; v++)
        for (clock_segment at = clock_segment_of(1, slow[v]); at.first <= HORIZON;
             at = clock_segment_of(at.last + 1, slow[v])) {
            double slack = 1e-12 * (1 + fabs(at.middle));
            assert_true(at.half >= 0);
            assert_true(slow[v](at.first) >= at.middle - at.half - slack);
            assert_true(slow[v](at.last) <= at.middle + at.half + slack);
        }
}

static void segments_go_on_to_the_last_round(void **state)
{
    const uint64_t last = ((uint64_t)1 << 48) - 1;
    for (int v = 0; v < N_SLOW; v++)
        for (uint64_t t = HORIZON; t <= last; t = t * 3 + 1) {
            clock_segment segment = clock_segment_of(t, slow[v]);
            assert_true(segment.first <= t && t <= segment.last);
            clock_segment from_first = clock_segment_of(segment.first, slow[v]);
            same_segment(&segment, &from_first);
        }
}

/* ---- series */

static double value_at(const clock_series *series, double x)
{
    double value = series->c[SERIES_TERMS - 1];
    for (int i = SERIES_TERMS - 2; i >= 0; i--)
        value = value * (x - series->center) + series->c[i];
    return value;
}

/* Up to 40 rounds of a segment: its ends, its middle, and evenly between. */
static uint64_t round_of(const clock_segment *segment, uint64_t i, uint64_t n)
{
    return n == 1 ? segment->first
                  : segment->first + (segment->last - segment->first) * i / (n - 1);
}

static uint64_t rounds_of(const clock_segment *segment)
{
    uint64_t length = segment->last - segment->first + 1;
    return length < 40 ? length : 40;
}

static clock_segment draw_segment(dice *from, slow_variable *variable)
{
    return clock_segment_of((uint64_t)log_uniform(from, 1, (double)HORIZON), variable);
}

static double draw_shape(dice *from)
{
    return below(from, 3) ? log_uniform(from, 1e-3, 1e6) : 1 + below(from, 30);
}

static bool quantile_series_holds(double a, double b, const clock_segment *segment)
{
    clock_series series;
    if (!quantile_series(a, b, segment, &series))
        return false;
    uint64_t n = rounds_of(segment);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t t = round_of(segment, i, n);
        double got = value_at(&series, log_time(t)),
               right = beta_quantile_upper(a, b, 1 / (double)t);
        if (!(fabs(got - right) <= 1e-9))
            fail_msg(
                "quantile_series(%.17g, %.17g) on rounds %llu..%llu: %.17g at %llu, right is %.17g",
                a, b, (unsigned long long)segment->first, (unsigned long long)segment->last, got,
                (unsigned long long)t, right);
    }
    return true;
}

static void report(const char *what, int held, int asked)
{
    print_message("%s: %d of %d refused (%.2f%%)\n", what, asked - held, asked,
                  100.0 * (asked - held) / asked);
}

static void quantile_series_equals_the_quantile_over_all_shapes(void **state)
{
    dice from = {2};
    int held = 0, asked = 2500 * EFFORT;
    for (int i = 0; i < asked; i++) {
        clock_segment segment = draw_segment(&from, log_time);
        held += quantile_series_holds(draw_shape(&from), draw_shape(&from), &segment);
    }
    report("shapes 1e-3..1e6", held, asked);
}

static void quantile_series_equals_the_quantile_for_counts(void **state)
{
    dice from = {3};
    int held = 0, asked = 2500 * EFFORT;
    for (int i = 0; i < asked; i++) {
        clock_segment segment = draw_segment(&from, log_time);
        double n = floor(log_uniform(&from, 1, 1e6)), s = floor((n + 1) * unit(&from));
        held += quantile_series_holds(1 + s, 1 + n - s, &segment);
    }
    report("Beta(1 + clicks, 1 + rest), up to 1e6 views", held, asked);
}

static void quantile_series_equals_the_quantile_in_every_segment(void **state)
{
    static const double shapes[][2] = {{1, 1},     {1, 10},  {10, 1},     {2, 40},
                                       {0.5, 0.5}, {0.1, 3}, {300, 5000}, {1e6, 1e6}};
    enum { N = COUNT(shapes) };
    for (int k = 0; k < N; k++) {
        int held = 0, asked = 0;
        clock_segment at = clock_segment_of(1, log_time);
        for (; at.first <= HORIZON; at = clock_segment_of(at.last + 1, log_time)) {
            held += quantile_series_holds(shapes[k][0], shapes[k][1], &at);
            asked++;
        }
        print_message("Beta(%g, %g): ", shapes[k][0], shapes[k][1]);
        report("every segment", held, asked);
    }
}

static bool kl_series_holds(double n, double p, const clock_segment *segment,
                            slow_variable *variable)
{
    clock_series series;
    if (!kl_series(n, p, segment, &series))
        return 0;
    uint64_t rounds = rounds_of(segment);
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t t = round_of(segment, i, rounds);
        double got = value_at(&series, variable(t)), right = kl_upper(p, variable(t) / n);
        if (!(fabs(got - right) <= 1e-10))
            fail_msg("kl_series(%.17g, %.17g) on rounds %llu..%llu: %.17g at %llu, right is %.17g",
                     n, p, (unsigned long long)segment->first, (unsigned long long)segment->last,
                     got, (unsigned long long)t, right);
    }
    return true;
}

static double draw_clicks(dice *from, double n)
{
    switch (below(from, 6)) {
    case 0:
        return 0;
    case 1:
        return n;
    case 2:
        return n < 2 ? 1 : n - 1;
    default:
        return floor((n + 1) * unit(from));
    }
}

static void kl_series_equals_the_bound_for_counts(void **state)
{
    dice from = {4};
    for (int v = 1; v < N_SLOW; v++) {
        int held = 0, asked = 2500 * EFFORT;
        for (int i = 0; i < asked; i++) {
            clock_segment segment = draw_segment(&from, slow[v]);
            double n = floor(log_uniform(&from, 1, 1e6));
            held += kl_series_holds(n, draw_clicks(&from, n) / n, &segment, slow[v]);
        }
        report(slow_name[v], held, asked);
    }
}

static void kl_series_equals_the_bound_for_fading_counts(void **state)
{
    dice from = {5};
    int held = 0, asked = 2000 * EFFORT;
    for (int i = 0; i < asked; i++) { /* sums multiplied by forgetting are no whole numbers */
        clock_segment segment = draw_segment(&from, released_budget);
        held +=
            kl_series_holds(log_uniform(&from, 1e-3, 1e6), unit(&from), &segment, released_budget);
    }
    report("counts 1e-3..1e6", held, asked);
}

static void equal_arguments_give_equal_bits(void **state)
{
    dice from = {6};
    for (int i = 0; i < 2000; i++) {
        clock_segment segment = draw_segment(&from, log_time),
                      same = clock_segment_of(segment.last, log_time);
        double a = draw_shape(&from), b = draw_shape(&from), p = unit(&from);
        clock_series first, second;
        memset(&first, 0, sizeof first);
        memset(&second, 0xFF, sizeof second);
        if (quantile_series(a, b, &segment, &first)) {
            assert_int_equal(quantile_series(a, b, &same, &second), 1);
            assert_memory_equal(&first, &second, sizeof first);
        }
        if (kl_series(a, p, &segment, &first)) {
            assert_int_equal(kl_series(a, p, &same, &second), 1);
            assert_memory_equal(&first, &second, sizeof first);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_tile_the_rounds),
        cmocka_unit_test(every_round_finds_its_own_segment),
        cmocka_unit_test(a_segment_is_the_same_from_each_of_its_rounds),
        cmocka_unit_test(a_segment_spans_its_rounds),
        cmocka_unit_test(segments_go_on_to_the_last_round),
        cmocka_unit_test(quantile_series_equals_the_quantile_over_all_shapes),
        cmocka_unit_test(quantile_series_equals_the_quantile_for_counts),
        cmocka_unit_test(quantile_series_equals_the_quantile_in_every_segment),
        cmocka_unit_test(kl_series_equals_the_bound_for_counts),
        cmocka_unit_test(kl_series_equals_the_bound_for_fading_counts),
        cmocka_unit_test(equal_arguments_give_equal_bits),
    };
    return cmocka_run_group_tests_name("clock_series", tests, NULL, NULL);
}
