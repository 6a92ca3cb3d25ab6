/* snapshots.c - a snapshot comes from a disk or a network: nothing in it may be trusted.
 *
 * First accidents: cut short, one bit wrong, too many bytes, another file, a newer version.  Then
 * forgeries, whose checksum is right and whose content is not.  Each must be refused with a status
 * and a text, and none may crash, for every policy.  What is loaded must be a policy like any
 * other.
 */
#include "conform/fixtures.h"

enum { FEW = 3 };

static variant_list variants;

/* The variants whose snapshots differ; with features, all settings of `norm` have the same ones. */
static bool is_distinct(const variant *v)
{
    return !v->info->contextual || (!v->at_bound && chosen(v, "norm", "accept"));
}

static image make_image(const variant *v, uint32_t n_items)
{
    oltr_policy *p = policy_of(v, n_items);
    learn_many(p, 1, 25);
    image m = image_of(p);
    oltr_policy_free(p);
    return m;
}

/* Loads from a block of exactly that size, so that a sanitizer sees a read beyond the end. */
static oltr_status load_status(const unsigned char *byte, size_t size, oltr_error *error)
{
    unsigned char *exact = exactly(size, 1);
    memcpy(exact, byte, size);
    *error = (oltr_error){OLTR_OK, ""};
    oltr_policy *p = oltr_load(exact, size, error);
    free(exact);
    assert_true(p || (error->code != OLTR_OK && strlen(error->msg) > 10));
    oltr_policy_free(p);
    return p ? OLTR_OK : error->code;
}

static void expect_load(const unsigned char *byte, size_t size, oltr_status wanted)
{
    oltr_error error;
    expect(load_status(byte, size, &error), wanted);
}

/* ---- saving */

static void room_is_respected(void **state)
{
    oltr_policy *p = policy_of(*state, FEW);
    size_t bound = oltr_save_bound(p), written = 0;
    unsigned char *buffer = exactly(bound + 8, 1);
    memset(buffer, 0x5A, bound + 8);
    expect(oltr_save(p, buffer, bound + 8, &written), OLTR_OK);
    assert_true(written > 32 && written <= bound);
    for (size_t i = written; i < bound + 8; i++)
        assert_int_equal(buffer[i], 0x5A);
    expect(oltr_save(p, buffer, written, &written), OLTR_OK);
    for (size_t room = 0; room < written; room += (EFFORT > 1) ? 1 : 5) {
        unsigned char *tight = exactly(room, 1);
        expect(oltr_save(p, tight, room, &bound), OLTR_EBUFFER);
        free(tight);
    }
    expect(oltr_save(NULL, buffer, written, &bound), OLTR_EINVAL);
    expect(oltr_save(p, NULL, written, &bound), OLTR_EINVAL);
    expect(oltr_save(p, buffer, written, NULL), OLTR_EINVAL);
    assert_int_equal(oltr_save_bound(NULL), 0);
    free(buffer);
    oltr_policy_free(p);
}

/* The bytes are those of the described format, as the reader of the tests reads them. */
static void the_format_is_as_described(void **state)
{
    const variant *v = *state;
    image m = make_image(v, FEW);
    anatomy a = dissect_image(&m);
    assert_memory_equal(m.byte, "OLTRSNAP", 8);
    assert_int_equal(little(m.byte + AT_VERSION, 4), 2);
    assert_int_equal(little(m.byte + AT_RESERVED, 4), 0);
    assert_int_equal(little(m.byte + AT_LENGTH, 8), m.size);
    assert_memory_equal(m.byte + AT_KIND + 4, v->info->name, strlen(v->info->name));
    assert_int_equal(little(m.byte + a.items, 4), FEW);
    assert_int_equal(little(m.byte + a.dim, 4), v->info->contextual ? DIM : 0);
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
    image m = make_image(*state, FEW);
    oltr_error error = {OLTR_OK, ""};
    for (size_t size = 0; size < m.size; size += (EFFORT > 1) ? 1 : 3) {
        oltr_status status = load_status(m.byte, size, &error);
        assert_true(status == OLTR_ETRUNCATED || (size < 8 && status == OLTR_EMAGIC));
    }
    expect_load(m.byte, m.size, OLTR_OK);
    assert_null(oltr_load(NULL, 0, &error));
    expect(error.code, OLTR_EINVAL);
    assert_null(oltr_load(m.byte, 0, NULL));
    free(m.byte);
}

/* The status that one wrong bit must give. */
static bool fits_flip(size_t at, oltr_status status)
{
    if (at < AT_VERSION)
        return status == OLTR_EMAGIC;
    if (at < AT_RESERVED)
        return status == OLTR_EVERSION || status == OLTR_ECHECKSUM;
    if (at >= AT_LENGTH && at < AT_KIND)
        return status == OLTR_ETRUNCATED;
    return status == OLTR_ECHECKSUM;
}

static void flip(const image *m, size_t at, uint32_t bit)
{
    oltr_error error;
    m->byte[at] ^= (unsigned char)(1u << bit);
    oltr_status status = load_status(m->byte, m->size, &error);
    if (!fits_flip(at, status))
        fail_msg("bit %u of byte %zu is wrong: %s", bit, at, oltr_status_name(status));
    m->byte[at] ^= (unsigned char)(1u << bit);
}

static void one_bit_wrong(void **state)
{
    image m = make_image(*state, FEW);
    /* Steps of 3 reach every byte, and every bit of a byte in turn. */
    for (size_t bit = 0; bit < 8 * m.size; bit += (EFFORT > 1) ? 3 : 11)
        flip(&m, bit / 8, (uint32_t)(bit % 8));
    free(m.byte);
}

static void one_bit_wrong_in_a_large_one(void **state)
{
    image m = make_image(*state, 120);
    dice d = {61};
    for (int n = 0; n < 40; n++)
        flip(&m, below(&d, (uint32_t)m.size), below(&d, 8));
    expect_load(m.byte, m.size, OLTR_OK);
    free(m.byte);
}

static void bytes_too_many(void **state)
{
    image m = make_image(*state, FEW);
    unsigned char *longer = exactly(m.size + 64, 1);
    memcpy(longer, m.byte, m.size);
    for (size_t more = 1; more <= 64; more *= 2)
        expect_load(longer, m.size + more, OLTR_ETRUNCATED);
    seal(longer, m.size + 8); /* also where the length includes them */
    expect_load(longer, m.size + 8, OLTR_ECORRUPT);
    free(longer);
    free(m.byte);
}

/* A newer version is refused before its checksum, which may be another one. */
static void another_version(void **state)
{
    static const uint32_t newer[] = {3, 4, 255, 65536, UINT32_MAX};
    image m = make_image(*state, FEW);
    oltr_error error;
    for (size_t i = 0; i < COUNT(newer); i++) {
        set_little(m.byte + AT_VERSION, 4, newer[i]);
        expect_load(m.byte, m.size, OLTR_EVERSION);
        seal(m.byte, m.size);
        expect_load(m.byte, m.size, OLTR_EVERSION);
    }
    set_little(m.byte + AT_VERSION, 4, 0); /* there is no version 0 */
    seal(m.byte, m.size);
    assert_int_not_equal(load_status(m.byte, m.size, &error), OLTR_OK);
    free(m.byte);
}

static void another_file(void **state)
{
    image m = make_image(*state, FEW);
    dice d = {62};
    unsigned char noise[400];
    oltr_error error;
    m.byte[7] = 'Q';
    seal(m.byte, m.size);
    expect_load(m.byte, m.size, OLTR_EMAGIC);
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)roll(&d);
    expect_load(noise, sizeof noise, OLTR_EMAGIC);
    memcpy(noise, "OLTRSNAP", 8);
    assert_int_not_equal(load_status(noise, sizeof noise, &error), OLTR_OK);
    memset(noise, 0, sizeof noise);
    expect_load(noise, sizeof noise, OLTR_EMAGIC);
    free(m.byte);
}

/* ---- forgeries: each changes a good snapshot, which is then sealed again */

/* Puts `n` bytes (NULL: zeros) in place of `gone` bytes. */
static void splice(image *m, size_t at, size_t gone, const void *bytes, size_t n)
{
    image out = {m->size - gone + n, exactly(m->size - gone + n, 1)};
    memcpy(out.byte, m->byte, at);
    if (bytes)
        memcpy(out.byte + at, bytes, n);
    memcpy(out.byte + at + n, m->byte + at + gone, m->size - at - gone);
    free(m->byte);
    *m = out;
}

/* Seals the image, loads it and frees it. */
static void expect_forged(image forged, oltr_status wanted, oltr_status or_else, const char *what)
{
    oltr_error error;
    seal(forged.byte, forged.size);
    oltr_status got = load_status(forged.byte, forged.size, &error);
    if (got != wanted && got != or_else)
        fail_msg("%s: got %s (%s), expected %s", what, oltr_status_name(got), error.msg,
                 oltr_status_name(wanted));
    free(forged.byte);
}

/* The snapshot with one little-endian number replaced. */
static void expect_field(const image *m, size_t at, int bytes, uint64_t value, oltr_status or_else,
                         const char *what)
{
    image forged = copy_image(m);
    set_little(forged.byte + at, bytes, value);
    expect_forged(forged, OLTR_ECORRUPT, or_else, what);
}

static void expect_number(const image *m, size_t at, double value, oltr_status wanted,
                          const char *what)
{
    image forged = copy_image(m);
    set_number(forged.byte + at, value);
    expect_forged(forged, wanted, wanted, what);
}

static void lies_about_lengths(void **state)
{
    static const uint64_t lies[] = {0, 1, 63, 64, 65, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    for (size_t i = 0; i < COUNT(lies); i++) {
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
    static const uint64_t lies[] = {0,         1, 3, 1u << 20, (uint64_t)1 << 32, (uint64_t)1 << 61,
                                    UINT64_MAX};
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    expect_field(&m, a.items, 4, 0, OLTR_EITEM, "no items");
    expect_field(&m, a.items, 4, UINT32_MAX, OLTR_EITEM, "four billion items");
    if (has_no_features(*state) && (a.sums || a.form)) {
        expect_field(&m, a.items, 4, FEW + 1, OLTR_EPRIOR, "an item too many");
        expect_field(&m, a.items, 4, FEW - 1, OLTR_EPRIOR, "an item too few");
    }
    for (uint32_t dim = DIM - 1; has_features(*state) && dim <= DIM + 1; dim += 2)
        expect_field(&m, a.dim, 4, dim, OLTR_ECORRUPT, "features");
    if (has_features(*state)) {
        expect_field(&m, a.dim, 4, 0, OLTR_EFEATURE, "no features");
        expect_field(&m, a.dim, 4, UINT32_MAX, OLTR_EFEATURE, "four billion features");
    }
    expect_field(&m, a.rounds, 8, UINT64_MAX, OLTR_ESTATE, "rounds without end");
    expect_field(&m, a.rounds, 8, (uint64_t)1 << 63, OLTR_ESTATE, "rounds without end");
    for (uint32_t s = 0; s < a.sums; s++) {
        for (size_t i = 0; i < COUNT(lies); i++)
            if (lies[i] != a.sum[s].n)
                expect_field(&m, a.sum[s].count, 8, lies[i], OLTR_ECORRUPT, a.sum[s].text);
        expect_field(&m, a.sum[s].count, 8, a.sum[s].n + 1, OLTR_ECORRUPT, a.sum[s].text);
        expect_field(&m, a.sum[s].count, 8, a.sum[s].n - 1, OLTR_ECORRUPT, a.sum[s].text);
    }
    expect_field(&m, AT_RESERVED, 4, 1, OLTR_EVERSION, "what is reserved is zero");
    free(m.byte);
}

/* The snapshot with the first letter of a name changed. */
static void expect_renamed(const image *m, size_t name, oltr_status or_else, const char *what)
{
    image forged = copy_image(m);
    forged.byte[name + 4] ^= 1;
    expect_forged(forged, OLTR_ECORRUPT, or_else, what);
}

static void unknown_names(void **state)
{
    image m = make_image(*state, FEW), forged = copy_image(&m);
    anatomy a = dissect_image(&m);
    forged.byte[AT_KIND + 5] = 0;
    expect_forged(forged, OLTR_ECORRUPT, OLTR_EKIND, "a zero in the kind");
    expect_renamed(&m, AT_KIND, OLTR_EKIND, "unknown kind");
    for (uint32_t p = 0; p < a.params; p++)
        expect_renamed(&m, a.param[p].name, OLTR_EPARAM, "unknown parameter");
    for (uint32_t s = 0; s < a.sums; s++)
        expect_renamed(&m, a.sum[s].name, OLTR_ECORRUPT, "unknown sum");
    free(m.byte);
}

/* It is not defined which of the two counts. */
static void a_parameter_twice(void **state)
{
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    for (uint32_t p = 0; p < a.params; p++) {
        image forged = copy_image(&m);
        size_t begin = a.param[p].name, length = a.param[p].value + 8 - begin;
        set_little(forged.byte + a.n_params, 4, a.params + 1);
        splice(&forged, begin, 0, m.byte + begin, length);
        expect_forged(forged, OLTR_ECORRUPT, OLTR_EPARAM, "a parameter twice");
    }
    free(m.byte);
}

static void parameters_out_of_bounds(void **state)
{
    const variant *v = *state;
    image m = make_image(v, FEW);
    anatomy a = dissect_image(&m);
    for (uint32_t p = 0; p < a.params; p++) {
        const oltr_param *param = &v->info->params[p];
        const double bad[] = {param->max + fabs(param->max) + 1,
                              param->min - fabs(param->min) - 1,
                              (double)NAN,
                              (double)INFINITY,
                              -(double)INFINITY,
                              1e308};
        for (size_t i = 0; i < COUNT(bad); i++)
            expect_number(&m, a.param[p].value, bad[i], OLTR_ECORRUPT, param->name);
        if (param->type != OLTR_REAL)
            expect_number(&m, a.param[p].value, param->min + 0.5, OLTR_ECORRUPT, param->name);
    }
    free(m.byte);
}

static void bad_priors(void **state)
{
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 0, -1};
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    expect_field(&m, a.prior, 4, 3, OLTR_EPRIOR, "a third form of prior");
    expect_field(&m, a.prior, 4, UINT32_MAX, OLTR_EPRIOR, "a third form of prior");
    if (!a.form) {
        expect_field(&m, a.prior, 4, 1, OLTR_EPRIOR, "a prior that is not there");
        expect_field(&m, a.prior, 4, 2, OLTR_EPRIOR, "a prior that is not there");
    }
    for (size_t j = 0; j < 2 * FEW && a.form; j++)
        for (size_t i = 0; i < (a.form == MOMENTS && j < FEW ? 3 : COUNT(bad)); i++)
            expect_number(&m, a.prior_values + 8 * j, bad[i], OLTR_EPRIOR, "a number of the prior");
    if (takes_prior(*state)) {
        image forged = copy_image(&m);
        set_little(forged.byte + a.prior, 4, 0);
        splice(&forged, a.prior_values, 16 * FEW, NULL, 0);
        expect_forged(forged, OLTR_EPRIOR, OLTR_EPRIOR, "no prior where one is taken");
    }
    free(m.byte);
}

/* ---- sums that no history has */

/* A number of rows that does not fit the arrays behind it makes them unreadable. */
static void sums_that_are_no_numbers(void **state)
{
    const double bad[] = {(double)NAN, -(double)NAN, (double)INFINITY, -(double)INFINITY};
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    for (uint32_t s = 0; s < a.sums; s++)
        for (size_t j = 0; j < a.sum[s].n; j++)
            for (size_t i = 0; i < COUNT(bad); i++) {
                bool rows = j == 0 && strcmp(a.sum[s].text, "count") == 0;
                expect_number(&m, a.sum[s].value + 8 * j, bad[i],
                              rows ? OLTR_ECORRUPT : OLTR_ESTATE, a.sum[s].text);
            }
    free(m.byte);
}

static bool compares_items(const variant *v)
{
    return is_kind(v, "toprank") || is_kind(v, "bubblerank");
}

/* Per-item counts: negative observations, negative clicks, more clicks than observations. */
static void impossible_counts(void **state)
{
    const variant *v = *state;
    image m = make_image(v, FEW);
    anatomy a = dissect_image(&m);
    const field *n = sum_named(&a, "examined"), *s = sum_named(&a, "reward");
    assert_true((n && s) || a.sums == 0 || compares_items(v));
    for (size_t i = 0; n && s && i < FEW; i++) {
        double seen = number_at(m.byte + n->value + 8 * i);
        expect_number(&m, n->value + 8 * i, -1, OLTR_ESTATE, "negative observations");
        expect_number(&m, n->value + 8 * i, -1e-9, OLTR_ESTATE, "negative observations");
        if (v->info->rewards == OLTR_REALS)
            continue;
        expect_number(&m, s->value + 8 * i, -1, OLTR_ESTATE, "negative clicks");
        expect_number(&m, s->value + 8 * i, seen + 1, OLTR_ESTATE, "too many clicks");
        expect_number(&m, s->value + 8 * i, 1e300, OLTR_ESTATE, "too many clicks");
    }
    if (n && s && v->info->rewards == OLTR_CLICKS) {
        set_number(m.byte + n->value, 0);
        set_number(m.byte + s->value, 1);
        expect_forged(copy_image(&m), OLTR_ESTATE, OLTR_ESTATE, "a click without an observation");
    }
    free(m.byte);
}

static void impossible_comparisons(void **state)
{
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    const field *wins = sum_named(&a, "wins"), *decided = sum_named(&a, "decided"),
                *relation = sum_named(&a, "relation");
    assert_true(wins && decided);
    for (size_t at = 0; at < 8 * wins->n; at += 8) {
        double most = number_at(m.byte + decided->value + at);
        expect_number(&m, wins->value + at, most + 1, OLTR_ESTATE, "more wins than comparisons");
        expect_number(&m, wins->value + at, -most - 1, OLTR_ESTATE, "more losses than comparisons");
        expect_number(&m, decided->value + at, -1, OLTR_ESTATE, "negative comparisons");
        if (!relation)
            continue;
        expect_number(&m, relation->value + at, 2, OLTR_ESTATE, "a relation that is none");
        expect_number(&m, relation->value + at, -0.5, OLTR_ESTATE, "a relation that is none");
    }
    free(m.byte);
}

/* A base list has every item once. */
static void impossible_lists(void **state)
{
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    const field *base = sum_named(&a, "base");
    assert_true(base && base->n == FEW);
    double first = number_at(m.byte + base->value);
    for (size_t at = 8; at < 8 * FEW; at += 8)
        expect_number(&m, base->value + at, first, OLTR_ESTATE, "an item that occurs twice");
    expect_number(&m, base->value, FEW, OLTR_ESTATE, "an item that does not exist");
    expect_number(&m, base->value, -1, OLTR_ESTATE, "an item that does not exist");
    expect_number(&m, base->value, first + 0.5, OLTR_ESTATE, "half an item");
    free(m.byte);
}

static bool has_base(const variant *v)
{
    return is_kind(v, "bubblerank");
}

/* What an item was shown in slots is within how often it was shown. */
static void impossible_slots(void **state)
{
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    const field *n = sum_named(&a, "examined");
    assert_true(n && a.sums > 2);
    for (uint32_t s = 2; s < a.sums; s++)
        for (size_t at = 0; at < 8 * FEW; at += 8) {
            double most = number_at(m.byte + n->value + at);
            expect_number(&m, a.sum[s].value + at, most + 1, OLTR_ESTATE, a.sum[s].text);
            expect_number(&m, a.sum[s].value + at, -1, OLTR_ESTATE, a.sum[s].text);
        }
    free(m.byte);
}

static bool has_slots(const variant *v)
{
    return is_kind(v, "pbm-ts") || is_kind(v, "pbm-ucb");
}

/* Packed by columns, the diagonal is at 0, d, d + (d-1), ... */
static size_t diagonal(size_t c)
{
    return c * DIM - c * (c - 1) / 2;
}

/* Squares below zero, and products that no squares on the diagonal allow. */
static void squares_that_cannot_be(void **state)
{
    static const char *const squares[] = {"gram", "weighted-gram", "precision"};
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    for (size_t q = 0; q < COUNT(squares); q++) {
        const field *f = sum_named(&a, squares[q]);
        if (!f || !f->n)
            continue;
        for (size_t c = 0; c < DIM; c++) {
            expect_number(&m, f->value + 8 * diagonal(c), -1, OLTR_ESTATE, squares[q]);
            expect_number(&m, f->value + 8 * diagonal(c), -1e300, OLTR_ESTATE, squares[q]);
        }
        expect_number(&m, f->value + 8, 1e6, OLTR_ESTATE, squares[q]);
        expect_number(&m, f->value + 8, -1e6, OLTR_ESTATE, squares[q]);
    }
    free(m.byte);
}

/* Each pair of features could be correlated at -0.9, but not all four of them at once.  A ridge
 * that is large beside the sums makes them possible again: refused, or loaded and sound. */
static void correlations_that_cannot_be(void **state)
{
    static const char *const squares[] = {"gram", "weighted-gram"};
    for (size_t q = 0; q < COUNT(squares); q++) {
        image m = make_image(*state, FEW);
        anatomy a = dissect_image(&m);
        const field *f = sum_named(&a, squares[q]);
        oltr_error error = {OLTR_OK, ""};
        for (size_t c = 0; f && f->n && c < DIM; c++)
            for (size_t r = c + 1; r < DIM; r++) {
                double product = number_at(m.byte + f->value + 8 * diagonal(c)) *
                                 number_at(m.byte + f->value + 8 * diagonal(r));
                set_number(m.byte + f->value + 8 * (diagonal(c) + r - c), -0.9 * sqrt(product));
            }
        seal(m.byte, m.size);
        oltr_policy *p = oltr_load(m.byte, m.size, &error);
        if (p)
            assert_sound(p);
        else
            expect(error.code, OLTR_ESTATE);
        oltr_policy_free(p);
        free(m.byte);
    }
}

/* The rows that a logistic posterior keeps; pg-ts draws for whole counts only. */
static void impossible_rows(void **state)
{
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    const field *count = sum_named(&a, "count"), *examined = sum_named(&a, "examined"),
                *clicked = sum_named(&a, "clicked"), *row = sum_named(&a, "row");
    assert_true(count && examined && clicked && row);
    double n = number_at(m.byte + count->value);
    const double lies[] = {n + 1, n - 1, -1, n + 0.5, 1e300, 4294967296.0};
    for (size_t i = 0; i < COUNT(lies); i++) {
        image forged = copy_image(&m);
        set_number(forged.byte + count->value, lies[i]);
        expect_forged(forged, OLTR_ESTATE, OLTR_ECORRUPT, "number of rows");
    }
    for (size_t at = 0; at < 8 * examined->n; at += 8) {
        double seen = number_at(m.byte + examined->value + at);
        expect_number(&m, examined->value + at, -1, OLTR_ESTATE, "examined");
        expect_number(&m, clicked->value + at, -1, OLTR_ESTATE, "clicked");
        expect_number(&m, clicked->value + at, seen + 1, OLTR_ESTATE, "too many clicks");
        if (is_kind(*state, "pg-ts"))
            expect_number(&m, examined->value + at, seen + 0.5, OLTR_ESTATE, "a fraction");
    }
    for (size_t at = 0; at < 8 * row->n; at += 8)
        expect_number(&m, row->value + at, 1e300, OLTR_ESTATE, "a row too large for its type");
    free(m.byte);
}

static bool is_logistic(const variant *v)
{
    return has_logistic_posterior(v->info) && !v->at_bound;
}

/* ---- what is loaded is a policy */

/* The last round that can be learned can be saved and loaded; the next one is refused and changes
 * nothing. */
static void rounds_have_an_end(void **state)
{
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    request r;
    set_little(m.byte + a.rounds, 8, ((uint64_t)1 << 49) - 1);
    seal(m.byte, m.size);
    oltr_policy *p = load_image(&m);
    whole_request(p, &r);
    expect(learn_request(p, &r), OLTR_OK);
    oltr_policy *copy = copy_of(p);
    assert_int_equal(oltr_policy_rounds(copy), (uint64_t)1 << 49);
    expect(learn_request(copy, &r), OLTR_ESTATE);
    assert_true(same_state(p, copy));
    if (oltr_policy_settings(p)->info->can_merge)
        expect(oltr_merge(p, copy), OLTR_ESTATE);
    oltr_policy_free(copy);
    oltr_policy_free(p);
    expect_field(&m, a.rounds, 8, ((uint64_t)1 << 49) + 1, OLTR_ESTATE, "a round too many");
    free(m.byte);
}

/* A policy with the largest number of observations learns, saves and loads; the sum of two of them
 * is refused whole. */
static void counts_have_an_end(void **state)
{
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    const field *n = sum_named(&a, "examined");
    if (n && n->n == FEW) {
        set_number(m.byte + n->value + 8, 1e15);
        seal(m.byte, m.size);
        oltr_policy *p = load_image(&m), *q = load_image(&m);
        expect(oltr_merge(p, q), OLTR_ESTATE);
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

/* Seals, loads and frees the image; what is loaded must work. */
static void try_forged(image forged, const char *what)
{
    seal(forged.byte, forged.size);
    oltr_policy *p = oltr_load(forged.byte, forged.size, NULL);
    if (p)
        assert_usable(p, what);
    oltr_policy_free(p);
    free(forged.byte);
}

/* Random changes of one to three bits.  Items and features stay: memory.c tests what a claim of
 * many of them costs. */
static void random_forgeries(void **state)
{
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    dice d = {63};
    for (int n = 0; n < (has_features(*state) ? 19 : 75) * EFFORT; n++) {
        image forged = copy_image(&m);
        char what[64];
        snprintf(what, sizeof what, "forgery %d", n);
        for (uint32_t change = 1 + below(&d, 3); change > 0; change--)
            forged.byte[AT_KIND + below(&d, (uint32_t)(a.checksum - AT_KIND))] ^=
                (unsigned char)(1u << below(&d, 8));
        memcpy(forged.byte + a.items, m.byte + a.items, 8);
        try_forged(forged, what);
    }
    free(m.byte);
}

/* One number replaced by the worst there are. */
static void try_numbers(const image *m, size_t at, const char *name)
{
    static const double worst[] = {0,   -0.0, 5e-324, 1e-300, 1e-30, 0.5,  -1,
                                   1e6, 1e15, 1e30,   -1e30,  1e100, 1e308};
    for (size_t i = 0; i < COUNT(worst); i++) {
        image forged = copy_image(m);
        char what[128];
        snprintf(what, sizeof what, "%s = %g", name, worst[i]);
        set_number(forged.byte + at, worst[i]);
        try_forged(forged, what);
    }
}

static void forged_numbers(void **state)
{
    image m = make_image(*state, FEW);
    anatomy a = dissect_image(&m);
    for (size_t j = 0; j < 2 * FEW && a.form; j++)
        try_numbers(&m, a.prior_values + 8 * j, "a number of the prior");
    for (uint32_t s = 0; s < a.sums; s++)
        for (size_t j = 0; j < a.sum[s].n; j += 1 + a.sum[s].n / (4 + EFFORT))
            try_numbers(&m, a.sum[s].value + 8 * j, a.sum[s].text);
    free(m.byte);
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ON_VARIANTS(&all, &variants, room_is_respected);
    ON_VARIANTS(&all, &variants, the_format_is_as_described);
    ON_SOME_VARIANTS(&all, &variants, cut_short, is_distinct);
    ON_SOME_VARIANTS(&all, &variants, one_bit_wrong, is_distinct);
    ON_SOME_VARIANTS(&all, &variants, one_bit_wrong_in_a_large_one, is_distinct);
    ON_VARIANTS(&all, &variants, bytes_too_many);
    ON_VARIANTS(&all, &variants, another_version);
    ON_VARIANTS(&all, &variants, another_file);
    ON_SOME_VARIANTS(&all, &variants, lies_about_lengths, is_distinct);
    ON_SOME_VARIANTS(&all, &variants, lies_about_counts, is_distinct);
    ON_SOME_VARIANTS(&all, &variants, unknown_names, is_distinct);
    ON_SOME_VARIANTS(&all, &variants, a_parameter_twice, is_distinct);
    ON_VARIANTS(&all, &variants, parameters_out_of_bounds);
    ON_VARIANTS(&all, &variants, bad_priors);
    ON_SOME_VARIANTS(&all, &variants, sums_that_are_no_numbers, is_distinct);
    ON_SOME_VARIANTS(&all, &variants, impossible_counts, has_no_features);
    ON_SOME_VARIANTS(&all, &variants, impossible_comparisons, compares_items);
    ON_SOME_VARIANTS(&all, &variants, impossible_lists, has_base);
    ON_SOME_VARIANTS(&all, &variants, impossible_slots, has_slots);
    ON_SOME_VARIANTS(&all, &variants, squares_that_cannot_be, is_distinct);
    ON_SOME_VARIANTS(&all, &variants, correlations_that_cannot_be, is_distinct);
    ON_SOME_VARIANTS(&all, &variants, impossible_rows, is_logistic);
    ON_VARIANTS(&all, &variants, rounds_have_an_end);
    ON_VARIANTS(&all, &variants, counts_have_an_end);
    ON_VARIANTS(&all, &variants, random_forgeries);
    ON_SOME_VARIANTS(&all, &variants, forged_numbers, is_distinct);
    return cmocka_run_group_tests_name("no snapshot is trusted", all.test, NULL, NULL);
}
