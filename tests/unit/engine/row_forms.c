/* row_forms.c - quadratic forms that are kept: against fresh ones of the same factor over long runs
 * with rows that stay, change, alternate, nearly depend on each other or differ in scale; what is
 * kept and what is not; what a snapshot may hold.
 *
 * OLTR_FORM_ROUNDS=100000 makes the long runs as long as the bound speaks of. */
#define _POSIX_C_SOURCE 200809L
#include "engine/posterior/row_forms.h"

#include <float.h>

#include "support/regression.h"

enum { MOST_SHOWN = 40 };

typedef struct scene {
    uint32_t dim, items;
    linear model;
    row_forms forms;
    void *state;
    float *x;    /* (items, dim) the rows of this round */
    float *twin; /* (items, dim) another set */
    dice rng;

    double *out, *expected, *work;
    float *gather;
} scene;

static scene scene_of(uint32_t items, uint32_t dim, double ridge, uint64_t seed)
{
    scene s = {.dim = dim, .items = items, .rng = {seed}};
    layout l = {0, false};
    s.model = linear_plan(&l, dim, ridge);
    s.forms = row_forms_plan(&l, items, dim);
    s.state = room(layout_bytes(&l), 1);
    linear_refresh(s.state, &s.model);
    s.x = room_for_floats((size_t)items * dim);
    s.twin = room_for_floats((size_t)items * dim);
    random_rows(&s.rng, s.x, items, dim, dim);
    random_rows(&s.rng, s.twin, items, dim, dim);
    s.out = room_for_doubles(items);
    s.expected = room_for_doubles(items);
    s.work = room_for_doubles(ldl_quadratic_work(dim));
    s.gather = room_for_floats((size_t)QUADRATIC_ITEMS * dim);
    return s;
}

static void end_scene(scene *s)
{
    free(s->state);
    free(s->x);
    free(s->twin);
    free(s->out);
    free(s->expected);
    free(s->work);
    free(s->gather);
}

/* One learned round: k rows of the query, the first `examined` with these weights. */
static void learn_list(scene *s, const oltr_candidates *from, const uint32_t *row, uint32_t k,
                       const double *weight)
{
    const float *x[MOST_SHOWN];
    uint32_t item[MOST_SHOWN];
    double y[MOST_SHOWN];
    ldl f = linear_factor(s->state, &s->model);
    bool anew = false;
    for (uint32_t i = 0; i < k; i++) {
        item[i] = from->item ? from->item[row[i]] : row[i];
        x[i] = from->x + row[i] * from->stride;
        y[i] = below(&s->rng, 2);
    }
    oltr_ranking shown = {.k = k, .item = item};
    row_forms_begin(s->state, &s->forms, from, &shown);
    for (uint32_t first = 0; first < k; first += FORMS_BATCH) {
        uint32_t n = k - first < FORMS_BATCH ? k - first : FORMS_BATCH;
        row_forms_correct(s->state, &s->forms, &f, x + first, weight ? weight + first : NULL,
                          item + first, n, true);
        anew |= linear_add(s->state, &s->model, x + first, y + first,
                           weight ? weight + first : NULL, n);
    }
    row_forms_end(s->state, &s->forms, &f, anew);
}

/* k different rows of n, some more often than others. */
static void choose_rows(scene *s, uint32_t n, uint32_t k, uint32_t *row)
{
    for (uint32_t i = 0; i < k; i++) {
        bool again = true;
        while (again) {
            row[i] = below(&s->rng, 1 + below(&s->rng, n));
            again = false;
            for (uint32_t j = 0; j < i; j++)
                again |= row[j] == row[i];
        }
    }
}

static void play(scene *s, const oltr_candidates *from, uint32_t k)
{
    uint32_t row[MOST_SHOWN];
    double weight[MOST_SHOWN];
    for (uint32_t i = 0; i < k; i++)
        weight[i] = 0.1 + 3 * unit(&s->rng);
    choose_rows(s, from->n, k, row);
    learn_list(s, from, row, k, one_in(&s->rng, 2) ? weight : NULL);
}

/* The largest relative difference between what a ranking reads and fresh forms. */
static double worst_of(scene *s, const oltr_candidates *from)
{
    ldl f = linear_factor(s->state, &s->model);
    double worst = 0;
    row_forms_of(s->state, &s->forms, &f, from, s->out, s->gather, s->work);
    ldl_quadratic(&f, from->x, from->stride, from->n, s->expected, s->work);
    for (uint32_t j = 0; j < from->n; j++)
        worst = fmax(worst, fabs(s->out[j] - s->expected[j]) / (s->expected[j] + DBL_MIN));
    return worst;
}

static oltr_candidates all_rows(const scene *s)
{
    return (oltr_candidates){.n = s->items, .x = s->x, .stride = s->dim};
}

static uint32_t long_run(void)
{
    const char *asked = getenv("OLTR_FORM_ROUNDS");
    return asked ? (uint32_t)strtoul(asked, NULL, 10) : 6000;
}

/* ---- long runs */

/* Every row is a mixture of three. */
static void make_collinear(scene *s)
{
    for (uint32_t i = 3; i < s->items; i++)
        for (uint32_t j = 0; j < s->dim; j++)
            s->x[i * s->dim + j] = (float)(i % 3) * s->x[j] + s->x[s->dim + j] / (float)i -
                                   (float)(i % 5) * s->x[2 * s->dim + j];
}

/* Features, and rows, from 1e-3 to 1e3. */
static void mix_scales(scene *s)
{
    for (uint32_t i = 0; i < s->items; i++)
        for (uint32_t j = 0; j < s->dim; j++)
            s->x[i * s->dim + j] *= (float)(pow(10, j % 7 - 3.0) * pow(10, i % 3 - 1.0));
}

static void shorten(scene *s)
{
    for (uint32_t i = 0; i < s->items * s->dim; i++)
        s->x[i] /= (float)sqrt(s->dim);
}

/* Repeats two rows in other units. */
static void repeat_rows(scene *s)
{
    for (uint32_t i = 2; i < s->items; i++)
        for (uint32_t j = 0; j < s->dim; j++)
            s->x[i * s->dim + j] = s->x[i % 2 * s->dim + j] * (float)(1 + i % 4);
}

static void (*const makers[])(scene *) = {shorten, make_collinear, mix_scales, repeat_rows};

static void rows_that_stay(void **unused)
{
    static const double ridges[] = {1, 0.01, 10};
    (void)unused;
    for (uint32_t kind = 0; kind < 4; kind++) {
        scene s = scene_of(40, 36 + kind, ridges[kind % 3], 5 + kind);
        double worst = 0;
        makers[kind](&s);
        oltr_candidates from = all_rows(&s);
        for (uint32_t t = 0; t < long_run(); t++) {
            play(&s, &from, 1 + below(&s.rng, 5));
            if (t % 97 == 0)
                worst = fmax(worst, worst_of(&s, &from));
        }
        worst = fmax(worst, worst_of(&s, &from));
        print_message("rows that stay, kind %u: largest relative error %.1e\n", kind, worst);
        assert_true(worst < 1e-9);
        assert_int_equal((int)s.forms.watch.kept, s.items);
        ldl f = linear_factor(s.state, &s.model);
        assert_int_equal(row_forms_check(s.state, &s.forms, &f, NULL), OLTR_OK);
        end_scene(&s);
    }
}

/* A feature of one row changes now and then; the others keep their forms. */
static void one_feature_changes(void **unused)
{
    (void)unused;
    scene s = scene_of(50, 40, 1, 11);
    oltr_candidates from = all_rows(&s);
    for (uint32_t t = 0; t < 3000; t++) {
        if (one_in(&s.rng, 3))
            s.x[below(&s.rng, s.items * s.dim)] = (float)unit(&s.rng);
        assert_true(worst_of(&s, &from) < 1e-9);
        play(&s, &from, 3);
    }
    assert_true(s.forms.watch.kept > 0.5 * s.items);
    end_scene(&s);
}

/* A bit that compares equal as a number, and a change that is not shown. */
static void rows_are_compared_by_bits(void **unused)
{
    (void)unused;
    scene s = scene_of(30, 32, 1, 12);
    oltr_candidates from = all_rows(&s);
    uint32_t first = 0;
    s.x[29 * 32 + 5] = 0.0F;
    for (uint32_t t = 0; t < 5; t++)
        learn_list(&s, &from, &first, 1, NULL);
    assert_int_equal((int)s.forms.watch.kept, 30);
    s.x[29 * 32 + 5] = -0.0F;
    s.x[28 * 32 + 31] += 0.25F;
    assert_true(worst_of(&s, &from) < 1e-12);
    for (uint32_t t = 0; t < 40; t++) {
        learn_list(&s, &from, &first, 1, NULL);
        assert_true(worst_of(&s, &from) < 1e-9);
    }
    assert_int_equal((int)s.forms.watch.kept, 30);
    end_scene(&s);
}

/* Two sets of rows in turn, for 1 to 40 rounds each. */
static void sets_alternate(void **unused)
{
    (void)unused;
    scene s = scene_of(30, 33, 0.5, 13);
    for (uint32_t t = 0, left = 0; t < 3000; t++) {
        if (left-- == 0) {
            float *other = s.twin;
            s.twin = s.x;
            s.x = other;
            left = t < 500 ? 0 : below(&s.rng, 40);
        }
        oltr_candidates from = all_rows(&s);
        assert_true(worst_of(&s, &from) < 1e-9);
        play(&s, &from, 4);
    }
    end_scene(&s);
}

/* Rows that always change: nothing is computed in vain, and looked at seldom. */
static void rows_that_change(void **unused)
{
    (void)unused;
    scene s = scene_of(30, 33, 0.5, 14);
    oltr_candidates from = all_rows(&s);
    for (uint32_t t = 0; t < 300; t++) {
        random_rows(&s.rng, s.x, s.items, s.dim, s.dim);
        play(&s, &from, 4);
        assert_int_equal((int)s.forms.watch.kept, 0);
        assert_true(worst_of(&s, &from) <= 0);
    }
    assert_int_equal((int)s.forms.watch.patience, 16);
    for (uint32_t t = 0; t < 36; t++)
        play(&s, &from, 4);
    assert_int_equal((int)s.forms.watch.kept, 30);
    end_scene(&s);
}

/* Fewer candidates, named ones in another order, more of them than there is room for. */
static void candidates_vary(void **unused)
{
    (void)unused;
    scene s = scene_of(60, 34, 1, 15);
    uint32_t item[60];
    float *x = room_for_floats(60 * 37);
    s.forms.rows = 50;
    for (uint32_t t = 0; t < 4000; t++) {
        uint32_t n = 5 + below(&s.rng, 56), shift = below(&s.rng, 60) * (t % 100 == 0);
        for (uint32_t j = 0; j < n; j++) {
            item[j] = (j + shift) % 60;
            memcpy(x + j * 37, s.x + item[j] * s.dim, s.dim * sizeof *x);
        }
        uint32_t mark[60];
        for (uint32_t j = 0; j < n; j++)
            mark[item[j]] = 7 + j;
        oltr_candidates from = {
            .n = n, .item = item, .x = x, .stride = 37, .mark = mark, .base = 7};
        for (uint32_t again = below(&s.rng, 6); again < 6; again++) {
            assert_true(worst_of(&s, &from) < 1e-9);
            play(&s, &from, 3);
        }
    }
    free(x);
    end_scene(&s);
}

/* More rows than a batch, weights of 0, and rows that no policy would show. */
static void unusual_rounds(void **unused)
{
    (void)unused;
    scene s = scene_of(45, 32, 1, 16);
    oltr_candidates from = all_rows(&s);
    double weight[MOST_SHOWN] = {0};
    uint32_t row[MOST_SHOWN];
    for (uint32_t t = 0; t < 30; t++) {
        choose_rows(&s, 40, MOST_SHOWN, row);
        learn_list(&s, &from, row, MOST_SHOWN, t % 3 ? NULL : weight);
        assert_true(worst_of(&s, &from) < 1e-9);
    }
    s.x[44 * 32] = NAN;
    s.x[43 * 32] = 2e6F;
    for (uint32_t t = 0; t < 30; t++) {
        choose_rows(&s, 40, 4, row);
        learn_list(&s, &from, row, 4, NULL);
    }
    assert_int_equal((int)s.forms.watch.kept, 43);
    from.n = 43;
    assert_true(worst_of(&s, &from) < 1e-9);
    end_scene(&s);
}

/* A wrong form of an observed row is noticed, and all are computed anew. */
static void wrong_forms_are_noticed(void **unused)
{
    (void)unused;
    scene s = scene_of(40, 40, 1, 17);
    oltr_candidates from = all_rows(&s);
    uint32_t shown = 3;
    for (uint32_t t = 0; t < 10; t++)
        play(&s, &from, 3);
    ldl f = linear_factor(s.state, &s.model);
    for (uint32_t i = 0; i < 40; i++)
        doubles_at(s.state, s.forms.row)[3 * i] *= 1 + 2e-9;
    assert_int_equal(row_forms_check(s.state, &s.forms, &f, NULL), OLTR_ESTATE);
    learn_list(&s, &from, &shown, 1, NULL);
    assert_int_equal(row_forms_check(s.state, &s.forms, &f, NULL), OLTR_OK);
    end_scene(&s);
}

/* ---- snapshots */

static void impossible_numbers_are_refused(void **unused)
{
    (void)unused;
    scene s = scene_of(40, 40, 1, 18);
    oltr_candidates from = all_rows(&s);
    oltr_sum_array list[FORMS_DERIVED];
    for (uint32_t t = 0; t < 10; t++)
        play(&s, &from, 3);
    ldl f = linear_factor(s.state, &s.model);
    assert_int_equal(row_forms_list(s.state, &s.forms, list), FORMS_DERIVED);
    assert_int_equal(list[1].n, 40 * 40);
    assert_int_equal(row_forms_resume(s.state, &s.forms, &f, NULL), OLTR_OK);
    assert_int_equal((int)s.forms.watch.kept, 40);
    for (size_t i = 0; i < list[0].n; i++) {
        double good = list[0].value[i], bad[] = {-1, NAN, 0.5 + good, 1e300};
        for (size_t k = 0; k < 4; k++) {
            list[0].value[i] = bad[k];
            if (i != 7 || k != 2)
                assert_int_equal(row_forms_resume(s.state, &s.forms, &f, NULL), OLTR_ESTATE);
        }
        list[0].value[i] = good;
    }
    list[1].single[5] = NAN;
    assert_int_equal(row_forms_resume(s.state, &s.forms, &f, NULL), OLTR_ESTATE);
    list[1].single[5] = 0.125F; /* another row: forms do not fit, and are dropped */
    assert_int_equal(row_forms_resume(s.state, &s.forms, &f, NULL), OLTR_OK);
    assert_int_equal((int)s.forms.watch.kept, 0);
    assert_true(worst_of(&s, &from) <= 0);
    end_scene(&s);
}

static void few_features_keep_nothing(void **unused)
{
    (void)unused;
    scene s = scene_of(40, 31, 1, 19);
    oltr_candidates from = all_rows(&s);
    oltr_sum_array list[FORMS_DERIVED];
    for (uint32_t t = 0; t < 10; t++)
        play(&s, &from, 3);
    assert_int_equal(s.forms.rows, 0);
    assert_int_equal(row_forms_list(s.state, &s.forms, list), 0);
    assert_true(worst_of(&s, &from) <= 0);
    end_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_stay),
        cmocka_unit_test(one_feature_changes),
        cmocka_unit_test(rows_are_compared_by_bits),
        cmocka_unit_test(sets_alternate),
        cmocka_unit_test(rows_that_change),
        cmocka_unit_test(candidates_vary),
        cmocka_unit_test(unusual_rounds),
        cmocka_unit_test(wrong_forms_are_noticed),
        cmocka_unit_test(impossible_numbers_are_refused),
        cmocka_unit_test(few_features_keep_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
