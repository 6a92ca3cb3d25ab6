/* model_faults.c - where a model did not do what oltr/model.h says.
 *
 * One test for each disagreement that the comparisons with the twin and the other tests of models
 * have found, by the words of the header.  A test stays here when the fault is gone.
 */
#include "conform/model_fixtures.h"

static variant_list variants;

static oltr_model *told_model(void)
{
    variant v = with_prior(variant_of("gts"), MOMENTS);
    return model_of(&v);
}

static oltr_lesson lesson_on(oltr_name name[4], const double *reward, uint32_t examine)
{
    for (uint32_t i = 0; i < 4; i++)
        name[i] = name_at(20 + i);
    oltr_lesson lesson = lesson_of(name, 4, reward);
    lesson.examine = examine;
    return lesson;
}

static void assert_examined(const oltr_model *m, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t wanted[] = {a, b, c, d};
    for (uint32_t i = 0; i < 4; i++) {
        double examined = explain_one(m, name_at(20 + i)).examined;
        if (!same_number(examined, wanted[i]))
            fail_msg("slot %u has %g observations, expected are %u", i, examined, wanted[i]);
    }
}

/* "down to the last click, all without one" */
static void the_rule_of_the_last_click(void **state)
{
    static const double rewards[][4] = {{1, 0, 0, 1}, {1, 1, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}};
    oltr_name name[4];
    for (uint32_t i = 0; i < COUNT(rewards); i++) {
        oltr_model *m = told_model();
        oltr_lesson lesson = lesson_on(name, rewards[i], OLTR_EXAMINE_LAST);
        teach_model(m, &lesson);
        assert_examined(m, 1, 1, 1, 1);
        oltr_model_free(m);
    }
}

/* "A slot is clicked when its reward is above 0": other rewards may be left out. */
static void only_clicks_must_be_examined(void **state)
{
    static const double reward[4] = {0, 1, -2, 0};
    static const uint8_t mask[4] = {1, 1, 0, 0};
    oltr_name name[4];
    oltr_model *m = told_model();
    oltr_lesson lesson = lesson_on(name, reward, OLTR_EXAMINE_DEPTH);
    lesson.depth = 2;
    teach_model(m, &lesson);
    lesson.examine = OLTR_EXAMINE_MASK;
    lesson.examined = mask;
    teach_model(m, &lesson);
    assert_examined(m, 2, 2, 0, 0);
    oltr_model_free(m);
}

/* last is "lessons when it was last shown or, before that, when it was added": trimming leaves an
 * item that was just given a prior. */
static void new_items_are_not_trimmed(void **state)
{
    oltr_model *m = told_model();
    oltr_name name = name_at(30);
    const double pair[2] = {0.5, 0.125};
    uint32_t removed;
    teach_many(m, 1, 5, 0, 4);
    expect(oltr_model_prior(m, &name, pair, 1, NULL), OLTR_OK);
    assert_int_equal(explain_one(m, name).last, 5);
    expect(oltr_model_trim(m, 1, &removed, NULL), OLTR_OK);
    assert_true(oltr_model_find(m, name) >= 0);
    oltr_model_free(m);
}

/* After a merge an item has been idle for as many lessons as in the model that showed it last. */
static void a_merge_keeps_how_long_items_are_idle(void **state)
{
    oltr_model *m = told_model(), *from = told_model();
    oltr_name never = name_at(30);
    const double pair[2] = {0.5, 0.125};
    teach_many(m, 1, 3, 0, 4);
    expect(oltr_model_prior(m, &never, pair, 1, NULL), OLTR_OK);
    teach_many(m, 2, 2, 0, 4);
    teach_many(from, 3, 5, 0, 4);
    expect(oltr_model_merge(m, from, no_id, NULL, NULL), OLTR_OK);
    assert_int_equal(oltr_model_lessons(m) - explain_one(m, never).last, 2);
    oltr_model_free(m);
    oltr_model_free(from);
}

/* A pair that is no prior has one status, whatever is wrong with it. */
static void bad_pairs_are_bad_priors(void **state)
{
    static const double bad[][2] = {
        {(double)NAN, 0.1},      {0.5, (double)NAN}, {(double)INFINITY, 0.1},
        {0.5, (double)INFINITY}, {0.5, -0.1},        {1e80, 0.1}};
    oltr_model *m = told_model();
    oltr_name name = name_at(30);
    for (size_t i = 0; i < COUNT(bad); i++)
        expect(oltr_model_prior(m, &name, bad[i], 1, NULL), OLTR_EPRIOR);
    oltr_model_free(m);
}

/* "Numbers that a kind does not have are NAN." */
static void every_kind_explains(void **state)
{
    const variant *v = *state;
    oltr_model *m = model_of(v);
    oltr_explained out[2];
    oltr_name name[2] = {name_at(0), name_at(1)};
    float x[2 * DIM] = {0.25f};
    oltr_list list = {.n = 2, .name = name};
    if (v->info->contextual)
        list = (oltr_list){.n = 2, .x = x};
    teach_many(m, 1, 5, 0, 4);
    expect(oltr_model_explain(m, &list, out, NULL), OLTR_OK);
    assert_int_equal(isnan(out[0].mean), !v->info->can_predict);
    assert_int_equal(isnan(out[0].sd), !v->info->can_predict);
    oltr_model_free(m);
}

/* prior_mean and prior_sd are "what was believed before the first of them", whichever items are
 * asked for together, and stay so while the model learns. */
static void the_prior_is_the_first_belief(void **state)
{
    static const double pair[6] = {3, 9, 1, 19, 0.5, 40};
    variant v = with_prior(variant_of("ts-hyper"), SHAPES);
    oltr_model *m = model_of(&v);
    oltr_name name[3] = {name_at(0), name_at(1), name_at(2)};
    oltr_list list = list_of(name, 3);
    oltr_explained first[3], later[3];
    expect(oltr_model_prior(m, name, pair, 3, NULL), OLTR_OK);
    expect(oltr_model_explain(m, &list, first, NULL), OLTR_OK);
    teach_many(m, 1, 20, 0, 4);
    expect(oltr_model_explain(m, &list, later, NULL), OLTR_OK);
    for (uint32_t i = 0; i < 3; i++) {
        oltr_explained alone = explain_one(m, name[i]);
        assert_true(fabs(first[i].prior_mean - first[i].mean) <= 1e-12);
        assert_true(fabs(first[i].prior_sd - first[i].sd) <= 1e-12);
        assert_true(fabs(later[i].prior_mean - first[i].mean) <= 1e-12);
        assert_true(fabs(alone.prior_mean - first[i].mean) <= 1e-12);
        assert_true(fabs(alone.prior_sd - first[i].sd) <= 1e-12);
    }
    oltr_model_free(m);
}

/* A list may be longer than the room that the model has for items. */
static void long_lists_of_unknown_names(void **state)
{
    const variant *v = *state;
    oltr_model *m = model_of(v);
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    oltr_name name[NAMES];
    double mean[NAMES], sd[NAMES], chance[NAMES];
    uint32_t place[NAMES];
    oltr_explained out[NAMES];
    for (uint32_t i = 0; i < NAMES; i++)
        name[i] = name_at(i);
    oltr_list list = list_of(name, NAMES);
    oltr_show show = {.k = NAMES, .place = place};
    expect(oltr_model_rank(m, &list, rng_of(1), scratch, &show, NULL), OLTR_OK);
    assert_int_equal(show.k, NAMES);
    expect(oltr_model_propensity(m, &list, &show, 2, rng_of(1), scratch, chance, NULL, NULL),
           OLTR_OK);
    expect(oltr_model_explain(m, &list, out, NULL), OLTR_OK);
    expect(oltr_model_predict(m, &list, mean, sd, NULL),
           v->info->can_predict ? OLTR_OK : OLTR_EUNSUPPORTED);
    oltr_model_scratch_free(scratch);
    oltr_model_free(m);
}

/* ---- settings */

static void *take_some(void *with, size_t bytes, size_t align)
{
    ++*(int *)with;
    return NULL;
}

/* As of a policy: a hook has both functions, or neither is called. */
static void half_a_hook_is_refused(void **state)
{
    variant v = with_prior(variant_of("gts"), MOMENTS);
    oltr_model_settings s = model_settings_for(&v);
    int called = 0;
    oltr_error error = {OLTR_OK, ""};
    s.policy.memory = &(oltr_memory){.take = take_some, .with = &called};
    assert_null(oltr_model_new(&s, &error));
    assert_int_equal(called, 0);
    expect_error(error.code, &error, OLTR_EINVAL, "take and give");
}

static void zero_is_refused_by_text(void **state)
{
    oltr_model_settings s;
    expect(oltr_model_settings_init(&s, "lints", NULL), OLTR_OK);
    expect(oltr_model_settings_set(&s, "most_items", "0", NULL), OLTR_EVALUE);
    expect(oltr_model_settings_set(&s, "dim", "0", NULL), OLTR_EVALUE);
    expect(oltr_model_settings_set(&s, "candidates", "0", NULL), OLTR_EVALUE);
    expect(oltr_model_settings_set(&s, "window", "0", NULL), OLTR_OK);
}

/* A sentence "that names the slot, the item or the option that was wrong". */
static void sentences_name_what_is_wrong(void **state)
{
    static const double reward[4] = {0};
    oltr_name name[4];
    oltr_model *m = told_model();
    oltr_error error = {OLTR_OK, ""};
    oltr_lesson lesson = lesson_on(name, reward, OLTR_EXAMINE_ALL);
    name[3] = name[1];
    expect_error(oltr_model_learn(m, &lesson, NULL, &error), &error, OLTR_ENAME, "3");
    const double pair[4][2] = {{0.5, 0.1}, {0.5, 0.1}, {0.5, 0.1}, {0.5, 0.1}};
    expect_error(oltr_model_prior(m, name, pair[0], 4, &error), &error, OLTR_ENAME, "3");
    lesson = lesson_on(name, reward, OLTR_EXAMINE_ALL);
    lesson.reserved[0] = m;
    expect_error(oltr_model_learn(m, &lesson, NULL, &error), &error, OLTR_EINVAL, "reserved");
    oltr_model_settings s = *oltr_model_settings_of(m);
    s.reserved[0] = 1;
    assert_null(oltr_model_new(&s, &error));
    expect_error(error.code, &error, OLTR_EINVAL, "reserved");
    s.reserved[0] = 0;
    s.size += 8;
    assert_null(oltr_model_new(&s, &error));
    expect_error(error.code, &error, OLTR_EINVAL, "newer");
    oltr_model_free(m);
}

/* The sentence says which place of the list is wrong. */
static void wrong_places_are_named(void **state)
{
    static const uint32_t beyond[] = {1, 0, 7}, twice[] = {1, 0, 1};
    oltr_model *m = told_model();
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    oltr_name name[3] = {name_at(20), name_at(21), name_at(22)};
    oltr_list list = list_of(name, 3);
    oltr_error error = {OLTR_OK, ""};
    double chance[3];
    expect_error(oltr_model_list_propensity(m, &list, beyond, 3, 0, scratch, chance, &error),
                 &error, OLTR_EITEM, "7");
    expect_error(oltr_model_list_propensity(m, &list, twice, 3, 0, scratch, chance, &error), &error,
                 OLTR_EITEM, "slot 2");
    oltr_model_scratch_free(scratch);
    oltr_model_free(m);
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ONCE(&all, the_rule_of_the_last_click);
    ONCE(&all, only_clicks_must_be_examined);
    ONCE(&all, new_items_are_not_trimmed);
    ONCE(&all, a_merge_keeps_how_long_items_are_idle);
    ONCE(&all, bad_pairs_are_bad_priors);
    ONCE(&all, the_prior_is_the_first_belief);
    ON_SOME_VARIANTS(&all, &variants, every_kind_explains, is_common_variant);
    ON_SOME_VARIANTS(&all, &variants, long_lists_of_unknown_names, is_named_variant);
    ONCE(&all, half_a_hook_is_refused);
    ONCE(&all, zero_is_refused_by_text);
    ONCE(&all, sentences_name_what_is_wrong);
    ONCE(&all, wrong_places_are_named);
    return cmocka_run_group_tests_name("faults of models", all.test, NULL, NULL);
}
