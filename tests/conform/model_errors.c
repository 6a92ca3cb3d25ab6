/* model_errors.c - what a model refuses, and what it says: every status and every message.
 *
 * A refusal has a status, a sentence that names the slot, the item or the option, and leaves the
 * image as it was.  Every `error` and every `applied` may be NULL.
 */
#include "conform/model_fixtures.h"
#include "engine/model/model_parts.h"
#include "engine/policy/settings.h"
#include "support/model_image.h"

enum { MANY = OLTR_MOST_SHOWN + 1 };

static variant gts_variant(void)
{
    return with_prior(variant_of("gts"), MOMENTS);
}

static oltr_model *gts_model(void)
{
    variant v = gts_variant();
    oltr_model *m = model_of(&v);
    teach_many(m, 1, 10, 20, 5);
    return m;
}

static oltr_model *plain_model(const char *kind)
{
    variant v = variant_of(kind);
    return model_of(&v);
}

/* ---- settings */

static void refuse_setting(const char *kind, const char *name, const char *text, oltr_status wanted)
{
    oltr_model_settings s, before;
    oltr_error error = {OLTR_OK, ""};
    expect(oltr_model_settings_init(&s, kind, NULL), OLTR_OK);
    before = s;
    expect_error(oltr_model_settings_set(&s, name, text, &error), &error, wanted, name);
    assert_memory_equal(&s, &before, sizeof s);
    expect(oltr_model_settings_set(&s, name, text, NULL), wanted);
}

static void settings_by_text(void **state)
{
    oltr_model_settings s;
    oltr_error error = {OLTR_OK, ""};
    expect(oltr_model_settings_init(&s, "gts", &error), OLTR_OK);
    assert_int_equal(s.most_items, 1 << 20);
    assert_int_equal(s.window, 65536);
    assert_int_equal(s.examine, OLTR_EXAMINE_CASCADE);
    assert_int_equal(s.size, sizeof s);
    assert_true(isnan(s.prior[0]) && isnan(s.prior[1]));
    expect(oltr_model_settings_set(&s, "most_items", "77", &error), OLTR_OK);
    expect(oltr_model_settings_set(&s, "window", "99", &error), OLTR_OK);
    expect(oltr_model_settings_set(&s, "examine", "last", &error), OLTR_OK);
    expect(oltr_model_settings_set(&s, "default_prior", "0.02,0.01", &error), OLTR_OK);
    expect(oltr_model_settings_set(&s, "prior", "full", &error), OLTR_OK);
    expect(oltr_model_settings_set(&s, "sigma", "0.25", &error), OLTR_OK);
    assert_int_equal(s.most_items, 77);
    assert_int_equal(s.window, 99);
    assert_int_equal(s.examine, OLTR_EXAMINE_LAST);
    assert_true(same_number(s.prior[0], 0.02) && same_number(s.prior[1], 0.01));
    oltr_model *m = model_from(&s);
    assert_int_equal(oltr_model_settings_of(m)->most_items, 77);
    assert_true(same_number(oltr_model_settings_of(m)->prior[1], 0.01));
    oltr_model_free(m);
    expect(oltr_model_settings_set(&s, "default_prior", "none", &error), OLTR_OK);
    assert_true(isnan(s.prior[0]) && isnan(s.prior[1]));
    expect(oltr_model_settings_set(&s, "examine", "all", &error), OLTR_OK);
    expect(oltr_model_settings_set(&s, "examine", "cascade", &error), OLTR_OK);
    expect(oltr_model_settings_init(&s, "lints", &error), OLTR_OK);
    assert_int_equal(s.policy.n_items, 1024);
    expect(oltr_model_settings_set(&s, "dim", "5", &error), OLTR_OK);
    expect(oltr_model_settings_set(&s, "candidates", "33", &error), OLTR_OK);
    assert_int_equal(s.policy.dim, 5);
    assert_int_equal(s.policy.n_items, 33);
}

static void bad_settings_by_text(void **state)
{
    static const char *const numbers[] = {"", "x", "1x", "-1", "1.5", "nan", "16777217", "1e30"};
    static const char *const priors[] = {"", "1", "a,b", "0.1,", ",0.1", "0.1,0.2,0.3", "nan,nan"};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        refuse_setting("gts", "most_items", numbers[i], OLTR_EVALUE);
        refuse_setting("gts", "window", numbers[i], OLTR_EVALUE);
    }
    for (size_t i = 0; i < COUNT(priors); i++)
        refuse_setting("gts", "default_prior", priors[i], OLTR_EVALUE);
    refuse_setting("gts", "examine", "depth", OLTR_EVALUE);
    refuse_setting("gts", "examine", "", OLTR_EVALUE);
    refuse_setting("gts", "sigma", "-1", OLTR_EVALUE);
    refuse_setting("gts", "sigmoid", "1", OLTR_EPARAM);
    refuse_setting("lints", "dim", "4097", OLTR_EVALUE);
    refuse_setting("lints", "candidates", "-3", OLTR_EVALUE);
    oltr_model_settings s;
    oltr_error error = {OLTR_OK, ""};
    expect(oltr_model_settings_init(&s, "gtss", &error), OLTR_EKIND);
    assert_non_null(strstr(error.msg, "gts"));
    expect(oltr_model_settings_init(NULL, "gts", &error), OLTR_EINVAL);
    expect(oltr_model_settings_init(&s, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_settings_init(&s, "gts", NULL), OLTR_OK);
    expect(oltr_model_settings_set(&s, NULL, "1", &error), OLTR_EINVAL);
    expect(oltr_model_settings_set(&s, "window", NULL, &error), OLTR_EINVAL);
    expect(oltr_model_settings_set(NULL, "window", "1", &error), OLTR_EINVAL);
}

/* ---- making models */

static void refuse_new(const oltr_model_settings *s, oltr_status wanted, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_model_new(s, &error));
    expect_error(error.code, &error, wanted, words);
    assert_true(strlen(error.msg) > 10);
    assert_null(oltr_model_new(s, NULL));
}

static void *take_nothing(void *with, size_t bytes, size_t align)
{
    return NULL;
}

static void settings_that_make_no_model(void **state)
{
    variant v = gts_variant();
    const oltr_model_settings good = model_settings_for(&v);
    oltr_model_settings s = good;
    refuse_new(NULL, OLTR_EINVAL, "settings");
    s.size = 12;
    refuse_new(&s, OLTR_EINVAL, "oltr_model_settings_init");
    s = good;
    s.reserved[2] = 1;
    refuse_new(&s, OLTR_EINVAL, "");
    s = good;
    s.policy.reserved[1] = 1;
    refuse_new(&s, OLTR_EINVAL, "reserved");
    s = good;
    s.policy.info = NULL;
    refuse_new(&s, OLTR_EINVAL, "settings");
    oltr_policy_info info = *good.policy.info; /* a copy of an entry is no entry */
    s.policy.info = &info;
    refuse_new(&s, OLTR_EINVAL, "kind");
    s = good;
    s.policy.value[param_index(v.info, "sigma")] = -1;
    refuse_new(&s, OLTR_EVALUE, "sigma");
}

static void bounds_of_a_model(void **state)
{
    variant v = gts_variant();
    const oltr_model_settings good = model_settings_for(&v);
    static const uint32_t rules[] = {OLTR_EXAMINE_RULE, OLTR_EXAMINE_DEPTH, OLTR_EXAMINE_MASK, 9};
    oltr_model_settings s = good;
    s.most_items = 0;
    refuse_new(&s, OLTR_EVALUE, "most_items");
    s.most_items = OLTR_MOST_MODEL_ITEMS + 1;
    refuse_new(&s, OLTR_EVALUE, "most_items");
    s = good;
    s.window = OLTR_MOST_WINDOW + 1;
    refuse_new(&s, OLTR_EVALUE, "window");
    for (size_t i = 0; i < COUNT(rules); i++) {
        s = good;
        s.examine = rules[i];
        refuse_new(&s, OLTR_EVALUE, "examine");
    }
    s = good;
    s.most_items = OLTR_MOST_MODEL_ITEMS; /* room is taken when it is needed */
    s.window = OLTR_MOST_WINDOW;
    oltr_model *m = model_from(&s);
    assert_true(oltr_model_bytes(m) < 1 << 20);
    oltr_model_free(m);
}

static void priors_of_a_model(void **state)
{
    variant v = gts_variant(), without = variant_of("gts"), ucb = variant_of("cascade-ucb1");
    oltr_model_settings s = model_settings_for(&v);
    s.prior[1] = (double)NAN;
    refuse_new(&s, OLTR_EPRIOR, "");
    s.prior[1] = -1;
    refuse_new(&s, OLTR_EPRIOR, "");
    s.prior[0] = s.prior[1] = (double)NAN; /* the policy is to take priors, and there are none */
    refuse_new(&s, OLTR_EPRIOR, "prior");
    s = model_settings_for(&without);
    s.prior[0] = 0.5;
    s.prior[1] = 0.1;
    refuse_new(&s, OLTR_EPRIOR, "prior"); /* and the other way round */
    s = model_settings_for(&ucb);
    s.prior[0] = s.prior[1] = 1;
    refuse_new(&s, OLTR_EPRIOR, "prior");
    s = model_settings_for(&v);
    s.policy.prior = prior_from(known_prior(), MOMENTS, 0);
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_model_new(&s, &error));
    assert_true(error.code == OLTR_EPRIOR || error.code == OLTR_EINVAL);
}

/* toprank and bubblerank compare all pairs of a fixed set. */
static void comparisons_cannot_be_served(void **state)
{
    static const char *const kind[] = {"toprank", "bubblerank"};
    for (size_t i = 0; i < COUNT(kind); i++) {
        oltr_model_settings s;
        oltr_error error = {OLTR_OK, ""};
        oltr_status status = oltr_model_settings_init(&s, kind[i], &error);
        if (status == OLTR_OK)
            assert_null(oltr_model_new(&s, &error));
        expect_error(error.code, &error, OLTR_EUNSUPPORTED, kind[i]);
    }
}

/* The best item of a model's list is its first; and by default every slot of a lesson counts. */
static void slots_of_a_model_fall(void **state)
{
    static const char *const kind[] = {"pbm-ts", "pbm-ucb"};
    for (size_t i = 0; i < COUNT(kind); i++) {
        oltr_model_settings s;
        oltr_error error = {OLTR_OK, ""};
        expect(oltr_model_settings_init(&s, kind[i], &error), OLTR_OK);
        assert_int_equal(s.examine, OLTR_EXAMINE_ALL);
        expect(oltr_model_settings_set(&s, "examine1", "0.5", &error), OLTR_OK);
        oltr_model *m = oltr_model_new(&s, &error);
        assert_non_null(m);
        oltr_model_free(m);
        expect(oltr_model_settings_set(&s, "examine3", "0.6", &error), OLTR_OK);
        assert_null(oltr_model_new(&s, &error));
        expect_error(error.code, &error, OLTR_EVALUE, "the most examined first");
    }
}

static void features_of_a_model(void **state)
{
    variant v = variant_of("lints");
    oltr_model_settings s = model_settings_for(&v);
    s.policy.dim = 0;
    refuse_new(&s, OLTR_EFEATURE, "dim");
    s.policy.dim = 4097;
    refuse_new(&s, OLTR_EFEATURE, "dim");
    s = model_settings_for(&v);
    s.policy.n_items = 0;
    refuse_new(&s, OLTR_EITEM, "");
}

static void copies_that_are_refused(void **state)
{
    oltr_model *m = gts_model(), *ucb = plain_model("cascade-ucb1"),
               *newton = plain_model("logts-newton");
    oltr_memory half = {.take = take_nothing};
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_model_copy(NULL, NULL, &error));
    expect(error.code, OLTR_EINVAL);
    assert_null(oltr_model_copy(m, &half, &error));
    expect(error.code, OLTR_EINVAL);
    assert_null(oltr_model_like(NULL, 1, NULL, &error));
    expect(error.code, OLTR_EINVAL);
    assert_null(oltr_model_like(m, 1, &half, &error));
    expect(error.code, OLTR_EINVAL);
    assert_null(oltr_model_like(ucb, 1, NULL, &error));
    expect_error(error.code, &error, OLTR_EUNSUPPORTED, "cascade-ucb1");
    assert_null(oltr_model_like(newton, 1, NULL, &error));
    expect_error(error.code, &error, OLTR_EUNSUPPORTED, "logts-newton");
    static const double bad[] = {0, -1, 1.0001, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_null(oltr_model_like(m, bad[i], NULL, &error));
        assert_true(error.code == OLTR_EVALUE || error.code == OLTR_EINVAL);
        assert_non_null(strstr(error.msg, "strength"));
    }
    oltr_model_free(NULL);
    oltr_model_free(m);
    oltr_model_free(ucb);
    oltr_model_free(newton);
}

/* ---- lessons */

static void refuse_lesson(oltr_model *m, const oltr_lesson *lesson, oltr_status wanted,
                          const char *words)
{
    image before = model_image(m);
    oltr_error error = {OLTR_OK, ""};
    int applied = -1;
    expect_error(oltr_model_learn(m, lesson, &applied, &error), &error, wanted, words);
    expect(oltr_model_learn(m, lesson, NULL, NULL), wanted);
    assert_true(strlen(error.msg) > 10);
    assert_true(same_images(before, model_image(m)));
    if (lesson->id.size)
        assert_false(oltr_model_seen(m, lesson->id));
}

static const char *const fruit[] = {"apple", "pear", "plum", "fig"};

static oltr_lesson fruit_lesson(oltr_name name[4], double reward[4])
{
    for (uint32_t i = 0; i < 4; i++) {
        name[i] = name_of_text(fruit[i]);
        reward[i] = 0;
    }
    return lesson_of(name, 4, reward);
}

static void names_of_lessons(void **state)
{
    oltr_model *m = gts_model();
    oltr_name name[4];
    double reward[4];
    oltr_lesson lesson = fruit_lesson(name, reward);
    lesson.id = name_of_text("an id");
    name[2] = name_of_text("pear"); /* unknown, twice */
    refuse_lesson(m, &lesson, OLTR_ENAME, "twice");
    name[1] = name[2] = name_at(20); /* known, twice */
    refuse_lesson(m, &lesson, OLTR_ENAME, "twice");
    lesson = fruit_lesson(name, reward);
    name[3] = bad_name(0);
    refuse_lesson(m, &lesson, OLTR_ENAME, "slot 3");
    name[3] = bad_name(1);
    refuse_lesson(m, &lesson, OLTR_ENAME, "513");
    lesson = fruit_lesson(name, reward);
    lesson.id = bad_name(1);
    refuse_lesson(m, &lesson, OLTR_ENAME, "id");
    oltr_model_free(m);
}

static void rewards_of_lessons(void **state)
{
    oltr_model *m = gts_model(), *clicks = plain_model("ts-beta"),
               *newton = plain_model("logts-newton");
    oltr_name name[4];
    double reward[4], weight[4] = {1, 1, 1, 1};
    oltr_lesson lesson = fruit_lesson(name, reward);
    reward[2] = (double)NAN;
    refuse_lesson(m, &lesson, OLTR_EREWARD, "2");
    reward[2] = 1e31;
    refuse_lesson(m, &lesson, OLTR_EREWARD, "2");
    reward[2] = 0.5;
    refuse_lesson(clicks, &lesson, OLTR_EREWARD, "2");
    lesson = fruit_lesson(name, reward);
    lesson.weight = weight;
    weight[1] = 0;
    refuse_lesson(m, &lesson, OLTR_EREWARD, "weight");
    weight[1] = 2e6;
    refuse_lesson(m, &lesson, OLTR_EREWARD, "weight");
    weight[1] = (double)NAN;
    refuse_lesson(m, &lesson, OLTR_EREWARD, "weight");
    float x[4 * DIM] = {0.5f};
    weight[1] = 1;
    lesson.shown = (oltr_list){.n = 4, .x = x};
    refuse_lesson(newton, &lesson, OLTR_EUNSUPPORTED, "weight");
    oltr_model_free(m);
    oltr_model_free(clicks);
    oltr_model_free(newton);
}

static void looks_of_lessons(void **state)
{
    oltr_model *m = gts_model();
    oltr_name name[4];
    double reward[4];
    uint8_t mask[4] = {1, 1, 0, 1};
    oltr_lesson lesson = fruit_lesson(name, reward);
    lesson.examine = OLTR_EXAMINE_DEPTH;
    lesson.depth = 5;
    refuse_lesson(m, &lesson, OLTR_EEXAMINED, "5");
    lesson.depth = 2;
    reward[2] = 1;
    refuse_lesson(m, &lesson, OLTR_EEXAMINED, "2");
    lesson.examine = OLTR_EXAMINE_MASK;
    lesson.examined = mask;
    refuse_lesson(m, &lesson, OLTR_EEXAMINED, "2");
    reward[2] = 0;
    mask[0] = 2;
    refuse_lesson(m, &lesson, OLTR_EEXAMINED, "0");
    lesson.examined = NULL;
    image before = model_image(m);
    assert_int_not_equal(oltr_model_learn(m, &lesson, NULL, NULL), OLTR_OK);
    lesson.examine = OLTR_EXAMINE_MASK + 1;
    assert_int_not_equal(oltr_model_learn(m, &lesson, NULL, NULL), OLTR_OK);
    assert_true(same_images(before, model_image(m)));
    oltr_model_free(m);
}

/* With the cascade, what is behind the first click is not read. */
static void later_clicks_are_not_read(void **state)
{
    oltr_model *m = gts_model();
    oltr_name name[4];
    double reward[4];
    oltr_lesson lesson = fruit_lesson(name, reward);
    lesson.examine = OLTR_EXAMINE_CASCADE;
    reward[1] = 1;
    reward[2] = 1;
    reward[3] = (double)NAN;
    teach_model(m, &lesson);
    assert_true(same_number(explain_one(m, name[1]).examined, 1));
    assert_true(same_number(explain_one(m, name[2]).examined, 0));
    assert_true(same_number(explain_one(m, name[3]).reward, 0));
    oltr_model_free(m);
}

static void forms_of_lessons(void **state)
{
    oltr_model *m = gts_model();
    oltr_name name[4];
    double reward[4];
    float x[4 * DIM] = {0};
    oltr_error error = {OLTR_OK, ""};
    oltr_lesson lesson = fruit_lesson(name, reward);
    lesson.reward = NULL;
    refuse_lesson(m, &lesson, OLTR_EINVAL, "reward");
    lesson = fruit_lesson(name, reward);
    lesson.reserved[0] = m;
    refuse_lesson(m, &lesson, OLTR_EINVAL, "lesson");
    lesson = fruit_lesson(name, reward);
    lesson.shown.reserved[1] = m;
    refuse_lesson(m, &lesson, OLTR_EINVAL, "list");
    lesson = fruit_lesson(name, reward);
    lesson.shown.x = x; /* names and rows */
    refuse_lesson(m, &lesson, OLTR_EINVAL, "not both");
    lesson.shown.name = NULL;
    refuse_lesson(m, &lesson, OLTR_EFEATURE, "names, not rows");
    lesson.shown.x = NULL;
    refuse_lesson(m, &lesson, OLTR_EINVAL, "names of the list are missing");
    expect_error(oltr_model_learn(m, NULL, NULL, &error), &error, OLTR_EINVAL, "");
    expect_error(oltr_model_learn(NULL, &lesson, NULL, &error), &error, OLTR_EINVAL, "");
    oltr_model_free(m);
}

static void long_lessons(void **state)
{
    static oltr_name name[MANY];
    static double reward[MANY];
    static char text[MANY][8];
    oltr_model *m = gts_model();
    uint32_t before = oltr_model_items(m);
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof text[i], "%u", i);
        name[i] = name_of_text(text[i]);
    }
    oltr_lesson lesson = lesson_of(name, MANY, reward);
    refuse_lesson(m, &lesson, OLTR_ESLOTS, "1024");
    lesson.shown.n = OLTR_MOST_SHOWN;
    teach_model(m, &lesson);
    assert_int_equal(oltr_model_items(m), before + OLTR_MOST_SHOWN);
    oltr_model_free(m);
}

static void full_models(void **state)
{
    variant v = gts_variant();
    oltr_model_settings s = model_settings_for(&v);
    oltr_name name[4];
    double reward[4], pair[4][2] = {{0.5, 0.1}, {0.5, 0.1}, {0.5, 0.1}, {0.5, 0.1}};
    oltr_error error = {OLTR_OK, ""};
    s.most_items = 3;
    oltr_model *m = model_from(&s);
    oltr_lesson lesson = fruit_lesson(name, reward);
    refuse_lesson(m, &lesson, OLTR_EFULL, "3");
    image before = model_image(m);
    expect_error(oltr_model_prior(m, name, pair[0], 4, &error), &error, OLTR_EFULL, "3");
    expect_error(oltr_model_reserve(m, 4, &error), &error, OLTR_EFULL, "3");
    expect_error(oltr_model_reserve(m, UINT32_MAX, &error), &error, OLTR_EFULL, "3");
    expect(oltr_model_reserve(m, 3, NULL), OLTR_OK);
    assert_true(same_images(before, model_image(m)));
    lesson.shown.n = 3;
    teach_model(m, &lesson);
    teach_model(m, &lesson); /* they are known now */
    expect(oltr_model_prior(m, name, pair[0], 3, NULL), OLTR_OK);
    oltr_model_free(m);
}

/* ---- other changes */

static void priors_are_all_or_none(void **state)
{
    oltr_model *m = gts_model(), *none = plain_model("gts"), *lints = plain_model("lints");
    oltr_name name[4];
    double reward[4], pair[4][2] = {{0.5, 0.1}, {0.4, 0.1}, {0.3, -0.1}, {0.2, 0.1}};
    oltr_error error = {OLTR_OK, ""};
    image before = model_image(m);
    fruit_lesson(name, reward);
    expect_error(oltr_model_prior(m, name, pair[0], 4, &error), &error, OLTR_EPRIOR, "prior 2");
    expect(oltr_model_prior(m, name, pair[0], 4, NULL), OLTR_EPRIOR);
    pair[2][1] = 0.1;
    name[2] = name[1];
    expect_error(oltr_model_prior(m, name, pair[0], 4, &error), &error, OLTR_ENAME, "twice");
    expect(oltr_model_prior(m, NULL, pair[0], 4, &error), OLTR_EINVAL);
    expect(oltr_model_prior(m, name, NULL, 4, &error), OLTR_EINVAL);
    expect(oltr_model_prior(NULL, name, pair[0], 4, &error), OLTR_EINVAL);
    assert_true(same_images(before, model_image(m)));
    assert_true(oltr_model_prior(none, name, pair[0], 1, &error) == OLTR_EPRIOR);
    assert_non_null(strstr(error.msg, "prior"));
    expect_error(oltr_model_prior(lints, name, pair[0], 1, &error), &error, OLTR_EUNSUPPORTED,
                 "lints");
    oltr_model_free(m);
    oltr_model_free(none);
    oltr_model_free(lints);
}

/* A prior that the policy itself refuses, after it has taken those before it: known items and new
 * ones have their old priors again, and rank as a model that was never asked. */
static void priors_are_taken_back(void **state)
{
    variant v = gts_variant();
    oltr_model_settings s = model_settings_for(&v);
    oltr_name name[4];
    double reward[4], pair[4][2] = {{0.5, 0.1}, {0.4, 0.1}, {0.3, 5}, {0.2, 0.1}}, own[2][4];
    oltr_error error = {OLTR_OK, ""};
    expect(oltr_settings_set(&s.policy, "sampler", "released", &error), OLTR_OK);
    oltr_model *m = model_from(&s);
    oltr_lesson lesson = fruit_lesson(name, reward);
    lesson.shown.n = 1;
    reward[0] = 1;
    teach_model(m, &lesson);
    image before = model_image(m);
    oltr_list list = list_of(name, 4);
    expect(oltr_model_predict(m, &list, own[0], NULL, NULL), OLTR_OK);
    expect_error(oltr_model_prior(m, name, pair[0], 4, &error), &error, OLTR_EPRIOR, "prior 2");
    assert_true(same_images(before, model_image(m)));
    expect(oltr_model_predict(m, &list, own[1], NULL, NULL), OLTR_OK);
    assert_memory_equal(own[0], own[1], sizeof own[0]);
    expect(oltr_model_prior(m, name, pair[0], 2, NULL), OLTR_OK);
    expect(oltr_model_predict(m, &list, own[1], NULL, NULL), OLTR_OK);
    assert_memory_not_equal(own[0], own[1], 2 * sizeof own[0][0]);
    oltr_model_free(m);
}

static void rows_have_no_names(void **state)
{
    oltr_model *m = plain_model("lints");
    oltr_name name = name_of_text("pear");
    oltr_error error = {OLTR_OK, ""};
    oltr_list list = list_of(&name, 1), all = {0};
    oltr_explained why;
    double mean;
    image before = model_image(m);
    expect_error(oltr_model_remove(m, &name, 1, NULL, &error), &error, OLTR_EUNSUPPORTED, "lints");
    expect_error(oltr_model_reset(m, &name, 1, NULL, &error), &error, OLTR_EUNSUPPORTED, "lints");
    expect_error(oltr_model_trim(m, 1, NULL, &error), &error, OLTR_EUNSUPPORTED, "lints");
    expect_error(oltr_model_reserve(m, 1, &error), &error, OLTR_EUNSUPPORTED, "lints");
    expect_error(oltr_model_predict(m, &list, &mean, NULL, &error), &error, OLTR_EFEATURE,
                 "ranks rows of features");
    assert_int_equal(oltr_model_items(m), 0);
    assert_int_equal(oltr_model_find(m, name), -1);
    assert_int_equal(oltr_model_name(m, 0).size, 0);
    assert_int_not_equal(oltr_model_predict(m, &list, &mean, NULL, &error), OLTR_OK);
    assert_true(strlen(error.msg) > 10);
    assert_int_not_equal(oltr_model_predict(m, &all, &mean, NULL, &error), OLTR_OK);
    assert_int_not_equal(oltr_model_explain(m, &list, &why, &error), OLTR_OK);
    assert_true(same_images(before, model_image(m)));
    oltr_model_free(m);
}

static void kinds_that_cannot_forget(void **state)
{
    oltr_model *m = plain_model("logts-newton");
    oltr_error error = {OLTR_OK, ""};
    expect_error(oltr_model_forget(m, 0.5, no_id, NULL, &error), &error, OLTR_EUNSUPPORTED,
                 "logts-newton cannot forget");
    oltr_model_free(m);
}

/* Observations near the bound of all of them. */
static oltr_model *nearly_full_of_observations(void)
{
    oltr_model *m = gts_model();
    image x = model_image(m);
    size_t inner_size, inner = inner_snapshot(x.byte, x.size, &inner_size);
    anatomy a = dissect(x.byte + inner, inner_size);
    for (uint64_t i = 0; i < a.sum[0].n; i++)
        set_number(x.byte + inner + a.sum[0].value + 8 * i, 9.9999999e14);
    seal_model(x.byte, x.size, place_of_length(x.byte, x.size));
    oltr_model_free(m);
    m = load_model(&x, NULL);
    free(x.byte);
    return m;
}

static void too_much_to_learn(void **state)
{
    oltr_model *m = nearly_full_of_observations(), *other = oltr_model_copy(m, NULL, NULL);
    oltr_name name = name_at(20);
    double reward = 1, weight = OLTR_MAX_WEIGHT;
    oltr_lesson lesson = lesson_of(&name, 1, &reward);
    oltr_error error = {OLTR_OK, ""};
    image before = model_image(m);
    expect_error(oltr_model_merge(m, other, name_of_text("x"), NULL, &error), &error, OLTR_ESTATE,
                 "");
    assert_true(same_images(before, model_image(m)));
    assert_model_sound(m);
    lesson.weight = &weight;
    before = model_image(m);
    for (oltr_status status = OLTR_OK; status == OLTR_OK;) {
        free(before.byte);
        before = model_image(m);
        status = oltr_model_learn(m, &lesson, NULL, &error);
        assert_true(status == OLTR_OK || status == OLTR_ESTATE);
    }
    assert_true(same_images(before, model_image(m)));
    oltr_model_free(m);
    oltr_model_free(other);
}

/* What oltr_model_check() would find: a model is broken from inside. */
static void broken_models_are_found(void **state)
{
    oltr_error error = {OLTR_OK, ""};
    for (int which = 0; which < 3; which++) {
        oltr_model *m = gts_model();
        oltr_name name = name_at(20), id = name_of_text("an id");
        double reward = 0, number[4] = {1, 1, 0.5, 0.5};
        oltr_lesson lesson = lesson_of(&name, 1, &reward);
        lesson.id = id;
        teach_model(m, &lesson);
        if (which == 0) {
            m->ids.window = 0;
            expect_error(oltr_model_check(m, &error), &error, OLTR_ESTATE, "table of ids");
        } else if (which == 1) {
            oltr_name inside = oltr_model_name(m, 0);
            memset((unsigned char *)(uintptr_t)inside.bytes, '?', 1);
            expect_error(oltr_model_check(m, &error), &error, OLTR_ESTATE, "table of names");
        } else {
            expect(oltr_item_put(m->policy, oltr_model_items(m), number, 4, NULL), OLTR_OK);
            expect_error(oltr_model_check(m, &error), &error, OLTR_ESTATE, "without a name");
        }
        oltr_model_free(m);
    }
}

/* A program that loads the image would not have it. */
static void policies_of_your_own_are_not_served(void **state)
{
    variant v = gts_variant();
    oltr_model_settings s = model_settings_for(&v);
    oltr_policy_ops own = *policy_ops_of(v.info);
    own.info.ops = &own;
    own.info.name = "mine";
    s.policy.info = &own.info;
    refuse_new(&s, OLTR_EUNSUPPORTED, "mine is a policy of your own");
}

static void missing_arguments_of_changes(void **state)
{
    oltr_model *m = gts_model(), *other = gts_model();
    oltr_name name = name_at(20);
    oltr_error error = {OLTR_OK, ""};
    image before = model_image(m);
    expect(oltr_model_remove(NULL, &name, 1, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_remove(m, NULL, 1, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_reset(NULL, &name, 1, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_reset(m, NULL, 1, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_trim(NULL, 1, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_reserve(NULL, 1, &error), OLTR_EINVAL);
    assert_int_equal(oltr_model_unknown(NULL), 0);
    expect(oltr_model_forget(NULL, 0.5, no_id, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_merge(NULL, other, no_id, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_merge(m, NULL, no_id, NULL, &error), OLTR_EINVAL);
    expect_error(oltr_model_merge(m, m, no_id, NULL, &error), &error, OLTR_EINVAL, "two different");
    expect_error(oltr_model_trim(m, 0, NULL, &error), &error, OLTR_EVALUE, "at least 1");
    expect_error(oltr_model_merge(m, other, bad_name(1), NULL, &error), &error, OLTR_ENAME, "id");
    expect_error(oltr_model_forget(m, 0.5, bad_name(1), NULL, &error), &error, OLTR_ENAME, "id");
    static const double bad[] = {-0.1, 1.1, (double)NAN};
    for (size_t i = 0; i < COUNT(bad); i++) {
        oltr_status status = oltr_model_forget(m, bad[i], no_id, NULL, &error);
        assert_true(status == OLTR_EVALUE || status == OLTR_EINVAL);
        assert_non_null(strstr(error.msg, "keep"));
    }
    assert_true(same_images(before, model_image(m)));
    expect(oltr_model_remove(m, &name, 1, NULL, NULL), OLTR_OK);
    expect(oltr_model_reset(m, &name, 1, NULL, NULL), OLTR_OK);
    expect(oltr_model_trim(m, 100, NULL, NULL), OLTR_OK);
    expect(oltr_model_forget(m, 0.5, no_id, NULL, NULL), OLTR_OK);
    expect(oltr_model_merge(m, other, no_id, NULL, NULL), OLTR_OK);
    oltr_model_free(m);
    oltr_model_free(other);
}

/* ---- reading */

static void refuse_rank(const oltr_model *m, const oltr_list *list, const oltr_show *show,
                        oltr_status wanted, const char *words)
{
    uint32_t place[8];
    oltr_show own = *show;
    oltr_error error = {OLTR_OK, ""};
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    own.place = place;
    expect_error(oltr_model_rank(m, list, rng_of(1), scratch, &own, &error), &error, wanted, words);
    expect(oltr_model_rank(m, list, rng_of(1), scratch, &own, NULL), wanted);
    double chance[CANDIDATES + 1];
    if (wanted != OLTR_EUNSUPPORTED) {
        own.place = NULL;
        expect(oltr_model_propensity(m, list, &own, 3, rng_of(1), scratch, chance, NULL, &error),
               wanted);
    }
    oltr_model_scratch_free(scratch);
}

static void lists_that_are_refused(void **state)
{
    oltr_model *m = gts_model(), *random = plain_model("random");
    oltr_name name[4];
    double reward[4], mean[4], sd[4];
    oltr_explained why[4];
    oltr_error error = {OLTR_OK, ""};
    oltr_list good = fruit_lesson(name, reward).shown, list = good;
    oltr_show show = {.k = 2};
    name[3] = name_of_text("apple");
    refuse_rank(m, &list, &show, OLTR_ENAME, "name 3 occurs twice");
    name[0] = name[2] = name_at(20); /* known */
    refuse_rank(m, &list, &show, OLTR_ENAME, "name 2 occurs twice in the list: name 0");
    fruit_lesson(name, reward);
    name[3] = bad_name(1);
    refuse_rank(m, &list, &show, OLTR_ENAME, "513");
    expect_error(oltr_model_predict(m, &list, mean, sd, &error), &error, OLTR_ENAME, "name 3");
    expect_error(oltr_model_explain(m, &list, why, &error), &error, OLTR_ENAME, "name 3");
    name[3] = bad_name(0);
    refuse_rank(m, &list, &show, OLTR_ENAME, "");
    name[3] = name_of_text("fig");
    show.k = 0;
    refuse_rank(m, &list, &show, OLTR_ESLOTS, "slot");
    show = (oltr_show){.k = 2, .greedy = 1};
    refuse_rank(random, &list, &show, OLTR_EUNSUPPORTED, "random");
    show = (oltr_show){.k = 2, .fresh_below = 1, .most_fresh = 1};
    refuse_rank(random, &list, &show, OLTR_EUNSUPPORTED, "fresh_below");
    show = (oltr_show){.k = 2, .fresh_below = 1, .least_fresh = 2, .most_fresh = 1};
    refuse_rank(m, &list, &show, OLTR_EVALUE, "least_fresh 2");
    show = (oltr_show){.k = 2, .fresh_below = (double)NAN};
    refuse_rank(m, &list, &show, OLTR_EVALUE, "fresh_below");
    show = (oltr_show){.k = 2, .fresh_below = -1};
    refuse_rank(m, &list, &show, OLTR_EVALUE, "fresh_below");
    show = (oltr_show){.k = 2, .reserved = {m}};
    refuse_rank(m, &list, &show, OLTR_EINVAL, "");
    show = (oltr_show){.k = 2, .greedy = 2};
    refuse_rank(m, &list, &show, OLTR_EINVAL, "greedy");
    show = (oltr_show){.k = 2};
    list.reserved[0] = m;
    refuse_rank(m, &list, &show, OLTR_EINVAL, "list");
    expect_error(oltr_model_predict(random, &good, mean, sd, &error), &error, OLTR_EUNSUPPORTED,
                 "random has no mean");
    oltr_model_free(m);
    oltr_model_free(random);
}

static void refuse_list_chances(const oltr_model *m, const uint32_t *place, uint32_t k,
                                uint32_t greedy, oltr_status wanted, const char *words)
{
    oltr_name name[4];
    double reward[4], chance[8];
    oltr_error error = {OLTR_OK, ""};
    oltr_list list = fruit_lesson(name, reward).shown;
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    expect_error(oltr_model_list_propensity(m, &list, place, k, greedy, scratch, chance, &error),
                 &error, wanted, words);
    expect(oltr_model_list_propensity(m, &list, place, k, greedy, scratch, chance, NULL), wanted);
    double next[20];
    expect_error(oltr_model_next_propensity(m, &list, place, k, greedy, scratch, next, &error),
                 &error, wanted, words);
    if (place && wanted != OLTR_EITEM)
        expect_error(oltr_model_slot_propensity(m, &list, k, greedy, scratch, next, &error), &error,
                     wanted, words);
    oltr_model_scratch_free(scratch);
}

static void lists_without_a_chance(void **state)
{
    oltr_model *m = gts_model(), *drawn = plain_model("ts-cascade"),
               *random = plain_model("random");
    refuse_list_chances(m, (uint32_t[]){0, 1, 2, 3, 4}, 5, 0, OLTR_ESLOTS, "5");
    refuse_list_chances(m, (uint32_t[]){0, 1}, 0, 0, OLTR_ESLOTS, "slot");
    refuse_list_chances(m, NULL, 2, 0, OLTR_EINVAL, "places");
    refuse_list_chances(m, (uint32_t[]){0, 1}, 2, 2, OLTR_EINVAL, "greedy");
    refuse_list_chances(drawn, (uint32_t[]){0, 1}, 2, 0, OLTR_EUNSUPPORTED, "ts-cascade");
    refuse_list_chances(random, (uint32_t[]){0, 1}, 2, 1, OLTR_EUNSUPPORTED, "random");
    refuse_list_chances(m, (uint32_t[]){0, 4}, 2, 0, OLTR_EITEM, ""); /* there are 0 to 3 */
    refuse_list_chances(m, (uint32_t[]){0, UINT32_MAX}, 2, 0, OLTR_EITEM, "");
    refuse_list_chances(m, (uint32_t[]){2, 1, 2}, 3, 0, OLTR_EITEM, ""); /* twice */
    refuse_list_chances(m, (uint32_t[]){2, 1, 2}, 3, 1, OLTR_EITEM, "");
    oltr_model_free(m);
    oltr_model_free(drawn);
    oltr_model_free(random);
}

static void rows_that_are_refused(void **state)
{
    oltr_model *m = plain_model("lints");
    float x[(CANDIDATES + 1) * DIM] = {0};
    oltr_show show = {.k = 2};
    oltr_list list = {.n = 4, .x = x, .stride = DIM - 1};
    refuse_rank(m, &list, &show, OLTR_EFEATURE, "");
    list = (oltr_list){.n = CANDIDATES + 1, .x = x};
    refuse_rank(m, &list, &show, OLTR_EITEM, "12");
    x[5] = (float)NAN;
    list = (oltr_list){.n = 4, .x = x};
    refuse_rank(m, &list, &show, OLTR_EFEATURE, "candidate 1");
    double reward[4] = {0};
    oltr_lesson lesson = {.shown = list, .reward = reward, .examine = OLTR_EXAMINE_ALL};
    refuse_lesson(m, &lesson, OLTR_EFEATURE, "1");
    oltr_model_free(m);
}

/* What is not drawn names the candidate, too. */
static void rows_that_are_refused_by_the_mean(void **state)
{
    oltr_model *m = plain_model("lints");
    float x[(CANDIDATES + 1) * DIM] = {0};
    double mean[CANDIDATES + 1];
    oltr_explained why[CANDIDATES + 1];
    oltr_error error = {OLTR_OK, ""};
    oltr_show show = {.k = 2, .greedy = 1};
    oltr_list many = {.n = CANDIDATES + 1, .x = x}, bad = {.n = 4, .x = x},
              narrow = {.n = 4, .x = x, .stride = DIM - 1};
    refuse_rank(m, &many, &show, OLTR_EITEM, "13 candidates");
    expect_error(oltr_model_predict(m, &many, mean, NULL, &error), &error, OLTR_EITEM,
                 "13 candidates");
    refuse_rank(m, &narrow, &show, OLTR_EFEATURE, "stride");
    x[2 * DIM + 1] = (float)NAN;
    refuse_rank(m, &bad, &show, OLTR_EFEATURE, "candidate 2");
    expect_error(oltr_model_predict(m, &bad, mean, NULL, &error), &error, OLTR_EFEATURE,
                 "candidate 2 (item 2): feature 1");
    expect_error(oltr_model_explain(m, &bad, why, &error), &error, OLTR_EFEATURE,
                 "candidate 2 (item 2): feature 1");
    oltr_model_free(m);
}

static void missing_arguments_of_reading(void **state)
{
    oltr_model *m = gts_model(), *drawn = plain_model("ts-cascade");
    oltr_name name[4];
    double reward[4], chance[4], mean[4];
    uint32_t place[4];
    size_t written;
    unsigned char buffer[8];
    oltr_error error = {OLTR_OK, ""};
    oltr_list list = fruit_lesson(name, reward).shown;
    oltr_show show = {.k = 2, .place = place}, nowhere = {.k = 2};
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    oltr_explained why[4];
    expect(oltr_model_rank(NULL, &list, rng_of(1), scratch, &show, &error), OLTR_EINVAL);
    expect(oltr_model_rank(m, NULL, rng_of(1), scratch, &show, &error), OLTR_EINVAL);
    expect(oltr_model_rank(m, &list, rng_of(1), NULL, &show, &error), OLTR_EINVAL);
    expect(oltr_model_rank(m, &list, rng_of(1), scratch, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_rank(m, &list, rng_of(1), scratch, &nowhere, &error), OLTR_EINVAL);
    expect(oltr_model_ready(NULL, 4, scratch, &error), OLTR_EINVAL);
    expect(oltr_model_ready(m, 4, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_predict(NULL, &list, mean, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_predict(m, NULL, mean, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_predict(m, &list, NULL, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_explain(NULL, &list, why, &error), OLTR_EINVAL);
    expect(oltr_model_explain(m, NULL, why, &error), OLTR_EINVAL);
    expect(oltr_model_explain(m, &list, NULL, &error), OLTR_EINVAL);
    expect(oltr_model_check(NULL, &error), OLTR_EINVAL);
    expect(oltr_model_save(NULL, buffer, 8, &written), OLTR_EINVAL);
    expect(oltr_model_save(m, NULL, 8, &written), OLTR_EINVAL);
    expect(oltr_model_save(m, buffer, 8, NULL), OLTR_EINVAL);
    expect(oltr_model_save(m, buffer, 8, &written), OLTR_EBUFFER);
    expect_error(
        oltr_model_propensity(drawn, &list, &nowhere, 0, rng_of(1), scratch, chance, NULL, &error),
        &error, OLTR_EUNSUPPORTED, "ts-cascade");
    oltr_model_scratch_free(scratch);
    oltr_model_scratch_free(NULL);
    oltr_model_free(m);
    oltr_model_free(drawn);
}

int main(void)
{
    static suite all;
    ONCE(&all, settings_by_text);
    ONCE(&all, bad_settings_by_text);
    ONCE(&all, settings_that_make_no_model);
    ONCE(&all, bounds_of_a_model);
    ONCE(&all, priors_of_a_model);
    ONCE(&all, comparisons_cannot_be_served);
    ONCE(&all, slots_of_a_model_fall);
    ONCE(&all, features_of_a_model);
    ONCE(&all, copies_that_are_refused);
    ONCE(&all, names_of_lessons);
    ONCE(&all, rewards_of_lessons);
    ONCE(&all, looks_of_lessons);
    ONCE(&all, later_clicks_are_not_read);
    ONCE(&all, forms_of_lessons);
    ONCE(&all, long_lessons);
    ONCE(&all, full_models);
    ONCE(&all, priors_are_all_or_none);
    ONCE(&all, priors_are_taken_back);
    ONCE(&all, rows_have_no_names);
    ONCE(&all, kinds_that_cannot_forget);
    ONCE(&all, too_much_to_learn);
    ONCE(&all, broken_models_are_found);
    ONCE(&all, policies_of_your_own_are_not_served);
    ONCE(&all, missing_arguments_of_changes);
    ONCE(&all, lists_that_are_refused);
    ONCE(&all, lists_without_a_chance);
    ONCE(&all, rows_that_are_refused);
    ONCE(&all, rows_that_are_refused_by_the_mean);
    ONCE(&all, missing_arguments_of_reading);
    return cmocka_run_group_tests_name("refusals of a model", all.test, NULL, NULL);
}
