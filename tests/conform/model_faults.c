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

/* "Candidates, or what was shown: names; ... or, all zero, every item of the model." */
static void all_items_may_have_been_shown(void **state)
{
    static const double reward[4] = {0, 1, 0, 0};
    oltr_name name[4];
    oltr_model *m = told_model(), *same = told_model();
    oltr_lesson lesson = lesson_on(name, reward, OLTR_EXAMINE_ALL);
    for (int i = 0; i < 2; i++) {
        teach_model(same, &lesson);
        if (i == 1)
            lesson.shown = (oltr_list){0};
        teach_model(m, &lesson);
    }
    assert_true(same_models(m, same));
    assert_int_equal(explain_one(m, name[3]).last, 2);
    oltr_model_free(m);
    oltr_model_free(same);
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

/* last is "the number of the last lesson that showed it; 0: none". */
static void a_prior_is_no_lesson(void **state)
{
    oltr_model *m = told_model();
    oltr_name name = name_at(30);
    const double pair[2] = {0.5, 0.125};
    teach_many(m, 1, 5, 0, 4);
    expect(oltr_model_prior(m, &name, pair, 1, NULL), OLTR_OK);
    assert_int_equal(explain_one(m, name).last, 0);
    oltr_model_free(m);
}

static void after_a_reset_no_lesson_has_shown_an_item(void **state)
{
    static const double reward[4] = {0};
    oltr_name name[4];
    oltr_model *m = told_model();
    oltr_lesson lesson = lesson_on(name, reward, OLTR_EXAMINE_ALL);
    teach_model(m, &lesson);
    expect(oltr_model_reset(m, name, 1, NULL, NULL), OLTR_OK); /* "as if never shown" */
    assert_int_equal(explain_one(m, name[0]).last, 0);
    assert_int_equal(explain_one(m, name[1]).last, 1);
    oltr_model_free(m);
}

/* Merging shows nothing either. */
static void a_merge_is_no_lesson(void **state)
{
    oltr_model *m = told_model(), *from = told_model();
    oltr_name never = name_at(30);
    const double pair[2] = {0.5, 0.125};
    expect(oltr_model_prior(m, &never, pair, 1, NULL), OLTR_OK);
    teach_many(from, 1, 5, 0, 4);
    expect(oltr_model_merge(m, from, no_id, NULL, NULL), OLTR_OK);
    assert_int_equal(explain_one(m, never).last, 0);
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

/* "No name occurs twice", in any list. */
static void no_list_has_a_name_twice(void **state)
{
    oltr_model *m = told_model();
    teach_many(m, 1, 5, 0, 4);
    for (uint32_t known = 0; known < 2; known++) {
        oltr_name name[3] = {name_at(known ? 0 : 40), name_at(1), name_at(known ? 0 : 40)};
        oltr_list list = list_of(name, 3);
        double mean[3];
        oltr_explained out[3];
        expect(oltr_model_predict(m, &list, mean, NULL, NULL), OLTR_ENAME);
        expect(oltr_model_explain(m, &list, out, NULL), OLTR_ENAME);
    }
    oltr_model_free(m);
}

/* "The same text draws the same noise for the same item": also for one that is not learned yet,
 * wherever it is in the list. */
static void unknown_items_keep_their_noise(void **state)
{
    oltr_model *m = told_model();
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    oltr_name name[2] = {name_of_text("apple"), name_of_text("pear")},
              turned[2] = {name[1], name[0]};
    oltr_list list = list_of(name, 2), other = list_of(turned, 2);
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t place[2][2];
        double score[2][2];
        oltr_show show = {.k = 2, .place = place[0], .score = score[0]};
        expect(oltr_model_rank(m, &list, rng_of(i), scratch, &show, NULL), OLTR_OK);
        show = (oltr_show){.k = 2, .place = place[1], .score = score[1]};
        expect(oltr_model_rank(m, &other, rng_of(i), scratch, &show, NULL), OLTR_OK);
        assert_int_equal(place[0][0], 1 - place[1][0]);
        assert_true(same_number(score[0][0], score[1][0]));
    }
    oltr_model_scratch_free(scratch);
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

int main(void)
{
    static suite all;
    list_variants(&variants);
    ONCE(&all, the_rule_of_the_last_click);
    ONCE(&all, all_items_may_have_been_shown);
    ONCE(&all, only_clicks_must_be_examined);
    ONCE(&all, a_prior_is_no_lesson);
    ONCE(&all, after_a_reset_no_lesson_has_shown_an_item);
    ONCE(&all, a_merge_is_no_lesson);
    ONCE(&all, bad_pairs_are_bad_priors);
    ON_SOME_VARIANTS(&all, &variants, every_kind_explains, is_common_variant);
    ONCE(&all, no_list_has_a_name_twice);
    ONCE(&all, unknown_items_keep_their_noise);
    ON_SOME_VARIANTS(&all, &variants, long_lists_of_unknown_names, is_named_variant);
    ONCE(&all, half_a_hook_is_refused);
    ONCE(&all, zero_is_refused_by_text);
    ONCE(&all, sentences_name_what_is_wrong);
    return cmocka_run_group_tests_name("faults of models", all.test, NULL, NULL);
}
