/* ranked_together.c - oltr_rank_many() of policies that sample theta: several thetas share a pass
 * over the rows, and every list is that of oltr_rank() to the bit, or fails as it does.
 */
#include <oltr/oltr.h>

#include "support/unit.h"

enum { SLOTS = 4, LISTS = 9, FEW = 40, MANY = 115000, SMALL_DIM = 5, DIM = 37 };

static const char *const kinds[] = {"lints", "cascade-lints", "lints-cascade", "logts",
                                    "logts-newton"};

typedef struct shelf {
    float *x; /* (n, dim) */
    uint32_t n, dim;
} shelf;

static shelf shelf_of(uint32_t n, uint32_t dim, dice *rng)
{
    shelf s = {exactly((size_t)n * dim, sizeof(float)), n, dim};
    for (size_t i = 0; i < (size_t)n * dim; i++)
        s.x[i] = (float)((2 * unit(rng) - 1) / sqrt(dim));
    return s;
}

static oltr_policy *new_policy(const char *kind, const char *norm, const shelf *s)
{
    oltr_settings settings;
    assert_int_equal(oltr_settings_init(&settings, kind, s->n, NULL), OLTR_OK);
    settings.dim = s->dim;
    assert_int_equal(oltr_settings_set(&settings, "norm", norm, NULL), OLTR_OK);
    oltr_policy *p = oltr_policy_new(&settings, NULL);
    assert_non_null(p);
    return p;
}

static void learn_rounds(oltr_policy *p, const shelf *s, uint32_t rounds)
{
    oltr_query q = {.n_items = FEW, .dim = s->dim, .x = s->x};
    for (uint32_t t = 0; t < rounds; t++) {
        uint32_t item[SLOTS];
        double reward[SLOTS] = {0};
        for (uint32_t i = 0; i < SLOTS; i++)
            item[i] = (t * 7 + i * 3) % FEW;
        reward[t % SLOTS] = t % 3 == 0;
        oltr_ranking list = {.k = SLOTS, .item = item};
        oltr_feedback seen = {.n_examined = SLOTS, .reward = reward};
        assert_int_equal(oltr_learn(p, &q, &list, &seen), OLTR_OK);
    }
}

/* The lists of both, and how many there are before one fails.  Returns the status. */
static oltr_status expect_same(const oltr_policy *p, const oltr_query *q, uint32_t n)
{
    uint32_t item[LISTS][SLOTS], other[SLOTS], done = 99, r = 0;
    double score[LISTS][SLOTS], value[SLOTS];
    oltr_rng rng = oltr_rng_make(3, 4);
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_status status = OLTR_OK, many = oltr_rank_many(p, q, rng, 5, 100, scratch, n, SLOTS,
                                                        item[0], score[0], &done);
    for (; r < n; r++) {
        oltr_ranking one = {.k = SLOTS, .item = other, .score = value};
        status = oltr_rank(p, q, oltr_rng_at(rng, 5, 100 + r), scratch, &one);
        if (status != OLTR_OK)
            break;
        assert_true(r < done);
        assert_memory_equal(item[r], other, sizeof other);
        assert_memory_equal(score[r], value, sizeof value);
    }
    assert_int_equal(done, r);
    assert_int_equal(many, status);
    oltr_scratch_free(scratch);
    return status;
}

static void lists_are_those_of_one_by_one(void **unused)
{
    static const char *const norms[] = {"accept", "scale", "refuse"};
    dice rng = {31};
    (void)unused;
    for (size_t i = 0; i < COUNT(kinds) * COUNT(norms); i++) {
        const char *norm = norms[i % COUNT(norms)];
        shelf s = shelf_of(FEW, i % 2 ? DIM : SMALL_DIM, &rng);
        oltr_policy *p = new_policy(kinds[i / COUNT(norms)], norm, &s);
        uint32_t some[FEW / 2];
        learn_rounds(p, &s, 20);
        for (uint32_t k = 0; k < FEW / 2; k++)
            some[k] = 2 * k + 1;
        oltr_query all = {.n_items = FEW, .dim = s.dim, .x = s.x}, half = all;
        half.item = some;
        half.n_items = FEW / 2;
        for (uint32_t n = 0; n <= LISTS; n++) {
            assert_int_equal(expect_same(p, &all, n), OLTR_OK);
            assert_int_equal(expect_same(p, &half, n), OLTR_OK);
        }
        for (uint32_t j = 0; j < s.dim; j++)
            s.x[7 * s.dim + j] *= 3; /* longer than 1 */
        assert_int_equal(expect_same(p, &all, LISTS),
                         strcmp(norm, "refuse") ? OLTR_OK : OLTR_EFEATURE);
        oltr_policy_free(p);
        free(s.x);
    }
}

/* A row that no list may show, with a feature beyond the limit, fails the lists that would; one
 * that is not finite fails all. */
static void bad_rows_fail_alike(void **unused)
{
    dice rng = {32};
    uint32_t failed = 0;
    (void)unused;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        shelf s = shelf_of(FEW, DIM, &rng);
        oltr_policy *p = new_policy(kinds[i], "accept", &s);
        oltr_query q = {.n_items = FEW, .dim = DIM, .x = s.x};
        learn_rounds(p, &s, 20);
        for (uint32_t row = 0; row < FEW; row++) {
            float before = s.x[row * DIM];
            s.x[row * DIM] = 2e6F;
            failed += expect_same(p, &q, LISTS) != OLTR_OK;
            s.x[row * DIM] = row % 2 ? INFINITY : NAN;
            assert_int_equal(expect_same(p, &q, LISTS), OLTR_EFEATURE);
            s.x[row * DIM] = before;
        }
        oltr_policy_free(p);
        free(s.x);
    }
    assert_true(failed > 0);
}

/* More rows than the caches hold are read in another order. */
static void rows_from_memory(void **unused)
{
    dice rng = {33};
    (void)unused;
    shelf s = shelf_of(MANY, DIM, &rng);
    oltr_query q = {.n_items = MANY, .dim = DIM, .x = s.x};
    oltr_policy *p = new_policy("lints", "accept", &s);
    learn_rounds(p, &s, 20);
    assert_int_equal(expect_same(p, &q, 5), OLTR_OK);
    oltr_policy_free(p);
    free(s.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_those_of_one_by_one),
        cmocka_unit_test(bad_rows_fail_alike),
        cmocka_unit_test(rows_from_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
