/* snapshots.c - a snapshot comes from a disk or a network, so nothing in it may be believed.
 *
 * First the accidents: cut short, one bit wrong, bytes too many, another file, a newer version.
 * Then malice: snapshots whose checksum is right and whose content is not.  Every one must be
 * refused with a named status and words, and none may crash, for every policy.  What is taken in
 * the end must be a policy like any other.
 */
#include "conform/format.h"
#include "conform/suite.h"

enum { ITEMS = 3 };

static variant_list variants;

static image make_image(const variant *v, uint32_t n_items)
{
    oltr_policy *p = new_policy(v, n_items);
    learn_many(p, 1, 25);
    image m = image_of(p);
    oltr_policy_free(p);
    return m;
}

static image copy_image(const image *m)
{
    image copy = {m->size, malloc(m->size)};
    assert_non_null(copy.byte);
    memcpy(copy.byte, m->byte, m->size);
    return copy;
}

/* Loads from a block of exactly that size, so that a sanitizer sees a read beyond the end. */
static oltr_status load_status(const unsigned char *byte, size_t size, char *words)
{
    oltr_error error = {OLTR_OK, ""};
    unsigned char *exact = malloc(size ? size : 1);
    memcpy(exact, byte, size);
    oltr_policy *p = oltr_load(exact, size, &error);
    free(exact);
    oltr_status status = p ? OLTR_OK : error.code;
    assert_true(p || (error.code != OLTR_OK && strlen(error.msg) > 10));
    if (words)
        memcpy(words, error.msg, sizeof error.msg);
    oltr_policy_free(p);
    return status;
}

static void expect_load(const unsigned char *byte, size_t size, oltr_status wanted)
{
    oltr_status got = load_status(byte, size, NULL);
    if (got != wanted)
        fail_msg("got %s, wanted %s", oltr_status_name(got), oltr_status_name(wanted));
}

/* ---- saving */

static void room_is_respected(void **state)
{
    oltr_policy *p = new_policy(*state, ITEMS);
    size_t bound = oltr_save_bound(p), written = 0;
    unsigned char *buffer = malloc(bound + 8);
    memset(buffer, 0x5A, bound + 8);
    assert_int_equal(oltr_save(p, buffer, bound + 8, &written), OLTR_OK);
    assert_true(written > 32 && written <= bound);
    for (size_t i = written; i < bound + 8; i++)
        assert_int_equal(buffer[i], 0x5A);
    assert_int_equal(oltr_save(p, buffer, written, &written), OLTR_OK);
    unsigned char *tight = malloc(written);
    for (size_t room = 0; room < written; room++)
        assert_int_equal(oltr_save(p, tight, room, &bound), OLTR_EBUFFER);
    assert_int_equal(oltr_save(NULL, buffer, written, &bound), OLTR_EINVAL);
    assert_int_equal(oltr_save(p, NULL, written, &bound), OLTR_EINVAL);
    assert_int_equal(oltr_save(p, buffer, written, NULL), OLTR_EINVAL);
    assert_int_equal(oltr_save_bound(NULL), 0);
    free(tight);
    free(buffer);
    oltr_policy_free(p);
}

/* The bytes are those of the described format, as a second reader sees them. */
static void the_format_is_as_described(void **state)
{
    const variant *v = *state;
    image m = make_image(v, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    assert_memory_equal(m.byte, "OLTRSNAP", 8);
    assert_int_equal(little(m.byte + AT_VERSION, 4), 2);
    assert_int_equal(little(m.byte + AT_RESERVED, 4), 0);
    assert_int_equal(little(m.byte + AT_LENGTH, 8), m.size);
    assert_memory_equal(m.byte + AT_KIND + 4, v->info->name, strlen(v->info->name));
    assert_int_equal(little(m.byte + a.items, 4), ITEMS);
    assert_int_equal(little(m.byte + a.rounds, 8), 25);
    assert_int_equal(a.params, v->info->n_params);
    for (uint32_t i = 0; i < a.params; i++) {
        assert_string_equal(a.param[i].text, v->info->params[i].name);
        assert_true(number_at(m.byte + a.param[i].value) >= v->value[i] &&
                    number_at(m.byte + a.param[i].value) <= v->value[i]);
    }
    assert_int_equal(a.form, (int)v->form);
    assert_int_equal(little(m.byte + a.checksum, 8), slow_crc64(m.byte, a.checksum));
    assert_int_equal(slow_crc64((const unsigned char *)"123456789", 9), 0x995DC9BBDF1939FAu);
    free(m.byte);
}

/* ---- accidents */

static void cut_short(void **state)
{
    image m = make_image(*state, ITEMS);
    for (size_t size = 0; size < m.size; size++) {
        oltr_status status = load_status(m.byte, size, NULL);
        assert_true(status == OLTR_ETRUNCATED || (size < 8 && status == OLTR_EMAGIC));
    }
    expect_load(m.byte, m.size, OLTR_OK);
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_load(NULL, 0, &error));
    assert_int_equal(error.code, OLTR_EINVAL);
    assert_null(oltr_load(m.byte, 0, NULL));
    free(m.byte);
}

/* What one wrong bit must be called. */
static int fits_flip(size_t at, oltr_status status)
{
    if (at < AT_VERSION)
        return status == OLTR_EMAGIC;
    if (at < AT_RESERVED)
        return status == OLTR_EVERSION || status == OLTR_ECHECKSUM;
    if (at >= AT_LENGTH && at < AT_KIND)
        return status == OLTR_ETRUNCATED;
    return status == OLTR_ECHECKSUM;
}

static void one_bit_wrong(void **state)
{
    image m = make_image(*state, ITEMS);
    for (size_t bit = 0; bit < 8 * m.size; bit++) {
        m.byte[bit / 8] ^= (unsigned char)(1u << bit % 8);
        oltr_status status = load_status(m.byte, m.size, NULL);
        if (!fits_flip(bit / 8, status))
            fail_msg("bit %zu of byte %zu: %s", bit % 8, bit / 8, oltr_status_name(status));
        m.byte[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    free(m.byte);
}

static void one_bit_wrong_in_a_large_one(void **state)
{
    image m = make_image(*state, 120);
    dice d = {61};
    for (int n = 0; n < 40; n++) {
        size_t at = below(&d, (uint32_t)m.size);
        unsigned char mask = (unsigned char)(1u << below(&d, 8));
        m.byte[at] ^= mask;
        assert_true(fits_flip(at, load_status(m.byte, m.size, NULL)));
        m.byte[at] ^= mask;
    }
    expect_load(m.byte, m.size, OLTR_OK);
    free(m.byte);
}

static void bytes_too_many(void **state)
{
    image m = make_image(*state, ITEMS);
    unsigned char *longer = calloc(m.size + 64, 1);
    memcpy(longer, m.byte, m.size);
    for (size_t more = 1; more <= 64; more *= 2)
        expect_load(longer, m.size + more, OLTR_ETRUNCATED);
    seal(longer, m.size + 8); /* even if the length admits to them */
    expect_load(longer, m.size + 8, OLTR_ECORRUPT);
    free(longer);
    free(m.byte);
}

static void another_version(void **state)
{
    static const uint32_t newer[] = {3, 4, 255, 65536, UINT32_MAX};
    image m = make_image(*state, ITEMS);
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++) {
        set_little(m.byte + AT_VERSION, 4, newer[i]);
        expect_load(
            m.byte, m.size,
            OLTR_EVERSION); /* before the checksum, which a newer version may do otherwise */
        seal(m.byte, m.size);
        expect_load(m.byte, m.size, OLTR_EVERSION);
    }
    set_little(m.byte + AT_VERSION, 4, 0); /* there never was one */
    seal(m.byte, m.size);
    assert_int_not_equal(load_status(m.byte, m.size, NULL), OLTR_OK);
    free(m.byte);
}

static void another_file(void **state)
{
    image m = make_image(*state, ITEMS);
    dice d = {62};
    unsigned char noise[400];
    m.byte[7] = 'Q';
    seal(m.byte, m.size);
    expect_load(m.byte, m.size, OLTR_EMAGIC);
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)roll(&d);
    expect_load(noise, sizeof noise, OLTR_EMAGIC);
    memcpy(noise, "OLTRSNAP", 8);
    assert_int_not_equal(load_status(noise, sizeof noise, NULL), OLTR_OK);
    memset(noise, 0, sizeof noise);
    expect_load(noise, sizeof noise, OLTR_EMAGIC);
    free(m.byte);
}

/* ---- malice: each forgery changes a good snapshot, which is then sealed again */

/* Puts `n` bytes (NULL: zeros) where `gone` bytes stood. */
static void splice(image *m, size_t at, size_t gone, const void *bytes, size_t n)
{
    image out = {m->size - gone + n, calloc(m->size - gone + n, 1)};
    memcpy(out.byte, m->byte, at);
    if (bytes)
        memcpy(out.byte + at, bytes, n);
    memcpy(out.byte + at + n, m->byte + at + gone, m->size - at - gone);
    free(m->byte);
    *m = out;
}

static void expect_forged(const image *m, oltr_status wanted, oltr_status or_else, const char *what)
{
    image forged = copy_image(m);
    char words[256];
    seal(forged.byte, forged.size);
    oltr_status got = load_status(forged.byte, forged.size, words);
    if (got != wanted && got != or_else)
        fail_msg("%s: got %s (%s), wanted %s", what, oltr_status_name(got), words,
                 oltr_status_name(wanted));
    free(forged.byte);
}

/* The snapshot with one little-endian number replaced. */
static void expect_field(const image *m, size_t at, int bytes, uint64_t value, oltr_status or_else,
                         const char *what)
{
    image forged = copy_image(m);
    set_little(forged.byte + at, bytes, value);
    expect_forged(&forged, OLTR_ECORRUPT, or_else, what);
    free(forged.byte);
}

static void expect_number(const image *m, size_t at, double value, oltr_status wanted,
                          const char *what)
{
    image forged = copy_image(m);
    set_number(forged.byte + at, value);
    expect_forged(&forged, wanted, wanted, what);
    free(forged.byte);
}

static void lies_about_lengths(void **state)
{
    static const uint64_t lies[] = {0, 1, 63, 64, 65, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    image m = make_image(*state, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        expect_field(&m, AT_KIND, 4, lies[i], OLTR_EKIND, "length of the kind");
        if (lies[i] != a.params)
            expect_field(&m, a.n_params, 4, lies[i], OLTR_EPRIOR, "number of parameters");
        if (lies[i] != a.sums)
            expect_field(&m, a.n_sums, 4, lies[i], OLTR_ECORRUPT, "number of sums");
        for (uint32_t p = 0; p < a.params; p++)
            if (lies[i] != strlen(a.param[p].text))
                expect_field(&m, a.param[p].name, 4, lies[i], OLTR_ECORRUPT,
                             "length of a parameter's name");
        for (uint32_t s = 0; s < a.sums; s++)
            if (lies[i] != strlen(a.sum[s].text))
                expect_field(&m, a.sum[s].name, 4, lies[i], OLTR_ECORRUPT,
                             "length of a sum's name");
    }
    free(m.byte);
}

static void lies_about_counts(void **state)
{
    image m = make_image(*state, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    expect_field(&m, a.items, 4, 0, OLTR_EITEM, "no items");
    expect_field(&m, a.items, 4, UINT32_MAX, OLTR_EITEM, "four billion items");
    if (a.sums || a.form) {
        expect_field(&m, a.items, 4, ITEMS + 1, OLTR_EPRIOR, "an item too many");
        expect_field(&m, a.items, 4, ITEMS - 1, OLTR_EPRIOR, "an item too few");
    }
    expect_field(&m, a.rounds, 8, UINT64_MAX, OLTR_ESTATE, "rounds without end");
    expect_field(&m, a.rounds, 8, (uint64_t)1 << 63, OLTR_ESTATE, "rounds without end");
    for (uint32_t s = 0; s < a.sums; s++) {
        static const uint64_t lies[] = {0, 1u << 20, (uint64_t)1 << 32, (uint64_t)1 << 61,
                                        UINT64_MAX};
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
            expect_field(&m, a.sum[s].count, 8, lies[i], OLTR_ECORRUPT, "length of a sum");
        expect_field(&m, a.sum[s].count, 8, a.sum[s].n + 1, OLTR_ECORRUPT, "length of a sum");
        expect_field(&m, a.sum[s].count, 8, a.sum[s].n - 1, OLTR_ECORRUPT, "length of a sum");
    }
    expect_field(&m, AT_RESERVED, 4, 1, OLTR_EVERSION, "what is reserved is zero");
    free(m.byte);
}

static void unknown_names(void **state)
{
    image m = make_image(*state, ITEMS), forged;
    anatomy a = dissect(m.byte, m.size);
    forged = copy_image(&m);
    forged.byte[AT_KIND + 4] = '#';
    expect_forged(&forged, OLTR_ECORRUPT, OLTR_EKIND, "unknown kind");
    forged.byte[AT_KIND + 5] = 0;
    expect_forged(&forged, OLTR_ECORRUPT, OLTR_EKIND, "a zero in the kind");
    free(forged.byte);
    for (uint32_t p = 0; p < a.params; p++) {
        forged = copy_image(&m);
        forged.byte[a.param[p].name + 4] ^= 1;
        expect_forged(&forged, OLTR_ECORRUPT, OLTR_EPARAM, "unknown parameter");
        free(forged.byte);
    }
    for (uint32_t s = 0; s < a.sums; s++) {
        forged = copy_image(&m);
        forged.byte[a.sum[s].name + 4] ^= 1;
        expect_forged(&forged, OLTR_ECORRUPT, OLTR_ECORRUPT, "unknown sum");
        free(forged.byte);
    }
    free(m.byte);
}

/* The same parameter twice: which one would count? */
static void a_parameter_twice(void **state)
{
    image m = make_image(*state, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    for (uint32_t p = 0; p < a.params; p++) {
        image forged = copy_image(&m);
        size_t begin = a.param[p].name, length = a.param[p].value + 8 - begin;
        set_little(forged.byte + a.n_params, 4, a.params + 1);
        splice(&forged, begin, 0, m.byte + begin, length);
        expect_forged(&forged, OLTR_ECORRUPT, OLTR_EPARAM, "a parameter twice");
        free(forged.byte);
    }
    free(m.byte);
}

static void parameters_out_of_bounds(void **state)
{
    const variant *v = *state;
    image m = make_image(v, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    for (uint32_t p = 0; p < a.params; p++) {
        const oltr_param *param = &v->info->params[p];
        const double bad[] = {param->max + fabs(param->max) + 1,
                              param->min - fabs(param->min) - 1,
                              (double)NAN,
                              (double)INFINITY,
                              -(double)INFINITY,
                              1e308};
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            expect_number(&m, a.param[p].value, bad[i], OLTR_ECORRUPT, param->name);
        if (param->type != OLTR_REAL)
            expect_number(&m, a.param[p].value, param->min + 0.5, OLTR_ECORRUPT, param->name);
    }
    free(m.byte);
}

static void bad_priors(void **state)
{
    const variant *v = *state;
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 0, -1};
    image m = make_image(v, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    expect_field(&m, a.prior, 4, 3, OLTR_EPRIOR, "a third form of prior");
    expect_field(&m, a.prior, 4, UINT32_MAX, OLTR_EPRIOR, "a third form of prior");
    if (!a.form) {
        expect_field(&m, a.prior, 4, 1, OLTR_EPRIOR, "a prior that is not there");
        expect_field(&m, a.prior, 4, 2, OLTR_EPRIOR, "a prior that is not there");
    }
    for (size_t j = 0; j < 2 * ITEMS && a.form; j++)
        for (size_t i = 0; i < (a.form == MOMENTS && j < ITEMS ? 3 : sizeof bad / sizeof *bad); i++)
            expect_number(&m, a.prior_values + 8 * j, bad[i], OLTR_EPRIOR, "a number of the prior");
    if (takes_prior(v)) { /* the prior torn out */
        image forged = copy_image(&m);
        set_little(forged.byte + a.prior, 4, 0);
        splice(&forged, a.prior_values, 16 * ITEMS, NULL, 0);
        expect_forged(&forged, OLTR_EPRIOR, OLTR_EPRIOR, "no prior where one is taken");
        free(forged.byte);
    }
    free(m.byte);
}

static void sums_that_are_no_numbers(void **state)
{
    const double bad[] = {(double)NAN, -(double)NAN, (double)INFINITY, -(double)INFINITY};
    image m = make_image(*state, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    for (uint32_t s = 0; s < a.sums; s++)
        for (size_t j = 0; j < a.sum[s].n; j++)
            for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                expect_number(&m, a.sum[s].value + 8 * j, bad[i], OLTR_ESTATE, a.sum[s].text);
    free(m.byte);
}

static int is_toprank(const variant *v)
{
    return strcmp(v->info->name, "toprank") == 0;
}

/* The sum of that name, or NULL. */
static const field *sum_named(const anatomy *a, const char *name)
{
    for (uint32_t s = 0; s < a->sums; s++)
        if (strcmp(a->sum[s].text, name) == 0)
            return &a->sum[s];
    return NULL;
}

/* Per-item counts: fewer than no observations, fewer than no clicks, more clicks than
 * observations. */
static void impossible_counts(void **state)
{
    const variant *v = *state;
    image m = make_image(v, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    const field *n = sum_named(&a, "examined"), *s = sum_named(&a, "reward");
    assert_true((n && s) || a.sums == 0 || is_toprank(v));
    for (size_t i = 0; n && s && i < ITEMS; i++) {
        expect_number(&m, n->value + 8 * i, -1, OLTR_ESTATE, "negative observations");
        expect_number(&m, n->value + 8 * i, -1e-9, OLTR_ESTATE, "negative observations");
        if (v->info->rewards == OLTR_REALS)
            continue;
        expect_number(&m, s->value + 8 * i, -1, OLTR_ESTATE, "negative clicks");
        expect_number(&m, s->value + 8 * i, number_at(m.byte + n->value + 8 * i) + 1, OLTR_ESTATE,
                      "too many clicks");
        expect_number(&m, s->value + 8 * i, 1e300, OLTR_ESTATE, "too many clicks");
    }
    free(m.byte);
}

/* Clicks without an observation. */
static void clicks_from_nowhere(void **state)
{
    const variant *v = *state;
    image m = make_image(v, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    const field *n = sum_named(&a, "examined"), *s = sum_named(&a, "reward");
    if (n && s && v->info->rewards == OLTR_CLICKS) {
        set_number(m.byte + n->value, 0);
        set_number(m.byte + s->value, 1);
        expect_forged(&m, OLTR_ESTATE, OLTR_ESTATE, "a click on what nobody saw");
    }
    free(m.byte);
}

static void impossible_comparisons(void **state)
{
    image m = make_image(*state, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    const field *wins = sum_named(&a, "wins"), *decided = sum_named(&a, "decided"),
                *relation = sum_named(&a, "relation");
    assert_true(wins && decided && relation);
    for (size_t pair = 0; pair < wins->n; pair++) {
        double most = number_at(m.byte + decided->value + 8 * pair);
        expect_number(&m, wins->value + 8 * pair, most + 1, OLTR_ESTATE,
                      "more wins than comparisons");
        expect_number(&m, wins->value + 8 * pair, -most - 1, OLTR_ESTATE,
                      "more losses than comparisons");
        expect_number(&m, decided->value + 8 * pair, -1, OLTR_ESTATE, "fewer than no comparisons");
        expect_number(&m, relation->value + 8 * pair, 2, OLTR_ESTATE, "a relation that is none");
        expect_number(&m, relation->value + 8 * pair, -0.5, OLTR_ESTATE, "a relation that is none");
    }
    free(m.byte);
}

/* ---- what is taken, is a policy */

static void assert_policy(oltr_policy *p)
{
    clock_t begun = clock();
    uint32_t n = oltr_policy_settings(p)->n_items, item[MOST_ITEMS];
    double score[MOST_ITEMS], mean[MOST_ITEMS] = {0}, sd[MOST_ITEMS] = {0};
    assert_int_equal(oltr_check(p, NULL), OLTR_OK);
    for (uint64_t round = 0; round < 2; round++) {
        assert_int_equal(rank_at(p, NULL, round, n, item, score), OLTR_OK);
        assert_valid_list(NULL, n, n, item, score);
        oltr_predict(p, NULL, mean, sd);
        for (uint32_t i = 0; i < n; i++)
            if (!isfinite(mean[i]) || !isfinite(sd[i]) || sd[i] < 0)
                fail_msg("item %u: mean %g, sd %g", i, mean[i], sd[i]);
        learn_many(p, round, 1);
        assert_swift(begun, "a few rounds of a forged snapshot");
    }
    oltr_policy *copy = copy_of(p);
    assert_true(same_state(p, copy));
    oltr_policy_free(copy);
}

/* The last round that can be learned can be saved and loaded, and the one behind it is refused and
 * changes nothing. */
static void rounds_have_an_end(void **state)
{
    image m = make_image(*state, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    uint32_t item = 1;
    double reward = 0;
    oltr_ranking shown = {1, &item, NULL};
    oltr_feedback seen = {1, &reward};
    set_little(m.byte + a.rounds, 8, ((uint64_t)1 << 49) - 1);
    seal(m.byte, m.size);
    oltr_policy *p = oltr_load(m.byte, m.size, NULL);
    assert_non_null(p);
    assert_int_equal(oltr_learn(p, NULL, &shown, &seen), OLTR_OK);
    oltr_policy *copy = copy_of(p);
    assert_int_equal(oltr_policy_rounds(copy), (uint64_t)1 << 49);
    assert_int_equal(oltr_learn(copy, NULL, &shown, &seen), OLTR_ESTATE);
    assert_true(same_state(p, copy));
    if (oltr_policy_settings(p)->info->can_merge)
        assert_int_equal(oltr_merge(p, copy), OLTR_ESTATE);
    oltr_policy_free(copy);
    oltr_policy_free(p);
    expect_field(&m, a.rounds, 8, ((uint64_t)1 << 49) + 1, OLTR_ESTATE, "a round too many");
    free(m.byte);
}

/* As many observations as a snapshot may claim: it learns, saves and loads; what two of them add up
 * to is refused whole. */
static void counts_have_an_end(void **state)
{
    image m = make_image(*state, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    const field *n = sum_named(&a, "examined");
    if (n) {
        set_number(m.byte + n->value + 8, 1e15);
        seal(m.byte, m.size);
        oltr_policy *p = oltr_load(m.byte, m.size, NULL), *q = oltr_load(m.byte, m.size, NULL);
        assert_true(p && q);
        assert_int_equal(oltr_merge(p, q), OLTR_ESTATE);
        assert_true(same_state(p, q));
        learn_many(p, 5, 40);
        oltr_policy *copy = copy_of(p);
        assert_true(same_state(p, copy));
        oltr_policy_free(copy);
        oltr_policy_free(p);
        oltr_policy_free(q);
        expect_number(&m, n->value + 8, 2e15, OLTR_ESTATE, "more observations than can be");
    }
    free(m.byte);
}

/* Random changes of one to three bytes, sealed.  The number of items stays: what it costs is
 * memory.c's affair. */
static void random_forgeries(void **state)
{
    image m = make_image(*state, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    dice d = {63};
    for (int n = 0; n < 600; n++) {
        image forged = copy_image(&m);
        for (uint32_t change = 1 + below(&d, 3); change > 0; change--)
            forged.byte[AT_KIND + below(&d, (uint32_t)(a.checksum - AT_KIND))] ^=
                (unsigned char)(1u << below(&d, 8));
        set_little(forged.byte + a.items, 4, ITEMS);
        seal(forged.byte, forged.size);
        oltr_policy *p = oltr_load(forged.byte, forged.size, NULL);
        if (p)
            assert_policy(p);
        oltr_policy_free(p);
        free(forged.byte);
    }
    free(m.byte);
}

/* One number replaced by the worst there are. */
static void try_numbers(const image *m, size_t at)
{
    static const double worst[] = {0,   -0.0, 5e-324, 1e-300, 1e-30, 0.5,  -1,
                                   1e6, 1e15, 1e30,   -1e30,  1e100, 1e308};
    for (size_t i = 0; i < sizeof worst / sizeof *worst; i++) {
        image forged = copy_image(m);
        set_number(forged.byte + at, worst[i]);
        seal(forged.byte, forged.size);
        oltr_policy *p = oltr_load(forged.byte, forged.size, NULL);
        if (p)
            assert_policy(p);
        oltr_policy_free(p);
        free(forged.byte);
    }
}

static void forged_numbers(void **state)
{
    image m = make_image(*state, ITEMS);
    anatomy a = dissect(m.byte, m.size);
    for (size_t j = 0; j < 2 * ITEMS && a.form; j++)
        try_numbers(&m, a.prior_values + 8 * j);
    for (uint32_t s = 0; s < a.sums; s++)
        for (size_t j = 0; j < a.sum[s].n; j++)
            try_numbers(&m, a.sum[s].value + 8 * j);
    free(m.byte);
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ON_VARIANTS(&all, &variants, room_is_respected);
    ON_VARIANTS(&all, &variants, the_format_is_as_described);
    ON_VARIANTS(&all, &variants, cut_short);
    ON_VARIANTS(&all, &variants, one_bit_wrong);
    ON_VARIANTS(&all, &variants, one_bit_wrong_in_a_large_one);
    ON_VARIANTS(&all, &variants, bytes_too_many);
    ON_VARIANTS(&all, &variants, another_version);
    ON_VARIANTS(&all, &variants, another_file);
    ON_VARIANTS(&all, &variants, lies_about_lengths);
    ON_VARIANTS(&all, &variants, lies_about_counts);
    ON_VARIANTS(&all, &variants, unknown_names);
    ON_VARIANTS(&all, &variants, a_parameter_twice);
    ON_VARIANTS(&all, &variants, parameters_out_of_bounds);
    ON_VARIANTS(&all, &variants, bad_priors);
    ON_VARIANTS(&all, &variants, sums_that_are_no_numbers);
    ON_VARIANTS(&all, &variants, impossible_counts);
    ON_VARIANTS(&all, &variants, clicks_from_nowhere);
    ON_SOME_VARIANTS(&all, &variants, impossible_comparisons, is_toprank);
    ON_VARIANTS(&all, &variants, rounds_have_an_end);
    ON_VARIANTS(&all, &variants, counts_have_an_end);
    ON_VARIANTS(&all, &variants, random_forgeries);
    ON_VARIANTS(&all, &variants, forged_numbers);
    return cmocka_run_group_tests_name("no snapshot is believed", all.test, NULL, NULL);
}
