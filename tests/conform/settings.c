/* settings.c - the catalogue, settings as text and as numbers, priors, and how a policy is made.
 *
 * Settings may be filled in by hand.  One check covers all of them before any code of a policy
 * reads one: junk in values, items and features beyond every bound, structs of another size, a
 * prior that would not be read.  Each is refused with a status and a sentence, and what is not read
 * does not matter.  The last part is the table of status codes.
 */
#include "conform/fixtures.h"

#include <ctype.h>
#include <locale.h>

static variant_list variants;

static oltr_settings plain(const oltr_policy_info *info)
{
    variant v = plain_variant(info);
    return settings_for(&v, ITEMS);
}

static void expect_not_made(const oltr_settings *s, oltr_status wanted, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_policy_new(s, &error));
    expect_error(error.code, &error, wanted, words);
    assert_true(strlen(error.msg) > 10);
}

/* Neither made nor measured. */
static void expect_refused(const oltr_settings *s, oltr_status wanted, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    clock_t begun = clock();
    assert_int_equal(oltr_policy_bytes(s, &error), 0);
    assert_swift(begun, "the size of a policy");
    expect_error(error.code, &error, wanted, words);
    expect_not_made(s, wanted, words);
}

static void expect_taken(const oltr_settings *s)
{
    oltr_policy_free(policy_from(s));
}

/* ---- the catalogue */

static void the_entry_is_complete(void **state)
{
    const oltr_policy_info *info = *state;
    oltr_error error;
    assert_true(strlen(info->name) && strlen(info->title) && strlen(info->source) &&
                strlen(info->summary));
    assert_ptr_equal(oltr_policy_info_by_name(info->name, &error), info);
    assert_true(info->n_params <= OLTR_MAX_PARAMS);
    assert_int_equal(info->uses_prior != 0, param_index(info, "prior") < info->n_params);
    for (uint32_t i = 0; i < info->n_params; i++) {
        const oltr_param *p = &info->params[i];
        assert_true(strlen(p->name) && strlen(p->help) && p->min <= p->initial &&
                    p->initial <= p->max);
        assert_int_equal(param_index(info, p->name), i);
        assert_int_equal(p->choices != NULL, p->type == OLTR_CHOICE);
        for (uint32_t c = 0; p->choices && c <= (uint32_t)p->max; c++)
            assert_true(strlen(p->choices[c]));
        if (p->choices)
            assert_null(p->choices[(uint32_t)p->max + 1]);
    }
}

/* The name with its last letter doubled, or cut off. */
static void misspell(const char *name, bool cut, char out[64])
{
    size_t n = strlen(name);
    snprintf(out, 64, "%s", name);
    if (cut && n > 2)
        out[n - 1] = 0;
    else
        out[n] = name[n - 1], out[n + 1] = 0;
}

static void typos_are_understood(void **state)
{
    const oltr_policy_info *info = *state;
    char typo[64], hint[80];
    oltr_settings s;
    oltr_error error;
    for (int cut = 0; cut < 2; cut++) {
        misspell(info->name, cut, typo);
        snprintf(hint, sizeof hint, "did you mean '%s", cut ? "" : info->name);
        expect_error(oltr_settings_init(&s, typo, 5, &error), &error, OLTR_EKIND, hint);
        assert_null(oltr_policy_info_by_name(typo, &error));
        expect(oltr_settings_init(&s, info->name, 5, &error), OLTR_OK);
        for (uint32_t i = 0; i < info->n_params; i++) {
            misspell(info->params[i].name, cut, typo);
            if (strlen(info->params[i].name) < 3 || param_index(info, typo) < info->n_params)
                continue;
            bool numbered = cut && isdigit((unsigned char)info->params[i].name[strlen(typo)]);
            snprintf(hint, sizeof hint, numbered ? "did you mean '%s" : "did you mean '%s'",
                     numbered ? typo : info->params[i].name);
            expect_error(oltr_settings_set(&s, typo, "1", &error), &error, OLTR_EPARAM, hint);
        }
    }
    expect_error(oltr_settings_set(&s, "zzqqxxkkvv", "1", &error), &error, OLTR_EPARAM, info->name);
    assert_null(strstr(error.msg, "did you mean"));
    expect(oltr_settings_set(&s, "", "1", &error), OLTR_EPARAM);
}

/* ---- values as text */

static void set_and_refuse(oltr_settings *s, const char *name, const char *text)
{
    oltr_settings before = *s;
    oltr_error error = {OLTR_OK, ""};
    expect_error(oltr_settings_set(s, name, text, &error), &error, OLTR_EVALUE, name);
    assert_memory_equal(s, &before, sizeof before);
    expect(oltr_settings_set(s, name, text, NULL), OLTR_EVALUE);
}

static void bad_texts_are_refused(void **state)
{
    static const char *const nonsense[] = {"",     "x",    "1x",    "nan", "inf",
                                           "-inf", "1 2",  "1e999", "0x",  "none?",
                                           "1,5",  "true", "--1",   " ",   "1..2"};
    oltr_settings s = plain(*state);
    char text[64];
    for (uint32_t i = 0; i < s.info->n_params; i++) {
        const oltr_param *p = &s.info->params[i];
        for (size_t j = 0; j < COUNT(nonsense); j++)
            set_and_refuse(&s, p->name, nonsense[j]);
        if (p->type == OLTR_CHOICE) {
            set_and_refuse(&s, p->name, "0"); /* by name, not by number */
            continue;
        }
        snprintf(text, sizeof text, "%.17g", p->max + fabs(p->max) * 1e-15 + (p->max <= 0));
        set_and_refuse(&s, p->name, text);
        snprintf(text, sizeof text, "%.17g", p->min - fabs(p->min) * 1e-15 - 1e-9);
        set_and_refuse(&s, p->name, text);
        if (p->type == OLTR_INTEGER)
            set_and_refuse(&s, p->name, "2.5");
    }
}

/* The error text of a choice names what can be chosen. */
static void choices_are_listed(void **state)
{
    oltr_settings s = plain(*state);
    oltr_error error;
    for (uint32_t i = 0; i < s.info->n_params; i++) {
        const oltr_param *p = &s.info->params[i];
        for (uint32_t c = 0; p->choices && p->choices[c]; c++)
            expect_error(oltr_settings_set(&s, p->name, "elephant", &error), &error, OLTR_EVALUE,
                         p->choices[c]);
    }
}

static void read_back(const oltr_settings *s, uint32_t i)
{
    char text[64], tiny[2];
    oltr_settings other = plain(s->info);
    expect(oltr_settings_get(s, i, text, sizeof text), OLTR_OK);
    expect(oltr_settings_set(&other, s->info->params[i].name, text, NULL), OLTR_OK);
    assert_memory_equal(&other.value[i], &s->value[i], sizeof(double));
    if (strlen(text) >= 2)
        expect(oltr_settings_get(s, i, tiny, sizeof tiny), OLTR_EBUFFER);
    expect(oltr_settings_get(s, i, text, strlen(text)), OLTR_EBUFFER);
}

static void settings_read_back(void **state)
{
    oltr_settings s = plain(*state);
    char text[64];
    dice d = {31};
    for (uint32_t i = 0; i < s.info->n_params; i++) {
        const oltr_param *p = &s.info->params[i];
        for (int n = 0; n < 50; n++) {
            double u = n == 0 ? 0 : n == 1 ? 1 : unit(&d);
            s.value[i] = p->min + (p->max - p->min) * u * (n % 2 ? 1 : 1e-3 * u);
            if (p->type != OLTR_REAL)
                s.value[i] = rint(s.value[i]);
            read_back(&s, i);
        }
    }
    expect(oltr_settings_get(&s, s.info->n_params, text, sizeof text), OLTR_EINVAL);
    expect(oltr_settings_get(NULL, 0, text, sizeof text), OLTR_EINVAL);
    expect(oltr_settings_get(&s, 0, NULL, 0), OLTR_EINVAL);
}

static void missing_arguments_of_settings(void **state)
{
    const oltr_policy_info *info = *state;
    oltr_settings s;
    oltr_error error;
    expect(oltr_settings_init(NULL, info->name, 5, &error), OLTR_EINVAL);
    expect(oltr_settings_init(&s, NULL, 5, &error), OLTR_EINVAL);
    expect(oltr_settings_init(&s, "zzqqxxkkvv", 5, &error), OLTR_EKIND);
    assert_null(strstr(error.msg, "did you mean"));
    expect(oltr_settings_init(&s, info->name, 5, NULL), OLTR_OK);
    expect(oltr_settings_set(&s, NULL, "1", &error), OLTR_EINVAL);
    expect(oltr_settings_set(&s, "x", NULL, &error), OLTR_EINVAL);
    expect(oltr_settings_set(NULL, "x", "1", &error), OLTR_EINVAL);
    assert_int_equal(oltr_policy_bytes(NULL, &error), 0);
    assert_null(oltr_policy_info_by_name(NULL, &error));
    assert_null(oltr_policy_info_at(oltr_policy_count()));
}

/* ---- values as numbers */

static void numbers_are_set_as_texts_are(void **state)
{
    oltr_settings s = plain(*state), t = s;
    oltr_error error = {OLTR_OK, ""};
    for (uint32_t i = 0; i < s.info->n_params; i++) {
        const oltr_param *p = &s.info->params[i];
        char text[64];
        const double values[] = {p->min, p->max, p->initial};
        for (size_t j = 0; j < 3; j++) {
            expect(oltr_settings_set_number(&s, p->name, values[j], &error), OLTR_OK);
            expect(oltr_settings_get(&s, i, text, sizeof text), OLTR_OK);
            expect(oltr_settings_set(&t, p->name, text, &error), OLTR_OK);
            assert_memory_equal(&s.value[i], &t.value[i], sizeof s.value[i]);
        }
        const double bad[] = {p->min - fabs(p->min) - 1, p->max + fabs(p->max) + 1, (double)NAN,
                              (double)INFINITY};
        for (size_t j = 0; j < COUNT(bad); j++)
            expect(oltr_settings_set_number(&s, p->name, bad[j], &error), OLTR_EVALUE);
        if (p->type != OLTR_REAL)
            expect(oltr_settings_set_number(&s, p->name, 0.5, &error), OLTR_EVALUE);
        assert_memory_equal(&s.value[i], &t.value[i], sizeof s.value[i]); /* as it was */
    }
    expect(oltr_settings_set_number(&s, "no-such", 1, &error), OLTR_EPARAM);
    expect(oltr_settings_set_number(&s, NULL, 1, &error), OLTR_EINVAL);
    expect(oltr_settings_set_number(NULL, "sigma", 1, &error), OLTR_EINVAL);
}

/* Junk, numbers beyond the bounds, and fractions where whole numbers are needed.  A choice beyond
 * its table must not be read from the memory behind it. */
static void bad_values_are_refused(void **state)
{
    oltr_settings s = plain(*state);
    for (uint32_t i = 0; i < s.info->n_params; i++) {
        const oltr_param *p = &s.info->params[i];
        const double junk[] = {(double)NAN,
                               -(double)NAN,
                               (double)INFINITY,
                               -(double)INFINITY,
                               1e308,
                               -1e308,
                               1e6 + 0.5,
                               4294967296.0,
                               -0.001,
                               p->min + 0.5,
                               p->max + fabs(p->max) + 1,
                               p->min - fabs(p->min) - 1};
        for (size_t j = 0; j < COUNT(junk); j++) {
            double held = s.value[i];
            char text[64] = "untouched";
            bool good = junk[j] >= p->min && junk[j] <= p->max &&
                        (p->type == OLTR_REAL || junk[j] <= floor(junk[j]));
            s.value[i] = junk[j];
            expect(oltr_settings_get(&s, i, text, sizeof text), good ? OLTR_OK : OLTR_EVALUE);
            if (!good) {
                expect_refused(&s, OLTR_EVALUE, p->name);
                assert_string_equal(text, "untouched");
            }
            s.value[i] = held;
        }
    }
}

/* Neither junk behind the last parameter nor the sign of a zero distinguishes two policies. */
static void what_is_not_read_does_not_matter(void **state)
{
    oltr_settings s = plain(*state), t = s;
    for (uint32_t i = 0; i < OLTR_MAX_PARAMS; i++)
        if (i >= s.info->n_params)
            t.value[i] = i % 2 ? (double)NAN : 1e300;
        else if (s.value[i] <= 0 && s.value[i] >= 0)
            t.value[i] = -0.0;
    oltr_policy *p = policy_from(&s), *q = policy_from(&t);
    assert_true(same_state(p, q));
    if (s.info->can_merge)
        expect(oltr_merge(p, q), OLTR_OK);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* ---- sizes */

/* One limit on items, and nothing before it hangs, wraps or takes memory. */
static void items_have_one_limit(void **state)
{
    static const uint32_t beyond[] = {0,        (1u << 28) + 1, 1u << 29,  1u << 30,
                                      3u << 30, UINT32_MAX - 1, UINT32_MAX};
    oltr_settings s = plain(*state);
    oltr_error error = {OLTR_OK, ""};
    for (size_t i = 0; i < COUNT(beyond); i++) {
        s.n_items = beyond[i];
        expect_refused(&s, OLTR_EITEM, "1 to 268435456 items");
        expect(oltr_settings_init(&s, s.info->name, beyond[i], &error), OLTR_EITEM);
    }
    s.n_items = 1u << 28; /* a size, or a refusal that names the memory */
    clock_t begun = clock();
    assert_true(oltr_policy_bytes(&s, &error) > 0 || error.code == OLTR_EITEM);
    assert_swift(begun, "the size of a policy with 2^28 items");
}

static void features_have_a_limit(void **state)
{
    static const uint32_t beyond[] = {0, 4097, 1u << 16, 1u << 31, UINT32_MAX};
    oltr_settings s = plain(*state);
    for (size_t i = 0; s.info->contextual && i < COUNT(beyond); i++) {
        s.dim = beyond[i];
        expect_refused(&s, OLTR_EFEATURE, "dim from 1 to 4096");
    }
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
    return NULL;
}

static void half_a_hook_is_refused(void **state)
{
    oltr_memory half = {.take = take_nothing};
    oltr_settings s = plain(*state);
    s.memory = &half;
    expect_refused(&s, OLTR_EINVAL, "take and give");
}

/* A copy of an entry is no entry of the catalogue. */
static void an_unknown_entry_is_refused(void **state)
{
    oltr_settings s = plain(*state);
    oltr_policy_info info = *s.info;
    char text[64];
    s.info = &info;
    expect_refused(&s, OLTR_EINVAL, "oltr_settings_init");
    expect(oltr_settings_get(&s, 0, text, sizeof text), OLTR_EINVAL);
    expect(oltr_settings_set(&s, "sigma", "1", NULL), OLTR_EINVAL);
    expect(oltr_settings_set_number(&s, "sigma", 1, NULL), OLTR_EINVAL);
    s.info = NULL;
    expect_refused(&s, OLTR_EINVAL, "oltr_settings_init");
    expect_refused(NULL, OLTR_EINVAL, "");
}

/* ---- priors */

static void an_unread_prior_is_refused(void **state)
{
    for (prior_form form = SHAPES; form <= MOMENTS; form++) {
        oltr_settings s = plain(*state);
        s.prior = prior_from(known_prior(), form, 0);
        if (!s.info->uses_prior) {
            expect_refused(&s, OLTR_EPRIOR, "takes no prior");
            continue;
        }
        expect(oltr_settings_set(&s, "prior", "none", NULL), OLTR_OK);
        expect_refused(&s, OLTR_EPRIOR, "set its parameter prior to full");
        expect(oltr_settings_set(&s, "prior", "full", NULL), OLTR_OK);
        expect_taken(&s);
    }
}

static void a_missing_prior_is_refused(void **state)
{
    oltr_settings s = settings_for(*state, ITEMS);
    const prior_arrays *p = known_prior();
    const oltr_prior halves[] = {{.a = p->a},
                                 {.b = p->b},
                                 {.mean = p->mean},
                                 {.sd = p->sd},
                                 {.a = p->a, .sd = p->sd},
                                 {.a = p->a, .b = p->b, .mean = p->mean},
                                 {p->a, p->b, p->mean, p->sd}};
    s.prior = (oltr_prior){NULL, NULL, NULL, NULL};
    if (takes_prior(*state))
        expect_not_made(&s, OLTR_EPRIOR, "");
    for (size_t i = 0; i < COUNT(halves); i++) {
        s.prior = halves[i];
        expect_not_made(&s, OLTR_EPRIOR, "");
    }
}

static void bad_priors_are_refused(void **state)
{
    const double never[] = {0, -1, (double)NAN, (double)INFINITY, -(double)INFINITY};
    prior_arrays own = *known_prior();
    oltr_settings s = settings_for(*state, ITEMS);
    double *places[] = {&own.a[ITEMS - 1], &own.b[0], &own.sd[ITEMS - 1], &own.mean[5]};
    for (size_t place = 0; place < 4; place++)
        for (size_t i = place == 3 ? 2 : 0; i < COUNT(never); i++) {
            own = *known_prior();
            *places[place] = never[i];
            s.prior = prior_from(&own, place < 2 ? SHAPES : MOMENTS, 0);
            expect_not_made(&s, OLTR_EPRIOR, "");
        }
}

/* A prior at the ends of the doubles is refused, or makes a policy like any other. */
static void extreme_priors_are_usable_or_refused(void **state)
{
    static const double extreme[] = {1e-300, 1e-30, 1e-6, 1e6, 1e30, 1e300};
    const variant *v = *state;
    for (size_t i = 0; i < 36; i++) {
        double first = extreme[i / 6], second = extreme[i % 6];
        prior_arrays own = *known_prior();
        oltr_settings s = settings_for(v, 8);
        oltr_error error = {OLTR_OK, ""};
        char what[64];
        snprintf(what, sizeof what, "prior (%g, %g)", first, second);
        own.a[3] = own.mean[3] = first;
        own.b[3] = own.sd[3] = second;
        s.prior = prior_from(&own, v->form, 0);
        oltr_policy *p = oltr_policy_new(&s, &error);
        if (p)
            assert_usable(p, what);
        else
            expect(error.code, OLTR_EPRIOR);
        oltr_policy_free(p);
    }
}

/* The arrays may be freed once the policy is made. */
static void the_prior_is_copied(void **state)
{
    const variant *v = *state;
    prior_arrays own = *known_prior();
    oltr_settings s = settings_for(v, ITEMS);
    s.prior = prior_from(&own, v->form, 0);
    oltr_policy *p = policy_from(&s), *q = new_policy(v);
    memset(&own, 0xFF, sizeof own);
    learn_many(p, 1, 30);
    learn_many(q, 1, 30);
    assert_true(same_state(p, q));
    assert_same_lists(p, q);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* ---- memory of the caller */

static void the_memory_of_the_caller_will_do(void **state)
{
    oltr_settings s = settings_for(*state, ITEMS);
    size_t bytes = oltr_policy_bytes(&s, NULL);
    assert_true(bytes > 0);
    unsigned char *room = aligned_alloc(64, (bytes + 191) / 64 * 64);
    memset(room, 0xA5, bytes + 64);
    oltr_policy *placed = oltr_policy_place(room, bytes, &s, NULL), *made = new_policy(*state);
    assert_non_null(placed);
    learn_many(placed, 1, 100);
    learn_many(made, 1, 100);
    assert_true(same_state(placed, made));
    assert_same_lists(placed, made);
    for (size_t i = bytes; i < bytes + 64; i++)
        assert_int_equal(room[i], 0xA5);
    free(room);
    oltr_policy_free(made);
}

static void bad_memory_is_refused(void **state)
{
    static const size_t shifts[] = {1, 8, 16, 32};
    oltr_settings s = settings_for(*state, ITEMS);
    size_t bytes = oltr_policy_bytes(&s, NULL);
    unsigned char *room = aligned_alloc(64, (bytes + 191) / 64 * 64);
    oltr_error error = {OLTR_OK, ""};
    for (size_t i = 0; i < COUNT(shifts); i++) {
        assert_null(oltr_policy_place(room + shifts[i], bytes, &s, &error));
        expect_error(error.code, &error, OLTR_EINVAL, "64");
    }
    assert_null(oltr_policy_place(room, bytes - 1, &s, &error));
    expect(error.code, OLTR_EINVAL);
    assert_null(oltr_policy_place(room, 0, &s, NULL));
    assert_null(oltr_policy_place(NULL, bytes, &s, NULL));
    assert_null(oltr_policy_place(room, bytes, NULL, NULL));
    free(room);
}

/* ---- the status codes */

/* A test that provokes each code. */
static const char *const provoked_in[OLTR_STATUS_COUNT] = {
    [OLTR_OK] = "conform/rounds.c",           [OLTR_EINVAL] = "conform/rounds.c",
    [OLTR_EKIND] = "conform/settings.c",      [OLTR_EPARAM] = "conform/settings.c",
    [OLTR_EVALUE] = "conform/settings.c",     [OLTR_EPRIOR] = "conform/settings.c",
    [OLTR_EITEM] = "conform/rounds.c",        [OLTR_EFEATURE] = "conform/rounds.c",
    [OLTR_ESLOTS] = "conform/rounds.c",       [OLTR_EEXAMINED] = "conform/rounds.c",
    [OLTR_EREWARD] = "conform/rounds.c",      [OLTR_ESCRATCH] = "conform/rounds.c",
    [OLTR_EBUFFER] = "conform/settings.c",    [OLTR_EMISMATCH] = "conform/state.c",
    [OLTR_EUNSUPPORTED] = "conform/state.c",  [OLTR_ENOMEM] = "conform/memory.c",
    [OLTR_ESTATE] = "conform/snapshots.c",    [OLTR_ETRUNCATED] = "conform/snapshots.c",
    [OLTR_EMAGIC] = "conform/snapshots.c",    [OLTR_EVERSION] = "conform/snapshots.c",
    [OLTR_ECHECKSUM] = "conform/snapshots.c", [OLTR_ECORRUPT] = "conform/snapshots.c",
    [OLTR_EIO] = "conform/result_files.c",    [OLTR_EINTERRUPTED] = "conform/worlds.c",
    [OLTR_EDATA] = "unit/lab/reader.c",       [OLTR_EFULL] = "conform/growth.c",
    [OLTR_ENAME] = "conform/model_errors.c",  [OLTR_EBUSY] = "unit/engine/store.c",
};

/* The file expects the code: it has the name in it. */
static bool is_in_file(const char *file, const char *name)
{
    char path[600], line[400];
    bool found = false;
    snprintf(path, sizeof path, "%s/tests/%s", OLTR_SOURCE, file);
    FILE *text = fopen(path, "r");
    if (!text)
        fail_msg("%s cannot be read", path);
    while (!found && fgets(line, sizeof line, text))
        found = strstr(line, name);
    fclose(text);
    return found;
}

static void every_status_is_provoked(void **state)
{
    for (int s = 0; s < OLTR_STATUS_COUNT; s++) {
        const char *name = oltr_status_name((oltr_status)s);
        if (!provoked_in[s] || (*provoked_in[s] && !is_in_file(provoked_in[s], name)))
            fail_msg("no test provokes %s", name);
    }
}

/* In a locale with a decimal comma, if this machine has one, numbers have a point all the same. */
static void a_locale_with_commas_changes_nothing(void **state)
{
    const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    oltr_settings s;
    char text[64];
    uint32_t at = 0;
    expect(oltr_settings_init(&s, "gts", ITEMS, NULL), OLTR_OK);
    for (size_t i = 0; i < 3 && !setlocale(LC_NUMERIC, commas[i]); i++)
        ;
    oltr_status status = oltr_settings_set(&s, "sigma", "0.3", NULL);
    while (strcmp(s.info->params[at].name, "sigma") != 0)
        at++;
    expect(oltr_settings_get(&s, at, text, sizeof text), OLTR_OK);
    setlocale(LC_NUMERIC, "C");
    expect(status, OLTR_OK);
    assert_string_equal(text, "0.3");
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ON_KINDS(&all, the_entry_is_complete);
    ON_KINDS(&all, typos_are_understood);
    ON_KINDS(&all, bad_texts_are_refused);
    ON_KINDS(&all, choices_are_listed);
    ON_KINDS(&all, settings_read_back);
    ON_KINDS(&all, missing_arguments_of_settings);
    ON_KINDS(&all, numbers_are_set_as_texts_are);
    ON_KINDS(&all, bad_values_are_refused);
    ON_KINDS(&all, what_is_not_read_does_not_matter);
    ON_KINDS(&all, items_have_one_limit);
    ON_KINDS(&all, features_have_a_limit);
    ON_KINDS(&all, sizes_tell_versions);
    ON_KINDS(&all, reserved_room_is_zero);
    ON_KINDS(&all, half_a_hook_is_refused);
    ON_KINDS(&all, an_unknown_entry_is_refused);
    ON_KINDS(&all, an_unread_prior_is_refused);
    ON_VARIANTS(&all, &variants, a_missing_prior_is_refused);
    ON_VARIANTS(&all, &variants, bad_priors_are_refused);
    ON_SOME_VARIANTS(&all, &variants, extreme_priors_are_usable_or_refused, takes_prior);
    ON_SOME_VARIANTS(&all, &variants, the_prior_is_copied, takes_prior);
    ON_VARIANTS(&all, &variants, the_memory_of_the_caller_will_do);
    ON_VARIANTS(&all, &variants, bad_memory_is_refused);
    ONCE(&all, every_status_is_provoked);
    ONCE(&all, a_locale_with_commas_changes_nothing);
    return cmocka_run_group_tests_name("settings", all.test, NULL, NULL);
}
