/* settings.c - settings that somebody filled in by hand: one check for all of them, before any code
 * of a policy reads one.
 *
 * Junk in values, items and features beyond every bound, structs of another size, a prior that
 * would not be read.  Each must be refused with a status and a sentence, at once, and whatever is
 * not read must not matter.
 */
#include "conform/suite.h"

enum { ITEMS = 7, DIM = 3 };

static oltr_settings plain(const oltr_policy_info *info)
{
    oltr_settings s;
    assert_int_equal(oltr_settings_init(&s, info->name, ITEMS, NULL), OLTR_OK);
    s.dim = info->contextual ? DIM : 0;
    return s;
}

static void expect_refused(const oltr_settings *s, oltr_status wanted, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    clock_t begun = clock();
    assert_int_equal(oltr_policy_bytes(s, &error), 0);
    assert_swift(begun, "the size of a policy");
    if (error.code != wanted || !strstr(error.msg, words))
        fail_msg("%s: '%s', wanted %s with '%s'", oltr_status_name(error.code), error.msg,
                 oltr_status_name(wanted), words);
    assert_null(oltr_policy_new(s, &error));
    assert_int_equal(error.code, wanted);
}

static void expect_taken(const oltr_settings *s)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = oltr_policy_new(s, &error);
    if (!p)
        fail_msg("refused: %s", error.msg);
    oltr_policy_free(p);
}

/* One limit on items, and nothing before it hangs, wraps or takes memory. */
static void items_have_one_limit(void **state)
{
    static const uint32_t beyond[] = {0,        (1u << 28) + 1, 1u << 29,  1u << 30,
                                      3u << 30, UINT32_MAX - 1, UINT32_MAX};
    oltr_settings s = plain(*state);
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        oltr_error error = {OLTR_OK, ""};
        s.n_items = beyond[i];
        expect_refused(&s, OLTR_EITEM, "1 to 268435456 items");
        assert_int_equal(oltr_settings_init(&s, s.info->name, beyond[i], &error), OLTR_EITEM);
    }
    s.n_items = 1u << 28; /* a size, or a refusal that names the memory */
    oltr_error error = {OLTR_OK, ""};
    clock_t begun = clock();
    assert_true(oltr_policy_bytes(&s, &error) > 0 || error.code == OLTR_EITEM);
    assert_swift(begun, "the size of a policy with 2^28 items");
}

static void features_have_a_limit(void **state)
{
    static const uint32_t beyond[] = {0, 4097, 1u << 16, 1u << 31, UINT32_MAX};
    oltr_settings s = plain(*state);
    for (size_t i = 0; s.info->contextual && i < sizeof beyond / sizeof *beyond; i++) {
        s.dim = beyond[i];
        expect_refused(&s, OLTR_EFEATURE, "dim from 1 to 4096");
    }
}

static void values_are_checked(void **state)
{
    const double junk[] = {(double)NAN, -(double)NAN, (double)INFINITY, -(double)INFINITY,
                           1e308,       -1e308,       1e6 + 0.5};
    oltr_settings s = plain(*state);
    for (uint32_t i = 0; i < s.info->n_params; i++)
        for (size_t j = 0; j < sizeof junk / sizeof *junk; j++) {
            const oltr_param *p = &s.info->params[i];
            double held = s.value[i];
            char text[64] = "untouched";
            s.value[i] = junk[j];
            if (junk[j] >= p->min && junk[j] <= p->max && p->type == OLTR_REAL)
                assert_int_equal(oltr_settings_get(&s, i, text, sizeof text), OLTR_OK);
            else {
                expect_refused(&s, OLTR_EVALUE, p->name);
                assert_int_equal(oltr_settings_get(&s, i, text, sizeof text), OLTR_EVALUE);
                assert_string_equal(text, "untouched");
            }
            s.value[i] = held;
        }
}

/* A choice beyond its table was once read from memory behind it. */
static void choices_beyond_the_table(void **state)
{
    const double beyond[] = {-1, 0.5, 9, 1e6, 4294967296.0, -0.001};
    oltr_settings s = plain(*state);
    for (uint32_t i = 0; i < s.info->n_params; i++)
        for (size_t j = 0;
             s.info->params[i].type == OLTR_CHOICE && j < sizeof beyond / sizeof *beyond; j++) {
            char text[64];
            double held = s.value[i];
            s.value[i] = beyond[j];
            assert_int_equal(oltr_settings_get(&s, i, text, sizeof text), OLTR_EVALUE);
            s.value[i] = held;
        }
}

/* Neither junk behind the last parameter nor the sign of a zero keeps two policies apart. */
static void what_is_not_read_does_not_matter(void **state)
{
    oltr_settings s = plain(*state), t = s;
    for (uint32_t i = 0; i < OLTR_MAX_PARAMS; i++)
        if (i >= s.info->n_params)
            t.value[i] = i % 2 ? (double)NAN : 1e300;
        else if (s.value[i] <= 0 && s.value[i] >= 0)
            t.value[i] = -0.0;
    oltr_policy *p = oltr_policy_new(&s, NULL), *q = oltr_policy_new(&t, NULL);
    assert_true(p && q);
    assert_true(same_state(p, q));
    if (s.info->can_merge)
        assert_int_equal(oltr_merge(p, q), OLTR_OK);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* ---- the struct itself */

static void sizes_tell_versions(void **state)
{
    oltr_settings s = plain(*state);
    assert_int_equal(s.size, sizeof s);
    expect_taken(&s);
    s.size = 0; /* filled in from zeros */
    expect_taken(&s);
    s.size = sizeof s + 8;
    expect_refused(&s, OLTR_EINVAL, "made for a newer oltr");
    s.size = UINT32_MAX;
    expect_refused(&s, OLTR_EINVAL, "made for a newer oltr");
    s.size = 8;
    expect_refused(&s, OLTR_EINVAL, "oltr_settings_init");
}

static void reserved_room_is_zero(void **state)
{
    oltr_settings s = plain(*state), t = s;
    t.reserved[0] = 1;
    expect_refused(&t, OLTR_EINVAL, "reserved");
    t = s;
    t.reserved32 = 1;
    expect_refused(&t, OLTR_EINVAL, "reserved");
    t = s;
    t.prior.reserved[3] = &s;
    expect_refused(&t, OLTR_EINVAL, "reserved");
}

static void *take_nothing(void *with, size_t bytes, size_t align)
{
    (void)with;
    (void)bytes;
    (void)align;
    return NULL;
}

static void half_a_hook_is_none(void **state)
{
    oltr_memory half = {.take = take_nothing};
    oltr_settings s = plain(*state);
    s.memory = &half;
    expect_refused(&s, OLTR_EINVAL, "take and give");
}

static void a_stranger_is_no_kind(void **state)
{
    oltr_settings s = plain(*state);
    oltr_policy_info info = *s.info; /* a copy: the catalogue does not know it */
    char text[64];
    s.info = &info;
    expect_refused(&s, OLTR_EINVAL, "oltr_settings_init");
    assert_int_equal(oltr_settings_get(&s, 0, text, sizeof text), OLTR_EINVAL);
    assert_int_equal(oltr_settings_set(&s, "sigma", "1", NULL), OLTR_EINVAL);
    assert_int_equal(oltr_settings_set_number(&s, "sigma", 1, NULL), OLTR_EINVAL);
    s.info = NULL;
    expect_refused(&s, OLTR_EINVAL, "oltr_settings_init");
}

/* ---- numbers */

static void numbers_are_set_as_texts_are(void **state)
{
    oltr_settings s = plain(*state), t = s;
    oltr_error error = {OLTR_OK, ""};
    for (uint32_t i = 0; i < s.info->n_params; i++) {
        const oltr_param *p = &s.info->params[i];
        char text[64];
        const double values[] = {p->min, p->max, p->initial};
        for (size_t j = 0; j < 3; j++) {
            assert_int_equal(oltr_settings_set_number(&s, p->name, values[j], &error), OLTR_OK);
            assert_int_equal(oltr_settings_get(&s, i, text, sizeof text), OLTR_OK);
            assert_int_equal(oltr_settings_set(&t, p->name, text, &error), OLTR_OK);
            assert_memory_equal(&s.value[i], &t.value[i], sizeof s.value[i]);
        }
        const double bad[] = {p->min - fabs(p->min) - 1, p->max + fabs(p->max) + 1, (double)NAN,
                              (double)INFINITY};
        for (size_t j = 0; j < 4; j++)
            assert_int_equal(oltr_settings_set_number(&s, p->name, bad[j], &error), OLTR_EVALUE);
        if (p->type != OLTR_REAL)
            assert_int_equal(oltr_settings_set_number(&s, p->name, 0.5, &error), OLTR_EVALUE);
        assert_memory_equal(&s.value[i], &t.value[i], sizeof s.value[i]); /* as it was */
    }
    assert_int_equal(oltr_settings_set_number(&s, "no-such", 1, &error), OLTR_EPARAM);
    assert_int_equal(oltr_settings_set_number(&s, NULL, 1, &error), OLTR_EINVAL);
    assert_int_equal(oltr_settings_set_number(NULL, "sigma", 1, &error), OLTR_EINVAL);
}

/* ---- a prior that would not be read */

static void an_unread_prior_is_refused(void **state)
{
    static prior_arrays own;
    fill_prior(&own);
    for (int form = SHAPES; form <= MOMENTS; form++) {
        oltr_settings s = plain(*state);
        s.prior = prior_of(&own, (prior_form)form);
        if (!s.info->uses_prior) {
            expect_refused(&s, OLTR_EPRIOR, "takes no prior");
            continue;
        }
        assert_int_equal(oltr_settings_set(&s, "prior", "none", NULL), OLTR_OK);
        expect_refused(&s, OLTR_EPRIOR, "set its parameter prior to full");
        assert_int_equal(oltr_settings_set(&s, "prior", "full", NULL), OLTR_OK);
        expect_taken(&s);
    }
}

static void add_kind(suite *all, const char *name, CMUnitTestFunction run)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++)
        add_test(all, name, oltr_policy_info_at(i)->name, run, oltr_policy_info_at(i));
}
#define ON_EVERY_KIND(all, run) add_kind(all, #run, run)

int main(void)
{
    static suite all;
    ON_EVERY_KIND(&all, items_have_one_limit);
    ON_EVERY_KIND(&all, features_have_a_limit);
    ON_EVERY_KIND(&all, values_are_checked);
    ON_EVERY_KIND(&all, choices_beyond_the_table);
    ON_EVERY_KIND(&all, what_is_not_read_does_not_matter);
    ON_EVERY_KIND(&all, sizes_tell_versions);
    ON_EVERY_KIND(&all, reserved_room_is_zero);
    ON_EVERY_KIND(&all, half_a_hook_is_none);
    ON_EVERY_KIND(&all, a_stranger_is_no_kind);
    ON_EVERY_KIND(&all, numbers_are_set_as_texts_are);
    ON_EVERY_KIND(&all, an_unread_prior_is_refused);
    return cmocka_run_group_tests_name("settings", all.test, NULL, NULL);
}
