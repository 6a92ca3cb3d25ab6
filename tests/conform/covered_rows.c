/* covered_rows.c - rows that all stay, whose covariances are kept in place of the factor and whose
 * observations are counted (posterior/row_covariances.h): cascade-linucb and cascade-woful.
 *
 * The twin of each policy is the same with `norm: scale`, which keeps no covariances; the rows are
 * shorter than 1, so that scaling changes nothing.
 */
#include <oltr/oltr.h>

#include "support/snapshot.h"
#include "support/unit.h"

enum { ITEMS = 40, DIM = 35, SLOTS = 6, ROUNDS = 260 };

static const char *const kinds[] = {"cascade-linucb", "cascade-woful"};

typedef struct shop {
    float x[ITEMS * DIM];
    dice rng;
} shop;

static shop shop_of(uint64_t seed)
{
    shop s = {.rng = {seed}};
    for (uint32_t i = 0; i < ITEMS * DIM; i++)
        s.x[i] = (float)((2 * unit(&s.rng) - 1) / 6);
    return s;
}

static oltr_query query_of(const shop *s)
{
    return (oltr_query){.n_items = ITEMS, .dim = DIM, .x = s->x};
}

static void set(oltr_settings *settings, const char *name, const char *value)
{
    assert_int_equal(oltr_settings_set(settings, name, value, NULL), OLTR_OK);
}

static oltr_policy *new_policy(const char *kind, const char *norm, uint32_t items, uint32_t dim)
{
    oltr_settings settings;
    assert_int_equal(oltr_settings_init(&settings, kind, items, NULL), OLTR_OK);
    settings.dim = dim;
    set(&settings, "norm", norm);
    if (strcmp(kind, "cascade-linucb") == 0) {
        set(&settings, "width", "given");
        set(&settings, "c", "0.05");
    }
    oltr_policy *p = oltr_policy_new(&settings, NULL);
    assert_non_null(p);
    return p;
}

static void rank_all(const oltr_policy *p, const oltr_query *q, uint32_t t, uint32_t *item,
                     double *score)
{
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_ranking list = {.k = q->n_items, .item = item, .score = score};
    oltr_rng rng = oltr_rng_at(oltr_rng_make(2, 0), 0, t);
    assert_non_null(scratch);
    assert_int_equal(oltr_rank(p, q, rng, scratch, &list), OLTR_OK);
    oltr_scratch_free(scratch);
}

/* A list that does not depend on the policy. */
static void learn_round(oltr_policy *p, const oltr_query *q, uint32_t t)
{
    double reward[SLOTS] = {0};
    uint32_t item[SLOTS], n = 1 + t * 7 % SLOTS;
    for (uint32_t i = 0; i < SLOTS; i++)
        item[i] = (t * 11 + i * 3 + t / 13) % q->n_items;
    reward[n - 1] = t % 3 == 0;
    oltr_ranking list = {.k = SLOTS, .item = item};
    oltr_feedback seen = {.n_examined = n, .reward = reward};
    assert_int_equal(oltr_learn(p, q, &list, &seen), OLTR_OK);
}

static void learn_rounds(oltr_policy *p, const oltr_query *q, uint32_t from, uint32_t to)
{
    for (uint32_t t = from; t < to; t++)
        learn_round(p, q, t);
}

/* ---- snapshots */

typedef struct image {
    size_t size;
    unsigned char *byte;
} image;

static image image_of(const oltr_policy *p)
{
    image m = {.size = oltr_save_bound(p)};
    m.byte = exactly(m.size, 1);
    assert_int_equal(oltr_save(p, m.byte, m.size, &m.size), OLTR_OK);
    return m;
}

static field array_of_sums(const image *m, const char *name)
{
    anatomy a = dissect(m->byte, m->size);
    for (uint32_t i = 0; i < a.sums; i++)
        if (strcmp(a.sum[i].text, name) == 0)
            return a.sum[i];
    fail_msg("no sums called %s", name);
    return a.sum[0];
}

/* How many rows have counts. */
static uint64_t counted(const oltr_policy *p)
{
    image m = image_of(p);
    uint64_t n = array_of_sums(&m, "counted-weights").n;
    free(m.byte);
    return n;
}

static oltr_policy *reloaded(const oltr_policy *p)
{
    image m = image_of(p);
    oltr_policy *made = oltr_load(m.byte, m.size, NULL);
    assert_non_null(made);
    free(m.byte);
    return made;
}

/* ---- comparisons */

/* The scores of all candidates, within 1e-9. */
static void expect_near(const oltr_policy *p, const oltr_policy *twin, const oltr_query *q)
{
    uint32_t item[2][ITEMS];
    double score[2][ITEMS], by_item[2][ITEMS];
    const oltr_policy *both[2] = {p, twin};
    for (int v = 0; v < 2; v++) {
        rank_all(both[v], q, 1, item[v], score[v]);
        for (uint32_t i = 0; i < q->n_items; i++)
            by_item[v][item[v][i]] = score[v][i];
    }
    for (uint32_t i = 0; i < q->n_items; i++)
        if (!(fabs(by_item[0][i] - by_item[1][i]) <= 1e-9 * fmax(1, fabs(by_item[1][i]))))
            fail_msg("item %u: %.17g, the twin has %.17g", i, by_item[0][i], by_item[1][i]);
    assert_int_equal(oltr_check(p, NULL), OLTR_OK);
}

static void expect_same(const oltr_policy *p, const oltr_policy *twin, const oltr_query *q)
{
    uint32_t item[2][ITEMS];
    double score[2][ITEMS];
    rank_all(p, q, 1, item[0], score[0]);
    rank_all(twin, q, 1, item[1], score[1]);
    assert_memory_equal(item[0], item[1], q->n_items * sizeof *item[0]);
    assert_memory_equal(score[0], score[1], q->n_items * sizeof *score[0]);
}

/* ---- tests */

/* Rows are covered, change, and are covered again. */
static void scores_are_those_of_the_factor(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        shop s = shop_of(3), other = shop_of(4);
        oltr_query q = query_of(&s), strange = query_of(&other);
        oltr_policy *p = new_policy(kinds[k], "accept", ITEMS, DIM),
                    *twin = new_policy(kinds[k], "scale", ITEMS, DIM);
        for (uint32_t t = 1; t < ROUNDS; t++) {
            if (t == 130)
                s.x[7] += 0.01F;
            if (t % 9 == 0) {
                expect_near(p, twin, &q);
                expect_near(p, twin, &strange);
            }
            if (t == 129 || t == ROUNDS - 1)
                assert_int_equal(counted(p), ITEMS);
            learn_round(p, &q, t);
            learn_round(twin, &q, t);
            if (t == 130)
                assert_int_equal(counted(p), 0);
        }
        assert_int_equal(counted(twin), 0);
        oltr_policy_free(p);
        oltr_policy_free(twin);
    }
}

static void copies_go_on(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        shop s = shop_of(5);
        oltr_query q = query_of(&s);
        oltr_policy *p = new_policy(kinds[k], "accept", ITEMS, DIM),
                    *twin = new_policy(kinds[k], "accept", ITEMS, DIM);
        for (uint32_t t = 1; t < ROUNDS; t += 17) {
            learn_rounds(p, &q, t, t + 17);
            learn_rounds(twin, &q, t, t + 17);
            expect_same(p, twin, &q);
            oltr_policy *next = t % 2 ? reloaded(twin) : oltr_policy_copy(twin, NULL, NULL);
            assert_non_null(next);
            oltr_policy_free(twin);
            twin = next;
        }
        assert_int_equal(counted(twin), ITEMS);
        oltr_policy_free(p);
        oltr_policy_free(twin);
    }
}

/* A larger policy goes on to the same bits; one that has no room for the counts takes them into its
 * sums. */
static void resized_policies_go_on(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        shop s = shop_of(6);
        oltr_query q = query_of(&s), fewer = {.n_items = ITEMS / 2, .dim = DIM, .x = s.x};
        oltr_policy *p = new_policy(kinds[k], "accept", ITEMS, DIM),
                    *twin = new_policy(kinds[k], "scale", ITEMS, DIM), *larger = NULL;
        learn_rounds(p, &q, 1, 90);
        learn_rounds(twin, &q, 1, 90);
        larger = oltr_policy_copy(p, NULL, NULL);
        assert_int_equal(oltr_policy_resize(&larger, ITEMS + 9, NULL, NULL), OLTR_OK);
        expect_same(p, larger, &q);
        learn_rounds(larger, &q, 90, 120);
        assert_int_equal(counted(larger), ITEMS);
        assert_int_equal(oltr_policy_resize(&p, ITEMS / 2, NULL, NULL), OLTR_OK);
        assert_int_equal(oltr_policy_resize(&twin, ITEMS / 2, NULL, NULL), OLTR_OK);
        assert_int_equal(counted(p), 0);
        expect_near(p, twin, &fewer);
        learn_rounds(p, &fewer, 90, 180);
        learn_rounds(twin, &fewer, 90, 180);
        assert_int_equal(counted(p), ITEMS / 2);
        expect_near(p, twin, &fewer);
        oltr_policy_free(larger);
        oltr_policy_free(p);
        oltr_policy_free(twin);
    }
}

/* Counts of both, of different rows. */
static void counts_merge_and_fade(void **unused)
{
    (void)unused;
    shop s[2] = {shop_of(7), shop_of(8)};
    oltr_policy *p[2], *twin[2];
    for (uint32_t i = 0; i < 2; i++) {
        oltr_query q = query_of(&s[i]);
        p[i] = new_policy(kinds[0], "accept", ITEMS, DIM);
        twin[i] = new_policy(kinds[0], "scale", ITEMS, DIM);
        learn_rounds(p[i], &q, 1, 100 + 50 * i);
        learn_rounds(twin[i], &q, 1, 100 + 50 * i);
        assert_int_equal(counted(p[i]), ITEMS);
    }
    oltr_query q = query_of(&s[0]);
    assert_int_equal(oltr_merge(p[0], p[1]), OLTR_OK);
    assert_int_equal(oltr_merge(twin[0], twin[1]), OLTR_OK);
    expect_near(p[0], twin[0], &q);
    learn_rounds(p[0], &q, 100, 180);
    learn_rounds(twin[0], &q, 100, 180);
    assert_int_equal(counted(p[0]), ITEMS);
    assert_int_equal(oltr_forget(p[0], 0.6), OLTR_OK);
    assert_int_equal(oltr_forget(twin[0], 0.6), OLTR_OK);
    expect_near(p[0], twin[0], &q);
    for (uint32_t i = 0; i < 2; i++) {
        oltr_policy_free(p[i]);
        oltr_policy_free(twin[i]);
    }
}

/* Changes one number of a snapshot with counts. */
static void expect_refused(const image *m, const char *name, size_t number, double value,
                           oltr_status wanted)
{
    unsigned char *forged = exactly(m->size, 1);
    oltr_error error = {0};
    memcpy(forged, m->byte, m->size);
    set_number(forged + array_of_sums(m, name).value + 8 * number, value);
    seal(forged, m->size);
    oltr_policy *p = oltr_load(forged, m->size, &error);
    if (p || error.code != wanted)
        fail_msg("%s %zu of %g: %s", name, number, value, p ? "accepted" : error.msg);
    free(forged);
}

static void impossible_counts_are_refused(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        shop s = shop_of(9);
        oltr_query q = query_of(&s);
        oltr_policy *p = new_policy(kinds[k], "accept", ITEMS, DIM);
        learn_rounds(p, &q, 1, 100);
        image m = image_of(p);
        static const double impossible[] = {-1, ITEMS + 1, 0.5, NAN, INFINITY};
        for (size_t i = 0; i < COUNT(impossible); i++)
            expect_refused(&m, "counted", 0, impossible[i], OLTR_ECORRUPT);
        expect_refused(&m, "counted-weights", 3, -1, OLTR_ESTATE);
        expect_refused(&m, "counted-weights", 3, NAN, OLTR_ESTATE);
        expect_refused(&m, "counted-weights", 3, 1e60, OLTR_ESTATE);
        expect_refused(&m, "counted-rewards", ITEMS - 1, 1e6, OLTR_ESTATE);
        expect_refused(&m, "counted-rewards", ITEMS - 1, -1, OLTR_ESTATE);
        expect_refused(&m, "counted-rows", 5, 1e7, OLTR_ESTATE);
        free(m.byte);
        oltr_policy_free(p);
    }
}

static void instruction_sets_agree(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        image m[3];
        for (uint32_t cpu = 0; cpu < 3; cpu++) {
            shop s = shop_of(10);
            oltr_query q = query_of(&s);
            oltr_cpu_limit(cpu);
            oltr_policy *p = new_policy(kinds[k], "accept", ITEMS, DIM);
            learn_rounds(p, &q, 1, ROUNDS);
            m[cpu] = image_of(p);
            oltr_policy_free(p);
            assert_int_equal(m[cpu].size, m[0].size);
            assert_memory_equal(m[cpu].byte, m[0].byte, m[0].size);
        }
        for (uint32_t cpu = 0; cpu < 3; cpu++)
            free(m[cpu].byte);
        oltr_cpu_limit(oltr_cpu_found());
    }
}

/* ---- many rounds, against sums in long double */

enum { MANY_ITEMS = 120, MANY_DIM = 136, MANY_SLOTS = 10 };

typedef struct history {
    float x[MANY_ITEMS * MANY_DIM];
    double seen[MANY_ITEMS], clicked[MANY_ITEMS];
    long double v[MANY_DIM][MANY_DIM], b[MANY_DIM]; /* V, then its Cholesky factor; then L^-1 b */
} history;

static void play_many(oltr_policy *p, history *h, uint32_t rounds, dice *rng)
{
    oltr_query q = {.n_items = MANY_ITEMS, .dim = MANY_DIM, .x = h->x};
    for (uint32_t t = 0; t < rounds; t++) {
        uint32_t item[MANY_SLOTS], first = below(rng, MANY_ITEMS), n = 1 + below(rng, MANY_SLOTS);
        double reward[MANY_SLOTS] = {0};
        for (uint32_t i = 0; i < MANY_SLOTS; i++)
            item[i] = (first * first / 7 + i * (1 + first % 7)) % MANY_ITEMS;
        reward[n - 1] = unit(rng) < 0.4;
        for (uint32_t i = 0; i < n; i++) {
            h->seen[item[i]]++;
            h->clicked[item[i]] += reward[i];
        }
        oltr_ranking list = {.k = MANY_SLOTS, .item = item};
        oltr_feedback seen = {.n_examined = n, .reward = reward};
        assert_int_equal(oltr_learn(p, &q, &list, &seen), OLTR_OK);
    }
}

static void factor_history(history *h)
{
    for (uint32_t i = 0; i < MANY_DIM; i++)
        for (uint32_t j = 0; j <= i; j++)
            h->v[i][j] = i == j;
    memset(h->b, 0, sizeof h->b);
    for (uint32_t r = 0; r < MANY_ITEMS; r++)
        for (uint32_t i = 0; i < MANY_DIM; i++) {
            long double x = h->x[r * MANY_DIM + i];
            h->b[i] += h->clicked[r] * x;
            for (uint32_t j = 0; j <= i; j++)
                h->v[i][j] += h->seen[r] * x * h->x[r * MANY_DIM + j];
        }
    for (uint32_t j = 0; j < MANY_DIM; j++)
        for (uint32_t i = j; i < MANY_DIM; i++) {
            for (uint32_t k = 0; k < j; k++)
                h->v[i][j] -= h->v[i][k] * h->v[j][k];
            h->v[i][j] = i == j ? sqrtl(h->v[i][i]) : h->v[i][j] / h->v[j][j];
        }
}

static void forward(const history *h, const long double *b, long double *w)
{
    for (uint32_t i = 0; i < MANY_DIM; i++) {
        w[i] = b[i];
        for (uint32_t j = 0; j < i; j++)
            w[i] -= h->v[i][j] * w[j];
        w[i] /= h->v[i][i];
    }
}

/* mean + 0.05 sd of item r, where sigma is 1 */
static double bound_of(const history *h, const long double *u, uint32_t r, double *form)
{
    long double x[MANY_DIM], w[MANY_DIM], mean = 0, square = 0;
    for (uint32_t i = 0; i < MANY_DIM; i++)
        x[i] = h->x[r * MANY_DIM + i];
    forward(h, x, w);
    for (uint32_t i = 0; i < MANY_DIM; i++) {
        mean += w[i] * u[i];
        square += w[i] * w[i];
    }
    *form = (double)square;
    return (double)(mean + 0.05L * sqrtl(square));
}

/* The bound holds mean and form: an error of 1e-9 of the form moves it by 2.5e-11 sd. */
static void many_rounds_stay_exact(void **unused)
{
    static history h;
    static double score[MANY_ITEMS];
    uint32_t item[MANY_ITEMS], rounds = EFFORT > 1 ? 100000 : 2000;
    long double u[MANY_DIM];
    dice rng = {11};
    (void)unused;
    for (uint32_t i = 0; i < MANY_ITEMS * MANY_DIM; i++)
        h.x[i] = (float)((2 * unit(&rng) - 1) / 8);
    oltr_query q = {.n_items = MANY_ITEMS, .dim = MANY_DIM, .x = h.x};
    oltr_policy *p = new_policy(kinds[0], "accept", MANY_ITEMS, MANY_DIM),
                *other = new_policy(kinds[1], "accept", MANY_ITEMS, MANY_DIM);
    play_many(other, &h, rounds, &rng);
    assert_int_equal(oltr_check(other, NULL), OLTR_OK); /* forms within 1e-9 of fresh ones */
    memset(h.seen, 0, sizeof h.seen);
    memset(h.clicked, 0, sizeof h.clicked);
    play_many(p, &h, rounds, &rng);
    assert_int_equal(counted(p), MANY_ITEMS);
    assert_int_equal(oltr_check(p, NULL), OLTR_OK);
    factor_history(&h);
    forward(&h, h.b, u);
    rank_all(p, &q, 1, item, score);
    for (uint32_t i = 0; i < MANY_ITEMS; i++) {
        double form, bound = bound_of(&h, u, item[i], &form);
        if (!(fabs(score[i] - bound) <= 2.5e-11 * sqrt(form)))
            fail_msg("item %u: %.17g, exactly %.17g, sd %g", item[i], score[i], bound, sqrt(form));
    }
    oltr_policy_free(p);
    oltr_policy_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_those_of_the_factor), cmocka_unit_test(copies_go_on),
        cmocka_unit_test(resized_policies_go_on),         cmocka_unit_test(counts_merge_and_fade),
        cmocka_unit_test(impossible_counts_are_refused),  cmocka_unit_test(instruction_sets_agree),
        cmocka_unit_test(many_rounds_stay_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
