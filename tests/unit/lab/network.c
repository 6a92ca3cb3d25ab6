/* network.c - the gradient of the network against differences of its loss.
 *
 * The file under test is compiled here once more, in double precision, where a central difference
 * agrees with a right gradient to eight digits: a wrong sign, a forgotten factor or a transposed
 * matrix cannot hide.
 */
#define NETWORK_DOUBLE
#include "lab/scorer/network.c"

#include "support/unit.h"

enum { INPUTS = 5, ROWS = 17, QUERIES = 3 };
static const uint32_t starts[QUERIES + 1] = {0, 6, 7, ROWS};

typedef struct bench {
    network net;
    pass pass;
    double *weight, x[ROWS * INPUTS], gain[ROWS], back[ROWS];
    double drop;
    oltr_rng rng;
} bench;

static bench make_bench(const uint32_t *hidden, uint32_t n_hidden, double drop)
{
    bench b = {
        .net = network_make(INPUTS, hidden, n_hidden), .drop = drop, .rng = oltr_rng_make(5, 6)};
    dice from = {7};
    assert_true(pass_make(&b.pass, &b.net, ROWS));
    b.weight = exactly(network_weights(&b.net), sizeof *b.weight);
    network_start(&b.net, oltr_rng_make(1, 2), b.weight);
    for (size_t i = 0; i < network_weights(&b.net); i++)
        b.weight[i] += 0.2 * unit(&from) - 0.1; /* offsets too */
    for (size_t i = 0; i < ROWS * INPUTS; i++)
        b.x[i] = 2 * unit(&from) - 1;
    for (uint32_t i = 0; i < ROWS; i++)
        b.gain[i] = below(&from, 2) * below(&from, 16);
    b.gain[6] = 0; /* the second query has one document, and nothing to learn from */
    return b;
}

static void free_bench(bench *b)
{
    free(b->weight);
    pass_free(&b->pass);
}

/* The mean loss over the queries; b->back is left holding its gradient over the scores. */
static double loss_of(bench *b)
{
    double loss = 0;
    memcpy(b->pass.layer[0], b->x, sizeof b->x);
    network_forward(&b->net, b->weight, &b->pass, ROWS, b->drop, b->rng);
    const double *score = b->pass.layer[b->net.n_layers];
    for (int q = 0; q < QUERIES; q++) {
        uint32_t at = starts[q], n = starts[q + 1] - at;
        loss += listwise_loss(b->gain + at, score + at, n, 1.0 / QUERIES, b->back + at) / QUERIES;
    }
    return loss;
}

static void check_gradient(const uint32_t *hidden, uint32_t n_hidden, double drop)
{
    bench b = make_bench(hidden, n_hidden, drop);
    size_t n = network_weights(&b.net), large = 0;
    double *gradient = exactly(n, sizeof *gradient), h = 1e-6;
    assert_true(loss_of(&b) > 0);
    network_backward(&b.net, b.weight, &b.pass, ROWS, b.back, gradient);
    for (size_t i = 0; i < n; i++) {
        double kept = b.weight[i];
        b.weight[i] = kept + h;
        double above = loss_of(&b);
        b.weight[i] = kept - h;
        double below = loss_of(&b);
        b.weight[i] = kept;
        double difference = (above - below) / (2 * h);
        large += fabs(difference) > 1e-3;
        if (!(fabs(difference - gradient[i]) <= 1e-8 + 1e-6 * fabs(difference)))
            fail_msg("weight %zu of %zu: gradient %.12g, difference %.12g", i, n, gradient[i],
                     difference);
    }
    assert_true(large > n / 10); /* the test has seen something */
    free(gradient);
    free_bench(&b);
}

static void gradients_are_differences(void **state)
{
    static const uint32_t hidden[] = {7, 6, 4};
    for (uint32_t layers = 1; layers <= MOST_HIDDEN; layers++) {
        check_gradient(hidden, layers, 0);
        check_gradient(hidden, layers, 0.3);
    }
}

/* A softmax does not care for a shift, so its gradient sums to 0; and scores of any size give
 * numbers. */
static void loss_is_a_cross_entropy(void **state)
{
    const double gain[] = {3, 0, 1}, even[] = {2, 2, 2}, wild[] = {1e300, -1e300, 0},
                 nothing[3] = {0};
    double g[3], shifted[] = {1002, 1002, 1002};
    assert_true(fabs(listwise_loss(gain, even, 3, 1, g) - log(3)) < 1e-12);
    assert_true(fabs(g[0] - (1.0 / 3 - 0.75)) < 1e-12 && fabs(g[1] - 1.0 / 3) < 1e-12);
    assert_true(fabs(g[0] + g[1] + g[2]) < 1e-12);
    assert_true(fabs(listwise_loss(gain, shifted, 3, 1, g) - log(3)) < 1e-9);
    (void)listwise_loss(gain, wild, 3, 1, g);
    for (int i = 0; i < 3; i++)
        assert_true(isfinite(g[i]));
    g[0] = 9;
    assert_true(listwise_loss(nothing, even, 3, 1, g) == 0 && g[0] == 0);
}

/* Of many units the given share is left out, and the sum stays what it was on average. */
static void leaves_units_out(void **state)
{
    enum { N = 40000 };
    double *unit = exactly(N, sizeof *unit), sum = 0;
    size_t zeros = 0;
    for (size_t i = 0; i < N; i++)
        unit[i] = 1;
    leave_out(unit, N, 64, oltr_rng_make(3, 4));
    for (size_t i = 0; i < N; i++) {
        zeros += unit[i] == 0;
        sum += unit[i];
    }
    double sd = sqrt(0.25 * 0.75 * N); /* six of them: a false alarm in 5e8 */
    assert_true(fabs((double)zeros - 0.25 * N) < 6 * sd);
    assert_true(fabs(sum - N) < 6 * sd / 0.75);
    free(unit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(loss_is_a_cross_entropy),
        cmocka_unit_test(leaves_units_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
