/* logts_lives.c - random adversarial lives of logts: whatever it has learned, it is sound, it can
 * be saved, and what was saved can be loaded.
 *
 * Rows mix magnitudes from 1e-30 to 1e6, many are multiples, sums or near copies of others; ridges
 * go down to 1e-9; every kind of weights; few rows are kept; policies are merged and made to
 * forget.
 *
 *   test_conform_logts_lives [first life] [number of lives]
 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <oltr/oltr.h>

enum { MOST_ITEMS = 12, MOST_DIM = 40, POOL = 60 };

typedef struct life {
    uint64_t number;
    oltr_rng rng;
    uint32_t items, dim, fresh; /* fresh: one row in so many is a new one; 0: none */
    double magnitude[4];        /* that rows and features are scaled by */
    double truth[MOST_DIM];
    int clicking; /* by a model, all, none, separable, or at random */
    float pool[POOL][MOST_DIM];
    oltr_settings settings;
    oltr_scratch *scratch;
} life;

#ifdef __SANITIZE_THREAD__ /* for the two threads of one test */
enum { DEFAULT_LIVES = 20 };
#else
enum { DEFAULT_LIVES = 150 };
#endif
static uint64_t first_life = 1, lives = DEFAULT_LIVES;

static uint32_t below(life *l, uint32_t n)
{
    return (uint32_t)(oltr_rng_uniform(&l->rng) * n);
}

static void draw_row(life *l, float *x, uint32_t known)
{
    uint32_t kind = below(l, 8);
    double scale = l->magnitude[below(l, 4)];
    for (uint32_t j = 0; j < l->dim; j++) {
        double feature = scale * oltr_rng_normal(&l->rng) / 4;
        if (kind == 1)
            feature *= l->magnitude[below(l, 4)] / scale; /* features of different units */
        if (kind == 2)
            feature = below(l, l->dim) ? 0 : feature;
        x[j] = (float)fmax(-1e6, fmin(1e6, feature));
    }
    if (kind < 3 || !known)
        return;
    const float *a = l->pool[below(l, known)], *b = l->pool[below(l, known)];
    double by = kind == 3 ? -1 : kind == 4 ? 2 : kind == 5 ? 1 + 1e-7 : oltr_rng_normal(&l->rng);
    for (uint32_t j = 0; kind < 7 && j < l->dim; j++)
        x[j] = (float)fmax(-1e6, fmin(1e6, by * (double)a[j] + (kind == 6 ? (double)b[j] : 0)));
}

static void set(life *l, const char *name, const char *format, double value)
{
    char text[64];
    oltr_error error = {0};
    snprintf(text, sizeof text, format, value);
    if (oltr_settings_set(&l->settings, name, text, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
}

static void draw_settings(life *l)
{
    static const char *const weights[] = {"fresh", "fresh", "stale", "none"};
    static const uint32_t dims[] = {1, 2, 3, 5, 7, 12, 20, 36};
    l->items = 2 + below(l, MOST_ITEMS - 1);
    l->dim = dims[below(l, 8)];
    assert_int_equal(oltr_settings_init(&l->settings, "logts", l->items, NULL), OLTR_OK);
    l->settings.dim = l->dim;
    if (below(l, 3))
        set(l, "lambda", "%.3g", pow(10, -9 + 11 * oltr_rng_uniform(&l->rng)));
    if (below(l, 2))
        set(l, "rows", "%.0f", 1 + below(l, below(l, 2) ? 40 : 4));
    if (below(l, 3) == 0)
        set(l, "drift", "%.3g", below(l, 2) ? 0 : oltr_rng_uniform(&l->rng) / 2);
    assert_int_equal(oltr_settings_set(&l->settings, "weights", weights[below(l, 4)], NULL),
                     OLTR_OK);
}

static oltr_policy *new_policy(const life *l)
{
    oltr_error error = {0};
    oltr_policy *p = oltr_policy_new(&l->settings, &error);
    if (!p)
        fail_msg("life %llu: %s", (unsigned long long)l->number, error.msg);
    return p;
}

static void begin(life *l, uint64_t number)
{
    static const double usual[] = {1, 1, 1, 1, 1e-30, 1e-6, 1e-3, 30, 1e3, 1e6, 1e6};
    memset(l, 0, sizeof *l);
    l->number = number;
    l->rng = oltr_rng_make(number, 77);
    draw_settings(l);
    l->clicking = (int)below(l, 5);
    l->fresh = below(l, 4);
    for (int i = 0; i < 4; i++)
        l->magnitude[i] = usual[below(l, i ? 11 : 4)];
    for (uint32_t j = 0; j < l->dim; j++)
        l->truth[j] = 2 * oltr_rng_normal(&l->rng) / l->magnitude[below(l, 4)];
    for (uint32_t i = 0; i < POOL; i++)
        draw_row(l, l->pool[i], i);
}

static double clicks(life *l, const float *x)
{
    double z = 0;
    for (uint32_t j = 0; j < l->dim; j++)
        z += (double)x[j] * l->truth[j];
    switch (l->clicking) {
    case 0:
        return oltr_rng_uniform(&l->rng) < 1 / (1 + exp(-z));
    case 1:
        return 1;
    case 2:
        return 0;
    case 3:
        return z > 0;
    default:
        return oltr_rng_uniform(&l->rng) < 0.3;
    }
}

static void live_round(life *l, oltr_policy *p)
{
    float x[MOST_ITEMS * MOST_DIM];
    uint32_t item[MOST_ITEMS];
    double score[MOST_ITEMS], reward[MOST_ITEMS];
    oltr_query query = {.n_items = l->items, .dim = l->dim, .x = x};
    oltr_ranking list = {.k = 1 + below(l, l->items), .item = item, .score = score};
    for (uint32_t i = 0; i < l->items; i++)
        if (l->fresh && below(l, l->fresh) == 0)
            draw_row(l, x + (size_t)i * l->dim, POOL);
        else
            memcpy(x + (size_t)i * l->dim, l->pool[below(l, POOL)], l->dim * sizeof *x);
    assert_int_equal(
        oltr_rank(p, &query, oltr_rng_fork(l->rng, oltr_policy_rounds(p)), l->scratch, &list),
        OLTR_OK);
    oltr_feedback seen = {.n_examined = below(l, list.k + 1), .reward = reward};
    for (uint32_t k = 0; k < list.k; k++) {
        assert_true(isfinite(score[k]));
        reward[k] = clicks(l, x + (size_t)item[k] * l->dim);
    }
    assert_int_equal(oltr_learn(p, &query, &list, &seen), OLTR_OK);
}

static void *saved(const oltr_policy *policy, size_t *size)
{
    void *bytes = malloc(oltr_save_bound(policy));
    assert_non_null(bytes);
    assert_int_equal(oltr_save(policy, bytes, oltr_save_bound(policy), size), OLTR_OK);
    return bytes;
}

static oltr_policy *copy_of(const life *l, const oltr_policy *p)
{
    oltr_error error = {0};
    size_t size;
    void *bytes = saved(p, &size);
    oltr_policy *copy = oltr_load(bytes, size, &error);
    if (!copy)
        fail_msg("life %llu, round %llu, dim %u: refused its own snapshot: %s",
                 (unsigned long long)l->number, (unsigned long long)oltr_policy_rounds(p), l->dim,
                 error.msg);
    free(bytes);
    return copy;
}

static void assert_sound(const life *l, const oltr_policy *p, const char *what)
{
    oltr_error error = {0};
    if (oltr_check(p, &error) != OLTR_OK)
        fail_msg("life %llu, round %llu, dim %u: %s is not sound: %s",
                 (unsigned long long)l->number, (unsigned long long)oltr_policy_rounds(p), l->dim,
                 what, error.msg);
}

/* A copy and its original rank and learn the same rounds, and are saved as the same bytes. */
static void assert_go_on_alike(life *l, oltr_policy *p, oltr_policy *copy, uint32_t rounds)
{
    size_t size[2];
    for (uint32_t t = 0; t < rounds; t++) {
        oltr_rng rng = l->rng;
        live_round(l, p);
        l->rng = rng;
        live_round(l, copy);
    }
    void *bytes[2] = {saved(p, &size[0]), saved(copy, &size[1])};
    if (size[0] != size[1] || memcmp(bytes[0], bytes[1], size[0]))
        fail_msg("life %llu, round %llu, dim %u: the copy has become another",
                 (unsigned long long)l->number, (unsigned long long)oltr_policy_rounds(p), l->dim);
    free(bytes[0]);
    free(bytes[1]);
}

static void live(life *l)
{
    oltr_policy *p = new_policy(l), *other = new_policy(l);
    uint32_t parts = 1 + below(l, 4);
    l->scratch = oltr_scratch_new(p);
    assert_non_null(l->scratch);
    for (uint32_t part = 0; part < parts; part++) {
        uint32_t rounds = below(l, below(l, 2) ? 60 : 8), event = below(l, 5);
        for (uint32_t t = 0; t < rounds; t++)
            live_round(l, below(l, 3) ? p : other);
        assert_sound(l, p, "what it has learned");
        if (event == 0)
            assert_int_equal(oltr_forget(p, below(l, 2) ? oltr_rng_uniform(&l->rng) : 1e-300),
                             OLTR_OK);
        if (event == 1)
            assert_int_equal(oltr_merge(p, other), OLTR_OK);
        assert_sound(l, p, event ? "what is merged" : "what is left");
        oltr_policy *copy = copy_of(l, p);
        assert_sound(l, copy, "a copy");
        assert_go_on_alike(l, p, copy, below(l, 20));
        if (event == 2) {
            oltr_policy_free(p);
            p = copy;
        } else {
            oltr_policy_free(copy);
        }
    }
    oltr_scratch_free(l->scratch);
    oltr_policy_free(p);
    oltr_policy_free(other);
}

static void test_lives(void **unused)
{
    static life l;
    (void)unused;
    for (uint64_t number = first_life; number < first_life + lives; number++) {
        begin(&l, number);
        live(&l);
    }
}

/* ---- oltr_check reads only: two threads may check one policy, and the sanitizer for threads finds
 * no race */

static void *checker(void *policy)
{
    for (int i = 0; i < 20; i++)
        if (oltr_check(policy, NULL) != OLTR_OK)
            return policy;
    return NULL;
}

static void test_two_threads_check(void **unused)
{
    static life l;
    (void)unused;
    for (uint64_t number = 1; number <= 6; number++) {
        pthread_t id[2];
        void *failed[2];
        begin(&l, number);
        oltr_policy *p = new_policy(&l);
        l.scratch = oltr_scratch_new(p);
        for (int t = 0; t < 20; t++)
            live_round(&l, p);
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&id[i], NULL, checker, p), 0);
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_join(id[i], &failed[i]), 0);
        assert_true(!failed[0] && !failed[1]);
        oltr_scratch_free(l.scratch);
        oltr_policy_free(p);
    }
}

/* ---- rows: N keeps N rows, also where N is 1 */

static void test_rows_are_counted(void **unused)
{
    static life l;
    size_t size[4];
    (void)unused;
    begin(&l, 1);
    for (int rows = 1; rows <= 3; rows++) {
        set(&l, "rows", "%.0f", rows);
        oltr_policy *p = new_policy(&l);
        l.scratch = oltr_scratch_new(p);
        for (int t = 0; t < 20; t++)
            live_round(&l, p);
        free(saved(p, &size[rows]));
        oltr_scratch_free(l.scratch);
        oltr_policy_free(p);
    }
    assert_true(size[2] > size[1]);
    assert_int_equal(size[3] - size[2], size[2] - size[1]); /* one row each */
}

/* ---- rows that never repeat: a window of them, whatever the number of rounds */

enum { MANY = 100, WINDOW = 300, SHOWN = 3 }; /* features, three single rows for each */

static void learn_fresh_rows(oltr_policy *p, uint64_t first, uint64_t rounds)
{
    static float x[SHOWN * MANY];
    uint32_t item[SHOWN] = {0, 1, 2};
    double click[SHOWN];
    oltr_query query = {.n_items = SHOWN, .dim = MANY, .x = x};
    oltr_ranking list = {.k = SHOWN, .item = item};
    oltr_feedback seen = {.n_examined = SHOWN, .reward = click};
    for (uint64_t t = first; t < first + rounds; t++) {
        oltr_rng rng = oltr_rng_at(oltr_rng_make(8, 0), 1, t);
        for (uint32_t j = 0; j < SHOWN * MANY; j++)
            x[j] = (float)oltr_rng_normal(&rng) / 10;
        for (uint32_t k = 0; k < SHOWN; k++)
            click[k] = oltr_rng_uniform(&rng) < 1 / (1 + exp(-3.0 * (double)x[k * MANY]));
        assert_int_equal(oltr_learn(p, &query, &list, &seen), OLTR_OK);
    }
}

static void test_window_of_fresh_rows(void **unused)
{
    static life l;
    size_t early, late;
    (void)unused;
    assert_int_equal(oltr_settings_init(&l.settings, "logts", SHOWN, NULL), OLTR_OK);
    l.settings.dim = l.dim = MANY;
    oltr_policy *p = new_policy(&l);
    learn_fresh_rows(p, 1, WINDOW / SHOWN - 1);
    free(saved(p, &early));
    learn_fresh_rows(p, WINDOW / SHOWN, 1);
    free(saved(p, &late));
    size_t row = (late - early) / SHOWN; /* bytes of a row in a snapshot */
    assert_true(row >= MANY * sizeof(double));
    oltr_policy *copy = copy_of(&l, p);
    for (uint64_t t = 1; t <= 5;
         t++) { /* rounds of bounded work: sound, and followed by a copy to the bit */
        learn_fresh_rows(p, t * 1000, 40);
        learn_fresh_rows(copy, t * 1000, 40);
        assert_sound(&l, p, "what it has learned");
        size_t size[2];
        void *bytes[2] = {saved(p, &size[0]), saved(copy, &size[1])};
        assert_true(size[0] == size[1] && size[0] == late);
        assert_memory_equal(bytes[0], bytes[1], late);
        free(bytes[0]);
        free(bytes[1]);
    }
    oltr_policy_free(p);
    oltr_policy_free(copy);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lives),
        cmocka_unit_test(test_two_threads_check),
        cmocka_unit_test(test_rows_are_counted),
        cmocka_unit_test(test_window_of_fresh_rows),
    };
    first_life = argc > 1 ? strtoull(argv[1], NULL, 10) : first_life;
    lives = argc > 2 ? strtoull(argv[2], NULL, 10) : lives;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
