/* model_merge.c - many learners, one model: what was learned in parts and merged by name is what
 * one learner would have learned.
 *
 * The parts meet the items in other orders, so the same name has other numbers in each.  Their
 * deltas arrive shuffled and twice, with ids.  For kinds with order_free everything is equal to the
 * bit, name by name; for the others up to rounding, or up to the approximation of the kind.
 */
#include "conform/model_fixtures.h"

enum { PARTS = 7, LESSONS = 40, SLOTS = 5, ITEMS_OF_ALL = 30 };

static variant_list variants;

static bool merges(const variant *v)
{
    return is_model_variant(v) && v->info->can_merge;
}

static bool merges_names(const variant *v)
{
    return merges(v) && !v->info->contextual;
}

static bool merges_and_tells(const variant *v)
{
    return merges_names(v) && takes_prior(v);
}

static bool cannot_merge(const variant *v)
{
    return is_model_variant(v) && !v->info->can_merge;
}

/* ---- the lessons: the same for one learner and for the parts */

typedef struct shown_lesson {
    oltr_name name[SLOTS];
    double reward[SLOTS], weight[SLOTS];
    float x[SLOTS * DIM];
    uint32_t k;
    bool weighted;
} shown_lesson;

/* Lesson t of the log.  Each part begins with other items than the one before. */
static void draw_lesson(const variant *v, uint32_t part, uint32_t t, shown_lesson *out)
{
    dice d = {1000 * part + t};
    uint32_t which[ITEMS_OF_ALL];
    draw_items(&d, ITEMS_OF_ALL - 4 * (t < 10), SLOTS, which);
    out->k = 1 + below(&d, SLOTS);
    out->weighted = v->info->takes_weights && one_in(&d, 4);
    for (uint32_t i = 0; i < out->k; i++) {
        out->name[i] = name_at((which[i] + 5 * part) % ITEMS_OF_ALL);
        out->reward[i] = draw_reward(&d, v->info->rewards, 0.3);
        out->weight[i] = (double)(1 + below(&d, 16)) / 4;
        memcpy(out->x + i * DIM, pool_row(below(&d, POOL)), DIM * sizeof *out->x);
    }
}

static void teach_part(oltr_model *m, const variant *v, uint32_t part)
{
    for (uint32_t t = 0; t < LESSONS; t++) {
        shown_lesson s;
        draw_lesson(v, part, t, &s);
        oltr_lesson lesson = lesson_of(v->info->contextual ? NULL : s.name, s.k, s.reward);
        lesson.shown.x = v->info->contextual ? s.x : NULL;
        lesson.weight = s.weighted ? s.weight : NULL;
        lesson.examine = OLTR_EXAMINE_RULE;
        teach_model(m, &lesson);
    }
}

static oltr_model *one_learner(const variant *v)
{
    oltr_model *m = model_of(v);
    for (uint32_t part = 0; part < PARTS; part++)
        teach_part(m, v, part);
    return m;
}

static void merge_part(oltr_model *into, oltr_model *const *delta, uint32_t part, bool first)
{
    char id[32];
    int applied = -1;
    oltr_error error = {OLTR_OK, ""};
    snprintf(id, sizeof id, "part %u", part);
    if (oltr_model_merge(into, delta[part], name_of_text(id), &applied, &error) != OLTR_OK)
        fail_msg("part %u: %s", part, error.msg);
    assert_int_equal(applied, first);
}

/* Each delta twice, in random order. */
static oltr_model *merged_learners(const variant *v, uint64_t seed)
{
    oltr_model *into = model_of(v), *delta[PARTS];
    uint32_t order[2 * PARTS];
    bool done[PARTS] = {false};
    dice d = {seed};
    for (uint32_t part = 0; part < PARTS; part++) {
        delta[part] = model_of(v);
        teach_part(delta[part], v, part);
        order[2 * part] = order[2 * part + 1] = part;
    }
    shuffle(&d, order, 2 * PARTS);
    for (uint32_t i = 0; i < 2 * PARTS; i++) {
        merge_part(into, delta, order[i], !done[order[i]]);
        done[order[i]] = true;
    }
    for (uint32_t part = 0; part < PARTS; part++)
        oltr_model_free(delta[part]);
    return into;
}

/* ---- comparisons */

/* What rounding, or the approximation of the kind, may change of a belief.  Stale weights are those
 * of the estimate with which a list was shown, so that they depend on the order of the lessons. The
 * factor of a logistic posterior has weights that are off by up to its drift. */
static double tolerance_of(const variant *v)
{
    if (v->info->order_free)
        return 0;
    if (is_kind(v, "logts") && chosen(v, "weights", "stale"))
        return (double)INFINITY;
    return has_logistic_posterior(v->info) ? 1e-3 : 1e-9;
}

static void assert_same_items(const variant *v, const oltr_model *x, const oltr_model *y)
{
    double tolerance = tolerance_of(v);
    assert_int_equal(oltr_model_items(x), oltr_model_items(y));
    for (uint32_t i = 0; i < oltr_model_items(x); i++) {
        oltr_name name = oltr_model_name(x, i);
        assert_true(oltr_model_find(y, name) >= 0);
        oltr_explained a = explain_one(x, name), b = explain_one(y, name);
        assert_true(same_or_nan(a.examined, b.examined) && same_or_nan(a.reward, b.reward));
        if (!v->info->can_predict)
            continue;
        if (!(fabs(a.mean - b.mean) <= tolerance && fabs(a.sd - b.sd) <= tolerance))
            fail_msg("item %u: mean %.17g and %.17g, sd %.17g and %.17g", i, a.mean, b.mean, a.sd,
                     b.sd);
    }
}

static void assert_same_rows(const variant *v, const oltr_model *x, const oltr_model *y)
{
    double mean[2][CANDIDATES], sd[2][CANDIDATES], tolerance = tolerance_of(v);
    float row[CANDIDATES * DIM];
    for (uint32_t i = 0; i < CANDIDATES; i++)
        memcpy(row + i * DIM, pool_row(i), DIM * sizeof *row);
    oltr_list list = {.n = CANDIDATES, .x = row};
    if (!v->info->can_predict)
        return;
    expect(oltr_model_predict(x, &list, mean[0], sd[0], NULL), OLTR_OK);
    expect(oltr_model_predict(y, &list, mean[1], sd[1], NULL), OLTR_OK);
    for (uint32_t i = 0; i < CANDIDATES; i++)
        assert_true(fabs(mean[0][i] - mean[1][i]) <= tolerance &&
                    fabs(sd[0][i] - sd[1][i]) <= tolerance);
}

static void parts_are_as_good_as_one(void **state)
{
    const variant *v = *state;
    oltr_model *one = one_learner(v);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        oltr_model *merged = merged_learners(v, seed);
        assert_int_equal(oltr_model_lessons(merged), oltr_model_lessons(one));
        if (v->info->contextual)
            assert_same_rows(v, merged, one);
        else
            assert_same_items(v, merged, one);
        assert_model_sound(merged);
        oltr_model *again = reload(merged);
        assert_true(same_models(merged, again));
        oltr_model_free(again);
        oltr_model_free(merged);
    }
    oltr_model_free(one);
}

/* ---- priors */

/* An item that both have keeps its prior; a new one brings its own. */
static void priors_come_with_new_items(void **state)
{
    const variant *v = *state;
    oltr_model *into = model_of(v), *from = model_of(v);
    oltr_name name[3] = {name_at(0), name_at(1), name_at(2)};
    double own[2][2], theirs[2][2];
    dice d = {17};
    for (uint32_t i = 0; i < 2; i++) {
        draw_pair(&d, v, own[i]);
        draw_pair(&d, v, theirs[i]);
    }
    expect(oltr_model_prior(into, name, own[0], 2, NULL), OLTR_OK);
    expect(oltr_model_prior(from, name + 1, theirs[0], 2, NULL), OLTR_OK);
    oltr_explained kept = explain_one(into, name[1]), brought = explain_one(from, name[2]);
    expect(oltr_model_merge(into, from, no_id, NULL, NULL), OLTR_OK);
    assert_int_equal(oltr_model_items(into), 3);
    oltr_explained now = explain_one(into, name[1]), new = explain_one(into, name[2]);
    assert_true(same_or_nan(now.prior_mean, kept.prior_mean) &&
                same_or_nan(now.prior_sd, kept.prior_sd));
    if (v->info->order_free)
        assert_true(same_or_nan(new.prior_mean, brought.prior_mean) &&
                    same_or_nan(new.prior_sd, brought.prior_sd));
    assert_model_sound(into);
    oltr_model_free(into);
    oltr_model_free(from);
}

/* ---- what does not belong together */

static void refuse_merge(oltr_model *into, const oltr_model *from, oltr_status wanted)
{
    image before = model_image(into);
    oltr_error error = {OLTR_OK, ""};
    int applied = -1;
    expect_error(oltr_model_merge(into, from, name_of_text("x"), &applied, &error), &error, wanted,
                 "");
    assert_true(strlen(error.msg) > 10);
    assert_true(same_images(before, model_image(into)));
    assert_false(oltr_model_seen(into, name_of_text("x")));
}

static void kinds_that_cannot_merge_say_so(void **state)
{
    oltr_model *into = model_of(*state), *from = model_of(*state);
    refuse_merge(into, from, OLTR_EUNSUPPORTED);
    oltr_model_free(into);
    oltr_model_free(from);
}

static void other_settings_do_not_merge(void **state)
{
    static const char *const pairs[][2] = {
        {"gts", "ts-beta"}, {"gts", "lints"}, {"lints", "cascade-lints"}};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        variant v = variant_of(pairs[i][0]), w = variant_of(pairs[i][1]);
        oltr_model *into = model_of(&v), *from = model_of(&w);
        refuse_merge(into, from, OLTR_EMISMATCH);
        refuse_merge(from, into, OLTR_EMISMATCH);
        oltr_model_free(into);
        oltr_model_free(from);
    }
    variant v = variant_of("gts"), w = with(v, "sigma", 0.25);
    oltr_model *into = model_of(&v), *from = model_of(&w);
    refuse_merge(into, from, OLTR_EMISMATCH);
    oltr_model_free(into);
    oltr_model_free(from);
}

/* The settings that decide nothing about what is learned may differ. */
static void room_may_differ(void **state)
{
    oltr_model_settings s = model_settings_for(*state), t = s;
    t.most_items = 100;
    t.window = 3;
    t.examine = OLTR_EXAMINE_ALL;
    t.name_key[0] = 77;
    oltr_model *into = model_from(&s), *from = model_from(&t);
    teach_many(from, 1, 10, 0, 20);
    expect(oltr_model_merge(into, from, no_id, NULL, NULL), OLTR_OK);
    assert_int_equal(oltr_model_items(into), oltr_model_items(from));
    assert_int_equal(oltr_model_lessons(into), 10);
    oltr_model_free(into);
    oltr_model_free(from);
}

static void all_items_or_none(void **state)
{
    oltr_model_settings s = model_settings_for(*state);
    s.most_items = 20;
    oltr_model *into = model_from(&s), *from = model_from(&s);
    teach_many(into, 1, 30, 0, 15);
    teach_many(from, 2, 30, 10, 15);
    refuse_merge(into, from, OLTR_EFULL);
    oltr_model_free(into);
    oltr_model_free(from);
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ON_SOME_VARIANTS(&all, &variants, parts_are_as_good_as_one, merges);
    ON_SOME_VARIANTS(&all, &variants, priors_come_with_new_items, merges_and_tells);
    ON_SOME_VARIANTS(&all, &variants, kinds_that_cannot_merge_say_so, cannot_merge);
    ON_SOME_VARIANTS(&all, &variants, room_may_differ, merges_names);
    ON_SOME_VARIANTS(&all, &variants, all_items_or_none, merges_names);
    ONCE(&all, other_settings_do_not_merge);
    return cmocka_run_group_tests_name("merging models", all.test, NULL, NULL);
}
