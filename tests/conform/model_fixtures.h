/* model_fixtures.h - models of every kind that can be served, names of every sort, and images.
 *
 * As in fixtures.h, the catalogue decides what there is to test: each combination of choices of
 * each kind is one variant of a model, with the form of prior that oltr_model_settings asks for.
 */
#ifndef CONFORM_MODEL_FIXTURES_H
#define CONFORM_MODEL_FIXTURES_H

#include "conform/fixtures.h"

#include <oltr/model.h>

enum { CANDIDATES = 12, NAMES = 48 };

/* ---- variants */

/* Not those that compare a fixed set of items, not twice for the two forms of a prior, and no
 * parameter at its bounds. */
static inline bool is_model_variant(const variant *v)
{
    if ((!v->info->by_item && !v->info->contextual) || v->at_bound)
        return false;
    return v->form == NO_PRIOR || v->form == (v->info->takes_moments ? MOMENTS : SHAPES);
}

static inline bool is_named_variant(const variant *v)
{
    return is_model_variant(v) && !v->info->contextual;
}

/* Of the contextual kinds those with every choice at its default, which are a tenth of them: for
 * tests of what all have in common. */
static inline bool is_common_variant(const variant *v)
{
    for (uint32_t i = 0; v->info->contextual && i < v->info->n_params; i++)
        if (!(v->value[i] >= v->info->params[i].initial &&
              v->value[i] <= v->info->params[i].initial))
            return false;
    return is_model_variant(v);
}

/* The first prior of an item, in the form of the kind. */
static inline void default_pair(const variant *v, double pair[2])
{
    pair[0] = !takes_prior(v) ? (double)NAN : v->info->takes_moments ? 0.25 : 2;
    pair[1] = !takes_prior(v) ? (double)NAN : v->info->takes_moments ? 0.125 : 6;
}

static inline oltr_model_settings model_settings_for(const variant *v)
{
    oltr_model_settings s;
    oltr_error error = {OLTR_OK, ""};
    if (oltr_model_settings_init(&s, v->info->name, &error) != OLTR_OK)
        fail_msg("%s: %s", v->info->name, error.msg);
    memcpy(s.policy.value, v->value, sizeof s.policy.value);
    if (v->info->contextual) {
        s.policy.dim = DIM;
        s.policy.n_items = CANDIDATES;
    }
    default_pair(v, s.prior);
    return s;
}

static inline oltr_model *model_from(const oltr_model_settings *s)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_model *m = oltr_model_new(s, &error);
    if (!m)
        fail_msg("%s: %s", s->policy.info->name, error.msg);
    return m;
}

static inline oltr_model *model_of(const variant *v)
{
    oltr_model_settings s = model_settings_for(v);
    return model_from(&s);
}

/* A prior of an item; every number is a multiple of 1/64. */
static inline void draw_pair(dice *d, const variant *v, double pair[2])
{
    if (v->info->takes_moments) {
        pair[0] = (double)(8 + below(d, 48)) / 64;
        pair[1] = (double)(1 + below(d, 12)) / 64;
    } else {
        pair[0] = (double)(32 + below(d, 512)) / 64;
        pair[1] = (double)(64 + below(d, 1280)) / 64;
    }
}

/* ---- names: of 1 and of 512 bytes, with NUL bytes, beginnings of others, and plain ones */

static inline void fill_name(uint32_t i, unsigned char byte[OLTR_LONGEST_NAME], uint32_t *size)
{
    static const struct {
        const char *text;
        uint32_t size;
    } odd[] = {{"a", 1},    {"\0", 1},   {"\0\0", 2},   {"a\0", 2},
               {"a\0b", 3}, {"\xFF", 1}, {"\r\n*1", 4}, {" ", 1}};
    if (i < COUNT(odd)) {
        memcpy(byte, odd[i].text, odd[i].size);
        *size = odd[i].size;
    } else if (i < COUNT(odd) + 4) {
        memset(byte, 'x', OLTR_LONGEST_NAME);
        byte[OLTR_LONGEST_NAME - 1] = (unsigned char)('x' + i % 3);
        *size = i < COUNT(odd) + 3 ? OLTR_LONGEST_NAME : OLTR_LONGEST_NAME - 1;
    } else {
        *size = (uint32_t)snprintf((char *)byte, OLTR_LONGEST_NAME, "item-%u", i);
    }
}

/* Name i of the tests.  The first call must not come from a thread. */
static inline oltr_name name_at(uint32_t i)
{
    static unsigned char byte[NAMES][OLTR_LONGEST_NAME];
    static uint32_t size[NAMES];
    for (uint32_t j = 0; size[NAMES - 1] == 0 && j < NAMES; j++)
        fill_name(j, byte[j], &size[j]);
    assert_true(i < NAMES);
    return (oltr_name){byte[i], size[i]};
}

static inline oltr_name name_of_text(const char *text)
{
    return (oltr_name){text, (uint32_t)strlen(text)};
}

static inline bool same_name(oltr_name x, oltr_name y)
{
    return x.size == y.size && memcmp(x.bytes, y.bytes, x.size) == 0;
}

static const oltr_name no_id = {NULL, 0};

/* Of 0 bytes, and of one byte too many. */
static inline oltr_name bad_name(uint32_t which)
{
    static unsigned char byte[OLTR_LONGEST_NAME + 1] = {1};
    return (oltr_name){byte, which % 2 ? OLTR_LONGEST_NAME + 1 : 0};
}

static inline oltr_list list_of(const oltr_name *name, uint32_t n)
{
    return (oltr_list){.n = n, .name = name};
}

/* ---- numbers */

static inline bool same_number(double x, double y)
{
    return x >= y && x <= y;
}

/* The same number, or none of them is one. */
static inline bool same_or_nan(double x, double y)
{
    return same_number(x, y) || (isnan(x) && isnan(y));
}

/* ---- images */

static inline image model_image(const oltr_model *m)
{
    size_t bound = oltr_model_save_bound(m);
    image out = {0, exactly(bound, 1)};
    expect(oltr_model_save(m, out.byte, bound, &out.size), OLTR_OK);
    assert_true(out.size <= bound);
    return out;
}

static inline bool equal_images(const image *x, const image *y)
{
    return x->size == y->size && memcmp(x->byte, y->byte, x->size) == 0;
}

static inline bool same_models(const oltr_model *x, const oltr_model *y)
{
    return same_images(model_image(x), model_image(y));
}

/* From a block of exactly that size. */
static inline oltr_model *load_model(const image *m, const uint64_t *name_key)
{
    oltr_error error = {OLTR_OK, ""};
    image exact = copy_image(m);
    oltr_model *loaded = oltr_model_load(exact.byte, exact.size, NULL, name_key, &error);
    free(exact.byte);
    if (!loaded)
        fail_msg("an image does not load: %s", error.msg);
    return loaded;
}

static inline oltr_model *reload(const oltr_model *m)
{
    static const uint64_t other_key[2] = {0x0123456789ABCDEF, 42};
    image x = model_image(m);
    oltr_model *loaded = load_model(&x, other_key);
    free(x.byte);
    return loaded;
}

static inline void assert_model_sound(const oltr_model *m)
{
    oltr_error error = {OLTR_OK, ""};
    if (oltr_model_check(m, &error) != OLTR_OK)
        fail_msg("after %llu lessons: %s", (unsigned long long)oltr_model_lessons(m), error.msg);
}

/* ---- lessons */

/* A list of names and its rewards, all examined, without an id. */
static inline oltr_lesson lesson_of(const oltr_name *name, uint32_t n, const double *reward)
{
    return (oltr_lesson){.shown = list_of(name, n), .reward = reward, .examine = OLTR_EXAMINE_ALL};
}

static inline void teach_model(oltr_model *m, const oltr_lesson *lesson)
{
    oltr_error error = {OLTR_OK, ""};
    int applied = -1;
    if (oltr_model_learn(m, lesson, &applied, &error) != OLTR_OK)
        fail_msg("a lesson is refused: %s", error.msg);
    assert_int_equal(applied, 1);
}

/* Lists of some of the names from `first` to `first + n`, or of rows of the pool; examined to the
 * end.  The same lessons for the same seed. */
static inline void teach_many(oltr_model *m, uint64_t seed, uint32_t lessons, uint32_t first,
                              uint32_t n)
{
    const oltr_policy_info *info = oltr_model_settings_of(m)->policy.info;
    dice d = {seed};
    for (uint32_t t = 0; t < lessons; t++) {
        uint32_t k = 1 + below(&d, n < 6 ? n : 6), which[MOST_ITEMS];
        oltr_name name[MOST_ITEMS];
        double reward[MOST_ITEMS];
        float x[MOST_ITEMS * DIM];
        draw_items(&d, n, k, which);
        for (uint32_t i = 0; i < k; i++) {
            name[i] = info->contextual ? no_id : name_at(first + which[i]);
            memcpy(x + i * DIM, pool_row(below(&d, POOL)), DIM * sizeof *x);
            reward[i] = draw_reward(&d, info->rewards, 0.1 + 0.8 * which[i] / n);
        }
        oltr_lesson lesson = lesson_of(info->contextual ? NULL : name, k, reward);
        lesson.shown.x = info->contextual ? x : NULL;
        teach_model(m, &lesson);
    }
}

static inline oltr_explained explain_one(const oltr_model *m, oltr_name name)
{
    oltr_explained out;
    oltr_list list = list_of(&name, 1);
    oltr_error error = {OLTR_OK, ""};
    memset(&out, 0x5A, sizeof out);
    if (oltr_model_explain(m, &list, &out, &error) != OLTR_OK)
        fail_msg("no explanation: %s", error.msg);
    return out;
}

#endif
