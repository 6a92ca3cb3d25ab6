/* ndcg.c - NDCG against a slow twin that averages over the orders of equal scores one by one, and
 * on lists whose value is known.
 */
#include "support/unit.h"

#include "lab/scorer/ndcg.h"

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-12;
}

static void knows_values(void **state)
{
    ranked good[] = {{3, 2}, {1, 0}, {2, 1}};
    assert_true(near(ndcg_at(good, 3, 10), 1));
    ranked bad[] = {{1, 2}, {3, 0}, {2, 1}};
    double ideal = 3 + 1 / log2(3), got = 1 / log2(3) + 3.0 / 2;
    assert_true(near(ndcg_at(bad, 3, 10), got / ideal));
    assert_true(near(ndcg_at(bad, 3, 2), 1 / log2(3) / ideal));
    assert_true(near(ndcg_at(bad, 3, 1), 0));
    ranked none[] = {{1, 0}, {2, 0}};
    assert_true(ndcg_at(none, 2, 10) == -1);
    assert_true(ndcg_at(none, 0, 10) == -1);
    ranked huge[] = {{1, 255}, {0, 255}};
    assert_true(near(ndcg_at(huge, 2, 10), 1));
}

/* The mean over all orders of n documents in which no document stands before one with a better
 * score. */
static double slow(ranked *document, uint32_t n, uint32_t k)
{
    uint32_t order[6] = {0};
    double sum = 0, count = 0, best = 0;
    uint32_t codes = 1;
    for (uint32_t i = 0; i < n; i++)
        codes *= n;
    for (uint32_t code = 0; code < codes; code++) {
        uint32_t rest = code, used = 0, good = 1;
        for (uint32_t i = 0; i < n; i++, rest /= n)
            used |= 1u << (order[i] = rest % n);
        if (used != (1u << n) - 1)
            continue;
        double dcg = 0;
        for (uint32_t i = 0; i < n; i++) {
            good = good && (i == 0 || document[order[i]].score <= document[order[i - 1]].score);
            dcg += i < k ? (pow(2, document[order[i]].grade) - 1) / log2(i + 2) : 0;
        }
        best = fmax(best, dcg);
        sum += good ? dcg : 0;
        count += good;
    }
    return best > 0 ? sum / count / best : -1;
}

static void averages_over_ties(void **state)
{
    dice from = {3};
    for (int trial = 0; trial < 300 * EFFORT; trial++) {
        ranked document[5];
        uint32_t n = 1 + below(&from, 5), k = 1 + below(&from, 6);
        for (uint32_t i = 0; i < n; i++)
            document[i] = (ranked){(float)below(&from, 3), (uint8_t)below(&from, 4)};
        double right = slow(document, n, k), got = ndcg_at(document, n, k);
        if (!near(got, right))
            fail_msg("%u documents cut at %u: %.15g instead of %.15g", n, k, got, right);
    }
}

static void leaves_out_queries_without_an_answer(void **state)
{
    static const uint64_t query[] = {1, 2, 3};
    static const uint32_t first_row[] = {0, 2, 4, 6};
    static const uint8_t grade[] = {1, 0, 0, 0, 0, 1};
    static const float x[6] = {0}, score[] = {2, 9, 1, 9, 7, 9, 7, 9, 2, 9, 1, 9};
    const oltr_dataset d = {3, 6, 1, query, first_row, grade, x, NULL};
    ranked room[2];
    uint32_t counted;
    double se, mean = ndcg_mean(&d, score, 2, 10, room, &counted, &se);
    double second = 1 / log2(3);
    assert_int_equal(counted, 2);
    assert_int_equal(most_documents(&d), 2);
    assert_true(near(mean, (1 + second) / 2));
    assert_true(near(se, (1 - second) / 2)); /* of two values: half their difference */
    assert_true(near(ndcg_mean(&d, score, 2, 10, room, NULL, NULL), mean));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_values),
        cmocka_unit_test(averages_over_ties),
        cmocka_unit_test(leaves_out_queries_without_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
