/* model_images.c - the image of a model comes from a disk or a network: nothing in it may be
 * trusted.
 *
 * First what an image is: everything that the model is and nothing else, no room, no key of the
 * hash.  Then accidents, and forgeries whose checksums are right: a name or an id twice, names of 0
 * and 513 bytes, more ids than the window, bytes left over, counts that claim gigabytes.  Each is
 * refused with a sentence before memory is taken for it, or it is a model that ranks, learns,
 * predicts numbers and passes oltr_model_check().
 */
#include "conform/model_fixtures.h"
#include "support/model_image.h"

enum { ITEMS_IN = 5, IDS_IN = 4, WINDOW = 0x00ABCDE7, MUTATIONS = 50 };

static variant_list variants;

/* ---- a model whose parts can be found */

static const char *const long_name[ITEMS_IN] = {
    "the first name of the image", "a second name in the image!", "name no. three in the image",
    "a 4th name is in this image", "and the last name there is."};
static const char *const long_id[IDS_IN] = {"identity of a  lesson", "identity of no. two  ",
                                            "identity of the third", "identity of lesson 4 "};

static oltr_model *findable_model(const variant *v)
{
    oltr_model_settings s = model_settings_for(v);
    s.window = WINDOW;
    oltr_model *m = model_from(&s);
    for (uint32_t i = 0; i < IDS_IN; i++) {
        oltr_name name[ITEMS_IN];
        double reward[ITEMS_IN] = {0, 1, 0, 1, 0};
        float x[ITEMS_IN * DIM];
        for (uint32_t j = 0; j < ITEMS_IN; j++) {
            name[j] = name_of_text(long_name[j]);
            memcpy(x + j * DIM, pool_row(j + i), DIM * sizeof *x);
        }
        bool rows = v->info->contextual;
        oltr_lesson lesson = lesson_of(rows ? NULL : name, ITEMS_IN, reward);
        lesson.shown.x = rows ? x : NULL;
        lesson.id = name_of_text(long_id[i]);
        teach_model(m, &lesson);
    }
    return m;
}

static image findable_image(const variant *v)
{
    oltr_model *m = findable_model(v);
    image x = model_image(m);
    oltr_model_free(m);
    return x;
}

/* The status of a load, from a block of exactly that size. */
static oltr_status load_status(const unsigned char *byte, size_t size, oltr_error *error)
{
    unsigned char *exact = exactly(size, 1);
    memcpy(exact, byte, size);
    *error = (oltr_error){OLTR_OK, ""};
    oltr_model *m = oltr_model_load(exact, size, NULL, NULL, error);
    free(exact);
    assert_true(m || (error->code != OLTR_OK && strlen(error->msg) > 10));
    oltr_model_free(m);
    return m ? OLTR_OK : error->code;
}

static void expect_load(const image *m, oltr_status wanted)
{
    oltr_error error;
    oltr_status status = load_status(m->byte, m->size, &error);
    if (status != wanted)
        fail_msg("got %s (%s), expected %s", oltr_status_name(status), error.msg,
                 oltr_status_name(wanted));
}

/* ---- what an image is */

static void room_is_respected(void **state)
{
    oltr_model *m = findable_model(*state);
    image x = model_image(m);
    size_t written = 0, bound = oltr_model_save_bound(m);
    unsigned char *buffer = exactly(bound + 8, 1);
    memset(buffer, 0x5A, bound + 8);
    expect(oltr_model_save(m, buffer, bound + 8, &written), OLTR_OK);
    assert_int_equal(written, x.size);
    for (size_t i = written; i < bound + 8; i++)
        assert_int_equal(buffer[i], 0x5A);
    expect(oltr_model_save(m, buffer, written, &written), OLTR_OK);
    for (size_t room = 0; room < written; room += 1 + room / 8) {
        unsigned char *tight = exactly(room, 1);
        expect(oltr_model_save(m, tight, room, &bound), OLTR_EBUFFER);
        free(tight);
    }
    free(buffer);
    free(x.byte);
    oltr_model_free(m);
}

/* The lengths, checksums and the snapshot of exactly as many items as there are. */
static void the_frame_is_as_described(void **state)
{
    const variant *v = *state;
    for (int empty = 0; empty < 2; empty++) {
        oltr_model *m = empty ? model_of(v) : findable_model(v);
        image x = model_image(m);
        size_t inner_size, inner = inner_snapshot(x.byte, x.size, &inner_size);
        assert_true(place_of_length(x.byte, x.size) != NOT_THERE);
        assert_int_equal(little(x.byte + x.size - 8, 8), slow_crc64(x.byte, x.size - 8));
        assert_true(inner != NOT_THERE);
        anatomy a = dissect(x.byte + inner, inner_size);
        uint32_t items = empty ? 1 : ITEMS_IN;
        assert_int_equal(little(x.byte + inner + a.items, 4),
                         v->info->contextual ? CANDIDATES : items);
        free(x.byte);
        oltr_model_free(m);
    }
}

/* Names that come and go again leave nothing behind. */
static void room_is_not_in_the_image(void **state)
{
    const variant *v = *state;
    oltr_model *m = findable_model(v);
    image before = model_image(m);
    double pair[NAMES][2];
    oltr_name name[NAMES];
    dice d = {1};
    for (uint32_t i = 0; i < NAMES; i++) {
        name[i] = name_at(i);
        draw_pair(&d, v, pair[i]);
    }
    expect(oltr_model_prior(m, name, pair[0], NAMES, NULL), OLTR_OK);
    assert_int_equal(oltr_model_items(m), ITEMS_IN + NAMES);
    for (uint32_t i = NAMES; i-- > 0;)
        expect(oltr_model_remove(m, &name[i], 1, NULL, NULL), OLTR_OK);
    assert_true(same_images(before, model_image(m)));
    assert_model_sound(m);
    oltr_model_free(m);
}

static void the_key_is_not_in_the_image(void **state)
{
    oltr_model_settings s = model_settings_for(*state), t = s;
    t.name_key[0] = 0x1234;
    t.name_key[1] = 0x5678;
    oltr_model *x = model_from(&s), *y = model_from(&t);
    teach_many(x, 1, 30, 0, NAMES);
    teach_many(y, 1, 30, 0, NAMES);
    assert_true(same_models(x, y));
    oltr_model_free(x);
    oltr_model_free(y);
}

/* ---- accidents */

static void cut_short(void **state)
{
    image m = findable_image(*state);
    oltr_error error;
    for (size_t size = 0; size < m.size; size++) {
        oltr_status status = load_status(m.byte, size, &error);
        if (status != OLTR_ETRUNCATED && !(size < 8 && status == OLTR_EMAGIC))
            fail_msg("%zu of %zu bytes: %s", size, m.size, oltr_status_name(status));
    }
    expect_load(&m, OLTR_OK);
    assert_null(oltr_model_load(NULL, 0, NULL, NULL, &error));
    expect(error.code, OLTR_EINVAL);
    free(m.byte);
}

static void one_bit_wrong(void **state)
{
    image m = findable_image(*state);
    oltr_error error;
    for (size_t bit = 0; bit < 8 * m.size; bit += 1 + bit / 512) {
        m.byte[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (load_status(m.byte, m.size, &error) == OLTR_OK)
            fail_msg("bit %zu is wrong, and the image loads", bit);
        m.byte[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    expect_load(&m, OLTR_OK);
    free(m.byte);
}

static void another_file(void **state)
{
    image m = findable_image(*state);
    oltr_policy *p = new_policy(*state);
    image policy = image_of(p);
    oltr_error error = {OLTR_OK, ""};
    expect_load(&policy, OLTR_EMAGIC);
    assert_null(oltr_load(m.byte, m.size, &error));
    expect(error.code, OLTR_EMAGIC);
    size_t length_at = place_of_length(m.byte, m.size);
    static const uint32_t newer[] = {1000, 1u << 16, 1u << 24, 0x7FFFFFFF, UINT32_MAX};
    for (size_t i = 0; i < COUNT(newer); i++) {
        set_little(m.byte + AT_VERSION, 4, newer[i]);
        expect_load(&m, OLTR_EVERSION);
        seal_model(m.byte, m.size, length_at);
        expect_load(&m, OLTR_EVERSION);
    }
    free(policy.byte);
    free(m.byte);
    oltr_policy_free(p);
}

static void bad_load_options_are_refused(void **state)
{
    image m = findable_image(*state);
    int something = 0;
    const oltr_load_options bad[] = {{.size = sizeof bad[0] + 1},
                                     {.size = 4},
                                     {.reserved32 = 1},
                                     {.reserved = {0, 0, 0, 1}},
                                     {.custom = &something, .custom_bytes = sizeof something},
                                     {.custom = &something}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        oltr_error error = {OLTR_OK, ""};
        oltr_model *loaded = oltr_model_load(m.byte, m.size, &bad[i], NULL, &error);
        if (loaded || error.code != OLTR_EINVAL)
            fail_msg("options %zu are not refused", i);
    }
    free(m.byte);
}

/* ---- forgeries */

/* Replaces `gone` bytes at `at` by `more` zeros. */
static void splice(image *m, size_t at, size_t gone, size_t more)
{
    image out = {m->size - gone + more, exactly(m->size - gone + more, 1)};
    memcpy(out.byte, m->byte, at);
    memcpy(out.byte + at + more, m->byte + at + gone, m->size - at - gone);
    free(m->byte);
    *m = out;
}

static size_t find_text(const image *m, const char *text)
{
    size_t at = place_of_bytes(m->byte, m->size, 8, text, strlen(text));
    if (at == NOT_THERE)
        fail_msg("'%s' is not in the image", text);
    return at;
}

/* How many bytes before a text hold its length. */
static size_t width_of_size(const image *m, size_t at, size_t n)
{
    for (size_t width = 4; width >= 1; width /= 2)
        if (little(m->byte + at - width, (int)width) == n)
            return width;
    fail_msg("the length of a text is not in front of it");
    return 0;
}

/* Refused as content that contradicts itself, with both checksums right. */
static void expect_forgery(image *m, size_t length_at, const char *what)
{
    oltr_error error;
    seal_model(m->byte, m->size, length_at);
    oltr_status status = load_status(m->byte, m->size, &error);
    if (status != OLTR_ECORRUPT && status != OLTR_ENAME && status != OLTR_ETRUNCATED)
        fail_msg("%s: %s (%s)", what, oltr_status_name(status), error.msg);
}

/* The second text becomes the first. */
static void forge_twice(const variant *v, const char *first, const char *second, const char *what)
{
    image m = findable_image(v);
    size_t length_at = place_of_length(m.byte, m.size);
    assert_int_equal(strlen(first), strlen(second));
    memcpy(m.byte + find_text(&m, second), first, strlen(first));
    expect_forgery(&m, length_at, what);
    free(m.byte);
}

/* A text of another length. */
static void forge_length(const variant *v, const char *text, size_t n, const char *what)
{
    image m = findable_image(v);
    size_t length_at = place_of_length(m.byte, m.size), at = find_text(&m, text);
    size_t width = width_of_size(&m, at, strlen(text));
    set_little(m.byte + at - width, (int)width, n);
    splice(&m, at, strlen(text), n);
    expect_forgery(&m, length_at, what);
    free(m.byte);
}

static void names_are_checked(void **state)
{
    forge_twice(*state, long_name[0], long_name[ITEMS_IN - 1], "a name twice");
    forge_length(*state, long_name[1], 0, "a name of 0 bytes");
    forge_length(*state, long_name[1], OLTR_LONGEST_NAME + 1, "a name of 513 bytes");
}

/* Ids are kept as hashes of 16 bytes, in front of the length of the snapshot. */
static void ids_are_checked(void **state)
{
    image m = findable_image(*state);
    size_t length_at = place_of_length(m.byte, m.size), inner_size,
           first = inner_snapshot(m.byte, m.size, &inner_size) - 8 - 16 * IDS_IN;
    assert_int_equal(little(m.byte + first - 4, 4), IDS_IN);
    memcpy(m.byte + first + 16, m.byte + first + 16 * (IDS_IN - 1), 16);
    expect_forgery(&m, length_at, "an id twice");
    free(m.byte);
}

static void the_window_is_checked(void **state)
{
    image m = findable_image(*state);
    unsigned char window[4];
    size_t length_at = place_of_length(m.byte, m.size);
    set_little(window, 4, WINDOW);
    size_t at = place_of_bytes(m.byte, m.size, 8, window, 4);
    assert_true(at != NOT_THERE);
    set_little(m.byte + at, 4, IDS_IN);
    seal_model(m.byte, m.size, length_at);
    expect_load(&m, OLTR_OK);
    for (uint32_t smaller = 0; smaller < IDS_IN; smaller++) {
        set_little(m.byte + at, 4, smaller);
        expect_forgery(&m, length_at, "more ids than the window");
    }
    free(m.byte);
}

/* Bytes that belong to nothing, before and behind the snapshot. */
static void nothing_may_be_left_over(void **state)
{
    static const size_t more[] = {1, 4, 8, 64};
    for (size_t i = 0; i < 2 * COUNT(more); i++) {
        image m = findable_image(*state);
        size_t length_at = place_of_length(m.byte, m.size), inner_size,
               inner = inner_snapshot(m.byte, m.size, &inner_size);
        splice(&m, i % 2 ? inner : m.size - 8, 0, more[i / 2]);
        oltr_error error;
        seal_model(m.byte, m.size, length_at);
        if (load_status(m.byte, m.size, &error) == OLTR_OK)
            fail_msg("%zu bytes are left over %s the snapshot, and the image loads", more[i / 2],
                     i % 2 ? "before" : "behind");
        free(m.byte);
    }
}

/* ---- forgeries of single fields */

/* From the beginning of an image; then come the default prior, if there is one, and the names. */
enum { AT_MOST_ITEMS = 24, AT_WINDOW = 28, AT_EXAMINE = 32, AT_PRIORS = 36, AT_PRIOR = 40 };

static void expect_words(image *m, size_t length_at, oltr_status wanted, const char *words)
{
    oltr_error error;
    seal_model(m->byte, m->size, length_at);
    expect_error(load_status(m->byte, m->size, &error), &error, wanted, words);
}

/* Sets a word of a good image, expects a refusal, and sets it back. */
static void forge_word(image *m, size_t at, int width, uint64_t value, oltr_status wanted,
                       const char *words)
{
    uint64_t held = little(m->byte + at, width);
    set_little(m->byte + at, width, value);
    expect_words(m, AT_LENGTH, wanted, words);
    set_little(m->byte + at, width, held);
    expect_words(m, AT_LENGTH, OLTR_OK, "");
}

static void options_are_checked(void **state)
{
    variant v = with_prior(variant_of("gts"), MOMENTS);
    image m = findable_image(&v);
    size_t inner_size, inner = inner_snapshot(m.byte, m.size, &inner_size);
    uint64_t nan_bits = 0x7FF8000000000000;
    forge_word(&m, AT_RESERVED, 4, 1, OLTR_ECORRUPT, "header");
    forge_word(&m, AT_VERSION, 4, 0, OLTR_ECORRUPT, "header");
    forge_word(&m, AT_MOST_ITEMS, 4, 0, OLTR_ECORRUPT, "");
    forge_word(&m, AT_MOST_ITEMS, 4, OLTR_MOST_MODEL_ITEMS + 1, OLTR_ECORRUPT, "options");
    forge_word(&m, AT_MOST_ITEMS, 4, ITEMS_IN - 1, OLTR_ECORRUPT, "names");
    forge_word(&m, AT_WINDOW, 4, OLTR_MOST_WINDOW + 1, OLTR_ECORRUPT, "options");
    forge_word(&m, AT_EXAMINE, 4, 0, OLTR_ECORRUPT, "options");
    forge_word(&m, AT_EXAMINE, 4, OLTR_EXAMINE_DEPTH, OLTR_ECORRUPT, "options");
    forge_word(&m, AT_PRIORS, 4, 2, OLTR_ECORRUPT, "default prior");
    forge_word(&m, AT_PRIOR, 8, nan_bits, OLTR_ECORRUPT, "default prior");
    forge_word(&m, AT_PRIOR + 8, 8, nan_bits, OLTR_ECORRUPT, "options");
    forge_word(&m, AT_PRIOR + 16, 4, ITEMS_IN + 1, OLTR_ECORRUPT, "");
    forge_word(&m, inner - 8, 8, inner_size - 1, OLTR_ECORRUPT, "length");
    size_t last = inner - 8 - 16 * IDS_IN - 4 - 8 * ITEMS_IN;
    forge_word(&m, last, 8, IDS_IN + 1, OLTR_ECORRUPT, "names"); /* a lesson to come */
    free(m.byte);
}

/* Another snapshot in the place of that of the policy. */
static void embed(image *m, const oltr_policy *p)
{
    size_t inner_size, inner = inner_snapshot(m->byte, m->size, &inner_size);
    image policy = image_of(p);
    splice(m, inner, inner_size, policy.size);
    memcpy(m->byte + inner, policy.byte, policy.size);
    set_little(m->byte + inner - 8, 8, policy.size);
    free(policy.byte);
}

static void another_policy(const variant *model, const variant *inside, uint32_t n_items,
                           oltr_status wanted, const char *words)
{
    image m = findable_image(model);
    oltr_policy *p = policy_of(inside, n_items);
    learn_many(p, 1, IDS_IN);
    embed(&m, p);
    expect_words(&m, AT_LENGTH, wanted, words);
    oltr_policy_free(p);
    free(m.byte);
}

/* The snapshot must be that of a policy which the rest of the image describes. */
static void the_policy_must_fit(void **state)
{
    variant gts = variant_of("gts"), told = with_prior(gts, MOMENTS), beta = variant_of("ts-beta"),
            shapes = with_prior(gts, SHAPES), toprank = variant_of("toprank"),
            lints = variant_of("lints");
    another_policy(&gts, &gts, ITEMS_IN, OLTR_OK, "");
    another_policy(&gts, &beta, ITEMS_IN, OLTR_OK, ""); /* as good as the first */
    another_policy(&told, &told, ITEMS_IN, OLTR_OK, "");
    another_policy(&gts, &gts, ITEMS_IN + 1, OLTR_ECORRUPT, "number of items");
    another_policy(&gts, &gts, ITEMS_IN - 1, OLTR_ECORRUPT, "number of items");
    another_policy(&gts, &told, ITEMS_IN, OLTR_ECORRUPT, "prior");
    another_policy(&told, &gts, ITEMS_IN, OLTR_ECORRUPT, "prior");
    another_policy(&told, &shapes, ITEMS_IN, OLTR_ECORRUPT, "prior");
    another_policy(&gts, &lints, ITEMS_IN, OLTR_ECORRUPT, "number of items");
    another_policy(&gts, &toprank, ITEMS_IN, OLTR_EUNSUPPORTED, "toprank cannot be served");
}

/* ---- claims */

typedef struct meter {
    size_t held, peak, most;
} meter;

static void *meter_take(void *with, size_t bytes, size_t align)
{
    meter *m = with;
    (void)align;
    m->peak = m->held + bytes > m->peak ? m->held + bytes : m->peak;
    if (bytes > m->most)
        return NULL;
    m->held += bytes;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void meter_give(void *with, void *memory, size_t bytes)
{
    ((meter *)with)->held -= bytes;
    free(memory);
}

/* Every word in front of the snapshot becomes a large number: no more is asked for than a bound
 * allows, by default 1 MiB for an image of about a kilobyte. */
static void claims_take_no_memory(void **state)
{
    static const uint64_t claims[] = {0xFFFF,     1u << 20,   1u << 24,   0x7FFFFFFF,
                                      UINT32_MAX, UINT64_MAX, 1ull << 40, 1ull << 62};
    image good = findable_image(*state);
    size_t length_at = place_of_length(good.byte, good.size), inner_size,
           end = inner_snapshot(good.byte, good.size, &inner_size);
    for (size_t at = 12; at < end; at++)
        for (size_t c = 0; c < COUNT(claims); c++) {
            image m = copy_image(&good);
            meter counted = {.most = 1 << 20};
            oltr_memory memory = {meter_take, meter_give, &counted};
            oltr_load_options options = {.memory = &memory, .most_bytes = 1 << 20};
            set_little(m.byte + at, claims[c] > UINT32_MAX ? 8 : 4, claims[c]);
            seal_model(m.byte, m.size, length_at);
            oltr_model *loaded = oltr_model_load(m.byte, m.size, &options, NULL, NULL);
            if (counted.peak > 1 << 20)
                fail_msg("%llu at byte %zu of %zu: %zu bytes were asked for",
                         (unsigned long long)claims[c], at, m.size, counted.peak);
            oltr_model_free(loaded);
            assert_int_equal(counted.held, 0);
            free(m.byte);
        }
    free(good.byte);
}

/* ---- mutations */

/* A forged estimate of a logistic posterior is taken as it is, however far from the root; the check
 * finds it. */
static bool check_may_fail(const variant *v)
{
    return has_logistic_posterior(v->info);
}

static void assert_numbers_of(const oltr_model *m, const oltr_list *list)
{
    double mean[CANDIDATES], sd[CANDIDATES];
    oltr_explained why[CANDIDATES];
    oltr_status status = oltr_model_predict(m, list, mean, sd, NULL);
    for (uint32_t i = 0; status == OLTR_OK && i < list->n; i++)
        assert_true(isfinite(mean[i]) && isfinite(sd[i]) && sd[i] >= 0);
    status = oltr_model_explain(m, list, why, NULL);
    assert_true(status == OLTR_OK || status == OLTR_EFEATURE || status == OLTR_EITEM);
}

/* A model of unknown origin ranks, predicts numbers, learns, and saves to what loads again. */
static void assert_model_works(const variant *v, oltr_model *m)
{
    oltr_name name[ITEMS_IN];
    float x[ITEMS_IN * DIM] = {0};
    double reward[ITEMS_IN] = {1, 0, 0, 0, 0}, score[ITEMS_IN];
    uint32_t place[ITEMS_IN];
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    oltr_error error = {OLTR_OK, ""};
    bool rows = oltr_model_settings_of(m)->policy.info->contextual;
    for (uint32_t i = 0; i < ITEMS_IN; i++) {
        name[i] = name_of_text(long_name[i]);
        x[i * DIM + i % DIM] = 0.5f;
    }
    if (oltr_model_check(m, &error) != OLTR_OK && !check_may_fail(v))
        fail_msg("%s", error.msg);
    oltr_lesson lesson = lesson_of(rows ? NULL : name, ITEMS_IN, reward);
    lesson.shown.x = rows ? x : NULL;
    oltr_show show = {.k = ITEMS_IN, .place = place, .score = score};
    oltr_status status = oltr_model_rank(m, &lesson.shown, rng_of(1), scratch, &show, &error);
    for (uint32_t i = 0; status == OLTR_OK && i < show.k; i++)
        assert_true(place[i] < ITEMS_IN && !isnan(score[i]));
    assert_numbers_of(m, &lesson.shown);
    oltr_model_learn(m, &lesson, NULL, NULL);
    assert_numbers_of(m, &lesson.shown);
    oltr_model *again = reload(m);
    assert_true(same_models(m, again) || check_may_fail(v));
    oltr_model_free(again);
    oltr_model_scratch_free(scratch);
}

static void mutate(dice *d, image *m, size_t length_at)
{
    static const uint64_t words[] = {0, 1, 0xFF, 0xFFFF, UINT32_MAX, 1u << 24, 513};
    size_t at = below(d, (uint32_t)m->size - 16);
    switch (below(d, 5)) {
    case 0:
        m->byte[at] ^= (unsigned char)(1u << below(d, 8));
        break;
    case 1:
        m->byte[at] = (unsigned char)roll(d);
        break;
    case 2:
        set_little(m->byte + at, 1 << below(d, 4), words[below(d, COUNT(words))]);
        break;
    case 3:
        splice(m, at, below(d, 8), 0);
        break;
    default:
        splice(m, at, 0, 1 + below(d, 8));
    }
    if (one_in(d, 8))
        return; /* as it is: refused by the checksum */
    seal_model(m->byte, m->size, length_at < m->size - 16 ? length_at : NOT_THERE);
}

static void mutations_are_refused_or_work(void **state)
{
    const variant *v = *state;
    image good = findable_image(v);
    size_t length_at = place_of_length(good.byte, good.size);
    dice d = {77};
    for (int i = 0; i < MUTATIONS * EFFORT; i++) {
        image m = copy_image(&good);
        oltr_error error = {OLTR_OK, ""};
        for (uint32_t steps = 1 + below(&d, 2); steps > 0; steps--)
            mutate(&d, &m, length_at);
        oltr_model *loaded = oltr_model_load(m.byte, m.size, NULL, NULL, &error);
        if (loaded)
            assert_model_works(v, loaded);
        else
            assert_true(error.code != OLTR_OK && strlen(error.msg) > 10);
        oltr_model_free(loaded);
        free(m.byte);
    }
    free(good.byte);
}

static bool has_own_priors(const variant *v)
{
    return is_named_variant(v) && takes_prior(v);
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ON_SOME_VARIANTS(&all, &variants, room_is_respected, is_common_variant);
    ON_SOME_VARIANTS(&all, &variants, the_frame_is_as_described, is_common_variant);
    ON_SOME_VARIANTS(&all, &variants, room_is_not_in_the_image, has_own_priors);
    ON_SOME_VARIANTS(&all, &variants, the_key_is_not_in_the_image, is_common_variant);
    ON_SOME_VARIANTS(&all, &variants, cut_short, is_common_variant);
    ON_SOME_VARIANTS(&all, &variants, one_bit_wrong, is_common_variant);
    ON_SOME_VARIANTS(&all, &variants, another_file, is_common_variant);
    ON_SOME_VARIANTS(&all, &variants, bad_load_options_are_refused, is_common_variant);
    ON_SOME_VARIANTS(&all, &variants, names_are_checked, is_named_variant);
    ON_SOME_VARIANTS(&all, &variants, ids_are_checked, is_common_variant);
    ON_SOME_VARIANTS(&all, &variants, the_window_is_checked, is_common_variant);
    ON_SOME_VARIANTS(&all, &variants, nothing_may_be_left_over, is_common_variant);
    ONCE(&all, options_are_checked);
    ONCE(&all, the_policy_must_fit);
    ON_SOME_VARIANTS(&all, &variants, claims_take_no_memory, is_common_variant);
    ON_SOME_VARIANTS(&all, &variants, mutations_are_refused_or_work, is_common_variant);
    return cmocka_run_group_tests_name("images of models", all.test, NULL, NULL);
}
